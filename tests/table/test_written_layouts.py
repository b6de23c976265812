"""The options that say how files are made are acted on, and the rows come back."""

from collections.abc import Mapping

import pyarrow as pa
import pytest

from lakebed.errors import InvalidTableError, UnsupportedError
from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.arrow.typing import python_values
from lakebed.format.data_file_meta import DataFileMeta
from lakebed.format.manifest import entries_from_columns
from lakebed.format.schema_definition import schema
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.table import Table
from support.effects import open_catalog
from support.store_listing import orphans

COLUMNS = [("id", "INT NOT NULL"), ("v", "STRING"), ("w", "BIGINT")]
ROWS = pa.table({"id": [1, 2, 3, 2], "v": ["a", "b", "c", "d"], "w": [1, 2, 3, 4]})
KEPT = [{"id": 1, "v": "a", "w": 1}, {"id": 2, "v": "d", "w": 4}, {"id": 3, "v": "c", "w": 3}]


def make(options: Mapping[str, str], *, keyed: bool = True) -> Table:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    return catalog.create_table(
        "db.t",
        schema=schema(COLUMNS),
        primary_key=["id"] if keyed else [],
        options={"bucket": "1" if keyed else "-1", **options},
    )


def files(table: Table) -> list[DataFileMeta]:
    parts = table.parts()
    snapshot = parts.snapshots.latest()
    assert snapshot is not None
    live = parts.manifests.live(snapshot, partitions=EveryPartition())
    return [entry.file for entry in entries_from_columns(live)]


def changelog(table: Table) -> list[DataFileMeta]:
    parts = table.parts()
    snapshot = parts.snapshots.latest()
    assert snapshot is not None
    metas = parts.manifests.changelog_files(snapshot)
    return [entry.file for entry in entries_from_columns(parts.manifests.entries(metas))]


LAYOUTS: dict[str, dict[str, str]] = {
    "parquet": {},
    "avro": {"file.format": "avro"},
    "orc": {"file.format": "orc"},
    "thin": {"data-file.thin-mode": "true"},
    "thin avro": {"data-file.thin-mode": "true", "file.format": "avro"},
    "snappy": {"file.compression": "snappy"},
    "no statistics": {"metadata.stats-mode": "none"},
    "an index": {"file-index.bloom-filter.columns": "v"},
    "an index of its own": {
        "file-index.bitmap.columns": "v,w",
        "file-index.in-manifest-threshold": "1 b",
    },
}


@pytest.mark.parametrize("keyed", [True, False], ids=["keyed", "append"])
@pytest.mark.parametrize("options", LAYOUTS.values(), ids=LAYOUTS)
def test_rows_come_back_whatever_the_layout(options: dict[str, str], keyed: bool) -> None:  # noqa: FBT001 - a parameter of the test
    table = make(options, keyed=keyed)
    table.append(ROWS)
    found = table.scan().to_arrow().sort_by([("id", "ascending"), ("w", "ascending")])
    expected = (
        KEPT if keyed else ROWS.sort_by([("id", "ascending"), ("w", "ascending")]).to_pylist()
    )
    assert found.to_pylist() == expected
    assert table.scan(columns=["id"], where="v = 'd'").to_arrow().to_pylist() == [{"id": 2}]
    assert table.scan(where="v = 'nowhere'").to_arrow().num_rows == 0
    assert orphans(table, table.file_io) == set()


def test_a_level_has_its_own_format_and_its_name_says_so() -> None:
    table = make({"file.format": "parquet", "file.format.per.level": "0:avro,5:orc"})
    table.upsert(ROWS)
    (file,) = files(table)
    assert file.file_name.endswith(".avro")


def test_thin_files_lack_the_columns_that_repeat_the_key() -> None:
    table = make({"data-file.thin-mode": "true", "file.compression": "none"})
    table.upsert(ROWS)
    (file,) = files(table)
    data = table.file_io.read(f"{table.location}/bucket-0/{file.file_name}")
    assert b"_SEQUENCE_NUMBER" in data
    assert b"_KEY_id" not in data


def test_a_small_index_stands_in_the_manifest_a_large_one_beside_the_file() -> None:
    embedded = make({"file-index.bitmap.columns": "v"})
    embedded.upsert(ROWS)
    (file,) = files(embedded)
    assert file.embedded_file_index
    assert file.extra_files == ()
    beside = make(LAYOUTS["an index of its own"])
    beside.upsert(ROWS)
    (file,) = files(beside)
    assert file.embedded_file_index is None
    assert file.extra_files == (f"{file.file_name}.index",)
    assert beside.file_io.exists(f"{beside.location}/bucket-0/{file.extra_files[0]}")


def test_an_index_spares_files_without_the_value() -> None:
    table = make(
        {"file-index.bloom-filter.columns": "v", "metadata.stats-mode": "none"}, keyed=False
    )
    for value in "abc":
        table.append(pa.table({"id": [1], "v": [value * 40]}))
    explained = table.scan(where=f"v = '{'b' * 40}'").explain()
    assert "indexes      kept 1 of 3" in explained
    assert len(table.scan(where=f"v = '{'b' * 40}'").plan().splits) == 1


@pytest.mark.parametrize("buffer", [{}, {"write-buffer-size": "1 b"}], ids=["held", "spilled"])
def test_a_changelog_of_the_input_has_every_row_that_came(buffer: dict[str, str]) -> None:
    table = make({"changelog-producer": "input", "changelog-file.format": "avro", **buffer})
    table.upsert(ROWS)
    snapshot = table.latest_snapshot()
    assert snapshot is not None
    assert snapshot.changelog_record_count == 4
    named = changelog(table)
    assert sum(file.row_count for file in named) == 4
    assert all(
        f.file_name.startswith("changelog-") and f.file_name.endswith(".avro") for f in named
    )
    assert sum(file.row_count for file in files(table)) == 3
    table.upsert(pa.table({"id": [1], "v": ["z"], "_row_kind": ["-D"]}))
    log = table.scan(incremental=(0, 2), incremental_mode="changelog").to_arrow()
    assert sorted(python_values(log.column("v"))) == ["a", "b", "c", "d", "z"]
    assert orphans(table, table.file_io) == set()


BAD: dict[str, tuple[dict[str, str], type[Exception], str]] = {
    "no such format": ({"file.format": "csv"}, UnsupportedError, "csv"),
    "no such compression": ({"file.compression": "brotli"}, UnsupportedError, "brotli"),
    "no such index column": (
        {"file-index.bitmap.columns": "x"},
        InvalidTableError,
        "'x'",
    ),
}


@pytest.mark.parametrize(("options", "error", "says"), BAD.values(), ids=BAD)
def test_a_layout_that_cannot_be_written_makes_no_table(
    options: dict[str, str], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        make(options)


@pytest.mark.parametrize("file_format", ["parquet", "avro", "orc"])
def test_null_structs_whose_parts_may_not_be_null_are_read_and_written_again(
    file_format: str,
) -> None:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        schema=schema(
            [
                ("id", "BIGINT NOT NULL"),
                ("s", "ROW<x BIGINT NOT NULL, y STRING>"),
                ("l", "ARRAY<ROW<x INT NOT NULL>>"),
            ]
        ),
        primary_key=["id"],
        options={"bucket": "2", "file.format": file_format},
    )
    rows: list[dict[str, object]] = [
        {"id": 1, "s": None, "l": [None, {"x": 1}]},
        {"id": 2, "s": {"x": 3, "y": None}, "l": None},
    ]
    table.append(pa.Table.from_pylist(rows, schema=to_arrow_schema(table.schema.fields)))
    found = table.scan().to_arrow()
    table.append(found)
    assert sorted(table.scan().to_arrow().to_pylist(), key=lambda row: row["id"]) == rows
