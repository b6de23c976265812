"""Snapshots are one run where each follows the one before it."""

from msgspec.structs import replace

from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_lineage import runs_of, uuid_after
from support.table_builder import Shape, Step, build_table

FRESH = "12345678-1234-4234-8234-1234567890ab"


def chain() -> list[Snapshot]:
    built = build_table(
        Shape(has_primary_key=False, buckets=-1), [Step("write", range(i, i + 1)) for i in range(4)]
    )
    return built.table.snapshots()


def test_a_chain_is_one_run() -> None:
    snapshots = chain()
    assert runs_of(snapshots) == [snapshots]
    assert runs_of([]) == []


def test_a_missing_id_ends_a_run() -> None:
    first, _, *others = chain()
    assert runs_of([first, *others]) == [[first], others]


def test_a_snapshot_that_says_that_it_follows_another_begins_a_run() -> None:
    first, second, *others = chain()
    anew = replace(second, uuid=uuid_after(first, FRESH))
    assert runs_of([first, anew, *others]) == [[first, anew], others]


def test_a_snapshot_of_another_engine_is_taken_to_follow() -> None:
    first, second, *others = chain()
    foreign = replace(second, uuid=FRESH, writer_version=None)
    assert runs_of([first, foreign]) == [[first, foreign]]
    assert runs_of([foreign, *others]) == [[foreign], others]
