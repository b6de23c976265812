"""`collect`: the elements of all lists in one list.

An element is taken back once for each time that a row says so, the oldest of its equals first;
taking back what is not there does nothing. So of `n` adds and the retracts among them, what is left
are the newest, as many as a counter says that goes up and down and never below nothing.
"""

import numpy as np
import numpy.typing as npt

from lakebed.errors import InvalidTableError
from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.type_text import format_type
from lakebed.format.types import ArrayType, DataField
from lakebed.lsm.functions.containers import containers_of, kept_containers
from lakebed.lsm.functions.groups import Aggregate, FieldOptions, Mask, Positions, Segments
from lakebed.lsm.functions.histories import Histories, events_of, histories_of
from lakebed.lsm.functions.identities import identities


def make(field: DataField, options: FieldOptions) -> Aggregate:
    """The function of a column.

    Raises:
        InvalidTableError: The column is no ARRAY.
    """
    if not isinstance(field.type, ArrayType):
        raise InvalidTableError(
            f"column {field.name!r}: collect takes an ARRAY, not {format_type(field.type)}"
        )
    return _collect_distinct if options.distinct else _collect


def _collect(values: ArrowArray, segments: Segments) -> ArrowArray:
    events = events_of(values, segments)
    if not events.retract.any():
        return containers_of(events.parts, events.segment, begun=events.begun, kind=values.type)
    histories = histories_of(events.segment, identities(events.parts[0]))
    left = _newest_left(histories, events.retract[histories.order])
    return kept_containers(
        events.parts,
        histories.order[left],
        events.segment,
        begun=events.begun,
        kind=values.type,
    )


def _collect_distinct(values: ArrowArray, segments: Segments) -> ArrowArray:
    events = events_of(values, segments)
    histories = histories_of(events.segment, identities(events.parts[0]))
    there = histories.after_last(events.retract[histories.order])
    first: Positions = histories.first(there)
    return kept_containers(
        events.parts,
        histories.order[first[first < len(there)]],
        events.segment,
        begun=events.begun,
        kind=values.type,
    )


def _newest_left(histories: Histories, retract: Mask) -> Mask:
    """Which events, in the order of histories, are adds that are left in the end."""
    steps = np.where(retract, -1, 1)
    totals = np.cumsum(steps)
    before = (totals - steps)[histories.starts]
    ends = histories.starts + histories.lengths - 1
    lowest = np.minimum.reduceat(totals, histories.starts) - before
    counts = totals[ends] - before - np.minimum(lowest, 0)
    adds_up_to: npt.NDArray[np.intp] = np.cumsum(~retract)
    newer_adds = adds_up_to[ends][histories.of_event] - adds_up_to
    left: Mask = ~retract & (newer_adds < counts[histories.of_event])
    return left
