"""How many rows a second does Structured Streaming upsert, and how long until they can be read?

The same program runs on Spark with Lakebed and on a Spark of its own with Paimon's connector: rows
of Parquet files, a file a micro-batch, or rows at a fixed rate, into a table with a primary key.

* upserts: seconds for all files, the first micro-batch aside, which warms up;
* latency: from the time that a row says to the commit that holds it, the median row, at a rate of
  2,000 rows a second. What a commit holds is read from the table afterwards.

Iceberg and Delta Lake know no keys; each of their micro-batches is a MERGE, and ends with it. They
are slow, so they take part once, and are only reported.
"""

import json
import shutil
import statistics
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import lakebed
from benchmarks.datasets import CACHE
from benchmarks.harness import Contender, Effort, Outcome, Target, alternate
from benchmarks.spark_jobs import OURS, THEIRS
from benchmarks.spark_session import SETTINGS, attached_session
from lakebed.format.arrow.typing import python_values
from tools.peers.other_lakes import OTHER_LAKES, OtherLake
from tools.peers.paimon_spark import PaimonSpark

UPSERTS = Target(of=THEIRS, at_most=1 / 1.5)
LATENCY = Target(of=THEIRS, at_most=1.0)
_SCRATCH = CACHE / "scratch" / "streaming"
_FILES, _BUCKETS = 9, 4
_LATENCY_SECONDS, _ROWS_A_SECOND = 30, 2000
_WARM_UP = 1 / 3
_FILES_READ = """
rows = spark.readStream.schema("id BIGINT, amount DOUBLE, note STRING").option(
    "maxFilesPerTrigger", "1").parquet("{files}")
"""
_RATE_READ = """
source = spark.readStream.format("rate").option("rowsPerSecond", "{rate}").load()
rows = source.selectExpr("value % 100000 AS id", "CAST(unix_micros(timestamp) AS DOUBLE) AS amount",
    "CAST(value AS STRING) AS note")
"""
_TO_PAIMON = """
writer = rows.writeStream.format("paimon").outputMode("append")
start = lambda: writer.start("{table}")
"""
_BY_MERGE = """
import time
ended = {{}}
def merge(batch, number):
    batch.createOrReplaceTempView("changes")
    batch.sparkSession.sql("MERGE INTO {table} t USING changes s ON t.id = s.id"
        " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *")
    ended[number] = time.time()
writer = rows.writeStream.foreachBatch(merge)
start = lambda: writer.start()
"""
_ALL = """
writer.option("checkpointLocation", "{checkpoint}").trigger(availableNow=True)
query = start()
query.awaitTermination()
batches = [each["durationMs"]["triggerExecution"] for each in query.recentProgress
    if each["numInputRows"]]
str(sum(batches[1:]) / 1000)
"""
_A_WHILE = """
writer.option("checkpointLocation", "{checkpoint}")
query = start()
query.awaitTermination({seconds})
query.stop()
"""
_NOTHING = '"done"'
_WHEN_MERGED = """
import json
first = spark.sql("SELECT min(amount) FROM {table}").collect()[0][0]
json.dumps([first, [[each["numInputRows"], ended[each["batchId"]]] for each in query.recentProgress
    if each["numInputRows"] and each["batchId"] in ended]])
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A Spark that streams into tables.

    Attributes:
        name: As printed.
        tell: Runs a program; the text of its last line.
        rounds: How many of the rounds it takes part in; None is all.
    """

    name: str
    tell: Callable[[str], str]
    rounds: int | None = None

    def upsert(self, files: Path) -> float:
        """Seconds for all files but the first."""
        table = _fresh_table(self.name)
        program = _FILES_READ + _TO_PAIMON + _ALL
        seconds = float(
            self.tell(program.format(files=files, checkpoint=_checkpoint(self.name), table=table))
        )
        found, expected = lakebed.load_table(str(table)).scan().count(), _distinct(files)
        if found != expected:
            raise AssertionError(f"{self.name}: {found} rows, not {expected}")
        return seconds

    def latency(self) -> float:
        """Seconds until the median row can be read."""
        table = _fresh_table(self.name)
        self.tell(_at_a_rate(_TO_PAIMON + _A_WHILE + _NOTHING, self.name, str(table)))
        return _median_latency(lakebed.load_table(str(table)))


@dataclass(frozen=True, slots=True, kw_only=True)
class MergingEngine(Engine):
    """A Spark whose tables know no keys.

    Attributes:
        lake: The format of its tables.
        spark: The session.
    """

    lake: OtherLake
    spark: PaimonSpark

    def upsert(self, files: Path) -> float:
        """Seconds for all files but the first."""
        table = self._fresh_table()
        program = _FILES_READ + _BY_MERGE + _ALL
        seconds = float(
            self.tell(program.format(files=files, checkpoint=_checkpoint(self.name), table=table))
        )
        found = self.spark.sql(f"SELECT count(*) FROM {table}").rows[0][0]
        if found != _distinct(files):
            raise AssertionError(f"{self.name}: {found} rows")
        return seconds

    def latency(self) -> float:
        """Seconds until the median row can be read."""
        table = self._fresh_table()
        told = self.tell(_at_a_rate(_BY_MERGE + _A_WHILE + _WHEN_MERGED, self.name, table))
        first, batches = json.loads(told)
        return _latency_of(first / 1e6, batches)

    def _fresh_table(self) -> str:
        table = f"{self.lake.database}.t"
        shutil.rmtree(_checkpoint(self.name), ignore_errors=True)
        self.spark.sql(f"DROP TABLE IF EXISTS {table}")
        self.spark.sql(
            f"CREATE TABLE {table} (id BIGINT, amount DOUBLE, note STRING) {self.lake.using}"
        )
        return table


def run(effort: Effort) -> list[Outcome]:
    """Both, by Lakebed and, where peers are asked for, by Paimon's connector and other lakes."""
    shutil.rmtree(_SCRATCH, ignore_errors=True)
    files = _files(max(effort.run_rows // 5, 1000))
    with _engines(effort) as engines:
        return _outcomes(engines, files, effort=effort)


@contextmanager
def _engines(effort: Effort) -> Iterator[list[Engine]]:
    with ExitStack() as stack:
        spark = stack.enter_context(attached_session(_SCRATCH / "lake"))
        found = [Engine(name=OURS, tell=partial(_value, spark))]
        if effort.peers:
            connector = stack.enter_context(PaimonSpark(SETTINGS))
            found.append(Engine(name=THEIRS, tell=partial(_told, connector)))
            for lake in OTHER_LAKES:
                peer = stack.enter_context(
                    lake.start(SETTINGS, warehouse=_SCRATCH / _directory(lake.name))
                )
                tell = partial(_told, peer)
                found.append(
                    MergingEngine(name=lake.name, tell=tell, rounds=1, lake=lake, spark=peer)
                )
        yield found


def _outcomes(engines: list[Engine], files: Path, *, effort: Effort) -> list[Outcome]:
    upserts = [
        Contender(name=each.name, measure=partial(each.upsert, files), rounds=each.rounds)
        for each in engines
    ]
    latency = [
        Contender(name=each.name, measure=each.latency, rounds=each.rounds) for each in engines
    ]
    return [
        Outcome(
            name="upserts of a stream",
            figures=alternate(upserts, effort=effort),
            targets=(UPSERTS,) if effort.peers else (),
        ),
        Outcome(
            name="latency of a stream",
            figures=alternate(latency, effort=effort),
            targets=(LATENCY,) if effort.peers else (),
        ),
    ]


def _at_a_rate(writing: str, name: str, table: str) -> str:
    """A program that writes rows as they come, for a while."""
    return (_RATE_READ + writing).format(
        rate=_ROWS_A_SECOND,
        checkpoint=_checkpoint(name),
        table=table,
        seconds=_LATENCY_SECONDS,
    )


def _files(rows: int) -> Path:
    """Rows whose keys come again in other files."""
    directory = _SCRATCH / "files"
    directory.mkdir(parents=True)
    chance = np.random.default_rng(0)
    for number in range(_FILES):
        keys = chance.permutation(2 * rows)[:rows]
        columns = {"id": keys, "amount": chance.random(rows), "note": [f"note {k}" for k in keys]}
        pq.write_table(pa.table(columns), directory / f"{number:03}.parquet")
    return directory


def _distinct(files: Path) -> int:
    keys = pq.read_table(files, columns=["id"]).column("id")
    return len(keys.unique())


def _fresh_table(name: str) -> Path:
    path = _SCRATCH / _directory(name) / "db.db" / "t"
    shutil.rmtree(path.parents[1], ignore_errors=True)
    catalog = lakebed.load_catalog(warehouse=(_SCRATCH / _directory(name)).as_uri())
    catalog.create_database("db")
    columns = [("id", "BIGINT NOT NULL"), ("amount", "DOUBLE"), ("note", "STRING")]
    catalog.create_table(
        "db.t",
        schema=lakebed.schema(columns),
        primary_key=["id"],
        options={"bucket": _BUCKETS, "snapshot.num-retained.min": 1000},
    )
    return path


def _directory(name: str) -> str:
    return name.split(maxsplit=1)[0]


def _checkpoint(name: str) -> Path:
    return _SCRATCH / _directory(name) / "checkpoint"


def _median_latency(table: lakebed.Table) -> float:
    """Of the rows of all commits but the first third, which warm up."""
    commits = [each for each in table.snapshots() if each.commit_kind.value == "APPEND"]
    found: list[float] = []
    for snapshot in commits[int(len(commits) * _WARM_UP) :]:
        scan = table.scan(["amount"], incremental=(snapshot.id - 1, snapshot.id))
        micros = python_values(scan.to_arrow().column("amount"))
        found += [snapshot.time_millis / 1e3 - float(str(each)) / 1e6 for each in micros]
    return statistics.median(found)


def _latency_of(first: float, batches: list[tuple[int, float]]) -> float:
    """Of the rows of all micro-batches but the first third.

    Args:
        first: The time of the first row.
        batches: How many rows each has, and when it ended.
    """
    found: list[float] = []
    before = 0
    for number, (rows, ended) in enumerate(batches):
        if number >= int(len(batches) * _WARM_UP):
            found += (ended - first - np.arange(before, before + rows) / _ROWS_A_SECOND).tolist()
        before += rows
    return statistics.median(found)


def _value(spark: SparkSession, program: str) -> str:
    """Runs a program as the peer's driver does."""
    *lines, last = program.strip().splitlines()
    names: dict[str, object] = {"spark": spark}
    exec(compile("\n".join(lines), "stream", "exec"), names)
    return str(eval(compile(last, "stream", "eval"), names))


def _told(connector: PaimonSpark, program: str) -> str:
    answer = connector.tell(program, is_python=True)
    if "error" in answer:
        raise RuntimeError(answer["message"])
    return str(answer["rows"][0][0])
