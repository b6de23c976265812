"""Rows of one bucket on their way to level 0: collected, ordered, merged (format.md 11).

A row gets its sequence number when it arrives, so that the order of arrival is the order of age. A
run holds one row a key, made by the same merge as a read's, and leaves gaps in the numbers, as the
format allows.

    arrive    (b, 7) (a, 8) (b, 9)
    ordered   (a, 8) (b, 7) (b, 9)       what a changelog of the input holds
    run       (a, 8) (b, 9)              what level 0 holds
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lakebed.format.arrow.typing import taken
from lakebed.format.key_value import SEQUENCE_NUMBER, VALUE_KIND
from lakebed.lsm.engines import Folding, Picking
from lakebed.lsm.folding import values_of
from lakebed.lsm.merge import INSERT, Kinds, Positions
from lakebed.lsm.windows import GroupedRows, grouped_at_once

SYSTEM_COLUMNS = (SEQUENCE_NUMBER.name, VALUE_KIND.name)
# Rows taken at once: enough for a call to be cheap.
_PART_ROWS = 1 << 18


@dataclass(frozen=True, slots=True)
class FlushedRows:
    """What a buffer held, by key; the table's columns, `_SEQUENCE_NUMBER` and `_VALUE_KIND`.

    Both are made part by part while they are read, once, so that what a buffer holds is never there
    twice.

    Attributes:
        run: One row a key. It has no row where the merge engine dropped all.
        ordered: Every row that arrived, those of a key from old to new; None where not asked for.
    """

    run: Iterator[pa.Table]
    ordered: Iterator[pa.Table] | None


class WriteBuffer:
    """Collects rows of one bucket.

    Args:
        names: The table's columns.
        merging: How the rows of a key become one.
        first_sequence: Sequence number of the next row.
        with_ordered: Whether a flush also gives the rows as they arrived.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        merging: Picking | Folding,
        first_sequence: int,
        with_ordered: bool = False,
    ) -> None:
        self._names = tuple(names)
        self._merging = merging
        self._next_sequence = first_sequence
        self._with_ordered = with_ordered
        self._tables: list[pa.Table] = []
        self._kinds: list[Kinds | None] = []

    def add(self, rows: pa.Table, kinds: Kinds | None = None) -> None:
        """Appends rows, the newest last.

        Args:
            rows: The table's columns.
            kinds: Row kind of each; None for all inserts.
        """
        if rows.num_rows:
            self._tables.append(rows)
            self._kinds.append(kinds)

    def flush(self) -> FlushedRows | None:
        """Empties the buffer; None when it is empty.

        Raises:
            InvalidDataError: Rows that the merge engine forbids.
        """
        if not self._tables:
            return None
        rows, kinds = pa.concat_tables(self._tables).combine_chunks(), self._joined_kinds()
        self._tables, self._kinds = [], []
        first = self._next_sequence
        self._next_sequence += rows.num_rows
        stored = np.zeros(rows.num_rows, np.int8) if kinds is None else kinds
        rows = rows.append_column(
            SEQUENCE_NUMBER.name, pa.array(np.arange(first, self._next_sequence))
        ).append_column(VALUE_KIND.name, pa.array(stored))
        grouped = grouped_at_once(rows, self._merging.order, kinds)
        wanted = (*self._names, *SYSTEM_COLUMNS)
        ordered = _taken(grouped, grouped.groups.order, wanted) if self._with_ordered else None
        return FlushedRows(merged(grouped, self._merging, wanted), ordered)

    def _joined_kinds(self) -> Kinds | None:
        if all(kinds is None for kinds in self._kinds):
            return None
        return np.concatenate(
            [
                np.full(table.num_rows, INSERT, np.int8) if kinds is None else kinds
                for table, kinds in zip(self._tables, self._kinds, strict=True)
            ]
        )


def merged(
    grouped: GroupedRows, merging: Picking | Folding, wanted: Sequence[str]
) -> Iterator[pa.Table]:
    """One row a key, rows that end a key among them; in parts, if rows are picked.

    Args:
        grouped: The rows, with all columns that the merge engine asks for.
        merging: How the rows of a key become one.
        wanted: Columns out; `_SEQUENCE_NUMBER` and `_VALUE_KIND` may be among them.

    Raises:
        InvalidDataError: Rows that the merge engine forbids.
    """
    match merging:
        case Picking(pick=pick):
            return _taken(grouped, pick(grouped.groups, grouped.kinds), wanted)
        case Folding(engine=engine):
            values = [name for name in wanted if name not in SYSTEM_COLUMNS]
            return iter([engine.fold(grouped, values).table(grouped, wanted)])


def _taken(grouped: GroupedRows, rows: Positions, wanted: Sequence[str]) -> Iterator[pa.Table]:
    columns = {name: values_of(grouped, name) for name in wanted}
    for start in range(0, len(rows), _PART_ROWS):
        places = rows[start : start + _PART_ROWS]
        yield pa.table({name: taken(column, places) for name, column in columns.items()})
