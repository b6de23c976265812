"""What a table does for its upkeep; its rows stay as they are."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal, overload

import pyarrow as pa

from lakebed.format.predicate.expressions import Expression
from lakebed.format.snapshot import Snapshot
from lakebed.options.expiry_options import ExpiryOptions
from lakebed.options.values import OptionValue
from lakebed.table.compaction.idle import idle_partitions
from lakebed.table.compaction.index_rewrite import index_rewrite
from lakebed.table.compaction.job import compaction_job
from lakebed.table.compaction.manifests import manifest_compaction
from lakebed.table.compaction.postponed import place_postponed
from lakebed.table.compaction.progress import ProgressListener, log_progress
from lakebed.table.compaction.sort_order import OrderStrategy, chosen_ordering
from lakebed.table.expiry.expire import expire_snapshots
from lakebed.table.expiry.policy import Retention
from lakebed.table.partition_choice import Partitions, chosen_partitions
from lakebed.table.parts import TableParts
from lakebed.table.reading.time_travel import epoch_ms
from lakebed.table.rescale import rescale


class Maintenance(ABC):
    """The upkeep of the table whose parts are given."""

    __slots__ = ()

    @abstractmethod
    def parts(self) -> TableParts:
        """The parts of the table."""

    def rescale(
        self,
        bucket_num: int | None = None,
        partitions: Partitions = None,
        where: str | Expression | None = None,
    ) -> Snapshot | None:
        """Writes partitions anew with another bucket count; their rows stay the same.

        Args:
            bucket_num: The bucket count; by default the table's option `bucket`.
            partitions: Values of columns of one partition or several, or the procedure's text for
                them: `dt=2026-01-01,hh=8;dt=2026-01-02`. All partitions by default.
            where: A Spark SQL condition on partition columns instead.

        Returns:
            The new snapshot; None when every partition has that bucket count already.

        Raises:
            InvalidArgumentError: No bucket count that can be, a table without fixed buckets, a name
                that is no partition column, or both `partitions` and `where`.
            CommitConflictError: Another writer changed the partitions meanwhile; nothing is
                visible.
        """
        return rescale(self.parts(), bucket_num=bucket_num, partitions=partitions, where=where)

    @overload
    def compact(
        self,
        compact_strategy: Literal["full", "minor"] | None = None,
        partitions: Partitions = None,
        where: str | Expression | None = None,
        *,
        order_strategy: OrderStrategy | None = None,
        order_by: str | Sequence[str] | None = None,
        partition_idle_time: timedelta | str | None = None,
        progress: ProgressListener = log_progress,
        dry_run: Literal[False] = False,
    ) -> Snapshot | None: ...

    @overload
    def compact(
        self,
        compact_strategy: Literal["full", "minor"] | None = None,
        partitions: Partitions = None,
        where: str | Expression | None = None,
        *,
        order_strategy: OrderStrategy | None = None,
        order_by: str | Sequence[str] | None = None,
        partition_idle_time: timedelta | str | None = None,
        dry_run: Literal[True],
    ) -> pa.Table: ...

    def compact(
        self,
        compact_strategy: Literal["full", "minor"] | None = None,
        partitions: Partitions = None,
        where: str | Expression | None = None,
        *,
        order_strategy: OrderStrategy | None = None,
        order_by: str | Sequence[str] | None = None,
        partition_idle_time: timedelta | str | None = None,
        progress: ProgressListener = log_progress,
        dry_run: bool = False,
    ) -> Snapshot | pa.Table | None:
        """Makes few large files of many small ones; the rows stay the same.

        Rows that wait for a bucket (`bucket` = -2) get theirs before, in a commit of their own.

        Args:
            compact_strategy: `full` compacts each bucket as a whole, `minor` what the options of
                the table ask for now. By default `minor` where these say `clustering.incremental`.
            partitions: As for `rescale`.
            where: A Spark SQL condition on partition columns instead.
            order_strategy: Has every file of a table without buckets written anew, the rows of each
                partition sorted: `order` by one column after the other, `zorder` and `hilbert` by
                all alike, so that a filter on any of them reads few files.
            order_by: The columns for that, or their text: `a,b`.
            partition_idle_time: Leaves out partitions that were changed within that time: a
                timedelta, or a text such as `1 d`.
            progress: Is told how far it is (`CompactionProgress`); by default the log is.
            dry_run: Whether it is only said what would be done: `directory`, `why`, `files`,
                `input_bytes`, `rewritten_bytes` and `output_level`, a row a compaction.

        Returns:
            The new snapshot; None when there was nothing to do.

        Raises:
            InvalidArgumentError: No such strategy, time, column or choice of partitions, or rows
                that cannot be sorted.
            CommitConflictError: Another writer compacted or deleted the same files meanwhile;
                nothing is visible.
            UnsupportedError: The table is one that Lakebed does not write.
        """
        parts = self.parts()
        chosen = chosen_partitions(parts, partitions, where)
        if partition_idle_time is not None:
            chosen = idle_partitions(parts, chosen, partition_idle_time)
        ordering = chosen_ordering(parts, order_strategy, order_by)
        placed = None if dry_run else place_postponed(parts, chosen)
        job = compaction_job(parts, compact_strategy, chosen, ordering=ordering)
        if dry_run:
            return job.table()
        return job.carry_out(progress=progress) or placed

    @overload
    def compact_manifest(
        self,
        *,
        dry_run: Literal[False] = False,
        manifest_sort_enabled: bool | None = None,
        manifest_sort_partition_field: str | None = None,
        manifest_sort_max_rewrite_size: OptionValue | None = None,
    ) -> Snapshot | None: ...

    @overload
    def compact_manifest(
        self,
        *,
        dry_run: Literal[True],
        manifest_sort_enabled: bool | None = None,
        manifest_sort_partition_field: str | None = None,
        manifest_sort_max_rewrite_size: OptionValue | None = None,
    ) -> pa.Table: ...

    def compact_manifest(
        self,
        *,
        dry_run: bool = False,
        manifest_sort_enabled: bool | None = None,
        manifest_sort_partition_field: str | None = None,
        manifest_sort_max_rewrite_size: OptionValue | None = None,
    ) -> Snapshot | pa.Table | None:
        """Writes the manifests of the newest snapshot anew, as few as can be; no data is touched.

        Args:
            dry_run: Whether it is only said what would be done: `file_name`, `why`, `file_size`,
                `num_added_files`, `num_deleted_files` and `live_files`, a row a manifest.
            manifest_sort_enabled: Whether files are put in the order of a partition column, so that
                a plan opens few manifests; by default what `manifest-sort.enabled` says.
            manifest_sort_partition_field: By which partition column; the first one by default.
            manifest_sort_max_rewrite_size: How many bytes of manifests are sorted at once, at most:
                a number, or a text such as `64 mb`.

        Returns:
            The new snapshot; None when nothing would be gained.

        Raises:
            CommitConflictError: Every try to commit lost; nothing is visible.
            InvalidArgumentError: No such column or size.
            UnsupportedError: The table is one that Lakebed does not write.
        """
        compaction = manifest_compaction(
            self.parts(),
            manifest_sort_enabled=manifest_sort_enabled,
            manifest_sort_partition_field=manifest_sort_partition_field,
            manifest_sort_max_rewrite_size=manifest_sort_max_rewrite_size,
        )
        return compaction.table() if dry_run else compaction.carry_out()

    def rewrite_file_index(self, where: str | Expression | None = None) -> Snapshot | None:
        """Gives data files the indexes that the options `file-index.*` ask for now.

        A file that has just these indexes is left alone; of the others the indexed columns are
        read, and no data file is written.

        Args:
            where: A Spark SQL condition on partition columns; all partitions by default.

        Returns:
            The new snapshot; None when every file has its indexes.

        Raises:
            CommitConflictError: Another writer replaced one of the files meanwhile; nothing is
                visible.
            InvalidArgumentError: A bad condition.
            UnsupportedError: The table is one that Lakebed does not write.
        """
        parts = self.parts()
        return index_rewrite(parts, chosen_partitions(parts, None, where)).carry_out()

    def expire_snapshots(
        self,
        *,
        retain_max: int | None = None,
        retain_min: int | None = None,
        older_than: int | str | datetime | None = None,
        max_deletes: int | None = None,
    ) -> int:
        """Deletes old snapshots, and the files that neither a later one nor a tag or branch needs.

        Where an argument is not given, the option of the table holds, by which snapshots also
        expire after each commit. Where the table keeps changelogs for longer, the snapshots leave
        these.

        Args:
            retain_max: The most snapshots to keep, however young (`snapshot.num-retained.max`).
            retain_min: The fewest to keep, however old (`snapshot.num-retained.min`).
            older_than: Keeps what readers saw at that time or later, told as `timestamp` of `scan`
                (the time less `snapshot.time-retained`).
            max_deletes: How many expire at a time (`snapshot.expire.limit`).

        Returns:
            How many snapshots expired.

        Raises:
            CorruptTableError: Something that may keep files cannot be read; nothing was deleted.
            InvalidArgumentError: A number or a time that cannot be.
        """
        parts = self.parts()
        zone = parts.session.time_zone
        retention = Retention.of(
            ExpiryOptions.parse(parts.texts),
            parts.session.effects.clock(),
            retain_max=retain_max,
            retain_min=retain_min,
            older_than_ms=(
                None if older_than is None else epoch_ms(older_than, zone, name="older_than")
            ),
            max_deletes=max_deletes,
        )
        return expire_snapshots(parts, retention)
