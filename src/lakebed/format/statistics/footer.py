"""What the footer of a Parquet file that another engine wrote says of its columns (format.md 10).

A footer is believed only where its bounds mean what the format means. Of floating point that is so
just for parquet-mr, which orders NaN last: other writers leave NaN out of the bounds, and a reader
would skip a file that has one.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import pyarrow as pa

from lakebed.format.arrow.atoms import arrow_value_type
from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.binary_row.layout import TIMESTAMP_ROOTS
from lakebed.format.statistics.column import (
    NO_STATS,
    ColumnStats,
    collect_column,
    truncate_bounds,
)
from lakebed.format.types import AtomicType, DataField, TypeRoot
from lakebed.options.choices import StatsMode

_MICROS_PRECISION_MAX = 6
_FLOATS = frozenset({TypeRoot.FLOAT, TypeRoot.DOUBLE})
_UNBOUNDED = frozenset({TypeRoot.VARIANT, TypeRoot.BLOB})


class FooterStatistics(Protocol):
    """The statistics of a column in a row group."""

    @property
    def has_min_max(self) -> bool:
        """Whether there are bounds."""

    @property
    def null_count(self) -> int | None:
        """How many values are null; None where they were not counted."""

    @property
    def min(self) -> object:
        """The lower bound as Python has it."""

    @property
    def max(self) -> object:
        """The upper bound as Python has it."""


class FooterColumn(Protocol):
    """A leaf column of a row group."""

    @property
    def path_in_schema(self) -> str:
        """The names from the top, joined by dots."""

    @property
    def num_values(self) -> int:
        """How many values there are, nulls included."""

    @property
    def statistics(self) -> FooterStatistics | None:
        """What the writer knew of it."""


class FooterRowGroup(Protocol):
    """A row group."""

    @property
    def num_columns(self) -> int:
        """How many leaf columns there are."""

    def column(self, i: int, /) -> FooterColumn:
        """One of them."""


class Footer(Protocol):
    """The footer of a Parquet file; `pyarrow.parquet.FileMetaData` is one."""

    @property
    def created_by(self) -> str:
        """Which library wrote the file."""

    @property
    def num_row_groups(self) -> int:
        """How many row groups there are."""

    def row_group(self, i: int, /) -> FooterRowGroup:
        """One of them."""


def footer_statistics(
    footer: Footer, fields: Sequence[DataField], modes: Sequence[StatsMode]
) -> list[ColumnStats]:
    """The statistics of each field over all row groups, as its mode keeps them."""
    groups = [_columns_by_path(footer.row_group(i)) for i in range(footer.num_row_groups)]
    orders_nan = footer.created_by.startswith("parquet-mr")
    return [
        _field_statistics(groups, field, mode, orders_nan=orders_nan)
        for field, mode in zip(fields, modes, strict=True)
    ]


def _columns_by_path(group: FooterRowGroup) -> dict[str, FooterColumn]:
    columns = [group.column(i) for i in range(group.num_columns)]
    return {column.path_in_schema: column for column in columns}


def _field_statistics(
    groups: Sequence[Mapping[str, FooterColumn]],
    field: DataField,
    mode: StatsMode,
    *,
    orders_nan: bool,
) -> ColumnStats:
    kind = field.type
    columns = [group[field.name] for group in groups if field.name in group]
    if not isinstance(kind, AtomicType) or kind.root in _UNBOUNDED or len(columns) < len(groups):
        return NO_STATS
    null_count = _null_count(columns)
    is_float = kind.root in _FLOATS
    is_int96 = kind.root in TIMESTAMP_ROOTS and (kind.precision or 0) > _MICROS_PRECISION_MAX
    is_believed = orders_nan if is_float else not is_int96
    bounds = _bounds(columns, kind) if is_believed else None
    if bounds is None:
        return truncate_bounds(ColumnStats(null_count=null_count), kind, mode)
    merged = collect_column(bounds, kind, mode)
    return ColumnStats(merged.min, merged.max, null_count if merged != NO_STATS else None)


def _null_count(columns: Sequence[FooterColumn]) -> int | None:
    total = 0
    for column in columns:
        known = column.statistics
        if known is None or known.null_count is None:
            return None
        total += known.null_count
    return total


def _bounds(columns: Sequence[FooterColumn], kind: AtomicType) -> ArrowArray | None:
    """All bounds of all row groups; None when one of them has values without known bounds."""
    target = arrow_value_type(kind)
    found: list[object] = []
    for column in columns:
        known = column.statistics
        if known is None:
            return None
        if known.has_min_max:
            try:
                found += _widened_zeros(known.min, known.max)
            except (ValueError, OverflowError):
                return None
        elif known.null_count != column.num_values:
            return None
    try:
        bounds: ArrowArray = pa.array(found, target)
        # NaN, and what the type would round, are no bounds.
        is_exact = bounds.to_pylist() == found
    except (pa.ArrowException, ValueError, OverflowError):
        return None
    return bounds if is_exact else None


def _widened_zeros(low: object, high: object) -> tuple[object, object]:
    """Bounds that hold both zeros if they hold one, since writers mix them up."""
    if isinstance(low, float) and isinstance(high, float):
        return (-0.0 if low == 0 else low), (0.0 if high == 0 else high)
    return low, high
