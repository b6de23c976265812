"""COPY INTO: files are loaded once each, what does not fit is told, and rows go out as files."""

import os
import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

from lakebed.spark import attach
from lakebed.spark.java import ensure_java


def main() -> None:
    """Loads CSV files, some of them twice and one with a bad row, and writes JSON."""
    ensure_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers run what this runs
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.ui.showConsoleProgress", "false")
    with tempfile.TemporaryDirectory() as directory:
        show(spark.getOrCreate(), Path(directory))


def show(spark: SparkSession, directory: Path) -> None:
    """The same on any session, classic or Spark Connect."""
    attach(spark, "lake", warehouse=(directory / "lake").as_uri())
    spark.sql("CREATE DATABASE lake.db")
    spark.sql("CREATE TABLE lake.db.orders (id BIGINT, total DOUBLE, state STRING DEFAULT 'new')")

    files = directory / "in"
    files.mkdir()
    (files / "monday.csv").write_text("id;total\n1;9.5\n2;4.0\n")
    load = f"""
        COPY INTO lake.db.orders (id, total) FROM '{files}'
        FILE_FORMAT = (TYPE = CSV, FIELD_DELIMITER = ';', SKIP_HEADER = 1) ON_ERROR = CONTINUE
    """
    print([tuple(row)[:3] for row in spark.sql(load).collect()])
    (files / "tuesday.csv").write_text("id;total\n3;7.0\n4;much\n")
    for row in spark.sql(load).collect():
        print(row.file_name, row.status, row.rows_loaded, row.first_error)

    out = directory / "out"
    query = "SELECT id, state FROM lake.db.orders WHERE total > 5"
    written = spark.sql(f"COPY INTO '{out}' FROM ({query}) FILE_FORMAT = (TYPE = JSON)")
    print(written.collect()[0].rows_written, "rows written")
    print(sorted(line for part in out.glob("part-*") for line in part.read_text().splitlines()))


if __name__ == "__main__":
    main()
