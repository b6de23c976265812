"""What a manifest entry says of a file's rows, gathered while it is written (format.md 7, 10).

Rows come in parts. Of each column the exact bounds of every part are kept, and shortened as the
column's mode says only when all have come. A key column has the values of the column that it is of,
so what is known of this one serves both.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowArray, python_values
from lakebed.format.binary_row.codec import EMPTY_ROW, encode_rows
from lakebed.format.data_file_meta import EMPTY_STATS, SimpleStats
from lakebed.format.file_index.building import FileIndexes
from lakebed.format.key_value import SEQUENCE_NUMBER, VALUE_KIND
from lakebed.format.paths import file_index_name
from lakebed.format.row_tracking import TRACKING_FIELDS
from lakebed.format.schema import KEY_FIELD_PREFIX, TableSchema
from lakebed.format.statistics.stored import (
    FULL_STATS_MODE,
    NO_STATS,
    NO_STATS_MODE,
    ColumnStats,
    StatsKind,
    StatsMode,
    collect_column,
    stats_modes,
    stats_row,
    truncate_bounds,
)
from lakebed.format.types import AtomicType, DataField
from lakebed.lsm.merge import DELETE, UPDATE_BEFORE
from lakebed.options.stats_options import StatsOptions
from lakebed.options.table_options import TableOptions
from lakebed.storage.file_io import FileIO


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryPlan:
    """Which statistics some files of a table keep.

    Attributes:
        key_fields: The trimmed primary key's columns in the table; empty for append tables.
        key_modes: The statistics mode of each, as a key.
        value_fields: The table's columns.
        value_modes: The statistics mode of each.
        is_dense: Whether columns without statistics are left out.
        file_format: What the files are.
        indexes: The indexes that they get; None for none.
    """

    key_fields: tuple[DataField, ...]
    key_modes: tuple[StatsMode, ...]
    value_fields: tuple[DataField, ...]
    value_modes: tuple[StatsMode, ...]
    is_dense: bool
    file_format: str
    indexes: FileIndexes | None

    @classmethod
    def of(
        cls,
        schema: TableSchema,
        options: TableOptions,
        *,
        file_format: str | None = None,
        level: int = 0,
        is_changelog: bool = False,
        is_postponed: bool = False,
    ) -> "SummaryPlan":
        """The plan that a table's options ask for.

        Args:
            schema: The table's schema.
            options: Its options.
            file_format: What the files are; by default `file.format`.
            level: Which level they are for, of a primary-key table.
            is_changelog: Whether they are changelog files.
            is_postponed: Whether their rows have no bucket yet, and so need no statistics.

        Raises:
            InvalidArgumentError: A text is no value of its option.
            InvalidTableError: An index that cannot be.
            UnsupportedError: An index that Lakebed does not write.
        """
        keys = schema.trimmed_primary_keys
        is_thin = options.data_file_thin_mode
        stored_keys = keys if is_thin else [KEY_FIELD_PREFIX + name for name in keys]
        default = NO_STATS_MODE if is_postponed else options.metadata_stats_mode
        names = schema.names
        if keys:
            given = StatsOptions.parse(schema.options)
            default = given.find(level, is_changelog=is_changelog) or default
            names = [SEQUENCE_NUMBER.name, VALUE_KIND.name, *names]
            names = names if is_thin else [*stored_keys, *names]
        modes = stats_modes(
            names,
            default=default,
            overrides=options.fields_stats_mode,
            keep_first=options.metadata_stats_keep_first_n_columns,
            key_columns=keys if is_thin else (),
            file_format=file_format or options.file_format,
        )
        mode_of = dict(zip(names, modes, strict=True))
        return cls(
            key_fields=tuple(schema.field(name) for name in keys),
            key_modes=tuple(mode_of[name] for name in stored_keys),
            value_fields=schema.fields,
            value_modes=tuple(mode_of[name] for name in schema.names),
            is_dense=options.metadata_stats_dense_store,
            file_format=file_format or options.file_format,
            # Changelogs are read from one end to the other.
            indexes=None if is_changelog else FileIndexes.of(schema, schema.options),
        )

    @property
    def is_tracked(self) -> bool:
        """Whether the files say the ids of their rows."""
        return self.value_fields[-len(TRACKING_FIELDS) :] == TRACKING_FIELDS

    @property
    def is_keyed(self) -> bool:
        """Whether the files are key-value files."""
        return bool(self.key_fields)

    @property
    def collected_modes(self) -> tuple[StatsMode, ...]:
        """What has to be known of each value column, for itself and as a key."""
        as_keys = dict(zip((field.name for field in self.key_fields), self.key_modes, strict=True))
        return tuple(
            _exact((mode, as_keys.get(field.name, NO_STATS_MODE)))
            for field, mode in zip(self.value_fields, self.value_modes, strict=True)
        )


def _exact(modes: Sequence[StatsMode]) -> StatsMode:
    """The mode of which all of some modes can be made."""
    kinds = {mode.kind for mode in modes}
    if kinds & {StatsKind.TRUNCATE, StatsKind.FULL}:
        return FULL_STATS_MODE
    return StatsMode(kind=StatsKind.COUNTS) if StatsKind.COUNTS in kinds else NO_STATS_MODE


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedIndex:
    """Where a file's indexes are: `_EMBEDDED_FILE_INDEX` and what they add to `_EXTRA_FILES`.

    Attributes:
        embedded: The bytes, if the entry holds them.
        extra_files: The name of their file, if they have one.
    """

    embedded: bytes | None = None
    extra_files: tuple[str, ...] = ()


NO_INDEX = PlacedIndex()


def placed_index(
    data: bytes, path: str, *, file_io: FileIO, in_manifest_bytes_max: int
) -> PlacedIndex:
    """Puts the indexes of a file into its entry, or beside it where they are large.

    Args:
        data: The indexes.
        path: The file that is then written; nobody else writes it.
        file_io: The store.
        in_manifest_bytes_max: `file-index.in-manifest-threshold`.

    Raises:
        StorageError: They cannot be written.
    """
    if len(data) <= in_manifest_bytes_max:
        return PlacedIndex(embedded=data)
    file_io.write(path, data)
    return PlacedIndex(extra_files=(path.rpartition("/")[2],))


class FileSummary:
    """Gathers what is said of one file."""

    def __init__(self, plan: SummaryPlan) -> None:
        """Begins with no rows."""
        self._plan = plan
        self._modes = plan.collected_modes
        self._stats: list[list[ColumnStats]] = [[] for _ in plan.value_fields]
        self._index = None if plan.indexes is None else plan.indexes.builder()
        self.row_count = 0
        self.delete_row_count = 0
        self.sequence_range: tuple[int, int] | None = None
        self._has_open_numbers = False
        self.min_key = EMPTY_ROW
        self.max_key = EMPTY_ROW

    def add(self, rows: pa.Table) -> None:
        """Takes the next rows of the file, in its layout."""
        plan = self._plan
        for parts, field, mode in zip(self._stats, plan.value_fields, self._modes, strict=True):
            column = rows.column(field.name)
            parts.append(collect_column(column, field.type, mode, file_format=plan.file_format))
        if plan.is_keyed:
            self._add_keys(rows)
        if plan.is_tracked:
            self._add_numbers(rows)
        if self._index is not None:
            self._index.add(rows)
        self.row_count += rows.num_rows

    def _add_keys(self, rows: pa.Table) -> None:
        fields = self._plan.key_fields
        ends = rows.select([field.name for field in fields]).take([0, rows.num_rows - 1])
        first, last = python_values(encode_rows(ends.columns, [field.type for field in fields]))
        self.min_key = self.min_key if self.row_count else first
        self.max_key = last
        self._add_numbers(rows)
        kinds = rows.column(VALUE_KIND.name).to_numpy()
        self.delete_row_count += int(np.isin(kinds, (UPDATE_BEFORE, DELETE)).sum())

    def _add_numbers(self, rows: pa.Table) -> None:
        numbers = rows.column(SEQUENCE_NUMBER.name)
        self._has_open_numbers |= numbers.null_count > 0
        low, high = pc.min_max(numbers).as_py().values()
        if low is not None:
            before = self.sequence_range or (low, high)
            self.sequence_range = (min(before[0], low), max(before[1], high))

    @property
    def tracked_range(self) -> tuple[int, int] | None:
        """Smallest and greatest number of the rows of a tracked file; 0 where the commit knows it.

        None of other files.
        """
        if not self._plan.is_tracked:
            return None
        low, high = self.sequence_range or (0, 0)
        return low, 0 if self._has_open_numbers else high

    @property
    def write_cols(self) -> tuple[str, ...] | None:
        """`_WRITE_COLS`: the columns of a file, where they are not those of its schema."""
        plan = self._plan
        return tuple(field.name for field in plan.value_fields) if plan.is_tracked else None

    def place_index(self, data_file: str, *, file_io: FileIO) -> PlacedIndex:
        """Puts the file's indexes where they belong: nowhere, in its entry, or beside it.

        Args:
            data_file: Path of the file.
            file_io: The store.

        Raises:
            StorageError: They cannot be written.
            UnsupportedError: They are larger than an index file can be.
        """
        if self._index is None or self._plan.indexes is None:
            return NO_INDEX
        directory, _, name = data_file.rpartition("/")
        return placed_index(
            self._index.finish(),
            f"{directory}/{file_index_name(name)}",
            file_io=file_io,
            in_manifest_bytes_max=self._plan.indexes.in_manifest_bytes_max,
        )

    def key_stats(self) -> SimpleStats:
        """`_KEY_STATS`."""
        plan = self._plan
        if not plan.is_keyed:
            return EMPTY_STATS
        parts = dict(zip((field.name for field in plan.value_fields), self._stats, strict=True))
        kept = [
            _kept(parts[field.name], field, mode)
            for field, mode in zip(plan.key_fields, plan.key_modes, strict=True)
        ]
        return stats_row(kept, plan.key_fields, dense=False)[0]

    def value_stats(self) -> tuple[SimpleStats, tuple[str, ...] | None]:
        """`_VALUE_STATS` and `_VALUE_STATS_COLS`."""
        plan = self._plan
        kept = [
            _kept(parts, field, mode)
            for parts, field, mode in zip(
                self._stats, plan.value_fields, plan.value_modes, strict=True
            )
        ]
        return stats_row(kept, plan.value_fields, dense=plan.is_dense)


def _kept(parts: Sequence[ColumnStats], field: DataField, mode: StatsMode) -> ColumnStats:
    """What a mode keeps of all rows, from the exact statistics of some rows each."""
    counts = [part.null_count for part in parts if part.null_count is not None]
    null_count = sum(counts) if parts and len(counts) == len(parts) else None
    # A part without bounds has no values: of one column all parts have bounds, or none can.
    bounds = [bound for part in parts for bound in (part.min, part.max) if bound is not None]
    if mode.kind is StatsKind.NONE:
        return NO_STATS
    if not bounds or not isinstance(field.type, AtomicType):
        return ColumnStats(null_count=null_count)
    ends: ArrowArray = pa.array(bounds, bounds[0].type)
    both = collect_column(ends, field.type, FULL_STATS_MODE, file_format="avro")
    known = ColumnStats(min=both.min, max=both.max, null_count=null_count)
    return truncate_bounds(known, field.type, mode)
