"""Which rows of a data file have which value, going by a bitmap index (format.md 14)?

Version 1 lists every value in its head; version 2 keeps them in sorted blocks, and in the head just
the first value of each:

    1 | rows | values | null | value, place | value, place ...                  | bitmaps |
    2 | rows | values | null | first value, block ... | block of values, places | bitmaps |

A place is where the value's bitmap begins, or -1 less the row where it has one row only.
"""

import bisect
import itertools
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import CorruptTableError
from lakebed.format.arrow.typing import ArrowArray, python_values
from lakebed.format.file_index.byte_cursor import ByteCursor
from lakebed.format.file_index.stored_values import (
    STORED_NUMBERS,
    TEXT_ROOTS,
    stored_integers,
    to_arrow,
)
from lakebed.format.file_index.value_index import Flags, checked_row_count, checked_rows, flags_of
from lakebed.format.roaring_bitmap import Positions, bitmap_positions
from lakebed.format.types import AtomicType, TypeRoot

__all__ = ["BITMAP", "BitmapIndex"]

BITMAP = "bitmap"
_VERSION = 2
_TO_THE_END = -1
_NOT_IN_BITMAPS = frozenset({TypeRoot.DECIMAL})
_FLOAT_ROOTS = frozenset({TypeRoot.FLOAT, TypeRoot.DOUBLE})

_Place = tuple[int, int]
"""Where a bitmap begins in the body, or -1 less its only row; and its bytes, or `_TO_THE_END`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entries:
    """Values and where their bitmaps are."""

    values: ArrowArray
    offsets: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class BitmapIndex:
    """The values of one column in one file, and a bitmap of rows for each.

    Attributes:
        row_count: How many rows the file has.
        kind: Type of the column.
        blocks: The bytes of each block of values; in version 1 all of them are one block.
        first_keys: The first value of each block, as stored; empty in version 1.
        has_lengths: Whether blocks say how long bitmaps are.
        null_place: Where the bitmap of nulls is; None where there are none.
        body: The bitmaps.
        path: The file, for messages.
    """

    row_count: int
    kind: AtomicType
    blocks: tuple[memoryview, ...]
    first_keys: Sequence[Any]
    has_lengths: bool
    null_place: _Place | None
    body: memoryview
    path: str

    @classmethod
    def parse(cls, data: bytes, kind: AtomicType, *, path: str, row_count: int) -> "BitmapIndex":
        """An index from its bytes.

        Args:
            data: The bytes.
            kind: Type of the column; an indexable one.
            path: The file, for messages.
            row_count: How many rows the data file has.

        Raises:
            CorruptTableError: They are none, or of another number of rows.
            UnsupportedError: Its version is newer.
        """
        cursor = ByteCursor(data=data, path=path, what="a bitmap index")
        version = cursor.version(_VERSION)
        checked_row_count(cursor, row_count)
        value_count = cursor.count()
        null_place = None
        if cursor.flag():
            offset = cursor.int32()
            null_place = (offset, cursor.count() if version == _VERSION else _TO_THE_END)
        if version == _VERSION:
            first_keys, blocks = _read_blocks(cursor, kind)
        else:
            first_keys, blocks = [], [_head_block(cursor, kind, value_count)]
        return cls(
            row_count=row_count,
            kind=kind,
            blocks=tuple(blocks),
            first_keys=first_keys,
            has_lengths=version == _VERSION,
            null_place=null_place,
            body=memoryview(data)[cursor.position :],
            path=path,
        )

    def values(self, wanted: ArrowArray | None) -> ArrowArray:
        """The values of the blocks that may hold wanted ones."""
        return self._entries(wanted).values

    def rows_of(self, wanted: ArrowArray | None, chosen: Flags) -> Flags:
        """Which rows have a chosen one of `values(wanted)`."""
        entries = self._entries(wanted)
        places = zip(
            entries.offsets[chosen].tolist(), entries.lengths[chosen].tolist(), strict=True
        )
        found = [np.empty(0, dtype=np.int64), *(self._rows(place) for place in places)]
        return flags_of(np.concatenate(found), self.row_count)

    def null_rows(self) -> Flags:
        """Which rows are null."""
        none = np.empty(0, dtype=np.int64)
        rows = none if self.null_place is None else self._rows(self.null_place)
        return flags_of(rows, self.row_count)

    def _rows(self, place: _Place) -> Positions:
        offset, length = place
        if offset < 0:
            rows = np.array([-1 - offset], dtype=np.int64)
        else:
            end = len(self.body) if length == _TO_THE_END else offset + length
            rows = bitmap_positions(self.body[offset:end], self.path)
        return checked_rows(rows, self.row_count, self.path)

    def _entries(self, wanted: ArrowArray | None) -> _Entries:
        parts = [self._read_block(block) for block in self._blocks_with(wanted)]
        offsets = [part[1] for part in parts]
        lengths = [part[2] for part in parts]
        none = np.empty(0, dtype=np.int64)
        return _Entries(
            values=_joined([part[0] for part in parts], self.kind, self.path),
            offsets=np.concatenate([none, *offsets]),
            lengths=np.concatenate([none, *lengths]),
        )

    def _blocks_with(self, wanted: ArrowArray | None) -> Sequence[memoryview]:
        # A NaN has no place in an order, so blocks of floats are not looked up.
        if wanted is None or not self.first_keys or self.kind.root in _FLOAT_ROOTS:
            return self.blocks
        keys = _stored_keys(wanted, self.kind)
        found = {bisect.bisect_right(self.first_keys, key) - 1 for key in keys}
        return [self.blocks[index] for index in sorted(found) if index >= 0]

    def _read_block(
        self, block: memoryview
    ) -> tuple[Sequence[bytes] | npt.NDArray[np.number], Positions, Positions]:
        """Stored values, offsets, lengths of a block."""
        cursor = ByteCursor(data=block, path=self.path, what="a block of a bitmap index")
        count = cursor.count()
        if self.kind.root in TEXT_ROOTS:
            return self._read_texts(cursor, count)
        members = [("value", STORED_NUMBERS[self.kind.root]), ("offset", ">i4")]
        layout = np.dtype([*members, ("length", ">i4")] if self.has_lengths else members)
        rows = np.frombuffer(cursor.take(count * layout.itemsize), dtype=layout)
        lengths = (
            rows["length"].astype(np.int64) if self.has_lengths else np.full(count, _TO_THE_END)
        )
        return rows["value"], rows["offset"].astype(np.int64), lengths

    def _read_texts(
        self, cursor: ByteCursor, count: int
    ) -> tuple[Sequence[bytes], Positions, Positions]:
        values: list[bytes] = []
        places: list[tuple[int, ...]] = []
        place = struct.Struct(">ii" if self.has_lengths else ">i")
        data, start = bytes(cursor.data), cursor.position
        # Each entry says where the next begins; they are the distinct values, not the rows.
        try:
            for _ in range(count):
                end = start + 4 + int.from_bytes(data[start : start + 4], "big")
                values.append(data[start + 4 : end])
                places.append(place.unpack_from(data, end))
                start = end + place.size
        except struct.error as error:
            raise CorruptTableError(self.path, f"{cursor.what} is cut off: {error}") from error
        numbers = np.array(places, dtype=np.int64).reshape(count, place.size // 4)
        lengths = numbers[:, 1] if self.has_lengths else np.full(count, _TO_THE_END)
        return values, numbers[:, 0], lengths


def is_bitmap_type(kind: AtomicType) -> bool:
    """Whether an indexable type can have a bitmap index."""
    return kind.root not in _NOT_IN_BITMAPS


def _joined(
    parts: Sequence[Sequence[bytes] | npt.NDArray[np.number]], kind: AtomicType, path: str
) -> ArrowArray:
    if kind.root in TEXT_ROOTS:
        texts = [text for part in parts for text in part]
        return to_arrow(pa.array(texts, pa.binary()), kind, path)
    numbers = [part for part in parts if isinstance(part, np.ndarray)]
    empty = np.empty(0, STORED_NUMBERS[kind.root])
    return to_arrow(np.concatenate([empty, *numbers]), kind, path)


def _stored_keys(values: ArrowArray, kind: AtomicType) -> list[Any]:
    if kind.root in TEXT_ROOTS:
        return [text.encode() for text in python_values(values)]
    integers = stored_integers(values, kind)
    assert integers is not None, kind
    keys: list[Any] = integers.tolist()
    return keys


def _read_key(cursor: ByteCursor, kind: AtomicType) -> bytes | int | float:
    if kind.root in TEXT_ROOTS:
        return bytes(cursor.take(cursor.count()))
    dtype = STORED_NUMBERS[kind.root]
    number: int | float = np.frombuffer(cursor.take(dtype.itemsize), dtype=dtype)[0].item()
    return number


def _read_blocks(
    cursor: ByteCursor, kind: AtomicType
) -> tuple[list[bytes | int | float], list[memoryview]]:
    first_keys, starts = [], []
    for _ in range(cursor.count()):
        first_keys.append(_read_key(cursor, kind))
        starts.append(cursor.count())
    blocks = cursor.take(cursor.count())
    bounds = list(itertools.pairwise([*starts, len(blocks)]))
    if any(start > end for start, end in bounds):
        raise CorruptTableError(cursor.path, "the blocks of a bitmap index overlap")
    return first_keys, [blocks[start:end] for start, end in bounds]


def _head_block(cursor: ByteCursor, kind: AtomicType, count: int) -> memoryview:
    """The entries in the head of version 1, as a block."""
    start = cursor.position
    for _ in range(count if kind.root in TEXT_ROOTS else 0):
        cursor.take(cursor.count())
        cursor.int32()
    if kind.root not in TEXT_ROOTS:
        cursor.take(count * (STORED_NUMBERS[kind.root].itemsize + 4))
    entries = memoryview(cursor.data)[start : cursor.position]
    return memoryview(count.to_bytes(4, "big") + bytes(entries))
