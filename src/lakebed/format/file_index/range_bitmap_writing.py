"""How is a range bitmap made of the values of a column (format.md 14)?"""

import struct

import numpy as np

from lakebed.format.arrow.typing import ArrowColumn
from lakebed.format.file_index.bsi_writing import digit_slices
from lakebed.format.file_index.distinct_values import DistinctValues, RankedValues
from lakebed.format.file_index.stored_values import STORED_NUMBERS, TEXT_ROOTS
from lakebed.format.roaring_writing import bitmap_bytes
from lakebed.format.scatter import places_of
from lakebed.format.types import AtomicType, TypeRoot

__all__ = ["RangeBitmapBuilder"]

_VERSION = 1
_CHUNK_BYTES = 16 * 1024
# So few values that each may be found by itself.
_SINGLE_VALUE_CHUNKS = frozenset({TypeRoot.BOOLEAN, TypeRoot.TINYINT, TypeRoot.SMALLINT})
_DIGITS_WITHOUT_VALUES = 64


class RangeBitmapBuilder:
    """Gathers the values of a column."""

    def __init__(self, kind: AtomicType, *, chunk_bytes: int | None) -> None:
        """Begins with no rows.

        Args:
            kind: An indexable type.
            chunk_bytes: What the values of a chunk take at most, but for its first one; None for
                what the type has by default.
        """
        default = 0 if kind.root in _SINGLE_VALUE_CHUNKS else _CHUNK_BYTES
        self._chunk_bytes = default if chunk_bytes is None else chunk_bytes
        self._kind = kind
        self._values = DistinctValues(kind)

    def add(self, column: ArrowColumn) -> None:
        """Takes the values of the next rows."""
        self._values.add(column)

    def finish(self) -> bytes:
        """The index."""
        values = self._values.ranked()
        ends = [values.value(0), values.value(values.count - 1)] if values.count else []
        counts = struct.pack(">bii", _VERSION, len(values.ranks), values.count)
        dictionary = self._dictionary(values)
        header = b"".join([counts, *ends, _int(len(dictionary))])
        return b"".join([_int(len(header)), header, dictionary, _slices(values)])

    def _dictionary(self, values: RankedValues) -> bytes:
        heads, bodies, size = [], [], 0
        for begin, end in self._chunks(values):
            rest = values.starts[begin + 1 : end + 1]
            body = values.stored[rest[0] : rest[-1]].tobytes()
            head = struct.pack(">iii", begin, size, end - begin - 1)
            if self._kind.root in TEXT_ROOTS:
                offsets = (rest[:-1] - rest[0]).astype(">i4").tobytes()
                head += struct.pack(">ii", len(offsets), len(body))
                body = offsets + body
            else:
                head += struct.pack(">ii", len(body), STORED_NUMBERS[self._kind.root].itemsize)
            heads.append(bytes([_VERSION]) + values.value(begin) + head)
            bodies.append(body)
            size += len(body)
        places = places_of(np.array([len(head) for head in heads], dtype=np.int64))
        offsets = places[:-1].astype(">i4").tobytes()
        header = struct.pack(">biii", _VERSION, len(heads), len(offsets), places[-1])
        return b"".join([_int(len(header)), header, offsets, *heads, *bodies])

    def _chunks(self, values: RankedValues) -> list[tuple[int, int]]:
        """The first value of each chunk, and the one after its last."""
        # A chunk's first value does not count: the others end a whole chunk after where it ends.
        found, begin = [], 0
        while begin < values.count:
            limit = values.starts[begin + 1] + self._chunk_bytes
            end = int(np.searchsorted(values.starts, limit, side="right")) - 1
            found.append((begin, end))
            begin = end
        return found


def _slices(values: RankedValues) -> bytes:
    rows = np.flatnonzero(values.ranks >= 0)
    digit_count = max((values.count - 1).bit_length(), 1)
    if not values.count:
        digit_count = _DIGITS_WITHOUT_VALUES
    ranks = values.ranks[rows].astype(np.int64)
    slices = digit_slices(rows, ranks, digit_count=digit_count)
    present = bitmap_bytes(rows)
    sizes = np.array([len(part) for part in slices], dtype=np.int64)
    places = np.column_stack([places_of(sizes)[:-1], sizes]).astype(">i4").tobytes()
    header = struct.pack(">bbii", _VERSION, digit_count, len(present), len(places)) + places
    return b"".join([_int(len(header)), header, present, *slices])


def _int(number: int) -> bytes:
    return number.to_bytes(4, "big")
