"""Does a Parquet file's schema store columns as the types that are wanted of them?

The schema says what pages hold, and a second time each column does. No decoder compares the two:
over pages of another type, polars ends the process, and what either makes of them is no value.
"""

from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet as pq

from lakebed.errors import CorruptTableError

__all__ = ["check_physical_types"]

_WHOLE_NUMBERS = frozenset({"INT32", "INT64"})
_BYTES = frozenset({"BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"})
_PHYSICAL_TYPES: tuple[tuple[Callable[[pa.DataType], bool], frozenset[str]], ...] = (
    (pa.types.is_boolean, frozenset({"BOOLEAN"})),
    (pa.types.is_float32, frozenset({"FLOAT"})),
    (pa.types.is_float64, frozenset({"DOUBLE"})),
    (pa.types.is_integer, _WHOLE_NUMBERS),
    (pa.types.is_date, _WHOLE_NUMBERS),
    (pa.types.is_time, _WHOLE_NUMBERS),
    (pa.types.is_timestamp, _WHOLE_NUMBERS | {"INT96"}),
    (pa.types.is_decimal, _WHOLE_NUMBERS | _BYTES),
    (pa.types.is_string, _BYTES),
    (pa.types.is_binary, _BYTES),
    (pa.types.is_fixed_size_binary, _BYTES),
)


def check_physical_types(metadata: pq.FileMetaData, schema: pa.Schema, path: str) -> None:
    """Checks the columns of a file that are not nested.

    Args:
        metadata: The file's.
        schema: The columns wanted, by the file's own names.
        path: For messages.

    Raises:
        CorruptTableError: One is stored as what its type never is.
    """
    wanted = {field.name: field.type for field in schema}
    for index in range(metadata.num_columns):
        stored = metadata.schema.column(index)
        kind = wanted.get(stored.path)
        if kind is not None and stored.physical_type not in _stored_as(kind, stored.physical_type):
            problem = f"column {stored.path!r} is stored as {stored.physical_type}, not as {kind}"
            raise CorruptTableError(path, problem)


def _stored_as(kind: pa.DataType, otherwise: str) -> frozenset[str]:
    return next((names for holds, names in _PHYSICAL_TYPES if holds(kind)), frozenset({otherwise}))
