"""What do the stored values of Avro mean (format.md 5)?

Numbers become dates, times and timestamps by their logical types, bytes become decimals, and lists
of entries become maps. TIMESTAMP is stored as `timestamp-*` and TIMESTAMP_LTZ as
`local-timestamp-*`; since both are counted from the epoch, the unit is all that matters here.
"""

from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.arrow.nested import (
    entries_of,
    part_of,
    values_of,
    with_entries,
    with_parts,
    with_values,
)
from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.avro.rows_schema import AvroNode

Bytes = npt.NDArray[np.uint8]
Positions = npt.NDArray[np.int64]
Number = TypeVar("Number", np.int64, np.uint8)

_LOGICAL_TYPES: dict[str, pa.DataType] = {
    "date": pa.date32(),
    "time-millis": pa.time32("ms"),
    "timestamp-millis": pa.timestamp("ms"),
    "local-timestamp-millis": pa.timestamp("ms"),
    "timestamp-micros": pa.timestamp("us"),
    "local-timestamp-micros": pa.timestamp("us"),
}
_DECIMAL_BYTES = 16


def typed(array: ArrowArray, node: AvroNode) -> ArrowArray:
    """An array as decoded, in the type that the file gives it.

    Raises:
        ArrowException: Values are outside of their type.
        ValueError: Likewise.
    """
    match node.kind:
        case "record":
            parts = {name: typed(part_of(array, name), part) for name, part in node.fields}
            return with_parts(array, parts)
        case "array":
            return with_values(array, typed(values_of(array), node.field("element")))
        case "map":
            keys, values = entries_of(array)
            entries = typed(keys, node.field("key")), typed(values, node.field("value"))
            return with_entries(array, entries)
        case _:
            return _typed_value(array, node)


def _typed_value(array: ArrowArray, node: AvroNode) -> ArrowArray:
    if node.logical == "decimal":
        return _decimals(array, pa.decimal128(node.precision, node.scale))
    if node.logical in _LOGICAL_TYPES:
        return array.view(_LOGICAL_TYPES[node.logical])
    return array


def _decimals(array: ArrowArray, kind: pa.Decimal128Type) -> ArrowArray:
    """Big-endian two's complement of any length, spread over 16 bytes from the other end."""
    _, offset_buffer, data = array.cast(pa.large_binary()).buffers()
    offsets = _numbers(offset_buffer, np.int64)[array.offset :][: len(array) + 1]
    is_valid = array.is_valid().to_numpy(zero_copy_only=False)
    spread = np.zeros((len(array), _DECIMAL_BYTES), np.uint8)
    if is_valid.any():
        starts, ends = offsets[:-1][is_valid], offsets[1:][is_valid]
        spread[is_valid] = _spread(_numbers(data, np.uint8), starts, ends)
    validity = pa.array(is_valid).buffers()[1]
    buffers = [validity, pa.py_buffer(spread.tobytes())]
    decimals = pa.Array.from_buffers(kind, len(array), buffers)
    # Only this looks whether the numbers have more digits than the type.
    decimals.validate(full=True)
    return decimals


def _numbers(buffer: pa.Buffer | None, kind: type[Number]) -> npt.NDArray[Number]:
    return np.frombuffer(memoryview(buffer) if buffer else b"", kind)


def _spread(source: Bytes, starts: Positions, ends: Positions) -> Bytes:
    """Each number as 16 bytes, little end first."""
    lengths = ends - starts
    if lengths.min() < 1 or lengths.max() > _DECIMAL_BYTES:
        raise ValueError("an unscaled number has other than 1 to 16 bytes")
    spread = np.empty((len(starts), _DECIMAL_BYTES), np.uint8)
    signs = np.where(source[starts] >= 0x80, 0xFF, 0).astype(np.uint8)
    for place in range(_DECIMAL_BYTES):
        positions = ends - 1 - place
        spread[:, place] = np.where(
            positions >= starts, source[np.maximum(positions, starts)], signs
        )
    return spread
