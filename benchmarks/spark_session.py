"""The Spark session of benchmarks: all cores, quiet, with a warehouse attached as `lake`."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from lakebed.spark import attach
from lakebed.spark.java import ensure_java

SETTINGS = {
    "spark.master": "local[*]",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "4g",
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
}


@contextmanager
def attached_session(warehouse: Path) -> Iterator[SparkSession]:
    """A session that is stopped when the block ends."""
    ensure_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = SparkSession.builder.config(map={**SETTINGS}).getOrCreate()
    attach(spark, "lake", warehouse=warehouse.as_uri())
    try:
        yield spark
    finally:
        spark.stop()
