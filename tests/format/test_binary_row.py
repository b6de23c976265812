"""Serialized rows against the format's text, real manifests and a row-at-a-time encoder."""

import datetime as dt
import struct
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.errors import (
    CorruptTableError,
    InvalidArgumentError,
    UnsupportedError,
)
from lakebed.format.arrow.atoms import arrow_value_type
from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.binary_row.codec import (
    EMPTY_ROW,
    decode_row,
    decode_rows,
    encode_row,
    encode_rows,
)
from lakebed.format.types import MAX_LENGTH, ArrayType, AtomicType, DataType, TypeRoot
from support.golden_manifests import GoldenTable, golden_names

INT = AtomicType(root=TypeRoot.INT)
BIGINT = AtomicType(root=TypeRoot.BIGINT)
STRING = AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH)
BYTES = AtomicType(root=TypeRoot.VARBINARY, length=MAX_LENGTH)


def decimal(precision: int, scale: int) -> AtomicType:
    return AtomicType(root=TypeRoot.DECIMAL, precision=precision, scale=scale)


def timestamp(precision: int, *, local_zone: bool = False) -> AtomicType:
    root = TypeRoot.TIMESTAMP_LTZ if local_zone else TypeRoot.TIMESTAMP
    return AtomicType(root=root, precision=precision)


def numbers(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high) | st.sampled_from([low, high, 0])


MILLIS_MAX = 8 * 10**12
# A type, the Arrow type of its values, and values as integers, bytes or text.
CASES: list[tuple[AtomicType, pa.DataType, st.SearchStrategy[object]]] = [
    (AtomicType(root=TypeRoot.BOOLEAN), pa.bool_(), st.booleans()),
    (AtomicType(root=TypeRoot.TINYINT), pa.int8(), numbers(-(2**7), 2**7 - 1)),
    (AtomicType(root=TypeRoot.SMALLINT), pa.int16(), numbers(-(2**15), 2**15 - 1)),
    (INT, pa.int32(), numbers(-(2**31), 2**31 - 1)),
    (BIGINT, pa.int64(), numbers(-(2**63), 2**63 - 1)),
    (AtomicType(root=TypeRoot.FLOAT), pa.float32(), st.floats(width=32, allow_nan=False)),
    (AtomicType(root=TypeRoot.DOUBLE), pa.float64(), st.floats(allow_nan=False)),
    (AtomicType(root=TypeRoot.CHAR, length=20), pa.string(), st.text(max_size=20)),
    (STRING, pa.string(), st.text(max_size=30)),
    (STRING, pa.large_string(), st.text(max_size=9)),
    (AtomicType(root=TypeRoot.BINARY, length=30), pa.binary(), st.binary(max_size=30)),
    (BYTES, pa.large_binary(), st.binary(max_size=17)),
    (AtomicType(root=TypeRoot.DATE), pa.date32(), numbers(-(10**6), 10**6)),
    (AtomicType(root=TypeRoot.TIME, precision=3), pa.time32("ms"), numbers(0, 86_399_999)),
    (timestamp(0), pa.timestamp("s"), numbers(-(10**12), 10**12)),
    (timestamp(3), pa.timestamp("ms"), numbers(-(10**15), 10**15)),
    (timestamp(6), pa.timestamp("us"), numbers(-(10**17), 10**17)),
    (timestamp(9), pa.timestamp("ns"), numbers(-MILLIS_MAX * 10**6, MILLIS_MAX * 10**6)),
    (timestamp(2, local_zone=True), pa.timestamp("ms", "UTC"), numbers(-(10**15), 10**15)),
    (timestamp(6, local_zone=True), pa.timestamp("us", "UTC"), numbers(-(10**17), 10**17)),
    (decimal(18, 4), pa.decimal128(18, 4), numbers(-(10**18) + 1, 10**18 - 1)),
    (decimal(19, 0), pa.decimal128(19, 0), numbers(-(10**19) + 1, 10**19 - 1)),
    (decimal(38, 10), pa.decimal128(38, 10), numbers(-(10**38) + 1, 10**38 - 1)),
]
FIXED_WIDTHS = {
    TypeRoot.BOOLEAN: "<?7x",
    TypeRoot.TINYINT: "<b7x",
    TypeRoot.SMALLINT: "<h6x",
    TypeRoot.INT: "<i4x",
    TypeRoot.DATE: "<i4x",
    TypeRoot.TIME: "<i4x",
    TypeRoot.FLOAT: "<f4x",
    TypeRoot.BIGINT: "<q",
    TypeRoot.DOUBLE: "<d",
}


def arrow_column(values: Sequence[object], arrow_type: pa.DataType) -> ArrowArray:
    """The integers, bytes or texts as Arrow holds them in that type."""
    if pa.types.is_decimal(arrow_type):
        exact = [None if v is None else Decimal(f"{v}e-{arrow_type.scale}") for v in values]
        return pa.array(exact, arrow_type)
    if pa.types.is_temporal(arrow_type):
        wide = pa.int32() if arrow_type.bit_width == 32 else pa.int64()
        return pa.array(values, wide).view(arrow_type)
    return pa.array(values, arrow_type)


def reference_row(values: Sequence[object], types: Sequence[AtomicType]) -> bytes:
    """The bytes of one row, one value after the other, as the format's text says."""
    header = bytearray((len(types) + 63 + 8) // 64 * 8)
    slots, tail = bytearray(), bytearray()
    head_size = len(header) + 8 * len(types)
    for index, (value, kind) in enumerate(zip(values, types, strict=True)):
        slot, part = reference_field(value, kind, offset=head_size + len(tail))
        if value is None:
            header[(index + 8) // 8] |= 1 << ((index + 8) % 8)
        slots += slot
        tail += part + bytes(-len(part) % 8)
    return bytes(header + slots + tail)


def reference_field(value: object, kind: AtomicType, *, offset: int) -> tuple[bytes, bytes]:
    precision = kind.precision or 0
    if kind.root is TypeRoot.DECIMAL and precision > 18:
        unscaled = value if isinstance(value, int) else 0
        size = next(n for n in range(1, 17) if -(1 << 8 * n - 1) <= unscaled < 1 << 8 * n - 1)
        data = b"" if value is None else unscaled.to_bytes(size, "big", signed=True)
        return struct.pack("<II", len(data), offset), data + bytes(16 - len(data))
    if kind.root in {TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ}:
        per_second = 1 if precision == 0 else 10 ** (-(-precision // 3) * 3)
        nanos = (value if isinstance(value, int) else 0) * (10**9 // per_second)
        if precision > 3:
            millis = struct.pack("<q", nanos // 10**6)
            return struct.pack("<II", nanos % 10**6, offset), millis
        return struct.pack("<q", nanos // 10**6), b""
    if value is None:
        return bytes(8), b""
    if isinstance(value, str | bytes):
        data = value.encode() if isinstance(value, str) else value
        if len(data) <= 7:
            return data + bytes(7 - len(data)) + bytes([0x80 | len(data)]), b""
        return struct.pack("<II", len(data), offset), data
    return struct.pack(FIXED_WIDTHS.get(kind.root, "<q"), value), b""


@st.composite
def row_blocks(draw: st.DrawFn) -> tuple[list[AtomicType], list[ArrowArray], list[list[object]]]:
    """Types, Arrow columns, and the same columns as lists."""
    chosen = draw(st.lists(st.sampled_from(CASES), min_size=1, max_size=5))
    row_count = draw(st.integers(0, 6))
    lists = [
        draw(st.lists(st.none() | values, min_size=row_count, max_size=row_count))
        for _, _, values in chosen
    ]
    columns = [arrow_column(v, case[1]) for v, case in zip(lists, chosen, strict=True)]
    return [case[0] for case in chosen], columns, lists


@pytest.mark.parametrize(
    ("values", "types", "expected"),
    [
        ([1], [INT], "00000000000000000100000000000000"),
        (["a"], [STRING], "00000000000000006100000000000081"),
        (
            ["hello world"],
            [STRING],
            "0000000000000000 0b00000010000000 68656c6c6f20776f726c640000000000",
        ),
        ([None], [INT], "0001000000000000 0000000000000000"),
        ([None], [timestamp(6)], "0001000000000000 0000000010000000 0000000000000000"),
        (
            [None],
            [decimal(20, 2)],
            "0001000000000000 0000000010000000 0000000000000000 0000000000000000",
        ),
        ([], [], "0000000000000000"),
    ],
)
def test_rows_of_the_format_text(
    values: list[object], types: list[AtomicType], expected: str
) -> None:
    assert encode_row(values, types, with_arity=False) == bytes.fromhex(expected)


def test_arity_goes_first_in_big_endian() -> None:
    row = encode_row([1, 2], [INT, INT])
    assert row[:4] == b"\x00\x00\x00\x02"
    assert row[4:] == encode_row([1, 2], [INT, INT], with_arity=False)
    assert encode_row([], []) == EMPTY_ROW == bytes(12)


@given(row_blocks())
def test_columns_encode_as_the_reference_does_row_by_row(
    block: tuple[list[AtomicType], list[ArrowArray], list[list[object]]],
) -> None:
    types, columns, lists = block
    expected = [reference_row(row, types) for row in zip(*lists, strict=True)]
    assert encode_rows(columns, types, with_arity=False).to_pylist() == expected
    prefix = struct.pack(">i", len(types))
    assert encode_rows(columns, types).to_pylist() == [prefix + row for row in expected]


@given(row_blocks(), st.data())
def test_decoding_gives_back_what_was_encoded_and_null_rows_give_nulls(
    block: tuple[list[AtomicType], list[ArrowArray], list[list[object]]], data: st.DataObject
) -> None:
    types, columns, _ = block
    row_count = len(columns[0])
    absent = data.draw(st.lists(st.booleans(), min_size=row_count, max_size=row_count))
    rows = [
        None if gone else row
        for gone, row in zip(absent, encode_rows(columns, types).to_pylist(), strict=True)
    ]
    keep = pa.array([None if gone else i for i, gone in enumerate(absent)], pa.int64())
    for binary in (pa.binary(), pa.large_binary()):
        for decoded, column in zip(
            decode_rows(pa.array(rows, binary), types), columns, strict=True
        ):
            decoded.validate(full=True)
            assert decoded.equals(column.take(keep).cast(decoded.type))


def test_every_type_survives_many_fields_with_more_than_one_header_word() -> None:
    types = [kind for kind, _, _ in CASES] * 4
    columns = [arrow_column([None, None], arrow_type) for _, arrow_type, _ in CASES] * 4
    rows = encode_rows(columns, types)
    assert rows[0].as_py()[4:] == reference_row([None] * len(types), types)
    assert all(column.null_count == 2 for column in decode_rows(rows, types))


@pytest.mark.parametrize(("arity", "header_bytes"), [(56, 8), (57, 16), (120, 16), (121, 24)])
def test_header_grows_by_a_word_with_64_null_bits(arity: int, header_bytes: int) -> None:
    row = encode_row([None] * arity, [INT] * arity, with_arity=False)
    assert len(row) == header_bytes + 8 * arity
    assert row[(arity + 7) // 8] == 1 << (arity + 7) % 8 | ((1 << (arity + 7) % 8) - 1)
    assert decode_row(encode_row([None] * arity, [INT] * arity), [INT] * arity) == (None,) * arity


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (7, INT),
        ("a text beyond a slot", STRING),
        (Decimal(7), decimal(18, 0)),
        (Decimal(7), decimal(30, 0)),
        (np.datetime64("2024-01-01T00:00:00.000001"), timestamp(6)),
    ],
)
def test_what_lies_below_a_null_is_not_encoded(value: object, kind: AtomicType) -> None:
    full: ArrowArray = pa.array([value], arrow_value_type(kind))
    hidden = ArrowArray.from_buffers(full.type, 1, [pa.py_buffer(b"\0"), *full.buffers()[1:]])
    assert encode_rows([hidden], [kind])[0].as_py() == encode_row([None], [kind])


def test_slices_and_chunks_encode_as_their_values() -> None:
    texts = pa.array(["dropped", "short", None, "a long text it is"] * 2)
    ints = pa.array([9, 1, 2, None] * 2, pa.int32())
    whole = encode_rows([texts, ints], [STRING, INT]).to_pylist()
    assert encode_rows([texts[1:4], ints[1:4]], [STRING, INT]).to_pylist() == whole[1:4]
    chunked = pa.chunked_array([texts[:3], texts[3:]])
    assert encode_rows([chunked, ints], [STRING, INT]).to_pylist() == whole
    rows = pa.chunked_array([pa.array(whole[:5]), pa.array(whole[5:])])
    assert decode_rows(rows, [STRING, INT])[0].equals(texts)
    assert decode_rows(pa.array(whole)[2:7], [STRING, INT])[1].equals(ints[2:7])


def test_no_rows_make_no_values_of_the_right_types() -> None:
    assert len(encode_rows([pa.array([], pa.int32())], [INT])) == 0
    assert decode_rows(pa.array([], pa.binary()), [STRING, INT]) == [
        pa.array([], pa.string()),
        pa.array([], pa.int32()),
    ]


def test_one_row_goes_through_python_values() -> None:
    types = [STRING, BIGINT, decimal(30, 2), AtomicType(root=TypeRoot.DATE), timestamp(6)]
    values = (
        "text of some length",
        None,
        Decimal("-12345678901234567890.25"),
        dt.date(1969, 12, 31),
        dt.datetime.fromisoformat("1960-01-01T00:00:00.000001"),
    )
    assert decode_row(encode_row(values, types), types) == values


def test_nanoseconds_of_one_row_come_as_datetime64() -> None:
    moment = np.datetime64("1969-12-31T23:59:59.999999999", "ns")
    types = [timestamp(9), timestamp(9)]
    assert decode_row(encode_row([moment, None], types), types) == (moment, None)


@pytest.mark.parametrize(
    ("row", "types", "problem"),
    [
        (bytes.fromhex("00000001"), [INT], "shorter"),
        (encode_row([1], [INT])[:-1], [INT], "shorter"),
        (encode_row([1], [INT]), [INT, INT], "shorter"),
        (encode_row([1, 2], [INT, INT]), [INT], "arity"),
        (encode_row(["hello world"], [STRING])[:-8], [STRING], "outside"),
        (encode_row(["a"], [STRING])[:-1] + b"\x88", [STRING], "overflows"),
        (encode_row([b"\xff"], [BYTES]), [STRING], "UTF-8"),
        (
            bytes.fromhex("00000001" + "00" * 8 + "1100000010000000" + "00" * 16),
            [decimal(20, 0)],
            "decimal",
        ),
        (encode_row([1], [decimal(20, 0)])[:-8], [decimal(20, 0)], "outside"),
        (
            bytes.fromhex("00000001" + "00" * 8 + "40420f0010000000" + "00" * 8),
            [timestamp(6)],
            "nanoseconds",
        ),
        (encode_row([0], [timestamp(6)])[:-8], [timestamp(6)], "outside"),
    ],
)
def test_malformed_row_is_a_corrupt_table_that_names_the_file(
    row: bytes, types: list[AtomicType], problem: str
) -> None:
    with pytest.raises(CorruptTableError, match=problem) as caught:
        decode_row(row, types, source="/t/manifest/manifest-1")
    assert caught.value.path == "/t/manifest/manifest-1"


def test_the_error_says_which_row_is_malformed() -> None:
    good = encode_row([1], [INT])
    with pytest.raises(CorruptTableError, match="row 2"):
        decode_rows(pa.array([good, None, good[:-2]]), [INT])


@pytest.mark.parametrize(
    "kind",
    [
        ArrayType(element=INT),
        AtomicType(root=TypeRoot.VARIANT),
        AtomicType(root=TypeRoot.BLOB),
    ],
)
def test_types_that_keys_cannot_have_are_refused(kind: DataType) -> None:
    with pytest.raises(UnsupportedError, match="cannot be part of a serialized row"):
        encode_rows([pa.array([None])], [kind])
    with pytest.raises(UnsupportedError, match="cannot be part of a serialized row"):
        decode_rows(pa.array([b""]), [kind])


def test_columns_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="int64 is not one of INT"):
        encode_rows([pa.array([1])], [INT])
    with pytest.raises(InvalidArgumentError, match="different lengths"):
        encode_rows([pa.array([1]), pa.array([1, 2])], [BIGINT, BIGINT])
    with pytest.raises(InvalidArgumentError, match="2 types"):
        encode_rows([pa.array([1])], [BIGINT, BIGINT])
    with pytest.raises(InvalidArgumentError, match="EMPTY_ROW"):
        encode_rows([], [])
    with pytest.raises(InvalidArgumentError, match="no value of INT"):
        encode_row([2**40], [INT])
    with pytest.raises(InvalidArgumentError, match="1 values for 2 types"):
        encode_row([1], [INT, INT])


def test_time_beyond_nanoseconds_is_refused_not_wrapped() -> None:
    row = encode_row([dt.datetime.fromisoformat("0001-01-01")], [timestamp(6)])
    with pytest.raises(UnsupportedError, match="nanoseconds"):
        decode_row(row, [timestamp(9)])
    edge = np.datetime64("1677-09-21T00:12:44.000000001", "ns")
    assert decode_row(encode_row([edge], [timestamp(9)]), [timestamp(9)]) == (edge,)


@pytest.mark.parametrize("name", golden_names())
def test_rows_of_real_manifests_encode_again_to_the_same_bytes(name: str) -> None:
    table, rows_seen = GoldenTable(name), 0
    for entry in table.entries():
        file = entry["_FILE"]
        schema = table.schema(file["_SCHEMA_ID"])
        fields = {field.name: field.type for field in table.fields(file["_SCHEMA_ID"])}
        partitions = schema["partitionKeys"]
        keys = [key for key in schema["primaryKeys"] if key not in partitions]
        keys = keys or schema["primaryKeys"]
        rows = [(entry["_PARTITION"], partitions)]
        if schema["primaryKeys"]:
            rows += [(file["_MIN_KEY"], keys), (file["_MAX_KEY"], keys)]
            rows += [(file["_KEY_STATS"]["_MIN_VALUES"], keys)]
        stats_names = file["_VALUE_STATS_COLS"]
        if stats_names is None:
            stats_names = file["_WRITE_COLS"] or list(fields)
        fields |= {"_ROW_ID": BIGINT, "_SEQUENCE_NUMBER": BIGINT}
        if all(isinstance(fields[column], AtomicType) for column in stats_names):
            rows += [
                (file["_VALUE_STATS"][f"_{end}_VALUES"], stats_names) for end in ("MIN", "MAX")
            ]
        for row, names in rows:
            types = [fields[column] for column in names]
            assert encode_row(decode_row(row, types, source=name), types) == row
            rows_seen += 1
    assert rows_seen > 0
