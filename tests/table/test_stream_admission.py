"""How much one micro-batch takes, and that a position means the same to whoever plans it again."""

import pyarrow as pa
import pytest

from lakebed.errors import InvalidArgumentError, NotFoundError
from lakebed.format.schema_definition import schema
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.streaming.admission import admitted
from lakebed.table.streaming.position import Position
from lakebed.table.streaming.steps import Following, steps_between
from lakebed.table.table import Table
from support.effects import open_catalog


@pytest.fixture
def table() -> Table:
    """Four commits of two rows, each in two files."""
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    columns = schema([("k", "INT"), ("dt", "STRING")])
    table = catalog.create_table("db.t", schema=columns, partition_by=["dt"])
    for number in range(4):
        table.append(pa.table({"k": pa.array([number, number], pa.int32()), "dt": ["a", "b"]}))
    return table


def follow(table: Table, **options: str | int) -> Following:
    given = {f"read.stream.{key}": value for key, value in options.items()}
    return table.following(options={"scan.snapshot-id": 1, **given})


def batches(following: Following) -> list[int]:
    """Rows of each micro-batch until there is no more."""
    position, sizes = following.beginning.find(), []
    while (end := admitted(following, position)) != position:
        steps = steps_between(following, position, end)
        sizes.append(sum(split.row_count for step in steps for split in step.splits))
        position = end
    return sizes


LIMITS = [
    ({}, [8]),
    ({"maxRowsPerTrigger": 3}, [3, 3, 2]),
    ({"maxRowsPerTrigger": 1}, [1] * 8),
    ({"maxFilesPerTrigger": 5}, [5, 3]),
    ({"maxBytesPerTrigger": 1}, [1] * 8),
    ({"maxFilesPerTrigger": 5, "maxRowsPerTrigger": 2}, [2, 2, 2, 2]),
]


@pytest.mark.parametrize(("limits", "sizes"), LIMITS, ids=str)
def test_a_micro_batch_takes_at_least_one_file_and_no_more_than_its_limits(
    table: Table, limits: dict[str, int], sizes: list[int]
) -> None:
    assert batches(follow(table, **limits)) == sizes


def test_what_was_planned_is_read_even_if_options_say_later_to_wait(table: Table) -> None:
    start = Position(snapshot_id=1)
    end = admitted(follow(table), start)
    waiting = table.following(options={"streaming.read.snapshot.delay": "1 h"})
    steps = steps_between(waiting, start, end)
    assert [step.snapshot.id for step in steps] == [1, 2, 3, 4]


def test_what_was_planned_and_is_gone_is_an_error_and_no_gap(table: Table) -> None:
    start = Position(snapshot_id=1)
    end = admitted(follow(table), start)
    table.rollback(snapshot=2)
    with pytest.raises(NotFoundError, match=r"3 of .*It is not there: the table was rolled back"):
        steps_between(follow(table), start, end)


def test_limits_do_not_hold_where_spark_says_so(table: Table) -> None:
    following = follow(table, maxRowsPerTrigger=1)
    end = admitted(following, following.beginning.find(), is_limited=False)
    assert (end.snapshot_id, end.is_done) == (4, True)


def test_nothing_later_than_the_end_of_available_now_is_taken(table: Table) -> None:
    following = follow(table)
    end = admitted(following, following.beginning.find(), up_to=2)
    assert (end.snapshot_id, end.is_done) == (2, True)
    assert admitted(following, end, up_to=2) == end


@pytest.mark.parametrize(
    ("rows", "waited_ms", "takes"),
    [(8, 10, True), (9, 10, False), (9, 1001, True), (9, None, True)],
)
def test_few_rows_wait_for_more_but_not_for_ever(
    table: Table, rows: int, waited_ms: int | None, *, takes: bool
) -> None:
    following = follow(table, minRowsPerTrigger=rows, maxTriggerDelayMs=1000)
    start = following.beginning.find()
    assert (admitted(following, start, waited_ms=waited_ms) != start) is takes


def test_a_position_in_a_snapshot_goes_through_json_to_another_process(table: Table) -> None:
    end = admitted(follow(table, maxRowsPerTrigger=3), Position(snapshot_id=1))
    kept = Position.from_json(end.to_json())
    assert kept == end
    assert (kept.snapshot_id, kept.index, kept.total, kept.is_done) == (2, 0, 2, False)
    (step, *_) = steps_between(follow(table), kept, Position(snapshot_id=2, index=1, total=2))
    assert [split.partition for split in step.splits] == [("b",)]


def test_a_position_of_paimons_connector_goes_on_after_the_end_of_a_snapshot(table: Table) -> None:
    theirs = {"snapshotId": 2, "index": 0, "scanSnapshot": False, "totalSplits": 1}
    step = follow(table).next_step(Position.from_json(theirs))
    assert step is not None
    assert (step.snapshot.id, step.first) == (3, 0)


def test_a_position_that_does_not_say_whether_a_snapshot_was_read_is_refused() -> None:
    theirs = {"snapshotId": 2, "index": 0, "scanSnapshot": False}
    with pytest.raises(InvalidArgumentError, match=r"whether all of snapshot 2 was read.* = 3, or"):
        Position.from_json(theirs)


def test_a_snapshot_that_is_cut_otherwise_is_an_error(table: Table) -> None:
    kept = Position(snapshot_id=2, index=0, total=3)
    with pytest.raises(NotFoundError, match="planned 3 splits of it, and now there are 2"):
        follow(table).next_step(kept)


@pytest.mark.parametrize("value", [{}, {"snapshotId": "1", "index": 0, "scanSnapshot": False}])
def test_an_offset_of_another_source_is_refused(value: dict[str, object]) -> None:
    with pytest.raises(InvalidArgumentError, match="checkpoint is of another source"):
        Position.from_json(value)


@pytest.mark.parametrize(
    "options", [{"maxRowsPerTrigger": 0}, {"minRowsPerTrigger": 5}, {"maxFilesPerTrigger": "x"}]
)
def test_limits_that_cannot_be_are_refused(table: Table, options: dict[str, str | int]) -> None:
    with pytest.raises(InvalidArgumentError):
        follow(table, **options)
