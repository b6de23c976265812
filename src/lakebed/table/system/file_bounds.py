"""What the statistics of data files say of the columns of the present schema, as text.

Columns stand in the order of their names. A file is seen through the schema that is read, by field
id: a column that the file never had is null in every row and has no bounds; bounds of a column that
changed its type since are cast as its values are. Nested columns have no bounds.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo

import numpy as np
import pyarrow as pa

from lakebed.errors import InvalidDataError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowArray, joined, nulls
from lakebed.format.binary_row.codec import EMPTY_ROW
from lakebed.format.casts.rules import cast_values, has_cast
from lakebed.format.schema import TableSchema
from lakebed.format.statistics.stored import ColumnBounds, StatsColumns, bounds_from_stats
from lakebed.format.types import DataField, DataType, with_nullability
from lakebed.table.system.value_text import map_text, stored_text

_SEPARATOR = "\0"
_NOTHING = "{}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundsText:
    """Columns of texts, one a file: `{a=0, b=null}`."""

    null_counts: ArrowArray
    min: ArrowArray
    max: ArrowArray


def bounds_text(
    entries: pa.Table,
    schema: TableSchema,
    file_schemas: Mapping[int, TableSchema],
    *,
    time_zone: tzinfo,
) -> BoundsText:
    """Null counts and bounds of the columns of a schema in each file, as text.

    Args:
        entries: The files, as `format.manifest.ENTRY_COLUMNS`.
        schema: The schema that is read.
        file_schemas: The schemas that wrote the files, by id.
        time_zone: In which bounds of timestamps are cast.
    """
    texts = [nulls(entries.num_rows, pa.string())] * 3
    schema_ids = entries.column("schema_id").to_numpy()
    for schema_id in np.unique(schema_ids).tolist():
        mask = pa.array(schema_ids == schema_id)
        group = _Group(entries.filter(mask), file_schemas[schema_id], time_zone)
        shown = group.texts(schema)
        texts = [
            pc.replace_with_mask(all_texts, mask, of_group)
            for all_texts, of_group in zip(texts, shown, strict=True)
        ]
    return BoundsText(null_counts=texts[0], min=texts[1], max=texts[2])


@dataclass(frozen=True, slots=True)
class _Group:
    """Files that were written with one schema."""

    entries: pa.Table
    file_schema: TableSchema
    time_zone: tzinfo

    def texts(self, schema: TableSchema) -> tuple[ArrowArray, ArrowArray, ArrowArray]:
        bounds = self._bounds()
        then = {field.id: field for field in self.file_schema.fields}
        columns = [
            (field.name, self._of_field(field, then.get(field.id), bounds))
            for field in sorted(schema.fields, key=lambda field: field.name.encode("utf-16-be"))
        ]
        empty = self._without_statistics()
        counts, lows, highs = (
            pc.if_else(
                empty, _NOTHING, map_text([(name, values[side]) for name, values in columns])
            )
            for side in range(3)
        )
        return counts, lows, highs

    def _bounds(self) -> dict[str, ColumnBounds]:
        # Statistics without names of their own are of the columns that were written.
        names = pc.coalesce(self._column("value_stats_cols"), self._column("write_cols"))
        no_names = pa.array([[]], names.type)[0]
        stats = StatsColumns(
            self._column("value_min"),
            self._column("value_max"),
            self._column("value_null_counts"),
            pc.if_else(self._without_statistics(), no_names, names),
        )
        return bounds_from_stats(stats, self.file_schema.fields)

    def _of_field(
        self, field: DataField, then: DataField | None, bounds: Mapping[str, ColumnBounds]
    ) -> tuple[ArrowArray, ArrowArray, ArrowArray]:
        """Null count, lower and upper bound of a field, as text."""
        unknown = nulls(self.entries.num_rows, pa.string())
        row_counts = pc.cast(self._column("row_count"), pa.string())
        if then is None:
            return row_counts, unknown, unknown
        known = bounds[then.name]
        counts = pc.if_else(
            self._wrote(then.name), pc.cast(known.null_count, pa.string()), row_counts
        )
        low, high = (
            stored_text(_evolved(side, then.type, field.type, time_zone=self.time_zone))
            for side in (known.min, known.max)
        )
        return counts, low, high

    def _without_statistics(self) -> ArrowArray:
        """Files of which nothing was collected, not even that nothing is known."""
        is_empty = pc.equal(self._column("value_min"), EMPTY_ROW)
        unnamed = pc.is_null(self._column("value_stats_cols"))
        found: ArrowArray = pc.and_(is_empty, unnamed)
        return found

    def _wrote(self, name: str) -> ArrowArray:
        """Files that have the column, as far as they say which they have."""
        written = self._column("write_cols")
        encoded = pc.binary_join(written, _SEPARATOR).dictionary_encode(null_encoding="encode")
        has: list[bool] = [
            text is None or name in text.split(_SEPARATOR)
            for text in encoded.dictionary.to_pylist()
        ]
        flags: ArrowArray = pa.array(has, pa.bool_()).take(encoded.indices)
        return flags

    def _column(self, name: str) -> ArrowArray:
        return joined(self.entries.column(name))


def _evolved(values: ArrowArray, then: DataType, now: DataType, *, time_zone: tzinfo) -> ArrowArray:
    """Bounds as the present type has them; unknown where a bound is no value of it."""
    then, now = (with_nullability(kind, nullable=True) for kind in (then, now))
    if then == now or pa.types.is_null(values.type):
        return values
    unknown = nulls(len(values), pa.null())
    if not has_cast(then, now):
        return unknown
    try:
        cast: ArrowArray = cast_values(values, then, now, time_zone=time_zone)
    except InvalidDataError:
        return unknown
    return cast
