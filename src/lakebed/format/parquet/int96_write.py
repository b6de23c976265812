"""How are TIMESTAMP(7) to TIMESTAMP(9) given to a library that is to store them as INT96?

It has one switch for all timestamps of a file, and the format wants just these as INT96. So they
are given as what they are made of: twelve bytes, which the library stores as they are. The footer
is changed before it goes out (`footer.end_with_int96`).

The nanoseconds count upwards from midnight before 1970 too. The format's own writers let them count
backwards there, and then cannot read what they wrote.
"""

import numpy as np
import pyarrow as pa

from lakebed.format.arrow.leaves import with_leaf_types, with_leaves
from lakebed.format.arrow.typing import ArrowArray, chunked

__all__ = ["as_stored", "holds_nanos", "stored_schema"]

_STORED = pa.binary(12)
_JULIAN_DAY_OF_EPOCH = 2440588
_NANOS_A_DAY = 86_400 * 10**9
_LAYOUT = np.dtype([("nanos", "<i8"), ("day", "<i4")])


def holds_nanos(kind: pa.DataType) -> bool:
    """Whether values of an Arrow type are, or have inside of them, timestamps of nanoseconds."""
    if isinstance(kind, pa.TimestampType):
        return str(kind.unit) == "ns"
    return any(holds_nanos(kind.field(i).type) for i in range(kind.num_fields))


def stored_schema(schema: pa.Schema) -> pa.Schema:
    """The schema with twelve bytes for each timestamp of nanoseconds."""
    return pa.schema([with_leaf_types(field, _stored_type) for field in schema])


def as_stored(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows with the columns that hold nanoseconds in the types of `stored_schema`."""
    columns = [
        column
        if column.type == field.type
        else chunked(
            [with_leaves(chunk, field.type, _twelve_bytes) for chunk in column.chunks], field.type
        )
        for column, field in zip(rows.columns, schema, strict=True)
    ]
    return pa.table(columns, schema=schema)


def _stored_type(kind: pa.DataType) -> pa.DataType:
    return _STORED if holds_nanos(kind) else kind


def _twelve_bytes(array: ArrowArray, target: pa.DataType) -> ArrowArray:
    is_valid = array.is_valid()
    nanos = array.view(pa.int64()).fill_null(0).to_numpy()
    days = nanos // _NANOS_A_DAY
    stored = np.empty(len(array), _LAYOUT)
    stored["nanos"] = nanos - days * _NANOS_A_DAY
    stored["day"] = days + _JULIAN_DAY_OF_EPOCH
    buffers = [is_valid.buffers()[1], pa.py_buffer(stored.tobytes())]
    return pa.Array.from_buffers(target, len(array), buffers)
