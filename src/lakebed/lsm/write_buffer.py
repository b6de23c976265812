"""Rows of one bucket on their way to level 0: collected, merged, sorted (format.md 11).

A row gets its sequence number when it arrives, so that the order of arrival is the order of age. A
flush keeps the newest row of each key and leaves gaps in the numbers, as the format allows.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.lsm.merge import Pick, group_by_key
from lakebed.lsm.sort_keys import sort_words


@dataclass(frozen=True, slots=True)
class SortedRows:
    """A sorted run in memory.

    Attributes:
        rows: Table columns, ordered by key, one row a key.
        sequence: Sequence number of each row.
        kinds: Row kind of each row.
    """

    rows: pa.Table
    sequence: npt.NDArray[np.int64]
    kinds: npt.NDArray[np.int8]


class WriteBuffer:
    """Collects rows of one bucket.

    Args:
        key_names: Trimmed primary key.
        pick: The merge engine.
        first_sequence: Sequence number of the next row.
    """

    def __init__(self, key_names: tuple[str, ...], *, pick: Pick, first_sequence: int) -> None:
        self._key_names = key_names
        self._pick = pick
        self._next_sequence = first_sequence
        self._tables: list[pa.Table] = []
        self._kinds: list[npt.NDArray[np.int8]] = []
        self.size_bytes = 0

    def add(self, rows: pa.Table, kinds: npt.NDArray[np.int8]) -> None:
        """Appends rows, the newest last."""
        if rows.num_rows:
            self._tables.append(rows)
            self._kinds.append(kinds)
            self.size_bytes += rows.nbytes

    def flush(self) -> SortedRows | None:
        """Empties the buffer into one sorted run; None when it is empty."""
        if not self._tables:
            return None
        rows = pa.concat_tables(self._tables)
        kinds = np.concatenate(self._kinds)
        first = self._next_sequence
        self._next_sequence += rows.num_rows
        self._tables, self._kinds, self.size_bytes = [], [], 0
        words = sort_words([rows.column(name) for name in self._key_names])
        winners = self._pick(group_by_key(words, (), row_count=rows.num_rows), kinds)
        taken = rows.combine_chunks().take(winners)
        return SortedRows(taken, first + winners.astype(np.int64), kinds[winners])
