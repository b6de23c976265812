"""How fast are compactions of a Spark job, and a changelog that looks old rows up?

Paimon's own connector does the same to copies of the same files, on a Spark of its own. So what is
compared is how many plain Parquet writes of 5 M rows by its own Spark a job costs, round by round.
At full size:

* full compaction: `CALL sys.compact` of 2 buckets of 5 overlapping runs, 5 M rows;
* lookup changelog: an upsert of 0.5 M rows, half of whose keys are there, into 4 compacted buckets
  of 5 M rows, together with the compaction that tells the changes.
"""

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import lakebed
from benchmarks.datasets import CACHE, RUN_COUNT, SCHEMA, merge_table, merged_count, orders
from benchmarks.harness import Contender, Effort, Outcome, Target, alternate
from benchmarks.spark_session import SETTINGS, attached_session
from tools.peers.paimon_spark import PaimonSpark
from tools.peers.process import PeerProcess

OURS, THEIRS = "lakebed", "paimon-spark 0.9.0"
FLOORS = {OURS: "plain Parquet", THEIRS: "plain Parquet, Spark 3.5"}
TARGET = Target(of=THEIRS, at_most=1 / 2)
_LOOKUP = {"bucket": "4", "changelog-producer": "lookup"}
_SCRATCH = CACHE / "scratch" / "spark-compaction"
_CHANGED_SHARE = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """What is measured.

    Attributes:
        name: As printed.
        source: The table that is copied before each time.
        statement: What is done to the copy, `lake.db.t`.
        row_count: How many rows it holds afterwards.
        change_count: How many changes it tells.
    """

    name: str
    source: Path
    statement: str
    row_count: int
    change_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Engine:
    """A Spark with a connector.

    Attributes:
        name: As printed.
        warehouse: Where its copies are.
        sql: Carries out a statement; the seconds that it took.
    """

    name: str
    warehouse: Path
    sql: Callable[[str], float]

    def prepare(self, *, rows: Path, changes: Path) -> None:
        """Keeps the rows of plain writes and of upserts in memory."""
        self.sql("CREATE DATABASE lake.db")
        for view, path in (("plain_rows", rows), ("changes", changes)):
            self.sql(f"CREATE TEMPORARY VIEW {view} USING parquet OPTIONS (path '{path}')")
            self.sql(f"CACHE TABLE {view}")

    def contenders(self, job: _Job) -> list[Contender]:
        """The job, and a plain write."""
        return [
            Contender(name=self.name, measure=partial(self.carry_out, job)),
            Contender(name=FLOORS[self.name], measure=self.plain),
        ]

    def carry_out(self, job: _Job) -> float:
        """Does the job to a new copy, whose making is not timed."""
        copy = self.warehouse / "db.db" / "t"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(job.source, copy)
        seconds = self.sql(job.statement)
        table = lakebed.load_table(str(copy))
        snapshot, count = table.latest_snapshot(), table.scan().count()
        told = 0 if snapshot is None else snapshot.changelog_record_count or 0
        if (count, told) != (job.row_count, job.change_count):
            raise AssertionError(f"{self.name}: {count} rows and {told} changes after {job}")
        return seconds

    def plain(self) -> float:
        """Its Spark's own Parquet files."""
        path = self.warehouse / "plain"
        shutil.rmtree(path, ignore_errors=True)
        insert = f"INSERT OVERWRITE DIRECTORY '{path}' USING parquet SELECT * FROM plain_rows"
        return self.sql(insert)


def run(effort: Effort) -> list[Outcome]:
    """Both jobs, by Lakebed and by Paimon's connector."""
    shutil.rmtree(_SCRATCH, ignore_errors=True)
    run_rows = effort.run_rows
    with PeerProcess("lakebed") as writer:
        merge_source = merge_table(writer, run_rows=run_rows)
    compaction = _Job(
        name="full compaction in Spark",
        source=merge_source,
        statement="CALL lake.sys.compact(table => 'db.t')",
        row_count=merged_count(run_rows=run_rows),
    )
    rows = _kept("plain", _rows(RUN_COUNT * run_rows, seed=0))
    changes = _rows(RUN_COUNT * run_rows // _CHANGED_SHARE, seed=1, of=RUN_COUNT * run_rows)
    lookup = _lookup_job(rows, changes, run_rows=run_rows)
    with attached_session(_SCRATCH / OURS) as spark:
        engine = _Engine(name=OURS, warehouse=_SCRATCH / OURS, sql=partial(_seconds, spark))
        engine.prepare(rows=rows, changes=_kept("changes", changes))
        if not effort.peers:
            return [_outcome(job, [engine], effort=effort) for job in (compaction, lookup)]
        with PaimonSpark(SETTINGS) as connector:
            connector.attach("lake", _SCRATCH / "paimon-spark")
            other = _Engine(
                name=THEIRS,
                warehouse=_SCRATCH / "paimon-spark",
                sql=lambda statement: connector.sql(statement).seconds,
            )
            other.prepare(rows=rows, changes=_kept("changes", changes))
            outcomes = [
                _outcome(job, [engine, other], effort=effort) for job in (compaction, lookup)
            ]
    return [each for outcome in outcomes for each in (outcome, _in_plain_writes(outcome))]


def _outcome(job: _Job, engines: list[_Engine], *, effort: Effort) -> Outcome:
    contenders = [each for engine in engines for each in engine.contenders(job)]
    return Outcome(name=job.name, figures=alternate(contenders, effort=effort))


def _in_plain_writes(outcome: Outcome) -> Outcome:
    """What the job costs each, by what a plain write of its Spark costs."""
    figures = {
        name: [
            cost / plain
            for cost, plain in zip(outcome.figures[name], outcome.figures[floor], strict=True)
        ]
        for name, floor in FLOORS.items()
    }
    name = f"{outcome.name}, in plain writes"
    return Outcome(name=name, figures=figures, unit="x", targets=(TARGET,))


def _lookup_job(rows: Path, changes: pa.Table, *, run_rows: int) -> _Job:
    """An upsert into a table that holds some rows at its highest level."""
    source = _SCRATCH / "db.db" / "lookup"
    with PeerProcess("lakebed") as writer:
        writer.create(source, SCHEMA, primary_key=["id"], options=_LOOKUP)
    held = pq.read_table(rows)
    table = lakebed.load_table(str(source))
    table.upsert(held)
    table.compact()
    known = np.isin(changes["id"].to_numpy(), held["id"].to_numpy()).sum()
    return _Job(
        name="upsert with a lookup changelog in Spark",
        source=source,
        statement="INSERT INTO lake.db.t SELECT * FROM changes",
        row_count=RUN_COUNT * run_rows + changes.num_rows - int(known),
        change_count=changes.num_rows + int(known),
    )


def _rows(row_count: int, *, seed: int, of: int | None = None) -> pa.Table:
    """Rows whose keys are drawn without repeating from twice as many as `of`, or as there are."""
    keys = np.random.default_rng(seed).permutation(2 * (of or row_count))[:row_count]
    return orders(seed, row_count=row_count).set_column(0, SCHEMA.field("id"), pa.array(keys))


def _kept(name: str, rows: pa.Table) -> Path:
    path = _SCRATCH / f"{name}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows, path)
    return path


def _seconds(spark: SparkSession, statement: str) -> float:
    started = time.perf_counter()
    spark.sql(statement).collect()
    return time.perf_counter() - started
