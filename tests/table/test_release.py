"""Files of snapshots that nobody can find any more: what goes with them, and what others keep."""

import random
from collections.abc import Callable, Sequence

import pytest

from lakebed.errors import CorruptTableError, NotFoundError, StorageError
from lakebed.format.snapshot import Snapshot
from lakebed.table.branches import branch_table
from lakebed.table.expiry.release import release
from lakebed.table.metadata.tags import Tags
from lakebed.table.table import Table
from support.effects import reopen
from support.expiring_tables import (
    CHANGELOGS,
    KEYED,
    NOTHING,
    SHAPES,
    STEPS,
    UNAWARE,
    damage_tag,
    ids_of,
    keep,
    rows_at,
)
from support.faulty_file_io import FaultyFileIO
from support.index_files import write_with_indexes
from support.needed_files import lacking_and_unneeded, put_branch, put_tag
from support.store_listing import data_files, list_files, read_store
from support.table_builder import BuiltTable, build_table, sorted_rows


def drop_tags(table: Table, *names: str) -> None:
    """Deletes tags and releases what they named."""
    parts = table.parts()
    tags = Tags(parts.file_io, parts.paths)
    runs = [[tags.load(name).snapshot] for name in names]
    for name in names:
        parts.file_io.delete(parts.paths.tag(name))
    release(parts, runs, with_changelogs=False)


def drop_snapshots(table: Table, first: int) -> list[Snapshot]:
    """Deletes the files of snapshots from one on, as a rollback does."""
    parts = table.parts()
    dropped = [each for each in table.snapshots() if each.id >= first]
    for each in reversed(dropped):
        parts.file_io.delete(parts.paths.snapshot(each.id))
    return dropped


def tagged(name: str) -> BuiltTable:
    """A table all of whose snapshots but the last one expired, each with a tag of its id."""
    built = build_table(SHAPES[name], STEPS)
    for snapshot_id in ids_of(built.table):
        put_tag(built.table, f"t{snapshot_id}", snapshot_id)
    keep(built.table, 1)
    return built


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("seed", range(3))
def test_tags_that_go_in_any_order_leave_what_the_others_need_and_nothing_else(
    name: str, seed: int
) -> None:
    built = tagged(name)
    table = built.table
    parts = table.parts()
    names = Tags(parts.file_io, parts.paths).list_names()
    rows = {each: rows_at(table, tag=each) for each in names}
    random.Random(seed).shuffle(names)
    while names:
        drop_tags(table, names.pop())
        assert {each: rows_at(table, tag=each) for each in names} == {
            each: rows[each] for each in names
        }
        assert lacking_and_unneeded(table) == NOTHING


def test_tags_that_go_at_once_leave_nothing() -> None:
    built = tagged("keyed")
    drop_tags(built.table, "t1", "t3", "t4")
    assert lacking_and_unneeded(built.table) == NOTHING


def test_a_tag_of_a_snapshot_that_is_there_takes_no_file() -> None:
    built = build_table(CHANGELOGS, STEPS)
    put_tag(built.table, "t", 2)
    before = {path for path in list_files(built.file_io, "memory:/") if "/tag/" not in path}
    drop_tags(built.table, "t")
    assert set(list_files(built.file_io, "memory:/")) == before


def test_index_files_and_statistics_go_with_the_last_tag_that_names_them() -> None:
    built = build_table(KEYED, STEPS[:2])
    write_with_indexes(built.table, built.arrow([built.shape.row(1, 9)]))
    newest = ids_of(built.table)[-1]
    put_tag(built.table, "a", newest)
    put_tag(built.table, "b", newest)
    built.table.truncate()
    keep(built.table, 1)
    drop_tags(built.table, "a")
    assert lacking_and_unneeded(built.table) == NOTHING
    assert [*list_files(built.file_io, f"{built.table.location}/index")]
    drop_tags(built.table, "b")
    assert lacking_and_unneeded(built.table) == NOTHING
    assert not [*list_files(built.file_io, f"{built.table.location}/index")]


@pytest.mark.parametrize("name", SHAPES)
def test_snapshots_rolled_back_leave_nothing_but_what_a_tag_of_one_needs(name: str) -> None:
    built = build_table(SHAPES[name], STEPS)
    table = built.table
    past = {each: rows_at(table, each) for each in ids_of(table)}
    put_tag(table, "held", 4)
    dropped = drop_snapshots(table, 3)

    release(table.parts(), [dropped], with_changelogs=True)

    assert lacking_and_unneeded(table) == NOTHING
    assert rows_at(table) == past[2]
    assert rows_at(table, tag="held") == past[4]


@pytest.mark.parametrize("name", SHAPES)
def test_a_tag_that_goes_leaves_what_snapshots_above_a_gap_need(name: str) -> None:
    built = build_table(SHAPES[name], STEPS)
    table = built.table
    newest = ids_of(table)[-1]
    rows = rows_at(table, newest)
    put_tag(table, "held", newest - 1)
    # As a rollback does that breaks off.
    built.file_io.delete(table.parts().paths.snapshot(newest - 1))
    drop_tags(table, "held")
    assert rows_at(table, newest) == rows
    assert not lacking_and_unneeded(table)[0]


@pytest.mark.parametrize("name", SHAPES)
def test_a_branch_that_is_deleted_takes_what_it_alone_wrote(name: str) -> None:
    built = build_table(SHAPES[name], STEPS[:3])
    table = built.table
    put_tag(table, "origin", 2)
    put_branch(table, "dev", "origin")
    dev = branch_table(table, "dev")
    for number in (40, 41, 42):
        dev.append(built.arrow([built.shape.row(number, 0)]))
    keep(dev, 2)
    for step in STEPS[3:]:
        built.take(step)
    keep(table, 1)
    rows = rows_at(table), rows_at(table, tag="origin")
    parts = table.parts()
    runs: Sequence[Sequence[Snapshot]] = [
        dev.snapshots(),
        [Tags(dev.file_io, dev.parts().paths).load("origin").snapshot],
    ]
    for path in list_files(parts.file_io, parts.paths.of_branch("dev").metadata_directory):
        parts.file_io.delete(path)

    release(parts, runs, with_changelogs=True)

    assert lacking_and_unneeded(table) == NOTHING
    assert (rows_at(table), rows_at(table, tag="origin")) == rows


def test_snapshots_that_came_from_a_branch_keep_their_files_when_it_is_deleted() -> None:
    built = build_table(UNAWARE, STEPS[:2])
    table = built.table
    put_tag(table, "origin", 2)
    put_branch(table, "dev", "origin")
    dev = branch_table(table, "dev")
    for number in (40, 41):
        dev.append(built.arrow([built.shape.row(number, 0)]))
    for each in dev.snapshots()[1:]:
        table.file_io.write(table.parts().paths.snapshot(each.id), each.to_json())
    rows = {each.id: rows_at(dev, each.id) for each in dev.snapshots()}
    runs = [dev.snapshots()]
    for path in list_files(built.file_io, dev.parts().paths.metadata_directory):
        built.file_io.delete(path)

    release(table.parts(), runs, with_changelogs=True)

    assert {each: rows_at(table, each) for each in rows} == rows
    assert lacking_and_unneeded(table) == NOTHING


def test_a_branch_keeps_what_it_shares_with_a_tag_that_goes() -> None:
    built = build_table(UNAWARE, STEPS[:2])
    table = built.table
    put_tag(table, "t", 1)
    put_branch(table, "dev", "t")
    rows = rows_at(branch_table(table, "dev"))
    for step in STEPS[2:]:
        built.take(step)
    keep(table, 1)
    drop_tags(table, "t")
    assert rows_at(branch_table(table, "dev")) == rows
    assert lacking_and_unneeded(table, ["dev"]) == NOTHING


def test_what_a_broken_off_expiry_will_delete_is_left_to_the_next_one() -> None:
    built = build_table(UNAWARE, STEPS)
    table = built.table
    put_tag(table, "t", 3)

    class Dying(FaultyFileIO):
        def delete(self, path: str) -> bool:
            if "/snapshot/" not in path:
                raise StorageError(path, "died")
            return super().delete(path)

    with pytest.raises(StorageError, match="died"):
        keep(reopen(table, Dying(built.file_io, 0)), 1)
    before = set(list_files(built.file_io, "memory:/"))
    drop_tags(table, "t")
    assert before - set(list_files(built.file_io, "memory:/")) == {table.parts().paths.tag("t")}
    keep(table, 1)
    assert lacking_and_unneeded(table) == NOTHING


def test_a_changelog_that_outlives_its_snapshot_keeps_its_files() -> None:
    built = build_table(CHANGELOGS, STEPS)
    table = built.table
    parts = table.parts()
    kept = next(each for each in table.snapshots() if each.id > 2 and each.changelog_manifest_list)
    dropped = drop_snapshots(table, 2)
    parts.file_io.write(parts.paths.changelog(kept.id), kept.to_json())

    release(parts, [dropped], with_changelogs=True)

    metas = parts.manifests.changelog_files(kept)
    assert metas
    named = {parts.paths.manifest(each.file_name) for each in metas}
    assert named <= set(list_files(parts.file_io, parts.paths.manifest_directory))
    lacking, unneeded = lacking_and_unneeded(table)
    assert not lacking
    assert all("changelog-" in path or "/manifest/" in path for path in unneeded)


def test_what_was_changed_is_kept_where_it_is_the_changelog() -> None:
    built = build_table(UNAWARE, STEPS[:3])
    table = built.table
    parts = table.parts()
    put_tag(table, "t", 1)
    keep(table, 1)
    tag = Tags(parts.file_io, parts.paths).load("t").snapshot
    parts.file_io.write(parts.paths.changelog(1), tag.to_json())
    added = data_files(parts.file_io, table.location)
    drop_tags(table, "t")
    assert data_files(parts.file_io, table.location) == added
    assert parts.manifests.delta_files(tag)


def damage_manifest(table: Table) -> None:
    parts = table.parts()
    meta = parts.manifests.files(table.snapshots()[0])[0]
    table.file_io.write(parts.paths.manifest(meta.file_name), b"no manifest")


def damage_changelog(table: Table) -> None:
    table.file_io.write(table.parts().paths.changelog(1), b"no json")


@pytest.mark.parametrize("damage", [damage_tag, damage_manifest, damage_changelog])
def test_no_file_is_deleted_when_something_that_may_keep_some_cannot_be_read(
    damage: Callable[[Table], None],
) -> None:
    built = tagged("append")
    damage(built.table)
    before = set(list_files(built.file_io, "memory:/"))
    with pytest.raises(CorruptTableError):
        drop_tags(built.table, "t2")
    assert before - set(list_files(built.file_io, "memory:/")) == {
        built.table.parts().paths.tag("t2")
    }


def test_no_file_is_deleted_when_a_list_is_gone_that_is_needed() -> None:
    built = tagged("append")
    parts = built.table.parts()
    built.file_io.delete(parts.paths.manifest(built.table.snapshots()[0].delta_manifest_list))
    before = read_store(built.file_io, "memory:/").keys()
    with pytest.raises(NotFoundError):
        drop_tags(built.table, "t2")
    assert len(before) == len(read_store(built.file_io, "memory:/")) + 1


def test_snapshots_may_expire_while_files_are_released() -> None:
    built = build_table(KEYED, STEPS)
    table = built.table
    put_tag(table, "t", 2)
    keep(table, 3)

    class Overtaken(FaultyFileIO):
        def read(self, path: str) -> bytes:
            if "manifest-list" in path and len(ids_of(table)) > 1:
                keep(table, 1)
            return super().read(path)

    drop_tags(reopen(table, Overtaken(built.file_io, 0)), "t")
    assert lacking_and_unneeded(table) == NOTHING
    assert rows_at(table) == sorted_rows(built.rows)


def test_a_tag_that_is_renamed_while_tags_are_read_still_keeps_its_files() -> None:
    built = tagged("keyed")
    table = built.table
    paths = table.parts().paths
    built.file_io.write(paths.tag("twin"), built.file_io.read(paths.tag("t2")))
    rows = rows_at(table, tag="twin")

    class Renaming(FaultyFileIO):
        def list(self, path: str) -> list:  # type: ignore[type-arg]
            found = super().list(path)
            if path == paths.tag_directory and built.file_io.exists(paths.tag("twin")):
                built.file_io.write(paths.tag("a"), built.file_io.read(paths.tag("twin")))
                built.file_io.delete(paths.tag("twin"))
            return found

    drop_tags(reopen(table, Renaming(built.file_io, 0)), "t2")
    assert rows_at(table, tag="a") == rows
    assert lacking_and_unneeded(table) == NOTHING
