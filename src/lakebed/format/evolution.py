"""How is a file of an older schema read through the current one? By field id (format.md 4, 16).

A column keeps its id when it is renamed, moved or given another type, and so does a field of a ROW,
also within arrays and maps. So a field of the current schema is found in the file's own schema by
id, read under the name and type it had then, and converted; a field that the file never had is
null.

The surprising thing: a ROW of which the file has none of today's fields is null as a whole, and so
is an array or map of such ROWs, for the format reads nothing of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Any

import pyarrow as pa

from lakebed.errors import InvalidDataError, UnsupportedError
from lakebed.format.arrow.compute import Values
from lakebed.format.arrow.types import to_arrow_type
from lakebed.format.arrow.typing import ArrowColumn, nulls
from lakebed.format.casts.nesting import (
    arrays_of,
    entries_of,
    fields_of,
    flattened,
    maps_of,
    rows_of,
)
from lakebed.format.casts.rules import cast_values, has_cast
from lakebed.format.key_value import data_file_fields
from lakebed.format.schema import TableSchema
from lakebed.format.type_text import format_type
from lakebed.format.types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    VectorType,
)

# The stubs type it for each type of values and not for any.
_chunked_array: Any = pa.chunked_array

__all__ = ["FileColumn", "bare_type", "file_columns", "unchanged_fields"]


@dataclass(frozen=True, slots=True)
class FileColumn:
    """Where a field of the current schema is in a file.

    Attributes:
        field: The field as the current schema has it.
        in_file: The field as the schema of the file has it; None when the file has nothing of it.
    """

    field: DataField
    in_file: DataField | None

    @property
    def name_in_file(self) -> str | None:
        """Its name when the file was written; None when the file has nothing of it."""
        return None if self.in_file is None else self.in_file.name

    @property
    def as_stored(self) -> bool:
        """Whether the file has it under the name and of the type of today, nested ones included."""
        return self.in_file is not None and (
            self.in_file.name == self.field.name and not self.changed_type
        )

    @property
    def changed_type(self) -> bool:
        """Whether its values in the file must be converted."""
        return self.in_file is not None and (
            bare_type(self.in_file.type) != bare_type(self.field.type)
        )

    def convert(self, values: ArrowColumn, *, time_zone: tzinfo) -> ArrowColumn:
        """Values as the file has them, as the current schema has them.

        Args:
            values: Of the Arrow type of `in_file`.
            time_zone: Where local times become instants, and back (`lakebed.time-zone`).

        Raises:
            InvalidDataError: A value that cannot become one of the type; names the column.
        """
        if self.in_file is None or not self.changed_type:
            return values
        source, target = self.in_file.type, self.field.type
        chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
        try:
            found = [_converted(chunk, source, target, time_zone=time_zone) for chunk in chunks]
        except InvalidDataError as error:
            raise InvalidDataError(f"column {self.field.name!r}: {error}") from error
        column: ArrowColumn = _chunked_array(found, to_arrow_type(target))
        return column


def file_columns(fields: Sequence[DataField], file_schema: TableSchema) -> list[FileColumn]:
    """Finds each field in a file of another schema.

    Args:
        fields: Of the schema that is read; `_SEQUENCE_NUMBER` and `_VALUE_KIND` are found too where
            files of the schema have them.
        file_schema: The schema that wrote the file.

    Raises:
        UnsupportedError: A field had a type from which there is no cast; names the column.
    """
    by_id = {field.id: field for field in data_file_fields(file_schema)}
    return [_file_column(field, by_id.get(field.id)) for field in fields]


def unchanged_fields(table_schema: TableSchema, file_schema: TableSchema) -> dict[str, DataField]:
    """By present name, the fields that files of a schema have, with the present type."""
    then = {field.id: field for field in file_schema.fields}
    return {
        now.name: then[now.id]
        for now in table_schema.fields
        if now.id in then and bare_type(now.type) == bare_type(then[now.id].type)
    }


def bare_type(kind: DataType) -> DataType:
    """The type without nullability and descriptions, at all depths: what conversions go by."""
    match kind:
        case AtomicType():
            return replace(kind, nullable=True)
        case ArrayType() | MultisetType() | VectorType():
            return replace(kind, element=bare_type(kind.element), nullable=True)
        case MapType():
            key, value = bare_type(kind.key), bare_type(kind.value)
            return MapType(key=key, value=value)
        case RowType():
            return RowType(
                fields=tuple(
                    DataField(id=field.id, name=field.name, type=bare_type(field.type))
                    for field in kind.fields
                )
            )


def _file_column(field: DataField, then: DataField | None) -> FileColumn:
    if then is None or not _is_held(field.type, then.type):
        return FileColumn(field, None)
    _check_cast(field.name, then.type, field.type)
    return FileColumn(field, then)


def _is_held(now: DataType, then: DataType) -> bool:
    """Whether a file that has the one type has anything of the other."""
    match now, then:
        case RowType(), RowType():
            return any(
                found is not None and _is_held(field.type, found.type)
                for field, found in _pairs(now, then)
            )
        case ArrayType(), ArrayType():
            return _is_held(now.element, then.element)
        case MapType(), MapType():
            return _is_held(now.key, then.key) and _is_held(now.value, then.value)
        case _:
            return True


def _pairs(now: RowType, then: RowType) -> list[tuple[DataField, DataField | None]]:
    """Each field, and the same field of a file."""
    by_id = {field.id: field for field in then.fields}
    return [(field, by_id.get(field.id)) for field in now.fields]


def _check_cast(column: str, source: DataType, target: DataType) -> None:
    match source, target:
        case RowType(), RowType():
            for field, then in _pairs(target, source):
                if then is not None:
                    _check_cast(f"{column}.{field.name}", then.type, field.type)
        case ArrayType(), ArrayType():
            _check_cast(f"{column}.element", source.element, target.element)
        case MapType(), MapType() if bare_type(source.key) == bare_type(target.key):
            _check_cast(f"{column}.value", source.value, target.value)
        case _ if bare_type(source) != bare_type(target) and not has_cast(source, target):
            raise UnsupportedError(
                f"column {column!r} was {format_type(source)} when some of its files were written "
                f"and is {format_type(target)} now: there is no cast between the two"
            )


def _converted(values: Values, source: DataType, target: DataType, *, time_zone: tzinfo) -> Values:
    kind = to_arrow_type(target)
    if values.type == kind and bare_type(source) == bare_type(target):
        return values
    match source, target:
        case RowType(), RowType() if isinstance(kind, pa.StructType):
            parts = dict(zip((f.id for f in source.fields), fields_of(values), strict=True))
            fields = [
                nulls(len(values), to_arrow_type(field.type))
                if then is None or not _is_held(field.type, then.type)
                else _converted(parts[field.id], then.type, field.type, time_zone=time_zone)
                for field, then in _pairs(target, source)
            ]
            return rows_of(values, fields, kind)
        case ArrayType(), ArrayType():
            elements = _converted(
                flattened(values), source.element, target.element, time_zone=time_zone
            )
            return arrays_of(values, elements, kind)
        case MapType(), MapType():
            keys, items = entries_of(values)
            entries = keys, _converted(items, source.value, target.value, time_zone=time_zone)
            return maps_of(values, entries, kind)
        case _ if bare_type(source) == bare_type(target):
            return values
        case _:
            return cast_values(values, source, target, time_zone=time_zone)
