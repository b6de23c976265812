"""Which value has a column in each row, going by a range bitmap (format.md 14)?

    | header | dictionary: the distinct values, sorted | slices: the place of each row's value |

The dictionary is cut into chunks, whose first value is with the head of the chunk. Slices are a
bitmap of the rows that have a value, and one for each binary digit of the value's place.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import CorruptTableError
from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.file_index.byte_cursor import ByteCursor
from lakebed.format.file_index.stored_values import STORED_NUMBERS, TEXT_ROOTS, Numbers, to_arrow
from lakebed.format.file_index.value_index import Flags, checked_row_count, checked_rows
from lakebed.format.roaring_bitmap import Positions, bitmap_positions
from lakebed.format.types import AtomicType

__all__ = ["RANGE_BITMAP", "RangeBitmap"]

RANGE_BITMAP = "range-bitmap"
_VERSION = 1
_DIGITS_MAX = 31
_LENGTH_BYTES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeBitmap:
    """The distinct values of one column in one file, and the rows of each.

    Attributes:
        row_count: How many rows the file has.
        dictionary: The values, each once.
        slices: The bytes of the slices, which `rows_of` reads.
        path: The file, for messages.
    """

    row_count: int
    dictionary: ArrowArray
    slices: memoryview
    path: str

    @classmethod
    def parse(cls, data: bytes, kind: AtomicType, *, path: str, row_count: int) -> "RangeBitmap":
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
        cursor = ByteCursor(data=data, path=path, what="a range bitmap")
        header_end = cursor.count() + cursor.position
        cursor.version(_VERSION)
        checked_row_count(cursor, row_count)
        cardinality = cursor.count()
        for _ in range(2 if cardinality else 0):
            _read_key(cursor, kind)  # the least and the greatest value
        dictionary_length = cursor.count()
        if cursor.position != header_end:
            raise CorruptTableError(path, "the header of a range bitmap has another length")
        dictionary = _read_dictionary(cursor.take(dictionary_length), kind, path)
        if len(dictionary) != cardinality:
            problem = f"a range bitmap of {cardinality} values lists {len(dictionary)}"
            raise CorruptTableError(path, problem)
        return cls(
            row_count=row_count,
            dictionary=dictionary,
            slices=memoryview(data)[cursor.position :],
            path=path,
        )

    def values(self, wanted: ArrowArray | None) -> ArrowArray:  # noqa: ARG002 -- all are known
        """The dictionary, whatever is wanted."""
        return self.dictionary

    def rows_of(self, wanted: ArrowArray | None, chosen: Flags) -> Flags:  # noqa: ARG002 -- as above
        """Which rows have a chosen one of the values."""
        places = self._places()
        # The last flag is that of place -1, the rows that are null.
        found: Flags = np.append(chosen, False)[places]
        return found

    def null_rows(self) -> Flags:
        """Which rows are null."""
        nulls: Flags = self._places() < 0
        return nulls

    def _places(self) -> Positions:
        """The place in the dictionary of each row's value; -1 where it is null."""
        places = np.full(self.row_count, -1, dtype=np.int64)
        if not len(self.dictionary):
            return places
        cursor = ByteCursor(data=self.slices, path=self.path, what="the slices of a range bitmap")
        header_end = cursor.count() + cursor.position
        cursor.version(_VERSION)
        digit_count, rows_length = cursor.byte(), cursor.count()
        cursor.count()
        if digit_count > _DIGITS_MAX:
            raise CorruptTableError(self.path, f"a range bitmap has {digit_count} digits")
        ends = [(cursor.count(), cursor.count()) for _ in range(digit_count)]
        body = self.slices[header_end:]
        rows = self._rows(body[:rows_length])
        numbers = np.zeros(self.row_count, dtype=np.int64)
        for digit, (offset, length) in enumerate(ends):
            start = rows_length + offset
            numbers[self._rows(body[start : start + length])] |= np.int64(1) << np.int64(digit)
        places[rows] = numbers[rows]
        if places.max(initial=-1) >= len(self.dictionary):
            raise CorruptTableError(self.path, "a range bitmap names a value that it does not list")
        return places

    def _rows(self, data: memoryview) -> Positions:
        return checked_rows(bitmap_positions(data, self.path), self.row_count, self.path)


def _read_dictionary(data: memoryview, kind: AtomicType, path: str) -> ArrowArray:
    cursor = ByteCursor(data=data, path=path, what="the dictionary of a range bitmap")
    header_end = cursor.count() + cursor.position
    cursor.version(_VERSION)
    chunk_count, offsets_length, chunks_length = cursor.count(), cursor.count(), cursor.count()
    cursor.position = header_end
    cursor.take(offsets_length)
    keys = data[cursor.position + chunks_length :]
    parts: list[Numbers | ArrowArray] = []
    size = 0
    for _ in range(chunk_count):
        part = _read_chunk(cursor, keys, kind, place=size)
        parts.append(part)
        size += len(part)
    if kind.root in TEXT_ROOTS:
        texts = [part for part in parts if isinstance(part, pa.Array)]
        return to_arrow(pa.chunked_array(texts, pa.binary()).combine_chunks(), kind, path)
    numbers = [part for part in parts if isinstance(part, np.ndarray)]
    empty = np.empty(0, STORED_NUMBERS[kind.root])
    return to_arrow(np.concatenate([empty, *numbers]), kind, path)


def _read_chunk(
    cursor: ByteCursor, keys: memoryview, kind: AtomicType, *, place: int
) -> Numbers | ArrowArray:
    """The values of a chunk, of which `place` values come before."""
    cursor.version(_VERSION)
    first = _read_key(cursor, kind)
    found_place, offset, count = cursor.count(), cursor.count(), cursor.count()
    if found_place != place:
        raise CorruptTableError(cursor.path, f"a chunk of values begins at {found_place}")
    if kind.root in TEXT_ROOTS:
        offsets_length, keys_length = cursor.count(), cursor.count()
        chunk = keys[offset : offset + offsets_length + keys_length]
        starts = _big_endian(chunk[:offsets_length], count, cursor)
        rest = _read_texts(chunk[offsets_length:], starts, cursor)
        return pa.concat_arrays([pa.array([bytes(first)], pa.binary()), rest])
    dtype = STORED_NUMBERS[kind.root]
    keys_length, width = cursor.count(), cursor.count()
    chunk = keys[offset : offset + keys_length]
    if width != dtype.itemsize or len(chunk) != count * width:
        raise CorruptTableError(cursor.path, f"{count} values do not fill {keys_length} bytes")
    return np.frombuffer(bytes(first) + bytes(chunk), dtype=dtype)


def _read_key(cursor: ByteCursor, kind: AtomicType) -> memoryview:
    if kind.root in TEXT_ROOTS:
        return cursor.take(cursor.count())
    return cursor.take(STORED_NUMBERS[kind.root].itemsize)


def _big_endian(data: memoryview, count: int, cursor: ByteCursor) -> npt.NDArray[np.int64]:
    if len(data) != 4 * count:
        raise CorruptTableError(cursor.path, f"{count} offsets do not fill {len(data)} bytes")
    return np.frombuffer(data, dtype=">i4").astype(np.int64)


def _read_texts(data: memoryview, starts: npt.NDArray[np.int64], cursor: ByteCursor) -> ArrowArray:
    """Texts that follow each other, each behind its length."""
    ends = np.append(starts[1:], len(data))
    sizes = ends - starts - _LENGTH_BYTES
    if len(starts) and (starts[0] != 0 or (sizes < 0).any()):
        raise CorruptTableError(cursor.path, "the texts of a range bitmap overlap")
    raw = np.frombuffer(data, dtype=np.uint8)
    stored = np.zeros(len(starts), dtype=np.int64)
    for byte in range(_LENGTH_BYTES):
        stored = (stored << 8) | raw[starts + byte]
    if (stored != sizes).any():
        raise CorruptTableError(cursor.path, "the texts of a range bitmap have other lengths")
    # Lengths and texts alternate, so every second value between these bounds is a text.
    bounds = np.empty(2 * len(starts) + 1, dtype=np.int32)
    bounds[0:-1:2], bounds[1::2], bounds[-1] = starts, starts + _LENGTH_BYTES, len(data)
    buffers = [None, pa.py_buffer(bounds.data), pa.py_buffer(raw.data)]
    both = pa.Array.from_buffers(pa.binary(), 2 * len(starts), buffers)
    odd: ArrowArray = pa.array(np.arange(1, 2 * len(starts), 2))
    texts: ArrowArray = both.take(odd)
    return texts
