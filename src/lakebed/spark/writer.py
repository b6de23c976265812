"""How does a frame become a snapshot?

The rows are brought together by bucket in the JVM, written by tasks in Python workers, and
committed once, here in the driver: tasks hand back only commit messages, of successful attempts
only. When anything fails nothing is committed, and the files that are known are deleted.

Every bucket is written by one task, so that the last of several rows of a key is one task's to
find.
"""

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from lakebed.errors import LakebedError
from lakebed.format.snapshot import Operation, Snapshot
from lakebed.spark.bucketing import bucket_column
from lakebed.spark.names import quoted
from lakebed.spark.registry import Registry
from lakebed.spark.worker import RESULT_COLUMN, WriteRows
from lakebed.spark.workers import check_workers
from lakebed.table.parts import TableParts, WriteBase
from lakebed.table.row_changes import (
    append_changes,
    commit,
    delete_written,
    overwrite_changes,
    rows_writer,
)
from lakebed.table.table import Table
from lakebed.table.writing.commit_message import CommitMessage
from lakebed.table.writing.rows_writer import RowsWriter

Overwrite = Mapping[str, object] | Literal["dynamic"] | None

_TASK_COLUMN = "__lakebed_task"
# More tasks than this a core only cost; a task writes several buckets.
_TASKS_A_CORE = 4


@dataclass(frozen=True, slots=True)
class TableTarget:
    """Where the rows of a task go; travels to tasks.

    Attributes:
        parts: The table.
        base: The table's state when writing began.
    """

    parts: TableParts
    base: WriteBase

    def open(self) -> RowsWriter:
        """Starts writing in this task."""
        return rows_writer(self.parts, self.base)


def write_frame(
    frame: DataFrame,
    table: Table,
    registry: Registry,
    *,
    overwrite: Overwrite = None,
    is_overwrite: bool = False,
    is_small: bool = False,
) -> Snapshot | None:
    """Writes the rows of a frame and commits them.

    Args:
        frame: The rows; columns are the table's, by name.
        table: The table.
        registry: The session's registry.
        overwrite: With `is_overwrite`, what to replace: None the whole table, values of partition
            columns those partitions, `"dynamic"` those that the rows are in.
        is_overwrite: Whether rows are replaced.
        is_small: Whether the rows can be written here in the driver.

    Raises:
        InvalidDataError: Rows that the schema forbids; nothing was written.
        CommitConflictError: Every try to commit lost; nothing is visible.
    """
    parts = table.parts()
    parts = replace(parts, session=replace(parts.session, read_threads=1))
    base = parts.write_base()
    target = TableTarget(parts, base)
    if is_small:
        with target.open() as sink:
            sink.add(frame.toArrow())
            messages = sink.finish()
    else:
        messages = _write_in_tasks(frame, registry, target)
    return commit_written(
        parts, messages, base=base, overwrite=overwrite, is_overwrite=is_overwrite
    )


def commit_written(
    parts: TableParts,
    messages: list[CommitMessage],
    *,
    base: WriteBase,
    overwrite: Overwrite = None,
    is_overwrite: bool,
) -> Snapshot | None:
    """Commits what tasks wrote; arguments and errors as `write_frame`.

    Args:
        parts: The table.
        messages: What the tasks wrote, deleted when it cannot be committed.
        base: What the tasks started from.
        overwrite: What to replace.
        is_overwrite: Whether rows are replaced.
    """
    if not is_overwrite:
        added = append_changes(parts, messages, base=base, operation=Operation.WRITE)
        return commit(parts, added, messages)
    try:
        replaced = overwrite_changes(
            parts, messages, partition=overwrite, operation=Operation.OVERWRITE
        )
    except LakebedError:
        delete_written(parts, messages)
        raise
    return commit(parts, replaced, messages)


def _write_in_tasks(
    frame: DataFrame, registry: Registry, target: TableTarget
) -> list[CommitMessage]:
    parts = target.parts
    check_workers(frame.sparkSession, registry)
    write = WriteRows(pickle.dumps(target))
    by_task = _by_task(frame, parts, registry)
    rows = by_task.mapInArrow(write, f"{RESULT_COLUMN} BINARY").collect()
    # Written by our own tasks.
    results = [pickle.loads(row[0]) for row in rows]
    messages = [message for result in results if isinstance(result, list) for message in result]
    error = next((result for result in results if isinstance(result, LakebedError)), None)
    if error is not None:
        delete_written(parts, messages)
        raise error
    return messages


def _by_task(frame: DataFrame, parts: TableParts, registry: Registry) -> DataFrame:
    """The rows in partitions, each of which holds whole buckets."""
    buckets = parts.options.bucket
    schema = parts.schema
    if buckets <= 0:
        return frame
    spark = frame.sparkSession
    names = set(frame.columns)
    fields = [schema.field(name) for name in schema.bucket_keys]
    if any(field.name not in names for field in fields):
        # The writer says which column is missing.
        return frame.repartition(1)
    task = bucket_column(
        spark,
        registry,
        fields,
        total_buckets=buckets,
        function=parts.options.bucket_function_type.value,
    )
    tasks = min(buckets, _TASKS_A_CORE * registry.parallelism(spark))
    partitions = _columns([name for name in schema.partition_keys if name in names])
    if partitions:
        tasks = max(tasks, registry.parallelism(spark))
        task = F.pmod(F.hash(*partitions) + task, F.lit(tasks))
    return (
        frame.withColumn(_TASK_COLUMN, task)
        .repartitionById(tasks, F.col(_TASK_COLUMN).cast("int"))
        .drop(_TASK_COLUMN)
    )


def _columns(names: Sequence[str]) -> list[str]:
    return [quoted((name,)) for name in names]
