"""A store that fails at the n-th call of a rollback or of a change of branches, for every n.

What must hold whatever fails: the table reads as one of its whole snapshots, before and after among
them; a branch is found whole or not at all; nothing that can be found lacks a file; and the same
call again ends it.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from lakebed.errors import AlreadyExistsError, LakebedError, NotFoundError, StorageError
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.branches import branch_table
from lakebed.table.table import Table
from support.effects import reopen
from support.faulty_file_io import FaultMode, FaultyFileIO, calls_to_fail
from support.needed_files import lacking_and_unneeded, put_branch, put_tag
from support.store_listing import list_files, read_store
from support.table_builder import BuiltTable, Row, Shape, Step, build_table, sorted_rows

SHAPE = Shape(buckets=1).with_options(
    {"changelog-producer": "input", "snapshot.num-retained.max": "100"}
)
STEPS = (
    Step("write", range(4)),
    Step("write", range(2, 6)),
    Step("overwrite", range(3)),
    Step("delete", (1,)),
    Step("write", (7, 8)),
)
Rows = list[Row]


@dataclass(frozen=True)
class Case:
    """A change of the history of the table `t`, which has a tag `held` of 2 and a branch `dev`.

    Attributes:
        run: Does it.
        restored: Whether the snapshot of `held` expired before.
        is_apart: Whether all but the newest snapshot of `dev` expired before.
        branches: The branches after it.
        can_be_there: Whether the same call again may say that it is done.
        passes: Ids of snapshots of the table as of which it may read in between.
    """

    run: Callable[[Table], object]
    restored: bool = False
    is_apart: bool = False
    branches: tuple[str, ...] = ("dev",)
    can_be_there: bool = False
    passes: tuple[int, ...] = field(default=())


CASES = {
    "rollback": Case(lambda table: table.rollback(snapshot=2), passes=(2, 3, 4)),
    "rollback to a tag whose snapshot expired": Case(
        lambda table: table.rollback(tag="held"), restored=True, passes=(4,)
    ),
    "create of a tag": Case(
        lambda table: table.create_branch("new", "held"),
        branches=("dev", "new"),
        can_be_there=True,
    ),
    "create": Case(
        lambda table: table.create_branch("new"), branches=("dev", "new"), can_be_there=True
    ),
    "delete": Case(lambda table: table.delete_branch("dev"), branches=(), can_be_there=True),
    "rename": Case(
        lambda table: table.rename_branch("dev", "new"), branches=("new",), can_be_there=True
    ),
    "fast-forward": Case(lambda table: table.fast_forward("dev"), passes=(2, 3, 4)),
    "fast-forward where the table lacks the first snapshot": Case(
        lambda table: table.fast_forward("dev"), restored=True, passes=(4,)
    ),
    "fast-forward where nothing leads to the branch": Case(
        lambda table: table.fast_forward("dev"), is_apart=True, passes=(1, 2, 3, 4)
    ),
    "fast-forward to another history": Case(
        lambda table: table.fast_forward("apart"), branches=("apart", "dev"), passes=(1, 2, 3, 4)
    ),
}


class Store:
    """The state before a change, from which each run starts anew."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.built = build_table(SHAPE, STEPS[:2])
        table = self.built.table
        put_tag(table, "held", 2)
        put_branch(table, "dev", "held")
        self._write_to("dev")
        if "apart" in case.branches:
            table.create_branch("apart")
            self._write_to("apart")
        for step in STEPS[2:]:
            self.built.take(step)
        put_tag(table, "late", 4)
        past = {each.id: rows_of(table, each.id) for each in table.snapshots()}
        if case.restored:
            table.expire_snapshots(retain_max=2, retain_min=2)
        if case.is_apart:
            branch_table(table, "dev").expire_snapshots(retain_max=1, retain_min=1)
        self.files = read_store(self.built.file_io, "memory:/")
        clean = self.fresh()
        self.before = state_of(table)
        done = reopen(table, clean)
        case.run(done)
        self.after = state_of(done)
        line = [rows_of(done, each.id) for each in done.snapshots()]
        self.readable = [
            self.before[""],
            self.after[""],
            *line,
            *(past[each] for each in case.passes),
        ]

    def _write_to(self, name: str) -> None:
        branch = BuiltTable(SHAPE, branch_table(self.built.table, name), self.built.file_io)
        branch.take(Step("write", (20, 21)))
        branch.take(Step("write", (3, 22)))
        put_tag(branch.table, "inner", branch.table.snapshots()[-1].id)

    def fresh(self) -> MemoryFileIO:
        file_io = MemoryFileIO()
        for path, data in self.files.items():
            file_io.write(path, data)
        return file_io


def rows_of(table: Table, snapshot_id: int | None = None) -> Rows:
    return sorted_rows(table.scan(snapshot_id=snapshot_id).to_arrow())


def state_of(table: Table) -> dict[str, Rows]:
    """The rows of the table and of each branch that is found."""
    found = {"": rows_of(table)}
    for name in ("dev", "new", "apart"):
        with suppress(NotFoundError):
            found[name] = rows_of(branch_table(table, name))
    return found


@dataclass(frozen=True)
class Run:
    """One change that met a fault."""

    faulty: FaultyFileIO
    table: Table
    error: Exception | None

    def __str__(self) -> str:
        return f"failed at {self.faulty.failed_call}, raised {self.error!r}"


def runs(store: Store, mode: FaultMode, *, counts_reads: bool, stays_down: bool) -> Iterator[Run]:
    """The change again and again, failing one call later each time."""
    for fail_at in calls_to_fail():
        file_io = store.fresh()
        faulty = FaultyFileIO(
            file_io, fail_at, mode, counts_reads=counts_reads, stays_down=stays_down
        )
        error: Exception | None = None
        try:
            store.case.run(reopen(store.built.table, faulty))
        except StorageError as raised:
            error = raised
        clean = reopen(store.built.table, file_io)
        if not faulty.has_failed:
            assert fail_at > 3
            assert error is None
            return
        yield Run(faulty, clean, error)
    raise AssertionError("the change never came to its end")


def check(store: Store, run: Run) -> None:
    state = state_of(run.table)
    assert state[""] in store.readable, run
    for name, rows in state.items():
        if name:
            assert rows in (store.before.get(name), store.after.get(name)), run
    if run.error is None:
        assert state == store.after, run
    assert lacking_and_unneeded(run.table, list_branches(run.table))[0] == set(), run
    again: LakebedError | None = None
    try:
        store.case.run(run.table)
    except (AlreadyExistsError, NotFoundError) as error:
        again = error
    assert again is None or store.case.can_be_there, run
    assert state_of(run.table) == store.after, run
    assert list_branches(run.table) == list(store.case.branches), run
    assert lacking_and_unneeded(run.table, store.case.branches)[0] == set(), run
    names = {path.rsplit("/", 1)[-1] for path in list_files(run.table.file_io, "memory:/")}
    assert not any("lakebed-" in name for name in names), run
    ids = [each.id for each in run.table.snapshots()]
    assert ids == list(range(ids[0], ids[-1] + 1)), run


def list_branches(table: Table) -> list[str]:
    """Names of the directories of branches that have any file."""
    root = f"{table.location}/branch/branch-"
    found = (path for path in list_files(table.file_io, f"{table.location}/branch"))
    return sorted({path.removeprefix(root).split("/")[0] for path in found})


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("mode", ["before", "after"])
def test_what_a_process_that_dies_leaves_is_whole_and_the_same_call_ends_it(
    name: str, mode: FaultMode
) -> None:
    store = Store(CASES[name])
    for run in runs(store, mode, counts_reads=False, stays_down=True):
        check(store, run)


@pytest.mark.parametrize("name", CASES)
def test_the_same_call_ends_what_failed_once(name: str) -> None:
    store = Store(CASES[name])
    for run in runs(store, "unknown", counts_reads=False, stays_down=False):
        check(store, run)


@pytest.mark.parametrize("name", CASES)
def test_the_same_call_ends_what_failed_at_a_read(name: str) -> None:
    store = Store(CASES[name])
    for run in runs(store, "before", counts_reads=True, stays_down=False):
        check(store, run)
