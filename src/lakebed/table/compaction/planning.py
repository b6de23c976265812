"""Which compactions does a table need, or does a user ask for?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lakebed.format.snapshot import Snapshot
from lakebed.lsm.clustering.row_sorter import RowOrdering
from lakebed.lsm.compaction.append import AppendCompaction, AppendPick
from lakebed.lsm.compaction.full import pick_full
from lakebed.lsm.compaction.levels import Levels
from lakebed.lsm.compaction.pick import Pick
from lakebed.lsm.compaction.policy import CompactionPolicy
from lakebed.lsm.compaction.rewrite_plan import RewritePlan, RewriteRules, plan_rewrite
from lakebed.lsm.compaction.rewriting import Rewriting
from lakebed.lsm.engines import Folding, Picking, merging_of
from lakebed.lsm.write_buffer import SYSTEM_COLUMNS
from lakebed.options.choices import ChangelogProducer, MergeEngine
from lakebed.options.compaction_options import CompactionOptions
from lakebed.options.merge_options import MergeOptions
from lakebed.table.committing import is_unaware
from lakebed.table.compaction.appended import AppendedCompaction
from lakebed.table.compaction.buckets import BucketFiles, Place, bucket_files, vector_files
from lakebed.table.compaction.clustered import Clustering
from lakebed.table.compaction.expired_rows import ExpiredRows
from lakebed.table.compaction.indexed import IndexRewrite
from lakebed.table.compaction.keyed import KeyedCompaction
from lakebed.table.metadata.partitions import PartitionFilter
from lakebed.table.parts import TableParts
from lakebed.table.reading.read import SplitReader
from lakebed.table.reading.scan_source import SnapshotSource
from lakebed.table.writing.bucket_writer import BucketWrites
from lakebed.table.writing.deletion_vector_files import DeletionVectorFiles

TOLD_BY_COMPACTION = (ChangelogProducer.LOOKUP, ChangelogProducer.FULL_COMPACTION)

Compaction = KeyedCompaction | AppendedCompaction | IndexRewrite


@dataclass(frozen=True, slots=True, kw_only=True)
class Compactions:
    """What makes compactions of the buckets of a snapshot.

    Attributes:
        parts: The table.
        snapshot: The snapshot.
        writes: Opens files.
        is_full: Whether buckets are compacted as a whole, as a user asks for it, or as the options
            say.
        ordering: What all rows of a partition are sorted by, as a user asks for it; None where they
            stay in their order.
    """

    parts: TableParts
    snapshot: Snapshot
    writes: BucketWrites
    is_full: bool
    ordering: RowOrdering | None = None

    def of(
        self, partitions: PartitionFilter, *, places: frozenset[Place] | None = None
    ) -> list[Compaction]:
        """The compactions of some buckets; none for those that need none.

        Args:
            partitions: The partitions.
            places: Which of their buckets; None for all.
        """
        options = CompactionOptions.parse(self.parts.texts)
        buckets = bucket_files(self.parts, self.snapshot, partitions, places=places)
        if self.parts.schema.primary_keys:
            return self._keyed(buckets, options)
        return self._appended(buckets, options)

    def _keyed(
        self, buckets: Sequence[BucketFiles], options: CompactionOptions
    ) -> list[Compaction]:
        due = []
        expired = ExpiredRows.of(self.parts, options, buckets)
        for stored in buckets:
            levels = Levels.of(stored.metas, count=options.level_count)
            pick = self._pick(levels, stored, options, expired=expired.due)
            if pick is not None:
                due.append((stored, levels, pick))
        if not due:
            # Most writes leave nothing to do, and should not pay for more than finding that.
            return []
        keyed = _Keyed.of(self, options, expired)
        found = [keyed.compaction(stored, levels, pick) for stored, levels, pick in due]
        return [each for each in found if each is not None]

    def _pick(
        self,
        levels: Levels,
        stored: BucketFiles,
        options: CompactionOptions,
        *,
        expired: frozenset[str],
    ) -> Pick | None:
        if self.is_full:
            return pick_full(
                levels,
                rewrites_all=options.rewrites_all,
                expired=expired,
                marked=stored.deleted_rows,
            )
        now_ms = self.parts.session.wall_clock_ms()
        return CompactionPolicy.of(options).pick(levels, now_ms=now_ms)

    def _appended(
        self, buckets: Sequence[BucketFiles], options: CompactionOptions
    ) -> list[Compaction]:
        clustering = Clustering.of(self.parts, options)
        if clustering is not None:
            clustered = [
                (stored, pick)
                for stored in buckets
                for pick in clustering.picks(stored, is_full=self.is_full)
            ]
            return self._rewritten(clustered, clustering.ordering)
        policy = AppendCompaction.of(self.parts.options, options)
        picks = [(stored, pick) for stored in buckets for pick in self._picks(policy, stored)]
        return self._rewritten(picks, self.ordering)

    def _rewritten(
        self,
        picks: Sequence[tuple[BucketFiles, AppendPick | Pick]],
        ordering: RowOrdering | None,
    ) -> list[Compaction]:
        if not picks:
            return []
        reader, vectors = self.reader(()), vector_files(self.parts)
        is_tracked = self.parts.options.row_tracking_enabled
        return [
            AppendedCompaction(
                stored=stored,
                directory=self.directory(stored),
                pick=pick,
                reader=reader,
                writes=self.writes.tracked if is_tracked else self.writes,
                vectors=vectors,
                ordering=ordering,
                is_tracked=is_tracked,
            )
            for stored, pick in picks
        ]

    def _picks(self, policy: AppendCompaction, stored: BucketFiles) -> list[AppendPick]:
        if self.ordering is not None:
            return [AppendPick(files=tuple(stored.metas), why=self.ordering.why)]
        if is_unaware(self.parts):
            return policy.pack(stored.metas, deleted=stored.deleted_rows)
        pick = None
        if self.is_full:
            pick = policy.pick_full_bucket(stored.metas, deleted=stored.deleted_rows)
        if pick is None:
            # Too few files for a full compaction may be enough for the usual one.
            pick = policy.pick_in_bucket(stored.metas)
        return [] if pick is None else [pick]

    def directory(self, stored: BucketFiles) -> str:
        """Where files of a bucket are written."""
        return self.parts.split_files.bucket_directory(stored.partition, stored.bucket)

    def reader(self, system: Sequence[str]) -> SplitReader:
        """A reader of all columns and some system columns."""
        scan = self.parts.scan(SnapshotSource(snapshot=self.snapshot))
        return replace(scan.reader, columns=(*self.parts.schema.names, *system), keep_deletes=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Keyed:
    """What the compactions of all buckets of a table with a primary key share."""

    compactions: Compactions
    options: CompactionOptions
    merge_options: MergeOptions
    rules: RewriteRules
    merging: Picking | Folding
    reader: SplitReader
    vectors: DeletionVectorFiles
    expired: ExpiredRows

    @classmethod
    def of(
        cls, compactions: Compactions, options: CompactionOptions, expired: ExpiredRows
    ) -> "_Keyed":
        parts = compactions.parts
        merge_options = MergeOptions.parse(parts.texts)
        return cls(
            compactions=compactions,
            options=options,
            merge_options=merge_options,
            rules=RewriteRules.of(parts.options, merge_options, options),
            merging=merging_of(parts.schema, parts.texts),
            reader=compactions.reader(SYSTEM_COLUMNS),
            vectors=vector_files(parts),
            expired=expired,
        )

    def compaction(self, stored: BucketFiles, levels: Levels, pick: Pick) -> KeyedCompaction | None:
        picked = [stored.files[meta.file_name] for meta in pick.files]
        plan = plan_rewrite(
            pick,
            levels,
            self.rules,
            low_ranks=[file.low for file in picked],
            high_ranks=[file.high for file in picked],
            expired=self.expired.due,
        )
        if not plan.steps:
            return None
        return KeyedCompaction(
            stored=stored,
            directory=self.compactions.directory(stored),
            pick=pick,
            plan=plan,
            rewriting=self._rewriting(plan, levels),
            reader=self.reader,
            writes=self.compactions.writes,
            vectors=self.vectors,
            expired=self.expired.in_bucket(stored),
        )

    def _rewriting(self, plan: RewritePlan, levels: Levels) -> Rewriting:
        parts = self.compactions.parts
        names = tuple(parts.schema.names)
        compared: tuple[str, ...] | None = None
        if self.options.row_deduplicate:
            compared = tuple(name for name in names if name not in self.options.not_compared)
        return Rewriting(
            names=names,
            merging=self.merging,
            tracking=self.rules.tracking,
            tells_changes=parts.options.changelog_producer in TOLD_BY_COMPACTION,
            tells_dead=self.rules.with_deletion_vectors,
            output_level=plan.output_level,
            max_level=levels.max_level,
            drops_deletes=plan.drops_deletes,
            drops_known_keys=self.merge_options.engine is MergeEngine.FIRST_ROW,
            compared=compared,
            budget_bytes=parts.session.merge_memory,
        )
