"""Which manifest entries may hold a row of the answer, looked at one by one?

Each step proves that a file cannot matter from what its entry says: the partition and the bucket
exactly, key and value columns by their bounds. Nothing here knows which files overlap; what must
not be dropped for that reason is only flagged (`flag_matches`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.bucket import assign_buckets
from lakebed.format.predicate.expressions import Expression, columns_of, split_by_columns
from lakebed.format.predicate.pruning import may_match
from lakebed.format.predicate.values import equality_values
from lakebed.format.schema import TableSchema
from lakebed.format.statistics.stored import StatsColumns, bounds_from_stats
from lakebed.format.types import DataField, DataType, with_nullability
from lakebed.options.table_options import TableOptions
from lakebed.table.metadata.partitions import (
    PartitionFilter,
    entries_of_partitions,
    partitions_left,
    predicate_of,
)
from lakebed.table.metadata.plan_step import EntryStep
from lakebed.table.planning.deletion_vectors import DV_COLUMNS
from lakebed.table.planning.evolved_bounds import WRITE_COLS, evolved_bounds

Mask = npt.NDArray[np.bool_]

MATCHES = "may_match"
"""The flag that `flag_matches` adds."""

_KEY_STATS = ("key_min", "key_max", "key_null_counts")
_VALUE_STATS = ("value_min", "value_max", "value_null_counts", "value_stats_cols")
_FILE_INDEX = ("extra_files", "embedded_file_index")
_PLANNED = (
    "partition",
    "bucket",
    "file_name",
    "file_size",
    "row_count",
    "min_sequence_number",
    "max_sequence_number",
    "schema_id",
    "level",
    "delete_row_count",
    "external_path",
)
_KEYS = ("min_key", "max_key")
_UNFIXED_BUCKETS = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPruning:
    """The steps that a predicate allows over one table.

    Attributes:
        table_schema: The schema that is read.
        file_schemas: Every schema of the table, by id.
        options: The table's options.
        predicate: Over columns of the table; None for every row.
        uses_indexes: Whether the indexes of files are asked afterwards.
    """

    table_schema: TableSchema
    file_schemas: Mapping[int, TableSchema]
    options: TableOptions
    predicate: Expression | None
    uses_indexes: bool = False

    @property
    def partitions(self) -> PartitionFilter:
        """The partitions that the predicate leaves."""
        return partitions_left(self.predicate, self.table_schema)

    @property
    def partition_predicate(self) -> Expression | None:
        """The part of the predicate that is over partition columns alone."""
        return predicate_of(self.partitions)

    @property
    def looks_at_values(self) -> bool:
        """Whether bounds of columns can tell more than the partition."""
        if self.predicate is None:
            return False
        return not columns_of(self.predicate) <= set(self.table_schema.partition_keys)

    @property
    def planned_columns(self) -> tuple[str, ...]:
        """What splits are made of."""
        keys = _KEYS if self.table_schema.primary_keys else ()
        indexes = _FILE_INDEX if self.uses_indexes and self.looks_at_values else ()
        return (*_PLANNED, *keys, *indexes)

    @property
    def columns(self) -> frozenset[str]:
        """What must be decoded of manifests."""
        columns = {"kind", "total_buckets", *self.planned_columns}
        if self._key_predicate is not None:
            columns |= set(_KEY_STATS)
        if self.looks_at_values:
            columns |= set(_VALUE_STATS)
            if self.options.row_tracking_enabled:
                columns.add(WRITE_COLS)
        return frozenset(columns)

    @property
    def prunes_places(self) -> bool:
        """Whether partitions or buckets are likely to leave few entries."""
        return self.partition_predicate is not None or _BucketChoice.of(self).values is not None

    def place_steps(self) -> list[EntryStep]:
        """By partition and bucket: the same for an ADD and its DELETE."""
        partitions = self.partitions
        steps = [
            EntryStep("partitions", lambda entries: entries_of_partitions(entries, partitions))
        ]
        if self.predicate is not None:
            steps.append(EntryStep("buckets", _BucketChoice.of(self).keep))
        return steps

    def key_steps(self) -> list[EntryStep]:
        """By the bounds of key columns, for tables with a key: a key's rows share all of them."""
        return [] if self._key_predicate is None else [EntryStep("keys", self._keys_match)]

    def flag_matches(self, entries: pa.Table) -> pa.Table:
        """What splits are made of, and whether the bounds of any column leave room for a row."""
        flags = self._values_match(entries) if self.looks_at_values else None
        wanted = (*self.planned_columns, *DV_COLUMNS.names)
        planned = entries.select([name for name in wanted if name in entries.column_names])
        if flags is None:
            return planned
        return planned.append_column(MATCHES, pa.array(flags))

    @property
    def _key_predicate(self) -> Expression | None:
        keys = self.table_schema.trimmed_primary_keys
        if self.predicate is None or not self.table_schema.primary_keys:
            return None
        return split_by_columns(self.predicate, set(keys))[0]

    def _keys_match(self, entries: pa.Table) -> Mask:
        of_key = self._key_predicate
        if of_key is None:
            return np.ones(entries.num_rows, np.bool_)
        keys = [self.table_schema.field(name) for name in self.table_schema.trimmed_primary_keys]
        stats = StatsColumns(*(entries.column(name) for name in _KEY_STATS))
        return may_match(of_key, bounds_from_stats(stats, keys), _row_counts(entries))

    def _values_match(self, entries: pa.Table) -> Mask:
        if self.predicate is None or entries.num_rows == 0:
            return np.ones(entries.num_rows, np.bool_)
        wanted = columns_of(self.predicate)
        fields = [field for field in self.table_schema.fields if field.name in wanted]
        bounds = evolved_bounds(entries, fields, self.file_schemas)
        return may_match(self.predicate, bounds, _row_counts(entries))


def _never_retyped(names: Sequence[str], pruning: EntryPruning) -> bool:
    """Whether every schema has the columns with the types of today: a hash goes by the type."""
    now = {field.id: _plain(field) for field in map(pruning.table_schema.field, names)}
    return all(
        _plain(field) == now[field.id]
        for schema in pruning.file_schemas.values()
        for field in schema.fields
        if field.id in now
    )


def _plain(field: DataField) -> DataType:
    return with_nullability(field.type, nullable=True)


def _row_counts(entries: pa.Table) -> npt.NDArray[np.int64]:
    counts: npt.NDArray[np.int64] = entries.column("row_count").to_numpy()
    return counts


@dataclass(frozen=True, slots=True)
class _BucketChoice:
    """The buckets that equality on the bucket key leaves, for each count of buckets."""

    values: pa.Table | None
    schema: TableSchema
    function: str

    @classmethod
    def of(cls, pruning: EntryPruning) -> "_BucketChoice":
        """No choice for tables whose buckets no hash chooses, or chose by values of other types."""
        schema, options = pruning.table_schema, pruning.options
        keys = schema.bucket_keys
        has_hash = options.bucket != _UNFIXED_BUCKETS and bool(keys)
        values = None
        if pruning.predicate is not None and has_hash and _never_retyped(keys, pruning):
            values = equality_values(pruning.predicate, keys)
        return cls(values, schema, options.bucket_function_type.value)

    def keep(self, entries: pa.Table) -> Mask:
        """True for entries of those buckets, and of files that no count of buckets is known of."""
        if self.values is None:
            return np.ones(entries.num_rows, np.bool_)
        totals = entries.column("total_buckets").to_numpy()
        buckets = entries.column("bucket").to_numpy()
        kept: Mask = totals <= 0
        for total in np.unique(totals[totals > 0]).tolist():
            kept |= (totals == total) & np.isin(buckets, self._wanted(total))
        return kept

    def _wanted(self, total: int) -> npt.NDArray[np.int32]:
        if self.values is None:
            return np.empty(0, np.int32)
        keys = self.schema.bucket_keys
        return assign_buckets(
            [self.values.column(name).combine_chunks() for name in keys],
            [self.schema.field(name).type for name in keys],
            total_buckets=total,
            function=self.function,
        )
