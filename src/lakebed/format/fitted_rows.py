"""How do rows get the exact types of a file's columns, or of a reader's?

The surprising thing: Arrow casts no null struct whose parts may not be null, not even to its own
type. So what has its type already is taken as it is, and nested values are taken apart.
"""

from typing import Any

import pyarrow as pa

from lakebed.errors import InvalidDataError
from lakebed.format.arrow.typing import ArrowColumn
from lakebed.format.file_rows import reshape

__all__ = ["fitted", "with_schema"]

# The stubs know too few types of chunks.
_arrow: Any = pa


def fitted(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows in the types, and with the field ids, of a file.

    Args:
        rows: Aligned columns of these names, in order.
        schema: The file's.

    Raises:
        InvalidDataError: A null where the type takes none, or a value that the type cannot hold.
    """
    try:
        columns = [
            _fitted(column, field) for column, field in zip(rows.columns, schema, strict=True)
        ]
        return pa.table(columns, schema=schema)
    except (ValueError, pa.ArrowException) as error:
        raise InvalidDataError(f"rows do not fit the columns of the file: {error}") from error


def with_schema(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows under a schema of the same names in the same order, cast where need be."""
    if all(column.type == field.type for column, field in zip(rows.columns, schema, strict=True)):
        return pa.table(rows.columns, schema=schema)
    return rows.cast(schema)


def _fitted(column: ArrowColumn, field: "pa.Field[pa.DataType]") -> ArrowColumn:
    if column.null_count and not field.nullable:
        raise InvalidDataError(f"column {field.name!r} has nulls, and takes none")
    if column.type.equals(field.type, check_metadata=True):
        return column
    if not pa.types.is_nested(field.type):
        return column.cast(field.type)
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    whole: ArrowColumn = _arrow.chunked_array(
        [reshape(one, field.type) for one in chunks], field.type
    )
    return whole
