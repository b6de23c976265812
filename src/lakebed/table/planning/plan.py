"""Which files a scan reads, and which of them together: from a snapshot to splits.

Each step drops what cannot hold a row of the answer, and never what can:

1. manifests   by their partition bounds and levels
2. partitions  by the predicate's conjuncts on partition columns, exactly
3. buckets     by equality on the bucket key
4. levels      that the table hides until a compaction (`visibility`)
5. keys        by the bounds of key columns: a key's rows are all in files whose bounds hold it
6. live        ADD entries that no DELETE took back
7. values      by the bounds of any column, where no other file may hold a newer row of the key
8. indexes     by the files' own indexes, in append tables and files that need no merge

Steps 2 to 6 and the look at the bounds are one pass over the manifests (`live_files`); steps 7 and
8 know which files overlap (`split_building`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from lakebed.format.arrow.typing import ArrowChunks
from lakebed.format.predicate.expressions import Expression
from lakebed.format.schema import TableSchema
from lakebed.format.snapshot import Snapshot
from lakebed.options.choices import MergeEngine
from lakebed.options.table_options import TableOptions
from lakebed.options.values import parse_boolean
from lakebed.table.metadata.index_paths import IndexPaths
from lakebed.table.metadata.live_files import LiveScan
from lakebed.table.metadata.manifests import Manifests
from lakebed.table.metadata.plan_step import PlanStep, apply_steps
from lakebed.table.planning.deletion_vectors import attach_deletion_vectors, read_deletion_vectors
from lakebed.table.planning.entry_pruning import EntryPruning
from lakebed.table.planning.file_indexes import FileIndexes
from lakebed.table.planning.split import Split
from lakebed.table.planning.split_building import SplitBuilder
from lakebed.table.planning.split_columns import PlannedSplits
from lakebed.table.planning.split_files import SplitFiles
from lakebed.table.planning.visibility import TableLayout, Visibility

__all__ = ["PlanStep", "Planner", "Visibility"]

_WHOLE_ROWS = (MergeEngine.DEDUPLICATE, MergeEngine.FIRST_ROW)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planner:
    """Plans scans of one table at one schema.

    Attributes:
        table_schema: The schema that is read.
        file_schemas: Every schema of the table, by id.
        options: The table's options.
        texts: The same as text, those of the scan laid over the table's.
        manifests: The table's manifests.
        split_files: From entries to files with paths.
        index_paths: Where index files lie.
    """

    table_schema: TableSchema
    file_schemas: Mapping[int, TableSchema]
    options: TableOptions
    texts: Mapping[str, str] = field(default_factory=dict)
    manifests: Manifests
    split_files: SplitFiles
    index_paths: IndexPaths

    def plan(
        self,
        snapshot: Snapshot,
        predicate: Expression | None,
        *,
        visibility: Visibility = Visibility.BATCH,
    ) -> tuple[Sequence[Split], list[PlanStep]]:
        """The splits of a snapshot that may hold rows for which `predicate` is true."""
        pruning, layout = self._pruning(predicate), self.layout
        metas = self.manifests.files(snapshot)
        kept = [
            meta
            for meta in self.manifests.prune(metas, pruning.partition_predicate)
            if layout.may_be_seen(meta, visibility)
        ]
        scan = LiveScan(
            columns=pruning.columns,
            steps=[*pruning.place_steps(), *layout.steps(visibility)],
            places_first=pruning.prunes_places,
            add_steps=pruning.key_steps(),
            shrink=pruning.flag_matches,
        )
        entries, steps = self.manifests.live_files(kept, scan)
        entries = self.with_deletion_vectors(entries, snapshot)
        columns = dict(zip(entries.column_names, entries.columns, strict=True))
        del entries
        splits, more = self._splits(columns, predicate)
        return splits, [PlanStep("manifests", len(kept), len(metas)), *steps, *more]

    def plan_entries(
        self,
        entries: pa.Table,
        predicate: Expression | None,
        *,
        visibility: Visibility = Visibility.BATCH,
    ) -> tuple[Sequence[Split], list[PlanStep]]:
        """The splits of some ADD entries, chosen otherwise than as those of one snapshot.

        Args:
            entries: As `format.manifest.ENTRY_COLUMNS`, each file once, whole buckets of the
                partitions that are read; with `DV_COLUMNS` where files have deletion vectors.
            predicate: Over columns of the table; what cannot match it is left out.
            visibility: Which levels count.
        """
        pruning = self._pruning(predicate)
        wanted = [
            *pruning.place_steps(),
            *self.layout.steps(visibility),
            *pruning.key_steps(),
        ]
        entries, steps = apply_steps(entries, wanted)
        planned = pruning.flag_matches(entries)
        columns = dict(zip(planned.column_names, planned.columns, strict=True))
        splits, more = self._splits(columns, predicate)
        return splits, [*steps, *more]

    @property
    def layout(self) -> TableLayout:
        """What the table's options say of its levels and buckets."""
        return TableLayout.of(
            self.options,
            {**self.table_schema.options, **self.texts},
            has_primary_key=bool(self.table_schema.primary_keys),
        )

    def with_deletion_vectors(self, entries: pa.Table, snapshot: Snapshot) -> pa.Table:
        """The live entries of a snapshot with `DV_COLUMNS`, where the table has such vectors."""
        if snapshot.index_manifest is None or not self._flag("deletion-vectors.enabled"):
            return entries
        vectors = read_deletion_vectors(
            self.manifests.file_io, snapshot.index_manifest, paths=self.index_paths
        )
        return attach_deletion_vectors(entries, vectors)

    def _pruning(self, predicate: Expression | None) -> EntryPruning:
        return EntryPruning(
            table_schema=self.table_schema,
            file_schemas=self.file_schemas,
            options=self.options,
            predicate=predicate,
            uses_indexes=self._uses_indexes,
        )

    def _splits(
        self, entry_columns: dict[str, ArrowChunks], predicate: Expression | None
    ) -> tuple[Sequence[Split], list[PlanStep]]:
        schema = self.table_schema
        indexes = FileIndexes(
            file_io=self.manifests.file_io,
            table_schema=schema,
            file_schemas=self.file_schemas,
            bucket_directory=self.split_files.bucket_directory,
            threads=self.manifests.threads,
        )
        builder = SplitBuilder(
            split_files=self.split_files,
            key_types=[schema.field(name).type for name in schema.trimmed_primary_keys]
            if schema.primary_keys
            else None,
            keeps_newest_apart=self.layout.keeps_newest_apart,
            takes_rows_whole=self.options.merge_engine in _WHOLE_ROWS,
            target_size=self.options.source_split_target_size,
            open_file_cost=self.options.source_split_open_file_cost,
            index_matches=(lambda chosen: indexes.matches(chosen, predicate))
            if self._uses_indexes
            else None,
        )
        columns, steps = builder.build(entry_columns)
        return PlannedSplits(columns), steps

    @property
    def _uses_indexes(self) -> bool:
        return self._flag("file-index.read.enabled", default="true")

    def _flag(self, key: str, *, default: str = "false") -> bool:
        text = self.texts.get(key, self.table_schema.options.get(key, default))
        return parse_boolean(text, key)
