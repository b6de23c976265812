"""Streams between tables that are killed at any moment, and started again.

Rows come in all the while. In half of the cases the last line of a checkpoint is lost with the
process, as if it had died between the commit to the table and that line, so that Spark runs the
micro-batch again.
"""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

import lakebed
from lakebed.table.table import Table

_START_SECONDS = 240
_LOOK_SECONDS = 0.1
_DRAIN_SECONDS = 480
_KEYS = 50
_OPTIONS: dict[str, str | int] = {
    "snapshot.num-retained.min": 100_000,
    "snapshot.num-retained.max": 100_000,
}
Rows = Counter[tuple[object, ...]]


@dataclass(slots=True)
class Outcome:
    """What came of it.

    Attributes:
        counts: How much was tried.
        violations: A sentence for each table that is not what it must be.
    """

    counts: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)


def run_killed_streams(directory: Path, *, seed: int, kills: int) -> Outcome:
    """Has streams run and killed, and compares what they wrote with what a batch says.

    Args:
        directory: Where tables and checkpoints are made.
        seed: Decides what is written, and when the process is killed.
        kills: How often.
    """
    chance, outcome = random.Random(f"{seed}/kills"), Outcome()
    tables = _make(directory)
    writing = _Writing(tables, random.Random(f"{seed}/rows"))
    with writing:
        for _ in range(kills):
            done = len(_done(directory))
            process = _start(directory)
            # The streams take longer to start than micro-batches to run; one shall have ended.
            deadline = time.monotonic() + _START_SECONDS
            while len(_done(directory)) == done and time.monotonic() < deadline:
                time.sleep(_LOOK_SECONDS)
            time.sleep(chance.uniform(0, 4))
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            outcome.counts["kills"] += 1
            if chance.random() < 1 / 2:
                outcome.counts["lost lines of checkpoints"] += _lose_last_lines(directory)
    drained = _start(directory, "--drain")
    drained.communicate(timeout=_DRAIN_SECONDS)
    if drained.returncode:
        outcome.violations.append(f"the streams ended with status {drained.returncode}")
    outcome.counts["commits"] = writing.commits
    outcome.violations += _judge(tables)
    return outcome


def _make(directory: Path) -> Mapping[str, Table]:
    catalog = lakebed.load_catalog(warehouse=(directory / "lake").as_uri())
    catalog.create_database("db")
    pair = [("k", "INT NOT NULL"), ("v", "BIGINT")]
    sums = [("k", "INT NOT NULL"), ("events", "BIGINT"), ("total", "BIGINT")]
    keyed: dict[str, str | int] = {**_OPTIONS, "bucket": 2}
    catalog.create_table("db.events", schema=lakebed.schema(pair), options=_OPTIONS)
    catalog.create_table("db.copied", schema=lakebed.schema(pair), options=_OPTIONS)
    for name, columns, options in (
        ("accounts", pair, {**keyed, "changelog-producer": "lookup"}),
        ("mirrored", pair, keyed),
        ("totals", sums, keyed),
    ):
        catalog.create_table(
            f"db.{name}", schema=lakebed.schema(columns), primary_key=["k"], options=options
        )
    names = ("events", "copied", "accounts", "mirrored", "totals")
    return {name: catalog.load_table(f"db.{name}") for name in names}


class _Writing:
    """Writes to the sources in a thread, as long as the `with` block runs."""

    def __init__(self, tables: Mapping[str, Table], chance: random.Random) -> None:
        self.commits = 0
        self._tables = tables
        self._chance = chance
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._write)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_error: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _write(self) -> None:
        chance = self._chance
        while not self._is_over.wait(chance.uniform(0, 1)):
            keys = chance.sample(range(_KEYS), 5)
            values = [chance.randrange(1000) for _ in keys]
            rows = pa.table({"k": pa.array(keys, pa.int32()), "v": pa.array(values, pa.int64())})
            self._tables["events"].append(rows)
            if chance.random() < 1 / 4:
                self._tables["accounts"].delete(f"k = {chance.choice(keys)}")
            else:
                self._tables["accounts"].upsert(rows)
            self.commits += 2


def _start(directory: Path, *arguments: str) -> "subprocess.Popen[str]":
    """A process with the streams, which run."""
    command = [sys.executable, "-m", "support.stream_job", str(directory), *arguments]
    with (directory / "log.txt").open("a", encoding="utf-8") as log:
        process = subprocess.Popen(
            command,
            env={**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
        )
    deadline = threading.Timer(_START_SECONDS, process.kill)
    deadline.start()
    first = process.stdout.readline() if process.stdout is not None else ""
    deadline.cancel()
    if first.strip() != "started":
        tail = (directory / "log.txt").read_text(encoding="utf-8")[-3000:]
        raise RuntimeError(f"the streams did not start: {first}{tail}")
    return process


def _done(directory: Path) -> list[Path]:
    """What says that micro-batches were done."""
    return [
        path for path in (directory / "checkpoints").glob("*/commits/*") if path.name.isdecimal()
    ]


def _lose_last_lines(directory: Path) -> int:
    """Takes away what says that the last micro-batch of each query was done."""
    last: dict[Path, Path] = {}
    for line in sorted(_done(directory), key=lambda path: int(path.name)):
        last[line.parent] = line
    for line in last.values():
        line.unlink()
        line.with_name(f".{line.name}.crc").unlink(missing_ok=True)
    return len(last)


def _judge(tables: Mapping[str, Table]) -> list[str]:
    held = {name: _rows(table) for name, table in tables.items()}
    totals: dict[int, list[int]] = {}
    for (key, value), times in held["events"].items():
        of_key = totals.setdefault(int(str(key)), [0, 0])
        of_key[0] += times
        of_key[1] += times * int(str(value))
    expected: dict[str, Rows] = {
        "copied": held["events"],
        "mirrored": held["accounts"],
        "totals": Counter((key, count, total) for key, (count, total) in totals.items()),
    }
    return [
        f"{name} lacks {list((rows - held[name]).items())[:3]} and has too much "
        f"{list((held[name] - rows).items())[:3]}"
        for name, rows in expected.items()
        if rows != held[name]
    ]


def _rows(table: Table) -> Rows:
    return Counter(tuple(row.values()) for row in table.scan().to_arrow().to_pylist())
