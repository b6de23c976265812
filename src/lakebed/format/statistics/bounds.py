"""Which bounds the statistics of many files give for a column, for skipping files (format.md 10).

The statistics of a file are dense (`_VALUE_STATS_COLS` lists the columns) or full (it is null, and
all columns of the schema are there). Files of one table differ in that, so they are decoded in
groups of one layout and put back in order.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakebed.errors import CorruptTableError
from lakebed.format.arrow.atoms import arrow_value_type
from lakebed.format.arrow.typing import ArrowArray, ArrowColumn
from lakebed.format.binary_row.codec import decode_rows
from lakebed.format.binary_row.layout import Flags, Positions, one_array
from lakebed.format.types import AtomicType, DataField, DataType, TypeRoot

_SEPARATOR = "\0"
_NO_TYPE = AtomicType(root=TypeRoot.BOOLEAN)  # of a field that is there but not decoded
_UNBOUNDED = frozenset({TypeRoot.VARIANT, TypeRoot.BLOB})


@dataclass(frozen=True, slots=True)
class ColumnBounds:
    """What is known of one column in each of many files.

    Attributes:
        min: Lower bounds; null where unknown.
        max: Upper bounds; null where unknown.
        null_count: How many values are null; null where unknown. Where it is the file's row count,
            every value is null, and the bounds are null for that reason.
        known: Where both bounds are there.
    """

    min: ArrowArray
    max: ArrowArray
    null_count: ArrowArray
    known: Flags


@dataclass(frozen=True, slots=True)
class StatsColumns:
    """The statistics of many files, as the columns of manifests hold them.

    Attributes:
        min_values: Serialized rows of lower bounds.
        max_values: Serialized rows of upper bounds.
        null_counts: Lists of null counts, each null where unknown.
        names: Lists of the columns in the rows; null where these are all fields of the schema, and
            None when that is so of every file. For a file of some columns of a data-evolution
            table, its write columns belong here.
    """

    min_values: ArrowColumn
    max_values: ArrowColumn
    null_counts: ArrowColumn
    names: ArrowColumn | None = None


def bounds_from_stats(
    stats: StatsColumns,
    fields: Sequence[DataField],
    *,
    wanted: Collection[str] | None = None,
    source: str = "statistics",
) -> dict[str, ColumnBounds]:
    """The bounds of the wanted fields, one value a file.

    Args:
        stats: Of files that were written with one schema.
        fields: All fields of that schema in its order.
        wanted: The names of fields to decode, all by default.
        source: What an error names, best the path of the manifest.

    Raises:
        CorruptTableError: Rows or null counts that do not fit the columns they are said to have.
    """
    chosen = [field for field in fields if wanted is None or field.name in wanted]
    groups = _groups_of_one_layout(stats, [field.name for field in fields])
    parts = [_decode_group(stats, group, chosen, source=source) for group in groups]
    # Groups follow each other in `parts`; this says where each file's values then are.
    places = np.concatenate([group.rows for group in groups])
    order = np.empty(len(places), dtype=np.int64)
    order[places] = np.arange(len(places))
    return {
        field.name: _in_order([part[index] for part in parts], order)
        for index, field in enumerate(chosen)
    }


@dataclass(frozen=True, slots=True)
class _Group:
    """The files whose statistics have the same columns."""

    names: Sequence[str]
    rows: Positions


def _groups_of_one_layout(stats: StatsColumns, all_names: Sequence[str]) -> list[_Group]:
    if stats.names is None or stats.names.null_count == len(stats.names):
        return [_Group(all_names, np.arange(len(stats.min_values)))]
    joined: Any = pc.binary_join(one_array(stats.names), _SEPARATOR)
    encoded = joined.dictionary_encode(null_encoding="encode")
    codes = encoded.indices.to_numpy()
    sizes = pc.list_value_length(one_array(stats.names)).fill_null(-1).to_numpy()
    groups = []
    for code, text in enumerate(encoded.dictionary.to_pylist()):
        rows = np.flatnonzero(codes == code)
        if text is None:
            groups.append(_Group(all_names, rows))
        else:
            groups.append(_Group(text.split(_SEPARATOR) if sizes[rows[0]] else [], rows))
    return groups


_Part = tuple[ArrowArray, ArrowArray, ArrowArray]
"""Lower bounds, upper bounds and null counts of one field in the files of one group."""


def _decode_group(
    stats: StatsColumns, group: _Group, chosen: Sequence[DataField], *, source: str
) -> list[_Part]:
    places = {name: index for index, name in enumerate(group.names)}
    bounded = [field for field in chosen if field.name in places and _is_bounded(field.type)]
    types: list[DataType] = [_NO_TYPE] * len(group.names)
    for field in bounded:
        types[places[field.name]] = field.type
    indexes = [places[field.name] for field in bounded]
    lows, highs = (
        decode_rows(_of_group(side, group), types, indexes=indexes, source=source)
        for side in (stats.min_values, stats.max_values)
    )
    bounds = {field.name: index for index, field in enumerate(bounded)}
    counts = _NullCounts.of(_of_group(stats.null_counts, group), len(types), source=source)
    parts = []
    for field in chosen:
        index = bounds.get(field.name)
        unknown = pa.nulls(len(group.rows)).cast(bound_type(field.type))
        low, high = (unknown, unknown) if index is None else (lows[index], highs[index])
        parts.append((low, high, counts.column(places.get(field.name))))
    return parts


def _of_group(column: ArrowColumn, group: _Group) -> ArrowArray:
    whole = one_array(column)
    rows: ArrowArray = pa.array(group.rows)
    # The only group has all files in their order.
    return whole if len(rows) == len(whole) else whole.take(rows)


def _is_bounded(kind: DataType) -> bool:
    return isinstance(kind, AtomicType) and kind.root not in _UNBOUNDED


@dataclass(frozen=True, slots=True)
class _NullCounts:
    """The lists of null counts, flat, and where each list begins."""

    flat: ArrowArray
    starts: Positions
    absent: Flags

    @classmethod
    def of(cls, lists: ArrowArray, size: int, *, source: str) -> "_NullCounts":
        """Lists that are null or have one count a column.

        Raises:
            CorruptTableError: A list of another length.
        """
        lengths = pc.list_value_length(lists).fill_null(0).to_numpy()
        absent = lists.is_null().to_numpy(zero_copy_only=False)
        if (lengths[~absent] != size).any():
            raise CorruptTableError(source, f"null counts of other than the {size} columns")
        flat: Any = pc.list_flatten(lists)
        return cls(flat, np.cumsum(lengths) - lengths, absent)

    def column(self, index: int | None) -> ArrowArray:
        """The counts of one column; none is known of a column that is not there."""
        if index is None:
            return pa.nulls(len(self.starts)).cast(pa.int64())
        wanted: ArrowArray = pa.array(self.starts + index, mask=self.absent)
        return self.flat.take(wanted).cast(pa.int64())


def bound_type(kind: DataType) -> pa.DataType:
    """The Arrow type of the bounds of a column; that of nulls for columns that have none."""
    if isinstance(kind, AtomicType) and _is_bounded(kind):
        return arrow_value_type(kind)
    return pa.null()


def _in_order(parts: Sequence[_Part], order: Positions) -> ColumnBounds:
    places: ArrowArray = pa.array(order)
    low, high, null_count = (
        parts[0][side]
        if len(parts) == 1
        else pa.chunked_array([part[side] for part in parts]).combine_chunks().take(places)
        for side in range(3)
    )
    known: Any = pc.and_(low.is_valid(), high.is_valid())
    return ColumnBounds(low, high, null_count, known.to_numpy(zero_copy_only=False))
