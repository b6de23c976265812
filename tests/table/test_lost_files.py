"""Data files that somebody deleted are taken out of the table."""

import pytest

from lakebed.errors import CommitConflictError, InvalidArgumentError
from lakebed.format.snapshot import CommitKind
from support.effects import reopen
from support.expiring_tables import KEYED, MARKED, NOTHING, STEPS, UNAWARE, rows_at
from support.needed_files import lacking_and_unneeded
from support.scripted_file_io import ScriptedFileIO, meanwhile
from support.store_listing import data_files
from support.table_builder import BuiltTable, Shape, Step, build_table, sorted_rows

HISTORY = (Step("write", range(4)), Step("write", range(4, 9)))
SHAPES = {
    "append": UNAWARE,
    "keyed": KEYED,
    "postponed": Shape(buckets=-2),
    "marked": MARKED,
}


def lose(built: BuiltTable) -> set[str]:
    """Deletes the data files that the newest snapshot added."""
    parts, snapshot = built.table.parts(), built.table.latest_snapshot()
    assert snapshot is not None
    entries = parts.manifests.entries(parts.manifests.delta_files(snapshot))
    names = set(entries["file_name"].to_pylist())
    lost = {
        path
        for path in data_files(built.file_io, built.table.location)
        if path.rpartition("/")[2] in names
    }
    for path in lost:
        built.file_io.delete(path)
    return lost


@pytest.mark.parametrize("name", SHAPES)
def test_the_table_goes_on_without_the_files_that_are_lost(name: str) -> None:
    built = build_table(SHAPES[name], HISTORY)
    lost = lose(built)
    assert lost
    before = built.table.latest_snapshot()
    assert built.table.remove_unexisting_files(dry_run=True) == sorted(lost)
    assert built.table.latest_snapshot() == before
    assert built.table.remove_unexisting_files() == sorted(lost)
    snapshot = built.table.latest_snapshot()
    assert snapshot is not None
    assert before is not None
    assert (snapshot.id, snapshot.commit_kind) == (before.id + 1, CommitKind.OVERWRITE)
    if name != "postponed":
        assert rows_at(built.table) == sorted_rows(built.rows[:4])
    assert lacking_and_unneeded(built.table)[0] == lost
    built.table.expire_snapshots(retain_max=1, retain_min=1)
    assert lacking_and_unneeded(built.table) == NOTHING
    assert built.table.remove_unexisting_files() == []


def test_the_deletion_vectors_of_lost_files_go_with_them() -> None:
    built = build_table(MARKED, (*HISTORY, Step("delete", (0, 5))))
    parts = built.table.parts()
    vectors = parts.manifests.index_files(parts.snapshots.load(4))
    marked = [each for one in vectors for each in one.deletion_vectors_ranges or ()]
    assert len(marked) == 2
    lost = marked[0].data_file_name
    built.file_io.delete(f"{built.table.location}/bucket-0/{lost}")
    built.table.remove_unexisting_files()
    left = parts.manifests.index_files(parts.snapshots.load(5))
    names = [each.data_file_name for one in left for each in one.deletion_vectors_ranges or ()]
    assert names == [marked[1].data_file_name]
    assert len(rows_at(built.table)) in (3, 4)


def test_a_table_that_lacks_nothing_stays_as_it_is() -> None:
    built = build_table(UNAWARE, STEPS)
    before = built.table.latest_snapshot()
    assert built.table.remove_unexisting_files() == []
    assert built.table.latest_snapshot() == before
    assert build_table(UNAWARE).table.remove_unexisting_files() == []


def test_a_file_that_no_listing_shows_is_looked_for_by_its_path() -> None:
    built = build_table(UNAWARE, HISTORY)

    class Forgetful(ScriptedFileIO):
        def list(self, path: str) -> list:  # type: ignore[type-arg]
            return [] if "/bucket-" in path else super().list(path)

    table = reopen(built.table, Forgetful(built.file_io, []))
    assert table.remove_unexisting_files() == []


def test_a_file_that_was_rewritten_meanwhile_is_a_conflict() -> None:
    built = build_table(KEYED, HISTORY)
    lose(built)
    other = reopen(built.table, built.file_io, seed=9)
    script = [meanwhile(lambda: other.overwrite(built.arrow([built.shape.row(1, 1)])))]
    table = reopen(built.table, ScriptedFileIO(built.file_io, script))
    with pytest.raises(CommitConflictError):
        table.remove_unexisting_files()
    assert len(rows_at(built.table)) == 1


def test_a_number_that_cannot_be_is_refused() -> None:
    built = build_table(UNAWARE)
    with pytest.raises(InvalidArgumentError, match="parallelism is -1"):
        built.table.remove_unexisting_files(parallelism=-1)


def gap(*lost: int) -> BuiltTable:
    """A table of five snapshots that lacks some."""
    built = build_table(UNAWARE, [Step("write", (number,)) for number in range(5)])
    for each in lost:
        built.file_io.delete(built.table.parts().paths.snapshot(each))
    return built


def test_the_hint_names_the_first_snapshot_behind_a_gap() -> None:
    built = gap(2)
    assert built.table.repair_earliest_snapshot(3) == 1
    hint = built.file_io.read(built.table.parts().paths.earliest_hint)
    assert hint == b"3"
    assert built.table.repair_earliest_snapshot(3) == 3


@pytest.mark.parametrize(
    ("lost", "snapshot_id", "words"),
    [
        ((2,), 2, "do not follow one another"),
        ((2,), 4, "there is snapshot 3"),
        ((2,), 6, "there is none"),
        ((2, 4), 3, "do not follow one another"),
        ((2,), 0, "before 1, which is the oldest"),
        ((1, 2, 3, 4, 5), 1, "has no snapshot"),
    ],
)
def test_no_other_snapshot_can_be_the_earliest(
    lost: tuple[int, ...], snapshot_id: int, words: str
) -> None:
    built = gap(*lost)
    with pytest.raises(InvalidArgumentError, match=words):
        built.table.repair_earliest_snapshot(snapshot_id)


@pytest.mark.parametrize("hint", [None, b"", b"9", b"1", b"x"])
def test_hints_that_are_missing_or_stale_mislead_nobody(hint: bytes | None) -> None:
    built = gap(1)
    paths = built.table.parts().paths
    for path in (paths.earliest_hint, paths.latest_hint):
        built.file_io.delete(path)
        if hint is not None:
            built.file_io.write(path, hint)
    snapshots = built.table.parts().snapshots
    assert (snapshots.earliest_id(), snapshots.latest_id()) == (2, 5)
    built.table.append(built.arrow([built.shape.row(9, 9)]))
    assert snapshots.latest_id() == 6
