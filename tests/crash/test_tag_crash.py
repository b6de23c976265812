"""A store that fails at the n-th call of a change of tags: before, after, unknown, for good.

What must hold whatever fails: every tag is as before or as after, what it names reads as ever, and
the same change again, where it is still to be made, ends well and leaves nothing that is needed by
nobody but what the first one left, which no tag and no snapshot names.
"""

from collections.abc import Callable, Iterator, Mapping

import pytest

from lakebed.errors import AlreadyExistsError, NotFoundError, StorageError
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.table import Table
from lakebed.table.tags.making import HOLDING_PREFIX, all_tags
from support.effects import reopen
from support.faulty_file_io import FaultMode, FaultyFileIO, calls_to_fail
from support.needed_files import lacking_and_unneeded
from support.store_listing import read_store
from support.table_builder import Row, Shape, Step, build_table, sorted_rows

STEPS = (
    Step("write", range(4)),
    Step("write", range(2, 6)),
    Step("overwrite", range(3)),
    Step("delete", (1,)),
    Step("write", (7, 8)),
)
SHAPE = Shape(buckets=1).with_options({"changelog-producer": "input"})
# The tags `a` of snapshot 1 and `b` of 2, which expired, and `c` of the newest.
BEFORE = {"a": 1, "b": 2, "c": 5}
CHANGES: Mapping[str, tuple[Callable[[Table], object], list[dict[str, int]]]] = {
    "create": (lambda table: table.create_tag("new"), [{**BEFORE, "new": 5}]),
    "create of a tag": (lambda table: table.create_tag("new", 1), [{**BEFORE, "new": 1}]),
    "replace": (lambda table: table.replace_tag("b", 5), [{**BEFORE, "b": 5}]),
    "rename": (
        lambda table: table.rename_tag("b", "z"),
        [{**BEFORE, "z": 2}, {"a": 1, "c": 5, "z": 2}],
    ),
    "delete": (
        lambda table: table.delete_tag("a,b"),
        [{"b": 2, "c": 5}, {"c": 5}],
    ),
}


class Store:
    """A table with tags, of which only the newest snapshot is left."""

    def __init__(self) -> None:
        self.built = build_table(SHAPE, STEPS)
        table = self.built.table
        self.rows = {each.id: rows_of(table, snapshot_id=each.id) for each in table.snapshots()}
        for name, snapshot_id in BEFORE.items():
            table.create_tag(name, snapshot_id)
        table.expire_snapshots(retain_max=1, retain_min=1)
        self.files = read_store(self.built.file_io, "memory:/")

    def fresh(self) -> MemoryFileIO:
        file_io = MemoryFileIO()
        for path, data in self.files.items():
            file_io.write(path, data)
        return file_io


def rows_of(table: Table, *, snapshot_id: int | None = None, tag: str | None = None) -> list[Row]:
    return sorted_rows(table.scan(snapshot_id=snapshot_id, tag=tag).to_arrow())


def tags_of(table: Table) -> dict[str, int]:
    """All but those that hold a snapshot for a day after a crash."""
    tags = all_tags(table.parts())
    return {tag.name: tag.snapshot.id for tag in tags if not tag.name.startswith(HOLDING_PREFIX)}


def runs(
    store: Store,
    change: Callable[[Table], object],
    *,
    mode: FaultMode,
    counts_reads: bool,
    stays_down: bool,
) -> Iterator[tuple[Table, str]]:
    """The change again and again, failing one call later each time."""
    for fail_at in calls_to_fail():
        file_io = store.fresh()
        faulty = FaultyFileIO(
            file_io, fail_at, mode, counts_reads=counts_reads, stays_down=stays_down
        )
        error = None
        try:
            change(reopen(store.built.table, faulty))
        except StorageError as raised:
            error = raised
        if not faulty.has_failed:
            assert error is None
            return
        told = f"failed at {faulty.failed_call}, raised {error!r}"
        yield reopen(store.built.table, file_io), told
    raise AssertionError("the change never came to its end")


def check(store: Store, table: Table, name: str, *, told: str) -> None:
    change, after = CHANGES[name]
    found = tags_of(table)
    assert found in [BEFORE, *after], told
    for tag, snapshot_id in found.items():
        assert rows_of(table, tag=tag) == store.rows[snapshot_id], told
    assert rows_of(table) == store.rows[5], told
    lacking, left = lacking_and_unneeded(table)
    assert not lacking, told
    try:
        change(table)
    except (AlreadyExistsError, NotFoundError):
        assert found != BEFORE, told
    else:
        assert tags_of(table) == after[-1], told
    lacking, unneeded = lacking_and_unneeded(table)
    assert not lacking, told
    assert unneeded <= left, told


@pytest.fixture(scope="module")
def store() -> Store:
    return Store()


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("mode", ["before", "after"])
def test_a_process_that_dies_leaves_each_tag_as_before_or_as_after(
    store: Store, name: str, mode: FaultMode
) -> None:
    change, _ = CHANGES[name]
    for table, told in runs(store, change, mode=mode, counts_reads=False, stays_down=True):
        check(store, table, name, told=told)


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("mode", ["before", "after", "unknown"])
def test_a_call_that_fails_leaves_each_tag_as_before_or_as_after(
    store: Store, name: str, mode: FaultMode
) -> None:
    change, _ = CHANGES[name]
    for table, told in runs(store, change, mode=mode, counts_reads=True, stays_down=False):
        check(store, table, name, told=told)
