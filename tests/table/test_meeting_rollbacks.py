"""Rollbacks that meet an expiry, a commit or another rollback, or that break off."""

from contextlib import suppress

import pytest

from lakebed.errors import (
    CommitConflictError,
    NotFoundError,
    StorageError,
)
from support.branched_tables import check_whole, tag_names
from support.effects import reopen
from support.expiring_tables import (
    KEYED,
    UNAWARE,
    ids_of,
    keep,
    rows_at,
    write,
)
from support.meeting_store import Meeting
from support.needed_files import lacking_and_unneeded
from support.store_listing import list_files, read_store
from support.table_builder import BuiltTable, Step, build_table, sorted_rows

WRITES = tuple(Step("write", (number,)) for number in range(6))

AT_ROLLBACK = {
    "before its tag": ("write", "/tag-lakebed-rollback-3", NotFoundError),
    "before it lists what is newer": ("list", "/snapshot", NotFoundError),
    "before the hint": ("write", "/LATEST", None),
    "before it deletes the first": ("delete", "/snapshot-6", None),
    "before it deletes the last": ("delete", "/snapshot-4", None),
    "before its tag goes": ("delete", "/tag-lakebed-rollback-3", None),
}


@pytest.mark.parametrize("moment", AT_ROLLBACK)
@pytest.mark.parametrize("kept", [1, 2])
def test_snapshots_that_expire_during_a_rollback_do_not_take_its_target(
    moment: str, kept: int
) -> None:
    built = build_table(KEYED, WRITES)
    target, newest = rows_at(built.table, 3), rows_at(built.table)
    method, path_end, error = AT_ROLLBACK[moment]
    meeting = Meeting(built, method, path_end)

    def expire() -> None:
        with suppress(CommitConflictError):
            keep(built.table, kept)

    meeting.other = expire
    table = reopen(built.table, meeting)
    if error is not None:
        with pytest.raises(error):
            table.rollback(snapshot=3)
        assert rows_at(built.table) == newest
    else:
        table.rollback(snapshot=3)
        assert rows_at(built.table) == target
    check_ended(built)


AT_EXPIRY = {
    "before it reads": ("read", "/snapshot-1", True),
    "before it reads tags": ("list", "/tag", True),
    "before its copy of the target": ("put_if_absent", "/.lakebed-expired-3", True),
    "before its last copy": ("put_if_absent", "/.lakebed-expired-6", False),
    "before its first deletion": ("delete", "/snapshot-1", False),
    "before its last deletion": ("delete", "/snapshot-5", False),
    "after its deletions": ("write", "/EARLIEST", False),
}


@pytest.mark.parametrize("moment", AT_EXPIRY)
def test_of_a_rollback_and_an_expiry_that_meet_one_gives_up(moment: str) -> None:
    built = build_table(KEYED, WRITES)
    target, newest = rows_at(built.table, 3), rows_at(built.table)
    method, path_end, rolls_back = AT_EXPIRY[moment]
    meeting = Meeting(built, method, path_end)
    outcomes: list[bool] = []

    def roll_back() -> None:
        try:
            built.table.rollback(snapshot=3)
            outcomes.append(True)
        except (CommitConflictError, NotFoundError):
            outcomes.append(False)

    meeting.other = roll_back
    with suppress(CommitConflictError, NotFoundError):
        keep(reopen(built.table, meeting), 1)
    assert outcomes == [rolls_back]
    assert rows_at(built.table) == (target if rolls_back else newest)
    check_ended(built)


def check_ended(built: BuiltTable) -> None:
    """Nothing is lost or left in the way, and the table is written on and expires."""
    assert tag_names(built.table) == []
    rows = rows_at(built.table)
    assert lacking_and_unneeded(built.table)[0] == set()
    row = built.shape.row(50, 0)
    built.table.append(built.arrow([row]))
    keep(built.table, 1)
    assert rows_at(built.table) == sorted_rows([*rows, row])
    assert lacking_and_unneeded(built.table)[0] == set()
    assert not [path for path in list_files(built.file_io, "memory:/") if "lakebed-" in path]


def test_a_table_is_not_rolled_back_to_what_a_broken_off_expiry_left_half_expired() -> None:
    built = build_table(UNAWARE, WRITES)
    meeting = Meeting(built, "delete", "/snapshot-1")

    def die() -> None:
        raise StorageError("snapshot-1", "died")

    meeting.other = die
    with pytest.raises(StorageError):
        keep(reopen(built.table, meeting), 3)
    before = read_store(built.file_io, "memory:/")
    with pytest.raises(CommitConflictError, match="snapshots up to 3 expire at this moment"):
        built.table.rollback(snapshot=2)
    assert read_store(built.file_io, "memory:/") == before
    built.table.rollback(snapshot=5)
    keep(built.table, 2)
    assert ids_of(built.table) == [4, 5]
    check_whole(built, 5)


def test_a_broken_off_rollback_keeps_its_target_from_expiring_until_it_ended() -> None:
    built = build_table(UNAWARE, WRITES)
    meeting = Meeting(built, "delete", "/snapshot-6")

    def die() -> None:
        raise StorageError("snapshot-6", "died")

    meeting.other = die
    with pytest.raises(StorageError):
        reopen(built.table, meeting).rollback(snapshot=3)
    with pytest.raises(CommitConflictError, match="delete its tag 'lakebed-rollback-3'"):
        keep(built.table, 1)
    assert ids_of(built.table) == [1, 2, 3, 4, 5, 6]
    assert keep(built.table, 4) == 2
    built.table.rollback(snapshot=3)
    assert keep(built.table, 1) == 0
    check_whole(built, 3)


def test_a_rollback_that_another_one_overtook_says_so() -> None:
    built = build_table(UNAWARE, WRITES)
    meeting = Meeting(built, "delete", "/snapshot-5")
    meeting.other = lambda: built.table.rollback(snapshot=2)
    with pytest.raises(CommitConflictError, match="somebody else rolled the table back"):
        reopen(built.table, meeting).rollback(snapshot=4)
    assert ids_of(built.table) == [1, 2]
    assert lacking_and_unneeded(built.table)[0] == set()


def test_what_is_committed_during_a_rollback_goes_too() -> None:
    built = build_table(UNAWARE, WRITES)
    expected = rows_at(built.table, 2)
    meeting = Meeting(built, "delete", "/snapshot-3")
    meeting.other = lambda: write(built, 70)
    reopen(built.table, meeting).rollback(snapshot=2)
    assert rows_at(built.table) == expected
    check_whole(built, 2)
