"""A session whose workers run a Python without Lakebed is refused in words, before any task."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark

PROGRAM = """
from pyspark.sql import SparkSession
from lakebed.spark import attach

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
spark = attach(builder.getOrCreate(), "lake", warehouse={warehouse!r})
spark.sql("CREATE DATABASE lake.db")
spark.sql("CREATE TABLE lake.db.t (a INT) TBLPROPERTIES ('primary-key' = 'a', 'bucket' = '1')")
try:
    spark.range(1).selectExpr("1 AS a").writeTo("lake.db.t").append()
except Exception as error:
    print(error)
"""


@pytest.mark.variants
def test_workers_that_cannot_import_lakebed_are_named_with_what_to_set(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    venv.create(bare, with_pip=False)
    program = PROGRAM.format(warehouse=str(tmp_path / "lake"))
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env={"PATH": "/usr/bin:/bin", "PYSPARK_PYTHON": str(bare / "bin" / "python"), **_java()},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Spark's Python workers cannot import lakebed" in ran.stdout, ran.stderr[-2000:]
    assert f"PYSPARK_PYTHON, for instance to {sys.executable}" in ran.stdout


def _java() -> dict[str, str]:
    """Where Java is, for a process that inherits nothing."""
    names = ("JAVA_HOME", "HOME")
    return {name: value for name in names if (value := os.environ.get(name)) is not None}
