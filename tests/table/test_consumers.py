"""Consumers: positions that move ahead, are reset, cleared, and forgotten."""

import pytest

from lakebed.errors import CorruptTableError, InvalidArgumentError, NotFoundError
from lakebed.table.metadata.consumers import Consumers
from lakebed.table.table import Table
from support.effects import reopen
from support.expiring_tables import UNAWARE, ids_of, write
from support.table_builder import BuiltTable, build_table


def written(options: dict[str, str] | None = None) -> BuiltTable:
    built = build_table(UNAWARE.with_options(options or {}))
    for number in range(4):
        write(built, number)
    return built


def consumers(table: Table) -> Consumers:
    return Consumers(table.file_io, table.parts().paths)


def test_a_position_moves_ahead_and_back_only_by_a_reset() -> None:
    table = written().table
    positions = []
    for step in (2, 4, 3):
        consumers(table).record("job", step)
        positions.append(consumers(table).find("job"))
    table.reset_consumer("job", 2)
    positions.append(consumers(table).find("job"))
    table.reset_consumer("job")
    positions.append(consumers(table).find("job"))
    assert positions == [2, 4, 4, 2, None]


def test_a_position_is_written_as_other_engines_do() -> None:
    table = written().table
    table.reset_consumer(consumerId="job", nextSnapshotId=3)
    path = f"{table.location}/consumer/consumer-job"
    assert table.file_io.read(path) == b'{\n  "nextSnapshot" : 3\n}'


def test_a_consumer_that_cannot_be_is_refused() -> None:
    table = written().table
    with pytest.raises(NotFoundError, match="Snapshots 1 to 4 exist"):
        table.reset_consumer("job", 9)
    for name in ("", " ", "a/b"):
        with pytest.raises(InvalidArgumentError, match="cannot name a consumer"):
            table.reset_consumer(name, 2)
        with pytest.raises(InvalidArgumentError, match="cannot name a consumer"):
            consumers(table).record(name, 2)
    assert consumers(table).next_snapshots() == {}


def test_a_damaged_position_is_not_moved_but_may_be_reset() -> None:
    table = written().table
    table.file_io.write(f"{table.location}/consumer/consumer-job", b"{}")
    with pytest.raises(CorruptTableError, match="nextSnapshot is None"):
        consumers(table).record("job", 2)
    table.reset_consumer("job", 2)
    assert consumers(table).next_snapshots() == {"job": 2}


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        ({}, []),
        ({"includingConsumers": "a.*"}, ["b1"]),
        ({"includingConsumers": "a"}, ["a1", "a2", "b1"]),
        ({"excludingConsumers": ".*1"}, ["a1", "b1"]),
        ({"includingConsumers": "a.*", "excludingConsumers": ".*1"}, ["a1", "b1"]),
        ({"includingConsumers": " ", "excludingConsumers": ""}, []),
    ],
)
def test_consumers_are_cleared_by_their_whole_names(
    arguments: dict[str, str], left: list[str]
) -> None:
    table = written().table
    for name in ("a1", "a2", "b1"):
        table.reset_consumer(name, 2)
    table.file_io.write(f"{table.location}/consumer/other", b"kept")
    table.clear_consumers(**arguments)
    assert list(consumers(table).next_snapshots()) == left
    assert table.file_io.exists(f"{table.location}/consumer/other")


def test_a_text_that_is_no_regular_expression_clears_nothing() -> None:
    table = written().table
    table.reset_consumer("job", 2)
    with pytest.raises(InvalidArgumentError, match=r"excludingConsumers: '\(' is no regular"):
        table.clear_consumers("job", "(")
    assert consumers(table).next_snapshots() == {"job": 2}


@pytest.mark.parametrize(("hours", "left"), [(23, ["job"]), (25, [])])
def test_a_consumer_that_is_silent_for_long_keeps_nothing(hours: int, left: list[str]) -> None:
    kept = {"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "2"}
    built = written({**kept, "consumer.expiration-time": "1 d"})
    built.table.reset_consumer("job", 3)
    [status] = built.file_io.list(f"{built.table.location}/consumer")
    moment = status.modification_time_ms + hours * 3_600_000
    later = reopen(built.table, built.file_io, seed=4, clock=lambda: moment)
    later.append(built.arrow([built.shape.row(20, 0)]))
    assert list(consumers(later).next_snapshots()) == left
    assert ids_of(later) == ([3, 4, 5] if left else [4, 5])
