"""How a JSON file of the format, an object a line, becomes Arrow columns.

The format's writers put every value in quotes, numbers and booleans too; other writers do not. So a
file is read as all text first, and as plain JSON if it is not that; both at once in one column is
an error. Members that no column has are passed over, columns that no member has are null.
"""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo

import pyarrow as pa
from pyarrow import json

from lakebed.errors import CorruptTableError, UnsupportedError
from lakebed.format.arrow.nested import part_of, values_of, with_parts, with_values
from lakebed.format.arrow.types import to_arrow_schema, to_arrow_type
from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.file_rows import conform
from lakebed.format.text.values import open_text, values_of_text
from lakebed.format.type_text import format_type
from lakebed.format.types import ArrayType, AtomicType, DataField, DataType, RowType, TypeRoot
from lakebed.storage.file_io import FileIO

_LINE_DELIMITER = "json.line-delimiter"
_PLAIN = frozenset(
    {
        TypeRoot.BOOLEAN,
        TypeRoot.TINYINT,
        TypeRoot.SMALLINT,
        TypeRoot.INT,
        TypeRoot.BIGINT,
        TypeRoot.FLOAT,
        TypeRoot.DOUBLE,
        TypeRoot.DECIMAL,
    }
)


def read_json(
    file_io: FileIO,
    path: str,
    *,
    fields: Sequence[DataField],
    options: Mapping[str, str],
    time_zone: tzinfo = UTC,
) -> pa.Table:
    """All rows of a JSON file.

    Args:
        file_io: The store.
        path: The file; `.gz`, `.bz2` and `.zst` at its end are unpacked.
        fields: Columns wanted, by the names of members.
        options: Of the table.
        time_zone: In which TIMESTAMP_LTZ values without one were written.

    Raises:
        CorruptTableError: The text is not what the columns promise.
        UnsupportedError: A type, a codec or an option that is not read.
        NotFoundError: The file is missing.
    """
    if options.get(_LINE_DELIMITER, "\n") not in {"\n", "\r\n"}:
        raise UnsupportedError(f"{_LINE_DELIMITER!r} is read only where it is a newline")
    try:
        reading = _Reading(path=path, is_text=True, time_zone=time_zone)
        rows = reading.rows(file_io, fields)
    except pa.ArrowInvalid:
        reading = _Reading(path=path, is_text=False, time_zone=time_zone)
        try:
            rows = reading.rows(file_io, fields)
        except (pa.ArrowException, OSError) as error:
            raise CorruptTableError(path, f"is not the JSON of the table: {error}") from error
    except (pa.ArrowException, OSError) as error:
        raise CorruptTableError(path, f"is not the JSON of the table: {error}") from error
    if rows.num_rows == 0:
        return to_arrow_schema(fields).empty_table()
    columns = [
        pa.chunked_array([reading.values(chunk, field) for chunk in rows.column(field.name).chunks])
        for field in fields
    ]
    named = pa.table(columns, names=[field.name for field in fields])
    return conform(named, to_arrow_schema(fields), path)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """One way to read a file.

    Attributes:
        path: The file.
        is_text: Whether all values are in quotes.
        time_zone: In which TIMESTAMP_LTZ values without one were written.
    """

    path: str
    is_text: bool
    time_zone: tzinfo

    def rows(self, file_io: FileIO, fields: Sequence[DataField]) -> pa.Table:
        schema = pa.schema([(field.name, self._stored_type(field.type, field)) for field in fields])
        with open_text(file_io, self.path) as source:
            text = source.read()
        if not text.strip():
            return schema.empty_table()
        return json.read_json(
            io.BytesIO(text),
            read_options=json.ReadOptions(use_threads=False),
            parse_options=json.ParseOptions(
                explicit_schema=schema, unexpected_field_behavior="ignore"
            ),
        )

    def values(self, array: ArrowArray, field: DataField) -> ArrowArray:
        """An array as it is stored, as the values of a column."""
        match field.type:
            case ArrayType(element=element):
                return with_values(
                    array, self.values(values_of(array), replace(field, type=element))
                )
            case RowType(fields=parts):
                return with_parts(
                    array, {p.name: self.values(part_of(array, p.name), p) for p in parts}
                )
            case _ if pa.types.is_string(array.type):
                values: ArrowArray = values_of_text(
                    array, field, self.path, time_zone=self.time_zone
                )
                return values
            case _:
                return array

    def _stored_type(self, kind: DataType, field: DataField) -> pa.DataType:
        match kind:
            case AtomicType(root=root):
                return pa.string() if self.is_text or root not in _PLAIN else to_arrow_type(kind)
            case ArrayType(element=element):
                return pa.list_(self._stored_type(element, field))
            case RowType(fields=parts):
                return pa.struct([(p.name, self._stored_type(p.type, p)) for p in parts])
            case _:
                raise UnsupportedError(
                    f"{self.path}: column {field.name!r} is {format_type(kind)}, which is not read "
                    "from JSON yet"
                )
