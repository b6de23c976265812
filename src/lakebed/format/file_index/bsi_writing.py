"""How is a bit-sliced index made of the values of a column (format.md 14)?"""

import struct

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.arrow.typing import ArrowColumn
from lakebed.format.file_index.distinct_values import chunks_of, valid_flags
from lakebed.format.file_index.stored_values import ordered_integers
from lakebed.format.roaring_writing import bitmap_bytes
from lakebed.format.scatter import Positions
from lakebed.format.types import AtomicType

__all__ = ["BitSlicedBuilder", "digit_slices"]

_VERSION = 1
_LEAST = 0
_LONG_MIN = -(2**63)


class BitSlicedBuilder:
    """Gathers the values of a column."""

    def __init__(self, kind: AtomicType) -> None:
        """Begins with no rows; the type is an indexable one of whole numbers."""
        self._kind = kind
        self._numbers = [np.empty(0, dtype=np.int64)]
        self._valid = [np.empty(0, dtype=np.bool_)]

    def add(self, column: ArrowColumn) -> None:
        """Takes the values of the next rows."""
        for chunk in chunks_of(column, self._kind):
            assert isinstance(chunk, pa.Array)
            self._valid.append(valid_flags(chunk))
            self._numbers.append(ordered_integers(chunk.drop_null(), self._kind))

    def finish(self) -> bytes | None:
        """The index; None where it cannot hold a value, which is the least of 64 bits alone."""
        numbers = np.concatenate(self._numbers)
        valid = np.concatenate(self._valid)
        if (numbers == _LONG_MIN).any():
            return None
        rows = np.flatnonzero(valid)
        is_negative = numbers < 0
        parts = [struct.pack(">bi", _VERSION, len(valid))]
        for chosen in (~is_negative, is_negative):
            parts.append(bytes([int(chosen.any())]))
            if chosen.any():
                parts.append(_slices(rows[chosen], np.abs(numbers[chosen])))
        return b"".join(parts)


def _slices(rows: Positions, numbers: npt.NDArray[np.int64]) -> bytes:
    greatest = int(numbers.max())
    slices = digit_slices(rows, numbers, digit_count=greatest.bit_length())
    head = struct.pack(">bqq", _VERSION, _LEAST, greatest)
    return b"".join([head, bitmap_bytes(rows), len(slices).to_bytes(4, "big"), *slices])


def digit_slices(
    rows: Positions, numbers: npt.NDArray[np.int64], *, digit_count: int
) -> list[bytes]:
    """For each binary digit, the least significant first, the bitmap of the rows that have it."""
    return [bitmap_bytes(rows[numbers >> digit & 1 == 1]) for digit in range(digit_count)]
