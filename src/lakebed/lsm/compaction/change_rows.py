"""From what keys were and what they are to the rows of a changelog (format.md 11).

before      after       changelog
            (1, a)      +I (1, a)
(2, b)      (2, c)      -U (2, b), +U (2, c)
(3, d)                  -D (3, d)
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lakebed.format.key_value import VALUE_KIND
from lakebed.lsm.merge import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, Positions
from lakebed.lsm.same_rows import same_rows


@dataclass(frozen=True, slots=True)
class KeyedRows:
    """Rows, each of another key.

    Attributes:
        keys: Numbers of their keys, ascending.
        rows: The rows, `_VALUE_KIND` among their columns.
    """

    keys: Positions
    rows: pa.Table

    def without(self, places: Positions) -> "KeyedRows":
        """All but those in some places."""
        kept = np.ones(len(self.keys), np.bool_)
        kept[places] = False
        return KeyedRows(self.keys[kept], self.rows.filter(pa.array(kept)))


def change_rows(before: KeyedRows, after: KeyedRows, *, compared: Sequence[str] | None) -> pa.Table:
    """The changes, by key, a -U before its +U.

    Args:
        before: The keys that were there.
        after: The keys that are there, in the same columns.
        compared: A key whose rows have the same values in these columns did not change; None: it
            did.
    """
    _, in_before, in_after = _common(before, after)
    if compared is not None and len(in_before):
        same = same_rows(before.rows.take(in_before), after.rows.take(in_after), compared)
        before, after = before.without(in_before[same]), after.without(in_after[same])
        _, in_before, in_after = _common(before, after)
    olds = np.full(len(before.keys), DELETE, np.int8)
    olds[in_before] = UPDATE_BEFORE
    news = np.full(len(after.keys), INSERT, np.int8)
    news[in_after] = UPDATE_AFTER
    kinds = np.concatenate([olds, news])
    rows = pa.concat_tables([before.rows, after.rows])
    index = rows.column_names.index(VALUE_KIND.name)
    rows = rows.set_column(index, VALUE_KIND.name, pa.array(kinds))
    order: Positions = np.lexsort((kinds, np.concatenate([before.keys, after.keys])))
    return rows.take(order)


def _common(before: KeyedRows, after: KeyedRows) -> tuple[Positions, Positions, Positions]:
    return np.intersect1d(before.keys, after.keys, assume_unique=True, return_indices=True)
