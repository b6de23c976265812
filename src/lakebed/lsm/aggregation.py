"""`merge-engine=aggregation`: each column folds with its own function.

    rows of one key, old to new       +I (5, "a")   +I (3, null)   -D (1, "a")
    sum, last_non_null_value          5 + 3 - 1 = 7, null: the "a" was taken back

A -D row takes back like a -U, unless `aggregation.remove-record-on-delete`: then it replaces what
was folded so far, and ends the key when it is the newest row.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lakebed.format.arrow.typing import ArrowArray, taken
from lakebed.lsm.folding import FoldedRows, OrderedRows, values_of
from lakebed.lsm.functions.columns import ColumnFunction
from lakebed.lsm.functions.first_values import ADD, GIVE
from lakebed.lsm.functions.groups import Mask, Positions, Segments
from lakebed.lsm.functions.selection import newest
from lakebed.lsm.windows import GroupedRows


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregation:
    """The engine (`folding.FoldingEngine`).

    Attributes:
        key_names: Primary-key columns, partition columns included.
        functions: The function of every other column.
        remove_record_on_delete: `aggregation.remove-record-on-delete`.
    """

    key_names: frozenset[str]
    functions: Mapping[str, ColumnFunction]
    remove_record_on_delete: bool

    def inputs(self, wanted: Collection[str]) -> set[str]:
        """Each column follows from itself alone."""
        return set(wanted)

    def fold(self, grouped: GroupedRows, wanted: Sequence[str]) -> FoldedRows:
        """One row a key."""
        ordered = OrderedRows.of(grouped)
        order, segments = ordered.order, ordered.segments
        deleted = np.zeros(segments.count, np.bool_)
        deletes = ordered.deletes if self.remove_record_on_delete else None
        if deletes is not None:
            deleted = deletes[segments.ends - 1]
            order, segments = _from_newest_delete(ordered, deletes)
        columns: dict[str, ArrowArray] = {}
        for name in wanted:
            column = values_of(grouped, name)
            function = self.functions.get(name)
            if function is None:
                columns[name] = taken(column, order[segments.starts])
            elif function.history is not None and deletes is not None:
                columns[name] = _over_history(function, column, ordered, deletes=deletes)
            else:
                columns[name] = function.apply(column, order, segments, raw=ordered.single)
        return FoldedRows(columns, ordered.result_kinds(deleted))


def _over_history(
    function: ColumnFunction, column: ArrowArray, ordered: OrderedRows, *, deletes: Mask
) -> ArrowArray:
    """A function that remembers what it saw before a -D, which puts its values there unseen."""
    segments = ordered.segments
    events = np.where(deletes | ordered.single[segments.of_row], GIVE, ADD).astype(np.int8)
    if segments.retract is None:
        return function.apply_history(column, ordered.order, segments, events=events)
    takes_back = segments.retract & ~deletes
    if takes_back.any():
        function.check_retracts(replace(segments, retract=takes_back))
    kept = segments.keeping(~takes_back)
    results = function.apply_history(
        column, ordered.order[kept.rows], kept.segments, events=events[kept.rows]
    )
    return kept.spread(results)


def _from_newest_delete(ordered: OrderedRows, deletes: Mask) -> tuple[Positions, Segments]:
    """The rows of each key from its newest -D on, which counts as an add of its values."""
    segments = ordered.segments
    starts = np.maximum(segments.starts, newest(deletes, segments))
    kept = np.arange(segments.row_count) >= np.repeat(starts, segments.lengths)
    retract = None if segments.retract is None else (segments.retract & ~deletes)[kept]
    if retract is not None and not retract.any():
        retract = None
    lengths = segments.ends - starts
    first = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.intp)
    return ordered.order[kept], Segments(first[: segments.count], int(lengths.sum()), retract)
