"""A real cluster: a master and two workers, each a process, whose executors are killed in a write.

The machine of the test is the cluster's only one, so that its disk is the shared store.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from socket import socket

import numpy as np
import pyspark
import pytest

from lakebed import load_table
from lakebed.spark.java import ensure_java
from support import cluster_job
from support.cluster_job import ROWS, TABLES

pytestmark = pytest.mark.variants

SOURCES = Path(__file__).resolve().parents[2] / "src"
SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
PATIENCE_SECONDS = 240


@contextmanager
def started(command: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process of our own, ended with the block."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, env=environment()
        )
        try:
            yield process
        finally:
            process.terminate()
            process.wait()


def environment() -> dict[str, str]:
    """Executors are children of workers, so what these see, they see."""
    ensure_java()
    path = [str(SOURCES), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(path),
        "PYSPARK_SUBMIT_ARGS": "pyspark-shell",
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


@contextmanager
def cluster(directory: Path) -> Iterator[tuple[str, list[int]]]:
    """A master's URL and the process ids of its two workers."""
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"spark://127.0.0.1:{port}"
    master = [str(SPARK_CLASS), MASTER, "--host", "127.0.0.1", "--port", str(port)]
    with ExitStack() as stack:
        log = directory / "master.log"
        stack.enter_context(started([*master, "--webui-port", "0"], log))
        wait_for(partial(has_said, log, b"New state: ALIVE"), log)
        workers = []
        for index in range(2):
            room = ["--cores", "1", "--memory", "600m", "--work-dir", str(directory / f"w{index}")]
            command = [str(SPARK_CLASS), WORKER, "--webui-port", "0", *room, url]
            log = directory / f"worker{index}.log"
            workers.append(stack.enter_context(started(command, log)).pid)
            wait_for(partial(has_said, log, b"Successfully registered"), log)
        yield url, workers


def has_said(log: Path, text: bytes) -> bool:
    return text in log.read_bytes()


def wait_for(condition: Callable[[], bool], log: Path) -> None:
    """Waits until something has happened; fails with the end of a log."""
    for _ in range(PATIENCE_SECONDS * 10):
        if condition():
            return
        time.sleep(0.1)
    pytest.fail(f"still waiting; {log}: {log.read_text()[-3000:]}")


def parent(pid: int) -> int:
    """The process that started another."""
    return int(Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[1])


def test_executors_killed_in_a_write_leave_no_row_twice_and_no_file_named(tmp_path: Path) -> None:
    signals = tmp_path / "signals"
    signals.mkdir()
    with cluster(tmp_path) as (url, workers):
        job = [sys.executable, str(Path(cluster_job.__file__))]
        log = tmp_path / "job.log"
        command = [*job, url, str(tmp_path / "lake"), str(signals)]
        with started(command, log) as driver:
            for table in TABLES:
                mark = signals / table
                wait_for((mark / "waiting").exists, log)
                data = tmp_path / "lake" / "db.db" / table
                # Files that are closed where tasks write, begun ones where Spark's writer does.
                begun = "*" if table == "keyed" else "*.parquet"
                wait_for(partial(has_file, data, begun), log)
                executor = int((mark / "waiting").read_text(encoding="ascii"))
                assert parent(executor) in workers
                os.kill(executor, signal.SIGKILL)
                wait_for((mark / "written").exists, log)
                (mark / "go").touch()
            assert driver.wait(PATIENCE_SECONDS) == 0, log.read_text()[-3000:]
    for name in TABLES:
        check(tmp_path / "lake" / "db.db" / name)


def has_file(directory: Path, pattern: str) -> bool:
    with suppress(FileNotFoundError):  # a directory may go while it is listed
        return any(path.is_file() for path in directory.rglob(pattern))
    return False


def check(location: Path) -> None:
    """All rows are there once, in one commit, and every file that it names."""
    table = load_table(str(location))
    assert [snapshot.id for snapshot in table.snapshots()] == [1]
    ids = table.scan(columns=["id"]).to_arrow().column("id")
    assert np.array_equal(np.sort(ids.to_numpy()), np.arange(ROWS))
    files = load_table(f"{location}$files").scan(columns=["file_path"]).to_arrow()
    named = {Path(str(path)).name for path in files.column(0).to_pylist()}
    assert named <= {path.name for path in location.rglob("*.parquet")}
    assert not [path for path in location.iterdir() if path.name.startswith(".")]
