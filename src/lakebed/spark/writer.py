"""How does a frame become a snapshot?

The rows are brought together by bucket in the JVM, written by tasks in Python workers, and
committed once, here in the driver: tasks hand back only commit messages, of successful attempts
only. When anything fails nothing is committed, and the files that are known are deleted.

All rows of a key are written by one task, so that the last of them is one task's to find.
"""

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from lakebed.errors import StorageError
from lakebed.format.paths import POSTPONE_BUCKET
from lakebed.format.snapshot import Operation, Snapshot
from lakebed.spark.adoption import Staging, adopt
from lakebed.spark.compaction import run_job
from lakebed.spark.distribution import by_bucket
from lakebed.spark.key_shares import KeyedWrite, SharedRows
from lakebed.spark.local_merge import locally_merged
from lakebed.spark.names import quoted
from lakebed.spark.native_writes import is_native_write, read_natively, write_natively
from lakebed.spark.registry import Registry
from lakebed.spark.tasks import run_tasks
from lakebed.spark.worker import WriteRows
from lakebed.spark.workers import check_workers
from lakebed.table.committing import commit, delete_written
from lakebed.table.compaction.after_write import compact_replayed, compact_written
from lakebed.table.metadata.partitions import PartitionFilter
from lakebed.table.partition_life.after_write import age_partitions, check_partitions
from lakebed.table.parts import TableParts, WriteBase
from lakebed.table.replacing import Replacement
from lakebed.table.routers import rows_writer
from lakebed.table.row_changes import append_changes, overwrite_changes
from lakebed.table.table import Table
from lakebed.table.task_target import TableTarget
from lakebed.table.writing.commit_message import CommitMessage
from lakebed.table.writing.local_merge import LocalMerge

Overwrite = Mapping[str, object] | Literal["dynamic"] | PartitionFilter | None

# What Spark was told of a file's size is a guess; this many times the target is too much.
_OVERSIZED = 2


def write_frame(
    frame: DataFrame,
    table: Table,
    registry: Registry,
    *,
    overwrite: Overwrite = None,
    is_overwrite: bool = False,
    is_small: bool = False,
    operation: Operation | None = None,
    user: str | None = None,
    identifier: int | None = None,
) -> Snapshot | None:
    """Writes the rows of a frame and commits them.

    Args:
        frame: The rows; columns are the table's, by name.
        table: The table.
        registry: The session's registry.
        overwrite: With `is_overwrite`, what to replace: None the whole table, values of partition
            columns those partitions, `"dynamic"` those that the rows are in, a filter those that
            it keeps.
        is_overwrite: Whether rows are replaced.
        is_small: Whether the rows can be written here in the driver.
        operation: What the user asked for; None for a write or an overwrite.
        user: Commit user; a fresh one where None.
        identifier: Commit identifier; None for a commit that is never replayed.

    Raises:
        InvalidDataError: Rows that the schema forbids; nothing was written.
        CommitConflictError: Every try to commit lost; nothing is visible.
    """
    parts = table.parts()
    base = parts.write_base()
    if is_overwrite:
        base = base.for_overwrite()
    if is_small:
        with rows_writer(parts, base) as sink:
            sink.add(frame.toArrow())
            messages = sink.finish()
    else:
        messages = _written(frame, registry, parts=parts, base=base)
    snapshot = commit_written(
        parts,
        messages,
        base=base,
        overwrite=overwrite,
        is_overwrite=is_overwrite,
        operation=operation,
        user=user,
        identifier=identifier,
    )
    _follow_up(frame.sparkSession, registry, parts, messages=messages, snapshot=snapshot)
    return snapshot


def write_changed(  # noqa: PLR0917 - what is written, where, and who writes
    frame: DataFrame | None,
    parts: TableParts,
    registry: Registry,
    spark: SparkSession,
    *,
    base: WriteBase,
    tracked: DataFrame | None = None,
    removing: Sequence[CommitMessage] = (),
    operation: Operation,
) -> Snapshot | None:
    """Writes rows and commits them together with what takes others away.

    Args:
        frame: The rows; columns are the table's, by name. None for no rows.
        parts: The table.
        registry: The session's registry.
        spark: The session.
        base: The table's state that the change was made from.
        tracked: More rows, which bring ids and numbers along in columns of their own.
        removing: What takes rows away; its files are deleted when it cannot be committed.
        operation: What the user asked for.

    Raises:
        InvalidDataError: Rows that the schema forbids; nothing was written.
        CommitConflictError: Others changed the same files; nothing is visible.
    """
    messages = list(removing)
    try:
        if frame is not None:
            messages += _written(frame, registry, parts=parts, base=base)
        if tracked is not None:
            brought = replace(base, writes=base.writes.tracked)
            messages += _write_in_tasks(tracked, registry, parts=parts, base=brought)
        check_partitions(parts, messages)
    except BaseException:
        delete_written(parts, messages)
        raise
    changes = append_changes(parts, messages, base=base, operation=operation)
    snapshot = commit(parts, changes, messages)
    _follow_up(spark, registry, parts, messages=messages, snapshot=snapshot)
    return snapshot


def write_unique(
    frame: DataFrame,
    parts: TableParts,
    registry: Registry,
    *,
    base: WriteBase,
    operation: Operation,
) -> bool:
    """Writes rows of which no two have the same key, and commits them.

    Where writing merges rows of one key, fewer rows in the files than were given tell of such.

    Args:
        frame: The rows; columns are the table's, by name.
        parts: A table with a primary key.
        registry: The session's registry.
        base: The table's state that the change was made from.
        operation: What the user asked for.

    Returns:
        Whether they were committed; if not, some had the same key, and nothing was written.
    """
    tells = tells_twins(parts)
    if not tells and _has_twins(frame, parts):
        return False
    messages = _written(frame, registry, parts=parts, base=base)
    try:
        if tells and not all(map(_kept_all, messages)):
            delete_written(parts, messages)
            return False
        check_partitions(parts, messages)
    except BaseException:
        delete_written(parts, messages)
        raise
    changes = append_changes(parts, messages, base=base, operation=operation)
    snapshot = commit(parts, changes, messages)
    _follow_up(frame.sparkSession, registry, parts, messages=messages, snapshot=snapshot)
    return True


def tells_twins(parts: TableParts) -> bool:
    """Whether all rows of a key meet in one writer, which has counted them until then."""
    options = parts.options
    is_merged = options.bucket != POSTPONE_BUCKET and options.write_buffer_spillable
    return is_merged and LocalMerge.of(parts.schema, options) is None


def _kept_all(message: CommitMessage) -> bool:
    return sum(file.row_count for file in message.new_files) == message.taken_rows


def _has_twins(frame: DataFrame, parts: TableParts) -> bool:
    """Whether two rows have the same key."""
    keys = [F.col(quoted((key,))) for key in parts.schema.primary_keys]
    return bool(frame.groupBy(*keys).count().where("count > 1").limit(1).count())


def write_replacement(
    frame: DataFrame, replacement: Replacement, registry: Registry, *, operation: Operation
) -> Snapshot | None:
    """Writes the rows of a table's replacement, then replaces it, then commits them.

    The frame may read the table: all is read before anything of it changes.

    Args:
        frame: The rows; columns are those of the replacement, by name.
        replacement: The table, and what takes its place.
        registry: The session's registry.
        operation: What the user asked for.

    Raises:
        InvalidDataError: Rows that the schema forbids; nothing was changed.
        CommitConflictError: Others changed the table; the message says what it is now.
    """
    parts = replacement.new.parts()
    base = parts.write_base().for_overwrite()
    messages = _written(frame, registry, parts=parts, base=base)
    try:
        check_partitions(parts, messages)
        replacement.carry_out()
    except BaseException:
        delete_written(parts, messages)
        raise
    snapshot = commit_written(parts, messages, base=base, is_overwrite=True, operation=operation)
    _follow_up(frame.sparkSession, registry, parts, messages=messages, snapshot=snapshot)
    return snapshot


def _written(
    frame: DataFrame, registry: Registry, *, parts: TableParts, base: WriteBase
) -> list[CommitMessage]:
    if is_native_write(frame, parts):
        return _write_natively(frame, registry, parts=parts, base=base)
    return _write_in_tasks(frame, registry, parts=parts, base=base)


def catch_up(spark: SparkSession, registry: Registry, parts: TableParts) -> None:
    """Does what a process left undone that died after its commit (`compact_replayed`)."""
    compact_replayed(parts, carry_out=partial(run_job, spark, registry))


def _follow_up(
    spark: SparkSession,
    registry: Registry,
    parts: TableParts,
    *,
    messages: list[CommitMessage],
    snapshot: Snapshot | None,
) -> None:
    """What is due after a commit."""
    if snapshot is not None:
        compact_written(parts, messages, carry_out=partial(run_job, spark, registry))
        age_partitions(parts, snapshot, messages)


def commit_written(
    parts: TableParts,
    messages: list[CommitMessage],
    *,
    base: WriteBase,
    overwrite: Overwrite = None,
    is_overwrite: bool,
    operation: Operation | None = None,
    user: str | None = None,
    identifier: int | None = None,
) -> Snapshot | None:
    """Commits what tasks wrote; arguments and errors as `write_frame`.

    Args:
        parts: The table.
        messages: What the tasks wrote, deleted when it cannot be committed.
        base: What the tasks started from.
        overwrite: What to replace.
        is_overwrite: Whether rows are replaced.
        operation: What the user asked for; None for a write or an overwrite.
        user: Commit user; a fresh one where None.
        identifier: Commit identifier; None for a commit that is never replayed.
    """
    check_partitions(parts, messages)
    if not is_overwrite:
        asked = operation or Operation.WRITE
        added = append_changes(parts, messages, base=base, operation=asked)
        return commit(parts, added, messages, user=user, identifier=identifier)
    try:
        replaced = overwrite_changes(
            parts, messages, partition=overwrite, operation=operation or Operation.OVERWRITE
        )
    except BaseException:
        delete_written(parts, messages)
        raise
    return commit(parts, replaced, messages, user=user, identifier=identifier)


def _write_natively(
    frame: DataFrame, registry: Registry, *, parts: TableParts, base: WriteBase
) -> list[CommitMessage]:
    """Has Spark's own writer write the files, and writes anew those that came out too large."""
    with Staging.of(parts) as staging:
        expected = write_natively(frame, parts, registry, staging.directory)
        fitting, oversized = staging.groups(_OVERSIZED * parts.options.target_file_size)
        messages = adopt(parts, fitting)
        try:
            if oversized:
                rows = read_natively(frame.sparkSession, parts, oversized)
                messages += _write_in_tasks(rows, registry, parts=parts, base=base)
            _check_count(messages, expected, location=parts.paths.location)
        except BaseException:
            delete_written(parts, messages)
            raise
    return messages


def _check_count(messages: Sequence[CommitMessage], expected: int, *, location: str) -> None:
    found = sum(file.row_count for message in messages for file in message.new_files)
    if found != expected:
        raise StorageError(
            location,
            f"Spark wrote {expected} rows, and {found} of them are here; nothing was committed. The"
            " table's disk must be shared by the driver and all executors",
        )


def _write_in_tasks(
    frame: DataFrame, registry: Registry, *, parts: TableParts, base: WriteBase
) -> list[CommitMessage]:
    check_workers(frame.sparkSession, registry)
    in_task = replace(parts, session=replace(parts.session, read_threads=1))
    by_task = _by_task(locally_merged(frame, parts), parts, registry, base=base)
    write = WriteRows(pickle.dumps(TableTarget(in_task, by_task.base)))
    return run_tasks(by_task.frame, write, parts)


def _by_task(
    frame: DataFrame, parts: TableParts, registry: Registry, *, base: WriteBase
) -> SharedRows:
    """The rows in partitions, each of which holds all rows of its keys."""
    if parts.options.bucket > 0:
        return SharedRows(by_bucket(frame, parts, registry), base)
    if parts.schema.primary_keys:
        return KeyedWrite(frame=frame, parts=parts, registry=registry, base=base).shared()
    return SharedRows(frame, base)
