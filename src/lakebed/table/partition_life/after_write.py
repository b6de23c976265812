"""What comes of partitions that rows are written to: before the commit and after it.

What happens after it is never an error of the write: rows are there, and would be written again.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa

from lakebed.errors import LakebedError
from lakebed.format.snapshot import Snapshot
from lakebed.options.partition_options import PartitionOptions
from lakebed.table.committing import delete_written
from lakebed.table.partition_life.done import mark_done
from lakebed.table.partition_life.expiry import expire_partitions, is_check_due
from lakebed.table.partition_life.times import check_times
from lakebed.table.parts import TableParts
from lakebed.table.writing.commit_message import CommitMessage

_log = logging.getLogger(__name__)


def check_partitions(parts: TableParts, messages: Sequence[CommitMessage]) -> None:
    """Refuses rows of partitions that may not be; what was written for them is deleted.

    Raises:
        InvalidDataError: A partition names no time, and `partition.timestamp-format.strict` = true.
    """
    try:
        check_times(parts, pa.array(_written(messages), pa.binary()))
    except LakebedError:
        delete_written(parts, messages)
        raise


def age_partitions(
    parts: TableParts, snapshot: Snapshot, messages: Sequence[CommitMessage]
) -> None:
    """Marks partitions as done and has others expire, where the options say so.

    Args:
        parts: The table.
        snapshot: What the rows were committed with.
        messages: The rows.
    """
    if not parts.schema.partition_keys:
        return
    with _warned(parts, "their partitions not marked as done"):
        if PartitionOptions.parse(parts.texts).marks_done:
            mark_done(parts, map(parts.split_files.path_of, _written(messages)))
    with _warned(parts, "no partitions expired"):
        options = PartitionOptions.parse(parts.texts)
        is_kept = options.expiration_time is None or parts.options.write_only
        if not is_kept and is_check_due(parts, snapshot, options.check_interval):
            expire_partitions(parts, options)


@contextmanager
def _warned(parts: TableParts, lack: str) -> Iterator[None]:
    try:
        yield
    except LakebedError as error:
        _log.warning("%s: rows are committed, but %s: %s", parts.paths.location, lack, error)


def _written(messages: Sequence[CommitMessage]) -> list[bytes]:
    """The partitions that files are added to, in order."""
    return sorted({message.partition for message in messages if message.new_files})
