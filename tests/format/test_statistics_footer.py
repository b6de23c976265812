"""What is believed of the footers that other engines wrote."""

import datetime as dt
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakebed.format.arrow.atoms import arrow_value_type
from lakebed.format.statistics.stored import (
    FULL_STATS_MODE,
    NO_STATS,
    NO_STATS_MODE,
    ColumnStats,
    StatsKind,
    StatsMode,
    collect_column,
    footer_statistics,
)
from lakebed.format.types import ArrayType, AtomicType, DataField, DataType, TypeRoot
from support.golden_manifests import GoldenTable

COUNTS = StatsMode(kind=StatsKind.COUNTS)
PARQUET_MR = "parquet-mr version 1.16.0 (build 402c38)"


def atomic(root: str, *, precision: int | None = None, scale: int | None = None) -> AtomicType:
    return AtomicType(root=TypeRoot[root], precision=precision, scale=scale)


@dataclass(frozen=True)
class Stats:
    """The statistics of a chunk as a footer has them."""

    min: object = None
    max: object = None
    null_count: int | None = 0

    @property
    def has_min_max(self) -> bool:
        return self.min is not None


@dataclass(frozen=True)
class Chunk:
    """The only column of a row group."""

    statistics: Stats | None
    num_values: int = 10
    path_in_schema: str = "c"


@dataclass(frozen=True)
class Group:
    """A row group of one column."""

    chunk: Chunk
    num_columns: int = 1

    def column(self, i: int, /) -> Chunk:
        assert i == 0
        return self.chunk


@dataclass(frozen=True)
class Footer:
    """A footer of such row groups."""

    chunks: Sequence[Chunk]
    created_by: str = PARQUET_MR
    num_row_groups: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "num_row_groups", len(self.chunks))

    def row_group(self, i: int, /) -> Group:
        return Group(self.chunks[i])


def of_footer(footer: Footer, kind: DataType, mode: StatsMode = FULL_STATS_MODE) -> ColumnStats:
    return footer_statistics(footer, [DataField(id=0, name="c", type=kind)], [mode])[0]


def of_groups(*groups: Stats | None, kind: str = "INT") -> ColumnStats:
    return of_footer(Footer([Chunk(stats) for stats in groups]), atomic(kind))


def values_of(stats: ColumnStats) -> list[object]:
    return [None if end is None else end.as_py() for end in (stats.min, stats.max)]


def ints(low: int | None, high: int | None, null_count: int | None) -> ColumnStats:
    bounds = [None if end is None else pa.scalar(end, pa.int32()) for end in (low, high)]
    return ColumnStats(bounds[0], bounds[1], null_count)


def test_row_groups_are_merged() -> None:
    assert of_groups(Stats(3, 9, 1), Stats(-1, 4, 2)) == ints(-1, 9, 3)


def test_row_group_of_nulls_alone_does_not_hide_the_others_bounds() -> None:
    assert of_groups(Stats(3, 9, 1), Stats(null_count=10)) == ints(3, 9, 11)
    assert of_groups(Stats(null_count=10)) == ints(None, None, 10)


def test_row_group_with_values_but_without_bounds_hides_all() -> None:
    assert of_groups(Stats(3, 9, 1), Stats(null_count=2)) == ints(None, None, 3)
    assert of_groups(Stats(3, 9, 1), Stats(null_count=None)) == NO_STATS
    assert of_groups(Stats(3, 9, 1), None) == NO_STATS


def test_uncounted_nulls_leave_the_bounds() -> None:
    assert of_groups(Stats(3, 9, None)) == ints(3, 9, None)


def test_file_without_row_groups_has_no_nulls() -> None:
    assert of_groups() == ints(None, None, 0)


@pytest.mark.parametrize("created_by", ["parquet-cpp-arrow version 26.0.1", ""])
def test_float_bounds_are_believed_of_parquet_mr_alone(created_by: str) -> None:
    chunks, kind = [Chunk(Stats(1.5, 2.5))], atomic("DOUBLE")
    known = ColumnStats(pa.scalar(1.5), pa.scalar(2.5), 0)
    assert of_footer(Footer(chunks), kind) == known
    assert of_footer(Footer(chunks, created_by=created_by), kind) == ColumnStats(null_count=0)


def test_float_bounds_with_nan_are_unknown_and_zeros_are_widened() -> None:
    assert of_groups(Stats(1.5, float("nan")), kind="FLOAT") == ColumnStats(null_count=0)
    zeros = of_groups(Stats(0.0, -0.0), kind="DOUBLE")
    assert str((zeros.min, zeros.max)) == str((pa.scalar(-0.0), pa.scalar(0.0)))


def test_values_that_the_type_would_round_are_unknown() -> None:
    micros = dt.datetime.fromisoformat("2024-01-01T00:00:00.000001")
    footer = Footer([Chunk(Stats(micros, micros))])
    assert of_footer(footer, atomic("TIMESTAMP", precision=3)) == ColumnStats(null_count=0)
    known = of_footer(footer, atomic("TIMESTAMP", precision=6))
    assert known.max == pa.scalar(micros, pa.timestamp("us"))
    assert of_footer(footer, atomic("TIMESTAMP", precision=9)) == ColumnStats(null_count=0)
    assert of_groups(Stats(b"a", b"b"), kind="VARCHAR") == ColumnStats(null_count=0)
    assert of_groups(Stats(300, 300), kind="TINYINT") == ColumnStats(null_count=0)


def test_modes_shorten_what_the_footer_says() -> None:
    footer = Footer([Chunk(Stats("abcdef", "bcdefg", 2))])
    truncated = of_footer(footer, atomic("VARCHAR"), StatsMode(kind=StatsKind.TRUNCATE, length=2))
    assert truncated == ColumnStats(pa.scalar("ab"), pa.scalar("bd"), 2)
    assert of_footer(footer, atomic("VARCHAR"), COUNTS) == ColumnStats(null_count=2)
    assert of_footer(footer, atomic("VARCHAR"), NO_STATS_MODE) == NO_STATS


def test_nested_and_missing_columns_are_unknown() -> None:
    footer = Footer([Chunk(Stats(1, 2), path_in_schema="c.list.element")])
    assert of_footer(footer, ArrayType(element=atomic("INT"))) == NO_STATS
    assert of_footer(footer, atomic("INT")) == NO_STATS


def test_footer_of_a_written_file_says_what_its_data_say() -> None:
    columns = {
        "d": pa.array([Decimal("1.50"), None, Decimal("-7.25")], pa.decimal128(30, 2)),
        "s": pa.array(["b", None, "a"]),
        "b": pa.array([b"\xff", b"", None]),
        "t": pa.array([3, 1, 2], pa.time32("ms")),
        "z": pa.array([3, 1, None], pa.timestamp("us", "UTC")),
        "n": pa.array([None, None, None], pa.int32()),
        "o": pa.array([True, True, None]),
    }
    kinds = [
        atomic("DECIMAL", precision=30, scale=2),
        atomic("VARCHAR"),
        atomic("VARBINARY"),
        atomic("TIME", precision=3),
        atomic("TIMESTAMP_LTZ", precision=6),
        atomic("INT"),
        atomic("BOOLEAN"),
    ]
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream, row_group_size=2)
    fields = [
        DataField(id=index, name=name, type=kind)
        for index, (name, kind) in enumerate(zip(columns, kinds, strict=True))
    ]
    found = footer_statistics(
        pq.ParquetFile(stream).metadata, fields, [FULL_STATS_MODE] * len(fields)
    )
    assert found == [
        collect_column(column, kind, FULL_STATS_MODE)
        for column, kind in zip(pa.table(columns).columns, kinds, strict=True)
    ]


@pytest.mark.parametrize("name", ["append_types_parquet", "append_rolling", "pk_string_buckets"])
def test_footers_of_real_files_say_what_their_data_say(name: str) -> None:
    table, columns_seen = GoldenTable(name), 0
    for entry in table.entries():
        path = table.data_file(entry["_FILE"]["_FILE_NAME"])
        if path is None:
            continue
        fields, file = table.fields(entry["_FILE"]["_SCHEMA_ID"]), pq.ParquetFile(path)
        found = footer_statistics(file.metadata, fields, [FULL_STATS_MODE] * len(fields))
        rows = file.read()
        for field_, known in zip(fields, found, strict=True):
            assert isinstance(field_.type, AtomicType)
            column = rows[field_.name].cast(arrow_value_type(field_.type))
            expected = collect_column(column, field_.type, FULL_STATS_MODE)
            assert known.null_count == expected.null_count
            if None not in (known.min, known.max, expected.min, expected.max):
                # By value: the bounds of a footer have either zero.
                assert values_of(known) == values_of(expected)
                columns_seen += 1
    assert columns_seen > 0
