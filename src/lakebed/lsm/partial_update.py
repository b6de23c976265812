"""`merge-engine=partial-update`: each column keeps its newest value that is not null.

    rows of one key, old to new     (1, "a", null)   (1, null, 7)   (1, "b", null)
    merged                          (1, "b", 7)

Columns of a *sequence group* go together and have an order of their own (`sequence_groups`): the
row whose sequence fields are greatest gives all of them, also its nulls.

Deletes need an option. `ignore-delete` skips them; `partial-update.remove-record-on-delete` lets a
-D replace what was merged so far; with sequence groups a delete empties its groups, and removes the
record where `partial-update.remove-record-on-sequence-group` names one of them. The surprising
thing: in all cases a key's first row gives its values even when it is a delete.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lakebed.errors import InvalidDataError
from lakebed.format.arrow.typing import ArrowArray, taken
from lakebed.lsm.folding import FoldedRows, OrderedRows, values_of
from lakebed.lsm.functions.columns import ColumnFunction
from lakebed.lsm.functions.first_values import ADD, GIVE, STALE
from lakebed.lsm.functions.groups import Mask, Positions, Segments
from lakebed.lsm.functions.selection import NOWHERE, newest, take_or_null, valid_rows
from lakebed.lsm.merge import DELETE
from lakebed.lsm.sequence_groups import (
    EMPTY,
    Ranks,
    SequenceGroup,
    accepted,
    fold_order,
    ranks_of,
    resets_of,
)
from lakebed.lsm.windows import GroupedRows

_ARRIVAL_ORDER = frozenset({"collect", "merge_map"})


@dataclass(frozen=True, slots=True)
class _Past:
    """What each row, in order of key and age, does to the record of its key.

    Attributes:
        order: Places of the rows.
        segments: One a key.
        retract: -U and -D rows that take something back; None when there is none.
        begins: Rows at which a record begins, or begins anew.
        gives_all: Rows that give all their values, whatever their kind and sequence fields.
        adds: Rows that add; None when all do.
        live: Rows from the newest beginning of their key on; None when all are.
    """

    order: Positions
    segments: Segments
    retract: Mask | None
    begins: Mask
    gives_all: Mask
    adds: Mask | None
    live: Mask | None

    def choose(self, eligible: Mask | None) -> Positions:
        """The newest live eligible row of each key, or `NOWHERE`."""
        if self.live is not None:
            eligible = self.live if eligible is None else eligible & self.live
        return newest(eligible, self.segments)

    def places(self, rows: Positions) -> Positions:
        """Where rows lie in memory; `NOWHERE` stays."""
        return np.where(rows == NOWHERE, NOWHERE, self.order[rows])

    def choice(self, group_ranks: tuple[SequenceGroup, Ranks]) -> "_Choice":
        """Which row of each key gives the columns of a group."""
        group, ranks = group_ranks
        if self.adds is not None and self.retract is None:
            ranks = np.where(self.adds | self.gives_all, ranks, EMPTY)
        takes = accepted(ranks, self.begins)
        rows = self.choose(takes)
        rows = np.where(rows == NOWHERE, self.choose(self.gives_all), rows)
        kept = rows
        if self.retract is not None:
            # A first row that the group does not take has given its values all the same.
            emptied = (rows != NOWHERE) & self.retract[rows] & takes[rows]
            kept = np.where(emptied, NOWHERE, rows)
        return _Choice(group, ranks, takes, rows, kept)


@dataclass(frozen=True, slots=True)
class _Choice:
    """The rows that give the columns of a sequence group, one a key, or `NOWHERE`.

    Attributes:
        group: The group.
        ranks: Of its rows.
        takes: Rows that the group takes.
        rows: Those that give its sequence fields.
        kept: Those that give its other columns: a delete gives none.
    """

    group: SequenceGroup
    ranks: Ranks
    takes: Mask
    rows: Positions
    kept: Positions


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialUpdate:
    """The engine (`folding.FoldingEngine`).

    Attributes:
        key_names: Primary-key columns, partition columns included.
        groups: The sequence groups.
        functions: The functions of columns of groups that aggregate.
        ignore_delete: `ignore-delete`.
        remove_record_on_delete: `partial-update.remove-record-on-delete`.
    """

    key_names: frozenset[str]
    groups: tuple[SequenceGroup, ...]
    functions: Mapping[str, ColumnFunction]
    ignore_delete: bool
    remove_record_on_delete: bool

    def inputs(self, wanted: Collection[str]) -> set[str]:
        """The columns themselves, and the sequence fields that decide them or remove rows."""
        needed = set(wanted)
        for group in self.groups:
            if group.removes_record or needed & group.columns:
                needed |= set(group.sequence_fields)
        return needed

    def fold(self, grouped: GroupedRows, wanted: Sequence[str]) -> FoldedRows:
        """One row a key."""
        ordered = OrderedRows.of(grouped)
        needed = [g for g in self.groups if g.removes_record or g.columns & set(wanted)]
        ranks = {group: ranks_of(group, grouped.columns)[ordered.order] for group in needed}
        past = self._past(ordered, ranks)
        choices = {name: c for c in map(past.choice, ranks.items()) for name in c.group.columns}
        columns: dict[str, ArrowArray] = {}
        for name in wanted:
            column = values_of(grouped, name)
            if name in self.key_names:
                columns[name] = taken(column, past.order[past.segments.starts])
            elif name in choices:
                columns[name] = self._of_group(name, column, past, choice=choices[name])
            else:
                columns[name] = _newest_value(column, past)
        return FoldedRows(columns, ordered.result_kinds(_deleted(past)))

    def _past(self, ordered: OrderedRows, ranks: Mapping[SequenceGroup, Ranks]) -> _Past:
        segments = Segments(ordered.segments.starts, ordered.segments.row_count)
        begins = np.zeros(segments.row_count, np.bool_)
        begins[segments.starts] = True
        retract = ordered.segments.retract
        alone = ordered.single[segments.of_row]
        if retract is None or ordered.kinds is None:
            return _Past(ordered.order, segments, None, begins, alone, None, None)
        self._check_deletes()
        deletes = retract & (ordered.kinds == DELETE)
        resets = np.zeros(segments.row_count, np.bool_)
        if self.remove_record_on_delete:
            resets = deletes
        removing = [rank for group, rank in ranks.items() if group.removes_record]
        if removing:
            resets = resets_of(removing, deletes, segments)
        live: Mask | None = None
        if resets.any():
            starts = np.maximum(segments.starts, newest(resets, segments))
            live = np.arange(segments.row_count) >= starts[segments.of_row]
        return _Past(
            order=ordered.order,
            segments=segments,
            retract=None if self.ignore_delete else retract & ~resets,
            begins=begins | resets,
            gives_all=(begins & retract) | resets | alone,
            adds=~retract,
            live=live,
        )

    def _check_deletes(self) -> None:
        if not (self.ignore_delete or self.remove_record_on_delete or self.groups):
            raise InvalidDataError(
                "merge-engine=partial-update takes no -U and -D rows, and there are some; one of "
                "ignore-delete, partial-update.remove-record-on-delete and a sequence group says "
                "what they mean"
            )

    def _of_group(
        self, name: str, column: ArrowArray, past: _Past, *, choice: _Choice
    ) -> ArrowArray:
        if name in choice.group.sequence_fields:
            return take_or_null(column, past.places(choice.rows))
        function = self.functions.get(name)
        if function is None:
            return take_or_null(column, past.places(choice.kept))
        fold = _aggregated if function.history is None else _over_history
        return fold(function, column, past, choice=choice)


def _newest_value(column: ArrowArray, past: _Past) -> ArrowArray:
    """The newest value that is not null among rows that add or give all."""
    valid = valid_rows(column)
    eligible = None if valid is None else valid[past.order]
    if past.adds is not None:
        given = past.adds | past.gives_all
        eligible = given if eligible is None else eligible & given
    return take_or_null(column, past.places(past.choose(eligible)))


def _aggregated(
    function: ColumnFunction, column: ArrowArray, past: _Past, *, choice: _Choice
) -> ArrowArray:
    """A column of a group that aggregates: folds stale rows, too, as if they had come first.

    What some functions take back depends on when that came: unless they ignore retractions, their
    stale rows stay where they are.
    """
    nothing = np.zeros(past.segments.row_count, np.bool_)
    takes_back = nothing if past.retract is None else past.retract
    live = ~nothing if past.live is None else past.live
    begun = past.begins & live
    events = fold_order(
        np.where(live, choice.ranks, EMPTY),
        choice.takes,
        takes_back=takes_back & live,
        gives_all=past.gives_all & begun,
        segments=past.segments,
        in_arrival_order=function.function in _ARRIVAL_ORDER and not function.ignore_retract,
    )
    firsts = events.rows[events.segments.starts]
    raw = (events.segments.lengths == 1) & past.gives_all[firsts]
    return events.spread(function.apply(column, past.order[events.rows], events.segments, raw=raw))


def _over_history(
    function: ColumnFunction, column: ArrowArray, past: _Past, *, choice: _Choice
) -> ArrowArray:
    """A column of a group whose function remembers what it saw before the record began anew."""
    ranked = choice.ranks > EMPTY
    takes_back = np.zeros(len(ranked), np.bool_)
    if past.retract is not None:
        takes_back = past.retract & ranked
    if takes_back.any():
        function.check_retracts(replace(past.segments, retract=takes_back))
    kept = past.segments.keeping((ranked & ~takes_back) | past.gives_all)
    adds = np.where(choice.takes, ADD, STALE)
    events = np.where(past.gives_all, GIVE, adds).astype(np.int8)
    results = function.apply_history(
        column, past.order[kept.rows], kept.segments, events=events[kept.rows]
    )
    return kept.spread(results)


def _deleted(past: _Past) -> Mask:
    """Keys whose newest row removed the record, and keys that no row added to."""
    if past.adds is None:
        return np.zeros(past.segments.count, np.bool_)
    last = past.segments.ends - 1
    added = np.logical_or.reduceat(past.adds, past.segments.starts)
    deleted: Mask = (past.begins & ~past.adds)[last] | ~added
    return deleted
