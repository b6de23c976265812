"""A store that fails at the n-th call of a write, for every n: before, after, unknown, for good.

What must hold whatever fails: the table reads as before or as after, a fresh writer commits on top,
what was acknowledged is there, and a write that is known to have failed leaves no file.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest

from lakebed.errors import CommitUnknownError, StorageError
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.table import Table
from support.effects import reopen
from support.faulty_file_io import FaultMode, FaultyFileIO, calls_to_fail
from support.index_files import unnamed_files, write_with_indexes
from support.store_listing import read_store, snapshot_ids
from support.table_builder import DAYS, BuiltTable, Row, Shape, Step, build_table, sorted_rows

Write = Callable[[BuiltTable, Table], object]


def rows_of(built: BuiltTable, *numbers: int) -> object:
    return built.arrow([built.shape.row(number, 9) for number in numbers])


def with_indexes(table: Table) -> Table:
    """The table as it is after it was asked for indexes beside its files."""
    more = {"file-index.bitmap.columns": "id,note", "file-index.in-manifest-threshold": "0 b"}
    options = {**table.options, **more}
    return replace(table, schema=replace(table.schema, options=options))


@dataclass(frozen=True)
class Case:
    """A write, and the table that it is done to."""

    shape: Shape
    write: Write
    history: tuple[Step, ...] = (Step("write", range(4)),)
    is_indexed: bool = False


KEYED = Shape(buckets=1, is_partitioned=True)
UNAWARE = Shape(has_primary_key=False, buckets=-1, is_partitioned=True)
MARKED = UNAWARE.with_options({"deletion-vectors.enabled": "true"})

CASES: dict[str, Case] = {
    "first append": Case(UNAWARE, lambda built, table: table.append(rows_of(built, 1)), ()),
    "append": Case(UNAWARE, lambda built, table: table.append(rows_of(built, 1))),
    "upsert": Case(KEYED, lambda built, table: table.upsert(rows_of(built, 1))),
    "delete by key": Case(KEYED, lambda _, table: table.delete("id > -4")),
    "delete by rewrite": Case(UNAWARE, lambda _, table: table.delete("id > -4")),
    "update by key": Case(
        KEYED, lambda _, table: table.update({"amount": "amount + 1"}, "id > -4")
    ),
    "update by rewrite": Case(
        UNAWARE, lambda _, table: table.update({"amount": "amount + 1"}, "id > -4")
    ),
    "update that moves rows": Case(
        UNAWARE, lambda _, table: table.update({"dt": "'none'"}, "id > -4")
    ),
    "update by marks": Case(MARKED, lambda _, table: table.update({"dt": "'none'"}, "id > -4")),
    "overwrite": Case(KEYED, lambda built, table: table.overwrite(rows_of(built, 1, 2))),
    "overwrite of found partitions": Case(
        UNAWARE, lambda built, table: table.overwrite(rows_of(built, 1, 2), partition="dynamic")
    ),
    "truncate": Case(KEYED, lambda _, table: table.truncate()),
    "drop of a partition": Case(
        KEYED, lambda _, table: table.drop_partitions([{"dt": DAYS[0]}, {"dt": "none"}])
    ),
    "rescale": Case(KEYED, lambda _, table: table.rescale(3, {"dt": DAYS[0]})),
    "compaction": Case(
        Shape(buckets=1).with_options(
            {
                "changelog-producer": "lookup",
                "file.format.per.level": "0:avro",
                "target-file-row-num": "2",
                "write-only": "true",
            }
        ),
        lambda _, table: table.compact(),
        (Step("write", range(2)), Step("write", (1, 2))),
    ),
    "compaction that only raises a file": Case(
        Shape(buckets=1, options=(("compaction.small-file-ratio", "0"), ("write-only", "true"))),
        lambda _, table: table.compact(),
        (Step("write", range(2)),),
    ),
    "compaction of an append table": Case(
        UNAWARE.with_options({"compaction.min.file-num": "2", "write-only": "true"}),
        lambda _, table: table.compact(),
        (Step("write", (0,)), Step("write", (0,))),
    ),
    "sort compaction": Case(
        MARKED.with_options({"target-file-row-num": "2", "write-only": "true"}),
        lambda _, table: table.compact(order_strategy="zorder", order_by="note,amount"),
        (Step("write", range(7)), Step("delete", (0, 3)), Step("write", range(4))),
    ),
    "compaction of manifests": Case(
        UNAWARE,
        lambda _, table: table.compact_manifest(),
        (Step("write", range(3)), Step("delete", (0,)), Step("write", (1, 4))),
    ),
    "indexes of files": Case(
        UNAWARE,
        lambda _, table: with_indexes(table).rewrite_file_index(),
        (Step("write", range(3)), Step("write", (1, 4))),
    ),
    "index files and changelogs": Case(
        KEYED, lambda built, table: write_with_indexes(table, rows_of(built, 1)), is_indexed=True
    ),
    "overwrite of index files": Case(
        KEYED,
        lambda built, table: table.overwrite(rows_of(built, 1), partition="dynamic"),
        is_indexed=True,
    ),
    "append that rolls": Case(
        UNAWARE.with_options({"target-file-row-num": "1"}),
        lambda built, table: table.append(rows_of(built, 1, 4)),
    ),
    "append that merges manifests": Case(
        UNAWARE.with_options({"manifest.merge-min-count": "2"}),
        lambda built, table: table.append(rows_of(built, 1)),
        (Step("write", range(3)), Step("write", (1, 4))),
    ),
}


class Store:
    """The state before a write, from which each run starts anew."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.built = build_table(case.shape, case.history)
        if case.is_indexed:
            write_with_indexes(self.built.table, rows_of(self.built, *range(4)))
        self.files = read_store(self.built.file_io, "memory:/")
        self.before = read_rows(self.built.table)
        clean = self.fresh()
        done = reopen(self.built.table, clean)
        assert case.write(self.built, done) is not None
        self.after = read_rows(done)
        self.ids_before = snapshot_ids(self.built.file_io, done.location)
        self.ids_after = snapshot_ids(clean, done.location)
        assert (self.after, self.ids_after) != (self.before, self.ids_before)
        assert unnamed_files(done, clean) == set()

    def fresh(self) -> MemoryFileIO:
        file_io = MemoryFileIO()
        for path, data in self.files.items():
            file_io.write(path, data)
        return file_io


def read_rows(table: Table) -> list[Row]:
    return sorted_rows(table.scan().to_arrow())


@dataclass(frozen=True)
class Run:
    """One write that met a fault."""

    faulty: FaultyFileIO
    table: Table
    file_io: MemoryFileIO
    error: Exception | None
    acknowledged: bool

    def __str__(self) -> str:
        return f"failed at {self.faulty.failed_call}, raised {self.error!r}"


def runs(store: Store, mode: FaultMode, *, counts_reads: bool, stays_down: bool) -> Iterator[Run]:
    """The write again and again, failing one call later each time."""
    for fail_at in calls_to_fail():
        file_io = store.fresh()
        faulty = FaultyFileIO(
            file_io, fail_at, mode, counts_reads=counts_reads, stays_down=stays_down
        )
        table = reopen(store.built.table, faulty, seed=fail_at)
        error: Exception | None = None
        snapshot: object = None
        try:
            snapshot = store.case.write(store.built, table)
        except (StorageError, CommitUnknownError) as raised:
            error = raised
        if not faulty.has_failed:
            assert fail_at > 5
            assert error is None
            return
        clean = reopen(store.built.table, file_io, seed=1000)
        yield Run(faulty, clean, file_io, error, snapshot is not None)
    raise AssertionError("the write never came to its end")


def check(store: Store, run: Run, *, can_clean: bool) -> None:
    """As before or as after, whole; acknowledged means after, a known failure leaves nothing."""
    rows = read_rows(run.table)
    ids = snapshot_ids(run.file_io, run.table.location)
    assert (rows, ids) in [(store.before, store.ids_before), (store.after, store.ids_after)], run
    assert run.acknowledged == (run.error is None), run
    if run.acknowledged:
        assert rows == store.after, run
    if can_clean and run.error is not None and not isinstance(run.error, CommitUnknownError):
        assert rows == store.before, run
        assert unnamed_files(run.table, run.file_io) == set(), run
    extra = store.built.shape.row(100, 0)
    run.table.append(store.built.arrow([extra]))
    assert read_rows(run.table) == sorted_rows([*rows, extra]), run
    assert snapshot_ids(run.file_io, run.table.location) == [*ids, len(ids) + 1], run


SOME = [
    "first append",
    "upsert",
    "delete by rewrite",
    "update that moves rows",
    "update by marks",
    "overwrite",
    "compaction",
    "compaction of manifests",
    "indexes of files",
    "index files and changelogs",
]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("mode", ["before", "after"])
def test_a_change_that_fails_once_loses_and_leaves_nothing(name: str, mode: FaultMode) -> None:
    store = Store(CASES[name])
    for run in runs(store, mode, counts_reads=False, stays_down=False):
        check(store, run, can_clean=True)


@pytest.mark.parametrize("name", SOME)
def test_an_unknown_outcome_without_effect_is_found_out(name: str) -> None:
    store = Store(CASES[name])
    for run in runs(store, "unknown", counts_reads=False, stays_down=False):
        check(store, run, can_clean=True)


@pytest.mark.parametrize("name", SOME)
def test_a_read_that_fails_once_loses_and_leaves_nothing(name: str) -> None:
    store = Store(CASES[name])
    for run in runs(store, "before", counts_reads=True, stays_down=False):
        check(store, run, can_clean=True)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("mode", ["before", "after"])
def test_a_process_that_dies_leaves_a_table_that_reads_and_goes_on(
    name: str, mode: FaultMode
) -> None:
    store = Store(CASES[name])
    for run in runs(store, mode, counts_reads=False, stays_down=True):
        check(store, run, can_clean=False)
