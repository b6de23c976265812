"""Streams between tables that are killed at any moment, and started again.

Rows come in all the while. In half of the cases the last line of a checkpoint is lost with the
process, as if it had died between the commit to the table and that line, so that Spark runs the
micro-batch again.
"""

import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

import lakebed
from lakebed.table.table import Table
from support.killed_programs import Outcome, StreamProgram
from support.stream_job import STREAMS
from support.writing import Writing

_KEYS = 50
_OPTIONS: dict[str, str | int] = {
    "snapshot.num-retained.min": 100_000,
    "snapshot.num-retained.max": 100_000,
}
Rows = Counter[tuple[object, ...]]


def run_killed_streams(directory: Path, *, seed: int, kills: int) -> Outcome:
    """Has streams run and killed, and compares what they wrote with what a batch says.

    Args:
        directory: Where tables and checkpoints are made.
        seed: Decides what is written, and when the process is killed.
        kills: How often.
    """
    chance, outcome = random.Random(f"{seed}/kills"), Outcome()
    tables = _make(directory)
    program = StreamProgram("support.stream_job", directory)
    writing = _Writing(tables, random.Random(f"{seed}/rows"))
    with writing:
        for _ in range(kills):
            done = len(program.done())
            with program.running(*_choice(chance)) as process:
                program.await_progress(process, since=done)
                time.sleep(chance.uniform(0, 4))
            outcome.counts["kills"] += 1
            if chance.random() < 1 / 2:
                outcome.counts["lost lines of checkpoints"] += program.lose_last_lines()
    outcome.violations += program.drain()
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


def _choice(chance: random.Random) -> Sequence[str]:
    """Most of the times one stream alone, which starts and dies sooner than all three together."""
    return () if chance.random() < 1 / 5 else ("--only", chance.choice(STREAMS))


class _Writing(Writing):
    """Writes to the sources."""

    def __init__(self, tables: Mapping[str, Table], chance: random.Random) -> None:
        super().__init__()
        self.commits = 0
        self._tables = tables
        self._chance = chance

    def pause_seconds(self) -> float:
        return self._chance.uniform(0, 1)

    def write(self) -> None:
        chance = self._chance
        keys = chance.sample(range(_KEYS), 5)
        values = [chance.randrange(1000) for _ in keys]
        rows = pa.table({"k": pa.array(keys, pa.int32()), "v": pa.array(values, pa.int64())})
        self._tables["events"].append(rows)
        if chance.random() < 1 / 4:
            self._tables["accounts"].delete(f"k = {chance.choice(keys)}")
        else:
            self._tables["accounts"].upsert(rows)
        self.commits += 2


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
