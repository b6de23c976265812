"""Hints are hints: whatever they say, the newest and the oldest snapshot are found."""

import pytest

from support.effects import reopen
from support.meeting_store import Meeting
from support.table_builder import BuiltTable, Shape, Step, build_table, sorted_rows

UNAWARE = Shape(has_primary_key=False, buckets=-1)


@pytest.fixture
def built() -> BuiltTable:
    return build_table(UNAWARE, [Step("write", (number,)) for number in range(5)])


def hint(built: BuiltTable, name: str) -> str:
    return f"{built.table.location}/snapshot/{name}"


def test_hints_are_written_as_plain_numbers(built: BuiltTable) -> None:
    assert built.file_io.read(hint(built, "LATEST")) == b"5"
    assert built.file_io.read(hint(built, "EARLIEST")) == b"1"


def test_a_write_only_table_has_no_hint_of_the_earliest() -> None:
    built = build_table(UNAWARE.with_options({"write-only": "true"}), [Step("write", (1,))])
    assert built.file_io.read(hint(built, "LATEST")) == b"1"
    assert not built.file_io.exists(hint(built, "EARLIEST"))


@pytest.mark.parametrize(
    "text",
    [b"3", b"1", b"9", b"0", b"-1", b"", b"five", b"\xff\xfe", b"5\n", b" 5 ", b"5.0", b"9" * 5000],
)
@pytest.mark.parametrize("name", ["LATEST", "EARLIEST"])
def test_any_hint_is_read_past(built: BuiltTable, name: str, text: bytes) -> None:
    built.file_io.write(hint(built, name), text)
    latest = built.table.latest_snapshot()
    assert latest is not None
    assert latest.id == 5
    assert built.table.parts().snapshots.earliest_id() == (
        int(text) if name == "EARLIEST" and text.strip() in {b"3", b"5"} else 1
    )
    assert sorted_rows(built.table.scan().to_arrow()) == sorted_rows(built.rows)
    built.take(Step("write", (7,)))
    assert built.file_io.read(hint(built, "LATEST")) == b"6"
    assert sorted_rows(built.table.scan().to_arrow()) == sorted_rows(built.rows)


def test_missing_hints_are_read_past(built: BuiltTable) -> None:
    for name in ("LATEST", "EARLIEST"):
        built.file_io.delete(hint(built, name))
    assert built.table.parts().snapshots.latest_id() == 5
    assert built.table.parts().snapshots.earliest_id() == 1
    built.take(Step("write", (7,)))
    assert sorted_rows(built.table.scan().to_arrow()) == sorted_rows(built.rows)


@pytest.mark.parametrize("has_hint", [True, False])
def test_a_snapshot_that_goes_before_it_is_read_was_not_the_newest(
    built: BuiltTable, *, has_hint: bool
) -> None:
    if not has_hint:
        built.file_io.delete(hint(built, "LATEST"))
    store = Meeting(built, "read", "snapshot-5")
    store.other = lambda: built.file_io.delete(hint(built, "snapshot-5"))
    latest = reopen(built.table, store).latest_snapshot()
    assert latest is not None
    assert latest.id == 4


def test_other_names_in_the_directory_are_passed_over(built: BuiltTable) -> None:
    for name in (".snapshot-9.x.tmp", "snapshot-9.bak", "snapshot-", "snapshot-x", "other"):
        built.file_io.write(hint(built, name), b"{}")
    built.file_io.delete(hint(built, "LATEST"))
    assert built.table.parts().snapshots.list_ids() == [1, 2, 3, 4, 5]
    latest = built.table.latest_snapshot()
    assert latest is not None
    assert latest.id == 5


def test_snapshots_that_expired_are_neither_listed_nor_needed(built: BuiltTable) -> None:
    for snapshot_id in (1, 2):
        built.file_io.delete(hint(built, f"snapshot-{snapshot_id}"))
    assert [snapshot.id for snapshot in built.table.snapshots()] == [3, 4, 5]
    assert built.table.parts().snapshots.earliest_id() == 3
    built.take(Step("write", (7,)))
    assert sorted_rows(built.table.scan().to_arrow()) == sorted_rows(built.rows)
