"""How fast are rows written? Through Spark beside its own plain Parquet write, in process too.

Spark's write keeps no snapshot, no statistics and no order: it is the floor of what a table's write
can cost. All contenders take their rows from the same cached frame, 5 M rows of 8 columns at full
size; in process it is 1 M of the same rows. Paimon's own connector runs on another Spark, so what
is compared with it is how many plain Parquet writes of its own Spark a write costs, round by round.
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
from pyspark.sql.types import StructType

from benchmarks.datasets import CACHE, SCHEMA, orders
from benchmarks.harness import Contender, Effort, Outcome, Target, alternate
from benchmarks.spark_session import SETTINGS, attached_session
from tools.peers.paimon_spark import PaimonSpark
from tools.peers.process import PeerProcess, write_ipc

BUCKETS = 4
KEYED = {"primary-key": "id", "bucket": str(BUCKETS)}
PIECES = 5
FIRST_MICROS = 1_700_000_000_000_000
CREATED = pa.field("created", pa.timestamp("us", "UTC"))
LINES = SCHEMA.append(CREATED)
SLOW_ROUNDS = 1
KEYED_AT_MOST = 2.5
APPEND_AT_MOST = 1.25
PLAIN, PLAIN_35 = "plain Parquet", "plain Parquet, Spark 3.5"
WRITE_ONLY, COMPACTING = "paimon-spark 0.9.0, write-only", "paimon-spark 0.9.0"
CONNECTOR = Target(of=WRITE_ONLY, at_most=1 / 1.5)
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
        outcomes = [
            *_keyed(_Spark(scratch, frame, KEYED), effort=effort),
            _unbucketed(_Spark(scratch, frame, {}), effort=effort),
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

    def contenders(self) -> list[Contender]:
        """Both, Lakebed first."""
        return [
            Contender(name="lakebed", measure=self.lakebed),
            Contender(name=PLAIN, measure=self.plain),
        ]

    def lakebed(self) -> float:
        """Into a new table, whose making is not timed."""
        shutil.rmtree(self.scratch / "db.db" / "lines", ignore_errors=True)
        self.frame.sparkSession.sql(_create(self.frame.schema, self.options))
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


class _Connector:
    """The same writes of the same files by Paimon's connector, on a Spark of its own.

    Attributes:
        scratch: Where.
        spark: The session.
        schema: Of the rows.
    """

    def __init__(self, scratch: Path, spark: PaimonSpark, schema: StructType) -> None:
        self.scratch, self.spark, self.schema = scratch, spark, schema

    def prepare(self, rows: Path) -> None:
        """Attaches a warehouse and keeps the rows in memory, as Spark keeps them."""
        self.spark.attach("lake", self.scratch)
        self.spark.sql("CREATE DATABASE lake.db")
        self.spark.sql(f"CREATE TEMPORARY VIEW lines USING parquet OPTIONS (path '{rows}')")
        self.spark.sql("CACHE TABLE lines")

    def contenders(self) -> list[Contender]:
        """Without compaction, and with it as is the default; and its Spark's own Parquet files."""
        return [
            Contender(name=WRITE_ONLY, measure=partial(self.write, {"write-only": "true"})),
            Contender(name=COMPACTING, measure=partial(self.write, {})),
            Contender(name=PLAIN_35, measure=self.plain),
        ]

    def write(self, options: dict[str, str]) -> float:
        """Into a new table, whose making is not timed."""
        self.spark.sql("DROP TABLE IF EXISTS lake.db.lines")
        self.spark.sql(_create(self.schema, {**KEYED, **options}))
        return self.spark.sql("INSERT INTO lake.db.lines SELECT * FROM lines").seconds

    def plain(self) -> float:
        """Spark's own Parquet files."""
        path = self.scratch / "plain"
        shutil.rmtree(path, ignore_errors=True)
        insert = f"INSERT OVERWRITE DIRECTORY '{path}' USING parquet SELECT * FROM lines"
        return self.spark.sql(insert).seconds

    def check(self) -> None:
        """Each key once, and only rows that were written: fewer would be less work."""
        count = "SELECT count(*), sum(id) FROM"
        held = self.spark.sql(f"{count} lake.db.lines").rows
        written = self.spark.sql(f"{count} (SELECT DISTINCT id FROM lines)").rows
        others = "(SELECT * FROM lake.db.lines EXCEPT SELECT * FROM lines)"
        foreign = self.spark.sql(f"SELECT count(*) FROM {others}").rows[0][0]
        if held != written or foreign:
            raise AssertionError(f"{held} are held of {written}, {foreign} were never written")


def _create(schema: StructType, options: dict[str, str]) -> str:
    properties = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    return f"CREATE TABLE lake.db.lines ({schema.toDDL()})" + (
        f" TBLPROPERTIES ({properties})" if properties else ""
    )


def _keyed(writes: _Spark, *, effort: Effort) -> list[Outcome]:
    """Beside Spark's own files, and beside Paimon's connector by what such files cost each."""
    name, target = "Spark write into 4 buckets", Target(of=PLAIN, at_most=KEYED_AT_MOST)
    if not effort.peers:
        figures = alternate(writes.contenders(), effort=effort)
        return [Outcome(name=name, figures=figures, targets=(target,))]
    with PaimonSpark(SETTINGS) as spark:
        theirs = _Connector(writes.scratch / "paimon-spark", spark, writes.frame.schema)
        theirs.prepare(_directory(effort.run_rows))
        figures = alternate([*writes.contenders(), *theirs.contenders()], effort=effort)
        theirs.check()
    floors = {"lakebed": PLAIN, WRITE_ONLY: PLAIN_35, COMPACTING: PLAIN_35}
    costs = {
        writer: [cost / plain for cost, plain in zip(figures[writer], figures[floor], strict=True)]
        for writer, floor in floors.items()
    }
    return [
        Outcome(name=name, figures=figures, targets=(target,)),
        Outcome(name=f"{name}, in plain writes", figures=costs, unit="x", targets=(CONNECTOR,)),
    ]


def _unbucketed(writes: _Spark, *, effort: Effort) -> Outcome:
    figures = alternate(writes.contenders(), effort=effort)
    target = Target(of=PLAIN, at_most=APPEND_AT_MOST)
    return Outcome(name="Spark append without buckets", figures=figures, targets=(target,))


def _directory(run_rows: int) -> Path:
    return CACHE / f"lines-{run_rows}"


def _cached(spark: SparkSession, *, run_rows: int) -> DataFrame:
    """The rows in memory, as Spark keeps them."""
    directory = _directory(run_rows)
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
