"""Structured Streaming: a changelog that flows into a mirror, and counts that keep up."""

import os
import sys
import tempfile
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from lakebed.spark import attach
from lakebed.spark.java import ensure_java


def main() -> None:
    """Follows a table twice, before and after it changes."""
    ensure_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers run what this runs
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "2")
    with tempfile.TemporaryDirectory() as directory:
        spark = attach(builder.getOrCreate(), "lake", warehouse=f"{directory}/lake")
        spark.sql("CREATE DATABASE lake.shop")
        spark.sql(
            "CREATE TABLE lake.shop.orders (id INT NOT NULL, state STRING) TBLPROPERTIES "
            "('primary-key' = 'id', 'bucket' = '1', 'changelog-producer' = 'lookup')"
        )
        spark.sql(
            "CREATE TABLE lake.shop.mirror (id INT NOT NULL, state STRING) TBLPROPERTIES "
            "('primary-key' = 'id', 'bucket' = '1')"
        )
        spark.sql("INSERT INTO lake.shop.orders VALUES (1, 'new'), (2, 'new')")
        follow(spark, Path(directory))
        spark.sql("INSERT INTO lake.shop.orders VALUES (1, 'paid'), (3, 'new')")
        spark.sql("DELETE FROM lake.shop.orders WHERE id = 2")
        follow(spark, Path(directory))
        rows = spark.sql("SELECT * FROM lake.shop.mirror ORDER BY id").collect()
        print("mirror:", [f"{row.id} {row.state}" for row in rows])
        counts = spark.sql("SELECT * FROM lake.shop.counts ORDER BY kind").collect()
        print("changes:", [f"{row.kind} {row.times}" for row in counts])
        spark.stop()


def follow(spark: SparkSession, directory: Path) -> None:
    """Brings the mirror and the counts up to now."""
    reader = spark.readStream.option("read.changelog", "true").option("scan.snapshot-id", "1")
    changes = reader.table("lake.shop.orders")
    counts = changes.groupBy(changes.rowkind.alias("kind")).count()
    for name, frame, mode in (
        ("mirror", changes.withColumnRenamed("rowkind", "_row_kind"), "append"),
        ("counts", counts.withColumnRenamed("count", "times"), "complete"),
    ):
        write(frame, f"lake.shop.{name}", directory / name, mode=mode)


def write(frame: DataFrame, table: str, checkpoint: Path, *, mode: str) -> None:
    """Writes what there is now, each row once."""
    writer = frame.writeStream.outputMode(mode).option("checkpointLocation", str(checkpoint))
    writer.trigger(availableNow=True).toTable(table).awaitTermination()


if __name__ == "__main__":
    main()
