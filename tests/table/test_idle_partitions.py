"""`partition_idle_time`: which partitions nobody changed for a while."""

import itertools
from datetime import timedelta

import pyarrow as pa
import pytest

from lakebed import schema
from lakebed.errors import InvalidArgumentError
from lakebed.format.snapshot import CommitKind
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.table import Table
from support.effects import EPOCH_MS, open_catalog, reopen

HOUR_MS = 3_600_000
SEEDS = itertools.count(1)


def at(table: Table, hours: float) -> Table:
    """The table when some hours have gone by."""
    now = EPOCH_MS + round(hours * HOUR_MS)
    return reopen(table, table.file_io, seed=next(SEEDS), clock=lambda: now)


@pytest.fixture
def table() -> Table:
    """Partition 0 got rows at 0 h and 1 h, partition 1 at 0 h and 5 h."""
    catalog = open_catalog(MemoryFileIO(), options={"lakebed.time-zone": "Asia/Tokyo"})
    catalog.create_database("db")
    made = catalog.create_table(
        "db.t",
        schema=schema([("id", "INT NOT NULL"), ("p", "INT NOT NULL")]),
        primary_key=["id", "p"],
        partition_by=["p"],
        options={"bucket": 1, "write-only": True},
    )
    for hours, partition in ((0, 0), (0, 1), (1, 0), (5, 1)):
        rows = {"id": pa.array([1], pa.int32()), "p": pa.array([partition], pa.int32())}
        at(made, hours).append(pa.table(rows))
    return made


@pytest.mark.parametrize(
    ("hours", "idle_time", "partitions"),
    [
        (6, None, {0, 1}),
        (6, "0 s", {0, 1}),
        (6, timedelta(hours=1), {0, 1}),
        (6, "61 min", {0}),
        (6, timedelta(hours=5), {0}),
        (6, "5 h 1", None),
        (6, timedelta(seconds=-1), None),
        (5.9, "5 h", set()),
        (9, " 4 h ", {0, 1}),
    ],
)
def test_partitions_that_were_changed_within_the_time_are_not_compacted(
    table: Table, *, hours: float, idle_time: str | timedelta | None, partitions: set[int] | None
) -> None:
    later = at(table, hours)
    if partitions is None:
        with pytest.raises(InvalidArgumentError, match="partition_idle_time"):
            later.compact(partition_idle_time=idle_time)
        return
    planned = later.compact(partition_idle_time=idle_time, dry_run=True)["directory"].to_pylist()
    assert {int(str(path).split("/p=")[1][0]) for path in planned} == partitions
    snapshot = later.compact(partition_idle_time=idle_time)
    assert (snapshot is not None) == bool(partitions)
    assert snapshot is None or snapshot.commit_kind is CommitKind.COMPACT


def test_other_choices_of_partitions_hold_beside_the_time(table: Table) -> None:
    later = at(table, 6)
    planned = later.compact(partitions={"p": 1}, partition_idle_time="2 h", dry_run=True)
    assert planned.num_rows == 0
    planned = later.compact(where="p = 0", partition_idle_time="2 h", dry_run=True)
    assert planned.num_rows == 1


def test_a_table_without_files_has_no_idle_partitions(table: Table) -> None:
    table.truncate()
    assert at(table, 6).compact(partition_idle_time="1 s") is None
