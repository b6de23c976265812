"""Expiries that fail, break off or meet somebody: nothing goes that is needed."""

from collections.abc import Callable
from contextlib import suppress

import pytest
from msgspec.structs import replace as changed

from lakebed.errors import CorruptTableError, NotFoundError, StorageError
from lakebed.table.table import Table
from support.effects import reopen
from support.expiring_tables import (
    KEYED,
    NOTHING,
    STEPS,
    UNAWARE,
    damage_tag,
    ids_of,
    keep,
    rows_at,
)
from support.faulty_file_io import FaultyFileIO
from support.meeting_store import Meeting
from support.needed_files import lacking_and_unneeded, put_tag
from support.store_listing import list_files, read_store
from support.table_builder import build_table, sorted_rows


def damage_consumer(table: Table) -> None:
    table.file_io.write(table.parts().paths.consumer("broken"), b'{"nextSnapshot": "x"}')


def damage_branch(table: Table) -> None:
    table.file_io.write(table.parts().paths.of_branch("b").snapshot(1), b"no json")


def damage_kept_manifest(table: Table) -> None:
    parts = table.parts()
    kept = parts.snapshots.load(ids_of(table)[-1])
    table.file_io.write(parts.paths.manifest(kept.delta_manifest_list), b"no list")


def damage_changes(table: Table) -> None:
    parts = table.parts()
    meta = parts.manifests.delta_files(parts.snapshots.load(3))[0]
    table.file_io.write(parts.paths.manifest(meta.file_name), b"no manifest")


def test_nothing_is_deleted_when_a_tag_names_what_is_gone_and_the_error_says_so() -> None:
    built = build_table(UNAWARE, STEPS)
    paths = built.table.parts().paths
    first = built.file_io.read(paths.snapshot(1))
    keep(built.table, 3)
    built.file_io.write(paths.tag("late"), first)
    before = read_store(built.file_io, "memory:/")
    with pytest.raises(NotFoundError, match="A snapshot, tag or branch names it, and nothing exp"):
        keep(built.table, 1)
    assert read_store(built.file_io, "memory:/") == before


def test_the_copies_of_an_expiry_stay_that_deletes_their_snapshots_at_this_moment() -> None:
    built = build_table(UNAWARE, STEPS)
    paths, file_io = built.table.parts().paths, built.file_io
    for number in (1, 2):
        file_io.write(paths.expired_snapshot(number), file_io.read(paths.snapshot(number)))
    meeting = Meeting(built, "read", "/.lakebed-expired-2")
    meeting.other = lambda: [file_io.delete(paths.snapshot(number)) for number in (1, 2)]
    with suppress(NotFoundError):
        keep(reopen(built.table, meeting), 100)
    assert meeting.at == ("", "")
    assert all(file_io.exists(paths.expired_snapshot(number)) for number in (1, 2))
    keep(built.table, 3)
    assert lacking_and_unneeded(built.table) == NOTHING


def test_a_tag_keeps_its_files_when_only_the_copy_of_its_own_snapshot_is_left() -> None:
    built = build_table(UNAWARE, STEPS)
    paths, tagged = built.table.parts().paths, {}
    for number in (1, 2):
        put_tag(built.table, f"t{number}", number)
        tagged[f"t{number}"] = rows_at(built.table, tag=f"t{number}")
    copy = built.file_io.read(paths.snapshot(1))
    keep(built.table, 4)
    built.file_io.write(paths.expired_snapshot(1), copy)
    keep(built.table, 2)
    assert {name: rows_at(built.table, tag=name) for name in tagged} == tagged
    assert lacking_and_unneeded(built.table) == NOTHING


DAMAGES = [damage_tag, damage_consumer, damage_branch, damage_kept_manifest, damage_changes]


@pytest.mark.parametrize("damage", DAMAGES)
def test_nothing_is_deleted_when_something_cannot_be_read(
    damage: Callable[[Table], None],
) -> None:
    built = build_table(UNAWARE, STEPS)
    damage(built.table)
    before = read_store(built.file_io, "memory:/")
    with pytest.raises(CorruptTableError):
        keep(built.table, 1)
    assert read_store(built.file_io, "memory:/") == before


def test_nothing_is_deleted_when_a_directory_cannot_be_listed() -> None:
    built = build_table(UNAWARE, STEPS)
    before = read_store(built.file_io, "memory:/")

    class Unlisting(FaultyFileIO):
        def list(self, path: str) -> list:  # type: ignore[type-arg]
            if path.endswith("/tag"):
                raise StorageError(path, "cannot list")
            return super().list(path)

    with pytest.raises(StorageError, match="cannot list"):
        keep(reopen(built.table, Unlisting(built.file_io, 0)), 1)
    assert read_store(built.file_io, "memory:/") == before


def test_a_tag_that_is_made_while_snapshots_expire_keeps_its_files() -> None:
    built = build_table(KEYED, STEPS)
    middle = ids_of(built.table)[2]
    tagged = rows_at(built.table, middle)

    class Tagging(FaultyFileIO):
        def delete(self, path: str) -> bool:
            if path.endswith(f"snapshot-{middle}") and "expired" not in path:
                put_tag(built.table, "late", middle)
            return super().delete(path)

    keep(reopen(built.table, Tagging(built.file_io, 0)), 1)
    assert ids_of(built.table) == [max(built.past)]
    assert rows_at(built.table, tag="late") == tagged
    assert lacking_and_unneeded(built.table) == NOTHING


def test_two_expiries_at_once_delete_what_one_would() -> None:
    built = build_table(UNAWARE, STEPS)
    other = reopen(built.table, built.file_io)

    class Overtaken(FaultyFileIO):
        def write(self, path: str, data: bytes) -> None:
            super().write(path, data)
            if path.endswith("EARLIEST") and keep(other, 1):
                pytest.fail("the snapshots are gone for the other one")

    count = len(ids_of(built.table))
    assert keep(reopen(built.table, Overtaken(built.file_io, 0)), 1) == count - 1
    assert rows_at(built.table) == sorted_rows(built.rows)
    assert lacking_and_unneeded(built.table) == NOTHING


def test_a_rollback_to_a_tag_after_a_broken_off_expiry_loses_nothing() -> None:
    alone = UNAWARE.with_options({"write-only": "true"})
    built = build_table(alone, (STEPS[0], STEPS[5], STEPS[4], STEPS[3]))
    put_tag(built.table, "t", 2)
    tagged = rows_at(built.table, 2)
    break_off(built.table)
    parts = built.table.parts()
    assert ids_of(built.table) == [4]
    parts.file_io.write(parts.paths.snapshot(2), parts.file_io.read(parts.paths.tag("t")))
    for path in (parts.paths.snapshot(4), parts.paths.tag("t"), parts.paths.latest_hint):
        parts.file_io.delete(path)
    more = [built.shape.row(number, 0) for number in (50, 51)]
    for row in more:
        built.table.append(built.arrow([row]))
    for snapshot_id in (2, 3):  # The real engine expires them, and passes over the copies.
        parts.file_io.delete(parts.paths.snapshot(snapshot_id))

    keep(built.table, 1)

    assert rows_at(built.table) == sorted_rows([*tagged, *more])
    assert lacking_and_unneeded(built.table)[0] == set()


def break_off(table: Table) -> None:
    """Expires all snapshots but one, and dies before any file of data is deleted."""

    class Dying(FaultyFileIO):
        def delete(self, path: str) -> bool:
            if "/snapshot/" not in path:
                raise StorageError(path, "died")
            return super().delete(path)

    with pytest.raises(StorageError, match="died"):
        keep(reopen(table, Dying(table.file_io, 0)), 1)


def test_the_next_expiry_ends_one_that_was_broken_off() -> None:
    built = build_table(KEYED, STEPS)
    break_off(built.table)
    assert lacking_and_unneeded(built.table)[1] != set()
    assert rows_at(built.table) == sorted_rows(built.rows)
    assert keep(built.table, 1) == 0
    assert lacking_and_unneeded(built.table) == NOTHING
    assert not [each for each in list_files(built.file_io, "memory:/") if "expired" in each]


def test_a_copy_of_a_snapshot_that_was_rolled_back_is_not_believed() -> None:
    built = build_table(UNAWARE, STEPS[:4])
    parts = built.table.parts()
    first, last = parts.snapshots.load(1), parts.snapshots.load(ids_of(built.table)[-1])
    for snapshot_id in (2, last.id, last.id + 1):
        copy = changed(first, id=snapshot_id, delta_manifest_list=last.delta_manifest_list)
        built.file_io.write(parts.paths.expired_snapshot(snapshot_id), copy.to_json())
    keep(built.table, 1)
    assert rows_at(built.table) == sorted_rows(built.rows)
    assert lacking_and_unneeded(built.table) == NOTHING
    assert not [each for each in list_files(built.file_io, "memory:/") if "expired" in each]
