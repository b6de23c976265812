"""`python -m support.stream_job DIRECTORY [--only NAME] [--drain]`: streams between tables.

- `copied`: rows of an append table into another
- `mirrored`: the changelog of a table with a primary key into another such table
- `totals`: counts and sums of the append table into a table with a primary key

They run until they are killed, and with `--drain` take what is there and end.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know
from pyspark.sql.streaming.query import StreamingQuery

from lakebed.spark import attach

_MODES = {"copied": "append", "mirrored": "append", "totals": "update"}
STREAMS = tuple(_MODES)
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
    parser.add_argument("--only", choices=STREAMS)
    parser.add_argument("--drain", action="store_true")
    arguments = parser.parse_args()
    spark = session(arguments.directory)
    names = STREAMS if arguments.only is None else (arguments.only,)
    queries = start(spark, arguments.directory, names, drains=arguments.drain)
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


def start(
    spark: SparkSession, directory: Path, names: Sequence[str], *, drains: bool
) -> list[StreamingQuery]:
    """Starts streams."""
    queries = []
    for name in names:
        writer = _rows(spark, name).writeStream.outputMode(_MODES[name])
        writer = writer.option("checkpointLocation", str(directory / "checkpoints" / name))
        if drains:
            writer = writer.trigger(availableNow=True)
        queries.append(writer.toTable(f"lake.db.{name}"))
    return queries


def _rows(spark: SparkSession, name: str) -> DataFrame:
    if name == "mirrored":
        reader = spark.readStream.option("read.changelog", "true").option("scan.snapshot-id", "1")
        return reader.table("lake.db.accounts").withColumnRenamed("rowkind", "_row_kind")
    events = spark.readStream.table("lake.db.events")
    if name == "copied":
        return events
    return events.groupBy("k").agg(F.count("*").alias("events"), F.sum("v").alias("total"))


if __name__ == "__main__":
    main()
