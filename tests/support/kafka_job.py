"""`python -m support.kafka_job DIRECTORY BROKER [--drain]`: from Kafka to Kafka, until killed.

- the topic `in` into a table with a primary key: a message without a value deletes its key
- the changelog of that table into the topic `out`

With `--drain` they take what is there, one after the other, and end.
"""

import argparse
import sys
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from support.stream_job import session
from tools.peers.java import KAFKA_SPARK

TABLE = "lake.db.accounts"


def main() -> None:
    """Starts the streams, and says so on a line."""
    parser = argparse.ArgumentParser(prog="python -m support.kafka_job")
    parser.add_argument("directory", type=Path)
    parser.add_argument("broker")
    parser.add_argument("--drain", action="store_true")
    arguments = parser.parse_args()
    jars = ",".join(map(str, KAFKA_SPARK.fetch()))
    spark = session(arguments.directory, {"spark.jars": jars})
    writers = {
        "accounts": into_table(spark, arguments.broker),
        "out": out_of_table(spark, arguments.broker),
    }
    for name, writer in writers.items():
        writer.option("checkpointLocation", str(arguments.directory / "checkpoints" / name))
    if arguments.drain:
        sys.stdout.write("started\n")
        sys.stdout.flush()
        for name, writer in writers.items():
            start(name, writer.trigger(availableNow=True)).awaitTermination()
    else:
        for name, writer in writers.items():
            start(name, writer)
        sys.stdout.write("started\n")
        sys.stdout.flush()
        spark.streams.awaitAnyTermination()
    spark.stop()


def start(name: str, writer: DataStreamWriter) -> StreamingQuery:
    """Starts one of the two."""
    query: StreamingQuery = writer.start() if name == "out" else writer.toTable(TABLE)
    return query


def into_table(spark: SparkSession, broker: str) -> DataStreamWriter:
    """Messages as rows, which replace those of their keys or delete them."""
    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", broker)
    messages = reader.option("subscribe", "in").option("startingOffsets", "earliest").load()
    rows = messages.selectExpr(
        "CAST(CAST(key AS STRING) AS INT) AS k",
        "CAST(CAST(value AS STRING) AS BIGINT) AS v",
        "IF(value IS NULL, '-D', '+I') AS _row_kind",
    )
    return rows.writeStream.outputMode("update")


def out_of_table(spark: SparkSession, broker: str) -> DataStreamWriter:
    """Changes as messages, each with its row kind and the value before or after it."""
    reader = spark.readStream.option("read.changelog", "true").option("scan.snapshot-id", "1")
    messages = reader.table(TABLE).selectExpr(
        "CAST(k AS STRING) AS key", "to_json(struct(rowkind AS kind, v)) AS value"
    )
    writer = messages.writeStream.format("kafka").option("kafka.bootstrap.servers", broker)
    return writer.option("topic", "out")


if __name__ == "__main__":
    main()
