"""PySpark without a connector JAR: SQL, DataFrames and `format("paimon")` on one table."""

import os
import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

from lakebed.spark import attach
from lakebed.spark.java import ensure_java


def main() -> None:
    """Creates by SQL, writes by SQL and DataFrame, reads now and then."""
    ensure_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers run what this runs
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.ui.showConsoleProgress", "false")
    with tempfile.TemporaryDirectory() as warehouse:
        show(spark.getOrCreate(), Path(warehouse))


def show(spark: SparkSession, warehouse: Path) -> None:
    """The same on any session, classic or Spark Connect."""
    attach(spark, "lake", warehouse=warehouse.as_uri())
    spark.sql("CREATE DATABASE lake.db")
    spark.sql(
        "CREATE TABLE lake.db.orders (id BIGINT, total DOUBLE, dt STRING) USING paimon "
        "PARTITIONED BY (dt) TBLPROPERTIES ('primary-key' = 'id,dt', 'bucket' = '2')"
    )
    spark.sql("INSERT INTO lake.db.orders VALUES (1, 9.5, '2026-01-01'), (2, 4.0, '2026-01-02')")
    corrected = spark.createDataFrame(
        [(1, 8.5, "2026-01-01")], "id BIGINT, total DOUBLE, dt STRING"
    )
    corrected.writeTo("lake.db.orders").append()

    print([tuple(row) for row in spark.table("lake.db.orders").orderBy("id").collect()])
    first = spark.sql("SELECT * FROM lake.db.orders VERSION AS OF 1 WHERE id = 1")
    print([tuple(row) for row in first.collect()])
    snapshots = spark.table("lake.db.orders$snapshots").select("snapshot_id", "commit_kind")
    print([tuple(row) for row in snapshots.orderBy("snapshot_id").collect()])
    changes = spark.read.option("incremental-between", "1,2").table("lake.db.orders")
    print([tuple(row) for row in changes.collect()])
    path = str(warehouse / "db.db" / "orders")
    print(spark.read.format("paimon").load(path).where("dt = '2026-01-02'").count())


if __name__ == "__main__":
    main()
