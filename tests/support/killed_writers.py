"""Processes that commit to one table and are killed at any moment; others take up their work.

Each writer has a name and numbers its commits, so that who takes up its work can commit again what
nobody knows the outcome of. What was acknowledged is in a log that outlives the process.
"""

import multiprocessing
import os
import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path

import pyarrow as pa

import lakebed
from lakebed.errors import CommitUnknownError
from lakebed.format.arrow.typing import python_values
from lakebed.format.snapshot import CommitKind
from lakebed.table.table import Table
from support.needed_files import lacking_and_unneeded

_LOOK_SECONDS = 0.05
_OPTIONS: Mapping[str, str | int] = {
    "commit.max-retries": 10_000,
    "commit.max-retry-wait": "200 ms",
    "snapshot.num-retained.min": 100_000,
    "snapshot.num-retained.max": 100_000,
}

Acknowledged = dict[tuple[int, int], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is tried.

    Attributes:
        warehouse: Where the table is made.
        options: A catalog's options for it.
        logs: A local directory for what was acknowledged.
        is_keyed: Whether the table has a primary key.
        writers: How many processes write at once.
        commits: How many commits each of them makes.
        kills: How many processes are killed at most.
        seed: Decides when which one is killed.
        timeout_seconds: After which the run has failed.
    """

    warehouse: str
    options: Mapping[str, str]
    logs: Path
    is_keyed: bool
    writers: int
    commits: int
    kills: int
    seed: int
    timeout_seconds: float = 7200


@dataclass(slots=True)
class Outcome:
    """What came of it.

    Attributes:
        table: The table.
        acknowledged: The snapshot of each commit that was acknowledged, by writer and number.
        counts: How much was tried.
        violations: A sentence for each broken promise.
    """

    table: Table
    acknowledged: Acknowledged
    counts: Counter[str]
    violations: list[str] = field(default_factory=list)


def run_killed_writers(plan: Plan) -> Outcome:
    """Runs a plan to its end, and compares the table with what was acknowledged."""
    catalog = lakebed.load_catalog(plan.options, warehouse=plan.warehouse)
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        schema=lakebed.schema([("writer", "INT"), ("number", "INT")]),
        primary_key=["writer", "number"] if plan.is_keyed else [],
        options={**_OPTIONS, "bucket": 1 if plan.is_keyed else -1},
    )
    kills = _write(plan, table.location)
    acknowledged = _acknowledged(plan)
    counts = Counter({"commits": plan.writers * plan.commits, "kills": kills})
    outcome = Outcome(table=table, acknowledged=acknowledged, counts=counts)
    outcome.violations += _judge(plan, outcome)
    return outcome


def _write(plan: Plan, location: str) -> int:
    """Has processes write until all is written, and kills some; returns how many."""
    context = multiprocessing.get_context("spawn")
    chance = random.Random(f"{plan.seed}/kills")
    deadline = time.monotonic() + plan.timeout_seconds

    def start(writer: int) -> BaseProcess:
        process = context.Process(target=_write_all, args=(plan, location, writer), daemon=True)
        process.start()
        return process

    running = {writer: start(writer) for writer in range(plan.writers)}
    kills = 0
    next_kill = time.monotonic() + chance.uniform(1, 3)
    while running:
        time.sleep(_LOOK_SECONDS)
        if time.monotonic() > deadline:
            raise TimeoutError(f"writers {sorted(running)} are not done")
        if kills < plan.kills and time.monotonic() > next_kill:
            running[chance.choice(sorted(running))].kill()
            kills += 1
            next_kill = time.monotonic() + chance.uniform(0.1, 2)
        for writer, process in list(running.items()):
            if process.exitcode == 0:
                del running[writer]
            elif process.exitcode is not None:
                if process.exitcode > 0:
                    raise RuntimeError(f"writer {writer} failed; its output tells why")
                running[writer] = start(writer)
    return kills


def _write_all(plan: Plan, location: str, writer: int) -> None:
    """Goes on after what this writer was told; what it was not told, it commits again."""
    table = lakebed.load_table(location, plan.options)
    schema = table.scan().schema
    log = os.open(_log(plan, writer), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for number in range(_told(plan, writer), plan.commits):
        rows = pa.table({"writer": [writer], "number": [number]}, schema=schema)
        snapshot_id = _commit(table, rows, user=f"writer-{writer}", identifier=number)
        os.write(log, f"{number} {snapshot_id}\n".encode())
    os.close(log)


def _commit(table: Table, rows: pa.Table, *, user: str, identifier: int) -> int:
    """The id of the snapshot; 0 where the commit was there already."""
    while True:
        try:
            with table.writer(user=user, identifier=identifier) as writer:
                writer.append(rows)
        except CommitUnknownError:
            continue
        return 0 if writer.snapshot is None else writer.snapshot.id


def _log(plan: Plan, writer: int) -> Path:
    return plan.logs / f"writer-{writer}"


def _told(plan: Plan, writer: int) -> int:
    """How many commits a writer was told of; a line that it died in does not count."""
    log = _log(plan, writer)
    return log.read_bytes().count(b"\n") if log.exists() else 0


def _acknowledged(plan: Plan) -> Acknowledged:
    found = {}
    for writer in range(plan.writers):
        for line in _log(plan, writer).read_text(encoding="ascii").splitlines():
            number, _, snapshot_id = line.partition(" ")
            found[writer, int(number)] = int(snapshot_id)
    return found


def _judge(plan: Plan, outcome: Outcome) -> Iterator[str]:
    table = outcome.table
    expected = {(w, n) for w in range(plan.writers) for n in range(plan.commits)}
    rows = table.scan().to_arrow()
    columns = (python_values(rows[name]) for name in ("writer", "number"))
    found = Counter(zip(*columns, strict=True))
    if lost := sorted(expected - found.keys()):
        yield f"{len(lost)} commits are lost, {lost[0]} first"
    if doubled := sorted(key for key, count in found.items() if count > 1):
        yield f"{len(doubled)} commits are there twice, {doubled[0]} first"
    if outcome.acknowledged.keys() != expected:
        yield "not every commit was acknowledged"
    yield from _judge_snapshots(outcome)
    findings = table.check()
    if not findings.is_clean:
        yield f"check finds: {findings}"
    if lacking := lacking_and_unneeded(table)[0]:
        yield f"files are not there: {sorted(lacking)[:3]}"


def _judge_snapshots(outcome: Outcome) -> Iterator[str]:
    """What was told of each commit must be so: a snapshot of its own, or that it was there."""
    snapshots = list(outcome.table.snapshots())
    if [each.id for each in snapshots] != list(range(1, len(snapshots) + 1)):
        yield "snapshots have a gap"
    by_commit: dict[tuple[str, int], list[int]] = {}
    for each in snapshots:
        if each.commit_kind is not CommitKind.COMPACT:
            key = (each.commit_user, each.commit_identifier)
            by_commit.setdefault(key, []).append(each.id)
    for (writer, number), snapshot_id in sorted(outcome.acknowledged.items()):
        ids = by_commit.get((f"writer-{writer}", number), [])
        if len(ids) != 1 or snapshot_id not in (0, *ids):
            yield f"commit {number} of writer {writer} was told as {snapshot_id}, and is {ids}"
    outcome.counts["replays that were there"] = list(outcome.acknowledged.values()).count(0)
    outcome.counts["snapshots"] = len(snapshots)
