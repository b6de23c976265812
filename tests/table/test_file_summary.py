"""What entries of real engines say of their files, and which modes the options give to columns."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from lakebed.errors import InvalidArgumentError
from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.binary_row.codec import decode_row
from lakebed.format.data_file import FileOrigin, read_file
from lakebed.format.data_file_meta import SimpleStats
from lakebed.format.key_value import SEQUENCE_NUMBER, VALUE_KIND
from lakebed.format.schema import TableSchema
from lakebed.format.schema_builder import build_schema
from lakebed.format.schema_definition import schema
from lakebed.options.choices import StatsMode
from lakebed.options.table_options import TableOptions
from lakebed.storage.local import LocalFileIO
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.writing.file_summary import NO_INDEX, FileSummary, PlacedIndex, SummaryPlan
from support.golden_manifests import GoldenTable, golden_names

KEPT_128 = StatsMode.parse("truncate(128)", "")
POSTPONE_BUCKET = -2
# ORC's own bounds of floats depend on where NaN comes, and it has none of very long text.
LEFT_OUT = {"append_types_orc"}


def entries_with_files(name: str) -> Iterator[tuple[TableSchema, dict[str, Any], Path]]:
    table = GoldenTable(name)
    for entry in table.entries():
        file = entry["_FILE"]
        path = table.data_file(file["_FILE_NAME"])
        if path is None or file["_WRITE_COLS"] or path.suffix not in {".avro", ".orc", ".parquet"}:
            continue
        schema_path = table.path / "schema" / f"schema-{file['_SCHEMA_ID']}"
        yield TableSchema.from_json(schema_path.read_bytes(), str(schema_path)), entry, path


def plan_of(table_schema: TableSchema, arguments: Mapping[str, Any] | None = None) -> SummaryPlan:
    keyed = bool(table_schema.primary_keys)
    options = TableOptions.parse(table_schema.options, has_primary_key=keyed)
    return SummaryPlan.of(table_schema, options, **(arguments or {}))


def summary_of(table_schema: TableSchema, entry: Mapping[str, Any], path: Path) -> FileSummary:
    """Of the file's rows, given in three parts."""
    fields = table_schema.fields
    if table_schema.primary_keys:
        fields = (SEQUENCE_NUMBER, VALUE_KIND, *fields)
    origin = FileOrigin(fields=fields, options=table_schema.options)
    rows = read_file(LocalFileIO(), str(path), schema=to_arrow_schema(fields), origin=origin)
    plan = plan_of(
        table_schema,
        {
            "file_format": path.suffix[1:],
            "level": entry["_FILE"]["_LEVEL"],
            "is_changelog": path.name.startswith("changelog-"),
            "is_postponed": entry["_BUCKET"] == POSTPONE_BUCKET,
        },
    )
    summary, step = FileSummary(plan), max(rows.num_rows // 3, 1)
    for start in range(0, rows.num_rows, step):
        summary.add(rows.slice(start, step))
    return summary


def written(stats: SimpleStats) -> dict[str, Any]:
    return {
        "_MIN_VALUES": stats.min_values,
        "_MAX_VALUES": stats.max_values,
        "_NULL_COUNTS": None if stats.null_counts is None else list(stats.null_counts),
    }


@pytest.mark.parametrize("name", sorted(set(golden_names()) - LEFT_OUT))
def test_all_that_a_real_entry_says_of_its_rows_comes_out_again(name: str) -> None:
    files_seen = 0
    for table_schema, entry, path in entries_with_files(name):
        summary, real = summary_of(table_schema, entry, path), entry["_FILE"]
        value_stats, columns = summary.value_stats()
        assert written(value_stats) == real["_VALUE_STATS"]
        assert (None if columns is None else list(columns)) == real["_VALUE_STATS_COLS"]
        assert written(summary.key_stats()) == real["_KEY_STATS"]
        assert summary.min_key == real["_MIN_KEY"]
        assert summary.max_key == real["_MAX_KEY"]
        assert summary.row_count == real["_ROW_COUNT"]
        assert summary.delete_row_count == real["_DELETE_ROW_COUNT"]
        if table_schema.primary_keys:
            numbers = (real["_MIN_SEQUENCE_NUMBER"], real["_MAX_SEQUENCE_NUMBER"])
            assert summary.sequence_range == numbers
        files_seen += 1
    assert files_seen > 0


def table_of(options: Mapping[str, str], primary_key: tuple[str, ...] = ("id",)) -> TableSchema:
    columns = schema([("id", "BIGINT"), ("name", "STRING"), ("total", "DECIMAL(20, 2)")])
    return build_schema(
        columns.fields,
        options={"bucket": "1" if primary_key else "-1", **options},
        time_millis=0,
        primary_keys=primary_key,
        partition_keys=(),
        comment=None,
    )


def texts(modes: tuple[StatsMode, ...]) -> list[str]:
    return [str(mode) for mode in modes]


@pytest.mark.parametrize(
    ("options", "arguments", "expected"),
    [
        ({}, {}, ["truncate(16)"] * 3),
        ({"metadata.stats-mode": "full"}, {}, ["full"] * 3),
        ({"metadata.stats-mode.per.level": "0:none,5:full"}, {}, ["none"] * 3),
        ({"metadata.stats-mode.per.level": "0:none,5:full"}, {"level": 5}, ["full"] * 3),
        ({"metadata.stats-mode.per.level": "0:none"}, {"level": 1}, ["truncate(16)"] * 3),
        ({"metadata.stats-mode.per.level.0": "counts"}, {}, ["counts"] * 3),
        (
            {"metadata.stats-mode.per.level": "0:none", "fields.name.stats-mode": "full"},
            {},
            ["none", "full", "none"],
        ),
        (
            {"metadata.stats-mode.per.level": "0:none"},
            {"is_changelog": True},
            ["none"] * 3,
        ),
        (
            {"metadata.stats-mode.per.level": "0:none", "changelog-file.stats-mode": "counts"},
            {"is_changelog": True},
            ["counts"] * 3,
        ),
        ({"changelog-file.stats-mode": "counts"}, {}, ["truncate(16)"] * 3),
        ({"metadata.stats-keep-first-n-columns": "1"}, {}, ["truncate(16)", "none", "none"]),
        ({"metadata.stats-mode": "full"}, {"is_postponed": True}, ["none"] * 3),
        (
            {"data-file.thin-mode": "true", "metadata.stats-mode": "none"},
            {},
            ["truncate(128)", "none", "none"],
        ),
        (
            {"data-file.thin-mode": "true", "metadata.stats-mode": "none"},
            {"file_format": "avro"},
            ["none"] * 3,
        ),
    ],
)
def test_the_mode_of_a_column_follows_its_file(
    options: dict[str, str], arguments: dict[str, Any], expected: list[str]
) -> None:
    assert texts(plan_of(table_of(options), arguments).value_modes) == expected


def test_keys_are_kept_to_128_except_in_avro_where_they_also_count_as_columns() -> None:
    table_schema = table_of(
        {"metadata.stats-mode": "counts", "metadata.stats-keep-first-n-columns": "4"}
    )
    assert plan_of(table_schema).key_modes == (KEPT_128,)
    assert texts(plan_of(table_schema).value_modes) == ["counts"] * 3
    in_avro = plan_of(table_schema, {"file_format": "avro"})
    assert texts(in_avro.key_modes) == ["counts"]
    assert texts(in_avro.value_modes) == ["counts", "none", "none"]


def test_modes_of_levels_are_not_for_tables_without_keys() -> None:
    append = table_of({"metadata.stats-mode.per.level": "0:none"}, ())
    assert texts(plan_of(append).value_modes) == ["truncate(16)"] * 3


@pytest.mark.parametrize(
    "options",
    [
        {"metadata.stats-mode.per.level": "0:some"},
        {"metadata.stats-mode.per.level": "low:none"},
        {"metadata.stats-mode.per.level.low": "none"},
        {"changelog-file.stats-mode": "all"},
    ],
)
def test_a_mode_or_level_that_is_none_is_refused(options: dict[str, str]) -> None:
    (key,) = options
    with pytest.raises(InvalidArgumentError, match=key):
        plan_of(table_of(options))


def test_a_part_without_values_does_not_hide_the_bounds_of_the_others() -> None:
    table_schema = table_of({}, ())
    summary = FileSummary(plan_of(table_schema))
    arrow_schema = to_arrow_schema(table_schema.fields)
    for names in ([None, None], ["b", "a very long name of 32 characters"]):
        rows = {"id": [1, 2], "name": names, "total": [None, None]}
        summary.add(pa.table(rows, schema=arrow_schema))
    stats, columns = summary.value_stats()
    types = [field.type for field in table_schema.fields]
    assert columns is None
    assert stats.null_counts == (0, 2, 4)
    assert decode_row(stats.min_values, types) == (1, "a very long name", None)
    assert decode_row(stats.max_values, types) == (2, "b", None)


def test_a_key_has_bounds_where_its_column_has_none() -> None:
    table_schema = table_of({"metadata.stats-mode": "none"})
    summary = FileSummary(plan_of(table_schema))
    fields = (SEQUENCE_NUMBER, VALUE_KIND, *table_schema.fields)
    rows = {
        "_SEQUENCE_NUMBER": [4, 3],
        "_VALUE_KIND": [0, 3],
        "id": [5, 7],
        "name": ["x", None],
        "total": [None, None],
    }
    summary.add(pa.table(rows, schema=to_arrow_schema(fields)))
    key = [table_schema.fields[0].type]
    assert decode_row(summary.key_stats().min_values, key) == (5,)
    assert decode_row(summary.key_stats().max_values, key) == (7,)
    assert summary.value_stats()[1] == ()
    assert summary.delete_row_count == 1
    assert summary.sequence_range == (3, 4)


def indexed_summary(threshold: str) -> FileSummary:
    given = {
        "file-index.bitmap.columns": "name",
        "file-index.in-manifest-threshold": threshold,
    }
    table_schema = table_of(given, ())
    summary = FileSummary(plan_of(table_schema))
    rows = {"id": [1, 2], "name": ["a", None], "total": [None, None]}
    summary.add(pa.table(rows, schema=to_arrow_schema(table_schema.fields)))
    return summary


def test_a_small_index_is_embedded_and_a_larger_one_is_a_file_beside_the_data() -> None:
    store = MemoryFileIO()
    embedded = indexed_summary("1 kb").place_index("memory:/t/bucket-0/data-1.orc", file_io=store)
    assert embedded.extra_files == ()
    assert embedded.embedded is not None
    exactly = f"{len(embedded.embedded)} b"
    assert indexed_summary(exactly).place_index("memory:/t/a.orc", file_io=store) == embedded
    apart = indexed_summary("20 b").place_index("memory:/t/bucket-0/data-1.orc", file_io=store)
    assert apart == PlacedIndex(extra_files=("data-1.orc.index",))
    assert store.read("memory:/t/bucket-0/data-1.orc.index") == embedded.embedded


def test_files_without_index_options_and_changelog_files_have_no_index() -> None:
    plain = FileSummary(plan_of(table_of({})))
    assert plain.place_index("memory:/t/data-1.orc", file_io=MemoryFileIO()) == NO_INDEX
    indexed = table_of({"file-index.bitmap.columns": "name"})
    assert plan_of(indexed).indexes is not None
    assert plan_of(indexed, {"is_changelog": True}).indexes is None
