"""Spark sessions, classic and of Spark Connect, each new and with a catalog of its own."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakebed.spark import attach, detach

SOURCES = Path(__file__).resolve().parents[2] / "src"
SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
SERVER = """
import sys
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[2]")
for setting in sys.argv[1:]:
    builder = builder.config(*setting.split("=", 1))
builder.getOrCreate()
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="session")
def worker_environment() -> None:
    """Spark's Python workers are this Python and find Lakebed where this process does."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    path = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(SOURCES), *([path] if path else [])])


@pytest.fixture(scope="session")
def connect_url(
    worker_environment: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A server of Spark Connect in a process of its own: one process holds one kind of session."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = {
        **SETTINGS,
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.port": str(port),
    }
    command = [sys.executable, "-c", SERVER, *(f"{key}={value}" for key, value in settings.items())]
    server = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=tmp_path_factory.mktemp("connect"),
        text=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        assert server.stdout.readline().strip() == "ready"
        yield f"sc://127.0.0.1:{port}"
    finally:
        server.stdin.close()
        server.wait(timeout=60)
        server.stdout.close()


@pytest.fixture(scope="session")
def connect_base(connect_url: str) -> Iterator[SparkSession]:
    module = pytest.importorskip("pyspark.sql.connect.session")
    session: SparkSession = module.SparkSession.builder.remote(connect_url).create()
    yield session
    session.stop()


def new_classic(tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    # Another test may have stopped the last one, so it is asked for anew.
    builder = SparkSession.builder.master("local[2]")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    if SparkSession.getActiveSession() is None:
        warehouse = tmp_path_factory.mktemp("classic")
        builder = builder.config("spark.sql.warehouse.dir", str(warehouse))
    session = builder.getOrCreate().newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    return session


@pytest.fixture(scope="session")
def new_session(
    worker_environment: None,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str], SparkSession]:
    """Makes a session of a kind: `classic` or `connect`."""

    def make(kind: str) -> SparkSession:
        if kind == "classic":
            return new_classic(tmp_path_factory)
        base: SparkSession = request.getfixturevalue("connect_base")
        return base.newSession()

    return make


@pytest.fixture(scope="module", params=["classic", "connect"])
def bare(
    request: pytest.FixtureRequest, new_session: Callable[[str], SparkSession]
) -> SparkSession:
    """A session without catalogs, of each kind."""
    return new_session(request.param)


@pytest.fixture(scope="module")
def spark(bare: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session with the catalog `lake`, in which there is the database `db`."""
    warehouse = tmp_path_factory.mktemp("warehouse")
    attach(bare, "lake", warehouse=warehouse.as_uri())
    bare.sql("CREATE DATABASE lake.db")
    yield bare
    detach(bare)
