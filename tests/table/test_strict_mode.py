"""`commit.strict-mode.last-safe-snapshot`: a commit gives up where others changed partitions."""

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa
import pytest

from lakebed.errors import CommitConflictError
from lakebed.format.snapshot import Snapshot
from lakebed.table.table import Table
from support.effects import reopen
from support.store_listing import orphans
from support.table_builder import BuiltTable, Shape, Step, build_table

KEY = "commit.strict-mode.last-safe-snapshot"
APPEND = Shape(has_primary_key=False, buckets=-1, is_partitioned=True).with_options(
    {"compaction.min.file-num": "2"}
)
KEYED = Shape(buckets=1, is_partitioned=True)
MARKED = Shape(has_primary_key=False, buckets=-1).with_options({"deletion-vectors.enabled": "true"})


def strict(built: BuiltTable, last_safe: int, *, seed: int = 9) -> Table:
    """The table of another process, which watches."""
    schema = built.table.schema
    watching = replace(schema, options={**schema.options, KEY: str(last_safe)})
    return replace(reopen(built.table, built.file_io, seed=seed), schema=watching)


def rows(built: BuiltTable, *numbers: int) -> pa.Table:
    return built.arrow([built.shape.row(number, 5) for number in numbers])


def partition_of(built: BuiltTable, number: int) -> dict[str, str]:
    return {"dt": str(built.shape.row(number, 5)["dt"])}


OTHERS: dict[str, Callable[[BuiltTable], Snapshot | None]] = {
    "an overwrite": lambda built: built.table.overwrite(
        rows(built, 0), partition=partition_of(built, 0)
    ),
    "a compaction": lambda built: built.table.compact("full"),
}


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("shape", [APPEND, KEYED], ids=str)
def test_a_commit_after_a_change_by_another_of_its_partition_is_a_conflict(
    shape: Shape, other: str
) -> None:
    built = build_table(shape, (Step("write", range(4)), Step("write", range(4))))
    assert OTHERS[other](built) is not None
    with pytest.raises(CommitConflictError, match=r"snapshot 3, .* after the last safe snapshot 2"):
        strict(built, 2).append(rows(built, 0))
    assert [snapshot.id for snapshot in built.table.snapshots()] == [1, 2, 3]
    assert orphans(built.table, built.file_io) == set()


def test_rows_marked_by_another_are_a_change_though_no_file_changed() -> None:
    built = build_table(MARKED, (Step("write", range(4)),))
    built.table.delete(where=f"id = {built.shape.row(0, 1)['id']}")
    with pytest.raises(CommitConflictError, match="snapshot 2, OVERWRITE"):
        strict(built, 1).append(rows(built, 0))


def test_an_append_of_another_is_in_the_way_of_an_overwrite_alone() -> None:
    built = build_table(APPEND, (Step("write", range(4)),))
    built.table.append(rows(built, 0))
    assert strict(built, 1).append(rows(built, 0)) is not None
    with pytest.raises(CommitConflictError, match="snapshot 2, APPEND"):
        strict(built, 1, seed=10).overwrite(rows(built, 0), partition=partition_of(built, 0))


@pytest.mark.parametrize("last_safe", [3, -1])
def test_what_is_safe_or_not_watched_is_no_conflict(last_safe: int) -> None:
    built = build_table(APPEND, (Step("write", range(4)), Step("write", range(4))))
    built.table.compact("full")
    assert strict(built, last_safe).append(rows(built, 0)) is not None


def test_a_change_of_another_partition_is_no_conflict() -> None:
    built = build_table(APPEND, (Step("write", range(8)),))
    numbers = {str(built.shape.row(number, 5)["dt"]): number for number in range(8)}
    first, second = list(numbers.values())[:2]
    built.table.overwrite(rows(built, first), partition=partition_of(built, first))
    assert strict(built, 1).append(rows(built, second)) is not None
    with pytest.raises(CommitConflictError):
        strict(built, 1, seed=10).append(rows(built, first))


def test_snapshots_that_are_gone_cannot_be_judged() -> None:
    built = build_table(APPEND, (Step("write", range(4)), Step("write", range(4))))
    built.table.append(rows(built, 0))
    built.table.expire_snapshots(retain_max=1, retain_min=1)
    with pytest.raises(CommitConflictError, match="snapshot 2 expired"):
        strict(built, 1).append(rows(built, 0))
