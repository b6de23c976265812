"""Rollbacks: what is the newest again, what goes, and what is kept."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace as changed

from lakebed.errors import (
    CommitConflictError,
    CorruptTableError,
    InvalidArgumentError,
    LakebedError,
    NotFoundError,
)
from lakebed.format.paths import rollback_tag
from lakebed.format.tag import COMMIT_TAG_PREFIX
from lakebed.table.branches import branch_table
from lakebed.table.history_changes.claim import HistoryClaim
from lakebed.table.table import Table
from support.branched_tables import check_whole, tag_names
from support.effects import EPOCH_MS
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
from support.needed_files import lacking_and_unneeded, put_branch, put_tag
from support.store_listing import read_store
from support.table_builder import BuiltTable, Step, build_table, sorted_rows
from support.watermarks import put_watermark

WRITES = tuple(Step("write", (number,)) for number in range(6))


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("back", [0, 1, 3])
def test_a_table_reads_and_is_written_as_of_the_snapshot_that_it_was_rolled_back_to(
    name: str, back: int
) -> None:
    built = build_table(SHAPES[name], STEPS)
    ids = ids_of(built.table)
    target = ids[-1 - back]
    past = {each: rows_at(built.table, each) for each in ids}

    assert built.table.rollback(snapshot=target).id == target

    assert ids_of(built.table) == ids[: len(ids) - back]
    assert {each: rows_at(built.table, each) for each in ids_of(built.table)} == {
        each: past[each] for each in ids[: len(ids) - back]
    }
    check_whole(built, target)
    row = built.shape.row(40, 0)
    built.table.append(built.arrow([row]))
    assert rows_at(built.table) == sorted_rows([*past[target], row])
    assert target + 1 in ids_of(built.table)
    assert lacking_and_unneeded(built.table) == NOTHING


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("by", ["tag", "version", "id"])
def test_a_tag_whose_snapshot_expired_becomes_the_newest_snapshot_again(name: str, by: str) -> None:
    built = build_table(SHAPES[name], STEPS[:2])
    middle = ids_of(built.table)[-1]
    put_tag(built.table, "held", middle)
    tagged = rows_at(built.table)
    for step in STEPS[2:]:
        built.take(step)
    keep(built.table, 2)
    assert middle not in ids_of(built.table)

    if by == "tag":
        built.table.rollback(tag="held")
    else:
        built.table.rollback("held" if by == "version" else middle)

    assert ids_of(built.table) == [middle]
    assert rows_at(built.table) == tagged
    assert built.file_io.read(built.table.parts().paths.earliest_hint) == b"%d" % middle
    assert tag_names(built.table) == ["held"]
    check_whole(built, middle)


def test_tags_and_kept_changelogs_that_are_newer_go_with_their_files_and_others_stay() -> None:
    built = build_table(CHANGELOGS, STEPS[:2])
    middle = ids_of(built.table)[-1]
    put_tag(built.table, "old", 1)
    put_tag(built.table, "target", middle)
    for step in STEPS[2:]:
        built.take(step)
    newest = ids_of(built.table)[-1]
    put_tag(built.table, "new", newest - 1)
    put_tag(built.table, "newest", newest)
    keep(built.table, 1)
    paths = built.table.parts().paths
    tag = built.file_io.read(paths.tag("new"))
    built.file_io.write(paths.changelog(newest - 1), tag)
    built.file_io.write(paths.latest_changelog_hint, b"%d" % (newest - 1))

    built.table.rollback(tag="target")

    assert tag_names(built.table) == ["old", "target"]
    assert not built.file_io.list(paths.changelog_directory)
    check_whole(built, middle)


def test_what_another_branch_needs_stays() -> None:
    built = build_table(UNAWARE, STEPS[:4])
    middle = ids_of(built.table)[-1]
    put_tag(built.table, "fork", middle)
    put_branch(built.table, "dev", "fork")
    branch = branch_table(built.table, "dev")
    branch.append(built.arrow([built.shape.row(60, 0)]))
    forked = rows_at(branch)
    built.take(STEPS[5])

    built.table.rollback("1")
    assert rows_at(branch) == forked
    check_whole(built, 1, "dev")

    branch.rollback(middle)
    assert ids_of(branch) == [middle]
    assert ids_of(built.table) == [1]
    assert lacking_and_unneeded(built.table, ["dev"]) == NOTHING


@pytest.mark.parametrize(("milliseconds", "expected"), [(0, 3), (1, 3), (-1, 2)])
def test_a_rollback_to_a_time_takes_the_newest_snapshot_of_it(
    milliseconds: int, expected: int
) -> None:
    built = build_table(UNAWARE, WRITES)
    time_ms = built.table.snapshots()[2].time_millis
    assert built.table.rollback_to_timestamp(time_ms + milliseconds).id == expected
    check_whole(built, expected)


def test_a_rollback_to_a_time_takes_text_and_refuses_what_no_snapshot_is_as_old_as() -> None:
    built = build_table(UNAWARE, WRITES)
    assert built.table.rollback_to_timestamp("2027-01-01").id == 6
    with pytest.raises(NotFoundError, match=r"of the time 2025-01-01.*Every snapshot is younger"):
        built.table.rollback_to_timestamp("2025-01-01")
    assert ids_of(built.table) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("watermarks", "watermark", "expected"),
    [
        ([None, 10, 20, 20, None, 30], 25, 4),
        ([None, 10, 20, 20, None, 30], 10, 2),
        ([None, 10, 20, 20, None, 30], 30, 6),
        ([None, 10, 20, 20, None, 30], 99, 6),
        ([5, -(2**63), -(2**63), 8, 8, 9], 7, 1),
        ([None, 10, 20, 20, None, 30], 9, None),
        ([None] * 6, 9, None),
    ],
)
def test_a_rollback_to_a_watermark_takes_the_newest_snapshot_up_to_it(
    watermarks: list[int | None], watermark: int, expected: int | None
) -> None:
    built = build_table(UNAWARE, WRITES)
    for snapshot, value in zip(built.table.snapshots(), watermarks, strict=True):
        put_watermark(built.table, snapshot, value)
    if expected is None:
        with pytest.raises(NotFoundError, match="up to the watermark 9"):
            built.table.rollback_to_watermark(watermark)
        assert len(ids_of(built.table)) == 6
    else:
        assert built.table.rollback_to_watermark(watermark).id == expected
        check_whole(built, expected)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({}, InvalidArgumentError, "one of version, snapshot and tag"),
        ({"version": 1, "tag": "t"}, InvalidArgumentError, "one of version, snapshot and tag"),
        ({"snapshot": 9}, NotFoundError, "snapshot '9' does not exist. Snapshots 1 to 6 exist"),
        ({"snapshot": 0}, NotFoundError, "snapshot '0' does not exist"),
        ({"version": "7"}, InvalidArgumentError, "tag 'later' is of snapshot 7, and the newest"),
        ({"tag": "tt"}, NotFoundError, "tag 'tt' does not exist. There is t"),
        ({"tag": "other"}, InvalidArgumentError, "of another snapshot 2 than the table has now"),
        ({"version": " "}, InvalidArgumentError, "' ' cannot name a tag"),
    ],
)
def test_a_rollback_to_what_is_not_there_changes_nothing(
    arguments: dict[str, Any], error: type[LakebedError], words: str
) -> None:
    built = build_table(UNAWARE, WRITES)
    put_tag(built.table, "t", 2)
    newest = built.table.snapshots()[-1]
    paths = built.table.parts().paths
    built.file_io.write(paths.tag("later"), changed(newest, id=7).to_json())
    built.file_io.write(paths.tag("other"), changed(newest, id=2).to_json())
    before = read_store(built.file_io, "memory:/")
    with pytest.raises(error, match=words):
        built.table.rollback(**arguments)
    assert read_store(built.file_io, "memory:/") == before


def begin(built: BuiltTable, operation: str) -> None:
    """Leaves what an operation leaves that breaks off after its first step."""
    HistoryClaim.of(built.table.parts(), operation).take()
    with pytest.raises(CommitConflictError, match=f"A {operation} is under way or broke off"):
        built.take(WRITES[0])


@pytest.mark.parametrize(
    ("operation", "repeat"),
    [
        ("rollback to snapshot 1", lambda table: table.rollback(snapshot=1)),
        ("fast-forward to branch 'dev'", lambda table: table.fast_forward("dev")),
    ],
)
def test_what_broke_off_before_it_changed_anything_is_taken_back_where_its_aim_is_gone(
    operation: str, repeat: Callable[[Table], object]
) -> None:
    built = build_table(UNAWARE, WRITES)
    expired = built.table.snapshots()[0]
    keep(built.table, 2)
    begin(built, operation)
    left = built.table.parts().paths.tag(rollback_tag(expired.id))
    built.file_io.write(left, expired.to_json())
    before = ids_of(built.table)
    with pytest.raises(NotFoundError, match=r"had changed nothing, and is taken back"):
        repeat(built.table)
    assert ids_of(built.table) == before
    with pytest.raises(NotFoundError) as told:
        repeat(built.table)
    assert "taken back" not in str(told.value)
    built.table.append(built.arrow([built.shape.row(1, 1)]))
    assert built.table.check().is_clean


def test_what_a_commit_holds_is_no_snapshot_to_go_back_to_or_to_give_a_tag() -> None:
    built = build_table(UNAWARE, WRITES)
    snapshots = built.table.snapshots()
    keep(built.table, 2)
    held = built.table.parts().paths.tag(f"{COMMIT_TAG_PREFIX}{snapshots[-1].uuid}")
    built.file_io.write(held, changed(snapshots[-1], id=1).to_json())
    with pytest.raises(NotFoundError, match="snapshot '1' does not exist"):
        built.table.rollback(snapshot=1)
    with pytest.raises(NotFoundError, match="snapshot '1' does not exist"):
        built.table.create_tag("t", snapshot=1)
    assert ids_of(built.table) == [each.id for each in snapshots[-2:]]


def test_an_empty_table_cannot_be_rolled_back() -> None:
    built = build_table(KEYED)
    with pytest.raises(NotFoundError, match="The table has no snapshot"):
        built.table.rollback(snapshot=1)
    with pytest.raises(NotFoundError):
        built.table.rollback_to_timestamp(EPOCH_MS)


def test_nothing_is_deleted_where_something_that_would_be_cannot_be_read() -> None:
    built = build_table(UNAWARE, WRITES)
    damage_tag(built.table)
    before = read_store(built.file_io, "memory:/")
    with pytest.raises(CorruptTableError, match="tag-broken"):
        built.table.rollback(snapshot=2)
    assert read_store(built.file_io, "memory:/") == before


def test_a_rollback_stands_when_files_cannot_be_deleted(caplog: pytest.LogCaptureFixture) -> None:
    built = build_table(UNAWARE, WRITES)
    paths = built.table.parts().paths
    built.file_io.write(paths.of_branch("b").snapshot(1), b"no json")
    built.table.rollback(snapshot=2)
    assert ids_of(built.table) == [1, 2]
    assert "rolled back to snapshot 2, but files" in caplog.text
    assert lacking_and_unneeded(built.table)[0] == set()
