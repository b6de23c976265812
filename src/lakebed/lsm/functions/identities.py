"""Which values of a column are the same value, for a type of any depth?

    ["b", null, "a", "b"]   ->   0 1 2 0
    [[1, 2], [2, 1], [1, 2]]   ->   0 1 0

Values are the same where the format's equality says so: bit for bit, but every NaN is one value
(and 0.0 is not -0.0), null is the same as null, and maps do not care for the order of entries.

Nested values are encoded from the inside out: what a list holds becomes identities, and their bytes
in a row are one binary value, so that no value ever becomes a Python object.
"""

from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowArray, encode_dictionary, taken
from lakebed.format.binary_row.layout import buffer_of
from lakebed.lsm.functions.groups import Positions

Identities = npt.NDArray[np.int64]

_NULL = -1


def identities(array: ArrowArray) -> Identities:
    """A number for each value, equal where the values are; numbers are small and not negative."""
    kind = array.type
    if pa.types.is_struct(kind):
        return _encoded(_children_bytes(cast("pa.StructArray", array)))
    if pa.types.is_list(kind) or pa.types.is_map(kind) or pa.types.is_fixed_size_list(kind):
        return _contents(array)
    return _encoded(_canonical(array))


def row_identities(columns: list[ArrowArray], row_count: int) -> Identities:
    """A number for each row of the columns, equal where all their values are."""
    return _encoded(_matrix_bytes([identities(column) for column in columns], row_count))


def valid_mask(array: ArrowArray) -> npt.NDArray[np.bool_]:
    """Which values are not null."""
    mask: npt.NDArray[np.bool_] = pc.is_valid(array).to_numpy(zero_copy_only=False)
    return mask


def content_ranges(array: ArrowArray) -> tuple[Positions, Positions]:
    """First content of each list or map, as a place in `contents`, and how many; null has none."""
    valid = valid_mask(array)
    if pa.types.is_fixed_size_list(array.type):
        size = array.type.list_size
        return (array.offset + np.arange(len(array))) * size, np.where(valid, size, 0)
    lists: Any = array
    offsets: Positions = lists.offsets.to_numpy().astype(np.intp)
    return offsets[:-1], np.where(valid, np.diff(offsets), 0)


def contents(array: ArrowArray) -> list[ArrowArray]:
    """What all lists hold in a row; of maps, the keys and the values."""
    container: Any = array
    if pa.types.is_map(array.type):
        return [container.keys, container.items]
    return [container.values]


def range_positions(starts: Positions, lengths: Positions) -> Positions:
    """The positions of several ranges, one range after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    positions: Positions = np.arange(total) + np.repeat(starts - (ends - lengths), lengths)
    return positions


def _encoded(array: ArrowArray) -> Identities:
    if len(array) == 0:
        return np.empty(0, np.int64)
    codes = encode_dictionary(array, null_encoding="encode").indices
    return codes.to_numpy().astype(np.int64)


def _canonical(array: ArrowArray) -> ArrowArray:
    """Floating numbers as the integers of their bits, every NaN alike; all else as it is."""
    if not pa.types.is_floating(array.type):
        return array
    nan = pa.scalar(np.nan, array.type)
    canonical = pc.if_else(pc.is_nan(array), nan, array)
    integer = pa.int32() if array.type.bit_width == 32 else pa.int64()
    viewed: ArrowArray = canonical.view(integer)
    return viewed


def _children_bytes(array: pa.StructArray) -> ArrowArray:
    valid = valid_mask(array)
    columns = [
        np.where(valid, identities(array.field(index)), _NULL)
        for index in range(array.type.num_fields)
    ]
    return _matrix_bytes([valid.astype(np.int64), *columns], len(array))


def _matrix_bytes(columns: list[Identities], row_count: int) -> ArrowArray:
    """The numbers of each row as one value of so many bytes."""
    matrix = np.ascontiguousarray(np.stack(columns, axis=1))
    kind = pa.binary(8 * len(columns))
    return pa.Array.from_buffers(kind, row_count, [None, buffer_of(matrix.reshape(-1))])


def _contents(array: ArrowArray) -> Identities:
    starts, lengths = content_ranges(array)
    positions = range_positions(starts, lengths)
    parts = [taken(part, positions) for part in contents(array)]
    held = identities(parts[0]) if len(parts) == 1 else row_identities(parts, len(positions))
    if len(parts) > 1:
        rows = np.repeat(np.arange(len(array)), lengths)
        held = held[np.lexsort((held, rows))]
    offsets = 8 * np.append(0, np.cumsum(lengths)).astype(np.int64)
    in_bytes = pa.Array.from_buffers(
        pa.large_binary(), len(array), [None, buffer_of(offsets), buffer_of(held)]
    )
    # A null holds as little as an empty list does, so validity is a column of its own.
    return row_identities([in_bytes, pc.is_valid(array)], len(array))
