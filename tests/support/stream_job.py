"""`python -m support.stream_job DIRECTORY [--drain]`: three streams between tables, until killed.

- rows of an append table into another
- the changelog of a table with a primary key into another such table
- counts and sums of the append table into a table with a primary key

With `--drain` they take what is there and end.
"""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know
from pyspark.sql.streaming.query import StreamingQuery

from lakebed.spark import attach

_SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.streaming.stateStore.maintenanceInterval": "1h",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def main() -> None:
    """Starts the streams, and says so on a line."""
    parser = argparse.ArgumentParser(prog="python -m support.stream_job")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--drain", action="store_true")
    arguments = parser.parse_args()
    spark = session(arguments.directory)
    queries = start_all(spark, arguments.directory, drains=arguments.drain)
    sys.stdout.write("started\n")
    sys.stdout.flush()
    if arguments.drain:
        for query in queries:
            query.awaitTermination()
    else:
        spark.streams.awaitAnyTermination()
    spark.stop()


def session(directory: Path, more: Mapping[str, str] | None = None) -> SparkSession:
    """A session with the lake of a directory; with more settings than every job has."""
    builder = SparkSession.builder.master("local[2]")
    for key, value in {**_SETTINGS, **(more or {})}.items():
        builder = builder.config(key, value)
    spark = builder.config("spark.sql.warehouse.dir", str(directory / "spark")).getOrCreate()
    return attach(spark, "lake", warehouse=(directory / "lake").as_uri())


def start_all(spark: SparkSession, directory: Path, *, drains: bool) -> list[StreamingQuery]:
    """The three streams."""

    def start(name: str, frame: DataFrame, mode: str) -> StreamingQuery:
        writer = frame.writeStream.outputMode(mode)
        writer = writer.option("checkpointLocation", str(directory / "checkpoints" / name))
        if drains:
            writer = writer.trigger(availableNow=True)
        query: StreamingQuery = writer.toTable(f"lake.db.{name}")
        return query

    events = spark.readStream.table("lake.db.events")
    reader = spark.readStream.option("read.changelog", "true").option("scan.snapshot-id", "1")
    changes = reader.table("lake.db.accounts").withColumnRenamed("rowkind", "_row_kind")
    totals = events.groupBy("k").agg(F.count("*").alias("events"), F.sum("v").alias("total"))
    return [
        start("copied", events, "append"),
        start("mirrored", changes, "append"),
        start("totals", totals, "update"),
    ]


if __name__ == "__main__":
    main()
