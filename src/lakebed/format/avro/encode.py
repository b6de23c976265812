"""How do Arrow columns become Avro records (format.md 5)?

A record is the encodings of its fields one after the other, so each column is encoded for all rows
at once, as an Arrow array of bytes, and Arrow joins them row by row. No Python object is made for a
row.

1. A column is a few *parts*: a union's branch, a length, the bytes. A part is one value for every
   row, or one value for all of them.
2. What is inside of a list is encoded as if it were a column. The bytes of a list are then those
   of its elements, which lie side by side already: only offsets are picked, no byte is moved.
3. A nullable value is treated as a list of none or one.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import InvalidDataError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.nested import entries_of, part_of, values_of
from lakebed.format.arrow.typing import ArrowArray, ArrowScalar, scalar_of
from lakebed.format.avro.write_schema import COUNT_TYPE, has_text_keys
from lakebed.format.types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    with_nullability,
)

__all__ = ["encode_records", "offsets_of"]

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.integer]
Part = ArrowArray | ArrowScalar
# The stubs know the offsets only of types with parameters.
Lists = Any

# The stubs know too few types of buffers and arrays.
_arrow: Any = pa
_SECOND_BRANCH: ArrowScalar = scalar_of(b"\x02", pa.binary())
_NOTHING: ArrowScalar = scalar_of(b"", pa.binary())
_NUMBER_BITS = 7
_DECIMAL_BYTES = 16
_MAX_MILLIS_DIGITS = 3


def encode_records(rows: pa.RecordBatch, fields: Sequence[DataField]) -> ArrowArray:
    """The encoded record of every row.

    Args:
        rows: The columns, in the types that the fields have in Arrow.
        fields: The columns; at least one.

    Raises:
        InvalidDataError: A null where the type takes none.
    """
    parts: list[Part] = []
    for field, column in zip(fields, rows.columns, strict=True):
        try:
            parts += _parts(column, field.type)
        except _NullError as error:
            problem = f"column {field.name!r} has a null where its type is NOT NULL"
            raise InvalidDataError(problem) from error
    return _joined(parts)


def offsets_of(encoded: ArrowArray) -> Places:
    """Where each value begins, and the last ends, in the buffer of bytes."""
    buffer = encoded.buffers()[1]
    if buffer is None or buffer.size == 0:
        return np.zeros(1, np.int32)
    offsets: Places = np.frombuffer(memoryview(buffer), np.int32)
    return offsets[encoded.offset :][: len(encoded) + 1]


class _NullError(Exception):
    """A null where there must be none."""


def _parts(array: ArrowArray, kind: DataType) -> list[Part]:
    """The encoding of each value, null or not."""
    if array.null_count == 0:
        plain = _plain_parts(array, kind)
        return [_SECOND_BRANCH, *plain] if kind.nullable else plain
    if not kind.nullable:
        raise _NullError
    is_valid = array.is_valid().to_numpy(zero_copy_only=False)
    branches = _fixed_width(np.where(is_valid, 2, 0).astype(np.uint8), 1)
    present = array.drop_null()
    if len(present) == 0:
        return [branches]
    return [branches, _grouped(_joined(_plain_parts(present, kind)), _ends(is_valid))]


def _plain_parts(array: ArrowArray, kind: DataType) -> list[Part]:
    """The encoding of values that are not null."""
    match kind:
        case AtomicType():
            return _atomic_parts(array, kind)
        case RowType(fields=fields):
            return [
                part for field in fields for part in _parts(part_of(array, field.name), field.type)
            ]
        case ArrayType(element=element):
            return _list_parts(array, [(_inside(array, values_of(array)), element)])
        case MapType(key=key, value=value):
            return _map_parts(array, key, value)
        case MultisetType(element=element):
            return _map_parts(array, element, COUNT_TYPE)
        case _:
            raise TypeError(f"{kind} has no encoding")


def _map_parts(array: ArrowArray, key: DataType, value: DataType) -> list[Part]:
    keys, values = entries_of(array)
    key = with_nullability(key, nullable=False) if has_text_keys(key) else key
    return _list_parts(array, [(_inside(array, keys), key), (_inside(array, values), value)])


def _list_parts(array: Lists, inside: list[tuple[ArrowArray, DataType]]) -> list[Part]:
    """The count and the elements, and a zero at the end; of an empty list the zero alone."""
    offsets = array.offsets.to_numpy()
    places = offsets - offsets[0]
    counts = np.diff(places)
    ends = _fixed_width(np.zeros(np.count_nonzero(counts), np.uint8), 1)
    parts = [part for values, kind in inside for part in _parts(values, kind)]
    elements = [_grouped(_joined(parts), places)] if places[-1] else []
    return [_numbers(counts), *elements, _grouped(ends, _ends(counts > 0))]


def _inside(array: Lists, values: ArrowArray) -> ArrowArray:
    """Of the values of all lists those that the lists given have."""
    offsets = array.offsets
    return values.slice(offsets[0].as_py(), offsets[-1].as_py() - offsets[0].as_py())


def _atomic_parts(array: ArrowArray, kind: AtomicType) -> list[Part]:
    match kind.root:
        case TypeRoot.BOOLEAN:
            return [_fixed_width(_flat(array.cast(pa.uint8())), 1)]
        case TypeRoot.FLOAT:
            return [_fixed_width(_flat(array).view(np.uint8), 4)]
        case TypeRoot.DOUBLE:
            return [_fixed_width(_flat(array).view(np.uint8), 8)]
        case TypeRoot.DECIMAL:
            return _decimal_parts(array)
        case TypeRoot.DATE | TypeRoot.TIME:
            return [_numbers(_flat(array.view(pa.int32())))]
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            unit = "ms" if (kind.precision or 0) <= _MAX_MILLIS_DIGITS else "us"
            return [_numbers(_flat(array.cast(pa.timestamp(unit, array.type.tz)).view(pa.int64())))]
        case TypeRoot.CHAR | TypeRoot.VARCHAR | TypeRoot.BINARY | TypeRoot.VARBINARY:
            return [_numbers(_flat(pc.binary_length(array))), array.cast(pa.binary())]
        case _:
            return [_numbers(_flat(array))]


def _decimal_parts(array: ArrowArray) -> list[Part]:
    """Big-endian two's complement of as few bytes as hold the number, after their count."""
    data = memoryview(array.buffers()[1] or b"")[array.offset * _DECIMAL_BYTES :]
    stored: Bytes = np.frombuffer(data, np.uint8)
    big_endian = stored[: len(array) * _DECIMAL_BYTES].reshape(-1, _DECIMAL_BYTES)[:, ::-1]
    signs = np.where(big_endian[:, 0] >= 0x80, 0xFF, 0).astype(np.uint8)
    tells = big_endian != signs[:, np.newaxis]
    tells[:, -1] = True
    first = tells.argmax(axis=1)
    # A byte more, where the first one would be taken for the other sign.
    first -= (big_endian[np.arange(len(first)), first] ^ signs) >= 0x80
    lengths = _DECIMAL_BYTES - first
    used = np.arange(_DECIMAL_BYTES) >= first[:, np.newaxis]
    return [_numbers(lengths), _ragged(big_endian, used, lengths)]


def _numbers(values: npt.NDArray[Any]) -> ArrowArray:
    """Zigzag varints: seven bits a byte, the lowest first, a high bit on all but the last."""
    wide = values.astype(np.int64, copy=False)
    zigzag = ((wide << 1) ^ (wide >> 63)).view(np.uint64)
    highest = int(zigzag.max()) if len(zigzag) else 0
    width = max(-(-highest.bit_length() // _NUMBER_BITS), 1)
    if width == 1:
        return _fixed_width(zigzag.astype(np.uint8), 1)
    encoded = np.empty((len(zigzag), width), np.uint8)
    used = np.empty((len(zigzag), width), np.bool_)
    used[:, 0] = True
    lengths = np.ones(len(zigzag), np.uint8)
    rest: npt.NDArray[np.integer[Any]] = zigzag
    for place in range(width):
        encoded[:, place] = rest & 0x7F
        rest = rest >> _NUMBER_BITS
        if place + 1 < width:
            goes_on = rest != 0
            used[:, place + 1] = goes_on
            lengths += goes_on
            encoded[:, place] |= goes_on.view(np.uint8) << 7
    return _ragged(encoded, used, lengths)


def _ragged(matrix: Bytes, used: npt.NDArray[np.bool_], lengths: Places) -> ArrowArray:
    """The bytes of each line that are used, as many as its length, as its value."""
    return _values(_ends(lengths), matrix[used])


def _fixed_width(data: Bytes, width: int) -> ArrowArray:
    return _values(np.arange(0, len(data) + 1, width), data)


def _values(offsets: npt.NDArray[Any], data: object) -> ArrowArray:
    buffers = [None, _arrow.py_buffer(offsets.astype(np.int32)), _arrow.py_buffer(data)]
    values: ArrowArray = _arrow.Array.from_buffers(pa.binary(), len(offsets) - 1, buffers)
    return values


def _grouped(elements: ArrowArray, places: Places) -> ArrowArray:
    """For each two neighbours of `places`, the elements from the one to the other as one value."""
    return _values(offsets_of(elements)[places], elements.buffers()[2] or b"")


def _ends(counts: npt.NDArray[Any]) -> Places:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def _joined(parts: Sequence[Part]) -> ArrowArray:
    only = parts[0]
    if len(parts) == 1 and isinstance(only, pa.Array):
        return only
    encoded: ArrowArray = pc.binary_join_element_wise(*parts, _NOTHING)
    return encoded


def _flat(array: ArrowArray) -> npt.NDArray[Any]:
    return array.to_numpy(zero_copy_only=False)
