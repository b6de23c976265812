"""What is known of one column of one file: bounds and null count (format.md 10).

Bounds are ordered as the format orders values: text and bytes by unsigned byte, -0.0 below 0.0, NaN
above everything. Truncated text keeps whole code points; a truncated upper bound is the next text
after all that begin so, and where there is none, both bounds are given up.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakebed.format.arrow.atoms import arrow_value_type
from lakebed.format.arrow.typing import ArrowColumn, ArrowScalar
from lakebed.format.binary_row.layout import BYTES_ROOTS, TEXT_ROOTS, TIMESTAMP_ROOTS, one_array
from lakebed.format.types import AtomicType, DataType, TypeRoot
from lakebed.options.choices import StatsKind, StatsMode

_CODE_POINT_MAX = 0x10FFFF
_FIRST_SURROGATE, _AFTER_SURROGATES = 0xD800, 0xE000
_KEY_PREFIX = "_KEY_"
_SYSTEM_FIELDS = frozenset({"_SEQUENCE_NUMBER", "_VALUE_KIND", "_LEVEL", "rowkind", "_ROW_ID"})
_INT96_PRECISION_MIN = 7


NO_STATS_MODE = StatsMode(kind=StatsKind.NONE)
FULL_STATS_MODE = StatsMode(kind=StatsKind.FULL)
KEY_STATS_MODE = StatsMode(kind=StatsKind.TRUNCATE, length=128)
"""Of keys and other system columns, however the table's own columns are kept."""


@dataclass(frozen=True, slots=True)
class ColumnStats:
    """Bounds and null count of a column; None is unknown.

    Attributes:
        min: At most the smallest value.
        max: At least the greatest value.
        null_count: How many values are null.
    """

    min: ArrowScalar | None = None
    max: ArrowScalar | None = None
    null_count: int | None = None


NO_STATS = ColumnStats()


def stats_modes(
    names: Sequence[str],
    *,
    default: StatsMode,
    overrides: Mapping[str, StatsMode] | None = None,
    keep_first: int = -1,
    key_columns: Collection[str] = (),
    file_format: str = "parquet",
) -> list[StatsMode]:
    """The mode of each column of a file.

    Args:
        names: The columns in the order of the file, key and system columns included.
        default: `metadata.stats-mode`.
        overrides: `fields.<name>.stats-mode` by name; they come before all other rules.
        keep_first: `metadata.stats-keep-first-n-columns`; below 0 is without limit.
        key_columns: The key's columns among the values in thin mode, kept like keys.
        file_format: Avro files have no rule of their own for keys and system columns.
    """
    modes: list[StatsMode] = []
    counted = 0
    for name in names:
        mode = (overrides or {}).get(name)
        is_key = name.startswith(_KEY_PREFIX) or name in _SYSTEM_FIELDS or name in key_columns
        if mode is None and is_key and file_format != "avro":
            modes.append(KEY_STATS_MODE)
            continue
        if mode is None:
            mode = NO_STATS_MODE if 0 <= keep_first <= counted else default
        modes.append(mode)
        counted += 1
    return modes


def collect_column(
    column: ArrowColumn, kind: DataType, mode: StatsMode, *, file_format: str = "parquet"
) -> ColumnStats:
    """What the mode keeps of a column that is written to a file of that format.

    Formats differ in what they know: Parquet says nothing of nested columns and has no bounds of
    times with more than 6 digits, ORC has no bounds of bytes; the others have null counts only of
    nested columns.
    """
    if mode.kind is StatsKind.NONE:
        return NO_STATS
    counts = ColumnStats(null_count=column.null_count)
    if not isinstance(kind, AtomicType) or kind.root in {TypeRoot.VARIANT, TypeRoot.BLOB}:
        return NO_STATS if file_format == "parquet" else counts
    if mode.kind is StatsKind.COUNTS or not _has_bounds(kind, file_format):
        return counts
    low, high = _bounds(column)
    if low is None or high is None:
        return counts
    target = arrow_value_type(kind)
    known = ColumnStats(low.cast(target), high.cast(target), column.null_count)
    return truncate_bounds(known, kind, mode)


def truncate_bounds(stats: ColumnStats, kind: AtomicType, mode: StatsMode) -> ColumnStats:
    """The statistics as the mode keeps them: without bounds, with shorter ones, or as they are."""
    if mode.kind is StatsKind.NONE:
        return NO_STATS
    if mode.kind is StatsKind.COUNTS or stats.min is None or stats.max is None:
        return ColumnStats(null_count=stats.null_count)
    if mode.length is None or kind.root not in BYTES_ROOTS:
        return stats
    target = arrow_value_type(kind)
    low, high = stats.min.as_py(), stats.max.as_py()
    upper = (
        _upper_text(high, mode.length)
        if kind.root in TEXT_ROOTS
        else _upper_bytes(high, mode.length)
    )
    if upper is None:
        return ColumnStats(null_count=stats.null_count)
    lower = low[: mode.length]
    return replace(stats, min=pa.scalar(lower, target), max=pa.scalar(upper, target))


def _has_bounds(kind: AtomicType, file_format: str) -> bool:
    if file_format == "orc":
        return kind.root not in {TypeRoot.BINARY, TypeRoot.VARBINARY}
    is_int96 = kind.root in TIMESTAMP_ROOTS and (kind.precision or 0) >= _INT96_PRECISION_MIN
    return not (file_format == "parquet" and is_int96)


def _bounds(column: ArrowColumn) -> tuple[ArrowScalar | None, ArrowScalar | None]:
    if column.null_count == len(column):
        return None, None
    if pa.types.is_floating(column.type):
        return _float_bounds(column)
    both: Any = pc.min_max(column)
    return both["min"], both["max"]


def _float_bounds(column: ArrowColumn) -> tuple[ArrowScalar, ArrowScalar]:
    values = one_array(column).drop_null().to_numpy()
    numbers = values[~np.isnan(values)]
    if len(numbers) == 0:
        return pa.scalar(np.nan, column.type), pa.scalar(np.nan, column.type)
    low, high = numbers.min(), numbers.max()
    if low == 0 or high == 0:
        signs = np.signbit(numbers[numbers == 0])
        low = low or (-0.0 if signs.any() else 0.0)
        high = high or (-0.0 if signs.all() else 0.0)
    if len(numbers) < len(values):
        high = np.nan
    return pa.scalar(float(low), column.type), pa.scalar(float(high), column.type)


def _upper_text(text: str, length: int) -> str | None:
    """The text, or one of at most `length` code points that is above all that begin so."""
    if len(text) <= length:
        return text
    for index in range(length - 1, -1, -1):
        code_point = ord(text[index]) + 1
        if code_point <= _CODE_POINT_MAX:
            # Surrogates are no characters, so what follows the last one before them is after them.
            code_point = _AFTER_SURROGATES if code_point == _FIRST_SURROGATE else code_point
            return text[:index] + chr(code_point)
    return None


def _upper_bytes(value: bytes, length: int) -> bytes | None:
    """The bytes, or at most `length` of them that are above all that begin so."""
    if len(value) <= length:
        return value
    for index in range(length - 1, -1, -1):
        if value[index] != 0xFF:
            return value[:index] + bytes([value[index] + 1])
    return None
