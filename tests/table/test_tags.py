"""Tags are made, replaced, renamed and deleted, and go with time."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from lakebed.errors import (
    AlreadyExistsError,
    CorruptTableError,
    InvalidArgumentError,
    NotFoundError,
)
from lakebed.format.tag import Tag
from lakebed.table.branches import branch_table
from lakebed.table.table import Table
from lakebed.table.tags.making import all_tags
from support.effects import EPOCH_MS, reopen
from support.expiring_tables import KEYED, NOTHING, SHAPES, STEPS, ids_of, keep, rows_at
from support.needed_files import lacking_and_unneeded, put_branch
from support.store_listing import list_files, read_store
from support.table_builder import BuiltTable, build_table

HOUR_MS = 3_600_000


def tags_of(table: Table) -> dict[str, int]:
    return {tag.name: tag.snapshot.id for tag in all_tags(table.parts())}


def at(table: Table, time_ms: int) -> Table:
    """The same table at a time that stands."""
    return reopen(table, table.file_io, seed=time_ms, clock=lambda: time_ms)


@pytest.fixture
def built() -> BuiltTable:
    return build_table(KEYED, STEPS)


@pytest.fixture
def table(built: BuiltTable) -> Table:
    return built.table


def test_a_tag_names_the_newest_snapshot_or_another(table: Table) -> None:
    newest = table.snapshots()[-1]
    assert table.create_tag("v1") == Tag(
        name="v1", snapshot=newest, create_time=None, time_retained=None
    )
    assert table.create_tag("v2", 2).snapshot.id == 2
    assert tags_of(table) == {"v1": newest.id, "v2": 2}
    paths = table.parts().paths
    assert table.file_io.read(paths.tag("v2")) == table.file_io.read(paths.snapshot(2))


@pytest.mark.parametrize("name", SHAPES)
def test_files_of_a_tag_stay_until_it_is_deleted(name: str) -> None:
    table = build_table(SHAPES[name], STEPS).table
    rows = rows_at(table, 3)
    table.create_tag("v", 3)
    table.create_tag("w", 1)
    keep(table, 1)
    assert rows_at(table, tag="v") == rows
    assert lacking_and_unneeded(table) == NOTHING
    table.delete_tag("w")
    assert rows_at(table, tag="v") == rows
    assert lacking_and_unneeded(table) == NOTHING
    table.delete_tag("v")
    assert lacking_and_unneeded(table) == NOTHING
    assert tags_of(table) == {}


def test_a_snapshot_that_only_a_tag_names_can_have_another(table: Table) -> None:
    rows = rows_at(table, 2)
    table.create_tag("v", 2)
    keep(table, 1)
    table.create_tag("w", 2)
    table.delete_tag("v")
    assert rows_at(table, tag="w") == rows
    assert lacking_and_unneeded(table) == NOTHING


def test_members_of_a_snapshot_that_others_know_are_kept(table: Table) -> None:
    path = table.parts().paths.snapshot(2)
    members = {**json.loads(table.file_io.read(path)), "fromTheFuture": 1}
    table.file_io.write(path, json.dumps(members).encode())
    table.create_tag("v", 2, "1 d")
    found = json.loads(table.file_io.read(table.parts().paths.tag("v")))
    assert found["fromTheFuture"] == 1
    assert found["tagTimeRetained"] == 86400


@pytest.mark.parametrize("name", ["", "  ", "a/b", "a,b", " a", "success-file"])
def test_a_name_that_no_tag_can_have_is_refused(table: Table, name: str) -> None:
    before = read_store(table.file_io, "memory:/")
    with pytest.raises(InvalidArgumentError, match="cannot name a tag"):
        table.create_tag(name)
    table.create_tag("v")
    with pytest.raises(InvalidArgumentError, match="cannot name a tag"):
        table.rename_tag("v", name)
    table.delete_tag("v")
    assert read_store(table.file_io, "memory:/") == before


def test_a_name_that_is_taken_is_refused_unless_that_is_fine(table: Table) -> None:
    made = table.create_tag("v", 1)
    with pytest.raises(AlreadyExistsError, match=r"tag 'v' already exists. It names snapshot 1"):
        table.create_tag("v")
    assert table.create_tag("v", ignore_if_exists=True) == made


def test_what_is_not_there_cannot_be_tagged(table: Table) -> None:
    with pytest.raises(NotFoundError, match=r"snapshot '99' does not exist. Snapshots 1 to"):
        table.create_tag("v", 99)
    with pytest.raises(NotFoundError, match="All snapshots are older"):
        table.create_tag_from_timestamp("v", "2100-01-01")
    with pytest.raises(NotFoundError, match="never written to"):
        build_table(KEYED).table.create_tag("v")
    assert tags_of(table) == {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.replace_tag("x"), "tag 'x' does not exist. There is v"),
        (lambda table: table.rename_tag("x", "y"), "tag 'x' does not exist. There is v"),
    ],
)
def test_a_tag_that_is_not_there_cannot_be_changed(
    table: Table, change: Callable[[Table], object], message: str
) -> None:
    table.create_tag("v")
    with pytest.raises(NotFoundError, match=message):
        change(table)


def test_the_first_snapshot_of_a_time_or_later_is_tagged(table: Table) -> None:
    times = [each.time_millis for each in table.snapshots()]
    for place, time in enumerate(times):
        assert table.create_tag_from_timestamp(f"at{place}", time).snapshot.id == place + 1
        assert table.create_tag_from_timestamp(f"by{place}", time - 1).snapshot.id == place + 1
    keep(table, 1)
    assert table.create_tag_from_timestamp("again", times[1]).snapshot.id == 2
    table.delete_tag(["at1", "by1", "again"])
    assert table.create_tag_from_timestamp("again", times[1]).snapshot.id == 3


def test_a_tag_that_is_replaced_leaves_the_files_that_only_it_needed(table: Table) -> None:
    table.create_tag("v", 2)
    keep(table, 1)
    newest = rows_at(table)
    assert table.replace_tag("v").snapshot.id == ids_of(table)[-1]
    assert rows_at(table, tag="v") == newest
    assert lacking_and_unneeded(table) == NOTHING


def test_a_tag_is_kept_for_longer_by_replacing_it(table: Table) -> None:
    table.create_tag("v", 2, "1 h")
    keep(table, 1)
    rows = rows_at(table, tag="v")
    assert table.replace_tag("v", 2, timedelta(days=2)).time_retained == timedelta(days=2)
    assert rows_at(table, tag="v") == rows
    assert table.replace_tag("v", 2).create_time is None


def test_a_tag_is_renamed_with_all_that_it_says(table: Table) -> None:
    made = table.create_tag("v", 2, "1 h")
    keep(table, 1)
    rows = rows_at(table, tag="v")
    table.create_tag("taken")
    with pytest.raises(AlreadyExistsError, match="tag 'taken' already exists"):
        table.rename_tag("v", "taken")
    table.rename_tag("v", "w")
    assert all_tags(table.parts())[1] == replace(made, name="w")
    assert rows_at(table, tag="w") == rows
    assert lacking_and_unneeded(table) == NOTHING


@pytest.mark.parametrize("names", ["a,b", " a , b ", ["a", "b"], ("a", "b", "a"), "a,b,missing"])
def test_several_tags_are_deleted_at_once(table: Table, names: str | list[str]) -> None:
    for name in ("a", "b", "c"):
        table.create_tag(name, 2)
    keep(table, 1)
    table.delete_tag(names)
    assert tags_of(table) == {"c": 2}
    assert lacking_and_unneeded(table) == NOTHING


def test_nothing_is_deleted_when_a_name_is_blank_or_a_tag_is_damaged(table: Table) -> None:
    table.create_tag("a", 1)
    table.file_io.write(table.parts().paths.tag("z"), b"{}")
    before = read_store(table.file_io, "memory:/")
    with pytest.raises(InvalidArgumentError, match="is blank"):
        table.delete_tag("a,,z")
    with pytest.raises(CorruptTableError):
        table.delete_tag("a,z")
    with pytest.raises(CorruptTableError):
        table.expire_tags()
    assert read_store(table.file_io, "memory:/") == before


def test_tags_go_after_their_time(table: Table) -> None:
    now = at(table, EPOCH_MS)
    now.create_tag("hour", 1, "1 h")
    now.create_tag("day", 2, timedelta(days=1))
    now.create_tag("ever", 3)
    keep(table, 1)
    assert at(table, EPOCH_MS + HOUR_MS).expire_tags() == []
    assert at(table, EPOCH_MS + HOUR_MS + 1).expire_tags() == ["hour"]
    assert lacking_and_unneeded(table) == NOTHING
    assert at(table, EPOCH_MS + 25 * HOUR_MS).expire_tags() == ["day"]
    assert lacking_and_unneeded(table) == NOTHING
    assert tags_of(table) == {"ever": 3}


def test_tags_that_were_made_before_a_time_go_on_request(table: Table) -> None:
    at(table, EPOCH_MS).create_tag("old", 1, "999 d")
    at(table, EPOCH_MS + HOUR_MS).create_tag("young", 2, "999 d")
    assert table.expire_tags("2026-01-01 00:00:00") == []
    assert table.expire_tags("2026-01-01 00:30:00") == ["old"]
    table.create_tag("ever", 3)
    (made,) = (
        each.modification_time_ms
        for each in table.file_io.list(table.parts().paths.tag_directory)
        if each.name == "tag-ever"
    )
    assert table.expire_tags(made) == ["young"]
    assert table.expire_tags(made + 1) == ["ever"]


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu"])
def test_a_tag_tells_the_local_time_of_its_making(zone: str) -> None:
    table = build_table(KEYED, STEPS[:1], session={"lakebed.time-zone": zone}).table
    made = at(table, EPOCH_MS).create_tag("v", time_retained="1 h")
    local = datetime(2026, 1, 1) + timedelta(minutes=345 * (zone != "UTC"))  # noqa: DTZ001
    assert made.create_time == local
    assert at(table, EPOCH_MS + HOUR_MS).expire_tags() == []
    assert at(table, EPOCH_MS + HOUR_MS + 1).expire_tags() == ["v"]


def test_a_table_may_say_how_long_tags_are_kept() -> None:
    shape = KEYED.with_options({"tag.default-time-retained": "2 h"})
    table = build_table(shape, STEPS[:1]).table
    assert table.create_tag("v").time_retained == timedelta(hours=2)
    assert table.create_tag("w", time_retained="3 h").time_retained == timedelta(hours=3)
    with pytest.raises(InvalidArgumentError, match="cannot be below 0"):
        table.create_tag("x", time_retained=timedelta(hours=-1))
    with pytest.raises(InvalidArgumentError, match="time_retained"):
        table.create_tag("x", time_retained="soon")


def test_a_second_automatic_tag_of_a_snapshot_is_refused() -> None:
    shape = KEYED.with_options({"tag.automatic-creation": "process-time"})
    table = build_table(shape, STEPS[:1]).table
    (made,) = tags_of(table)
    with pytest.raises(AlreadyExistsError, match=f"of snapshot '1' already exists. It is {made}"):
        table.create_tag("2030-01-01", 1)
    table.create_tag("no-time", 1)
    with pytest.raises(AlreadyExistsError):
        table.rename_tag("no-time", made)


def test_success_files_come_and_go_with_tags() -> None:
    shape = KEYED.with_options({"tag.create-success-file": "true"})
    table = build_table(shape, STEPS[:2]).table
    table.create_tag("v", 1)
    path = f"{table.location}/tag/tag-success-file"
    mark = json.loads(table.file_io.read(f"{path}/v_SUCCESS"))
    assert mark.keys() == {"creationTime", "modificationTime"}
    table.rename_tag("v", "w")
    assert [*list_files(table.file_io, path)] == [f"{path}/w_SUCCESS"]
    assert tags_of(table) == {"w": 1}
    table.delete_tag("w")
    assert [*list_files(table.file_io, path)] == []


def test_tags_of_a_branch_are_its_own(built: BuiltTable) -> None:
    table = built.table
    table.create_tag("origin", 2)
    put_branch(table, "dev", "origin")
    dev = branch_table(table, "dev")
    dev.append(built.arrow([built.shape.row(77, 0)]))
    dev.create_tag("of-dev")
    rows = rows_at(dev)
    dev.truncate()
    keep(dev, 1)
    keep(table, 1)
    table.delete_tag("origin")
    assert tags_of(table) == {}
    assert rows_at(dev, tag="of-dev") == rows
    assert lacking_and_unneeded(table, ["dev"]) == NOTHING
    dev.delete_tag(["of-dev", "origin"])
    assert lacking_and_unneeded(table, ["dev"]) == NOTHING
