"""Statements on copies of tables, by Lakebed and by Paimon's own connector on a Spark of its own.

What is compared is how many plain Parquet writes by its own Spark a statement costs, in each round.
"""

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import lakebed
from benchmarks.datasets import SCHEMA, orders
from benchmarks.harness import Contender, Effort, Outcome, Target, alternate
from benchmarks.spark_session import SETTINGS, attached_session
from tools.peers.other_lakes import OtherLake
from tools.peers.paimon_spark import PaimonSpark

OURS, THEIRS = "lakebed", "paimon-spark 0.9.0"
TABLE = "lake.db.t"
_FLOORS = {OURS: "plain Parquet", THEIRS: "plain Parquet, Spark 3.5"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
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
class Engine:
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
        self.make_database()
        for view, path in (("plain_rows", rows), ("changes", changes)):
            self.sql(f"CREATE TEMPORARY VIEW {view} USING parquet OPTIONS (path '{path}')")
            self.sql(f"CACHE TABLE {view}")

    def make_database(self) -> None:
        """Makes the database of the copies."""
        self.sql("CREATE DATABASE lake.db")

    def contenders(self, job: Job) -> list[Contender]:
        """The job, and a plain write."""
        return [
            Contender(name=self.name, measure=partial(self.carry_out, job)),
            Contender(name=floor_of(self.name), measure=self.plain),
        ]

    def carry_out(self, job: Job) -> float:
        """Does the job to a new copy of the table, whose making is not timed."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherEngine(Engine):
    """A Spark with another table format, whose tables are made anew each time, of `plain_rows`.

    Attributes:
        lake: The format.
        spark: The session.
    """

    lake: OtherLake
    spark: PaimonSpark

    def make_database(self) -> None:
        """It is there from the start."""

    def carry_out(self, job: Job) -> float:
        """Does the job to a new table of the same rows."""
        table = f"{self.lake.database}.t"
        self.spark.sql(f"DROP TABLE IF EXISTS {table}")
        self.spark.sql(f"CREATE TABLE {table} {self.lake.using} AS SELECT * FROM plain_rows")
        seconds = self.sql(job.statement.replace(TABLE, table))
        count = self.spark.sql(f"SELECT count(*) FROM {table}").rows[0][0]
        if count != job.row_count:
            raise AssertionError(f"{self.name}: {count} rows after {job}")
        return seconds


@contextmanager
def engines(
    scratch: Path,
    effort: Effort,
    *,
    rows: Path,
    changes: Path,
    others: Sequence[OtherLake] = (),
) -> Iterator[list[Engine]]:
    """Lakebed and, where peers are asked for, Paimon's connector, each with a warehouse `lake`.

    Args:
        scratch: Where all is kept.
        effort: Whether peers are asked for.
        rows: A Parquet file: the rows of plain writes.
        changes: Another, of what is changed.
        others: Other formats that are peers, too.
    """
    with ExitStack() as stack:
        spark = stack.enter_context(attached_session(scratch / OURS))
        found = [Engine(name=OURS, warehouse=scratch / OURS, sql=partial(seconds, spark))]
        if effort.peers:
            connector = stack.enter_context(PaimonSpark(SETTINGS))
            connector.attach("lake", scratch / "paimon-spark")
            found.append(
                Engine(
                    name=THEIRS,
                    warehouse=scratch / "paimon-spark",
                    sql=partial(_seconds_of, connector),
                )
            )
            for lake in others:
                warehouse = scratch / lake.name.partition(" ")[0]
                peer = stack.enter_context(lake.start(SETTINGS, warehouse=warehouse))
                found.append(
                    OtherEngine(
                        name=lake.name,
                        warehouse=warehouse,
                        sql=partial(_seconds_of, peer),
                        lake=lake,
                        spark=peer,
                    )
                )
        for engine in found:
            engine.prepare(rows=rows, changes=changes)
        yield found


def outcomes_of(
    jobs: Sequence[Job], contenders: list[Engine], *, effort: Effort, targets: tuple[Target, ...]
) -> list[Outcome]:
    """What each job takes, and where there is a peer, in plain writes."""
    found = [outcome(job, contenders, effort=effort) for job in jobs]
    if not effort.peers:
        return found
    return [each for one in found for each in (one, in_plain_writes(one, targets))]


def outcome(job: Job, engines: list[Engine], *, effort: Effort) -> Outcome:
    contenders = [each for engine in engines for each in engine.contenders(job)]
    return Outcome(name=job.name, figures=alternate(contenders, effort=effort))


def in_plain_writes(outcome: Outcome, targets: tuple[Target, ...]) -> Outcome:
    """What the job costs each, by what a plain write of its Spark costs."""
    figures = {
        name: [
            cost / plain for cost, plain in zip(costs, outcome.figures[floor_of(name)], strict=True)
        ]
        for name, costs in outcome.figures.items()
        if floor_of(name) in outcome.figures
    }
    name = f"{outcome.name}, in plain writes"
    return Outcome(name=name, figures=figures, unit="x", targets=targets)


def floor_of(engine: str) -> str:
    """The name of an engine's plain writes."""
    return _FLOORS.get(engine, f"plain Parquet, Spark 3.5 of {engine.partition(' ')[0]}")


def _seconds_of(connector: PaimonSpark, statement: str) -> float:
    return connector.sql(statement).seconds


def drawn_rows(row_count: int, *, seed: int, of: int | None = None) -> pa.Table:
    """Rows whose keys are drawn without repeating from twice as many as `of`, or as there are."""
    keys = np.random.default_rng(seed).permutation(2 * (of or row_count))[:row_count]
    return orders(seed, row_count=row_count).set_column(0, SCHEMA.field("id"), pa.array(keys))


def kept(scratch: Path, name: str, rows: pa.Table) -> Path:
    path = scratch / f"{name}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows, path)
    return path


def seconds(spark: SparkSession, statement: str) -> float:
    started = time.perf_counter()
    spark.sql(statement).collect()
    return time.perf_counter() - started
