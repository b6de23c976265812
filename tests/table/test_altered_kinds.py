"""Tables of every kind whose columns change: options go with them, and the table proves itself."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from lakebed.format.altering.changes import (
    AddColumn,
    ChangeColumnType,
    DropColumn,
    First,
    RenameColumn,
    SchemaChange,
    SetOption,
)
from lakebed.format.schema_definition import schema
from lakebed.storage.local import LocalFileIO
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.table import Table
from support.effects import open_catalog

COLUMNS = [("id", "INT NOT NULL"), ("v", "INT"), ("g", "INT"), ("dt", "STRING NOT NULL")]
ROWS = [{"id": number, "v": number, "g": number, "dt": "+I"} for number in range(3)]
KEY = {"primary_key": ["id"]}
RENAMED = [
    RenameColumn("v", "w"),
    RenameColumn("id", "key"),
    AddColumn("z", "INT", position=First()),
]
KINDS: dict[str, tuple[dict[str, Any], Sequence[SchemaChange]]] = {
    "aggregation": (
        {
            **KEY,
            "options": {
                "bucket": 1,
                "merge-engine": "aggregation",
                "fields.v.aggregate-function": "max",
            },
        },
        [*RENAMED, ChangeColumnType("w", "BIGINT")],
    ),
    "sequence group": (
        {
            **KEY,
            "options": {
                "bucket": 1,
                "merge-engine": "partial-update",
                "fields.g.sequence-group": "v",
            },
        },
        [*RENAMED, RenameColumn("g", "h")],
    ),
    "sequence field": ({**KEY, "options": {"bucket": 1, "sequence.field": "v"}}, RENAMED),
    "first row": ({**KEY, "options": {"bucket": 1, "merge-engine": "first-row"}}, RENAMED),
    "dynamic": (KEY, [*RENAMED, DropColumn("g")]),
    "cross partition": ({**KEY, "partition_by": ["dt"]}, [*RENAMED, DropColumn("g")]),
    "postponed": ({**KEY, "options": {"bucket": -2}}, [*RENAMED, DropColumn("g")]),
    "lookup": ({**KEY, "options": {"bucket": 1, "changelog-producer": "lookup"}}, RENAMED),
    "row kind": (
        {**KEY, "options": {"bucket": 1, "rowkind.field": "dt"}},
        [RenameColumn("dt", "k")],
    ),
    "thin": ({**KEY, "options": {"bucket": 1, "data-file.thin-mode": True}}, RENAMED),
    "other format": (
        {**KEY, "options": {"bucket": 1}},
        [*RENAMED, SetOption("file.format", "orc")],
    ),
    "bucket key": ({"options": {"bucket": 2, "bucket-key": "v"}}, RENAMED),
    "indexed": (
        {
            "options": {
                "file-index.bloom-filter.columns": "v",
                "file-index.bloom-filter.v.items": "10",
            }
        },
        [*RENAMED, ChangeColumnType("w", "STRING")],
    ),
    "row ids": ({"options": {"row-tracking.enabled": True}}, RENAMED),
    "clustered": (
        {"options": {"clustering.columns": "v", "clustering.incremental": True}},
        RENAMED,
    ),
}


def written(table: Table, rows: Sequence[dict[str, Any]]) -> None:
    table.append(pa.Table.from_pylist(list(rows), table.scan().schema))


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_of_each_kind_is_read_and_written_on_and_proves_itself(kind: str) -> None:
    definition, changes = KINDS[kind]
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    table = catalog.create_table("db.t", schema=schema(COLUMNS), **definition)
    written(table, ROWS)
    before = table.scan().to_arrow().num_rows
    newest = table.latest_snapshot()
    assert newest is not None
    changed = catalog.alter_table("db.t", changes)
    rows = changed.scan().to_arrow().to_pylist()
    assert len(rows) == before
    written(changed, rows)
    changed.compact()
    assert changed.scan().count() == (before if table.primary_keys else 2 * before)
    assert changed.check().is_clean
    then = changed.scan(snapshot_id=newest.id).to_arrow().to_pylist()
    assert sorted(map(repr, then)) == sorted(map(repr, ROWS))
    for name in ("files", "schemas", "audit_log", "ro", "partitions"):
        assert catalog.load_table(f"db.t${name}").scan().to_arrow().num_rows >= 0


def test_a_number_of_buckets_changes_with_the_rows_rescaled() -> None:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t", schema=schema(COLUMNS), primary_key=["id"], options={"bucket": 1}
    )
    written(table, ROWS)
    changed = catalog.alter_table("db.t", [SetOption("bucket", 2)])
    changed.rescale(bucket_num=2)
    written(changed, ROWS)
    assert changed.scan().count() == len(ROWS)
    assert changed.check().is_clean


def test_changes_of_many_at_once_all_happen(tmp_path: Path) -> None:
    catalog = open_catalog(LocalFileIO(), warehouse=str(tmp_path))
    catalog.create_database("db")
    catalog.create_table("db.t", schema=schema(COLUMNS))
    names = [f"c{number}" for number in range(6)]
    with ThreadPoolExecutor(len(names)) as threads:
        list(threads.map(lambda n: catalog.alter_table("db.t", [AddColumn(n, "INT")]), names))
    found = catalog.load_table("db.t").schema
    assert sorted(found.names[-len(names) :]) == names
    assert (found.id, found.highest_field_id) == (6, 9)
    assert sorted(field.id for field in found.fields) == list(range(10))
