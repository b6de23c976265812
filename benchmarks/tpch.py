"""What do TPC-H's 22 queries cost over Lakebed tables, as ratio to Spark over Parquet files?

Spark wrote the Parquet files from the generated ones, with the compression that Lakebed's have, and
as many for a table as the append table has. Keyed tables have two buckets (the small ones one), and
once compacted a file in each. The uncompacted ones have four overlapping runs, a third of the rows
twice, and deleted rows (`tools.tpch.loading`). A query's time is planning and all; it is asked of
each kind of table in turns, and the geometric mean is over the ratios of one round.
"""

import hashlib
import inspect
import shutil
import statistics
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.datasets import CACHE
from benchmarks.harness import Contender, Effort, Outcome, Target, alternate
from benchmarks.spark_session import attached_session
from tools.tpch import loading
from tools.tpch.data import TABLES, generated
from tools.tpch.queries import QUERIES

FLOOR = "plain Parquet"
KINDS: Mapping[str, float] = {
    "append": 1.15,
    "compacted": 1.15,
    "uncompacted": 1.8,
}
"""The kinds of tables, each with the ratio that is promised."""

Times = Mapping[str, dict[str, list[float]]]


def run(effort: Effort) -> list[Outcome]:
    """A line for each kind of table, then one for each query."""
    directory = CACHE / f"tpch-{effort.scale}"
    is_made = _is_made(directory)
    with attached_session(directory / "lake") as spark:
        _make_parquet(spark, directory, generated(effort.scale))
        if not is_made:
            _make_tables(spark, effort)
            (directory / "stamp").write_text(_digest(), encoding="ascii")
        times = {name: _times(spark, name, effort) for name in QUERIES}
    return [*(_mean(kind, times) for kind in KINDS), *(_ratios(name, times) for name in times)]


def _digest() -> str:
    sources = inspect.getsource(loading) + Path(__file__).read_text(encoding="utf-8")
    return hashlib.sha256(sources.encode()).hexdigest()


def _is_made(directory: Path) -> bool:
    """Whether all tables are there; what is there of them otherwise is deleted."""
    stamp = directory / "stamp"
    if stamp.exists() and stamp.read_text(encoding="ascii") == _digest():
        return True
    shutil.rmtree(directory, ignore_errors=True)
    return False


def _make_parquet(spark: SparkSession, directory: Path, files: Path) -> None:
    """Spark forgets its tables when it ends; their files stay."""
    spark.sql("CREATE DATABASE parquet")
    for table in TABLES:
        path = directory / "parquet" / table
        if not path.exists():
            rows = spark.read.parquet(str(files / f"{table}.parquet"))
            rows.write.option("compression", "zstd").parquet(str(path))
        spark.sql(f"CREATE TABLE parquet.{table} USING parquet LOCATION '{path}'")


def _make_tables(spark: SparkSession, effort: Effort) -> None:
    effort.progress("making append tables")
    loading.load_append(spark, "lake.append", source="parquet")
    for kind in ("compacted", "uncompacted"):
        effort.progress(f"making keyed tables, {kind}")
        loading.load_keyed(spark, f"lake.{kind}", source="parquet")
    loading.compact(spark, "lake.compacted")


def _times(spark: SparkSession, name: str, effort: Effort) -> dict[str, list[float]]:
    databases = {**{kind: f"lake.{kind}" for kind in KINDS}, FLOOR: "spark_catalog.parquet"}
    contenders = [
        Contender(name=f"{name}, {kind}", measure=partial(_seconds, spark, database, QUERIES[name]))
        for kind, database in databases.items()
    ]
    return dict(zip(databases, alternate(contenders, effort=effort).values(), strict=True))


def _seconds(spark: SparkSession, database: str, query: str) -> float:
    spark.sql(f"USE {database}")
    started = time.perf_counter()
    spark.sql(query).collect()
    return time.perf_counter() - started


def _by_round(kind: str, times: dict[str, list[float]]) -> list[float]:
    """By how much longer the query took in each round."""
    pairs = zip(times[kind], times[FLOOR], strict=True)
    return [ours / theirs for ours, theirs in pairs]


def _mean(kind: str, times: Times) -> Outcome:
    rounds = zip(*(_by_round(kind, each) for each in times.values()), strict=True)
    means = [statistics.geometric_mean(ratios) for ratios in rounds]
    target = Target(of=None, at_most=KINDS[kind])
    name = f"TPC-H, {kind}, in times of {FLOOR}"
    return Outcome(name=name, figures={"lakebed": means}, unit="x", targets=(target,))


def _ratios(name: str, times: Times) -> Outcome:
    figures = {kind: _by_round(kind, times[name]) for kind in KINDS}
    return Outcome(name=f"TPC-H {name}", figures=figures, unit="x")
