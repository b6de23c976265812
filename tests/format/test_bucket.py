"""Buckets against the vectors of the format's text, row-at-a-time hashes and real data files."""

import struct
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.errors import InvalidArgumentError, UnsupportedError
from lakebed.format.arrow.atoms import arrow_value_type
from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.binary_row.codec import encode_row, encode_rows
from lakebed.format.bucket import assign_buckets, hash_rows
from lakebed.format.types import MAX_LENGTH, AtomicType, TypeRoot
from support.golden_manifests import GoldenTable

INT = AtomicType(root=TypeRoot.INT)
BIGINT = AtomicType(root=TypeRoot.BIGINT)
STRING = AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH)
BYTES = AtomicType(root=TypeRoot.VARBINARY, length=MAX_LENGTH)
TIMESTAMP = AtomicType(root=TypeRoot.TIMESTAMP, precision=6)
MASK = 0xFFFFFFFF


def decimal(precision: int, scale: int) -> AtomicType:
    return AtomicType(root=TypeRoot.DECIMAL, precision=precision, scale=scale)


def reference_murmur(row: bytes) -> int:
    """The hash of one row, block after block."""

    def rotate(word: int, bits: int) -> int:
        return (word << bits | word >> (32 - bits)) & MASK

    mixed = 42
    for (block,) in struct.iter_unpack("<I", row):
        mixed ^= rotate(block * 0xCC9E2D51 & MASK, 15) * 0x1B873593 & MASK
        mixed = rotate(mixed, 13) * 5 + 0xE6546B64 & MASK
    mixed ^= len(row)
    mixed = (mixed ^ mixed >> 16) * 0x85EBCA6B & MASK
    mixed = (mixed ^ mixed >> 13) * 0xC2B2AE35 & MASK
    return signed(mixed ^ mixed >> 16)


def signed(word: int) -> int:
    word &= MASK
    return word - 2**32 if word >= 2**31 else word


def bucket(value: object, kind: AtomicType, *, total_buckets: int, function: str) -> int:
    column: ArrowArray = pa.array([value], arrow_value_type(kind))
    return int(assign_buckets([column], [kind], total_buckets=total_buckets, function=function)[0])


@pytest.mark.parametrize(
    ("values", "types", "expected"),
    [
        ([1], [INT], (1465514398, {4: 2, 5: 3, 10: 8})),
        (["a"], [STRING], (943281246, {4: 2, 10: 6})),
        (["hello world"], [STRING], (161593394, {10: 4})),
        ([1, "a"], [INT, STRING], (-948407462, {4: 2, 5: 2})),
        ([None], [INT], (-1748325344, {})),
        ([], [], (-1670924195, {})),
        ([None], [TIMESTAMP], (-340882661, {})),
    ],
)
def test_hashes_of_the_format_text(
    values: list[object], types: list[AtomicType], expected: tuple[int, dict[int, int]]
) -> None:
    row = encode_row(values, types, with_arity=False)
    assert hash_rows(pa.array([row])).tolist() == [expected[0]]
    columns = [pa.array([v], arrow_value_type(k)) for v, k in zip(values, types, strict=True)]
    for total_buckets, bucket_id in expected[1].items():
        assert assign_buckets(columns, types, total_buckets=total_buckets).tolist() == [bucket_id]


@given(st.lists(st.lists(st.binary(min_size=8, max_size=8), max_size=9).map(b"".join)))
def test_rows_of_differing_lengths_hash_as_each_alone(rows: list[bytes]) -> None:
    hashes = hash_rows(pa.array(rows, pa.binary()))
    assert hashes.dtype == np.int32
    assert hashes.tolist() == [reference_murmur(row) for row in rows]


def test_hashes_do_not_depend_on_the_size_of_the_block_worked_on() -> None:
    numbers = pa.array(np.arange(70_000) * 7919)
    rows = encode_rows([numbers], [BIGINT], with_arity=False)
    hashes = hash_rows(rows)
    for index in (0, 65_535, 65_536, 69_999):
        assert hashes[index] == reference_murmur(rows[index].as_py())
    assert hash_rows(rows[65_530:65_540]).tolist() == hashes[65_530:65_540].tolist()


def test_rows_with_arity_prefix_or_nulls_are_not_hashed() -> None:
    with pytest.raises(InvalidArgumentError, match="with_arity=False"):
        hash_rows(pa.array([encode_row([1], [INT])]))
    with pytest.raises(InvalidArgumentError, match="without nulls"):
        hash_rows(pa.array([None], pa.binary()))


@pytest.mark.parametrize(
    "name",
    [
        "append_bucketed",
        "pk_composite_partitioned",
        "pk_date_timestamp_key",
        "pk_decimal_key",
        "pk_history",
        "pk_string_buckets",
    ],
)
def test_rows_of_real_files_lie_in_the_bucket_that_their_key_says(name: str) -> None:
    table, rows_seen = GoldenTable(name), 0
    schema = table.schema(0)
    fields = {field.name: field.type for field in table.fields(0)}
    key = schema["options"].get("bucket-key")
    keys = (
        key.split(",")
        if key
        else [column for column in schema["primaryKeys"] if column not in schema["partitionKeys"]]
    )
    types = [fields[column] for column in keys]
    for entry in table.entries():
        path = table.data_file(entry["_FILE"]["_FILE_NAME"])
        if path is None or path.suffix != ".parquet":
            continue
        rows = pq.ParquetFile(path).read(columns=keys)
        columns = [
            rows[column].cast(arrow_value_type(kind))
            for column, kind in zip(keys, types, strict=True)
            if isinstance(kind, AtomicType)
        ]
        buckets = assign_buckets(columns, types, total_buckets=entry["_TOTAL_BUCKETS"])
        assert set(buckets.tolist()) == {entry["_BUCKET"]}, path
        assert path.parent.name == f"bucket-{entry['_BUCKET']}"
        rows_seen += len(rows)
    assert rows_seen > 0


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (1, INT, 1),
        (7, INT, 2),
        (-2, INT, 3),
        (8, BIGINT, 3),
        (0, BIGINT, 0),
        (-3, BIGINT, 2),
        (None, BIGINT, 0),
        (-(2**63), BIGINT, 2),
    ],
)
def test_mod_is_the_floored_remainder(value: int | None, kind: AtomicType, expected: int) -> None:
    assert bucket(value, kind, total_buckets=5, function="mod") == expected


def test_mod_refuses_other_keys() -> None:
    with pytest.raises(UnsupportedError, match="one INT or BIGINT"):
        bucket("a", STRING, total_buckets=5, function="mod")
    ints: ArrowArray = pa.array([1], pa.int32())
    with pytest.raises(UnsupportedError, match="one INT or BIGINT"):
        assign_buckets([ints, ints], [INT, INT], total_buckets=5, function="mod")


# So many buckets that a bucket is all but the sign of the hash.
WIDE = 2**31 - 1


@pytest.mark.parametrize(
    ("value", "kind", "expected_hash"),
    [
        (True, AtomicType(root=TypeRoot.BOOLEAN), 1),
        (-5, AtomicType(root=TypeRoot.TINYINT), -5),
        (-300, AtomicType(root=TypeRoot.SMALLINT), -300),
        (-7, INT, -7),
        (2**40 + 3, BIGINT, 2**8 ^ 3),
        (-1, BIGINT, 0),
        (-0.0, AtomicType(root=TypeRoot.DOUBLE), 0),
        (1.5, AtomicType(root=TypeRoot.FLOAT), 0x3FC00000),
        (float("nan"), AtomicType(root=TypeRoot.DOUBLE), 0x7FF80000),
        ("abc", STRING, 96354),
        ("", STRING, 0),
        (b"\xff\x01", BYTES, -30),
        (10, AtomicType(root=TypeRoot.DATE), 10),
        (10, AtomicType(root=TypeRoot.TIME, precision=3), 10),
        (Decimal(18), decimal(38, 0), 558),
        (Decimal(-18), decimal(38, 12), -558),
        (Decimal(-18446744073709001000), decimal(38, 3), 17070057),
        (Decimal(18446744073709001000), decimal(38, 4), -17070057),
        (Decimal(9223372036854775807), decimal(38, 4), 2147482656),
        (Decimal(0), decimal(38, 34), 0),
        (Decimal("123456.123456789"), decimal(18, 9), 1871500252),
        (Decimal("123456.123456789"), decimal(38, 20), 1871500252),
        (None, decimal(38, 20), 0),
        (None, STRING, 0),
    ],
)
def test_hive_hash_of_each_type(value: object, kind: AtomicType, expected_hash: int) -> None:
    expected = (expected_hash & 0x7FFFFFFF) % WIDE
    assert bucket(value, kind, total_buckets=WIDE, function="hive") == expected


@given(st.lists(st.tuples(st.none() | st.text(), st.none() | st.integers(-(2**31), 2**31 - 1))))
def test_hive_joins_columns_by_31(rows: list[tuple[str | None, int | None]]) -> None:
    texts: ArrowArray = pa.array([text for text, _ in rows], pa.string())
    ints: ArrowArray = pa.array([number for _, number in rows], pa.int32())
    expected = []
    for text, number in rows:
        text_hash = 0
        for byte in (text or "").encode():
            text_hash = text_hash * 31 + (byte - 256 if byte > 127 else byte)
        expected.append((31 * text_hash + (number or 0) & 0x7FFFFFFF) % 13)
    found = assign_buckets([texts, ints], [STRING, INT], total_buckets=13, function="hive")
    assert found.tolist() == expected


@pytest.mark.parametrize("kind", [INT, STRING, decimal(30, 0)])
def test_hive_does_not_hash_what_lies_below_a_null(kind: AtomicType) -> None:
    value = "text" if kind is STRING else Decimal(7) if kind is not INT else 7
    full: ArrowArray = pa.array([value], arrow_value_type(kind))
    hidden = ArrowArray.from_buffers(full.type, 1, [pa.py_buffer(b"\0"), *full.buffers()[1:]])
    assert assign_buckets([hidden], [kind], total_buckets=WIDE, function="hive").tolist() == [0]


def test_hive_refuses_timestamps() -> None:
    with pytest.raises(UnsupportedError, match="takes no TIMESTAMP"):
        bucket(None, TIMESTAMP, total_buckets=3, function="hive")


def test_unknown_function_and_no_buckets_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="default, mod, hive"):
        bucket(1, INT, total_buckets=3, function="crc")
    with pytest.raises(InvalidArgumentError, match="at least 1"):
        bucket(1, INT, total_buckets=0, function="default")
