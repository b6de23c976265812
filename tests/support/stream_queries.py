"""Queries of Structured Streaming from tables and into them, run to their ends."""

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from lakebed.spark.lake import find_lake
from lakebed.spark.names import TableName
from lakebed.table.table import Table

KEYED = "TBLPROPERTIES ('primary-key' = 'k', 'bucket' = '2')"


def load(spark: SparkSession, name: str) -> Table:
    """A table of an attached catalog."""
    lake = find_lake(spark)
    assert lake is not None
    return lake.load(TableName(*name.split(".")))


def run(query: StreamingQuery) -> list[int]:
    """Waits for the end of a query; how many rows its micro-batches had."""
    query.awaitTermination()
    # Spark Connect tells the rows of sources, and not their sum.
    counts = [
        sum(source["numInputRows"] for source in progress["sources"])
        for progress in query.recentProgress
    ]
    return [count for count in counts if count]


def rows(spark: SparkSession, name: str) -> list[tuple[Any, ...]]:
    """All rows of a table, sorted."""
    return sorted(map(tuple, spark.table(name).collect()))


def copy(spark: SparkSession, names: tuple[str, str], at: Path, **options: str) -> list[int]:
    """Brings all there is of a table into another; how many rows the micro-batches had."""
    source, target = names
    reader = spark.readStream
    for key, value in options.items():
        reader = reader.option(key, value)
    writer = reader.table(source).writeStream.option("checkpointLocation", str(at))
    return run(writer.trigger(availableNow=True).toTable(target))
