"""What happened to each value of a segment, oldest first?

Rows of lists and maps are laid out as *events*: one for each thing that a row adds or takes back.
Events of one segment that concern the same value (an element, a key) make up its *history*.

    segment   a a a a | b             history of (a, x):  add 0, retract 2, add 3
    value     x y x x | x                        (a, y):  add 1
    retract   . . R . | .                        (b, x):  add 4

Most functions need no more than a place in each history: its last event, its first add after the
last retract. So a fold over rows becomes one sort and a reduction over histories.
"""

from dataclasses import dataclass

import numpy as np

from lakebed.format.arrow.typing import ArrowArray, taken
from lakebed.lsm.functions.groups import Mask, Positions, Segments
from lakebed.lsm.functions.identities import (
    Identities,
    content_ranges,
    contents,
    range_positions,
    valid_mask,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """What the rows of lists or maps hold, laid out one after the other.

    Attributes:
        parts: What lists hold, or the keys and the values of maps.
        row: The row of each event.
        segment: The segment of each event, ascending.
        retract: Events that take back.
        oldest: First row of each segment that adds, be it nothing; -1 where none does.
    """

    parts: list[ArrowArray]
    row: Positions
    segment: Positions
    retract: Mask
    oldest: Positions

    @property
    def begun(self) -> Mask:
        """Segments that a row has added to."""
        mask: Mask = self.oldest >= 0
        return mask

    def where(self, mask: Mask) -> "Events":
        """These events only."""
        kept = np.flatnonzero(mask)
        return Events(
            parts=[taken(part, kept) for part in self.parts],
            row=self.row[mask],
            segment=self.segment[mask],
            retract=self.retract[mask],
            oldest=self.oldest,
        )


def events_of(values: ArrowArray, segments: Segments) -> Events:
    """Lays out lists or maps. What is taken back before anything was added is left out."""
    retracts = np.zeros(len(values), np.bool_) if segments.retract is None else segments.retract
    of_row = segments.of_row
    adds = valid_mask(values) & ~retracts
    begins = np.full(segments.count, len(values), np.intp)
    np.minimum.at(begins, of_row[adds], np.flatnonzero(adds))
    starts, lengths = content_ranges(values)
    lengths = np.where(np.arange(len(values)) < begins[of_row], 0, lengths)
    row = np.repeat(np.arange(len(values)), lengths)
    positions = range_positions(starts, lengths)
    return Events(
        parts=[taken(part, positions) for part in contents(values)],
        row=row,
        segment=of_row[row],
        retract=retracts[row],
        oldest=np.where(begins < len(values), begins, -1),
    )


@dataclass(frozen=True, slots=True)
class Histories:
    """Events ordered by segment, value and age.

    Attributes:
        order: Positions of the events in that order.
        starts: Index into `order` of the first event of each history, ascending.
    """

    order: Positions
    starts: Positions

    @property
    def lengths(self) -> Positions:
        """Number of events of each history."""
        return np.diff(self.starts, append=len(self.order))

    @property
    def of_event(self) -> Positions:
        """The history of each event of `order`."""
        return np.repeat(np.arange(len(self.starts)), self.lengths)

    def last(self, mask: Mask) -> Positions:
        """Index into `order` of the last event of each history in the mask; -1 where none is.

        Args:
            mask: One flag for each event of `order`.
        """
        places = np.where(mask, np.arange(len(self.order)), -1)
        return places if len(places) == 0 else np.maximum.reduceat(places, self.starts)

    def first(self, mask: Mask) -> Positions:
        """Index into `order` of the first event of each history in the mask; else its length."""
        places = np.where(mask, np.arange(len(self.order)), len(self.order))
        return places if len(places) == 0 else np.minimum.reduceat(places, self.starts)

    def after_last(self, mask: Mask) -> Mask:
        """Events of `order` that no event in the mask follows, nor are in it."""
        later: Mask = np.arange(len(self.order)) > self.last(mask)[self.of_event]
        return later


def histories_of(segment: Positions, ids: Identities) -> Histories:
    """Orders events, given from old to new and segment by segment, into histories."""
    if len(ids) == 0:
        return Histories(np.empty(0, np.intp), np.empty(0, np.intp))
    words = segment.astype(np.int64) * (int(ids.max()) + 1) + ids
    order = np.argsort(words, kind="stable")
    in_order = words[order]
    starts = np.flatnonzero(np.append(True, in_order[1:] != in_order[:-1]))
    return Histories(order, starts)
