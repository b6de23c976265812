"""How is a bitmap index made of the values of a column (format.md 14)?

The rows are put in the order of their values; each stretch of equal values, nulls first, is then a
bitmap, and all bitmaps are written together. A value of a single row has none: its row stands in
its place.
"""

from dataclasses import dataclass

import numpy as np

from lakebed.format.arrow.typing import ArrowColumn
from lakebed.format.file_index.distinct_values import DistinctValues, RankedValues
from lakebed.format.roaring_writing import bitmap_bytes, bitmaps_bytes
from lakebed.format.scatter import Bytes, Positions, put_numbers, put_texts
from lakebed.format.types import AtomicType

__all__ = ["BitmapBuilder"]

_NO_LENGTH = -1
_COUNT_BYTES = 4
_WITH_BLOCKS = 2


class BitmapBuilder:
    """Gathers the values of a column."""

    def __init__(self, kind: AtomicType, *, version: int, block_bytes: int) -> None:
        """Begins with no rows.

        Args:
            kind: An indexable type.
            version: 1, or 2 for an index whose values are in blocks.
            block_bytes: What a block takes at most, of more than one value.
        """
        self._version = version
        self._block_bytes = block_bytes
        self._values = DistinctValues(kind)

    def add(self, column: ArrowColumn) -> None:
        """Takes the values of the next rows."""
        self._values.add(column)

    def finish(self) -> bytes:
        """The index."""
        values = self._values.ranked()
        bitmaps = _bitmaps(values)
        has_blocks = self._version == _WITH_BLOCKS
        head = [_byte(self._version), _int(len(values.ranks)), _int(values.count)]
        head.append(_byte(int(bitmaps.has_nulls)))
        if bitmaps.has_nulls:
            head.append(_int(bitmaps.null_offset))
            head += [_int(bitmaps.null_length)] if has_blocks else []
        width = 8 if has_blocks else 4
        records, starts = _records(values, bitmaps, width=width)
        if has_blocks:
            head.append(self._blocks(values, records, starts))
        else:
            head.append(records.tobytes())
        return b"".join([*head, bitmaps.data.tobytes()])

    def _blocks(self, values: RankedValues, records: Bytes, starts: Positions) -> bytes:
        """First values, with where their blocks begin, and the blocks."""
        firsts, blocks, size = [], [], 0
        for begin, end in _stretches(starts, self._block_bytes - _COUNT_BYTES):
            firsts += [values.value(begin), _int(size)]
            block = _int(end - begin) + records[starts[begin] : starts[end]].tobytes()
            blocks.append(block)
            size += len(block)
        return b"".join([_int(len(blocks)), *firsts, _int(size), *blocks])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bitmaps:
    """The bitmaps of a column's values, and where they are.

    Attributes:
        data: The bitmap of nulls, where more than one row is null, and those of values.
        offsets: Where in `data` each value's bitmap begins, or -1 less its only row.
        lengths: How many bytes it takes; -1 of a value with one row.
        has_nulls: Whether a row is null.
        null_offset: As `offsets`, of nulls.
        null_length: How many bytes the bitmap of nulls takes, or would take.
    """

    data: Bytes
    offsets: Positions
    lengths: Positions
    has_nulls: bool
    null_offset: int
    null_length: int


def _bitmaps(values: RankedValues) -> _Bitmaps:
    counts = np.bincount(values.ranks + 1, minlength=values.count + 1)
    order = np.argsort(values.ranks, kind="stable")
    firsts = np.cumsum(counts) - counts
    is_many = counts > 1
    many_rows = order[np.repeat(is_many, counts)]
    data, ends = bitmaps_bytes(many_rows, np.append(0, np.cumsum(counts[is_many])))
    offsets = np.zeros(len(counts), dtype=np.int64)
    offsets[is_many] = ends[:-1]
    is_single = counts == 1
    offsets[is_single] = -1 - order[firsts[is_single]]
    lengths = np.full(len(counts), _NO_LENGTH, dtype=np.int64)
    lengths[is_many] = np.diff(ends)
    return _Bitmaps(
        data=data,
        offsets=offsets[1:],
        lengths=lengths[1:],
        has_nulls=bool(counts[0]),
        null_offset=int(offsets[0]),
        null_length=len(bitmap_bytes(order[: counts[0]])),
    )


def _records(values: RankedValues, bitmaps: _Bitmaps, *, width: int) -> tuple[Bytes, Positions]:
    """Each value with its place, the length too where that takes 8 bytes; where each begins."""
    starts = values.starts + width * np.arange(len(values.starts))
    records = np.empty(starts[-1], dtype=np.uint8)
    put_texts(records, starts[:-1], values.stored, starts=values.starts)
    put_numbers(records, starts[1:] - width, bitmaps.offsets, width=4)
    if width > 4:
        put_numbers(records, starts[1:] - 4, bitmaps.lengths, width=4)
    return records, starts


def _stretches(starts: Positions, size: int) -> list[tuple[int, int]]:
    """Parts that follow one another in stretches of at most a size, or of a single part.

    Args:
        starts: Where each part begins, and where the last one ends.
        size: Bytes of a stretch of more than one part, at most.

    Returns:
        The first part of each stretch, and the one after its last.
    """
    found, begin = [], 0
    while begin < len(starts) - 1:
        fitting = int(np.searchsorted(starts, starts[begin] + size, side="right")) - 1
        end = max(fitting, begin + 1)
        found.append((begin, end))
        begin = end
    return found


def _int(number: int) -> bytes:
    return number.to_bytes(4, "big", signed=True)


def _byte(number: int) -> bytes:
    return number.to_bytes(1, "big")
