"""Sequence groups of `partial-update`: columns that go together, in an order of their own.

`fields.g.sequence-group = a,b`; rows of one key from old to new, as (g, a, b):

    (2, x, null)    taken: the first
    (1, y, 5)       stale: g is smaller than 2
    (null, z, 6)    skipped: no g
    (2, null, 7)    taken: g is not smaller; its null, too
    merged          (2, null, 7)

A column of a group that aggregates folds stale rows, too, as if they had come before all others. A
-D or -U that is taken empties the group's columns; one that aggregates takes back instead.

Acceptance follows from a running maximum of `g` within each key, so a whole section is decided at
once. Only where a -D may remove the record (`resets`) does one row decide about another's past;
then the rows of each key are taken in rounds.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lakebed.format.arrow.compute import compute as pc
from lakebed.lsm.functions.groups import KeptRows, Mask, Segments
from lakebed.lsm.sort_keys import SortWords, dense_ranks, sort_words
from lakebed.lsm.windows import Columns

Ranks = npt.NDArray[np.int64]

EMPTY = 0
"""Rank of a row whose sequence fields are all null."""

# Ranks of one group times keys of a window stay within 63 bits.
_RANK_MAX = 2**36


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceGroup:
    """One `fields.<sequence fields>.sequence-group`.

    Attributes:
        sequence_fields: The fields that order the group, most significant first.
        members: The columns that they decide.
        removes_record: Whether a -D of the group removes the row
            (`partial-update.remove-record-on-sequence-group`).
    """

    sequence_fields: tuple[str, ...]
    members: tuple[str, ...]
    removes_record: bool

    @property
    def columns(self) -> frozenset[str]:
        """All columns of the group."""
        return frozenset(self.sequence_fields + self.members)


def ranks_of(group: SequenceGroup, of: Columns) -> Ranks:
    """Positive numbers in the order of the group's sequence fields, `EMPTY` where all are null."""
    columns = [of.column(name) for name in group.sequence_fields]
    if len(columns) > 1:
        ranks = dense_ranks(sort_words(columns)) + 1
        present = np.zeros(len(ranks), np.bool_)
        for column in columns:
            present |= pc.is_valid(column).to_numpy()
        return np.where(present, ranks, EMPTY)
    column = columns[0]
    if not column.null_count:
        return _positive(sort_words([column]))
    found = np.full(len(column), EMPTY, np.int64)
    found[pc.is_valid(column).to_numpy()] = _positive(sort_words([pc.drop_null(column)]))
    return found


def _positive(words: SortWords) -> Ranks:
    word = words[0]
    if len(words) > 1 or word.dtype.kind != "i" or not len(word):
        return dense_ranks(words) + 1
    low = int(word.min())
    if int(word.max()) - low > _RANK_MAX:
        return dense_ranks(words) + 1
    return (word.astype(np.int64) - low) + 1


def resets_of(removing: Sequence[Ranks], deletes: Mask, segments: Segments) -> Mask:
    """Which -D rows remove the record: those that a removing group takes.

    Args:
        removing: Ranks of each group whose -D removes the record.
        deletes: The -D rows.
        segments: Rows by key and age.
    """
    resets = np.zeros(segments.row_count, np.bool_)
    current = np.zeros((len(removing), segments.count), np.int64)
    for owners, rows in segments.rounds():
        ranks = np.array([rank[rows] for rank in removing])
        taken = (ranks > EMPTY) & (ranks >= current[:, owners])
        removed = deletes[rows] & taken.any(axis=0)
        resets[rows] = removed
        current[:, owners] = np.where(removed | taken, ranks, current[:, owners])
    return resets


def accepted(ranks: Ranks, begins: Mask) -> Mask:
    """Which rows the group takes: not empty, and not below a row since the newest beginning.

    Args:
        ranks: The group's ranks.
        begins: Rows at which a key, or a key anew, begins; the first row is one.
    """
    if not len(ranks):
        return begins
    stretch = int(ranks.max()) + 1
    floor = (np.cumsum(begins) - 1) * stretch
    heights = floor + ranks
    taken: Mask = (ranks > EMPTY) & (heights == np.maximum.accumulate(heights))
    return taken


def fold_order(
    ranks: Ranks,
    taken: Mask,
    *,
    takes_back: Mask,
    gives_all: Mask,
    segments: Segments,
    in_arrival_order: bool = False,
) -> KeptRows:
    """The order in which an aggregating column of a group folds the rows of each key.

    Args:
        ranks: The group's ranks; `EMPTY` also for rows that do not count.
        taken: Rows that the group takes.
        takes_back: Rows that take back.
        gives_all: Rows that give all their values whatever their ranks.
        segments: The rows of each key.
        in_arrival_order: Whether stale rows stay where they came, marked as late.

    Returns:
        The rows; one that gives its values and takes them back at once is there twice.
    """
    of_row = segments.of_row
    counts = (ranks > EMPTY) | gives_all
    rows = np.flatnonzero(counts)
    twice = np.flatnonzero(gives_all & takes_back & (ranks > EMPTY))
    back = takes_back[rows] & ~gives_all[rows]
    stale = ~(taken[rows] | takes_back[rows] | gives_all[rows])
    place = rows if in_arrival_order else np.where(stale, -rows - 1, rows)
    rows, place = np.concatenate([rows, twice]), np.concatenate([place, twice])
    back = np.concatenate([back, np.ones(len(twice), np.bool_)])
    order = np.lexsort((back, place, of_row[rows]))
    rows, back = rows[order], back[order]
    owners = of_row[rows]
    starts = np.flatnonzero(np.append(True, owners[1:] != owners[:-1])[: len(owners)])
    late = np.concatenate([stale, np.zeros(len(twice), np.bool_)])[order]
    return KeptRows(
        rows=rows,
        segments=Segments(
            starts,
            len(rows),
            retract=back if back.any() else None,
            late=late if in_arrival_order and late.any() else None,
        ),
        owners=owners[starts],
        count=segments.count,
    )
