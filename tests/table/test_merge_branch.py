"""Rows that were appended to a branch, added to another."""

from collections.abc import Callable

import pyarrow as pa
import pytest

import lakebed
from lakebed import changes
from lakebed.catalog.catalog import Catalog
from lakebed.errors import (
    InvalidArgumentError,
    InvalidTableError,
    LakebedError,
    NotFoundError,
    StorageError,
    UnsupportedError,
)
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.branches import branch_table
from lakebed.table.table import Table
from support.effects import open_catalog, reopen
from support.faulty_file_io import FaultyFileIO, calls_to_fail
from support.needed_files import lacking_and_unneeded
from support.store_listing import read_store

PLAIN: dict[str, str] = {}
BUCKETED = {"bucket": "2", "bucket-key": "id"}


class Store:
    """A table of one commit, its branch `dev` of that, and a commit of each since."""

    def __init__(self, options: dict[str, str] = PLAIN) -> None:
        self.file_io = MemoryFileIO()
        self.catalog: Catalog = open_catalog(self.file_io)
        self.catalog.create_database("db")
        schema = lakebed.schema([("id", "BIGINT"), ("v", "STRING")])
        self.main = self.catalog.create_table("db.t", schema=schema, options=options)
        append(self.main, 1)
        self.main.create_tag("fork")
        self.main.create_branch("dev", "fork")
        append(self.dev, 2)
        append(self.main, 3)

    @property
    def dev(self) -> Table:
        return branch_table(self.main, "dev")


def append(table: Table, number: int) -> None:
    table.append(pa.table({"id": [number], "v": [f"row {number}"]}))


def ids(table: Table) -> list[int]:
    return sorted(row["id"] for row in table.scan(["id"]).to_arrow().to_pylist())


@pytest.mark.parametrize("options", [PLAIN, BUCKETED])
def test_what_was_appended_to_a_branch_is_added_once(options: dict[str, str]) -> None:
    store = Store(options)
    merged = store.main.merge_branch("dev")
    assert merged is not None
    assert (merged.id, merged.commit_kind, merged.delta_record_count) == (3, "APPEND", 1)
    assert ids(store.main) == [1, 2, 3]
    assert ids(store.dev) == [1, 2]
    assert store.main.merge_branch("dev") is None
    append(store.dev, 4)
    store.main.merge_branch("dev")
    assert ids(store.main) == [1, 2, 3, 4]
    assert store.main.check().is_clean
    assert store.main.parts().file_io.list(store.main.parts().paths.tag_directory)[0].name == (
        "tag-fork"
    )


def test_a_branch_may_get_the_rows_of_the_table_or_of_another_branch() -> None:
    store = Store()
    store.main.merge_branch("main", "dev")
    assert ids(store.dev) == [1, 2, 3]
    store.main.create_branch("empty")
    empty = branch_table(store.main, "empty")
    append(empty, 9)
    store.main.merge_branch("empty", target_branch="dev")
    assert ids(store.dev) == [1, 2, 3, 9]
    assert ids(store.main) == [1, 3]


def test_what_the_table_compacted_or_deleted_is_not_merged_again() -> None:
    store = Store()
    store.main.merge_branch("dev")
    store.main.delete("id = 2")
    store.main.compact(compact_strategy="full")
    append(store.dev, 5)
    store.main.merge_branch("dev")
    assert ids(store.main) == [1, 3, 5]


def test_files_that_both_have_outlive_either() -> None:
    store = Store()
    store.main.merge_branch("dev")
    store.main.delete_branch("dev")
    assert ids(store.main) == [1, 2, 3]
    assert lacking_and_unneeded(store.main) == (set(), set())


def compact(store: Store) -> None:
    for number in range(10, 16):
        append(store.dev, number)
    assert store.dev.compact(compact_strategy="full") is not None


def change_columns(store: Store) -> None:
    store.catalog.alter_table("db.t$branch_dev", [changes.AddColumn("w", "INT")])


def change_both(store: Store) -> None:
    """The same columns in the end, but other ones in between."""
    store.catalog.alter_table("db.t$branch_dev", [changes.AddColumn("w", "INT")])
    append(store.catalog.load_table("db.t$branch_dev"), 6)
    store.catalog.alter_table("db.t$branch_dev", [changes.DropColumn("w")])


@pytest.mark.parametrize(
    ("act", "error", "match"),
    [
        (compact, InvalidTableError, "COMPACT"),
        (lambda store: store.dev.delete("id = 1"), InvalidTableError, "OVERWRITE"),
        (lambda store: store.main.expire_snapshots(retain_max=1, retain_min=1), None, "expired"),
        (lambda store: store.dev.expire_snapshots(retain_max=1, retain_min=1), None, "expired"),
        (change_columns, InvalidTableError, "other columns"),
        (change_both, InvalidTableError, "schema 1"),
    ],
)
def test_what_cannot_be_told_is_refused_and_nothing_changed(
    act: Callable[[Store], object], error: type[LakebedError] | None, match: str
) -> None:
    store = Store()
    append(store.dev, 7)
    act(store)
    before = read_store(store.file_io, "memory:/")
    with pytest.raises(error or InvalidTableError, match=match):
        store.main.merge_branch("dev")
    assert read_store(store.file_io, "memory:/") == before


def test_mistakes_are_told() -> None:
    store = Store()
    store.main.create_branch("empty")
    with pytest.raises(InvalidArgumentError, match="into itself"):
        store.main.merge_branch("dev", "dev")
    with pytest.raises(InvalidArgumentError, match="no snapshot"):
        store.main.merge_branch("empty")
    with pytest.raises(NotFoundError, match="There is dev, empty"):
        store.main.merge_branch("nothing")
    with pytest.raises(NotFoundError, match="nothing"):
        store.main.merge_branch("dev", "nothing")


@pytest.mark.parametrize(
    ("definition", "match"),
    [
        ({"primary_key": ["id"], "options": {"bucket": 1}}, "primary key"),
        ({"options": {"deletion-vectors.enabled": True}}, "deletion vectors"),
        ({"options": {"row-tracking.enabled": True}}, "tracks its rows"),
    ],
)
def test_other_tables_are_refused(definition: dict[str, object], match: str) -> None:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    schema = lakebed.schema([("id", "BIGINT"), ("v", "STRING")])
    table = catalog.create_table("db.t", schema=schema, **definition)  # type: ignore[arg-type]  # as given
    append(table, 1)
    table.create_tag("x")
    table.create_branch("dev", "x")
    with pytest.raises(UnsupportedError, match=match):
        table.merge_branch("dev")


@pytest.mark.parametrize("stays_down", [False, True])
def test_a_merge_that_breaks_off_leaves_the_rows_of_before_or_after(*, stays_down: bool) -> None:
    files = read_store(Store().file_io, "memory:/")
    for fail_at in calls_to_fail():
        file_io = MemoryFileIO()
        for path, data in files.items():
            file_io.write(path, data)
        table = open_catalog(file_io).load_table("db.t")
        faulty = FaultyFileIO(file_io, fail_at, "before", counts_reads=True, stays_down=stays_down)
        try:
            reopen(table, faulty).merge_branch("dev")
        except (StorageError, LakebedError):
            assert ids(table) in ([1, 3], [1, 2, 3])
        if not faulty.has_failed:
            return
        assert ids(branch_table(table, "dev")) == [1, 2]
        reopen(table, file_io, seed=9).merge_branch("dev")
        assert ids(table) == [1, 2, 3]
        assert table.check().is_clean
    raise AssertionError("the merge never came to its end")
