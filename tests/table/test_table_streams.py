"""Any process can tell who streams out of a table and into it."""

import pyarrow as pa

from lakebed.format.schema_definition import schema
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.streaming.table_streams import prometheus
from lakebed.table.table import Table
from support.effects import open_catalog


def made() -> Table:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    return catalog.create_table("db.t", schema=schema([("k", "INT")]))


def append(table: Table, count: int) -> None:
    table.append(pa.table({"k": pa.array(range(count), pa.int32())}))


def append_numbered(table: Table, user: str, identifier: int, *, count: int) -> None:
    with table.writer(user=user, identifier=identifier) as writer:
        writer.append(pa.table({"k": pa.array(range(count), pa.int32())}))


def test_a_consumer_is_as_far_behind_as_snapshots_are_newer_than_what_it_read() -> None:
    table = made()
    append(table, 1)
    list(table.stream(consumer_id="mailer", until="latest"))
    append(table, 1)
    append(table, 1)
    (stream,) = table.streams()
    assert (stream.direction, stream.name) == ("out", "mailer")
    assert (stream.snapshot_id, stream.snapshots_behind) == (1, 2)
    assert stream.rows_per_second is None


def test_a_writer_that_numbers_its_commits_is_told_with_its_last_commit_and_its_speed() -> None:
    table = made()
    append(table, 5)
    for identifier, count in ((1, 1000), (2, 10), (3, 20)):
        append_numbered(table, "job", identifier, count=count)
    append(table, 5)
    (stream,) = table.streams()
    assert (stream.direction, stream.name, stream.identifier) == ("in", "job", 3)
    assert (stream.snapshot_id, stream.snapshots_behind) == (4, 1)
    first, last = (table.snapshots()[number].time_millis for number in (1, 3))
    # What the first commit brought, came in a time that nobody knows.
    assert stream.rows_per_second == 30 / ((last - first) / 1000)


def test_a_single_commit_tells_no_speed() -> None:
    table = made()
    append_numbered(table, "job", 1, count=5)
    (stream,) = table.streams()
    assert stream.rows_per_second is None


def test_prometheus_names_table_and_stream_and_leaves_out_what_is_not_known() -> None:
    table = made()
    append_numbered(table, 'a "job"', 7, count=5)
    text = prometheus(table.streams(), "db.t")
    labels = r'{table="db.t",direction="in",name="a \"job\""}'
    assert f"lakebed_table_stream_snapshot{labels} 1\n" in text
    seconds = table.snapshots()[0].time_millis / 1000
    assert f"lakebed_table_stream_last_time_seconds{labels} {seconds:.15g}\n" in text
    assert "lakebed_table_stream_rows_per_second{" not in text
