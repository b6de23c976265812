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
from support.rival_commits import mine, one
from support.scripted_file_io import meanwhile
from support.store_listing import list_files, read_store
from support.table_builder import BuiltTable, Step, build_table, sorted_rows

WRITES = tuple(Step("write", (number,)) for number in range(6))

AT_ROLLBACK = {
    "before its marker": ("put_if_absent", "/.lakebed-rewriting", NotFoundError),
    "before its tag": ("write", "/tag-lakebed-rollback-3", None),
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


def test_an_expiry_beside_a_rollback_to_what_has_expired_gives_up_and_says_so() -> None:
    built = build_table(KEYED, WRITES)
    meeting = Meeting(built, "put_if_absent", "/.lakebed-rewriting")

    def expire() -> None:
        keep(built.table, 3)
        meeting.at, meeting.other = ("list", "/snapshot"), expire_again

    def expire_again() -> None:
        with pytest.raises(CommitConflictError, match="rollback to snapshot 1 is under way"):
            keep(built.table, 2)

    meeting.other = expire
    with pytest.raises(NotFoundError, match="snapshot '1'"):
        reopen(built.table, meeting).rollback(snapshot=1)
    assert ids_of(built.table) == [5, 6, 7]
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
    broken_off(built, 3, "/snapshot-6")
    with pytest.raises(
        CommitConflictError, match="rollback to snapshot 3 is under way or broke off"
    ):
        keep(built.table, 1)
    assert ids_of(built.table) == [1, 2, 3, 4, 5, 6]
    assert keep(built.table, 4) == 2
    built.table.rollback(snapshot=3)
    assert keep(built.table, 1) == 0
    check_whole(built, 3)


def broken_off(built: BuiltTable, snapshot_id: int, path_end: str) -> None:
    """A rollback whose process dies where it would delete a file."""
    meeting = Meeting(built, "delete", path_end)

    def die() -> None:
        raise StorageError(path_end, "died")

    meeting.other = die
    with pytest.raises(StorageError):
        reopen(built.table, meeting).rollback(snapshot=snapshot_id)


def test_a_rollback_waits_until_another_one_has_ended() -> None:
    built = build_table(UNAWARE, WRITES)
    meeting = Meeting(built, "delete", "/snapshot-5")

    def roll_back_further() -> None:
        with pytest.raises(CommitConflictError, match="no rollback to snapshot 2 now"):
            built.table.rollback(snapshot=2)

    meeting.other = roll_back_further
    reopen(built.table, meeting).rollback(snapshot=4)
    assert ids_of(built.table) == [1, 2, 3, 4]
    check_whole(built, 4)


def test_nothing_is_committed_during_a_rollback() -> None:
    built = build_table(UNAWARE, WRITES)
    expected = rows_at(built.table, 2)
    meeting = Meeting(built, "delete", "/snapshot-3")

    def commit() -> None:
        with pytest.raises(CommitConflictError, match="rollback to snapshot 2 is under way"):
            write(built, 70)

    meeting.other = commit
    reopen(built.table, meeting).rollback(snapshot=2)
    assert rows_at(built.table) == expected
    check_whole(built, 2)


def test_nothing_is_committed_where_a_rollback_broke_off_until_it_is_repeated() -> None:
    built = build_table(UNAWARE, WRITES)
    expected = rows_at(built.table, 2)
    broken_off(built, 2, "/snapshot-4")
    marker = "snapshot/.lakebed-rewriting"
    with pytest.raises(CommitConflictError, match=f"do the same again.*{marker}"):
        write(built, 70)
    with pytest.raises(CommitConflictError, match="A rollback to snapshot 2 is under way or broke"):
        built.table.rollback(snapshot=1)
    built.table.rollback(snapshot=2)
    assert rows_at(built.table) == expected
    write(built, 71)
    assert ids_of(built.table) == [1, 2, 3]
    assert lacking_and_unneeded(built.table)[0] == set()


def test_a_commit_that_a_broken_off_rollback_did_not_see_goes_when_it_is_repeated() -> None:
    built = build_table(UNAWARE, WRITES)
    table, _ = mine(built, meanwhile(lambda: broken_off(built, 2, "/snapshot-6")))
    assert table.append(one(built, 70)) is not None
    assert ids_of(built.table) == [1, 2, 3, 4, 5, 6, 7]
    built.table.rollback(snapshot=2)
    assert ids_of(built.table) == [1, 2]
    assert lacking_and_unneeded(built.table)[0] == set()
