"""What do all indexes that know the rows of each value have in common?"""

from typing import Protocol

import numpy as np
import numpy.typing as npt

from lakebed.errors import CorruptTableError
from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.file_index.byte_cursor import ByteCursor
from lakebed.format.roaring_bitmap import Positions

__all__ = ["Flags", "ValueIndex", "checked_row_count", "checked_rows", "flags_of"]

Flags = npt.NDArray[np.bool_]


class ValueIndex(Protocol):
    """An index that says which rows of a file have which value of one column."""

    @property
    def row_count(self) -> int:
        """How many rows the file has."""
        ...

    def values(self, wanted: ArrowArray | None) -> ArrowArray:
        """Values in the file, without null.

        Args:
            wanted: Values, without null, outside which no value matters: those of them that the
                file has must come out, and others may. None where all values matter.
        """
        ...

    def rows_of(self, wanted: ArrowArray | None, chosen: Flags) -> Flags:
        """Which rows have a chosen one of `values(wanted)`."""
        ...

    def null_rows(self) -> Flags:
        """Which rows are null."""
        ...


def checked_row_count(cursor: ByteCursor, row_count: int) -> int:
    """The number of rows that an index gives, which is that of the file.

    Raises:
        CorruptTableError: It is another.
    """
    found = cursor.count()
    if found != row_count:
        problem = f"{cursor.what} is of {found} rows, and the data file has {row_count}"
        raise CorruptTableError(cursor.path, problem)
    return found


def flags_of(rows: Positions, row_count: int) -> Flags:
    """One flag a row of the file."""
    flags = np.zeros(row_count, dtype=np.bool_)
    flags[rows] = True
    return flags


def checked_rows(rows: Positions, row_count: int, path: str) -> Positions:
    """Ascending positions of rows.

    Raises:
        CorruptTableError: One of them is beyond the file's rows.
    """
    if len(rows) and not 0 <= rows[0] <= rows[-1] < row_count:
        raise CorruptTableError(path, f"an index names row {rows[-1]} of {row_count}")
    return rows
