"""What a manifest entry says of a file's rows, gathered while it is written (format.md 7, 10)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import python_values
from lakebed.format.binary_row.codec import EMPTY_ROW, encode_rows
from lakebed.format.data_file_meta import EMPTY_STATS, SimpleStats
from lakebed.format.key_value import SEQUENCE_NUMBER, VALUE_KIND
from lakebed.format.schema import TableSchema
from lakebed.format.statistics.stored import (
    FULL_STATS_MODE,
    KEY_STATS_MODE,
    ColumnStats,
    StatsMode,
    collect_column,
    stats_modes,
    stats_row,
)
from lakebed.format.types import DataField
from lakebed.lsm.merge import DELETE, UPDATE_BEFORE
from lakebed.options.table_options import TableOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryPlan:
    """Which statistics the files of a table keep.

    Attributes:
        key_fields: The `_KEY_` columns; empty for append tables.
        value_fields: The table's columns.
        value_modes: The statistics mode of each.
        is_dense: Whether columns without statistics are left out.
    """

    key_fields: tuple[DataField, ...]
    value_fields: tuple[DataField, ...]
    value_modes: tuple[StatsMode, ...]
    is_dense: bool

    @classmethod
    def of(cls, schema: TableSchema, options: TableOptions) -> "SummaryPlan":
        """The plan that a table's options ask for."""
        modes = stats_modes(
            schema.names,
            default=options.metadata_stats_mode,
            overrides=options.fields_stats_mode,
            keep_first=options.metadata_stats_keep_first_n_columns,
        )
        return cls(
            key_fields=schema.key_fields(),
            value_fields=schema.fields,
            value_modes=tuple(modes),
            is_dense=options.metadata_stats_dense_store,
        )

    @property
    def is_keyed(self) -> bool:
        """Whether the files are key-value files."""
        return bool(self.key_fields)


class FileSummary:
    """Gathers what is said of one file."""

    def __init__(self, plan: SummaryPlan) -> None:
        """Begins with no rows."""
        self._plan = plan
        self._key_stats: list[list[ColumnStats]] = [[] for _ in plan.key_fields]
        self._value_stats: list[list[ColumnStats]] = [[] for _ in plan.value_fields]
        self.row_count = 0
        self.delete_row_count = 0
        self.sequence_range: tuple[int, int] | None = None
        self.min_key = EMPTY_ROW
        self.max_key = EMPTY_ROW

    def add(self, rows: pa.Table) -> None:
        """Takes the next rows of the file, in its layout."""
        plan = self._plan
        for parts, field, mode in zip(
            self._value_stats, plan.value_fields, plan.value_modes, strict=True
        ):
            parts.append(collect_column(rows.column(field.name), field.type, mode))
        if plan.is_keyed:
            self._add_keys(rows)
        self.row_count += rows.num_rows

    def _add_keys(self, rows: pa.Table) -> None:
        fields = self._plan.key_fields
        for parts, field in zip(self._key_stats, fields, strict=True):
            parts.append(collect_column(rows.column(field.name), field.type, KEY_STATS_MODE))
        types = [field.type for field in fields]
        ends = rows.select([field.name for field in fields]).take([0, rows.num_rows - 1])
        first, last = python_values(encode_rows(ends.columns, types))
        self.min_key = self.min_key if self.row_count else first
        self.max_key = last
        low, high = pc.min_max(rows.column(SEQUENCE_NUMBER.name)).as_py().values()
        before = self.sequence_range or (low, high)
        self.sequence_range = (min(before[0], low), max(before[1], high))
        kinds = rows.column(VALUE_KIND.name).to_numpy()
        self.delete_row_count += int(np.isin(kinds, (UPDATE_BEFORE, DELETE)).sum())

    def key_stats(self) -> SimpleStats:
        """`_KEY_STATS`."""
        if not self._plan.is_keyed:
            return EMPTY_STATS
        merged = _merged(self._key_stats, self._plan.key_fields)
        return stats_row(merged, self._plan.key_fields, dense=False)[0]

    def value_stats(self) -> tuple[SimpleStats, tuple[str, ...] | None]:
        """`_VALUE_STATS` and `_VALUE_STATS_COLS`."""
        fields = self._plan.value_fields
        return stats_row(_merged(self._value_stats, fields), fields, dense=self._plan.is_dense)


def _merged(
    parts: Sequence[Sequence[ColumnStats]], fields: Sequence[DataField]
) -> list[ColumnStats]:
    return [
        _merged_column(of_column, field) for of_column, field in zip(parts, fields, strict=True)
    ]


def _merged_column(parts: Sequence[ColumnStats], field: DataField) -> ColumnStats:
    """Statistics of all rows from those of some rows each."""
    if len(parts) == 1:
        return parts[0]
    counts = [part.null_count for part in parts if part.null_count is not None]
    null_count = sum(counts) if len(counts) == len(parts) else None
    bounds = [bound for part in parts for bound in (part.min, part.max)]
    known = [bound for bound in bounds if bound is not None]
    if len(known) < len(bounds):
        return ColumnStats(null_count=null_count)
    ends = collect_column(
        pa.chunked_array([pa.array([bound.as_py() for bound in known], known[0].type)]),
        field.type,
        FULL_STATS_MODE,
    )
    return ColumnStats(min=ends.min, max=ends.max, null_count=null_count)
