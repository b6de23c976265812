"""Spark sessions, each new and with a catalog of its own.

One process holds sessions of one kind: classic ones, or those of Spark Connect where
`LAKEBED_SPARK_KIND` says so, as `test_connect.py` does in a process of its own.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakebed.spark import attach, detach

SOURCES = Path(__file__).resolve().parents[2] / "src"
KIND = os.environ.get("LAKEBED_SPARK_KIND", "classic")
SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


@pytest.fixture(scope="session")
def spark_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where Spark keeps its own tables; its Python workers are this Python and find Lakebed."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    path = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(SOURCES), *([path] if path else [])])
    directory = tmp_path_factory.mktemp("spark")
    settings = {**SETTINGS, "spark.sql.warehouse.dir": (directory / "tables").as_uri()}
    arguments = [f"--conf {key}={value}" for key, value in settings.items()]
    # Told to the JVM when it starts: a client of Spark Connect cannot set all of them later.
    os.environ["PYSPARK_SUBMIT_ARGS"] = " ".join([*arguments, "pyspark-shell"])
    return directory


@pytest.fixture(scope="module")
def bare(spark_directory: Path) -> SparkSession:
    """A session without catalogs. Another module may have stopped Spark; then it starts anew."""
    assert spark_directory.exists()
    builder = SparkSession.builder
    builder = builder.remote("local[2]") if KIND == "connect" else builder.master("local[2]")
    session = builder.getOrCreate()
    # Spark Connect has it from 4.2 on; before, modules share a session.
    session = session.newSession() if hasattr(session, "newSession") else session
    session.conf.set("spark.sql.session.timeZone", "UTC")
    session.conf.set("spark.sql.shuffle.partitions", "2")
    return session


@pytest.fixture(scope="module")
def spark(bare: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session with the catalog `lake`, in which there is the database `db`."""
    warehouse = tmp_path_factory.mktemp("warehouse")
    attach(bare, "lake", warehouse=warehouse.as_uri())
    bare.sql("CREATE DATABASE lake.db")
    yield bare
    detach(bare)


@pytest.fixture
def tables(spark: SparkSession, request: pytest.FixtureRequest) -> tuple[str, str]:
    """Names of a source and a target that are not there yet."""
    stem = "".join(sign if sign.isalnum() else "_" for sign in request.node.name)[-60:]
    for name in (f"lake.db.s{stem}", f"lake.db.t{stem}"):
        spark.sql(f"DROP TABLE IF EXISTS {name}")
    return f"lake.db.s{stem}", f"lake.db.t{stem}"
