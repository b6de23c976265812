"""A compaction may fall into groups with a commit each; what is committed stays, and is told."""

import logging
from dataclasses import replace
from itertools import count

import pyarrow as pa
import pytest

from lakebed.errors import CommitConflictError, StorageError
from lakebed.format.schema_definition import schema
from lakebed.format.snapshot import CommitKind
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.compaction.progress import CompactionProgress
from lakebed.table.session import Session
from lakebed.table.table import Table
from support.effects import fixed_effects, open_catalog, reopen
from support.faulty_file_io import FaultyFileIO
from support.marked_tables import marked
from support.scripted_file_io import ScriptedFileIO, meanwhile
from support.store_listing import data_files, orphans

PARTITIONS = 6
KEYED = {"bucket": "1", "write-only": "true"}
UNBUCKETED = {"bucket": "-1", "compaction.min.file-num": "2", "write-only": "true"}


def make(store: MemoryFileIO, options: dict[str, str], *, commits: int | None) -> Table:
    """A table with two files in each of some partitions, which hold as much."""
    given = {} if commits is None else {"lakebed.compaction.max-commits": str(commits)}
    catalog = open_catalog(store, options=given)
    catalog.create_database("db")
    is_keyed = options["bucket"] != "-1"
    table = catalog.create_table(
        "db.t",
        schema=schema([("id", "BIGINT NOT NULL"), ("p", "INT NOT NULL")]),
        primary_key=["id", "p"] if is_keyed else [],
        partition_by=["p"],
        options=options,
    )
    ids = range(PARTITIONS * 3)
    for _ in range(2):
        table.append(
            pa.table({"id": ids, "p": pa.array([i % PARTITIONS for i in ids], pa.int32())})
        )
    return table


def compacted(table: Table) -> set[str]:
    """The partitions that have one file left."""
    paths = [path for split in table.scan().plan().splits for path in split.file_paths]
    found = [path.split("/p=")[1][0] for path in paths]
    return {each for each in found if found.count(each) == 1}


def rows(table: Table) -> list[tuple[object, ...]]:
    return sorted(tuple(row.values()) for row in table.scan().to_arrow().to_pylist())


@pytest.mark.parametrize("options", [KEYED, UNBUCKETED], ids=["keyed", "unbucketed"])
@pytest.mark.parametrize(
    ("commits", "expected"), [(None, 1), (1, 1), (2, 2), (3, 3), (4, 4), (6, 6), (100, 6)]
)
def test_a_compaction_falls_into_as_many_commits_as_it_may(
    options: dict[str, str], *, commits: int | None, expected: int
) -> None:
    table = make(MemoryFileIO(), options, commits=commits)
    before = rows(table)
    snapshot = table.compact()
    assert snapshot == table.latest_snapshot()
    kinds = [each.commit_kind for each in table.snapshots()[2:]]
    assert kinds == [CommitKind.COMPACT] * expected
    assert rows(table) == before
    assert len(compacted(table)) == PARTITIONS


def test_what_comes_with_a_write_is_one_commit() -> None:
    options = {"bucket": "1", "num-sorted-run.compaction-trigger": "2"}
    table = make(MemoryFileIO(), options, commits=3)
    assert [each.commit_kind for each in table.snapshots()] == [
        CommitKind.APPEND,
        CommitKind.APPEND,
        CommitKind.COMPACT,
    ]


def test_compactions_of_one_partition_may_be_committed_one_by_one() -> None:
    # Few files make a compaction, those with marked rows one of their own.
    small = {"target-file-size": "700 b", "source.split.open-file-cost": "1 b"}
    vectors = {"deletion-vectors.enabled": "true"}
    table = make(MemoryFileIO(), UNBUCKETED | small | vectors, commits=100)
    for start in range(0, 140, 20):
        ids = range(start, start + 20)
        table.append(pa.table({"id": ids, "p": pa.array([0] * 20, pa.int32())}))
    table.delete("p = 0 AND id IN (3, 10, 130)")
    before, already = rows(table), len(table.snapshots())
    assert table.compact(where="p = 0", dry_run=True).num_rows == 3
    table.compact(where="p = 0")
    assert len(table.snapshots()) - already == 3
    assert rows(table) == before
    assert marked(table) == {}


def test_a_group_that_gives_way_to_a_rival_loses_no_other() -> None:
    store = MemoryFileIO()
    table = make(store, KEYED, commits=3)
    before = rows(table)
    rival = meanwhile(lambda: table.compact(where="p = 1"))
    late = reopen(table, ScriptedFileIO(store, [rival]), seed=3)
    with pytest.raises(CommitConflictError, match=r"2 of 6 buckets .*p=0/bucket-0, .*p=1/bucket-0"):
        late.compact()
    assert compacted(table) == {"1", "2", "3", "4", "5"}
    assert rows(table) == before
    assert orphans(table, store) == set()


def test_a_failure_keeps_the_groups_that_are_committed() -> None:
    kept = set()
    for call in count(1):
        store = MemoryFileIO()
        table = make(store, KEYED, commits=3)
        before = rows(table)
        faulty = FaultyFileIO(store, call)
        try:
            reopen(table, faulty, seed=3).compact()
        except StorageError:
            kept.add(len(compacted(table)))
        assert rows(table) == before
        if faulty.failed_call is None:
            break
        assert len(compacted(table)) in {0, 2, 4, 6}
        assert orphans(table, store) == set(), faulty.failed_call
    assert kept == {0, 2, 4}


@pytest.mark.parametrize("threads", ["1", "3"])
def test_a_compaction_that_fails_leaves_nothing_in_one_thread_or_in_several(threads: str) -> None:
    store = MemoryFileIO()
    table = make(store, KEYED, commits=None)
    before = data_files(store, table.location)
    session = Session.of(
        {**table.session.options, "lakebed.read.threads": threads}, fixed_effects(7)
    )
    opened = replace(table, session=session)
    for call in range(1, 2 * PARTITIONS + 1):
        with pytest.raises(StorageError):
            replace(opened, file_io=FaultyFileIO(store, call)).compact("full")
        assert data_files(store, table.location) == before
    assert opened.compact("full") is not None
    assert compacted(table) == set(map(str, range(PARTITIONS)))


@pytest.mark.parametrize("commits", [1, 3])
def test_a_listener_is_told_of_each_bucket(commits: int) -> None:
    table = make(MemoryFileIO(), KEYED, commits=commits)
    told: list[CompactionProgress] = []
    plan = table.compact(dry_run=True)
    table.compact(progress=told.append)
    assert [each.done for each in told] == list(range(1, PARTITIONS + 1))
    assert {each.total for each in told} == {PARTITIONS}
    sizes = plan.column("rewritten_bytes").to_numpy()
    assert [each.done_bytes for each in told] == sizes.cumsum().tolist()
    assert told[-1].done_bytes == told[-1].total_bytes


def test_a_listener_that_fails_leaves_nothing() -> None:
    store = MemoryFileIO()
    table = make(store, KEYED, commits=1)
    before = data_files(store, table.location)

    def fail(progress: CompactionProgress) -> None:
        if progress.done == 3:
            raise KeyError

    with pytest.raises(KeyError):
        table.compact(progress=fail)
    assert data_files(store, table.location) == before
    assert len(table.snapshots()) == 2


def test_the_log_says_how_far_it_is(caplog: pytest.LogCaptureFixture) -> None:
    table = make(MemoryFileIO(), KEYED, commits=2)
    with caplog.at_level(logging.INFO, logger="lakebed"):
        table.compact()
    lines = [record.getMessage() for record in caplog.records]
    assert [line.split(": ")[1].split(",")[0] for line in lines] == [
        *(f"compacted {n} of 6" for n in (1, 2, 3)),
        "group 1 of 2 is committed",
        *(f"compacted {n} of 6" for n in (4, 5, 6)),
        "group 2 of 2 is committed",
    ]
