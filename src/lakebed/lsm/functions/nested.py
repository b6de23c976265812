"""`nested_update` and `nested_partial_update`: a table in a column, ARRAY of ROW.

Without a key, `nested_update` appends rows until `count-limit`; to take a row back removes all its
equals. With `nested-key`, a row replaces the one of its key unless `nested-sequence-field` says
that it is older; to take a row back removes its key; past `count-limit` keys, no new key is let in.
`nested_partial_update` lets each field that is not null replace the one of its key.

What rows are taken back and how many may stay matters together only where both happen in a segment:
a row that found no place does not come back when one becomes free. Those segments go in rounds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pyarrow as pa

from lakebed.errors import InvalidDataError, InvalidTableError
from lakebed.format.arrow.typing import ArrowArray, taken
from lakebed.format.type_text import format_type
from lakebed.format.types import ArrayType, DataField, RowType
from lakebed.lsm.functions.containers import containers_of, kept_containers
from lakebed.lsm.functions.groups import Aggregate, FieldOptions, Mask, Positions, Segments
from lakebed.lsm.functions.histories import Events, Histories, events_of, histories_of
from lakebed.lsm.functions.identities import identities, row_identities, valid_mask
from lakebed.lsm.functions.rounds import fold_in_rounds, replaced
from lakebed.lsm.sort_keys import sort_words

_arrow: Any = pa

_NULL_STRATEGIES = ("merge", "ignore", "error")


def make_nested_update(field: DataField, options: FieldOptions) -> Aggregate:
    """The function `nested_update` of a column.

    Raises:
        InvalidTableError: The column is no ARRAY of ROW, lacks a field that the options name, or
            has options that need `nested-key`.
    """
    name = "nested_update"
    row = _row_type(field, name)
    if not options.nested_key:
        if options.nested_sequence_field or options.nested_key_null_strategy.lower() != "merge":
            raise InvalidTableError(
                f"column {field.name!r}: nested-sequence-field and nested-key-null-strategy "
                "need nested-key"
            )
        return _Limited(_append, options.count_limit)
    sequence = _indexes(field, row, options.nested_sequence_field)
    return _Limited(_Upsert(_key_of(field, row, options), sequence), options.count_limit)


def make_nested_partial_update(field: DataField, options: FieldOptions) -> Aggregate:
    """The function `nested_partial_update` of a column.

    Raises:
        InvalidTableError: The column is no ARRAY of ROW, or lacks a field that `nested-key` names,
            or there is no `nested-key`.
    """
    name = "nested_partial_update"
    row = _row_type(field, name)
    if not options.nested_key:
        raise InvalidTableError(f"column {field.name!r}: {name} needs nested-key")
    return _PartialUpdate(_key_of(field, row, options))


def _row_type(field: DataField, name: str) -> RowType:
    kind = field.type
    if not isinstance(kind, ArrayType) or not isinstance(kind.element, RowType):
        raise InvalidTableError(
            f"column {field.name!r}: {name} takes an ARRAY of ROW, not {format_type(kind)}"
        )
    return kind.element


def _indexes(field: DataField, row: RowType, names: tuple[str, ...]) -> tuple[int, ...]:
    absent = [name for name in names if name not in row.names]
    if absent:
        raise InvalidTableError(
            f"column {field.name!r}: its options name {absent[0]!r}, "
            f"but the ROW has {', '.join(row.names)}"
        )
    return tuple(row.names.index(name) for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Key:
    """What identifies a row of a nested table.

    Attributes:
        column: Name of the column, for errors.
        fields: Indexes of the key's fields.
        null_strategy: What a null in them does.
    """

    column: str
    fields: tuple[int, ...]
    null_strategy: str

    def identified(self, events: Events) -> Events:
        """The events whose rows have a key.

        Raises:
            InvalidDataError: A key holds a null, and the strategy is to refuse that.
        """
        if self.null_strategy == "merge":
            return events
        whole = np.logical_and.reduce([valid_mask(field) for field in self._columns(events)])
        if self.null_strategy == "error" and not whole.all():
            raise InvalidDataError(
                f"column {self.column!r}: a nested key holds a null, and "
                f"fields.{self.column}.nested-key-null-strategy=error forbids that"
            )
        return events.where(whole)

    def histories(self, events: Events) -> Histories:
        """What happened to each key of each segment."""
        ids = row_identities(self._columns(events), len(events.row))
        return histories_of(events.segment, ids)

    def _columns(self, events: Events) -> list[ArrowArray]:
        rows = cast("pa.StructArray", events.parts[0])
        return [rows.field(index) for index in self.fields]


def _key_of(field: DataField, row: RowType, options: FieldOptions) -> _Key:
    strategy = options.nested_key_null_strategy.lower()
    if strategy not in _NULL_STRATEGIES:
        raise InvalidTableError(
            f"column {field.name!r}: nested-key-null-strategy is one of "
            f"{', '.join(_NULL_STRATEGIES)}, not {strategy!r}"
        )
    fields = _indexes(field, row, options.nested_key)
    return _Key(column=field.name, fields=fields, null_strategy=strategy)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What is left of the rows of nested tables.

    Attributes:
        events: The rows.
        kept: Positions of those that are left, in any order.
        entered: For each of them, the position of the row that took its place in the table first.
    """

    events: Events
    kept: Positions
    entered: Positions


def _append(values: ArrowArray, segments: Segments) -> _Outcome:
    events = _rows_of(values, segments)
    if not events.retract.any():
        every = np.arange(len(events.row))
        return _Outcome(events, every, every)
    histories = histories_of(events.segment, identities(events.parts[0]))
    there = histories.after_last(events.retract[histories.order])
    kept = np.sort(histories.order[there])
    return _Outcome(events, kept, kept)


@dataclass(frozen=True, slots=True)
class _Upsert:
    """The newest row of each key.

    Attributes:
        key: The key.
        sequence: Indexes of the fields that tell what is new; without any, the later row is.
    """

    key: _Key
    sequence: tuple[int, ...]

    def __call__(self, values: ArrowArray, segments: Segments) -> _Outcome:
        events = self.key.identified(_rows_of(values, segments))
        histories = self.key.histories(events)
        there = histories.after_last(events.retract[histories.order])
        first = histories.first(there)
        newest = self._newest(events, histories, there)
        left = first < len(there)
        return _Outcome(events, histories.order[newest[left]], histories.order[first[left]])

    def _newest(self, events: Events, histories: Histories, there: Mask) -> Positions:
        if not self.sequence or len(there) == 0:
            return histories.last(there)
        rows = cast("pa.StructArray", events.parts[0])
        words = sort_words([pa.chunked_array([rows.field(index)]) for index in self.sequence])
        in_order = tuple(word[histories.order] for word in words)
        by_age = np.lexsort((*in_order[::-1], there, histories.of_event))
        newest: Positions = by_age[histories.starts + histories.lengths - 1]
        return newest


@dataclass(frozen=True, slots=True)
class _Limited:
    """A nested table that lets in only so many rows.

    Attributes:
        fold: What is left without a limit.
        limit: How many rows, `count-limit`.
    """

    fold: Callable[[ArrowArray, Segments], _Outcome]
    limit: int

    def __call__(self, values: ArrowArray, segments: Segments) -> ArrowArray:
        outcome = self.fold(values, segments)
        events = outcome.events
        result = kept_containers(
            events.parts,
            outcome.kept[self._let_in(outcome)],
            events.segment,
            begun=events.begun,
            kind=values.type,
        )
        chosen = self._depends_on_order(events)
        if not chosen.any():
            return result
        in_rounds = fold_in_rounds(self, values, segments, chosen=chosen)
        return replaced(result, np.flatnonzero(chosen), in_rounds)

    def _let_in(self, outcome: _Outcome) -> Mask:
        """Which of the rows that are left were among the first to enter."""
        order = np.argsort(outcome.entered, kind="stable")
        segment = outcome.events.segment[outcome.entered[order]]
        let_in = np.empty(len(order), np.bool_)
        let_in[order] = np.arange(len(order)) - np.searchsorted(segment, segment) < self.limit
        return let_in

    def _depends_on_order(self, events: Events) -> Mask:
        """Segments that take rows back and may have reached the limit before."""
        count = len(events.begun)
        takes_back = np.bincount(events.segment[events.retract], minlength=count) > 0
        adds = np.bincount(events.segment[~events.retract], minlength=count)
        depends: Mask = takes_back & (adds > self.limit)
        return depends


@dataclass(frozen=True, slots=True)
class _PartialUpdate:
    """The newest value of each field of each key that is not null.

    Attributes:
        key: The key.
    """

    key: _Key

    def __call__(self, values: ArrowArray, segments: Segments) -> ArrowArray:
        events = self.key.identified(_rows_of(values, segments))
        histories = self.key.histories(events)
        rows = cast("pa.StructArray", events.parts[0])
        fields: list[ArrowArray] = []
        for index in range(rows.type.num_fields):
            field = rows.field(index)
            newest = histories.last(valid_mask(field)[histories.order])
            fields.append(taken(field, histories.order[newest], newest < 0))
        merged = _arrow.StructArray.from_arrays(fields, fields=list(rows.type))
        segment = events.segment[histories.order[histories.starts]]
        return containers_of([merged], segment, begun=events.begun, kind=values.type)


def _rows_of(values: ArrowArray, segments: Segments) -> Events:
    """The rows of nested tables; null rows are none."""
    events = events_of(values, segments)
    return events.where(valid_mask(events.parts[0]))
