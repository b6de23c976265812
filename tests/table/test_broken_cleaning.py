"""Cleanings that cannot read something, or meet somebody: nothing goes that is needed."""

from collections.abc import Callable, Iterator

import pytest

from lakebed.errors import (
    CorruptTableError,
    NotFoundError,
    StorageError,
    UnsupportedError,
)
from lakebed.storage.file_io import FileIO
from lakebed.table.table import Table
from support.cleaned_tables import (
    build,
    clean,
    litter,
    paths_in,
)
from support.expiring_tables import (
    NOTHING,
    damage_tag,
    ids_of,
    keep,
    rows_at,
    write,
)
from support.faulty_file_io import FaultyFileIO, calls_to_fail
from support.needed_files import lacking_and_unneeded, put_branch, put_tag
from support.store_listing import read_store
from support.table_builder import BuiltTable


def damage_branch(table: Table) -> None:
    table.file_io.write(table.parts().paths.of_branch("dev").snapshot(9), b"no json")


def damage_schema(table: Table) -> None:
    table.file_io.write(table.parts().paths.of_branch("dev").schema(0), b"no json")


def damage_changelog(table: Table) -> None:
    table.file_io.write(table.parts().paths.changelog(1), b"no json")


def damage_copy(table: Table) -> None:
    table.file_io.write(table.parts().paths.expired_snapshot(1), b"no json")


def damage_list(table: Table) -> None:
    parts = table.parts()
    kept = parts.snapshots.load(ids_of(table)[0])
    table.file_io.write(parts.paths.manifest(kept.base_manifest_list), b"no list")


def damage_manifest(table: Table) -> None:
    parts = table.parts()
    meta = parts.manifests.files(parts.snapshots.load(ids_of(table)[0]))[0]
    table.file_io.write(parts.paths.manifest(meta.file_name), b"no manifest")


def damage_index_manifest(table: Table) -> None:
    parts = table.parts()
    name = parts.snapshots.load(ids_of(table)[-1]).index_manifest
    assert name is not None
    table.file_io.write(parts.paths.manifest(name), b"no index manifest")


def newer_snapshot(table: Table) -> None:
    path = table.parts().paths.snapshot(ids_of(table)[0])
    table.file_io.write(path, table.file_io.read(path).replace(b'"version" : 3', b'"version" : 4'))


def lose_list(table: Table) -> None:
    parts = table.parts()
    kept = parts.snapshots.load(ids_of(table)[0])
    table.file_io.delete(parts.paths.manifest(kept.delta_manifest_list))


def lose_manifest(table: Table) -> None:
    parts = table.parts()
    meta = parts.manifests.files(parts.snapshots.load(ids_of(table)[-1]))[0]
    table.file_io.delete(parts.paths.manifest(meta.file_name))


def lose_index_manifest(table: Table) -> None:
    parts = table.parts()
    name = parts.snapshots.load(ids_of(table)[-1]).index_manifest
    assert name is not None
    table.file_io.delete(parts.paths.manifest(name))


@pytest.mark.parametrize(
    ("damage", "error"),
    [
        (damage_tag, CorruptTableError),
        (damage_branch, CorruptTableError),
        (damage_schema, CorruptTableError),
        (damage_changelog, CorruptTableError),
        (damage_copy, CorruptTableError),
        (damage_list, CorruptTableError),
        (damage_manifest, CorruptTableError),
        (damage_index_manifest, CorruptTableError),
        (newer_snapshot, UnsupportedError),
        (lose_list, NotFoundError),
        (lose_manifest, NotFoundError),
        (lose_index_manifest, NotFoundError),
    ],
)
def test_nothing_is_deleted_when_something_that_may_need_files_cannot_be_read(
    damage: Callable[[Table], None], error: type[Exception]
) -> None:
    built = build("marked")
    litter(built.table)
    damage(built.table)
    before = read_store(built.file_io, "memory:/")
    with pytest.raises(error):
        clean(built.table)
    assert read_store(built.file_io, "memory:/") == before


@pytest.mark.parametrize("directory", ["tag", "snapshot", "branch", "manifest", "bucket-0"])
def test_nothing_is_deleted_when_a_directory_cannot_be_listed(directory: str) -> None:
    built = build("keyed")
    litter(built.table)
    before = read_store(built.file_io, "memory:/")

    class Unlisting(FaultyFileIO):
        def list(self, path: str) -> list:  # type: ignore[type-arg]
            if path.endswith(f"/{directory}"):
                raise StorageError(path, "cannot list")
            return super().list(path)

    with pytest.raises(StorageError, match="cannot list"):
        clean(built.table, Unlisting(built.file_io, 0))
    assert read_store(built.file_io, "memory:/") == before


class Meanwhile(FaultyFileIO):
    """A store where somebody acts just before the n-th call."""

    def __init__(self, inner: FileIO, act_at: int, act: Callable[[], object]) -> None:
        super().__init__(inner, act_at, counts_reads=True)
        self._act = act

    def _is_due(self, method: str, path: str) -> bool:
        if super()._is_due(method, path):
            self._act()
        return False


def acts(built: BuiltTable) -> dict[str, Callable[[], object]]:
    """What others may do to a table with snapshots, the tag `held` and the branch `dev`."""
    table = built.table
    paths = table.parts().paths
    ids = ids_of(table)

    def tag_and_expire() -> None:
        put_tag(table, "late", ids[0])
        keep(table, 1)

    def branch_and_drop_the_tag() -> None:
        put_branch(table, "late", "held")
        table.file_io.delete(paths.tag("held"))
        for path in paths_in(table, "branch/branch-dev"):
            table.file_io.delete(path)

    def roll_back() -> None:
        for each in reversed(ids[1:]):
            table.file_io.delete(paths.snapshot(each))
        write(built, 70)

    return {
        "writes": lambda: write(built, 70, 71),
        "compacts and expires": lambda: (table.compact("full"), keep(table, 1)),
        "tags and expires": tag_and_expire,
        "branches": branch_and_drop_the_tag,
        "rolls back": roll_back,
    }


def interleavings(name: str, act: str) -> Iterator[tuple[BuiltTable, int]]:
    for act_at in calls_to_fail():
        built = build(name)
        litter(built.table)
        store = Meanwhile(built.file_io, act_at, acts(built)[act])
        clean(built.table, store)
        if not store.has_failed:
            assert act_at > 40
            return
        yield built, act_at
    raise AssertionError("the cleaning never came to its end")


@pytest.mark.parametrize(
    ("name", "act"),
    [
        ("marked", "writes"),
        ("marked", "compacts and expires"),
        ("marked", "tags and expires"),
        ("marked", "branches"),
        ("marked", "rolls back"),
        ("changelogs", "compacts and expires"),
    ],
)
def test_whatever_others_do_meanwhile_nothing_that_is_needed_goes(name: str, act: str) -> None:
    for built, act_at in interleavings(name, act):
        branches = [
            path.name.removeprefix("branch-")
            for path in built.file_io.list(built.table.parts().paths.branch_directory)
        ]
        lacking, _ = lacking_and_unneeded(built.table, branches)
        assert lacking == set(), act_at
        assert rows_at(built.table) is not None
        clean(built.table)
        assert lacking_and_unneeded(built.table, branches) == NOTHING, act_at


def test_a_snapshot_that_comes_back_from_its_tag_meanwhile_is_seen() -> None:
    built = build("append")
    litter(built.table)
    table, paths = built.table, built.table.parts().paths
    for path in paths_in(table, "branch/branch-dev"):
        built.file_io.delete(path)
    tagged = rows_at(table, tag="held")

    class RollingBack(FaultyFileIO):
        lists = 0

        def list(self, path: str) -> list:  # type: ignore[type-arg]
            self.lists += path == paths.tag_directory
            if path == paths.tag_directory and self.lists == 2:
                built.file_io.write(paths.snapshot(2), built.file_io.read(paths.tag("held")))
                for each in reversed(ids_of(table)[1:]):
                    built.file_io.delete(paths.snapshot(each))
                built.file_io.delete(paths.tag("held"))
            return super().list(path)

    clean(table, RollingBack(built.file_io, 0))
    assert ids_of(table) == [2]
    assert rows_at(table) == tagged
    assert lacking_and_unneeded(table)[0] == set()
    clean(table)
    assert lacking_and_unneeded(table) == NOTHING
