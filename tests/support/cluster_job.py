"""What `test_cluster.py` runs on its cluster: writes that wait in the middle.

Its arguments: the master, the warehouse, and a directory for signals.
"""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession

from lakebed.spark import attach

ROWS = 40_000
PIECES = 4
_MIDDLE = 8  # of the ten batches of a piece; those before are written by then, as files
TABLES = {
    # A small target, so that files are there before a task ends.
    "tasks": "'file-reader-async-threshold' = '1 mb', 'target-file-size' = '20 kb'",
    "native": "'write-only' = 'false'",
    "keyed": "'primary-key' = 'id', 'bucket' = '4'",
}


def slow(spark: SparkSession, signals: str) -> DataFrame:
    """Rows whose first piece stops halfway, in its first attempt, until it may go on."""

    def pieces(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        waits = context is not None and (context.attemptNumber(), context.partitionId()) == (0, 0)
        for number, batch in enumerate(batches):
            if number == _MIDDLE and waits:
                _wait(Path(signals))
            yield batch

    rows = spark.range(0, ROWS, 1, PIECES).selectExpr("id", "sha2(string(id), 256) AS text")
    return rows.mapInArrow(pieces, "id BIGINT, text STRING")


def _wait(signals: Path) -> None:
    """Says which executor waits: the parent of the daemon that forked this worker."""
    status = Path(f"/proc/{os.getppid()}/stat").read_text(encoding="ascii")
    marker = signals / "waiting.tmp"
    marker.write_text(status.rsplit(")", 1)[1].split()[1], encoding="ascii")
    marker.rename(signals / "waiting")
    while not (signals / "go").exists():
        time.sleep(0.05)


def main(master: str, warehouse: str, signals: str) -> None:
    """Writes each table; one append to begin with, so that something is there to be kept."""
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.cores": "1",
        "spark.executor.memory": "512m",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
        "spark.task.maxFailures": "8",
        "spark.ui.enabled": "false",
    }
    builder = SparkSession.builder.master(master)
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = attach(builder.getOrCreate(), "lake", warehouse=warehouse)
    spark.sql("CREATE DATABASE lake.db")
    for table, options in TABLES.items():
        (Path(signals) / table).mkdir()
        key = " NOT NULL" if "primary-key" in options else ""
        spark.sql(
            f"CREATE TABLE lake.db.{table} (id BIGINT{key}, text STRING) TBLPROPERTIES ({options})"
        )
        slow(spark, f"{signals}/{table}").writeTo(f"lake.db.{table}").append()
        (Path(signals) / table / "written").touch()
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
