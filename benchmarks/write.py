"""How fast are rows written? Through Spark beside its own plain Parquet write, in process too.

Spark's write keeps no snapshot, no statistics and no order: it is the floor of what a table's write
can cost. All contenders take their rows from the same cached frame, 5 M rows of 8 columns at full
size; in process it is 1 M of the same rows.
"""

import shutil
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from benchmarks.datasets import CACHE, SCHEMA, orders
from benchmarks.harness import Contender, Effort, Outcome, Target, alternate
from benchmarks.spark_session import attached_session
from tools.peers.process import PeerProcess, write_ipc

BUCKETS = 4
PIECES = 5
FIRST_MICROS = 1_700_000_000_000_000
CREATED = pa.field("created", pa.timestamp("us", "UTC"))
LINES = SCHEMA.append(CREATED)
SLOW_ROUNDS = 1
KEYED_AT_MOST = 2.5
APPEND_AT_MOST = 1.25
IN_PROCESS = (Target(of="pypaimon", at_most=1 / 20), Target(of="pypaimon-rust", at_most=1.0))


def lines(piece: int, *, row_count: int) -> pa.Table:
    """One piece of the rows, in no order."""
    rows = orders(piece, row_count=row_count)
    seconds = np.random.default_rng(piece).integers(0, 86_400 * 365, row_count)
    created = pa.array(FIRST_MICROS + seconds * 1_000_000 + piece).cast(CREATED.type)
    return rows.append_column(CREATED, created)


def run(effort: Effort) -> list[Outcome]:
    """Into a table with a primary key, into one without, and both kinds of writes in process."""
    scratch = CACHE / "scratch" / "write"
    shutil.rmtree(scratch, ignore_errors=True)
    with attached_session(scratch) as spark:
        spark.sql("CREATE DATABASE IF NOT EXISTS lake.db")
        frame = _cached(spark, run_rows=effort.run_rows)
        keyed = _Spark(scratch, frame, {"primary-key": "id", "bucket": str(BUCKETS)})
        append = _Spark(scratch, frame, {})
        outcomes = [
            _compare("Spark write into 4 buckets", keyed, KEYED_AT_MOST, effort=effort),
            _compare("Spark append without buckets", append, APPEND_AT_MOST, effort=effort),
        ]
    return [*outcomes, _in_process(effort)]


class _Spark:
    """Writes of one frame, each into something new.

    Attributes:
        scratch: Where.
        frame: The rows.
        options: Of the table.
    """

    def __init__(self, scratch: Path, frame: DataFrame, options: dict[str, str]) -> None:
        self.scratch, self.frame, self.options = scratch, frame, options

    def lakebed(self) -> float:
        """Into a new table, whose making is not timed."""
        shutil.rmtree(self.scratch / "db.db" / "lines", ignore_errors=True)
        properties = ", ".join(f"'{key}' = '{value}'" for key, value in self.options.items())
        spark = self.frame.sparkSession
        spark.sql(
            f"CREATE TABLE lake.db.lines ({self.frame.schema.toDDL()})"
            + (f" TBLPROPERTIES ({properties})" if properties else "")
        )
        started = time.perf_counter()
        self.frame.writeTo("lake.db.lines").append()
        return time.perf_counter() - started

    def plain(self) -> float:
        """Spark's own Parquet files."""
        path = self.scratch / "plain"
        shutil.rmtree(path, ignore_errors=True)
        started = time.perf_counter()
        self.frame.write.parquet(path.as_uri())
        return time.perf_counter() - started


def _compare(name: str, writes: _Spark, at_most: float, *, effort: Effort) -> Outcome:
    contenders = [
        Contender(name="lakebed", measure=writes.lakebed),
        Contender(name="plain Parquet", measure=writes.plain),
    ]
    target = Target(of="plain Parquet", at_most=at_most)
    return Outcome(name=name, figures=alternate(contenders, effort=effort), targets=(target,))


def _cached(spark: SparkSession, *, run_rows: int) -> DataFrame:
    """The rows in memory, as Spark keeps them."""
    directory = CACHE / f"lines-{run_rows}"
    for piece in range(PIECES):
        path = directory / f"{piece}.parquet"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(lines(piece, row_count=run_rows), path.with_suffix(".new"))
            path.with_suffix(".new").rename(path)
    frame = spark.read.parquet(directory.as_uri()).cache()
    frame.count()
    return frame


def _in_process(effort: Effort) -> Outcome:
    """The same rows into a new table of 4 buckets, by each library in its own process."""
    rounds = {"lakebed": None, "pypaimon-rust": None, "pypaimon": SLOW_ROUNDS}
    names = list(rounds) if effort.peers else ["lakebed"]
    rows = write_ipc(lines(0, row_count=effort.run_rows), CACHE / f"lines-{effort.run_rows}.arrow")
    table = CACHE / "scratch" / "write" / "db.db" / "in_process"
    with ExitStack() as stack:
        writers = {name: stack.enter_context(PeerProcess(name)) for name in names}

        def seconds(name: str) -> float:
            shutil.rmtree(table, ignore_errors=True)
            options = {"bucket": str(BUCKETS), "write-only": "true"}
            writers["lakebed"].create(table, LINES, primary_key=["id"], options=options)
            answer = writers[name].ask("write", table=str(table), data=str(rows))
            return float(answer["seconds"])

        contenders = [
            Contender(name=name, measure=partial(seconds, name), rounds=rounds[name])
            for name in names
        ]
        figures = alternate(contenders, effort=effort)
    return Outcome(name="write in process into 4 buckets", figures=figures, targets=IN_PROCESS)
