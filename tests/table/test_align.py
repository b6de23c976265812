"""What may be handed over, how it becomes rows of the table, and what is refused."""

import datetime as dt
from collections.abc import Callable
from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from lakebed.errors import InvalidArgumentError, InvalidDataError
from lakebed.format.arrow.typing import ArrowArray, python_values
from lakebed.format.schema import TableSchema
from lakebed.format.schema_builder import build_schema
from lakebed.format.schema_definition import schema
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.table import Table
from lakebed.table.writing.align import align
from support.effects import open_catalog

ROWS = pa.table({"id": pa.array([1, 2], pa.int64()), "v": pa.array(["a", None], pa.string())})


def cast_schema(key: pa.DataType, value: pa.DataType) -> pa.Schema:
    return pa.schema([pa.field("id", key), pa.field("v", value)])


class SparkLike:
    """Has what Lakebed asks of a Spark DataFrame."""

    def toArrow(self) -> pa.Table:  # noqa: N802 - Spark's name
        return ROWS


INPUTS: dict[str, Callable[[], object]] = {
    "Arrow table": lambda: ROWS,
    "Arrow table of several chunks": lambda: pa.concat_tables([ROWS.slice(0, 1), ROWS.slice(1, 1)]),
    "Arrow batch": lambda: ROWS.to_batches()[0],
    "Arrow reader": lambda: pa.RecordBatchReader.from_batches(
        ROWS.schema, [*ROWS.slice(0, 1).to_batches(), *ROWS.slice(1).to_batches()]
    ),
    "polars frame": lambda: pl.DataFrame({"id": [1, 2], "v": ["a", None]}),
    "pandas frame": lambda: pd.DataFrame({"id": [1, 2], "v": ["a", None]}),
    "pandas frame with an index": lambda: pd.DataFrame(
        {"id": [1, 2], "v": ["a", None]}, index=[7, 8]
    ),
    "Spark frame": SparkLike,
    "large types": lambda: ROWS.cast(cast_schema(pa.int64(), pa.large_string())),
    "view types": lambda: ROWS.cast(cast_schema(pa.int64(), pa.string_view())),
    "dictionary types": lambda: pa.table({"id": ROWS["id"], "v": ROWS["v"].dictionary_encode()}),
    "dictionary of large strings": lambda: pa.table(
        {"id": ROWS["id"], "v": ROWS["v"].cast(pa.large_string()).dictionary_encode()}
    ),
    "other order of columns": lambda: ROWS.select(["v", "id"]),
    "narrower numbers": lambda: ROWS.cast(cast_schema(pa.int8(), pa.string())),
}


def new_table() -> Table:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    columns = schema([("id", "BIGINT NOT NULL"), ("v", "STRING")])
    return catalog.create_table("db.t", schema=columns)


@pytest.mark.parametrize("kind", INPUTS)
def test_every_kind_of_table_is_taken(kind: str) -> None:
    table = new_table()
    snapshot = table.append(INPUTS[kind]())
    assert snapshot is not None
    assert table.scan().to_arrow().to_pylist() == ROWS.to_pylist()


@pytest.mark.parametrize(
    "empty",
    [
        ROWS.slice(0, 0),
        pl.DataFrame({"id": [], "v": []}, schema={"id": pl.Int64, "v": pl.String}),
        pa.RecordBatchReader.from_batches(ROWS.schema, []),
    ],
    ids=["Arrow", "polars", "reader"],
)
def test_no_rows_make_no_snapshot(empty: object) -> None:
    assert new_table().append(empty) is None


def test_an_empty_reader_with_a_wrong_column_is_refused_all_the_same() -> None:
    reader = pa.RecordBatchReader.from_batches(pa.schema([("nothing", pa.int64())]), [])
    with pytest.raises(InvalidDataError, match="no column 'nothing'"):
        new_table().append(reader)


@pytest.mark.parametrize("wrong", [[{"id": 1}], {"id": [1]}, None, 3, "rows"], ids=repr)
def test_what_is_no_table_is_refused(wrong: object) -> None:
    with pytest.raises(InvalidArgumentError, match="is no table: give an Arrow table"):
        new_table().append(wrong)


def test_a_column_that_may_be_null_may_be_missing() -> None:
    table = new_table()
    table.append(pa.table({"id": [1]}))
    assert table.scan().to_arrow().to_pylist() == [{"id": 1, "v": None}]


def table_schema(kind: str, **extras: str) -> TableSchema:
    columns = schema([("v", kind, extras)])
    return build_schema(columns.fields, options={}, time_millis=0)


FITTING: list[tuple[str, ArrowArray]] = [
    ("INT", pa.array([1, None], pa.int64())),
    ("BIGINT", pa.array([1, None], pa.int8())),
    ("DOUBLE", pa.array([1.5, None], pa.float32())),
    ("DECIMAL(10, 2)", pa.array([Decimal("1.5"), None], pa.decimal128(5, 1))),
    ("DECIMAL(12, 2)", pa.array([1, None], pa.int32())),
    ("DOUBLE", pa.array([1, None], pa.int32())),
    ("STRING", pa.array(["a", None], pa.large_string())),
    ("BYTES", pa.array([b"abc", None], pa.binary(3))),
    ("BYTES", pa.array([b"abc", None], pa.large_binary())),
    ("BYTES", pa.array([b"abc", None], pa.binary_view())),
    ("DATE", pa.array([dt.date(2026, 1, 1), None], pa.date64())),
    ("TIME(3)", pa.array([dt.time(1, 2, 3), None], pa.time64("us"))),
    ("TIMESTAMP(6)", pa.array([dt.datetime(2026, 1, 1), None], pa.timestamp("ms"))),  # noqa: DTZ001
    ("ARRAY<BIGINT>", pa.array([[1, None], None], pa.large_list(pa.int32()))),
    ("ARRAY<STRING>", pa.array([["a"], None], pa.list_(pa.large_string()))),
    ("MAP<STRING, BIGINT>", pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int32()))),
    ("ROW<a BIGINT>", pa.array([{"a": 1}, None], pa.struct([("a", pa.int16())]))),
]


@pytest.mark.parametrize(
    ("kind", "given"), FITTING, ids=lambda value: str(getattr(value, "type", value))
)
def test_a_type_that_keeps_the_meaning_is_converted(kind: str, given: ArrowArray) -> None:
    wanted = table_schema(kind)
    rows, kinds = align(pa.table({"v": given}), wanted)
    assert kinds is None
    again, _ = align(rows, wanted)
    assert rows.schema == again.schema
    assert python_values(rows["v"]) == python_values(given.cast(rows["v"].type))


REFUSED: list[tuple[str, ArrowArray]] = [
    ("INT", pa.array(["1"])),
    ("INT", pa.array([1.5])),
    ("INT", pa.array([1 << 40])),
    ("INT", pa.array([1], pa.uint8())),
    ("INT", pa.nulls(1)),
    ("FLOAT", pa.array([1.5], pa.float16())),
    ("BIGINT", pa.array([dt.timedelta(1)])),
    ("INT", pa.array([True])),
    ("TINYINT", pa.array([128])),
    ("FLOAT", pa.array([1.5], pa.float64())),
    ("DOUBLE", pa.array([Decimal("1.5")])),
    ("STRING", pa.array([1])),
    ("STRING", pa.array([b"a"])),
    ("BYTES", pa.array(["a"])),
    ("DATE", pa.array(["2026-01-01"])),
    ("DATE", pa.array([dt.datetime(2026, 1, 1)])),  # noqa: DTZ001
    ("TIMESTAMP(3)", pa.array([dt.datetime(2026, 1, 1, 0, 0, 0, 1)], pa.timestamp("us"))),  # noqa: DTZ001
    ("TIMESTAMP(6)", pa.array([dt.datetime(2026, 1, 1, tzinfo=dt.UTC)], pa.timestamp("us", "UTC"))),
    ("TIMESTAMP(6) WITH LOCAL TIME ZONE", pa.array([dt.datetime(2026, 1, 1)])),  # noqa: DTZ001
    ("DECIMAL(5, 2)", pa.array([Decimal("1234.5")])),
    ("DECIMAL(5, 2)", pa.array([Decimal("1.234")])),
    ("BOOLEAN", pa.array([1])),
    ("ROW<a INT>", pa.array([{"b": 1}])),
    ("ARRAY<INT>", pa.array([["a"]])),
    ("MAP<STRING, INT>", pa.array([{"a": 1}])),
    ("BIGINT", pa.array([dt.timedelta(seconds=1)])),
]


@pytest.mark.parametrize(
    ("kind", "given"), REFUSED, ids=lambda value: str(getattr(value, "type", value))
)
def test_a_type_or_value_that_changes_meaning_is_refused_by_name(
    kind: str, given: ArrowArray
) -> None:
    with pytest.raises(InvalidDataError, match="column 'v'"):
        align(pa.table({"v": given}), table_schema(kind))


def test_a_default_fills_a_missing_column_but_not_a_null() -> None:
    columns = schema([("id", "INT"), ("v", "INT NOT NULL", {"default": "7"})])
    wanted = build_schema(columns.fields, options={}, time_millis=0)
    rows, _ = align(pa.table({"id": pa.array([1, 2], pa.int32())}), wanted)
    assert rows["v"].to_pylist() == [7, 7]
    with pytest.raises(InvalidDataError, match="column 'v' is NOT NULL, but 1 of the rows"):
        align(pa.table({"id": pa.array([1], pa.int32()), "v": pa.nulls(1, pa.int32())}), wanted)


def test_a_null_becomes_the_default_as_in_every_engine_of_the_format() -> None:
    columns = schema([("id", "INT"), ("v", "DECIMAL(4, 2)", {"default": "1.5"})])
    wanted = build_schema(columns.fields, options={}, time_millis=0)
    rows = pa.table({"id": pa.array([1, 2], pa.int32()), "v": [Decimal("2.25"), None]})
    aligned, _ = align(rows, wanted)
    assert aligned.column("v").to_pylist() == [Decimal("2.25"), Decimal("1.50")]


def test_a_default_that_is_no_value_of_its_column_is_refused() -> None:
    columns = schema([("id", "INT"), ("v", "INT", {"default": "x"})])
    wanted = build_schema(columns.fields, options={}, time_millis=0)
    with pytest.raises(
        InvalidDataError, match=r"column 'v': its default 'x' cannot be used: .*'x'"
    ):
        align(pa.table({"id": pa.array([1], pa.int32())}), wanted)


@pytest.mark.parametrize("wrong", ["I", "+X", "", None])
def test_an_unknown_row_kind_is_refused(wrong: str | None) -> None:
    rows = pa.table({"v": pa.array([1, 2], pa.int32()), "_row_kind": ["+I", wrong]})
    with pytest.raises(InvalidDataError, match=r"_row_kind has .* one of \+I, -U, \+U, -D"):
        align(rows, table_schema("INT"))


def test_two_columns_of_one_name_are_refused() -> None:
    rows = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["v", "v"])
    with pytest.raises(InvalidDataError, match="two columns 'v'"):
        align(rows, table_schema("INT"))
