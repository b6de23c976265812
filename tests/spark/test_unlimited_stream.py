"""How far a micro-batch goes where Spark does not say where it begins (PySpark 4.1)."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql.types import IntegerType, StructType

import lakebed
from lakebed.errors import NotFoundError, UnsupportedError
from lakebed.format.arrow.typing import python_values
from lakebed.spark.stream_reader import Offset, StreamPart
from lakebed.spark.stream_tables import check_version
from lakebed.spark.unlimited_stream_reader import UnlimitedStreamReader
from lakebed.table.table import Table
from support.watermarks import put_watermark

_COLUMNS = StructType().add("k", IntegerType())


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """An append table without rows."""
    return made(tmp_path)


def made(path: Path, **options: str) -> Table:
    catalog = lakebed.load_catalog(warehouse=path.as_uri())
    catalog.create_database("db")
    return catalog.create_table("db.t", schema=lakebed.schema([("k", "INT")]), options=options)


def append(table: Table, *keys: int) -> None:
    for key in keys:
        table.append(pa.table({"k": pa.array([key], pa.int32())}))


def reader(table: Table, **options: str) -> UnlimitedStreamReader:
    return UnlimitedStreamReader(table, _COLUMNS, options)


def keys(stream: UnlimitedStreamReader, start: Offset, end: Offset) -> list[int]:
    """What the tasks of a micro-batch read."""
    parts = stream.partitions(start, end)
    assert all(isinstance(part, StreamPart) for part in parts)
    batches = [batch for part in parts for batch in stream.read(part)]
    return sorted(key for batch in batches for key in python_values(batch.column("k")))


def test_micro_batches_read_all_there_is_once(table: Table) -> None:
    append(table, 1, 2)
    stream = reader(table)
    start = stream.initialOffset()
    end = stream.latestOffset()
    assert keys(stream, start, end) == [1, 2]
    append(table, 3)
    assert keys(reader(table), end, reader(table).latestOffset()) == [3]


def test_the_stream_ends_before_the_first_snapshot_beyond_its_watermark(table: Table) -> None:
    append(table, 1, 2, 3)
    for snapshot, watermark in zip(table.snapshots(), (10, 20, 30), strict=True):
        put_watermark(table, snapshot, watermark)
    stream = reader(table, **{"scan.snapshot-id": "1", "scan.bounded.watermark": "20"})
    start, end = stream.initialOffset(), stream.latestOffset()
    assert keys(stream, start, end) == [1, 2]
    # What the bound kept back was not passed over.
    unbounded = reader(table)
    assert keys(unbounded, end, unbounded.latestOffset()) == [3]


def test_a_stream_that_begins_in_the_future_waits_there(table: Table) -> None:
    append(table, 1, 2)
    stream = reader(table, **{"scan.snapshot-id": "4"})
    start = stream.initialOffset()
    assert stream.latestOffset() == start
    append(table, 3, 4)
    assert keys(stream, start, stream.latestOffset()) == [4]


def test_a_table_that_was_rolled_back_ends_the_stream_with_an_error(table: Table) -> None:
    append(table, 1, 2, 3)
    stream = reader(table)
    stream.initialOffset()
    read = stream.latestOffset()
    table.rollback(snapshot=1)
    later = reader(table)
    with pytest.raises(NotFoundError, match=r"4 of .*It ends with 1: the table was rolled back"):
        later.partitions(read, later.latestOffset())


@pytest.mark.parametrize("key", ["streaming.read.snapshot.delay", "read.stream.maxRowsPerTrigger"])
def test_what_ends_a_micro_batch_sooner_needs_a_newer_spark(table: Table, key: str) -> None:
    with pytest.raises(UnsupportedError, match=rf"'{key}' needs PySpark 4\.2 or later: in 4\.1\.3"):
        check_version(table, {key: "5"}, "4.1.3")
    check_version(table, {key: "5"}, "4.2.0")


def test_a_delay_of_the_table_needs_a_newer_spark_too(tmp_path: Path) -> None:
    table = made(tmp_path, **{"streaming.read.snapshot.delay": "1 h"})
    with pytest.raises(UnsupportedError, match=r"needs PySpark 4\.2"):
        check_version(table, {}, "4.1.3")
