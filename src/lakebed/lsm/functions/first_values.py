"""`first_value` and `first_non_null_value` where a record has a past that these functions remember.

The functions know whether they have seen a value, and a record can begin anew without their
forgetting: a -D that removes a record, or a first row that is a delete, puts its values there
unseen. And a row of a sequence group may be stale, so that it comes before what there is.

    seen no value yet: an ADD is the first value; a STALE row leaves what a GIVE has put there
    seen one:          an ADD changes nothing; a STALE row, being earlier, replaces it
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lakebed.lsm.functions.groups import Mask, Positions, Segments
from lakebed.lsm.functions.selection import NOWHERE

ADD, STALE, GIVE = 0, 1, 2
"""What a row does: adds, adds as if it had come first, or puts all its values there."""

Events = npt.NDArray[np.int8]
# From which rows are valid (None: all), their segments and what they do, to the row of each result.
HistorySelector = Callable[[Mask | None, Segments, Events], Positions]


@dataclass(slots=True)
class _State:
    """The row that each segment has come to, and whether the function has seen a value."""

    row: Positions
    seen: Mask


def first_value_of(valid: Mask | None, segments: Segments, events: Events) -> Positions:
    """`first_value` of rows in the order in which they came; the value may be null."""
    del valid  # a null is a value like any other
    state = _State(np.full(segments.count, NOWHERE), np.zeros(segments.count, np.bool_))
    for owners, rows in segments.rounds():
        event, seen = events[rows], state.seen[owners]
        takes = (event == GIVE) | ((event == ADD) & ~seen) | ((event == STALE) & seen)
        state.row[owners] = np.where(takes, rows, state.row[owners])
        state.seen[owners] = seen | (event != GIVE)
    return state.row


def first_non_null_value_of(valid: Mask | None, segments: Segments, events: Events) -> Positions:
    """`first_non_null_value` of rows in the order in which they came."""
    if valid is None:
        valid = np.ones(segments.row_count, np.bool_)
    state = _State(np.full(segments.count, NOWHERE), np.zeros(segments.count, np.bool_))
    for owners, rows in segments.rounds():
        event, seen, held = events[rows], state.seen[owners], state.row[owners]
        is_held = (held != NOWHERE) & valid[held]
        first = (event == ADD) & ~seen & valid[rows]
        # A stale row meets what is held as if that came after it.
        confirms = (event == STALE) & ~seen & is_held
        replaces = (event == STALE) & ~confirms
        takes = (event == GIVE) | first | replaces
        state.row[owners] = np.where(takes, rows, held)
        state.seen[owners] = seen | first | confirms
    return state.row
