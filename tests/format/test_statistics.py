"""Statistics of columns and files: the rules one by one, and those of real manifests again."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import orc

from lakebed.format.arrow.atoms import arrow_value_type
from lakebed.format.arrow.typing import ArrowArray, ArrowColumn
from lakebed.format.binary_row.codec import decode_row, encode_row
from lakebed.format.data_file_meta import EMPTY_STATS
from lakebed.format.statistics.stored import (
    FULL_STATS_MODE,
    KEY_STATS_MODE,
    NO_STATS,
    NO_STATS_MODE,
    ColumnStats,
    StatsKind,
    StatsMode,
    collect_column,
    stats_modes,
    stats_row,
)
from lakebed.format.types import MAX_LENGTH, ArrayType, AtomicType, DataField, TypeRoot
from support.golden_manifests import GoldenTable, golden_names

INT = AtomicType(root=TypeRoot.INT)
DOUBLE = AtomicType(root=TypeRoot.DOUBLE)
STRING = AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH)
BYTES = AtomicType(root=TypeRoot.VARBINARY, length=MAX_LENGTH)
NANOS = AtomicType(root=TypeRoot.TIMESTAMP, precision=9)
INTS = ArrayType(element=INT)
COUNTS = StatsMode(kind=StatsKind.COUNTS)
NAN = float("nan")


def truncate(length: int) -> StatsMode:
    return StatsMode(kind=StatsKind.TRUNCATE, length=length)


def bounds_of(
    values: Sequence[object], kind: AtomicType, mode: StatsMode = FULL_STATS_MODE
) -> tuple[object, object, int | None]:
    column: ArrowArray = pa.array(values, arrow_value_type(kind))
    stats = collect_column(column, kind, mode)
    low, high = (None if side is None else side.as_py() for side in (stats.min, stats.max))
    return low, high, stats.null_count


def test_keys_and_system_columns_keep_128_and_overrides_come_first() -> None:
    names = ["_KEY_a", "_SEQUENCE_NUMBER", "_VALUE_KIND", "a", "b"]
    overrides = {"b": FULL_STATS_MODE}
    assert stats_modes(names, default=truncate(16), overrides=overrides) == [
        KEY_STATS_MODE,
        KEY_STATS_MODE,
        KEY_STATS_MODE,
        truncate(16),
        FULL_STATS_MODE,
    ]
    assert stats_modes(names[:1], default=COUNTS, file_format="avro") == [COUNTS]
    thin = stats_modes(["a", "b"], default=COUNTS, key_columns={"a"})
    assert thin == [KEY_STATS_MODE, COUNTS]


def test_only_the_first_columns_are_kept_where_a_limit_is_set() -> None:
    names = ["_KEY_a", "a", "b", "c", "d"]
    kept = stats_modes(names, default=COUNTS, overrides={"c": FULL_STATS_MODE}, keep_first=1)
    assert kept == [KEY_STATS_MODE, COUNTS, NO_STATS_MODE, FULL_STATS_MODE, NO_STATS_MODE]
    assert stats_modes(["a"], default=COUNTS, keep_first=0) == [NO_STATS_MODE]


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([3, None, -1], INT, (-1, 3, 1)),
        ([None, None], INT, (None, None, 2)),
        ([], STRING, (None, None, 0)),
        (["b", "é", "a\x00"], STRING, ("a\x00", "é", 0)),
        ([b"\x7f", b"\x80", b""], BYTES, (b"", b"\x80", 0)),
        ([True, None, False], AtomicType(root=TypeRoot.BOOLEAN), (False, True, 1)),
        (
            [Decimal("1.50"), Decimal("-2.25")],
            AtomicType(root=TypeRoot.DECIMAL, precision=20, scale=2),
            (Decimal("-2.25"), Decimal("1.50"), 0),
        ),
    ],
)
def test_bounds_and_null_counts(
    values: list[object], kind: AtomicType, expected: tuple[object, object, int]
) -> None:
    assert bounds_of(values, kind) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.5, NAN, -2.0], "(-2.0, nan, 0)"),
        ([NAN, None], "(nan, nan, 1)"),
        ([0.0, -0.0], "(-0.0, 0.0, 0)"),
        ([-0.0, 0.0], "(-0.0, 0.0, 0)"),
        ([-0.0], "(-0.0, -0.0, 0)"),
        ([0.0], "(0.0, 0.0, 0)"),
        ([0.0, 1.0], "(0.0, 1.0, 0)"),
        ([-1.0, -0.0], "(-1.0, -0.0, 0)"),
        ([float("inf"), float("-inf")], "(-inf, inf, 0)"),
    ],
)
def test_floats_are_in_total_order(values: list[float | None], expected: str) -> None:
    assert str(bounds_of(values, DOUBLE)) == expected


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (["abc", "abcd"], STRING, ("abc", "abd", 0)),
        (["abc", "abc"], STRING, ("abc", "abc", 0)),
        (["ab\U0010ffff!"], STRING, ("ab\U0010ffff", "ac", 0)),
        (["\U0010ffff" * 4], STRING, (None, None, 0)),
        (["ab\ud7ffx"], STRING, ("ab\ud7ff", "ab\ue000", 0)),
        (["zażółć"], STRING, ("zaż", "za\u017d", 0)),
        ([b"\x01\x02\x03\x04"], BYTES, (b"\x01\x02\x03", b"\x01\x02\x04", 0)),
        ([b"\x01\xff\xff\xff"], BYTES, (b"\x01\xff\xff", b"\x02", 0)),
        ([b"\xff\xff\xff\xff"], BYTES, (None, None, 0)),
        ([b"\xff\xff\xff"], BYTES, (b"\xff\xff\xff", b"\xff\xff\xff", 0)),
        ([1000000], INT, (1000000, 1000000, 0)),
    ],
)
def test_truncated_bounds_stay_bounds(
    values: list[object], kind: AtomicType, expected: tuple[object, object, int]
) -> None:
    assert bounds_of(values, kind, truncate(3)) == expected


@given(st.lists(st.text(), min_size=1), st.integers(1, 4))
def test_truncated_text_bounds_contain_all_values(texts: list[str], length: int) -> None:
    low, high, _ = bounds_of(texts, STRING, truncate(length))
    if low is not None:
        assert isinstance(low, str)
        assert isinstance(high, str)
        assert len(low) <= length
        assert len(high) <= length
        for text in texts:
            assert low.encode() <= text.encode() <= high.encode()


def test_what_each_format_keeps_of_a_column() -> None:
    lists: ArrowArray = pa.array([[1], None], pa.list_(pa.int32()))
    assert collect_column(lists, INTS, FULL_STATS_MODE) == NO_STATS
    for file_format in ("avro", "orc"):
        counted = collect_column(lists, INTS, FULL_STATS_MODE, file_format=file_format)
        assert counted == ColumnStats(null_count=1)
    nanos: ArrowArray = pa.array([1], pa.timestamp("ns"))
    assert collect_column(nanos, NANOS, FULL_STATS_MODE) == ColumnStats(null_count=0)
    assert collect_column(nanos, NANOS, FULL_STATS_MODE, file_format="avro").min == nanos[0]
    data: ArrowArray = pa.array([b"a"])
    assert collect_column(data, BYTES, FULL_STATS_MODE).max == data[0]
    counted = collect_column(data, BYTES, FULL_STATS_MODE, file_format="orc")
    assert counted == ColumnStats(null_count=0)


def test_none_keeps_nothing_and_counts_keep_nulls() -> None:
    column: ArrowArray = pa.array([1, None], pa.int32())
    assert collect_column(column, INT, NO_STATS_MODE) == NO_STATS
    assert collect_column(column, INT, COUNTS) == ColumnStats(null_count=1)


def test_large_and_chunked_columns_have_bounds_of_the_plain_type() -> None:
    column = pa.chunked_array([pa.array(["b"], pa.large_string()), pa.array(["a"], "large_string")])
    stats = collect_column(column, STRING, FULL_STATS_MODE)
    assert stats == ColumnStats(pa.scalar("a"), pa.scalar("b"), 0)
    floats = pa.chunked_array([[1.0], [-0.0, None]])
    assert collect_column(floats, DOUBLE, FULL_STATS_MODE).min == pa.scalar(-0.0)


FIELDS = [
    DataField(id=0, name="a", type=INT),
    DataField(id=1, name="l", type=INTS),
    DataField(id=2, name="s", type=STRING),
]
STATS = [
    ColumnStats(pa.scalar(1, pa.int32()), pa.scalar(5, pa.int32()), 0),
    NO_STATS,
    ColumnStats(null_count=3),
]


def test_dense_statistics_leave_out_what_is_unknown() -> None:
    stats, names = stats_row(STATS, FIELDS, dense=True)
    assert names == ("a", "s")
    assert decode_row(stats.min_values, [INT, STRING]) == (1, None)
    assert decode_row(stats.max_values, [INT, STRING]) == (5, None)
    assert stats.null_counts == (0, 3)


def test_full_statistics_have_all_columns_and_no_names() -> None:
    stats, names = stats_row(STATS, FIELDS, dense=False)
    assert names is None
    assert stats.min_values == encode_row([1, None, None], [INT, INT, STRING])
    assert stats.null_counts == (0, None, 3)


def test_dense_statistics_of_known_columns_have_no_names_and_of_none_have_an_empty_list() -> None:
    assert stats_row([STATS[0]], FIELDS[:1], dense=True)[1] is None
    assert stats_row([NO_STATS], FIELDS[:1], dense=True) == (EMPTY_STATS, ())
    assert stats_row([], [], dense=False) == (EMPTY_STATS, None)


def modes_of_file(schema: dict[str, Any], fields: Sequence[DataField]) -> list[StatsMode]:
    options, names = schema["options"], [field.name for field in fields]
    overrides = {name: options.get(f"fields.{name}.stats-mode") for name in names}
    thin = options.get("data-file.thin-mode") == "true"
    return stats_modes(
        names,
        default=StatsMode.parse(options.get("metadata.stats-mode", "truncate(16)"), ""),
        overrides={name: StatsMode.parse(text, name) for name, text in overrides.items() if text},
        key_columns=schema["primaryKeys"] if thin else (),
    )


def column_of(rows: pa.Table, field: DataField, *, prefix: str = "") -> ArrowColumn:
    column = rows[prefix + field.name]
    kind = field.type
    return column.cast(arrow_value_type(kind)) if isinstance(kind, AtomicType) else column


# All its files are Avro, and ORC's own bounds of floats depend on where in the file NaN comes.
LEFT_OUT = {"append_types_avro", "append_types_orc"}


@pytest.mark.parametrize("name", sorted(set(golden_names()) - LEFT_OUT))
def test_statistics_of_real_files_come_out_again(name: str) -> None:
    table, files_seen = GoldenTable(name), 0
    for entry in table.entries():
        file = entry["_FILE"]
        path = table.data_file(file["_FILE_NAME"])
        if path is None or path.suffix == ".avro" or file["_WRITE_COLS"]:
            continue
        file_format = path.suffix[1:]
        rows = orc.ORCFile(path).read() if file_format == "orc" else pq.ParquetFile(path).read()
        schema, fields = table.schema(file["_SCHEMA_ID"]), table.fields(file["_SCHEMA_ID"])
        stats = [
            collect_column(column_of(rows, field), field.type, mode, file_format=file_format)
            for field, mode in zip(fields, modes_of_file(schema, fields), strict=True)
        ]
        dense = schema["options"].get("metadata.stats-dense-store", "true") == "true"
        found, columns = stats_row(stats, fields, dense=dense)
        names = file["_VALUE_STATS_COLS"]
        assert columns == (None if names is None else tuple(names))
        assert found.null_counts == tuple(file["_VALUE_STATS"]["_NULL_COUNTS"])
        assert found.min_values == file["_VALUE_STATS"]["_MIN_VALUES"]
        assert found.max_values == file["_VALUE_STATS"]["_MAX_VALUES"]
        files_seen += 1
    assert files_seen > 0


@pytest.mark.parametrize("name", ["pk_composite_partitioned", "pk_decimal_key", "pk_history"])
def test_key_statistics_of_real_files_come_out_again(name: str) -> None:
    table, files_seen = GoldenTable(name), 0
    for entry in table.entries():
        file = entry["_FILE"]
        path = table.data_file(file["_FILE_NAME"])
        if path is None:
            continue
        schema, fields = table.schema(file["_SCHEMA_ID"]), table.fields(file["_SCHEMA_ID"])
        trimmed = [key for key in schema["primaryKeys"] if key not in schema["partitionKeys"]]
        keys = [field for key in trimmed for field in fields if field.name == key]
        rows = pq.ParquetFile(path).read()
        stats = [
            collect_column(column_of(rows, key, prefix="_KEY_"), key.type, KEY_STATS_MODE)
            for key in keys
        ]
        found, columns = stats_row(stats, keys, dense=False)
        assert columns is None
        assert found.min_values == file["_KEY_STATS"]["_MIN_VALUES"]
        assert found.max_values == file["_KEY_STATS"]["_MAX_VALUES"]
        assert found.null_counts == tuple(file["_KEY_STATS"]["_NULL_COUNTS"])
        files_seen += 1
    assert files_seen > 0
