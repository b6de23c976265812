"""Which value has a column in each row, going by a bit-sliced index (format.md 14)?

    | version | rows | has positive | positive slices | has negative | negative slices |

Slices are a bitmap of the rows that have a value, and one for each binary digit: of the rows whose
value has it. Negative values are in slices of their own, without their sign.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lakebed.errors import CorruptTableError
from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.file_index.byte_cursor import ByteCursor
from lakebed.format.file_index.stored_values import STORED_NUMBERS, TEXT_ROOTS, to_arrow
from lakebed.format.file_index.value_index import Flags, checked_row_count, checked_rows, flags_of
from lakebed.format.roaring_bitmap import Positions, bitmap_length, bitmap_positions
from lakebed.format.types import AtomicType, TypeRoot

__all__ = ["BSI", "BitSlicedIndex", "is_bsi_type"]

BSI = "bsi"
_VERSION = 1
_DIGITS_MAX = 63
_NOT_IN_BSI = TEXT_ROOTS | {TypeRoot.BOOLEAN, TypeRoot.FLOAT, TypeRoot.DOUBLE}


@dataclass(frozen=True, slots=True, kw_only=True)
class BitSlicedIndex:
    """The values of one column in one file, row by row.

    Attributes:
        row_count: How many rows the file has.
        rows: Those that have a value.
        row_values: Their values.
    """

    row_count: int
    rows: Positions
    row_values: ArrowArray

    @classmethod
    def parse(cls, data: bytes, kind: AtomicType, *, path: str, row_count: int) -> "BitSlicedIndex":
        """An index from its bytes.

        Args:
            data: The bytes.
            kind: Type of the column; an indexable one that is no text.
            path: The file, for messages.
            row_count: How many rows the data file has.

        Raises:
            CorruptTableError: They are none, or of another number of rows.
            UnsupportedError: Its version is newer.
        """
        cursor = ByteCursor(data=data, path=path, what="a bsi index")
        cursor.version(_VERSION)
        checked_row_count(cursor, row_count)
        parts = [_read_slices(cursor, row_count, sign=sign) for sign in (1, -1) if cursor.flag()]
        rows = np.concatenate([np.empty(0, np.int64), *(part[0] for part in parts)])
        numbers = np.concatenate([np.empty(0, np.int64), *(part[1] for part in parts)])
        if np.count_nonzero(flags_of(rows, row_count)) < len(rows):
            raise CorruptTableError(path, "a bsi index gives a row two values")
        dtype = STORED_NUMBERS[kind.root]
        fitting = numbers.astype(dtype)
        if (fitting != numbers).any():
            raise CorruptTableError(path, f"a bsi index holds what is no {kind.root.value}")
        return cls(row_count=row_count, rows=rows, row_values=to_arrow(fitting, kind, path))

    def values(self, wanted: ArrowArray | None) -> ArrowArray:  # noqa: ARG002 -- all are known
        """The value of each of `rows`, whatever is wanted."""
        return self.row_values

    def rows_of(self, wanted: ArrowArray | None, chosen: Flags) -> Flags:  # noqa: ARG002 -- as above
        """Which rows have a chosen one of the values."""
        return flags_of(self.rows[chosen], self.row_count)

    def null_rows(self) -> Flags:
        """Which rows are null."""
        return ~flags_of(self.rows, self.row_count)


def is_bsi_type(kind: AtomicType) -> bool:
    """Whether an indexable type can have a bit-sliced index."""
    return kind.root not in _NOT_IN_BSI


def _read_slices(
    cursor: ByteCursor, row_count: int, *, sign: int
) -> tuple[Positions, npt.NDArray[np.int64]]:
    cursor.version(_VERSION)
    least, _ = cursor.int64(), cursor.int64()
    rows = _next_bitmap(cursor, row_count)
    digit_count = cursor.count()
    if digit_count > _DIGITS_MAX:
        raise CorruptTableError(cursor.path, f"a bsi index has {digit_count} digits")
    numbers = np.zeros(row_count, dtype=np.int64)
    for digit in range(digit_count):
        numbers[_next_bitmap(cursor, row_count)] |= np.int64(1) << np.int64(digit)
    return rows, sign * (numbers[rows] + least)


def _next_bitmap(cursor: ByteCursor, row_count: int) -> Positions:
    rest = memoryview(cursor.data)[cursor.position :]
    data = cursor.take(bitmap_length(rest, cursor.path))
    return checked_rows(bitmap_positions(data, cursor.path), row_count, cursor.path)
