"""What does EXPLAIN tell of the tables of attached catalogs that a query reads?

Spark's plan shows what Spark does with their rows; which files were left out before, and by what,
only Lakebed knows. So that stands behind the plan, for each place where a table is read.
"""

import re
from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql.types import StringType, StructField

from lakebed.format.predicate.text import format_expression
from lakebed.spark.conditions import spark_errors
from lakebed.spark.lake import Lake
from lakebed.table.reading.scan import Scan

_EXPLAIN = re.compile(r"\s*EXPLAIN\b", re.IGNORECASE)
_HEADING = "== Lakebed =="


def is_explanation(text: str) -> bool:
    """Whether a text asks for a plan."""
    return _EXPLAIN.match(text) is not None


def with_scans(lake: Lake, plan: DataFrame, scans: Sequence[tuple[str, Scan]]) -> DataFrame:
    """Spark's plan with what is read of each table behind it.

    Args:
        lake: The session.
        plan: The answer of Spark.
        scans: The tables' names and what is read of each.
    """
    with spark_errors():
        reads = [_explained(lake, name, scan) for name, scan in scans]
    text = "\n\n".join([str(plan.collect()[0][0]).rstrip(), _HEADING, *reads])
    return lake.frame([(f"{text}\n",)], [StructField("plan", StringType(), nullable=False)])


def _explained(lake: Lake, name: str, scan: Scan) -> str:
    lines = [f"Read {name}"]
    if lake.registry.cached.answers(scan):
        return "\n".join([*lines, f"snapshot {scan.plan().snapshot_id}, from the cache"])
    if isinstance(scan, Scan):
        lines.append(f"columns      {', '.join(scan.schema.names) or 'none'}")
        if scan.reader.predicate is not None:
            lines.append(f"where        {format_expression(scan.reader.predicate)}")
    return "\n".join([*lines, scan.explain()])
