"""Commits under which their base goes away: rolled back, or expired while the writer paused."""

from collections.abc import Mapping
from dataclasses import replace

import msgspec
import pytest

from lakebed.errors import CommitConflictError, CommitUnknownError
from lakebed.format.snapshot_lineage import is_after
from support.effects import fixed_effects, open_catalog, reopen
from support.meeting_store import Meeting
from support.rival_commits import KEYED, START, UNAWARE, mine, one, rows_of
from support.scripted_file_io import PausingFileIO, afterwards, meanwhile
from support.store_listing import data_files, snapshot_ids
from support.table_builder import BuiltTable, Row, Step, build_table, sorted_rows


def test_a_commit_whose_base_is_rolled_back_in_between_is_taken_back() -> None:
    built = build_table(UNAWARE, (*START, Step("write", range(4, 8))))
    path = f"{built.table.location}/snapshot/snapshot-2"
    table, store = mine(built, meanwhile(lambda: built.file_io.delete(path)))
    before = data_files(built.file_io, table.location)
    with pytest.raises(CommitConflictError, match="Write the rows again") as failed:
        table.append(one(built, 10))
    assert (failed.value.was_visible, store.puts) == (True, 1)
    assert snapshot_ids(built.file_io, table.location) == [1]
    # A rollback that saw it may be about to delete its file, a tag may name it.
    assert len(data_files(built.file_io, table.location) - before) == 1
    assert rows_of(built) == sorted_rows(first_rows(built))


def test_a_commit_whose_base_is_rolled_back_and_another_written_is_taken_back() -> None:
    built = build_table(UNAWARE, (*START, Step("write", range(4, 8))))
    path = f"{built.table.location}/snapshot/snapshot-2"

    def roll_back_and_write() -> None:
        built.file_io.delete(path)
        built.table.append(one(built, 20))

    table, _ = mine(built, meanwhile(roll_back_and_write))
    with pytest.raises(CommitConflictError, match="Write the rows again"):
        table.append(one(built, 10))
    assert rows_of(built) == sorted_rows([*first_rows(built), built.shape.row(20, 5)])


@pytest.mark.parametrize("kept", [1, 3], ids=["some are gone", "the next one is the oldest"])
@pytest.mark.parametrize("is_empty", [True, False])
def test_a_commit_that_others_overtook_until_its_place_is_free_again_is_taken_back(
    kept: int, *, is_empty: bool
) -> None:
    built = build_table(UNAWARE, () if is_empty else START)
    count = 4 if is_empty else 5

    def overtake() -> None:
        for number in range(20, 24):
            built.table.append(one(built, number))
        built.table.expire_snapshots(retain_max=kept, retain_min=kept)

    table, _ = mine(built, meanwhile(overtake))
    with pytest.raises(CommitConflictError, match="Write the rows again"):
        table.append(one(built, 10))
    new = [built.shape.row(number, 5) for number in range(20, 24)]
    assert rows_of(built) == sorted_rows([*built.rows, *new])
    oldest = count - kept + 1
    assert snapshot_ids(built.file_io, table.location) == list(range(oldest, count + 1))


@pytest.mark.parametrize("merged", [True, False])
@pytest.mark.parametrize("kept", [1, 2, 3])
def test_a_commit_that_is_built_upon_stands_when_its_base_expires_at_once(
    kept: int, *, merged: bool
) -> None:
    options = {"manifest.merge-min-count": "1"} if merged else {}
    built = build_table(UNAWARE.with_options(options), START)

    def go_on() -> None:
        for number in (20, 21):
            built.table.append(one(built, number))
        built.table.expire_snapshots(retain_max=kept, retain_min=kept)

    table, _ = mine(built, afterwards(go_on))
    if kept < 3:
        with pytest.raises(CommitUnknownError):
            table.append(one(built, 10))
    else:
        snapshot = table.append(one(built, 10))
        assert snapshot is not None
        assert snapshot.id == 2
    new = [built.shape.row(number, 5) for number in (10, 20, 21)]
    assert rows_of(built) == sorted_rows([*built.rows, *new])
    assert snapshot_ids(built.file_io, table.location) == list(range(5 - kept, 5))


@pytest.mark.parametrize("engine", ["ours", "another"])
def test_a_compaction_that_others_overtook_leaves_what_is_above_it(engine: str) -> None:
    built = build_table(KEYED.with_options({"write-only": "true"}), START)
    location = built.table.location

    def overtake() -> None:
        for number in (20, 21):
            built.table.append(one(built, number))
        built.table.expire_snapshots(retain_max=1, retain_min=1)
        if engine == "another":
            third = built.table.parts().snapshots.load(3)
            stripped = msgspec.structs.replace(third, writer_version="java-2.1")
            built.file_io.write(f"{location}/snapshot/snapshot-3", stripped.to_json())

    # Of a single file a compaction changes the level alone, and the next snapshots name it, too.
    table, _ = mine(built, meanwhile(overtake))
    with pytest.raises(CommitConflictError):
        table.compact("full")
    new = [built.shape.row(number, 5) for number in (20, 21)]
    assert rows_of(built) == sorted_rows([*built.rows, *new])
    assert snapshot_ids(built.file_io, location) == [3]


def test_a_commit_that_expires_while_its_writer_looks_at_it_is_unknown() -> None:
    built = build_table(UNAWARE, START)
    meeting = Meeting(built, "put_if_absent", "/snapshot-2")

    def look() -> None:
        meeting.at, meeting.other = ("read", "/snapshot-1"), go_on

    def go_on() -> None:
        for number in (20, 21):
            built.table.append(one(built, number))
        built.table.expire_snapshots(retain_max=1, retain_min=1)

    meeting.other = look
    with pytest.raises(CommitUnknownError):
        reopen(built.table, meeting, seed=7).append(one(built, 10))
    new = [built.shape.row(number, 5) for number in (10, 20, 21)]
    assert rows_of(built) == sorted_rows([*built.rows, *new])


def adrift(options: Mapping[str, str] | None = None) -> BuiltTable:
    """A table whose newest snapshot a writer put that died, after its base was rolled back."""
    shape = UNAWARE.with_options(options or {})
    built = build_table(shape, (*START, Step("write", range(4, 8)), Step("write", range(8, 12))))
    built.file_io.delete(f"{built.table.location}/snapshot/snapshot-2")
    return built


def first_rows(built: BuiltTable) -> list[Row]:
    return [built.shape.row(number, 0) for number in range(4)]


@pytest.mark.parametrize("retries", ["0", "10"])
def test_nobody_builds_upon_a_snapshot_that_follows_nothing(retries: str) -> None:
    built = adrift({"commit.max-retries": retries})
    sleeps: list[float] = []
    catalog = open_catalog(built.file_io, effects=fixed_effects(3, sleeps=sleeps))
    snapshot = catalog.load_table("db.t").append(one(built, 20))
    assert snapshot is not None
    assert snapshot.id == 2
    assert snapshot_ids(built.file_io, built.table.location) == [1, 2]
    assert len(sleeps) == 3
    assert rows_of(built) == sorted_rows([*first_rows(built), built.shape.row(20, 5)])


def test_what_a_dead_writer_left_above_a_gap_goes_when_the_gap_is_filled() -> None:
    built = build_table(UNAWARE, (*START, Step("write", range(4, 8)), Step("write", range(8, 12))))
    built.file_io.delete(f"{built.table.location}/snapshot/snapshot-2")
    built.file_io.write(f"{built.table.location}/snapshot/LATEST", b"1")
    snapshot = reopen(built.table, built.file_io, seed=5).append(one(built, 20))
    assert snapshot is not None
    assert snapshot_ids(built.file_io, built.table.location) == [1, 2]
    assert rows_of(built) == sorted_rows([*first_rows(built), built.shape.row(20, 5)])


def test_a_writer_whose_commit_was_rolled_back_leaves_what_others_committed_since() -> None:
    built = build_table(UNAWARE, START)

    def roll_back_and_write_twice() -> None:
        other = reopen(built.table, built.file_io, seed=5)
        other.rollback(snapshot=1)
        for number in (20, 21):
            other.append(one(built, number))

    path = f"{built.table.location}/snapshot/snapshot-2"
    store = PausingFileIO(built.file_io, path, roll_back_and_write_twice)
    snapshot = reopen(built.table, store, seed=7).append(one(built, 10))
    assert snapshot is not None
    assert store.has_paused
    assert snapshot_ids(built.file_io, built.table.location) == [1, 2, 3]
    new = [built.shape.row(number, 5) for number in (20, 21)]
    assert rows_of(built) == sorted_rows([*first_rows(built), *new])


def test_a_writer_is_waited_for_that_takes_its_snapshot_back() -> None:
    built = adrift()
    path = f"{built.table.location}/snapshot/snapshot-3"
    sleeps: list[float] = []
    effects = replace(
        fixed_effects(3, sleeps=sleeps),
        sleep_ms=lambda _: sleeps.append(built.file_io.delete(path)),
    )
    snapshot = (
        open_catalog(built.file_io, effects=effects).load_table("db.t").append(one(built, 20))
    )
    assert snapshot is not None
    assert (snapshot.id, sleeps) == (2, [True])


def test_a_snapshot_whose_base_expired_is_built_upon() -> None:
    built = build_table(UNAWARE, (*START, Step("write", range(4, 8))))
    built.table.expire_snapshots(retain_max=1, retain_min=1)
    snapshot = reopen(built.table, built.file_io, seed=5).append(one(built, 20))
    assert snapshot is not None
    assert snapshot.id == 3
    base = built.table.parts().snapshots.load(2)
    assert is_after(snapshot, base)
    assert not is_after(snapshot, msgspec.structs.replace(base, uuid="other"))
    assert is_after(msgspec.structs.replace(snapshot, writer_version="java-2.1"), base) is None


def test_the_uuid_of_another_engine_says_nothing() -> None:
    built = build_table(UNAWARE, (*START, Step("write", range(4, 8))))
    path = f"{built.table.location}/snapshot/snapshot-3"
    second = built.table.parts().snapshots.load(2)
    third = msgspec.structs.replace(second, id=3, writer_version="java-2.1")
    built.file_io.write(path, third.to_json())
    snapshot = reopen(built.table, built.file_io, seed=5).append(one(built, 20))
    assert snapshot is not None
    assert snapshot.id == 4
