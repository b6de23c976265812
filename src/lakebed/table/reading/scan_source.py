"""Where do the rows of a scan come from?

- a snapshot: its live files, merged
- the changes of some snapshots: the files that each added, or its changelog files. Every row of
  them counts, several of one key too, so nothing is merged; and rows of every kind come out, as the
  format's own connector for Spark shows them
- the difference of two snapshots: the files that one of them has and the other lacks, merged on
  either side and compared by key (`diff_read`)
"""

from dataclasses import dataclass, replace

import pyarrow as pa

from lakebed.errors import CorruptTableError, InvalidArgumentError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import python_values
from lakebed.format.data_file_meta import FileKind
from lakebed.format.predicate.expressions import Expression, split_by_columns
from lakebed.format.snapshot import CommitKind, Snapshot
from lakebed.table.metadata.entries import bucket_counts
from lakebed.table.metadata.partitions import partitions_left, predicate_of
from lakebed.table.metadata.plan_step import PlanStep, apply_steps
from lakebed.table.planning.packing import pack_splits
from lakebed.table.planning.plan import Planner
from lakebed.table.planning.split import Split, SplitSection
from lakebed.table.planning.visibility import Visibility
from lakebed.table.reading.diff_plan import diff_splits, without_common_files
from lakebed.table.reading.diff_read import DiffReader
from lakebed.table.reading.read import SplitReader
from lakebed.table.reading.scan_plan import ScanPlan

_UNFIXED_BUCKETS = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotSource:
    """The rows of one snapshot.

    Attributes:
        snapshot: The snapshot; None for a table without any, or for no changes.
        visibility: Which levels are seen.
        created_from_ms: Local wall clock time, as if it were UTC, from which on files count; None
            for all.
    """

    snapshot: Snapshot | None
    visibility: Visibility = Visibility.BATCH
    created_from_ms: int | None = None

    @property
    def is_plain(self) -> bool:
        """Whether all rows of the snapshot that a batch sees are read."""
        return self.visibility is Visibility.BATCH and self.created_from_ms is None

    def plan(self, planner: Planner, reader: SplitReader) -> ScanPlan:
        """The splits of the snapshot."""
        if self.snapshot is None:
            return ScanPlan(snapshot_id=None, splits=(), reader=reader, steps=())
        if self.created_from_ms is None:
            splits, steps = planner.plan(
                self.snapshot, reader.predicate, visibility=self.visibility
            )
        else:
            live = _live(planner, self.snapshot, reader.predicate)
            entries = _created_from(live, self.created_from_ms)
            splits, steps = planner.plan_entries(
                entries, reader.predicate, visibility=self.visibility
            )
            steps = [PlanStep("created", entries.num_rows, live.num_rows), *steps]
        return ScanPlan(
            snapshot_id=self.snapshot.id, splits=splits, reader=reader, steps=tuple(steps)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSource:
    """The rows that some snapshots brought.

    Attributes:
        snapshots: In their order; the last is the end of the range.
        from_changelog: Whether changelog files are read, rather than the files that were added.
        is_followed: Whether a stream reads what it has chosen: the files that overwrites added too,
            and rows that wait for their bucket, since they never come again.
    """

    snapshots: tuple[Snapshot, ...]
    from_changelog: bool
    is_followed: bool = False

    def plan(self, planner: Planner, reader: SplitReader) -> ScanPlan:
        """One section a file, those of a bucket in the order of the snapshots."""
        manifests = planner.manifests
        partitions = partitions_left(reader.predicate, planner.table_schema)
        read = manifests.changelog_files if self.from_changelog else manifests.delta_files
        metas = [
            meta for snapshot in self.snapshots if self._counts(snapshot) for meta in read(snapshot)
        ]
        kept = manifests.prune(metas, predicate_of(partitions))
        every = manifests.entries(kept)
        entries = manifests.of_partitions(every, partitions)
        if self.is_followed:
            entries = entries.filter(pc.equal(entries.column("kind"), int(FileKind.ADD)))
        else:
            entries = _visible(planner, entries)
        if pc.any(pc.equal(entries.column("kind"), int(FileKind.DELETE))).as_py():
            raise CorruptTableError(
                manifests.paths.location, "an APPEND commit or a changelog deletes files"
            )
        return ScanPlan(
            snapshot_id=self.snapshots[-1].id if self.snapshots else None,
            splits=tuple(_file_by_file(planner, entries)),
            reader=reader,
            steps=(
                PlanStep("manifests", len(kept), len(metas)),
                PlanStep("partitions", entries.num_rows, every.num_rows),
            ),
        )

    def _counts(self, snapshot: Snapshot) -> bool:
        """Compactions change no row, and what an overwrite replaced is no change to tell."""
        if self.is_followed:
            return True
        if self.from_changelog:
            return snapshot.commit_kind is not CommitKind.OVERWRITE
        return snapshot.commit_kind is CommitKind.APPEND


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffSource:
    """The rows that a snapshot has and an older one lacks.

    Attributes:
        before: The older snapshot.
        after: The newer.
    """

    before: Snapshot
    after: Snapshot

    def plan(self, planner: Planner, reader: SplitReader) -> ScanPlan:
        """The files that are on one side only.

        Raises:
            InvalidArgumentError: A partition has another number of buckets in each snapshot.
        """
        # Rows of both sides must be compared before others than key columns can be looked at.
        keys = set(planner.table_schema.primary_keys)
        predicate = split_by_columns(reader.predicate, keys)[0] if reader.predicate else None
        sides = [_live(planner, snapshot, predicate) for snapshot in (self.before, self.after)]
        _check_bucket_counts(sides[0], sides[1], planner)
        before, after = without_common_files(*sides)
        total = sum(side.num_rows for side in sides)
        if not planner.table_schema.primary_keys:
            splits, steps = planner.plan_entries(after, predicate, visibility=Visibility.ALL)
            return ScanPlan(
                snapshot_id=self.after.id,
                splits=tuple(splits),
                reader=reader,
                steps=(PlanStep("changed", after.num_rows, total), *steps),
            )
        return ScanPlan(
            snapshot_id=self.after.id,
            splits=tuple(diff_splits(planner, before, after)),
            reader=DiffReader(reader=reader, before_count=before.num_rows),
            steps=(PlanStep("changed", before.num_rows + after.num_rows, total),),
        )


def _live(planner: Planner, snapshot: Snapshot, predicate: Expression | None) -> pa.Table:
    """Live entries of the partitions that a predicate leaves, with their deletion vectors."""
    live = planner.manifests.live(
        snapshot, partitions=partitions_left(predicate, planner.table_schema)
    )
    return planner.with_deletion_vectors(_visible(planner, live), snapshot)


def _visible(planner: Planner, entries: pa.Table) -> pa.Table:
    """The entries less those of rows that wait for their bucket: of all levels."""
    return apply_steps(entries, planner.layout.steps(Visibility.ALL))[0]


def _created_from(entries: pa.Table, wall_clock_ms: int) -> pa.Table:
    times = entries.column("creation_time").cast(pa.timestamp("ms")).cast(pa.int64())
    return entries.filter(pc.greater_equal(times, wall_clock_ms))


def _file_by_file(planner: Planner, entries: pa.Table) -> list[Split]:
    """Splits that are read as they are, since their files claim to hold no deletes."""
    files = planner.split_files.files(entries)
    return [
        split
        for group in planner.split_files.groups(entries)
        for split in pack_splits(
            [SplitSection(((replace(files[row], delete_row_count=0),),)) for row in group.rows],
            partition=group.partition,
            bucket=group.bucket,
            target_size=planner.options.source_split_target_size,
            open_file_cost=planner.options.source_split_open_file_cost,
        )
    ]


def _check_bucket_counts(before: pa.Table, after: pa.Table, planner: Planner) -> None:
    """Rows are compared bucket by bucket, so a key must stand in one bucket on both sides."""
    if planner.options.bucket == _UNFIXED_BUCKETS:
        return
    then, now = bucket_counts(before), bucket_counts(after)
    present = (set(python_values(side.column("partition").unique())) for side in (before, after))
    for partition in set.intersection(*present):
        if then.get(partition) != now.get(partition):
            raise InvalidArgumentError(
                f"a partition has {then.get(partition)} buckets in the older snapshot and "
                f"{now.get(partition)} in the newer; they cannot be compared. Read the changes "
                "with incremental_mode='delta'"
            )
