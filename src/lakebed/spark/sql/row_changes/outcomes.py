"""What holds of the rows that a merge changes, whoever told it: SQL or a frame?"""

from collections.abc import Callable, Sequence

from pyspark.sql import Column, DataFrame

from lakebed.format.row_tracking import ROW_ID
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
    changed: ChangedTable,
    rows: Sequence[DataFrame],
    gone: Sequence[DataFrame],
    *,
    check: Callable[[], None] | None,
    may_be_unique: bool = True,
) -> None:
    """Commits what the clauses of a merge made.

    Args:
        changed: The table.
        rows: The rows of each clause, aligned; those that bring ids along have a column for them.
        gone: Places of the rows that go, without a primary key.
        check: Refuses a row of the table that several rows of the source change; None where they
            may. It is a job, which a table with a primary key need not have: no row was changed
            twice where all rows that are written have keys of their own.
        may_be_unique: Whether they may have; False where some are known to share one.
    """
    tracked = [each for each in rows if ROW_ID.name in each.columns]
    new = _together(changed.lake, [each for each in rows if ROW_ID.name not in each.columns])
    if check is not None:
        keyed = new if changed.table.primary_keys and may_be_unique else None
        if keyed is not None and changed.commit_unique(keyed, operation=Operation.MERGE):
            return
        check()
    changed.commit(
        new,
        gone,
        tracked=_together(changed.lake, tracked),
        operation=Operation.MERGE,
    )


def _together(lake: Lake, rows: Sequence[DataFrame]) -> DataFrame | None:
    """The rows of frames that have the same columns; None for no frame.

    By a query, of which Spark Connect resolves each frame by itself: brought together by `union`,
    frames of one join would make it find none of the columns that are told by their frame.
    """
    if not rows:
        return None
    together = rows[0]
    if len(rows) > 1:
        frames = {f"lakebed_rows_{index}": each for index, each in enumerate(rows)}
        text = " UNION ALL ".join(f"SELECT * FROM {{{name}}}" for name in frames)
        together = lake.sql(text, **frames)
    # Each clause brings all partitions of the pairs, most of them empty.
    return together.coalesce(lake.registry.parallelism(lake.spark))
