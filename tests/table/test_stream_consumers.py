"""A consumer keeps how far a stream has read, and what it has yet to read does not expire."""

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pytest

from lakebed.errors import NotFoundError
from lakebed.format.schema_definition import schema
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.table import Table
from support.effects import open_catalog


def written(primary_key: Sequence[str] = ()) -> Table:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    columns = schema([("k", "INT NOT NULL"), ("v", "INT")])
    options = {"bucket": "1", "num-sorted-run.compaction-trigger": "100"} if primary_key else {}
    return catalog.create_table("db.t", schema=columns, primary_key=primary_key, options=options)


def rows(*pairs: tuple[int, int]) -> pa.Table:
    return pa.table({"k": [k for k, _ in pairs], "v": [v for _, v in pairs]})


def told(batches: Iterator[pa.RecordBatch]) -> list[tuple[str, int, int]]:
    return [(row["_row_kind"], row["k"], row["v"]) for b in batches for row in b.to_pylist()]


def test_a_consumer_goes_on_where_it_was_and_keeps_what_it_has_not_read() -> None:
    table = written()
    table.append(rows((1, 10)))
    assert told(table.stream(consumer_id="c", until="latest")) == [("+I", 1, 10)]
    for value in (20, 30):
        table.append(rows((1, value)))
    table.expire_snapshots(retain_max=1, retain_min=1)
    assert [snapshot.id for snapshot in table.snapshots()] == [2, 3]
    stream = table.stream(consumer_id="c", until="latest")
    assert [v for _, _, v in told(stream)] == [20, 30]
    table.expire_snapshots(retain_max=1, retain_min=1)
    assert [snapshot.id for snapshot in table.snapshots()] == [3]
    anew = table.stream(consumer_id="c", until="latest", options={"consumer.ignore-progress": True})
    assert [v for _, _, v in told(anew)] == [10, 20, 30]


def test_a_consumer_stays_before_what_nobody_dealt_with() -> None:
    table = written()
    for value in (10, 20):
        table.append(rows((1, value)))
    stream = table.stream(1, consumer_id="c", until="latest")
    next(stream)
    next(stream)
    del stream
    again = table.stream(consumer_id="c", until="latest")
    assert [v for _, _, v in told(again)] == [20]


def test_what_expired_under_a_consumer_is_an_error_and_no_gap() -> None:
    table = written()
    table.append(rows((1, 10)))
    list(table.stream(consumer_id="c", until="latest"))
    # As an engine would that does not know of consumers.
    for value in (20, 30, 40):
        table.append(rows((1, value)))
    for number in (1, 2):
        table.file_io.delete(f"{table.location}/snapshot/snapshot-{number}")
    with pytest.raises(NotFoundError, match=r"2 of .*It has expired: the oldest is 3"):
        next(table.stream(consumer_id="c"))


def test_a_consumer_beyond_a_rollback_is_an_error() -> None:
    table = written()
    for value in (10, 20, 30):
        table.append(rows((1, value)))
    list(table.stream(consumer_id="c", until="latest"))
    table.rollback(snapshot=1)
    with pytest.raises(NotFoundError, match=r"consumer 'c' reads.*The newest is 1"):
        next(table.stream(consumer_id="c"))


def test_a_compaction_moves_a_consumer_on() -> None:
    table = written(["k"])
    table.upsert(rows((1, 10)))
    table.upsert(rows((1, 11)))
    list(table.stream(consumer_id="c", until="latest"))
    table.compact(compact_strategy="full")
    assert told(table.stream(consumer_id="c", until="latest")) == []
    table.expire_snapshots(retain_max=1, retain_min=1)
    assert [snapshot.id for snapshot in table.snapshots()] == [3]
