"""What processes leave that die at any storage call is found and deleted, and nothing else is.

A cleaning that dies itself, or meets a fault, leaves fewer orphans; the next one ends it.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache

import pytest

from lakebed.errors import LakebedError, StorageError
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.table import Table
from support.cleaned_tables import clean, litter
from support.effects import reopen
from support.faulty_file_io import FaultMode, FaultyFileIO, calls_to_fail
from support.needed_files import lacking_and_unneeded, put_tag
from support.store_listing import read_store
from support.table_builder import BuiltTable, Shape, Step, build_table, sorted_rows

NOTHING: tuple[set[str], set[str]] = (set(), set())
SHAPE = Shape(buckets=1, is_partitioned=True).with_options(
    {"changelog-producer": "lookup", "num-sorted-run.compaction-trigger": "2"}
)
MARKED = Shape(has_primary_key=False, buckets=-1).with_options({"deletion-vectors.enabled": "true"})
STEPS = (Step("write", range(4)), Step("write", range(2, 6)), Step("delete", (1,)))
ACTS: dict[str, Callable[[Table], object]] = {
    "upserts": lambda table: table.upsert(rows()),
    "overwrites": lambda table: table.overwrite(rows()),
    "deletes": lambda table: table.delete("amount > 3"),
    "compacts": lambda table: table.compact("full"),
    "compacts manifests": lambda table: table.compact_manifest(),
    "deletes a tag": lambda table: table.delete_tag("held"),
    "rolls back": lambda table: table.rollback(min(each.id for each in table.snapshots())),
    "expires": lambda table: table.expire_snapshots(retain_max=1, retain_min=1),
}


@cache
def stored(shape: Shape) -> BuiltTable:
    built = build_table(shape, STEPS)
    put_tag(built.table, "held", 1)
    built.table.expire_snapshots(retain_max=3, retain_min=3)
    return built


def rows() -> object:
    return stored(SHAPE).arrow([SHAPE.row(number, 9) for number in (2, 20)])


def copy(shape: Shape) -> MemoryFileIO:
    file_io = MemoryFileIO()
    for path, data in read_store(stored(shape).file_io, "memory:/").items():
        file_io.write(path, data)
    return file_io


def crashes(shape: Shape, act: Callable[[Table], object]) -> Iterator[tuple[Table, str]]:
    """The table as each crash of an act leaves it, and where it was."""
    for fail_at in calls_to_fail():
        file_io = copy(shape)
        faulty = FaultyFileIO(file_io, fail_at, stays_down=True)
        with suppress(LakebedError):
            act(reopen(stored(shape).table, faulty))
        if not faulty.has_failed:
            return
        yield reopen(stored(shape).table, file_io), str(faulty.failed_call)
    raise AssertionError("the act never came to its end")


@pytest.mark.parametrize(
    ("shape", "name"),
    [*((SHAPE, name) for name in ACTS), (MARKED, "deletes"), (MARKED, "compacts")],
)
def test_a_cleaning_finds_all_that_a_process_left_which_died(shape: Shape, name: str) -> None:
    left = 0
    for table, call in crashes(shape, ACTS[name]):
        before = sorted_rows(table.scan().to_arrow())
        lacking, unneeded = lacking_and_unneeded(table)
        assert lacking == set(), call
        left += bool(unneeded)
        clean(table)
        assert sorted_rows(table.scan().to_arrow()) == before, call
        if name == "expires":
            table.expire_snapshots(retain_max=1, retain_min=1)
        assert lacking_and_unneeded(table) == NOTHING, call
    assert left > 0


@pytest.mark.parametrize(
    ("mode", "counts_reads", "stays_down"),
    [("before", True, False), ("before", False, True), ("after", False, True)],
)
def test_a_cleaning_that_fails_at_any_call_is_ended_by_the_next(
    mode: FaultMode, *, counts_reads: bool, stays_down: bool
) -> None:
    for fail_at in calls_to_fail():
        file_io = copy(SHAPE)
        clean_table = reopen(stored(SHAPE).table, file_io)
        found = litter(clean_table)
        faulty = FaultyFileIO(
            file_io, fail_at, mode, counts_reads=counts_reads, stays_down=stays_down
        )
        error = None
        try:
            clean(clean_table, faulty)
        except StorageError as raised:
            error = raised
        assert (error is not None) == faulty.has_failed
        there = set(read_store(file_io, "memory:/"))
        call = str(faulty.failed_call)
        if faulty.has_failed and not call.startswith("delete"):
            assert found <= there, call
        clean(clean_table)
        assert set(read_store(file_io, "memory:/")) == there - found, call
        assert lacking_and_unneeded(clean_table) == NOTHING, call
        if not faulty.has_failed:
            assert fail_at > 10
            return
    raise AssertionError("the cleaning never came to its end")
