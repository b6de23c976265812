"""A fold row by row, for the segments whose result no other way tells.

    segments   a1 a2 a3 | b1 b2       round 1: step(-, a1), step(-, b1)
                                      round 2: step(a, a2), step(b, b2)
                                      round 3: step(a, a3)

A round takes the next row of every segment at once, so there are as many rounds as the longest
segment has rows, and not as there are rows.
"""

import numpy as np
import pyarrow as pa

from lakebed.format.arrow.typing import ArrowArray, nulls, taken
from lakebed.lsm.functions.groups import Aggregate, Mask, Positions, Segments


def fold_in_rounds(
    step: Aggregate, values: ArrowArray, segments: Segments, *, chosen: Mask
) -> ArrowArray:
    """The results of the chosen segments.

    Args:
        step: What merges segments of two rows: a result, or null at first, and a row.
        values: The rows of all segments.
        segments: Where they begin.
        chosen: Which segments to fold.

    Returns:
        One result a chosen segment, in their order.
    """
    starts = segments.starts[chosen]
    lengths = (segments.ends - segments.starts)[chosen]
    results = nulls(len(starts), values.type)
    for age in range(int(lengths.max(initial=0))):
        active = np.flatnonzero(lengths > age)
        rows = starts[active] + age
        pairs = _paired(taken(results, active), taken(values, rows))
        merged = step(pairs, _segments_of_pairs(segments, rows))
        results = replaced(results, active, merged)
    return results


def replaced(array: ArrowArray, positions: Positions, values: ArrowArray) -> ArrowArray:
    """The array with other values in these positions."""
    source = np.arange(len(array))
    source[positions] = len(array) + np.arange(len(positions))
    return taken(pa.concat_arrays([array, values]), source)


def _paired(left: ArrowArray, right: ArrowArray) -> ArrowArray:
    """The values of both, one of each in turn."""
    places = np.arange(2 * len(left)).reshape(2, -1).T.reshape(-1)
    return taken(pa.concat_arrays([left, right]), places)


def _segments_of_pairs(segments: Segments, rows: Positions) -> Segments:
    retract = None
    if segments.retract is not None:
        retract = np.zeros(2 * len(rows), np.bool_)
        retract[1::2] = segments.retract[rows]
    return Segments(np.arange(0, 2 * len(rows), 2), 2 * len(rows), retract)
