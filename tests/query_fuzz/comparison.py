"""Does a query over Lakebed tables answer as it does over plain copies of them?"""

import atexit
import functools
import logging
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakebed.spark import attach
from lakebed.spark.java import ensure_java
from query_fuzz.queries import Query, make_query
from query_fuzz.tables import DATABASE, LAKE_CATALOG, PLAIN_CATALOG, make_tables

SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Plans are small and many: compiling each costs more than it saves.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}
_SOURCES = Path(__file__).resolve().parents[2] / "src"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came of a query.

    Attributes:
        columns: Names and types.
        rows: The rows as text, sorted.
        error: The condition of the error instead, or its class where it has none.
        message: The first line of the error.
    """

    columns: tuple[tuple[str, str], ...] = ()
    rows: tuple[str, ...] = ()
    error: str | None = None
    message: str = ""

    def difference(self, other: "Answer") -> str | None:
        """What of this, which is Spark's, the other has not; None when they agree."""
        if self.error is not None or other.error is not None:
            if self.error == other.error:
                return None
            return f"Spark: {self.outcome()}; Lakebed: {other.outcome()}"
        if self.columns != other.columns:
            return f"columns of Spark {self.columns}, of Lakebed {other.columns}"
        if self.rows != other.rows:
            missing = sorted(set(self.rows) - set(other.rows))[:3]
            surplus = sorted(set(other.rows) - set(self.rows))[:3]
            counts = f"{len(self.rows)} rows of Spark, {len(other.rows)} of Lakebed"
            return f"{counts}; missing, for instance, {missing}; too many {surplus}"
        return None

    def outcome(self) -> str:
        """In a few words."""
        return f"{len(self.rows)} rows" if self.error is None else f"{self.error} {self.message}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a seed showed.

    Attributes:
        query: The query, over Lakebed.
        plain: What Spark answered over the copies.
        violation: What Lakebed answered otherwise; None when it did not.
    """

    query: Query
    plain: Answer
    violation: str | None


def judge(seed: int) -> Verdict:
    """Runs the query of a seed over the copies and over Lakebed."""
    lake, plain = sessions()
    query = make_query(seed, catalog=LAKE_CATALOG)
    expected = answer(plain, make_query(seed, catalog=PLAIN_CATALOG), catalog=PLAIN_CATALOG)
    found = answer(lake, query, catalog=LAKE_CATALOG)
    return Verdict(query, expected, expected.difference(found))


def answer(spark: SparkSession, query: Query, *, catalog: str) -> Answer:
    """What Spark makes of a query in a session."""
    spark.sql(f"USE {catalog}.{DATABASE}" if query.is_inside else f"USE {PLAIN_CATALOG}.default")
    try:
        frame = spark.sql(query.text, args=query.args)
        columns = tuple((each.name, each.dataType.simpleString()) for each in frame.schema.fields)
        return Answer(columns=columns, rows=tuple(sorted(map(repr, frame.collect()))))
    except Exception as error:  # noqa: BLE001 - whatever fails is compared, and told where it may not
        condition = error.getCondition() if isinstance(error, PySparkException) else None
        message = str(error).strip().partition("\n")[0][:300]
        return Answer(error=condition or type(error).__name__, message=message)


@functools.cache
def sessions() -> tuple[SparkSession, SparkSession]:
    """A session with Lakebed's tables, and a plain one, of one JVM."""
    ensure_java()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    path = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(_SOURCES), *([path] if path else [])])
    kept = tempfile.TemporaryDirectory(prefix="query-fuzz-", ignore_cleanup_errors=True)
    atexit.register(kept.cleanup)
    directory = Path(kept.name)
    settings = {**SETTINGS, "spark.sql.warehouse.dir": (directory / "plain").as_uri()}
    builder = SparkSession.builder.master("local[2]").appName("query-fuzz")
    first = builder.config(map=dict(settings)).getOrCreate()
    first.sparkContext.setLogLevel("OFF")
    # It tells of every error, and errors are compared here.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    lake, plain = first.newSession(), first.newSession()
    for session in (lake, plain):
        for key, value in SETTINGS.items():
            if key.startswith("spark.sql."):
                session.conf.set(key, value)
    attach(lake, LAKE_CATALOG, warehouse=(directory / "lake").as_uri())
    make_tables(lake, plain)
    return lake, plain
