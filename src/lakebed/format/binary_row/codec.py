"""How keys, partitions and bounds are written as bytes: the serialized BinaryRow (format.md 8).

In manifests a row is its arity (4 bytes, big-endian) and then the row itself; the bucket hash takes
the row without the arity. Both directions work on whole Arrow columns; the functions for one row
are for the few places that have just one.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from lakebed.errors import InvalidArgumentError
from lakebed.format.arrow.atoms import arrow_value_type
from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.binary_row.decode import decode_rows
from lakebed.format.binary_row.encode import encode_rows
from lakebed.format.binary_row.layout import atomic_types
from lakebed.format.types import AtomicType, DataType

__all__ = ["EMPTY_ROW", "decode_row", "decode_rows", "encode_row", "encode_rows"]

EMPTY_ROW = bytes(12)
"""The row without fields: the partition of an unpartitioned table, the keys of an append table."""


def encode_row(
    values: Sequence[object], types: Sequence[DataType], *, with_arity: bool = True
) -> bytes:
    """One row of Python values: what Arrow takes for the type, None for null.

    Raises:
        InvalidArgumentError: A value that is none of its type.
        UnsupportedError: A type that keys and bounds cannot have.
    """
    kinds = atomic_types(types)
    if not values and not kinds:
        return EMPTY_ROW if with_arity else EMPTY_ROW[4:]
    if len(values) != len(kinds):
        raise InvalidArgumentError(f"{len(values)} values for {len(kinds)} types: give one each")
    columns = [_column_of_one(value, kind) for value, kind in zip(values, kinds, strict=True)]
    row: bytes = encode_rows(columns, kinds, with_arity=with_arity)[0].as_py()
    return row


def decode_row(
    row: bytes, types: Sequence[DataType], *, source: str = "serialized row"
) -> tuple[object, ...]:
    """The values of one row with its arity prefix.

    Values are Arrow's Python values; a TIMESTAMP of more than 6 digits is a `numpy.datetime64`,
    since Python's datetime has no nanoseconds.

    Raises:
        CorruptTableError: Bytes that no row of these types has.
        UnsupportedError: A type that keys and bounds cannot have.
    """
    columns = decode_rows(pa.array([row], pa.binary()), types, source=source)
    return tuple(_only_value(column) for column in columns)


def _column_of_one(value: object, kind: AtomicType) -> ArrowArray:
    try:
        return pa.array([value], arrow_value_type(kind))
    except (pa.ArrowException, OverflowError) as refused:
        raise InvalidArgumentError(
            f"{value!r} is no value of {kind.root.value}: {refused}"
        ) from refused


def _only_value(column: ArrowArray) -> object:
    if column.null_count:
        return None
    if column.type in (pa.timestamp("ns"), pa.timestamp("ns", "UTC")):
        return np.datetime64(column.cast(pa.int64())[0].as_py(), "ns")
    value: object = column[0].as_py()
    return value
