"""Bounds of files as text, through schemas that came later and files that hold some columns."""

import datetime as dt

import pyarrow as pa

from lakebed.format.binary_row.codec import encode_row
from lakebed.format.data_file_meta import (
    EMPTY_STATS,
    DataFileMeta,
    FileKind,
    ManifestEntry,
    SimpleStats,
)
from lakebed.format.manifest import entries_to_columns
from lakebed.format.schema import TableSchema
from lakebed.format.schema_definition import schema
from lakebed.format.type_text import parse_type
from lakebed.format.types import DataField
from lakebed.table.system.file_bounds import bounds_text

INT, STRING = parse_type("INT"), parse_type("STRING")
OLD = TableSchema(
    id=0, fields=schema([("b", "INT"), ("gone", "INT"), ("a", "STRING")]).fields, highest_field_id=2
)
NEW = TableSchema(
    id=1,
    fields=(
        DataField(id=2, name="z", type=STRING),
        DataField(id=0, name="b", type=parse_type("DECIMAL(10, 2)")),
        DataField(id=3, name="A", type=INT),
    ),
    highest_field_id=3,
)


def entry(
    stats: SimpleStats,
    *,
    schema_id: int,
    stats_cols: tuple[str, ...] | None = None,
    write_cols: tuple[str, ...] | None = None,
) -> ManifestEntry:
    file = DataFileMeta(
        file_name=f"data-{schema_id}.parquet",
        file_size=1,
        row_count=9,
        min_key=b"",
        max_key=b"",
        key_stats=EMPTY_STATS,
        value_stats=stats,
        min_sequence_number=0,
        max_sequence_number=8,
        schema_id=schema_id,
        level=0,
        value_stats_cols=stats_cols,
        write_cols=write_cols,
    )
    return ManifestEntry(kind=FileKind.ADD, partition=b"", bucket=0, total_buckets=-1, file=file)


def texts(*entries: ManifestEntry) -> list[tuple[str, str, str]]:
    found = bounds_text(entries_to_columns(entries), NEW, {0: OLD, 1: NEW}, time_zone=dt.UTC)
    columns = (found.null_counts, found.min, found.max)
    return list(zip(*(column.to_pylist() for column in columns), strict=True))


def stats_of(
    low: list[object], high: list[object], counts: tuple[int | None, ...], *types: str
) -> SimpleStats:
    kinds = [parse_type(text) for text in types]
    return SimpleStats(
        min_values=encode_row(low, kinds), max_values=encode_row(high, kinds), null_counts=counts
    )


def test_an_older_file_is_seen_by_field_id_and_its_bounds_are_cast() -> None:
    stats = stats_of([1, 5, "x"], [2, 6, "y"], (0, 1, 2), "INT", "INT", "STRING")
    assert texts(entry(stats, schema_id=0)) == [
        ("{A=9, b=0, z=2}", "{A=null, b=1.00, z=x}", "{A=null, b=2.00, z=y}")
    ]


def test_columns_of_which_nothing_was_collected_are_unknown() -> None:
    dense = stats_of([1], [2], (3,), "INT")
    none = entry(EMPTY_STATS, schema_id=0, stats_cols=())
    assert texts(entry(dense, schema_id=0, stats_cols=("b",)), none) == [
        ("{A=9, b=3, z=null}", "{A=null, b=1.00, z=null}", "{A=null, b=2.00, z=null}"),
        ("{A=9, b=null, z=null}", "{A=null, b=null, z=null}", "{A=null, b=null, z=null}"),
    ]


def test_columns_that_a_file_of_some_columns_lacks_are_null_in_every_row() -> None:
    stats = stats_of(["p"], ["q"], (4,), "STRING")
    assert texts(entry(stats, schema_id=1, write_cols=("z",))) == [
        ("{A=9, b=9, z=4}", "{A=null, b=null, z=p}", "{A=null, b=null, z=q}")
    ]


def test_a_file_without_any_statistics_shows_none() -> None:
    known = stats_of(["p", None, 7], ["q", None, 8], (0, 9, 0), "STRING", "DECIMAL(10, 2)", "INT")
    assert texts(entry(EMPTY_STATS, schema_id=1), entry(known, schema_id=1)) == [
        ("{}", "{}", "{}"),
        ("{A=0, b=9, z=0}", "{A=7, b=null, z=p}", "{A=8, b=null, z=q}"),
    ]


def test_no_file_gives_no_text() -> None:
    assert texts() == []
    assert pa.types.is_string(
        bounds_text(entries_to_columns([]), NEW, {}, time_zone=dt.UTC).min.type
    )
