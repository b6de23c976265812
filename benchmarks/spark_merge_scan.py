"""What does a merge cost in Spark? Lakebed's merged scan against Spark's raw scan of the files.

The raw scan returns all 5 M rows, duplicates included, and merges nothing: it is the floor for
a reader that must look at every row, not a competitor.
"""

import time
from collections.abc import Callable
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that every Spark user knows

from benchmarks.datasets import SCHEMA, merge_table
from benchmarks.harness import Contender, Effort, Outcome, Target, alternate
from benchmarks.spark_session import attached_session
from tools.peers.process import PeerProcess

Frame = Callable[[], DataFrame]
AT_MOST = {"Spark scan to noop": 1.0, "Spark two-column aggregate": 2.0}


def run(effort: Effort) -> list[Outcome]:
    """The whole table into the noop sink, and an aggregate that needs two columns."""
    with PeerProcess("lakebed") as lakebed:
        table = merge_table(lakebed, run_rows=effort.run_rows)
    files = [str(path) for path in sorted(table.glob("bucket-*/*.parquet"))]
    with attached_session(table.parents[1]) as spark:

        def merged() -> DataFrame:
            return spark.table(f"lake.db.{table.name}")

        def raw() -> DataFrame:
            return spark.read.parquet(*files).select(SCHEMA.names)

        def merged_sum() -> DataFrame:
            return spark.sql(f"SELECT status, sum(price) FROM lake.db.{table.name} GROUP BY status")

        def raw_sum() -> DataFrame:
            return spark.read.parquet(*files).groupBy("status").agg(F.sum("price"))

        return [
            _compare("Spark scan to noop", (merged, raw), effort=effort),
            _compare("Spark two-column aggregate", (merged_sum, raw_sum), effort=effort),
        ]


def _compare(name: str, frames: tuple[Frame, Frame], *, effort: Effort) -> Outcome:
    contenders = [
        Contender(name=contender, measure=partial(_seconds, frame))
        for contender, frame in zip(("lakebed", "raw Parquet"), frames, strict=True)
    ]
    target = Target(of="raw Parquet", at_most=AT_MOST[name])
    return Outcome(name=name, figures=alternate(contenders, effort=effort), targets=(target,))


def _seconds(frame: Frame) -> float:
    """Planning included: it is part of every query."""
    started = time.perf_counter()
    frame().write.format("noop").mode("overwrite").save()
    return time.perf_counter() - started
