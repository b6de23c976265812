"""What a file's statistics say, and how they are written into a manifest entry (format.md 10).

A column's statistics are collected from its Arrow data when Lakebed writes the file, and taken from
the footer when another engine wrote it. `bounds_from_stats` goes the other way, for many files at
once, so that scans can skip files.
"""

from collections.abc import Sequence
from typing import cast

import pyarrow as pa

from lakebed.format.arrow.atoms import arrow_value_type
from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.binary_row.codec import encode_rows
from lakebed.format.data_file_meta import EMPTY_STATS, SimpleStats
from lakebed.format.statistics.bounds import ColumnBounds, StatsColumns, bounds_from_stats
from lakebed.format.statistics.column import (
    FULL_STATS_MODE,
    KEY_STATS_MODE,
    NO_STATS,
    NO_STATS_MODE,
    ColumnStats,
    collect_column,
    stats_modes,
    truncate_bounds,
)
from lakebed.format.statistics.footer import Footer, footer_statistics
from lakebed.format.types import AtomicType, DataField, DataType, TypeRoot
from lakebed.options.choices import StatsKind, StatsMode

__all__ = [
    "FULL_STATS_MODE",
    "KEY_STATS_MODE",
    "NO_STATS",
    "NO_STATS_MODE",
    "ColumnBounds",
    "ColumnStats",
    "Footer",
    "StatsColumns",
    "StatsKind",
    "StatsMode",
    "bounds_from_stats",
    "collect_column",
    "footer_statistics",
    "stats_modes",
    "stats_row",
    "truncate_bounds",
]

# For columns without bounds: a null BOOLEAN has the bytes that a null of a nested type has.
_STAND_IN = AtomicType(root=TypeRoot.BOOLEAN)


def stats_row(
    stats: Sequence[ColumnStats], fields: Sequence[DataField], *, dense: bool
) -> tuple[SimpleStats, tuple[str, ...] | None]:
    """The statistics as an entry holds them, and its `_VALUE_STATS_COLS`.

    Args:
        stats: One a field.
        fields: The columns in the order of the file's schema.
        dense: `metadata.stats-dense-store`: columns of which nothing is known are left out, and the
            names of the others given; None when nothing is left out. Never so for key statistics.
    """
    pairs = list(zip(stats, fields, strict=True))
    kept = [(known, field) for known, field in pairs if not dense or known != NO_STATS]
    names = None if len(kept) == len(pairs) else tuple(field.name for _, field in kept)
    if not kept:
        return EMPTY_STATS, names
    types = [_row_type(field.type) for _, field in kept]
    columns = [_bounds_column(known, kind) for (known, _), kind in zip(kept, types, strict=True)]
    low, high = cast("list[bytes]", encode_rows(columns, types).to_pylist())
    counts = tuple(known.null_count for known, _ in kept)
    return SimpleStats(min_values=low, max_values=high, null_counts=counts), names


def _row_type(kind: DataType) -> AtomicType:
    if isinstance(kind, AtomicType) and kind.root not in {TypeRoot.VARIANT, TypeRoot.BLOB}:
        return kind
    return _STAND_IN


def _bounds_column(known: ColumnStats, kind: AtomicType) -> ArrowArray:
    return pa.array([known.min, known.max], arrow_value_type(kind))
