"""Queries: what changed, the newest partition, where rows stand, what a session sets and keeps."""

import os
import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

from lakebed.spark import attach
from lakebed.spark.java import ensure_java


def main() -> None:
    """Names the catalog in the settings, as a cluster would, and asks."""
    ensure_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers run what this runs
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    with tempfile.TemporaryDirectory() as warehouse:
        setting = "spark.lakebed.catalog.lake.warehouse"
        ask(builder.config(setting, Path(warehouse).as_uri()).getOrCreate())


def ask(spark: SparkSession) -> None:
    """The same on any session, classic or Spark Connect."""
    attach(spark)
    spark.sql("CREATE DATABASE lake.db")
    spark.sql("CREATE TABLE lake.db.hits (page STRING, hits INT, day STRING) PARTITIONED BY (day)")
    spark.sql(
        "INSERT INTO lake.db.hits VALUES ('home', 3, '2026-01-01'), ('help', 1, '2026-01-02')"
    )
    spark.sql("INSERT INTO lake.db.hits VALUES ('home', 5, '2026-01-02')")

    def show(what: str, query: str) -> None:
        print(what, sorted(tuple(row) for row in spark.sql(query).collect()))

    show("what came", "SELECT * FROM paimon_incremental_query('lake.db.hits', 1, 2)")
    newest = "day = lake.sys.max_pt('db.hits')"
    show("newest day", f"SELECT page, hits FROM lake.db.hits WHERE {newest}")
    show(
        "places",
        "SELECT page, __paimon_partition.day, __paimon_row_index FROM lake.db.hits"
        " WHERE __paimon_file_path LIKE '%day=2026-01-01%'",
    )
    spark.sql("SET spark.paimon.*.db.hits.scan.snapshot-id=1")
    show("as of the session", "SELECT page, hits FROM lake.db.hits")
    spark.sql("RESET spark.paimon.*.db.hits.scan.snapshot-id")
    plan = spark.sql(f"EXPLAIN SELECT page FROM lake.db.hits WHERE {newest}").collect()[0][0]
    print(*(line for line in plan.splitlines() if line.startswith("partitions")))

    spark.sql("CACHE TABLE lake.db.hits")
    show("kept in memory", "SELECT sum(hits) FROM lake.db.hits")
    spark.sql("INSERT INTO lake.db.hits VALUES ('help', 2, '2026-01-03')")
    show("kept, and never old", "SELECT sum(hits) FROM lake.db.hits")
    spark.sql("UNCACHE TABLE lake.db.hits")


if __name__ == "__main__":
    main()
