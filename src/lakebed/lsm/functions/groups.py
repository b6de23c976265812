"""What every aggregate function takes: the rows of a merge, cut into one segment a key.

    rows      a1 a2 a3 | b1 | c1 c2         in order of key, then age
    starts    0          3    4
    retract   .  .  x  | .  | .  .          a3 takes something back

A function folds each segment from the oldest row to the newest. Rows of data files may themselves
be results of earlier folds, so a function merges results just as it takes single inputs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from lakebed.format.arrow.typing import ArrowArray, taken

Positions = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Segments:
    """Rows cut into segments, one a key; what follows from the starts is found once.

    Attributes:
        starts: First row of each segment, ascending; every segment has a row.
        row_count: Rows of all segments.
        retract: Rows that take back (-U, -D) instead of adding; None when there is none.
        late: Rows that add as if they had come before all others; None when there is none, or when
            they were put there.
    """

    starts: Positions
    row_count: int
    retract: Mask | None = None
    late: Mask | None = None

    @property
    def count(self) -> int:
        """Number of segments."""
        return len(self.starts)

    @cached_property
    def ends(self) -> Positions:
        """One past the last row of each segment."""
        return np.append(self.starts[1:], self.row_count)[: self.count]

    @cached_property
    def lengths(self) -> Positions:
        """Rows of each segment."""
        return self.ends - self.starts

    @cached_property
    def of_row(self) -> Positions:
        """The segment of each row."""
        firsts = np.zeros(self.row_count, np.int8)
        firsts[self.starts] = 1
        return np.cumsum(firsts, dtype=np.intp) - 1

    def keeping(self, mask: Mask) -> "KeptRows":
        """The rows of a mask, and the segments that are left."""
        rows = np.flatnonzero(mask)
        owners = self.of_row[rows]
        changes = np.append(True, owners[1:] != owners[:-1])[: len(owners)]
        starts = np.flatnonzero(changes)
        retract = None if self.retract is None else self.retract[rows]
        late = None if self.late is None else self.late[rows]
        return KeptRows(
            rows=rows,
            segments=Segments(starts, len(rows), retract, late),
            owners=owners[starts],
            count=self.count,
        )

    @cached_property
    def _longest_first(self) -> tuple[Positions, Positions, Positions]:
        """Segments from long to short, their starts, and how many have more than k rows."""
        longest = int(self.lengths.max(initial=0))
        # Short integers are sorted by their digits.
        missing = (longest - self.lengths).astype(np.uint16 if longest < 2**16 else np.int64)
        order = np.argsort(missing, kind="stable")
        counts = np.cumsum(np.bincount(missing, minlength=longest)[:longest])[::-1]
        return order, self.starts[order], counts

    def rounds(self, wanted: Mask | None = None) -> Iterator[tuple[Positions, Positions]]:
        """For k = 0, 1, ...: the segments with a k-th row, and these rows, where wanted.

        Segments come from long to short: if all are wanted, those of a round are the first ones of
        the round before.
        """
        by_length, starts, counts = self._longest_first
        for k, count in enumerate(counts.tolist()):
            longer, rows = by_length[:count], starts[:count] + k
            if wanted is not None:
                longer, rows = longer[wanted[rows]], rows[wanted[rows]]
            yield longer, rows


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRows:
    """Some rows of segments.

    Attributes:
        rows: Which.
        segments: What is left of the segments; those that lost every row are gone.
        owners: The segment that each of these was.
        count: How many segments there were.
    """

    rows: Positions
    segments: Segments
    owners: Positions
    count: int

    def spread(self, results: ArrowArray) -> ArrowArray:
        """Results of what is left as results of all segments, null for those that are gone."""
        if len(self.owners) == self.count:
            return results
        places = np.full(self.count, -1)
        places[self.owners] = np.arange(len(self.owners))
        return taken(results, places, places < 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldOptions:
    """What `fields.<name>.*` says of one aggregated column.

    Attributes:
        ignore_retract: Whether rows that take back are skipped.
        distinct: Whether `listagg` and `collect` keep each value once.
        delimiter: What `listagg` joins with.
        nested_key: Names of the fields that identify a row of a nested table.
        nested_key_null_strategy: What a null in them does: `merge` or another of the format's.
        nested_sequence_field: Names of the fields that order rows of one nested key.
        count_limit: How many rows a nested table keeps at most.
        ts_field: Name of the field that holds the time of a map's entry; the last one if None.
    """

    ignore_retract: bool = False
    distinct: bool = False
    delimiter: str = ","
    nested_key: tuple[str, ...] = ()
    nested_key_null_strategy: str = "merge"
    nested_sequence_field: tuple[str, ...] = ()
    count_limit: int = 2**31 - 1
    ts_field: str | None = None


class Aggregate(Protocol):
    """One function of one column."""

    def __call__(self, values: ArrowArray, segments: Segments) -> ArrowArray:
        """One result a segment, of the type of `values`, which holds the rows in their order."""
        ...
