"""Which physical rows win: the merge kernel of read, compaction and changelog.

The simplest example, `deduplicate` over two runs (key, sequence, kind):

    run 1   (a, 1, +I) (b, 2, +I) (c, 3, +I)
    run 2   (a, 4, +U) (c, 5, -D)
    merged  (a, 4, +U) (b, 2, +I)                 the last row of a key wins; a -D ends the key

Three complications:

1. *Values do not matter.* Winners follow from keys, sequence numbers and kinds alone, so the kernel
   returns positions, and only the winners' values are ever taken.
2. *Order within a key.* Rows of a key are ordered by sequence number. When the sequence ranges of
   the runs do not overlap, runs concatenated from old to new are in that order already, and a
   stable sort by key keeps it; else sequence numbers join the sort.
3. *Ties.* Two writers may have started at the same maximum, so two rows of a key can carry one
   sequence number. Then a row that ends the key is older than one that adds it, and of rows alike
   in that the one of the file named later in the manifests wins. There is no second rule anywhere.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from lakebed.errors import InvalidDataError
from lakebed.lsm.sort_keys import SortWords

Positions = npt.NDArray[np.intp]
Kinds = npt.NDArray[np.int8]

# Row kinds as stored in `_VALUE_KIND` (format.md 11).
INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = 0, 1, 2, 3


@dataclass(frozen=True, slots=True)
class KeyGroups:
    """Rows of several runs, ordered by key and, within a key, from oldest to newest.

    Attributes:
        order: Positions of the rows in that order.
        last: Index into `order` of the newest row of each key, ascending.
    """

    order: Positions
    last: Positions

    @property
    def firsts(self) -> Positions:
        """Index into `order` of the oldest row of each key, ascending."""
        return np.append(np.zeros(1, np.intp), self.last[:-1] + 1)[: len(self.last)]


# A merge engine that picks rows: from groups and the kinds of rows (None: all adds) to positions.
Pick = Callable[[KeyGroups, Kinds | None], Positions]


def group_by_key(words: SortWords, ages: SortWords, *, row_count: int) -> KeyGroups:
    """Orders the rows of concatenated runs by key, then age.

    Args:
        words: The normalised key of each row (`sort_keys.sort_words`).
        ages: What orders the rows of a key from old to new, most significant first; empty when the
            rows are given from old to new already.
        row_count: Number of rows.

    Returns:
        The groups. Rows equal in key and age keep the order given.
    """
    if row_count == 0:
        return KeyGroups(np.empty(0, np.intp), np.empty(0, np.intp))
    keys = (*words, *ages)
    order = np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])
    changes = np.zeros(row_count, np.bool_)
    changes[-1] = True
    for word in words:
        in_order = word[order]
        changes[:-1] |= in_order[1:] != in_order[:-1]
    return KeyGroups(order, np.flatnonzero(changes))


def deduplicate(groups: KeyGroups, _kinds: Kinds | None) -> Positions:
    """The newest row of each key, in key order, whatever its kind."""
    return groups.order[groups.last]


def deduplicate_adds(groups: KeyGroups, kinds: Kinds | None) -> Positions:
    """The newest of the adds of each key (`ignore-delete`); keys without one have none."""
    if kinds is None:
        return deduplicate(groups, kinds)
    adds = np.flatnonzero(are_adds(kinds[groups.order]))
    of_key = np.searchsorted(groups.last, adds)
    newest = np.flatnonzero(np.append(of_key[1:] != of_key[:-1], True)) if len(adds) else adds
    return groups.order[adds[newest]]


def first_row(groups: KeyGroups, kinds: Kinds | None) -> Positions:
    """The oldest row of each key.

    Raises:
        InvalidDataError: A -U or -D among several rows of a key, which the engine forbids.
    """
    firsts = groups.firsts
    if kinds is not None:
        several = np.repeat(groups.last > firsts, groups.last - firsts + 1)
        if not are_adds(kinds[groups.order])[several].all():
            raise InvalidDataError(
                "merge-engine=first-row takes no -U and -D rows, and there are some; "
                "ignore-delete=true skips them"
            )
    return groups.order[firsts]


def first_add(groups: KeyGroups, kinds: Kinds | None) -> Positions:
    """The oldest of the adds of each key (`ignore-delete`); keys without one have none."""
    if kinds is None:
        return groups.order[groups.firsts]
    adds = np.flatnonzero(are_adds(kinds[groups.order]))
    of_key = np.searchsorted(groups.last, adds)
    oldest = np.flatnonzero(np.append(True, of_key[1:] != of_key[:-1])) if len(adds) else adds
    return groups.order[adds[oldest]]


def are_adds(kinds: Kinds) -> npt.NDArray[np.bool_]:
    """Which rows stand for a row, so are neither -U nor -D."""
    adds: npt.NDArray[np.bool_] = (kinds == INSERT) | (kinds == UPDATE_AFTER)
    return adds


def drop_deletes(winners: Positions, kinds: Kinds) -> Positions:
    """Winners that stand for a row."""
    kept: Positions = winners[are_adds(kinds[winners])]
    return kept


def ranges_overlap(ranges: Sequence[tuple[int, int]]) -> bool:
    """Whether any two of the closed ranges share a number."""
    ordered = sorted(ranges)
    return any(left[1] >= right[0] for left, right in pairwise(ordered))
