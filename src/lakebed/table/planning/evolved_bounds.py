"""Which bounds do files of any schema give for the columns of the current one?

Statistics are those of the file's own schema. A column is found in it by id; where its type has
changed, the bounds are cast like the values if that keeps their order and loses none, and unknown
otherwise. A column that the file never had is null in each of its rows.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import InvalidDataError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowArray, ArrowColumn, nulls
from lakebed.format.casts.rules import cast_values, keeps_order
from lakebed.format.evolution import FileColumn, file_columns
from lakebed.format.schema import TableSchema
from lakebed.format.statistics.bounds import bound_type
from lakebed.format.statistics.stored import ColumnBounds, StatsColumns, bounds_from_stats
from lakebed.format.types import DataField

__all__ = ["WRITE_COLS", "evolved_bounds"]

WRITE_COLS = "write_cols"
"""The column of entries that says which columns a file has."""


def evolved_bounds(
    entries: pa.Table, fields: Sequence[DataField], file_schemas: Mapping[int, TableSchema]
) -> dict[str, ColumnBounds]:
    """The value bounds of some columns in many files.

    Args:
        entries: Manifest entries with their value statistics, `schema_id` and `row_count`, of
            tables that track rows also `write_cols`.
        fields: Columns of the schema that is read.
        file_schemas: Every schema that some file was written with, by id.

    Returns:
        By name, one value an entry.

    Raises:
        UnsupportedError: A column had a type from which there is no cast.
        CorruptTableError: Statistics that do not fit the schema.
    """
    ids = entries.column("schema_id").to_numpy()
    present = np.unique(ids).tolist() or [next(iter(file_schemas))]
    groups = [np.flatnonzero(ids == schema_id) for schema_id in present]
    parts = [
        _bounds_of_one_schema(
            entries if len(present) == 1 else entries.take(rows),
            file_columns(fields, file_schemas[schema_id]),
            file_schemas[schema_id],
        )
        for schema_id, rows in zip(present, groups, strict=True)
    ]
    if len(parts) == 1:
        return parts[0]
    places = np.concatenate(groups)
    order = np.empty(len(places), np.int64)
    order[places] = np.arange(len(places))
    return {field.name: _in_order([part[field.name] for part in parts], order) for field in fields}


def _bounds_of_one_schema(
    entries: pa.Table, columns: Sequence[FileColumn], file_schema: TableSchema
) -> dict[str, ColumnBounds]:
    stats = StatsColumns(
        entries.column("value_min"),
        entries.column("value_max"),
        entries.column("value_null_counts"),
        _described_columns(entries),
    )
    wanted = [column.in_file.name for column in columns if column.in_file is not None]
    found = bounds_from_stats(stats, file_schema.fields, wanted=wanted)
    row_counts = pc.cast(entries.column("row_count").combine_chunks(), pa.int64())
    return {
        column.field.name: _without_bounds(column.field, row_counts)
        if column.in_file is None
        else _converted(column, found[column.in_file.name])
        for column in columns
    }


def _described_columns(entries: pa.Table) -> ArrowColumn:
    """The columns that statistics are of, where they are not those of the schema."""
    named = entries.column("value_stats_cols")
    if WRITE_COLS not in entries.column_names:
        return named
    # Statistics without names of their own are of the columns that were written.
    described: ArrowColumn = pc.coalesce(named, entries.column(WRITE_COLS))
    return described


def _converted(column: FileColumn, bounds: ColumnBounds) -> ColumnBounds:
    if column.in_file is None or not column.changed_type:
        return bounds
    source, target = column.in_file.type, column.field.type
    unknown = _without_bounds(column.field, nulls(len(bounds.min), pa.int64()))
    if not keeps_order(source, target):
        return unknown
    try:
        low, high = (
            cast_values(side, source, target, time_zone=UTC) for side in (bounds.min, bounds.max)
        )
    except InvalidDataError:
        return unknown
    return ColumnBounds(low, high, bounds.null_count, bounds.known)


def _without_bounds(field: DataField, null_counts: ArrowArray) -> ColumnBounds:
    unknown = nulls(len(null_counts), bound_type(field.type))
    return ColumnBounds(unknown, unknown, null_counts, np.zeros(len(null_counts), np.bool_))


def _in_order(parts: Sequence[ColumnBounds], order: npt.NDArray[np.int64]) -> ColumnBounds:
    places: ArrowArray = pa.array(order)
    low, high, null_count = (
        pa.chunked_array([getattr(part, side) for part in parts]).combine_chunks().take(places)
        for side in ("min", "max", "null_count")
    )
    known = np.concatenate([part.known for part in parts])[order]
    return ColumnBounds(low, high, null_count, known)
