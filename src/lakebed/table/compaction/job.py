"""A compaction of a table: from the plan to the commit, or to several.

It is committed once, unless it may fall into groups (`lakebed.compaction.max-commits`). Then each
group is written and committed before the next begins: what was committed stays, whatever becomes of
the rest. No two compactions have a file in common, so any of them may go before the others.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace

import pyarrow as pa

from lakebed.errors import CommitConflictError, InvalidArgumentError
from lakebed.format.snapshot import Snapshot
from lakebed.lsm.clustering.row_sorter import RowOrdering
from lakebed.options.clustering_options import ClusteringOptions
from lakebed.table.committing import commit, delete_written, is_unaware
from lakebed.table.compaction.buckets import Place
from lakebed.table.compaction.planning import Compaction, Compactions
from lakebed.table.compaction.progress import ProgressListener, ProgressMeter, log_progress
from lakebed.table.metadata.partitions import PartitionFilter
from lakebed.table.parts import TableParts, WriteBase
from lakebed.table.writing.changes import AppendChanges
from lakebed.table.writing.commit_message import CommitMessage

_log = logging.getLogger(__name__)

_STRATEGIES = ("full", "minor")
_NAMED_MAX = 5

Run = Callable[["CompactionJob", ProgressMeter], Sequence[CommitMessage]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionJob:
    """Compactions of one snapshot, and what commits them.

    Attributes:
        parts: The table.
        base: The table's state that they start from.
        compactions: One or more a bucket.
        max_commits: Into how many groups they may fall, each with a commit of its own.
    """

    parts: TableParts
    base: WriteBase
    compactions: Sequence[Compaction]
    max_commits: int = 1

    @classmethod
    def of(
        cls,
        parts: TableParts,
        partitions: PartitionFilter,
        *,
        is_full: bool,
        places: frozenset[Place] | None = None,
        ordering: RowOrdering | None = None,
    ) -> "CompactionJob":
        """The compactions that some buckets need now.

        Args:
            parts: The table.
            partitions: The partitions.
            is_full: Whether each bucket is compacted as a whole, or as the options say.
            places: Which buckets; None for all of the partitions.
            ordering: What the rows of a partition are sorted by; None where they stay in order.

        Raises:
            UnsupportedError: The table is one that Lakebed does not write.
        """
        base = parts.rewrite_base()
        found: list[Compaction] = []
        if base.snapshot is not None:
            compactions = Compactions(
                parts=parts,
                snapshot=base.snapshot,
                writes=base.writes,
                is_full=is_full,
                ordering=ordering,
            )
            found = compactions.of(partitions, places=places)
        return cls(parts=parts, base=base, compactions=found)

    def carry_out(
        self, run: Run | None = None, *, progress: ProgressListener = log_progress
    ) -> Snapshot | None:
        """Runs all of them and commits; None where there is nothing to do.

        Args:
            run: Runs a group; by default in this process.
            progress: Is told how far it is.

        Returns:
            The last snapshot.

        Raises:
            CommitConflictError: Somebody else compacted or deleted the same files. Nothing is
                visible of these buckets; other groups are committed all the same.
            CorruptTableError: A file cannot be read. Groups that were committed before stay.
            StorageError: A file cannot be written; the same.
        """
        meter = ProgressMeter(self.parts.paths.location, self.compactions, progress)
        groups = self.groups()
        snapshot: Snapshot | None = None
        lost: dict[str, CommitConflictError] = {}
        for number, group in enumerate(groups, 1):
            messages = (run or CompactionJob.run)(group, meter)
            try:
                snapshot = group.commit(messages)
            except CommitConflictError as error:
                if len(groups) == 1:
                    raise
                lost |= dict.fromkeys(group.directories, error)
                continue
            if len(groups) > 1:
                _log.info("%s: group %d of %d is committed", meter.location, number, len(groups))
        if lost:
            raise self._gave_way(lost)
        return snapshot

    def groups(self) -> list["CompactionJob"]:
        """The groups in the order of the compactions, each with about as much to rewrite."""
        total = max(sum(each.rewritten_bytes for each in self.compactions), 1)
        found: dict[int, list[Compaction]] = {}
        before = 0
        for compaction in self.compactions:
            # Where its middle is; the last may have nothing to rewrite.
            number = (2 * before + compaction.rewritten_bytes) * self.max_commits // (2 * total)
            found.setdefault(min(number, self.max_commits - 1), []).append(compaction)
            before += compaction.rewritten_bytes
        return [replace(self, compactions=each, max_commits=1) for each in found.values()]

    @property
    def directories(self) -> list[str]:
        """The directories of the buckets."""
        directory = self.parts.split_files.bucket_directory
        places = {(each.stored.partition, each.stored.bucket): None for each in self.compactions}
        return [directory(*place) for place in places]

    def _gave_way(self, lost: Mapping[str, CommitConflictError]) -> CommitConflictError:
        named = ", ".join([*lost][:_NAMED_MAX])
        more = f" and {len(lost) - _NAMED_MAX} more" if len(lost) > _NAMED_MAX else ""
        first = next(iter(lost.values()))
        return CommitConflictError(
            f"{self.parts.paths.location}: {len(lost)} of {len(self.directories)} buckets are not"
            f" compacted, the others are: {named}{more}. Compact them again. {first}"
        )

    def run(self, meter: ProgressMeter | None = None) -> list[CommitMessage]:
        """Runs all of them in this process; on an error, leaves no file.

        Args:
            meter: Is told of each that has ended.
        """
        if self.parts.session.read_threads < 2:
            return self._run_in_turn(meter)
        with ThreadPoolExecutor(self.parts.session.read_threads) as pool:
            running = {pool.submit(each.run): each for each in self.compactions}
            try:
                for ended in as_completed(running):
                    ended.result()
                    if meter is not None:
                        meter.advance([running[ended]])
            except BaseException:
                pool.shutdown(cancel_futures=True)
                # None runs any more, so what they wrote is known.
                written = [
                    each for each in running if not each.cancelled() and not each.exception()
                ]
                delete_written(self.parts, [each.result() for each in written])
                raise
        return [each.result() for each in running]

    def _run_in_turn(self, meter: ProgressMeter | None) -> list[CommitMessage]:
        messages: list[CommitMessage] = []
        try:
            for each in self.compactions:
                messages.append(each.run())
                if meter is not None:
                    meter.advance([each])
        except BaseException:
            delete_written(self.parts, messages)
            raise
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
    parts: TableParts,
    compact_strategy: str | None,
    partitions: PartitionFilter,
    *,
    ordering: RowOrdering | None = None,
) -> CompactionJob:
    """The compactions that a user asks for.

    Args:
        parts: The table.
        compact_strategy: `full` or `minor`; None for `full`, and for `minor` where the table is
            clustered run by run.
        partitions: The partitions.
        ordering: What the rows of each partition are sorted by (`sort_order.chosen_ordering`); None
            where they stay in their order.

    Raises:
        InvalidArgumentError: No such strategy, or one that sorts nothing.
        UnsupportedError: The table is one that Lakebed does not write.
    """
    if compact_strategy is None:
        is_clustered = ClusteringOptions.parse(parts.texts).is_incremental
        compact_strategy = "minor" if is_clustered else "full"
    if compact_strategy not in _STRATEGIES:
        raise InvalidArgumentError(
            f"compact_strategy is {compact_strategy!r}; it is one of {', '.join(_STRATEGIES)}"
        )
    is_full = compact_strategy == "full"
    if ordering is not None and not is_full:
        raise InvalidArgumentError(
            f"order_strategy sorts every file, and compact_strategy {compact_strategy!r} chooses"
            " some; leave one of them out"
        )
    job = CompactionJob.of(parts, partitions, is_full=is_full, ordering=ordering)
    return replace(job, max_commits=parts.session.compaction_max_commits)
