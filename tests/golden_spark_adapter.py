"""Lakebed in Spark as a reader of the golden corpus.

`tests/golden/check.py` loads this file and asks `read` for every query of the corpus; one local
session answers all of them. Rows leave as `golden_adapter` has them, and variants as the JSON that
Spark itself makes of them.
"""

import functools
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

import golden_adapter
from lakebed.spark import attach
from lakebed.spark.java import ensure_java

SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Plans are small and many: compiling each costs more than it saves.
    "spark.sql.codegen.wholeStage": "false",
}
_SOURCES = Path(__file__).resolve().parents[1] / "src"


def read(
    table_path: str,
    *,
    snapshot: int | None = None,
    tag: str | None = None,
    filter_sql: str | None = None,
    columns: list[str] | None = None,
    system_table: str | None = None,
    incremental: Mapping[str, int | str] | None = None,
) -> list[dict[str, object]]:
    """The rows of one query."""
    path = Path(table_path)
    frame = ask(
        _session(path.parents[1].as_uri()),
        f"golden.{path.parent.name.removesuffix('.db')}",
        path.name,
        snapshot=snapshot,
        tag=tag,
        filter_sql=filter_sql,
        columns=columns,
        system_table=system_table,
        incremental=incremental,
    )
    return rows_of(frame)


def ask(
    spark: SparkSession,
    database: str,
    table: str,
    *,
    snapshot: int | None = None,
    tag: str | None = None,
    filter_sql: str | None = None,
    columns: list[str] | None = None,
    system_table: str | None = None,
    incremental: Mapping[str, int | str] | None = None,
) -> DataFrame:
    """The frame of one query: in SQL, or by options of a reader where it asks for changes.

    Args:
        spark: A session with the catalog attached.
        database: Catalog and database.
        table: The table.
        snapshot: As of a snapshot.
        tag: As of a tag.
        filter_sql: A condition.
        columns: All by default.
        system_table: What stands behind `$`.
        incremental: `start`, `end` and perhaps `mode`.
    """
    name = f"{database}.`{table}{f'${system_table}' if system_table else ''}`"
    chosen = [f"`{column}`" for column in columns] if columns else ["*"]
    if incremental is not None:
        options = {"incremental-between": f"{incremental['start']},{incremental['end']}"}
        if "mode" in incremental:
            options["incremental-between-scan-mode"] = str(incremental["mode"])
        frame = spark.read.options(**options).table(name)
        return (frame.where(filter_sql) if filter_sql else frame).select(*chosen)
    version = f" VERSION AS OF {snapshot}" if snapshot is not None else ""
    version = f" VERSION AS OF '{tag}'" if tag is not None else version
    condition = f" WHERE {filter_sql}" if filter_sql else ""
    return spark.sql(f"SELECT {', '.join(chosen)} FROM {name}{version}{condition}")


def rows_of(frame: DataFrame) -> list[dict[str, object]]:
    """The rows of a frame."""
    variants = [
        field.name for field in frame.schema.fields if field.dataType.typeName() == "variant"
    ]
    for name in variants:
        frame = frame.withColumn(name, F.to_json(name))
    return golden_adapter.plain(frame.toArrow()).to_pylist()


@functools.cache
def _session(warehouse: str) -> SparkSession:
    """A session that knows the warehouse as the catalog `golden`."""
    ensure_java()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    path = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(_SOURCES), *([path] if path else [])])
    builder = SparkSession.builder.master("local[2]")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate().newSession()
    session.sparkContext.setLogLevel("ERROR")
    for key in ("spark.sql.session.timeZone", "spark.sql.shuffle.partitions"):
        session.conf.set(key, SETTINGS[key])
    return attach(session, "golden", warehouse=warehouse)
