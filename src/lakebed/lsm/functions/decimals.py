"""Unscaled values of DECIMAL columns as NumPy integers: 64-bit where they fit, Python's beyond."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.binary_row.layout import numbers_in

_HALF = 1 << 64


def unscaled_words(values: ArrowArray) -> npt.NDArray[np.int64] | None:
    """The unscaled values; None when one needs more than 64 bits. Nulls hold anything."""
    halves = _halves(values)
    low, high = halves[:, 0], halves[:, 1]
    return low.copy() if np.array_equal(high, low >> 63) else None


def unscaled_objects(values: ArrowArray) -> npt.NDArray[np.object_]:
    """The unscaled values as Python integers. Nulls hold anything."""
    halves = _halves(values)
    low = halves[:, 0].view(np.uint64).astype(object)
    found: npt.NDArray[np.object_] = halves[:, 1].astype(object) * _HALF + low
    return found


def from_unscaled(
    numbers: npt.NDArray[Any], valid: npt.NDArray[np.bool_], kind: pa.DataType
) -> ArrowArray:
    """A DECIMAL column of unscaled values; null where not valid or of too many digits."""
    if not isinstance(kind, pa.Decimal128Type):
        raise TypeError(kind)
    limit = 10**kind.precision
    if numbers.dtype == np.object_:
        valid = valid & (numbers < limit) & (numbers > -limit)
        numbers = np.where(valid, numbers, 0)
        low = (numbers % _HALF).astype(np.uint64).view(np.int64)
        high = (numbers // _HALF).astype(np.int64)
    else:
        if limit < 2**63:
            valid = valid & (numbers < limit) & (numbers > -limit)
        low = np.where(valid, numbers, 0).astype(np.int64)
        high = low >> 63
    halves = np.column_stack([low, high])
    validity = np.packbits(valid, bitorder="little").tobytes()
    buffers: list[pa.Buffer | None] = [pa.py_buffer(validity), pa.py_buffer(halves.tobytes())]
    array: ArrowArray = pa.Array.from_buffers(kind, len(numbers), buffers)
    return array


def _halves(values: ArrowArray) -> npt.NDArray[np.int64]:
    start = 2 * values.offset
    if not len(values):
        return np.empty((0, 2), np.int64)
    return numbers_in(values.buffers()[1], np.int64)[start : start + 2 * len(values)].reshape(-1, 2)
