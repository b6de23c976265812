"""A store that fails at the n-th call of an expiry, for every n: before, after, unknown, for good.

What must hold whatever fails: every snapshot that can be found reads as before, and so do tags; the
next expiry ends what was begun, and then nothing is there that nobody needs.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from lakebed.errors import StorageError
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.table import Table
from support.effects import reopen
from support.expiring_tables import NOTHING, SHORT_STEPS
from support.faulty_file_io import FaultMode, FaultyFileIO, calls_to_fail
from support.index_files import write_with_indexes
from support.needed_files import lacking_and_unneeded, put_branch, put_tag
from support.store_listing import list_files, read_store
from support.table_builder import Row, Shape, build_table, sorted_rows

TAG = "held"
SHAPES = {
    "keyed with changelogs": Shape(buckets=1).with_options({"changelog-producer": "input"}),
    "append with deletion vectors": Shape(has_primary_key=False, buckets=-1).with_options(
        {"deletion-vectors.enabled": "true", "write-only": "true"}
    ),
    "keyed with index files": Shape(buckets=1).with_options({"manifest.merge-min-count": "2"}),
}
Rows = dict[int | str, list[Row]]


class Store:
    """A table with a tag, a branch and more snapshots than are kept."""

    def __init__(self, name: str) -> None:
        self.built = build_table(SHAPES[name], SHORT_STEPS[:3])
        table = self.built.table
        put_tag(table, TAG, 1)
        put_branch(table, "dev", TAG)
        for step in SHORT_STEPS[3:]:
            self.built.take(step)
        if "index" in name:
            for _ in range(2):
                write_with_indexes(table, self.built.arrow([self.built.shape.row(1, 9)]))
        self.files = read_store(self.built.file_io, "memory:/")
        self.rows = read_all(table)
        self.last = max(each.id for each in table.snapshots())

    def fresh(self) -> MemoryFileIO:
        file_io = MemoryFileIO()
        for path, data in self.files.items():
            file_io.write(path, data)
        return file_io


def read_all(table: Table) -> Rows:
    """The rows of each snapshot that can be found, and of the tag."""
    found: Rows = {
        each.id: sorted_rows(table.scan(snapshot_id=each.id).to_arrow())
        for each in table.snapshots()
    }
    return {**found, TAG: sorted_rows(table.scan(tag=TAG).to_arrow())}


def expire(table: Table) -> int:
    return table.expire_snapshots(retain_max=2, retain_min=2)


@dataclass(frozen=True)
class Run:
    """One expiry that met a fault."""

    faulty: FaultyFileIO
    table: Table
    error: Exception | None

    def __str__(self) -> str:
        return f"failed at {self.faulty.failed_call}, raised {self.error!r}"


def runs(store: Store, mode: FaultMode, *, counts_reads: bool, stays_down: bool) -> Iterator[Run]:
    """The expiry again and again, failing one call later each time."""
    for fail_at in calls_to_fail():
        file_io = store.fresh()
        faulty = FaultyFileIO(
            file_io, fail_at, mode, counts_reads=counts_reads, stays_down=stays_down
        )
        error: Exception | None = None
        try:
            expire(reopen(store.built.table, faulty))
        except StorageError as raised:
            error = raised
        clean = reopen(store.built.table, file_io)
        if not faulty.has_failed:
            assert fail_at > 15
            assert error is None
            assert lacking_and_unneeded(clean, ["dev"]) == NOTHING
            return
        yield Run(faulty, clean, error)
    raise AssertionError("the expiry never came to its end")


def check(store: Store, run: Run) -> None:
    found = read_all(run.table)
    assert found == {each: store.rows[each] for each in found}, run
    assert {store.last, store.last - 1} <= found.keys(), run
    assert lacking_and_unneeded(run.table, ["dev"])[0] == set(), run
    expire(run.table)
    assert [each.id for each in run.table.snapshots()] == [store.last - 1, store.last], run
    assert lacking_and_unneeded(run.table, ["dev"]) == NOTHING, run
    names = {path.rsplit("/", 1)[-1] for path in list_files(run.table.file_io, "memory:/")}
    assert not any(name.startswith(".") for name in names), run


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("mode", ["before", "after"])
def test_what_a_process_that_dies_leaves_is_whole_and_the_next_expiry_ends_it(
    name: str, mode: FaultMode
) -> None:
    store = Store(name)
    for run in runs(store, mode, counts_reads=False, stays_down=True):
        check(store, run)


@pytest.mark.parametrize("mode", ["before", "after", "unknown"])
def test_the_next_expiry_ends_one_that_failed_once(mode: FaultMode) -> None:
    store = Store("keyed with changelogs")
    for run in runs(store, mode, counts_reads=False, stays_down=False):
        check(store, run)


def test_a_read_that_fails_ends_the_expiry_before_anything_of_it_is_deleted() -> None:
    store = Store("append with deletion vectors")
    for run in runs(store, "before", counts_reads=True, stays_down=False):
        assert run.error is not None, run
        check(store, run)
