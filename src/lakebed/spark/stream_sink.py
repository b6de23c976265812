"""How does a micro-batch become a snapshot, once however often Spark runs it?

A query has an id, which its checkpoint keeps: it is the commit user. The number of the micro-batch
is the commit identifier. Where the table has a commit of that user with that identifier or a later
one, the micro-batch was written, and is not written again; where that commit may have expired, a
note beside the snapshots tells (`table.metadata.replay_notes`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from pyspark.sql import DataFrame, SparkSession

from lakebed.spark.conditions import spark_errors
from lakebed.spark.evolution import onto_table
from lakebed.spark.lake import Lake, find_lake
from lakebed.spark.plain_writer import USER_PREFIX, query_id_in
from lakebed.spark.registry import Registry
from lakebed.spark.writer import catch_up
from lakebed.table.committing import committing_once
from lakebed.table.table import Table

OUTPUT_MODES = frozenset({"append", "complete", "update"})


@dataclass(slots=True, kw_only=True)
class StreamSink:
    """Writes micro-batches to a table; on Spark Connect it travels to the server.

    Attributes:
        table: The table.
        mode: `append` and `update` add rows, which replace rows of their keys; `complete` replaces
            all rows.
        checkpoint: The query's `checkpointLocation`.
        options: Options of the writer that say how the schema may change.
    """

    table: Table
    mode: str
    checkpoint: str
    options: Mapping[str, str]
    _user: str | None = field(default=None, init=False)

    def __call__(self, frame: DataFrame, batch_id: int) -> None:
        """Writes one micro-batch."""
        if self._user is None:
            self._user = USER_PREFIX + _query_id(frame.sparkSession, self.checkpoint)
        write_batch(
            frame,
            batch_id,
            self.table,
            user=self._user,
            mode="complete" if self.mode == "complete" else "append",
            options=self.options,
        )


def write_batch(
    frame: DataFrame,
    batch_id: int,
    table: Table,
    *,
    user: str,
    mode: Literal["append", "complete"] = "append",
    options: Mapping[str, str] | None = None,
) -> bool:
    """Writes a micro-batch in a function for `foreachBatch`, once however often that is called.

    Args:
        frame: The rows; columns are the table's, by name.
        batch_id: The number of the micro-batch.
        table: The table.
        user: Who commits: the same at each start of the query, and another for each query and for
            each table that one query writes with other rows.
        mode: `append` adds rows, which replace rows of their keys; `complete` replaces all rows.
        options: Options of a writer, such as `write.merge-schema`.

    Returns:
        Whether it was written now; False where it was there already, or had no rows.

    Raises:
        AnalysisException: The columns cannot become those of the table; it was tried before, and
            what would tell whether it was written has expired.
    """
    spark = frame.sparkSession
    lake = find_lake(spark) or Lake(spark, Registry(), spark.sql)
    with spark_errors():
        current = lake.configured(_current(table))
        parts = current.parts()
        with committing_once(parts, user, batch_id) as is_due:
            if not is_due:
                catch_up(spark, lake.registry, parts)
                _compute(frame)
                return False
            rows, current = onto_table(lake, frame, current, options=options)
            written = lake.write(
                rows,
                current,
                mode="overwrite" if mode == "complete" else "append",
                user=user,
                identifier=batch_id,
            )
    return written is not None


def _compute(frame: DataFrame) -> None:
    """Has Spark compute rows that nobody wants, for the state that a query that counts keeps.

    Spark ends a query whose state did not come to the end of a micro-batch.
    """
    frame.write.format("noop").mode("overwrite").save()


def _current(table: Table) -> Table:
    """The table with the columns that it has now."""
    newest = table.parts().schemas.latest()
    if newest is None or newest.id == table.schema.id:
        return table
    return replace(table, schema=newest)


def _query_id(spark: SparkSession, checkpoint: str) -> str:
    """The id of the query that has this checkpoint, which Spark is sure to reach."""
    path = f"{checkpoint.rstrip('/')}/metadata"
    lines = [str(row[0]) for row in spark.read.text(path).collect()]
    return query_id_in("".join(lines), path)
