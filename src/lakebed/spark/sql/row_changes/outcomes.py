"""What holds of the rows that a merge changes, whoever told it: SQL or a frame?"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame

from lakebed.format.snapshot import Operation
from lakebed.spark.changed_table import ChangedTable
from lakebed.spark.conditions import runtime_error
from lakebed.spark.lake import Lake


def check_single(chosen: DataFrame, places: Sequence[Column]) -> None:
    """Refuses a row of the table for which several rows of the source say what it becomes.

    Args:
        chosen: The rows of both that a clause changes.
        places: The columns by which a row of the table is known.

    Raises:
        SparkRuntimeException: MERGE_CARDINALITY_VIOLATION.
    """
    if chosen.groupBy(*places).count().where("count > 1").limit(1).count():
        raise runtime_error(
            "MERGE_CARDINALITY_VIOLATION",
            "The ON search condition of the MERGE statement matched a single row from the"
            " target table with multiple rows of the source table. This could result in the"
            " target row being operated on more than once with an update or delete operation"
            " and is not allowed.",
            {},
        )


def commit_outcomes(
    changed: ChangedTable, rows: Sequence[DataFrame], gone: Sequence[DataFrame]
) -> None:
    """Commits what the clauses of a merge made.

    Args:
        changed: The table.
        rows: The rows of each clause, aligned.
        gone: Places of the rows that go, without a primary key.
    """
    new = None
    if rows:
        # Each clause brings all partitions of the pairs, most of them empty.
        together = _together(changed.lake, rows)
        new = together.coalesce(changed.lake.registry.parallelism(changed.lake.spark))
    changed.commit(new, gone, operation=Operation.MERGE)


def _together(lake: Lake, rows: Sequence[DataFrame]) -> DataFrame:
    """The rows of frames that have the same columns.

    By a query, of which Spark Connect resolves each frame by itself: brought together by `union`,
    frames of one join would make it find none of the columns that are told by their frame.
    """
    if len(rows) == 1:
        return rows[0]
    frames = {f"lakebed_rows_{index}": each for index, each in enumerate(rows)}
    return lake.sql(" UNION ALL ".join(f"SELECT * FROM {{{name}}}" for name in frames), **frames)
