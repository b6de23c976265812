"""What do deletion vectors cost a scan in Spark?

Spark's own reader leaves marked rows out by a bitmap of each file; or Python workers read the
files, mask them and send the rows to the JVM. Beside both stands Spark's scan of the same files
with the marked rows, the floor for either.
"""

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from benchmarks.harness import Contender, Effort, Outcome, Target, alternate
from benchmarks.spark_session import attached_session
from lakebed.spark.marked_files import MarkedFiles
from lakebed.spark.reader import split_frame
from lakebed.spark.registry import make_registry
from lakebed.spark.types import to_spark_schema
from lakebed.table.table import Table

Frame = Callable[[], DataFrame]
FILES = 8
_RUNS = 2
COLUMNS = {
    "k": "id",
    "i": "cast(id % 100000 AS INT)",
    "d": "rand(1) * 1000",
    "s": "concat('name-', id % 1000)",
    "t": "concat('x', hash(id))",
    "b": "id % 2 = 0",
    "l": "hash(id) * cast(7 AS BIGINT)",
    "m": "cast(id % 7 AS INT)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is asked of the table.

    Attributes:
        name: The name.
        known: The columns that are known when the files are chosen.
        wanted: Those that are needed.
        known_filter: The filter, where it is known then.
        filter: The filter.
        takes_bitmaps: Whether bitmaps must win.
    """

    name: str
    known: tuple[str, ...]
    wanted: tuple[str, ...]
    known_filter: str | None = None
    filter: str | None = None
    takes_bitmaps: bool


_FEW = "i < 10"
QUERIES = (
    Query(name="all columns", known=(*COLUMNS,), wanted=(*COLUMNS,), takes_bitmaps=False),
    Query(name="a frame's one column", known=(*COLUMNS,), wanted=("d",), takes_bitmaps=True),
    Query(
        name="a frame's few rows",
        known=(*COLUMNS,),
        wanted=("k", "s", "i"),
        filter=_FEW,
        takes_bitmaps=True,
    ),
    Query(
        name="four columns",
        known=("k", "s", "d", "l"),
        wanted=("k", "s", "d", "l"),
        takes_bitmaps=False,
    ),
    Query(
        name="few rows",
        known=("k", "s", "i"),
        wanted=("k", "s", "i"),
        known_filter=_FEW,
        filter=_FEW,
        takes_bitmaps=False,
    ),
    Query(name="one column", known=("d",), wanted=("d",), takes_bitmaps=False),
)


def run(effort: Effort) -> list[Outcome]:
    """Queries of which columns and filters are known, and frames; a hundredth is marked."""
    with tempfile.TemporaryDirectory() as directory, attached_session(Path(directory)) as spark:
        table = _make(spark, rows=_RUNS * effort.run_rows)
        return [_compare(spark, table, query, effort=effort) for query in QUERIES]


def _make(spark: SparkSession, *, rows: int) -> Table:
    spark.sql("CREATE DATABASE lake.db")
    columns = ", ".join(f"{text} AS {name}" for name, text in COLUMNS.items())
    spark.sql(
        "CREATE TABLE lake.db.t TBLPROPERTIES ('deletion-vectors.enabled' = 'true', 'write-only' ="
        f" 'true') AS SELECT {columns} FROM range(0, {rows}, 1, {FILES})"
    )
    spark.sql("DELETE FROM lake.db.t WHERE i BETWEEN 1000 AND 1999")
    return make_registry(spark).catalog("lake").load_table("db.t")


def _compare(spark: SparkSession, table: Table, query: Query, *, effort: Effort) -> Outcome:
    plan = table.scan(columns=query.known, where=query.known_filter).plan()
    fields = [plan.reader.table_schema.field(each) for each in query.known]
    schema = to_spark_schema(fields)
    files = MarkedFiles.of(table.scan(), table.scan().plan().splits)

    def raw() -> DataFrame:
        return spark.read.schema(schema).parquet(*files.paths)

    def bitmaps() -> DataFrame:
        return files.unmarked(raw())

    def workers() -> DataFrame:
        registry = make_registry(spark)
        return split_frame(spark, registry, plan.splits, reader=plan.reader, schema=schema)

    contenders = [
        Contender(name=each, measure=partial(_seconds, frame, query))
        for each, frame in (("bitmaps", bitmaps), ("workers", workers), ("with marked rows", raw))
    ]
    return Outcome(
        name=f"Deletion vectors: {query.name}",
        figures=alternate(contenders, effort=effort),
        targets=(Target(of="workers", at_most=1.0),) if query.takes_bitmaps else (),
    )


def _seconds(frame: Frame, query: Query) -> float:
    """Planning included: it is part of every query."""
    started = time.perf_counter()
    rows = frame()
    if query.filter is not None:
        rows = rows.where(query.filter)
    rows.select(*query.wanted).write.format("noop").mode("overwrite").save()
    return time.perf_counter() - started
