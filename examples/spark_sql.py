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
    change_rows(spark)


def change_rows(spark: SparkSession) -> None:
    """Rows that are updated, merged and deleted."""
    spark.sql("UPDATE lake.db.orders SET total = round(total * 1.1, 2) WHERE id = 2")
    spark.sql("""
        MERGE INTO lake.db.orders AS t
        USING (VALUES (1, 0.0, '2026-01-01'), (3, 7.0, '2026-01-03') AS s(id, total, dt)) AS s
        ON t.id = s.id AND t.dt = s.dt
        WHEN MATCHED AND s.total = 0 THEN DELETE
        WHEN MATCHED THEN UPDATE SET total = s.total
        WHEN NOT MATCHED THEN INSERT *
    """)
    spark.sql("DELETE FROM lake.db.orders WHERE id IN (SELECT id FROM range(3, 9))")
    print([tuple(row) for row in spark.table("lake.db.orders").collect()])
    replace_table(spark)


def replace_table(spark: SparkSession) -> None:
    """A table that is made anew of its own rows, and what is known of it then."""
    spark.sql("""
        CREATE OR REPLACE TABLE lake.db.orders PARTITIONED BY (dt)
        AS SELECT id, named_struct('gross', total, 'net', total / 2) AS sums, dt FROM lake.db.orders
    """)
    spark.sql("UPDATE lake.db.orders SET sums.net = 4.0")
    spark.sql("ANALYZE TABLE lake.db.orders COMPUTE STATISTICS FOR COLUMNS id")
    print([(row.id, *row.sums) for row in spark.table("lake.db.orders").collect()])
    print(spark.table("lake.db.orders$statistics").collect()[0].mergedRecordCount)


if __name__ == "__main__":
    main()
