"""The same rollback or fast-forward, called twice: at no moment does one harm what follows it.

A call cannot see what happens between its look at the marker and what it does then: delete one
file, or write the marker. So the other call comes in before any other call to the store.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from lakebed.errors import CommitConflictError
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.metadata.history_marker import HistoryMarker
from lakebed.table.table import Table
from support.branched_tables import forked
from support.effects import reopen
from support.expiring_tables import KEYED, UNAWARE, ids_of, rows_at
from support.faulty_file_io import calls_to_fail
from support.meeting_store import MeetingAtCall
from support.needed_files import lacking_and_unneeded
from support.store_listing import list_files
from support.table_builder import BuiltTable, Shape, Step, build_table, sorted_rows

NEW = 70


def roll_back(table: Table) -> None:
    table.rollback(snapshot=3)


def fast_forward(table: Table) -> None:
    table.fast_forward("dev")


@cache
def build(shape: Shape) -> BuiltTable:
    """A table of six snapshots, and a branch of two that was made of the third."""
    built = build_table(shape, [Step("write", (number,)) for number in range(3)])
    branch = forked(built, 3)
    for number in (10, 11):
        branch.take(Step("write", (number,)))
    for number in (3, 4, 5):
        built.take(Step("write", (number,)))
    return built


def copy(shape: Shape) -> BuiltTable:
    """The same in a store of its own."""
    built, file_io = build(shape), MemoryFileIO()
    for path in list_files(built.file_io, "memory:/"):
        file_io.write(path, built.file_io.read(path))
    return replace(built, table=reopen(built.table, file_io, seed=2), file_io=file_io)


@pytest.mark.parametrize("shape", [KEYED, UNAWARE], ids=["keyed", "append"])
@pytest.mark.parametrize("operation", [roll_back, fast_forward])
def test_who_does_the_same_at_any_moment_and_writes_then_keeps_what_it_wrote(
    shape: Shape, operation: Callable[[Table], None]
) -> None:
    for number in calls_to_fail():
        built = copy(shape)
        if not meets(built, operation, number):
            return
    pytest.fail("the operation never came to its end")


def meets(built: BuiltTable, operation: Callable[[Table], None], number: int) -> bool:
    """Has another call of it, and a commit, come in before a call; False where it has ended."""
    marker = HistoryMarker(built.file_io, built.table.parts().paths)
    had_begun = False

    def repeat_and_write() -> None:
        nonlocal had_begun
        had_begun = marker.find() is not None
        operation(built.table)
        built.table.append(built.arrow([built.shape.row(NEW, 0)]))

    meeting = MeetingAtCall(
        built,
        number,
        is_open=lambda method, path: (
            method != "delete" and (method, path) != ("write", marker.path)
        ),
    )
    meeting.other = repeat_and_write
    try:
        operation(reopen(built.table, meeting))
    except CommitConflictError as error:
        assert "another call of the same" in str(error)  # noqa: PT017
    if meeting.has_met:
        check(built, number, keeps=had_begun)
    return meeting.is_over


def check(built: BuiltTable, number: int, *, keeps: bool) -> None:
    """The history has no gap, nothing is missing, and it goes on."""
    rows = rows_at(built.table)
    assert built.shape.row(NEW, 0) in rows or not keeps, f"before call {number}"
    ids = ids_of(built.table)
    assert ids == list(range(1, ids[-1] + 1)), f"before call {number}"
    assert lacking_and_unneeded(built.table, ("dev",))[0] == set()
    more = built.shape.row(NEW + 1, 0)
    built.table.append(built.arrow([more]))
    assert rows_at(built.table) == sorted_rows([*rows, more])
    assert not [path for path in list_files(built.file_io, "memory:/") if "lakebed-" in path]
