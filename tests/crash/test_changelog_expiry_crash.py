"""A store that fails at the n-th call of an expiry that leaves changelogs, for every n.

What must hold whatever fails: every snapshot that can be found reads as before, and so do the
changes of all that left a changelog; the next expiry ends what was begun, and then nothing is there
that nobody needs.
"""

from collections.abc import Iterator

import pytest

from lakebed.errors import StorageError
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.metadata.changelogs import Changelogs
from lakebed.table.table import Table
from support.effects import reopen
from support.expiring_tables import NOTHING, SHORT_STEPS, ids_of, keep, rows_at
from support.faulty_file_io import FaultMode, FaultyFileIO, calls_to_fail
from support.needed_files import lacking_and_unneeded, put_tag
from support.store_listing import read_store
from support.table_builder import Row, Shape, build_table, sorted_rows

LONGER = {"changelog.num-retained.min": "100", "snapshot.num-retained.max": "100"}
SHAPES = {
    "no producer": Shape(buckets=1).with_options(
        {**LONGER, "num-sorted-run.compaction-trigger": "2"}
    ),
    "input": Shape(buckets=1).with_options({**LONGER, "changelog-producer": "input"}),
}


class Store:
    """A table with a tag, whose two oldest snapshots left changelogs."""

    def __init__(self, name: str) -> None:
        self.built = build_table(SHAPES[name], SHORT_STEPS[:1])
        table = self.built.table
        put_tag(table, "held", 1)
        for step in SHORT_STEPS[1:]:
            self.built.take(step)
        self.last = ids_of(table)[-1]
        self.changes = changes(table, range(2, self.last + 1))
        keep(table, self.last - 2)
        self.rows = {each: rows_at(table, each) for each in ids_of(table)}
        self.files = read_store(self.built.file_io, "memory:/")

    def fresh(self) -> MemoryFileIO:
        file_io = MemoryFileIO()
        for path, data in self.files.items():
            file_io.write(path, data)
        return file_io

    def end(self, table: Table) -> None:
        """Leaves two snapshots and the newest changelog."""
        keep(table, 2)
        table.expire_changelogs(retain_max=1, retain_min=1)


def changes(table: Table, ids: range | list[int]) -> dict[int, list[Row]]:
    return {each: sorted_rows(table.scan(incremental=(each - 1, each)).to_arrow()) for each in ids}


def changelog_ids(table: Table) -> list[int]:
    return Changelogs(table.file_io, table.parts().paths).list_ids()


def runs(
    store: Store, mode: FaultMode, *, stays_down: bool, counts_reads: bool = False
) -> Iterator[tuple[FaultyFileIO, Table, Exception | None]]:
    """The expiry again and again, failing one call later each time."""
    for fail_at in calls_to_fail():
        file_io = store.fresh()
        faulty = FaultyFileIO(
            file_io, fail_at, mode, stays_down=stays_down, counts_reads=counts_reads
        )
        error: Exception | None = None
        try:
            store.end(reopen(store.built.table, faulty))
        except StorageError as raised:
            error = raised
        clean = reopen(store.built.table, file_io)
        if not faulty.has_failed:
            assert fail_at > 15
            assert error is None
            check_ended(store, clean)
            return
        yield faulty, clean, error
    raise AssertionError("the expiry never came to its end")


def check(store: Store, table: Table, where: str | None) -> None:
    ids, left = ids_of(table), changelog_ids(table)
    assert {each: rows_at(table, each) for each in ids} == {
        each: store.rows[each] for each in ids
    }, where
    found = changes(table, [each for each in {*ids, *left} if each > 1])
    assert found == {each: store.changes[each] for each in found}, where
    assert lacking_and_unneeded(table)[0] == set(), where
    store.end(table)
    check_ended(store, table)


def check_ended(store: Store, table: Table) -> None:
    assert ids_of(table) == [store.last - 1, store.last]
    assert changelog_ids(table) == [store.last - 2]
    assert lacking_and_unneeded(table) == NOTHING
    names = {each.name for each in table.file_io.list(f"{table.location}/snapshot")}
    assert not any(name.startswith(".") for name in names)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("mode", ["before", "after"])
def test_what_a_process_that_dies_leaves_is_whole_and_the_next_expiry_ends_it(
    name: str, mode: FaultMode
) -> None:
    store = Store(name)
    for faulty, table, _ in runs(store, mode, stays_down=True):
        check(store, table, faulty.failed_call)


@pytest.mark.parametrize("mode", ["before", "unknown"])
def test_the_next_expiry_ends_one_that_failed_once(mode: FaultMode) -> None:
    store = Store("no producer")
    for faulty, table, _ in runs(store, mode, stays_down=False):
        check(store, table, faulty.failed_call)


def test_a_read_that_fails_ends_the_expiry_before_anything_of_it_is_deleted() -> None:
    store = Store("no producer")
    for faulty, table, error in runs(store, "before", stays_down=False, counts_reads=True):
        assert error is not None, faulty.failed_call
        check(store, table, faulty.failed_call)
