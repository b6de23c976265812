"""Which files a scan reads, and which of them together: from a snapshot to splits.

Each step drops what cannot hold a row of the answer, and never what can:

1. manifests   by their partition bounds
2. partitions  by the predicate's conjuncts on partition columns, exactly
3. buckets     by equality on the bucket key
4. live        ADD entries that no DELETE took back
5. keys        by the bounds of key columns: a key's rows are all in files whose bounds hold it
6. values      by the bounds of any column, where no other file may hold a newer row of the key:
               append tables, and sections of one file

The surprising thing: step 6 may not touch a file that overlaps another, because dropping the newer
row of a key would bring the older one back.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.binary_row import decode_rows
from lakebed.format.bucket import assign_buckets
from lakebed.format.predicate import Expression, columns_of, split_by_columns
from lakebed.format.predicate_values import equality_values
from lakebed.format.pruning import may_match
from lakebed.format.schema import TableSchema
from lakebed.format.snapshot import Snapshot
from lakebed.format.statistics import ColumnBounds, StatsColumns, bounds_from_stats
from lakebed.lsm.runs import key_ranks, sections
from lakebed.lsm.sort_keys import sort_words
from lakebed.options.table_options import TableOptions
from lakebed.table.manifests import Manifests
from lakebed.table.packing import pack_splits
from lakebed.table.partitions import EveryPartition, PartitionFilter, PartitionsMatching
from lakebed.table.split import Split, SplitSection
from lakebed.table.split_files import SplitFiles

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class PlanStep:
    """What one step of planning kept.

    Attributes:
        name: The step.
        kept: How many came out.
        total: How many went in.
    """

    name: str
    kept: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Planner:
    """Plans scans of one table at one schema.

    Attributes:
        table_schema: The schema that is read.
        file_schemas: Every schema of the table, by id.
        options: The table's options.
        manifests: The table's manifests.
        split_files: From entries to files with paths.
    """

    table_schema: TableSchema
    file_schemas: Mapping[int, TableSchema]
    options: TableOptions
    manifests: Manifests
    split_files: SplitFiles

    def plan(
        self, snapshot: Snapshot, predicate: Expression | None
    ) -> tuple[list[Split], list[PlanStep]]:
        """The splits of a snapshot that may hold rows for which `predicate` is true."""
        steps: list[PlanStep] = []
        entries = self._entries(snapshot, predicate, steps)
        if self.table_schema.primary_keys:
            entries = self._prune_by_keys(entries, predicate, steps)
            splits = self._merge_splits(entries, predicate, steps)
        else:
            kept = self._value_matches(predicate, entries)
            steps.append(PlanStep("values", int(kept.sum()), entries.num_rows))
            splits = self._raw_splits(entries.filter(pa.array(kept)))
        return splits, steps

    def _entries(
        self, snapshot: Snapshot, predicate: Expression | None, steps: list[PlanStep]
    ) -> pa.Table:
        metas = self.manifests.files(snapshot)
        partition_filter = self._partition_filter(predicate)
        kept = self.manifests.prune(metas, _partition_predicate(partition_filter))
        steps.append(PlanStep("manifests", len(kept), len(metas)))
        entries = self.manifests.entries(kept)
        total = entries.num_rows
        entries = self.manifests.of_partitions(entries, partition_filter)
        steps.append(PlanStep("partitions", entries.num_rows, total))
        if predicate is not None:
            total = entries.num_rows
            entries = self._prune_buckets(entries, predicate)
            steps.append(PlanStep("buckets", entries.num_rows, total))
        total = entries.num_rows
        entries = self.manifests.net(entries)
        steps.append(PlanStep("live", entries.num_rows, total))
        return entries

    def _partition_filter(self, predicate: Expression | None) -> PartitionFilter:
        fields = self.table_schema.partition_type.fields
        if predicate is None or not fields:
            return EveryPartition()
        of_partition, _ = split_by_columns(predicate, set(self.table_schema.partition_keys))
        return PartitionsMatching(of_partition, fields) if of_partition else EveryPartition()

    def _prune_buckets(self, entries: pa.Table, predicate: Expression) -> pa.Table:
        keys = self.table_schema.bucket_keys
        if self.options.bucket <= 0 or not keys:
            return entries
        values = equality_values(predicate, keys)
        if values is None:
            return entries
        types = [self.table_schema.field(name).type for name in keys]
        columns = [values.column(name).combine_chunks() for name in keys]
        totals = entries.column("total_buckets").to_numpy()
        buckets = entries.column("bucket").to_numpy()
        kept = totals <= 0
        for total in np.unique(totals[totals > 0]).tolist():
            wanted = assign_buckets(
                columns,
                types,
                total_buckets=total,
                function=self.options.bucket_function_type.value,
            )
            kept |= (totals == total) & np.isin(buckets, wanted)
        return entries.filter(pa.array(kept))

    def _prune_by_keys(
        self, entries: pa.Table, predicate: Expression | None, steps: list[PlanStep]
    ) -> pa.Table:
        keys = self.table_schema.trimmed_primary_keys
        of_key = split_by_columns(predicate, set(keys))[0] if predicate is not None else None
        if of_key is None:
            return entries
        stats = StatsColumns(
            entries.column("key_min"), entries.column("key_max"), entries.column("key_null_counts")
        )
        bounds = bounds_from_stats(stats, [self.table_schema.field(name) for name in keys])
        kept = self._may_match(of_key, entries, bounds)
        steps.append(PlanStep("keys", int(kept.sum()), entries.num_rows))
        return entries.filter(pa.array(kept))

    @staticmethod
    def _may_match(
        predicate: Expression, entries: pa.Table, bounds: Mapping[str, ColumnBounds]
    ) -> Mask:
        return may_match(predicate, bounds, entries.column("row_count").to_numpy())

    def _value_matches(self, predicate: Expression | None, entries: pa.Table) -> Mask:
        """Which files' bounds of any column leave room for a matching row."""
        if predicate is None:
            return np.ones(entries.num_rows, np.bool_)
        bounds = self.split_files.value_bounds(
            entries, self.file_schemas, wanted=columns_of(predicate)
        )
        return self._may_match(predicate, entries, bounds)

    def _merge_splits(
        self, entries: pa.Table, predicate: Expression | None, steps: list[PlanStep]
    ) -> list[Split]:
        if entries.num_rows == 0:
            return []
        matches = self._value_matches(predicate, entries)
        lows, highs = self._key_ranks(entries)
        files = self.split_files.files(entries)
        splits: list[Split] = []
        kept = 0
        for group in self.split_files.groups(entries):
            found = sections([lows[i] for i in group.rows], [highs[i] for i in group.rows])
            in_bucket = [
                SplitSection(tuple(tuple(files[group.rows[f]] for f in run) for run in s.runs))
                for s in found
                if len(s.files) > 1 or matches[group.rows[s.files[0]]]
            ]
            kept += sum(len(section.files) for section in in_bucket)
            splits += self._packed(group.partition, group.bucket, in_bucket)
        if predicate is not None:
            steps.append(PlanStep("values", kept, entries.num_rows))
        return splits

    def _key_ranks(self, entries: pa.Table) -> tuple[list[int], list[int]]:
        types = [
            self.table_schema.field(name).type for name in self.table_schema.trimmed_primary_keys
        ]
        rows = pa.chunked_array(
            [*entries.column("min_key").chunks, *entries.column("max_key").chunks], pa.binary()
        )
        columns = decode_rows(rows.combine_chunks(), types, source="min_key, max_key")
        ranks = key_ranks(sort_words([pa.chunked_array([column]) for column in columns]))
        return ranks[: entries.num_rows].tolist(), ranks[entries.num_rows :].tolist()

    def _raw_splits(self, entries: pa.Table) -> list[Split]:
        files = self.split_files.files(entries)
        return [
            split
            for group in self.split_files.groups(entries)
            for split in self._packed(
                group.partition,
                group.bucket,
                [SplitSection(((replace(files[row], delete_row_count=0),),)) for row in group.rows],
            )
        ]

    def _packed(
        self, partition: tuple[object, ...], bucket: int, found: Sequence[SplitSection]
    ) -> list[Split]:
        return pack_splits(
            found,
            partition=partition,
            bucket=bucket,
            target_size=self.options.source_split_target_size,
            open_file_cost=self.options.source_split_open_file_cost,
        )


def _partition_predicate(partition_filter: PartitionFilter) -> Expression | None:
    if isinstance(partition_filter, PartitionsMatching):
        return partition_filter.predicate
    return None
