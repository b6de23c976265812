"""A compaction of a table in one process: from the plan to the commit."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pyarrow as pa

from lakebed.errors import InvalidArgumentError
from lakebed.format.snapshot import Snapshot
from lakebed.table.committing import commit, delete_written, is_unaware
from lakebed.table.compaction.buckets import Place
from lakebed.table.compaction.planning import Compaction, Compactions
from lakebed.table.metadata.partitions import PartitionFilter
from lakebed.table.parts import TableParts, WriteBase
from lakebed.table.writing.changes import AppendChanges
from lakebed.table.writing.commit_message import CommitMessage

_STRATEGIES = ("full", "minor")


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionJob:
    """Compactions of one snapshot, and what commits them.

    Attributes:
        parts: The table.
        base: The table's state that they start from.
        compactions: One or more a bucket.
    """

    parts: TableParts
    base: WriteBase
    compactions: Sequence[Compaction]

    @classmethod
    def of(
        cls,
        parts: TableParts,
        partitions: PartitionFilter,
        *,
        is_full: bool,
        places: frozenset[Place] | None = None,
    ) -> "CompactionJob":
        """The compactions that some buckets need now.

        Args:
            parts: The table.
            partitions: The partitions.
            is_full: Whether each bucket is compacted as a whole, or as the options say.
            places: Which buckets; None for all of the partitions.

        Raises:
            UnsupportedError: The table is one that Lakebed does not write.
        """
        base = parts.rewrite_base()
        found: list[Compaction] = []
        if base.snapshot is not None:
            compactions = Compactions(
                parts=parts, snapshot=base.snapshot, writes=base.writes, is_full=is_full
            )
            found = compactions.of(partitions, places=places)
        return cls(parts=parts, base=base, compactions=found)

    def carry_out(self) -> Snapshot | None:
        """Runs all of them and commits, in this process; None where there is nothing to do.

        Raises:
            CommitConflictError: Somebody else compacted or deleted the same files; nothing is
                visible.
            CorruptTableError: A file cannot be read.
            StorageError: A file cannot be written.
        """
        return self.commit(self.run()) if self.compactions else None

    def run(self) -> list[CommitMessage]:
        """Runs all of them; on an error, leaves no file."""
        with ThreadPoolExecutor(max(self.parts.session.read_threads, 1)) as pool:
            running = [pool.submit(each.run) for each in self.compactions]
        # All have ended here, so what they wrote is known.
        errors = [each.exception() for each in running]
        messages = [each.result() for each in running if each.exception() is None]
        for error in errors:
            if error is not None:
                delete_written(self.parts, messages)
                raise error
        return messages

    def commit(self, messages: Sequence[CommitMessage]) -> Snapshot | None:
        """Makes the compactions visible.

        Raises:
            CommitConflictError: Somebody else compacted or deleted the same files, or every try
                lost; nothing is visible.
        """
        changes = AppendChanges(
            messages=messages,
            manifests=self.parts.manifests,
            operation=None,
            based_on=self.base.snapshot,
            counts=self.base.counts,
            is_unaware=is_unaware(self.parts),
            is_compaction=True,
        )
        return commit(self.parts, changes, messages)

    def table(self) -> pa.Table:
        """What would be done: `PLAN_SCHEMA`, a row a compaction."""
        directory = self.parts.split_files.bucket_directory
        rows = [
            {
                "directory": directory(each.stored.partition, each.stored.bucket),
                "why": each.pick.why,
                "files": len(each.pick.files),
                "input_bytes": each.pick.size_bytes,
                "rewritten_bytes": each.rewritten_bytes,
                "output_level": each.output_level,
            }
            for each in self.compactions
        ]
        return pa.Table.from_pylist(rows, schema=PLAN_SCHEMA)


_PLAN_COLUMNS: dict[str, pa.DataType] = {
    "directory": pa.string(),
    "why": pa.string(),
    "files": pa.int64(),
    "input_bytes": pa.int64(),
    "rewritten_bytes": pa.int64(),
    "output_level": pa.int32(),
}
PLAN_SCHEMA = pa.schema(_PLAN_COLUMNS)
"""Columns of a plan that is shown before it runs."""


def compaction_job(
    parts: TableParts, compact_strategy: str, partitions: PartitionFilter
) -> CompactionJob:
    """The compactions that a user asks for.

    Args:
        parts: The table.
        compact_strategy: `full` or `minor`.
        partitions: The partitions.

    Raises:
        InvalidArgumentError: No such strategy.
        UnsupportedError: The table is one that Lakebed does not write.
    """
    if compact_strategy not in _STRATEGIES:
        raise InvalidArgumentError(
            f"compact_strategy is {compact_strategy!r}; it is one of {', '.join(_STRATEGIES)}"
        )
    return CompactionJob.of(parts, partitions, is_full=compact_strategy == "full")
