"""`clustering.incremental`: compactions of append tables sort rows, level by level."""

import random
from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakebed import schema
from lakebed.errors import (
    CommitConflictError,
    InvalidArgumentError,
    InvalidTableError,
    LakebedError,
    UnsupportedError,
)
from lakebed.format.arrow.typing import python_values
from lakebed.format.snapshot import CommitKind
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.compaction.job import compaction_job
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.table import Table
from support.effects import open_catalog
from support.index_files import unnamed_files
from support.marked_tables import index_files, live_files, marked, newest

COLUMNS = [("p", "INT"), ("a", "INT"), ("b", "INT"), ("note", "STRING"), ("tags", "ARRAY<STRING>")]
CLUSTERED = {"clustering.incremental": "true", "clustering.columns": "a,b"}
BUCKETED = {"bucket": "2", "bucket-key": "note", "bucket-append-ordered": "false"}
VECTORS = {"deletion-vectors.enabled": "true"}
SIDE = 32
TOP = 5


def create(
    options: Mapping[str, str] = CLUSTERED,
    *,
    partition_by: list[str] | None = None,
    memory: str = "128 mb",
) -> Table:
    catalog = open_catalog(MemoryFileIO(), options={"lakebed.merge.memory": memory})
    catalog.create_database("db")
    return catalog.create_table(
        "db.t", schema=schema(COLUMNS), partition_by=partition_by or [], options=options
    )


def rows_of(count: int, *, seed: int, partition: int = 0) -> pa.Table:
    """Points of a square in no order, the first coordinate of some of them null."""
    lot = random.Random(seed)
    points = [lot.randrange(SIDE * SIDE) for _ in range(count)]
    return pa.table(
        {
            "p": pa.array([partition] * count, pa.int32()),
            "a": pa.array([None if n % 50 == 0 else n // SIDE for n in points], pa.int32()),
            "b": pa.array([n % SIDE for n in points], pa.int32()),
            "note": [f"row {seed}-{place}" for place in range(count)],
            "tags": pa.array([["x"]] * count, pa.list_(pa.string())),
        }
    )


def fill(table: Table, commits: int, *, count: int = 8, first: int = 0, partition: int = 0) -> None:
    for seed in range(first, first + commits):
        table.append(rows_of(count, seed=seed, partition=partition))


def notes(table: Table) -> list[str]:
    return sorted(python_values(table.scan(["note"]).to_arrow().column("note")))


def levels(table: Table) -> list[int]:
    return sorted(live_files(table).values())


def files_read(table: Table, where: str) -> int:
    return sum(len(split.files) for split in table.scan(where=where).plan().splits)


def points_by_file(table: Table) -> list[list[tuple[int, int]]]:
    """The points of each file in the order of its rows, null as -1, the files in their order."""
    found = []
    scan = table.scan(["a", "b"])
    for split in scan.plan().splits:
        for section in split.sections:
            part = replace(split, sections=(section,))
            rows = pa.Table.from_batches(scan.reader.read(part)).to_pylist()
            found.append([(-1 if row["a"] is None else row["a"], row["b"]) for row in rows])
    return sorted(found)


def test_files_are_clustered_when_there_are_enough_and_the_levels_fill_from_the_top() -> None:
    table = create()
    fill(table, 4, count=1000)
    before = notes(table)
    assert table.compact() is None, "fewer files than the trigger"
    fill(table, 1, first=4, count=1000)
    snapshot = table.compact()
    assert snapshot is not None
    assert snapshot.commit_kind is CommitKind.COMPACT
    assert levels(table) == [TOP]
    fill(table, 3, first=5, count=1)
    assert table.compact("minor") is None
    fill(table, 1, first=8, count=1)
    assert table.compact("minor") is not None
    assert levels(table) == [4, TOP]
    assert len(notes(table)) == 5004
    assert set(before) < set(notes(table))
    assert unnamed_files(table, table.file_io) == set()


def test_a_full_clustering_takes_all_once_and_again_when_rows_came_or_columns_are_others() -> None:
    table = create()
    fill(table, 2)
    assert table.compact("full") is not None
    assert levels(table) == [TOP]
    assert table.compact("full") is None
    fill(table, 1, first=2)
    assert table.compact("full") is not None
    assert (levels(table), len(notes(table))) == ([TOP], 24)
    others = {**table.schema.options, "clustering.columns": "b"}
    other = replace(table, schema=replace(table.schema, options=others))
    plan = other.compact("full", dry_run=True).to_pylist()
    assert [row["why"] for row in plan] == ["the files are clustered by other columns"]
    forced = {**table.schema.options, "compaction.force-rewrite-all-files": "true"}
    assert replace(table, schema=replace(table.schema, options=forced)).compact("full") is not None


@pytest.mark.parametrize("strategy", ["auto", "order", "zorder", "hilbert"])
def test_a_filter_on_a_clustering_column_reads_few_files(strategy: str) -> None:
    table = create(CLUSTERED | {"clustering.strategy": strategy, "target-file-row-num": "64"})
    fill(table, 4, count=512)
    assert files_read(table, "a = 7") == files_read(table, "b = 7") == 32
    table.compact("full")
    assert len(live_files(table)) == 32
    assert files_read(table, "a = 7") <= 16
    assert files_read(table, "b = 7") <= (32 if strategy == "order" else 16)
    assert len(notes(table)) == len(set(notes(table))) == 2048


@pytest.mark.parametrize("memory", ["128 mb", "64 kb"])
def test_rows_are_in_order_within_and_between_files_nulls_first(memory: str) -> None:
    options = CLUSTERED | {"clustering.strategy": "order", "target-file-row-num": "100"}
    table = create(options, memory=memory)
    fill(table, 5, count=1000)
    table.compact()
    found = [point for points in points_by_file(table) for point in points]
    assert len(found) == 5000
    assert found == sorted(found)
    assert found[0][0] == -1
    assert len(live_files(table)) == 50


def test_local_sort_sorts_each_file_and_not_the_files_with_each_other() -> None:
    options = {"clustering.strategy": "order", "clustering.incremental.mode": "local-sort"}
    small = {"source.split.target-size": "1 b", "source.split.open-file-cost": "0 b"}
    table = create(CLUSTERED | options | small)
    fill(table, 5, count=100)
    plan = table.compact(dry_run=True)
    assert plan.column("output_level").to_pylist() == [TOP] * 5
    table.compact()
    files = points_by_file(table)
    assert [points == sorted(points) for points in files] == [True] * 5
    assert files[0][-1] > files[1][0], "files overlap"
    assert levels(table) == [TOP] * 5
    assert len(notes(table)) == 500
    assert table.compact("full") is None


def test_marked_rows_leave_the_disk_with_their_file_and_other_marks_stay() -> None:
    table = create(CLUSTERED | VECTORS, partition_by=["p"])
    for partition in (0, 1):
        fill(table, 5, first=5 * partition, partition=partition)
    table.delete("note IN ('row 0-1', 'row 3-2', 'row 5-4')")
    table.compact("full", partitions={"p": 0})
    assert sorted(live_files(table).values()) == [0] * 5 + [TOP]
    assert list(marked(table).values()) == [1]
    gone = {"row 0-1", "row 3-2", "row 5-4"}
    assert len(notes(table)) == 77
    assert gone.isdisjoint(notes(table))
    table.compact()
    assert levels(table) == [TOP, TOP]
    assert index_files(table) == []
    assert len(notes(table)) == 77
    assert unnamed_files(table, table.file_io) == set()


def test_rows_can_be_deleted_from_clustered_files() -> None:
    for vectors in ({}, VECTORS):
        table = create(CLUSTERED | vectors)
        fill(table, 5)
        table.compact()
        table.delete("note = 'row 2-3'")
        assert len(notes(table)) == 39
        table.compact("full")
        fill(table, 5, first=5)
        table.compact("minor")
        assert len(notes(table)) == 79


def test_a_write_clusters_buckets_and_leaves_tables_without_buckets_alone() -> None:
    table = create(CLUSTERED | BUCKETED)
    fill(table, 5, count=40)
    assert levels(table) == [TOP, TOP]
    fill(table, 1, first=5, count=40)
    assert levels(table) == [0, 0, TOP, TOP]
    table.compact("full")
    assert levels(table) == [TOP, TOP]
    assert len(notes(table)) == 240
    unaware = create()
    fill(unaware, 5)
    assert levels(unaware) == [0] * 5
    write_only = create(CLUSTERED | BUCKETED | {"write-only": "true"})
    fill(write_only, 6)
    assert set(levels(write_only)) == {0}


def test_each_partition_is_clustered_by_itself() -> None:
    table = create(partition_by=["p"])
    fill(table, 5, partition=1)
    fill(table, 2, first=5, partition=2)
    plan = table.compact(dry_run=True).to_pylist()
    assert [(row["directory"].rsplit("/", 2)[1], row["files"]) for row in plan] == [("p=1", 5)]
    assert plan[0]["rewritten_bytes"] == plan[0]["input_bytes"] > 0
    table.compact()
    assert levels(table) == [0, 0, TOP]
    table.compact("full", where="p = 2")
    assert levels(table) == [TOP, TOP]


def test_a_clustering_keeps_rows_that_came_meanwhile_and_loses_against_a_delete() -> None:
    for options in (CLUSTERED, CLUSTERED | BUCKETED | {"write-only": "true"}):
        table = create(options)
        fill(table, 5)
        job = compaction_job(table.parts(), "full", EveryPartition())
        fill(table, 1, first=5)
        job.carry_out()
        assert len(notes(table)) == 48
        late = compaction_job(table.parts(), "full", EveryPartition())
        table.delete("note = 'row 0-0'")
        before = newest(table).id
        with pytest.raises(CommitConflictError):
            late.carry_out()
        assert newest(table).id == before
        assert len(notes(table)) == 47
        assert table.scan(snapshot_id=1).count() == 8


def test_two_clusterings_of_the_same_files_do_not_double_rows() -> None:
    table = create()
    fill(table, 5)
    first, second = (compaction_job(table.parts(), None, EveryPartition()) for _ in range(2))
    first.carry_out()
    with pytest.raises(CommitConflictError):
        second.carry_out()
    assert len(notes(table)) == 40


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"clustering.incremental": "true"}, InvalidTableError, "needs clustering.columns"),
        (CLUSTERED | {"clustering.columns": "a,x"}, InvalidTableError, "names 'x'; there are p, a"),
        (CLUSTERED | {"clustering.columns": "tags"}, InvalidTableError, "'tags', but rows cannot"),
        (
            CLUSTERED | {"clustering.columns": "a", "clustering.strategy": "hilbert"},
            InvalidArgumentError,
            "hilbert takes two columns",
        ),
        (
            CLUSTERED | {"bucket": "2", "bucket-key": "a"},
            InvalidTableError,
            "Set bucket-append-ordered=false",
        ),
        (CLUSTERED | BUCKETED | VECTORS, InvalidTableError, "Leave one of them out"),
        ({"clustering.columns": "a"}, UnsupportedError, "'clustering.columns' is acted on with"),
        ({"sink.clustering.strategy": "order"}, UnsupportedError, "'clustering.strategy' is"),
        (
            {"clustering.incremental.mode": "local-sort", "write-only": "true"},
            UnsupportedError,
            "'clustering.incremental.mode' is",
        ),
        (
            CLUSTERED | {"clustering.incremental.optimize-write": "true"},
            UnsupportedError,
            "clustering.incremental.optimize-write",
        ),
        (
            CLUSTERED | {"clustering.history-partition.idle-to-full-sort": "1 d"},
            UnsupportedError,
            "clustering.history-partition.idle-to-full-sort",
        ),
    ],
)
def test_what_cannot_be_or_would_not_be_done_is_refused_when_the_table_is_made(
    options: dict[str, str], error: type[LakebedError], words: str
) -> None:
    with pytest.raises(error, match=words):
        create(options)


def test_a_table_with_a_primary_key_is_not_clustered() -> None:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    columns = schema([("id", "INT NOT NULL"), ("a", "INT")])
    options = CLUSTERED | {"clustering.columns": "a"}
    with pytest.raises(InvalidTableError, match="contradicts a primary key"):
        catalog.create_table("db.t", schema=columns, primary_key=["id"], options=options)


def test_values_that_ask_for_nothing_need_no_clustering() -> None:
    table = create({"clustering.strategy": "auto", "clustering.incremental.mode": "global-sort"})
    fill(table, 5)
    table.compact()
    assert levels(table) == [0]


@settings(max_examples=8)
@given(
    st.lists(
        st.sampled_from(["append", "append", "append", "delete", "minor", "full", "overwrite"]),
        max_size=14,
    ),
    st.sampled_from(
        [{}, VECTORS, BUCKETED, VECTORS | {"clustering.incremental.mode": "local-sort"}]
    ),
)
def test_every_snapshot_has_the_rows_of_its_history(
    steps: list[str], options: dict[str, str]
) -> None:
    table = create(CLUSTERED | {"num-sorted-run.compaction-trigger": "2"} | options)
    rows: dict[str, int] = {}
    past: dict[int, list[str]] = {}
    for seed, step in enumerate(steps):
        if step in {"append", "overwrite"}:
            new = rows_of(20, seed=seed)
            if step == "overwrite":
                rows = {}
                table.overwrite(new)
            else:
                table.append(new)
            rows |= dict(zip(*(python_values(new[name]) for name in ("note", "b")), strict=True))
        elif step == "delete":
            table.delete(f"b = {seed}")
            rows = {note: b for note, b in rows.items() if b != seed}
        else:
            table.compact("minor" if step == "minor" else "full")
        assert notes(table) == sorted(rows)
        snapshot = table.latest_snapshot()
        if snapshot is not None:
            past[snapshot.id] = sorted(rows)
    for snapshot_id, expected in past.items():
        found = table.scan(["note"], snapshot_id=snapshot_id).to_arrow()
        assert sorted(python_values(found.column("note"))) == expected
