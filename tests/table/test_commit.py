"""Commits against other writers, and against stores that do not answer."""

import pytest

from lakebed.errors import CommitConflictError, CommitUnknownError, StorageError
from lakebed.storage.file_io import PutResult
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.table import Table
from support.effects import fixed_effects, open_catalog, reopen
from support.rival_commits import KEYED, PARTITIONED, START, UNAWARE, mine, one, rows_of
from support.scripted_file_io import ScriptedFileIO, afterwards, failing, meanwhile, no_answer
from support.store_listing import data_files, orphans, read_snapshot, read_store, snapshot_ids
from support.table_builder import BuiltTable, Shape, Step, build_table, sorted_rows

_UNKNOWN = PutResult.UNKNOWN


@pytest.mark.parametrize("shape", [KEYED, UNAWARE, PARTITIONED], ids=str)
@pytest.mark.parametrize("losses", [1, 2])
def test_a_lost_race_is_run_again_and_both_writes_are_there(shape: Shape, losses: int) -> None:
    built = build_table(shape, START)
    numbers = iter(range(20, 20 + losses))
    others = [meanwhile(lambda: built.table.append(one(built, next(numbers))))] * losses
    table, store = mine(built, *others)
    snapshot = table.append(one(built, 10))
    assert snapshot is not None
    assert snapshot.id == 2 + losses
    assert store.puts == 1 + losses
    new = [shape.row(number, 5) for number in (10, *range(20, 20 + losses))]
    assert rows_of(built) == sorted_rows([*built.rows, *new])
    assert snapshot_ids(built.file_io, table.location) == list(range(1, 3 + losses))
    assert orphans(built.table, built.file_io) == set()
    assert _unnamed_manifests(built) == set()
    assert snapshot.total_record_count == 5 + losses


def _unnamed_manifests(built: BuiltTable) -> set[str]:
    """Manifest lists that no snapshot names: what lost tries wrote and did not clean."""
    location = built.table.location
    named = {
        str(snapshot[key])
        for snapshot_id in snapshot_ids(built.file_io, location)
        for snapshot in [read_snapshot(built.file_io, location, snapshot_id)]
        for key in ("baseManifestList", "deltaManifestList")
    }
    names = {status.name for status in built.file_io.list(f"{location}/manifest")}
    return {name for name in names if name.startswith("manifest-list-")} - named


def test_waits_between_tries_grow_and_stay_below_the_ceiling() -> None:
    options = {"commit.min-retry-wait": "10 ms", "commit.max-retry-wait": "35 ms"}
    built = build_table(UNAWARE.with_options(options), START)
    sleeps: list[float] = []
    others = [meanwhile(lambda: built.table.append(one(built, 1)))] * 4
    store = ScriptedFileIO(built.file_io, others)
    catalog = open_catalog(store, effects=fixed_effects(3, sleeps=sleeps))
    catalog.load_table("db.t").append(one(built, 2))
    assert sleeps == [5.0, 10.0, 17.5, 17.5]


def test_losing_every_try_is_a_conflict_and_leaves_no_file() -> None:
    built = build_table(UNAWARE.with_options({"commit.max-retries": "2"}), START)
    table, store = mine(built, *[meanwhile(lambda: built.table.append(one(built, 1)))] * 9)
    with pytest.raises(CommitConflictError, match=r"3 tries to commit lost .* commit.max-retries"):
        table.append(one(built, 99))
    assert store.puts == 3
    assert built.shape.row(99, 5) not in rows_of(built)
    assert orphans(built.table, built.file_io) == set()


def test_losing_for_longer_than_the_timeout_is_a_conflict() -> None:
    built = build_table(UNAWARE.with_options({"commit.timeout": "50 ms"}), START)
    now = iter(range(0, 100_000, 30))
    store = ScriptedFileIO(
        built.file_io, [meanwhile(lambda: built.table.append(one(built, 1)))] * 9
    )
    table = reopen(built.table, store, seed=7, clock=lambda: next(now))
    with pytest.raises(CommitConflictError, match=r"longer than commit\.timeout"):
        table.append(one(built, 99))
    assert orphans(built.table, built.file_io) == set()


def test_an_overwrite_that_lost_a_race_also_replaces_what_the_winner_wrote() -> None:
    built = build_table(UNAWARE, START)
    table, _ = mine(built, meanwhile(lambda: built.table.append(one(built, 20))))
    table.overwrite(one(built, 1))
    assert rows_of(built) == [built.shape.row(1, 5)]


def test_an_append_that_lost_to_an_overwrite_is_added_to_it() -> None:
    built = build_table(UNAWARE, START)
    table, _ = mine(built, meanwhile(lambda: built.table.overwrite(one(built, 20))))
    table.append(one(built, 1))
    assert rows_of(built) == sorted_rows([built.shape.row(20, 5), built.shape.row(1, 5)])


def test_overwrites_of_two_partitions_do_not_disturb_each_other() -> None:
    built = build_table(PARTITIONED, START)
    table, _ = mine(
        built, meanwhile(lambda: built.table.overwrite(one(built, 1), partition="dynamic"))
    )
    table.overwrite(one(built, 2), partition="dynamic")
    kept = [row for row in built.rows if row["dt"] == built.shape.row(0, 0)["dt"]]
    assert rows_of(built) == sorted_rows([*kept, built.shape.row(1, 5), built.shape.row(2, 5)])


def test_a_delete_whose_file_is_gone_is_a_conflict_and_its_files_are_cleaned() -> None:
    built = build_table(UNAWARE, START)
    table, _ = mine(built, meanwhile(lambda: built.table.delete("id = -4")))
    with pytest.raises(CommitConflictError, match="no longer part of snapshot 2: another writer"):
        table.delete("id = -3")
    assert rows_of(built) == sorted_rows([row for row in built.rows if row["id"] != -4])
    assert orphans(built.table, built.file_io) == set()


def test_a_delete_goes_on_when_the_winner_left_its_files_alone() -> None:
    built = build_table(UNAWARE, (*START, Step("write", (30,))))
    table, _ = mine(built, meanwhile(lambda: built.table.delete("id = 25")))
    table.delete("id = -3")
    gone = {-3, 25}
    assert rows_of(built) == sorted_rows([row for row in built.rows if row["id"] not in gone])


def test_a_bucket_count_that_changed_in_between_is_a_conflict() -> None:
    built = build_table(KEYED, START)
    schema = built.table.schema
    path = f"{built.table.location}/schema/schema-0"
    text = built.file_io.read(path).decode()
    assert '"bucket" : "1"' in text
    wider_store = MemoryFileIO()
    for name, data in read_store(built.file_io, "memory:/").items():
        wider_store.write(name, data)
    wider_store.write(path, text.replace('"bucket" : "1"', '"bucket" : "4"').encode())
    wider = open_catalog(wider_store, seed=9).load_table("db.t")
    table = reopen(wider, wider_store, seed=8)
    old = Table(
        name="old",
        location=table.location,
        schema=schema,
        file_io=wider_store,
        session=table.session,
    )
    wider.overwrite(one(built, 3))
    with pytest.raises(CommitConflictError, match="used 1 buckets, but the partition has 4"):
        old.upsert(one(built, 4))
    assert sorted_rows(wider.scan().to_arrow()) == [built.shape.row(3, 5)]
    assert orphans(wider, wider_store) == set()


@pytest.mark.parametrize("has_effect", [True, False])
@pytest.mark.parametrize("times", [1, 4])
def test_an_unknown_outcome_is_found_out_and_the_commit_is_there_once(
    *, has_effect: bool, times: int
) -> None:
    built = build_table(UNAWARE, START)
    table, _ = mine(built, *[no_answer(has_effect=has_effect)] * times)
    snapshot = table.append(one(built, 10))
    assert snapshot is not None
    assert snapshot.id == 2
    assert rows_of(built) == sorted_rows([*built.rows, built.shape.row(10, 5)])
    assert snapshot_ids(built.file_io, table.location) == [1, 2]


def test_a_store_that_never_answers_is_an_unknown_commit_and_keeps_its_files() -> None:
    built = build_table(UNAWARE, START)
    table, _ = mine(built, *[no_answer(has_effect=False)] * 100)
    before = data_files(built.file_io, table.location)
    with pytest.raises(CommitUnknownError, match=r"snapshot-2: the store did not say .* delete no"):
        table.append(one(built, 10))
    assert len(data_files(built.file_io, table.location) - before) == 1
    assert rows_of(built) == sorted_rows(built.rows)


def test_an_error_after_no_answer_is_still_unknown_and_never_deletes() -> None:
    built = build_table(UNAWARE, START)
    broken = failing(StorageError("memory:/x", "the network is gone"))
    table, _ = mine(built, no_answer(has_effect=False), *[broken] * 100)
    before = data_files(built.file_io, table.location)
    with pytest.raises(CommitUnknownError):
        table.append(one(built, 10))
    assert len(data_files(built.file_io, table.location) - before) == 1
    assert rows_of(built) == sorted_rows(built.rows)


def test_a_commit_whose_put_is_never_answered_and_can_be_read_is_there() -> None:
    built = build_table(UNAWARE, START)
    table, _ = mine(built, *[no_answer(has_effect=True)] * 100)
    assert table.append(one(built, 10)) is not None
    assert rows_of(built) == sorted_rows([*built.rows, built.shape.row(10, 5)])


def test_an_error_after_no_answer_that_passes_is_found_out() -> None:
    built = build_table(UNAWARE, START)
    broken = failing(StorageError("memory:/x", "the network is gone for a while"))
    table, _ = mine(built, no_answer(has_effect=True), broken)
    assert table.append(one(built, 10)) is not None
    assert rows_of(built) == sorted_rows([*built.rows, built.shape.row(10, 5)])


def test_an_unknown_commit_that_another_writer_built_upon_is_ours_all_the_same() -> None:
    built = build_table(UNAWARE, START)
    unknown = afterwards(lambda: built.table.append(one(built, 20)), _UNKNOWN)
    table, _ = mine(built, unknown)
    snapshot = table.append(one(built, 10))
    assert snapshot is not None
    assert snapshot.id == 2
    new = [built.shape.row(10, 5), built.shape.row(20, 5)]
    assert rows_of(built) == sorted_rows([*built.rows, *new])


def test_an_unknown_put_that_lost_is_a_conflict_whose_files_are_kept() -> None:
    built = build_table(UNAWARE, START)

    def lose(_: object) -> object:
        built.table.append(one(built, 20))
        return _UNKNOWN

    table, _ = mine(built, lose)  # type: ignore[arg-type]  # puts nothing, so takes anything
    before = data_files(built.file_io, table.location)
    with pytest.raises(CommitConflictError, match="there for a moment at most") as failed:
        table.append(one(built, 10))
    assert failed.value.was_visible
    assert len(data_files(built.file_io, table.location) - before) == 2
    assert rows_of(built) == sorted_rows([*built.rows, built.shape.row(20, 5)])


def test_a_snapshot_that_a_foreign_writer_replaced_is_told_to_be_lost() -> None:
    built = build_table(UNAWARE, START)
    path = f"{built.table.location}/snapshot/snapshot-2"

    def replace() -> None:
        """As a writer does that renames over what is there."""
        store = MemoryFileIO()
        for name, data in read_store(built.file_io, "memory:/").items():
            if name != path:
                store.write(name, data)
        reopen(built.table, store, seed=50).append(one(built, 20))
        for name, data in read_store(store, "memory:/").items():
            built.file_io.write(name, data)

    table, _ = mine(built, afterwards(replace))
    with pytest.raises(CommitConflictError, match="Write the rows again"):
        table.append(one(built, 10))
    assert rows_of(built) == sorted_rows([*built.rows, built.shape.row(20, 5)])


def test_a_replayed_identifier_commits_nothing_and_leaves_nothing() -> None:
    built = build_table(UNAWARE)
    for identifier in (1, 2, 2, 1, 3):
        with built.table.writer(user="job", identifier=identifier) as writer:
            writer.append(one(built, identifier))
    wanted = [built.shape.row(number, 5) for number in (1, 2, 3)]
    assert rows_of(built) == sorted_rows(wanted)
    assert orphans(built.table, built.file_io) == set()
    latest = built.table.latest_snapshot()
    assert latest is not None
    assert (latest.id, latest.commit_user, latest.commit_identifier) == (3, "job", 3)


def test_a_replay_is_recognised_below_the_commits_of_others_and_tells_users_apart() -> None:
    built = build_table(UNAWARE)
    for user, identifier in [("a", 5), ("b", 9), ("a", 5), ("b", 8), ("c", 1)]:
        built.table.append(one(built, 50))
        with built.table.writer(user=user, identifier=identifier) as writer:
            writer.append(one(built, identifier))
    ids = [snapshot.commit_identifier for snapshot in built.table.snapshots()]
    assert [number for number in ids if number < 100] == [5, 9, 1]


def test_an_error_within_a_writer_commits_nothing_and_leaves_nothing() -> None:
    options = {"write-buffer-size": "1 b", "write-buffer-spillable": "false"}
    built = build_table(KEYED.with_options(options), START)

    def fail() -> None:
        with built.table.writer() as writer:
            writer.upsert(one(built, 10))
            assert orphans(built.table, built.file_io)
            raise LookupError("the user's own")

    with pytest.raises(LookupError):
        fail()
    assert rows_of(built) == sorted_rows(built.rows)
    assert orphans(built.table, built.file_io) == set()


def test_several_writes_of_one_writer_are_one_snapshot() -> None:
    built = build_table(KEYED, START)
    with built.table.writer() as writer:
        writer.upsert(one(built, 10))
        writer.append(one(built, 11))
        writer.upsert(one(built, 10, version=6))
    assert writer.snapshot is not None
    assert snapshot_ids(built.file_io, built.table.location) == [1, 2]
    assert rows_of(built) == sorted_rows(
        [*built.rows, built.shape.row(10, 6), built.shape.row(11, 5)]
    )


def test_commit_users_are_fresh_and_take_the_prefix() -> None:
    built = build_table(UNAWARE.with_options({"commit.user-prefix": "team"}), (*START, *START))
    users = [snapshot.commit_user for snapshot in built.table.snapshots()]
    assert len(set(users)) == 2
    assert all(user.startswith("team_") for user in users)


def test_effects_of_the_clock_reach_the_snapshot() -> None:
    built = build_table(UNAWARE)
    table = reopen(built.table, built.file_io, clock=lambda: 1_700_000_000_123)
    snapshot = table.append(one(built, 1))
    assert snapshot is not None
    assert snapshot.time_millis == 1_700_000_000_123
