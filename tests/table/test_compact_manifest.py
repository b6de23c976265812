"""Manifests written anew: the table and its past stay what they were, and plans open fewer."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from typing import Any

import msgspec
import pyarrow as pa
import pytest

from lakebed.errors import InvalidArgumentError, UnsupportedError
from lakebed.format.arrow.typing import ArrowArray, python_values
from lakebed.format.binary_row.codec import decode_rows
from lakebed.format.manifest import ManifestFileMeta
from lakebed.format.schema_definition import schema
from lakebed.format.snapshot import CommitKind, Snapshot
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.table import Table
from support.effects import open_catalog
from support.index_files import unnamed_files, write_with_indexes
from support.store_listing import read_snapshot, snapshot_ids
from support.table_builder import (
    DAYS,
    HISTORIES,
    SHAPES,
    BuiltTable,
    Shape,
    Step,
    build_table,
    sorted_rows,
)

UNAWARE = Shape(has_primary_key=False, buckets=-1, is_partitioned=True)
WRITES = tuple(Step("write", (number, number + 1)) for number in range(6))


def metas_of(table: Table, snapshot: Snapshot | None) -> list[ManifestFileMeta]:
    return table.parts().manifests.files(snapshot) if snapshot else []


def check_reads(built: BuiltTable) -> None:
    """Each snapshot has the rows that it had."""
    for snapshot_id, rows in built.past.items():
        found = built.table.scan(snapshot_id=snapshot_id).to_arrow()
        assert sorted_rows(found) == sorted_rows(rows), snapshot_id
    assert sorted_rows(built.table.scan().to_arrow()) == sorted_rows(built.rows)


def live(table: Table, snapshot: Snapshot) -> pa.Table:
    return table.parts().manifests.live(snapshot, partitions=EveryPartition()).sort_by("file_name")


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("history", sorted(HISTORIES))
def test_one_manifest_of_live_files_is_left(shape: Shape, history: str) -> None:
    built = build_table(shape, HISTORIES[history])
    before = built.table.latest_snapshot()
    metas = metas_of(built.table, before)
    snapshot = built.table.compact_manifest()
    check_reads(built)
    if len(metas) < 2:
        assert snapshot is None
        return
    assert before is not None
    assert snapshot is not None
    assert (snapshot.commit_kind, snapshot.delta_record_count) == (CommitKind.COMPACT, 0)
    assert snapshot.total_record_count == before.total_record_count
    assert live(built.table, snapshot).equals(live(built.table, before))
    found = metas_of(built.table, snapshot)
    assert [meta.num_deleted_files for meta in found] == [0] * min(len(built.rows), 1)
    assert built.table.compact_manifest() is None
    assert unnamed_files(built.table, built.file_io) == set()


def test_what_the_snapshot_said_beside_its_files_it_still_says() -> None:
    built = build_table(Shape(buckets=1), WRITES)
    write_with_indexes(built.table, built.arrow([built.shape.row(1, 1)]))
    parts = built.table.parts()
    before = built.table.latest_snapshot()
    assert before is not None
    told = msgspec.structs.replace(
        before,
        id=before.id + 1,
        uuid="u",
        watermark=7,
        properties={"a": "b"},
        statistics="stat-1",
        next_row_id=40,
    )
    built.file_io.put_if_absent(parts.paths.snapshot(told.id), told.to_json())
    newer = replace(built.table.schema, id=built.table.schema.id + 1)
    built.file_io.write(parts.paths.schema(newer.id), newer.to_json())
    snapshot = built.table.compact_manifest()
    assert snapshot is not None
    said = read_snapshot(built.file_io, built.table.location, snapshot.id)
    kept = read_snapshot(built.file_io, built.table.location, told.id)
    for name in (
        "schemaId",
        "indexManifest",
        "watermark",
        "statistics",
        "nextRowId",
        "totalRecordCount",
    ):
        assert said[name] == kept[name], name
    assert snapshot.properties == {"a": "b"}
    assert snapshot.changelog_manifest_list is None


def test_partition_statistics_of_the_manifests_are_those_of_their_files() -> None:
    built = build_table(UNAWARE, WRITES)
    built.table.compact_manifest()
    for day in (*DAYS, "2026-02-01"):
        plan = built.table.scan(where=f"dt = '{day}'").plan()
        rows = [row for row in built.rows if row["dt"] == day]
        assert sum(split.row_count for split in plan.splits) == len(rows)
        opened = next(step for step in plan.steps if step.name == "manifests")
        assert opened.kept == bool(rows)


def test_manifests_roll_at_their_target_and_are_then_left_alone() -> None:
    writes = [Step("write", range(start, start + 50)) for start in range(0, 300, 50)]
    built = build_table(UNAWARE.with_options({"target-file-row-num": "1"}), writes)
    options = {**built.table.options, "manifest.target-file-size": "6 kb"}
    table = replace(built.table, schema=replace(built.table.schema, options=options))
    assert all(meta.file_size < 6 << 10 for meta in metas_of(table, table.latest_snapshot()))
    sizes = [meta.file_size for meta in metas_of(table, table.compact_manifest())]
    assert len(sizes) == 3
    assert sizes[2] < 6 << 10 <= min(sizes[:2]) <= max(sizes[:2]) < 7 << 10
    assert table.compact_manifest() is None
    check_reads(built)


def test_sorted_manifests_are_of_few_partitions_each() -> None:
    options = {"manifest.target-file-size": "2 kb", "manifest.merge-min-count": "1000"}
    built = build_table(UNAWARE.with_options(options), WRITES)
    assert built.table.compact_manifest() is None
    snapshot = built.table.compact_manifest(manifest_sort_enabled=True)
    assert snapshot is not None
    entries = [
        built.table.parts().manifests.entries([meta]) for meta in metas_of(built.table, snapshot)
    ]
    days = [day for each in entries for day in python_values(each.column("partition"))]
    assert days == sorted(days)
    check_reads(built)
    assert built.table.compact_manifest(manifest_sort_enabled=True) is None


ORDERED: dict[str, ArrowArray] = {
    "INT": pa.array([1, 2, 3, None], pa.int32()),
    "DATE": pa.array([-1, 5, 9, None], pa.date32()),
    "BOOLEAN": pa.array([False, True, None]),
    "DECIMAL(9, 2)": pa.array([Decimal(-2), Decimal(10), Decimal(11), None], pa.decimal128(9, 2)),
    "STRING": pa.array(["a", "b", "c", None]),
}


@pytest.mark.parametrize("column", ["a", "b", None])
@pytest.mark.parametrize("kind", ORDERED)
def test_any_partition_column_can_be_sorted_by(column: str | None, kind: str) -> None:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t", schema=schema([("a", kind), ("b", kind)]), partition_by=["a", "b"]
    )
    order = ORDERED[kind]
    for number in (2, 0, 3, 1, 2):
        place = number % len(order)
        ends = order.take(pa.array([place, len(order) - 1 - place]))
        table.append(pa.table({"a": ends[:1], "b": ends[1:]}))
    snapshot = table.compact_manifest(
        manifest_sort_enabled=True, manifest_sort_partition_field=column
    )
    (meta,) = metas_of(table, snapshot)
    entries = table.parts().manifests.entries([meta])
    types = [field.type for field in table.schema.fields]
    decoded = decode_rows(entries.column("partition").combine_chunks(), types, source="t")
    values = python_values(decoded[1 if column == "b" else 0])
    assert values == sorted(values, key=python_values(order).index)
    assert len(values) == 5


BAD_SORTS: list[tuple[dict[str, object], str]] = [
    ({"manifest_sort_partition_field": "dt"}, "manifest_sort_enabled => true"),
    ({"manifest_sort_max_rewrite_size": "1 mb"}, "manifest_sort_enabled => true"),
    ({"manifest_sort_enabled": True, "manifest_sort_partition_field": "id"}, "'id'.*columns dt"),
    ({"manifest_sort_enabled": True, "manifest_sort_max_rewrite_size": "much"}, "'much'"),
    ({"manifest_sort_enabled": True, "manifest_sort_max_rewrite_size": 0}, "max-rewrite-size"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_SORTS, ids=str)
def test_a_sort_that_cannot_be_is_refused(arguments: dict[str, Any], message: str) -> None:
    built = build_table(UNAWARE, WRITES)
    with pytest.raises(InvalidArgumentError, match=message):
        built.table.compact_manifest(**arguments)
    with pytest.raises(InvalidArgumentError, match="no partition column"):
        build_table(Shape()).table.compact_manifest(manifest_sort_enabled=True)


def test_a_table_that_says_so_is_sorted_without_being_asked() -> None:
    built = build_table(UNAWARE, WRITES)
    options = {**built.table.options, "manifest-sort.enabled": "true"}
    table = replace(built.table, schema=replace(built.table.schema, options=options))
    (meta,) = metas_of(table, table.compact_manifest())
    days = python_values(table.parts().manifests.entries([meta]).column("partition"))
    assert days == sorted(days)


def test_a_dry_run_tells_what_would_be_written_and_writes_nothing() -> None:
    built = build_table(UNAWARE, (*WRITES[:2], Step("delete", (0,))))
    ids = snapshot_ids(built.file_io, built.table.location)
    plan = built.table.compact_manifest(dry_run=True)
    metas = metas_of(built.table, built.table.latest_snapshot())
    assert plan.column("file_name").to_pylist() == [meta.file_name for meta in metas]
    assert plan.column("live_files").to_pylist() == [1, 2, 0]
    assert "1 of its 2 entries are of files that are gone" in plan.column("why").to_pylist()
    assert snapshot_ids(built.file_io, built.table.location) == ids
    assert build_table(UNAWARE).table.compact_manifest(dry_run=True).num_rows == 0


def test_an_empty_commit_is_not_made_where_the_table_asks_for_empty_commits() -> None:
    built = build_table(UNAWARE.with_options({"snapshot.ignore-empty-commit": "false"}), WRITES[:1])
    assert built.table.compact_manifest() is None
    assert snapshot_ids(built.file_io, built.table.location) == [1]


def test_a_table_that_is_not_written_keeps_its_manifests() -> None:
    built = build_table(UNAWARE, WRITES)
    options = {**built.table.options, "commit.callbacks": "a.B"}
    table = replace(built.table, schema=replace(built.table.schema, options=options))
    with pytest.raises(UnsupportedError, match=r"commit\.callbacks"):
        table.compact_manifest()


def test_writers_beside_it_lose_nothing() -> None:
    options = {"commit.max-retries": "1000", "manifest.merge-min-count": "1000"}
    built = build_table(UNAWARE.with_options(options), WRITES)
    table = built.table

    def write(first: int) -> None:
        for number in range(first, first + 15):
            table.append(built.arrow([built.shape.row(number, 0)]))

    def compact(_: int) -> int:
        return sum(table.compact_manifest() is not None for _ in range(10))

    with ThreadPoolExecutor(4) as pool:
        writes = [pool.submit(write, first) for first in (100, 200)]
        compactions = [pool.submit(compact, number) for number in range(2)]
        assert [each.result() for each in writes] == [None, None]
        committed = sum(each.result() for each in compactions)
    assert committed
    found = [row["id"] for row in sorted_rows(table.scan().to_arrow())]
    added = [built.shape.row(n, 0)["id"] for first in (100, 200) for n in range(first, first + 15)]
    assert sorted(found) == sorted([*(row["id"] for row in built.rows), *added])  # type: ignore[type-var]  # numbers
    assert len(table.snapshots()) == len(WRITES) + 30 + committed
    assert unnamed_files(table, built.file_io) == set()
    check = replace(built, rows=sorted_rows(table.scan().to_arrow()))
    check_reads(check)
