"""Tags are made, changed and deleted while others do so, or expire what they name."""

from collections.abc import Callable

import pytest

from lakebed.errors import AlreadyExistsError, CommitConflictError, NotFoundError, StorageError
from lakebed.storage.file_io import PutResult
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.table import Table
from lakebed.table.tags.making import all_tags
from support.effects import reopen
from support.expiring_tables import KEYED, NOTHING, STEPS, UNAWARE, keep, rows_at
from support.faulty_file_io import FaultMode, FaultyFileIO
from support.needed_files import lacking_and_unneeded
from support.table_builder import build_table

Act = Callable[[Table], object]


class Meanwhile(FaultyFileIO):
    """Has something happen right before the first tag is put, written over or deleted."""

    def __init__(self, table: Table, act: Act, *, after: bool = False) -> None:
        super().__init__(table.file_io, 0)
        self._table = table
        self._act: Act | None = act
        self._after = after

    def put_if_absent(self, path: str, data: bytes) -> PutResult:
        self._before(path)
        result = super().put_if_absent(path, data)
        self._afterwards(path)
        return result

    def write(self, path: str, data: bytes) -> None:
        self._before(path)
        super().write(path, data)
        self._afterwards(path)

    def delete(self, path: str) -> bool:
        self._before(path)
        is_deleted = super().delete(path)
        self._afterwards(path)
        return is_deleted

    def _before(self, path: str) -> None:
        if not self._after:
            self._happen(path)

    def _afterwards(self, path: str) -> None:
        if self._after:
            self._happen(path)

    def _happen(self, path: str) -> None:
        if "/tag/" in path and self._act is not None:
            act, self._act = self._act, None
            act(self._table)


def meanwhile(table: Table, act: Act, *, after: bool = False) -> Table:
    return reopen(table, Meanwhile(table, act, after=after), seed=7)


def expire(table: Table) -> None:
    keep(table, 1)


def tags_of(table: Table) -> dict[str, int]:
    return {tag.name: tag.snapshot.id for tag in all_tags(table.parts())}


@pytest.fixture(params=[KEYED, UNAWARE], ids=["keyed", "append"])
def table(request: pytest.FixtureRequest) -> Table:
    return build_table(request.param, STEPS).table


@pytest.mark.parametrize("after", [False, True])
def test_a_tag_of_a_snapshot_that_expires_meanwhile_is_taken_back(
    table: Table, *, after: bool
) -> None:
    rows = rows_at(table, 3)
    table.create_tag("other", 3)
    with pytest.raises(NotFoundError, match="expired or was rolled back while the tag was made"):
        meanwhile(table, expire, after=after).create_tag("v", 2)
    assert tags_of(table) == {"other": 3}
    assert rows_at(table, tag="other") == rows
    assert lacking_and_unneeded(table) == NOTHING


@pytest.mark.parametrize("after", [False, True])
def test_a_tag_of_a_tag_that_goes_meanwhile_is_taken_back(table: Table, *, after: bool) -> None:
    table.create_tag("source", 2)
    expire(table)
    other = meanwhile(table, lambda table: table.delete_tag("source"), after=after)
    with pytest.raises(NotFoundError, match="expired or was rolled back while the tag was made"):
        other.create_tag("v", 2)
    assert tags_of(table) == {}
    assert lacking_and_unneeded(table) == NOTHING


@pytest.mark.parametrize("after", [False, True])
def test_a_tag_is_as_it_was_when_its_new_snapshot_expires_meanwhile(
    table: Table, *, after: bool
) -> None:
    table.create_tag("v", 1, "1 h")
    rows = rows_at(table, 1)
    made = all_tags(table.parts())
    with pytest.raises(NotFoundError, match="expired or was rolled back while the tag was made"):
        meanwhile(table, expire, after=after).replace_tag("v", 2)
    assert all_tags(table.parts()) == made
    assert rows_at(table, tag="v") == rows
    assert lacking_and_unneeded(table) == NOTHING


def test_of_two_tags_of_one_name_one_is_made(table: Table) -> None:
    other = meanwhile(table, lambda table: table.create_tag("v", 1))
    with pytest.raises(AlreadyExistsError, match="names snapshot 1"):
        other.create_tag("v", 2)
    assert other.create_tag("v", 2, ignore_if_exists=True).snapshot.id == 1
    assert tags_of(table) == {"v": 1}


@pytest.mark.parametrize(
    ("act", "left"),
    [
        (lambda table: table.replace_tag("v"), {"v": 6}),
        (lambda table: table.delete_tag("v"), {}),
    ],
)
def test_a_tag_that_is_changed_before_it_has_its_new_name_is_not_renamed(
    table: Table, act: Act, left: dict[str, int]
) -> None:
    table.create_tag("v", 2)
    expire(table)
    with pytest.raises(CommitConflictError, match="tag 'v' was changed"):
        meanwhile(table, act).rename_tag("v", "w")
    assert tags_of(table) == {name: table.snapshots()[-1].id for name in left}
    assert lacking_and_unneeded(table) == NOTHING


@pytest.mark.parametrize("after", [False, True])
def test_files_go_with_a_tag_whose_snapshot_expires_at_that_time(
    table: Table, *, after: bool
) -> None:
    table.create_tag("v", 2)
    meanwhile(table, expire, after=after).delete_tag("v")
    assert tags_of(table) == {}
    assert lacking_and_unneeded(table) == NOTHING


def test_a_tag_that_goes_while_snapshots_expire_leaves_no_file_that_is_needed(
    table: Table,
) -> None:
    table.create_tag("v", 2)
    table.create_tag("w", 4)
    rows = rows_at(table, 4)

    class Deleting(FaultyFileIO):
        def delete(self, path: str) -> bool:
            if path.endswith("snapshot-3"):
                table.delete_tag("v")
            return super().delete(path)

    keep(reopen(table, Deleting(table.file_io, 0)), 1)
    assert rows_at(table, tag="w") == rows
    assert lacking_and_unneeded(table)[0] == set()


@pytest.mark.parametrize("mode", ["after", "unknown"])
def test_a_put_of_unknown_outcome_is_looked_for(table: Table, mode: FaultMode) -> None:
    faulty = FaultyFileIO(table.file_io, 1, mode)
    unsure = reopen(table, faulty)
    if mode == "after":
        assert unsure.create_tag("v", 2).snapshot.id == 2
    else:
        with pytest.raises(StorageError, match="did not say"):
            unsure.create_tag("v", 2)
    assert faulty.failed_call == f"put_if_absent {table.parts().paths.tag('v')}"
    assert tags_of(table) == ({"v": 2} if mode == "after" else {})


def test_a_look_that_fails_takes_nothing_back() -> None:
    table = build_table(KEYED, STEPS).table
    assert isinstance(table.file_io, MemoryFileIO)

    class Silent(FaultyFileIO):
        def read(self, path: str) -> bytes:
            if path.endswith("snapshot-2") and tags_of(table):
                raise StorageError(path, "no answer")
            return super().read(path)

    with pytest.raises(StorageError, match="no answer"):
        reopen(table, Silent(table.file_io, 0)).create_tag("v", 2)
    assert tags_of(table) == {"v": 2}
