"""What rows come of a compaction, and what changes does it tell of?

The rows are merged by the same kernel as those of a read. Where changes are tracked, each key that
got new rows is compared with the row that readers saw before:

    rows of a key          before     result     changelog
    L0 (7, +I)             none       (7, +I)    +I 7
    L0 (9, +U), L5 (7)     7          (9, +I)    -U 7, +U 9
    L0 (9, -D), L5 (7)     7          (9, -D)    -D 7
    L3 (7), L5 (4)         not new    (7)        none

Files that are left where they are take part in that, too: their rows are older than all others, and
only looked at. In a table with deletion vectors such a row is dead once a row of its key is written
above it, or is a -D; its place is told, so that a vector can mark it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from lakebed.format.key_value import VALUE_KIND
from lakebed.lsm.compaction.change_rows import KeyedRows, change_rows
from lakebed.lsm.compaction.rewrite_plan import Tracking
from lakebed.lsm.engines import Folding, Picking
from lakebed.lsm.functions.groups import Mask
from lakebed.lsm.merge import Kinds, Positions, are_adds
from lakebed.lsm.section_plan import SectionFile, SectionPlan
from lakebed.lsm.windows import GroupedRows, Levels, grouped_rows
from lakebed.lsm.write_buffer import SYSTEM_COLUMNS

NOWHERE = -1
_NO_ROWS: Positions = np.zeros(0, np.intp)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactedRows:
    """Some keys of a compaction, ascending.

    Attributes:
        rows: One row a key at most: the table's columns, `_SEQUENCE_NUMBER` and `_VALUE_KIND`.
        changelog: The changes, in the same columns; None where none are tracked.
        dead: Rows of files that stay where they are whose keys got others, by the place of the file
            among those given.
    """

    rows: pa.Table
    changelog: pa.Table | None
    dead: Mapping[int, Positions] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewriting:
    """How a compaction makes rows.

    Attributes:
        names: The table's columns.
        merging: How the rows of a key become one.
        tracking: How rows are compared with older ones.
        tells_changes: Whether a changelog is made of that.
        tells_dead: Whether rows of files that stay are told which are dead from now on.
        output_level: Where the rows go; files of higher levels are only looked at.
        max_level: The level of the oldest rows.
        drops_deletes: Whether -U and -D rows are left out: nothing older is left below.
        drops_known_keys: Whether a key that a file which is only looked at has stays out
            (`first-row`).
        compared: Columns in which a row must differ to be told as changed; None to tell of every
            new row.
        budget_bytes: Memory that merging may take.
    """

    names: tuple[str, ...]
    merging: Picking | Folding
    tracking: Tracking
    tells_changes: bool
    tells_dead: bool
    output_level: int
    max_level: int
    drops_deletes: bool
    drops_known_keys: bool
    compared: tuple[str, ...] | None
    budget_bytes: int

    def rows_of(self, files: Sequence[SectionFile]) -> Iterator[CompactedRows]:
        """What the files become.

        Args:
            files: Those that are rewritten and those that are only looked at; those of one run in
                key order.

        Raises:
            InvalidDataError: Rows that the merge engine forbids.
        """
        wanted = (*self.names, *SYSTEM_COLUMNS)
        plan = SectionPlan.of(files, order=self.merging.order, values=wanted)
        with_levels = self._needs_levels
        for grouped in grouped_rows(plan, budget_bytes=self.budget_bytes, with_levels=with_levels):
            yield self._compacted(grouped, plan)

    def untracked(self) -> "Rewriting":
        """The same for files whose rows were compared before."""
        return replace(
            self,
            tracking=Tracking.NONE,
            tells_changes=False,
            tells_dead=False,
            drops_known_keys=False,
        )

    @property
    def looks_below(self) -> bool:
        """Whether files of higher levels than the output's are to be looked at."""
        return self.tracking is Tracking.LOOKUP

    @property
    def _needs_levels(self) -> bool:
        looks_up = isinstance(self.merging, Folding) and self.merging.with_lookup
        return looks_up or self.tracking is not Tracking.NONE

    def _compacted(self, grouped: GroupedRows, plan: SectionPlan) -> CompactedRows:
        if grouped.levels is None:
            results, _ = self._merged(grouped, keys=None, olds=_NO_ROWS)
            return CompactedRows(rows=self._kept(results, None), changelog=None)
        past = _Past.of(grouped, grouped.levels, rewriting=self)
        told = past.is_new & self.tells_changes
        olds = np.flatnonzero(told & (past.before != NOWHERE))
        results, before = self._merged(grouped, keys=past.moves | told, olds=past.before[olds])
        changelog = None
        if self.tells_changes:
            changelog = self._changes(results, KeyedRows(olds, before), past)
        return CompactedRows(
            rows=self._kept(results, past.moves),
            changelog=changelog,
            dead=_by_file(grouped.positions[past.replaced], plan) if self.tells_dead else {},
        )

    def _kept(self, results: KeyedRows, moves: Mask | None) -> pa.Table:
        kept = np.ones(len(results.keys), np.bool_) if moves is None else moves[results.keys]
        if self.drops_deletes:
            kept = kept & are_adds(_kinds(results.rows))
        return results.rows if kept.all() else results.rows.filter(pa.array(kept))

    def _merged(
        self, grouped: GroupedRows, *, keys: Mask | None, olds: Positions
    ) -> tuple[KeyedRows, pa.Table]:
        """The results of the keys that are asked for, and rows that are there; others may come.

        A merge engine that picks rows has both decoded together.
        """
        wanted = (*self.names, *SYSTEM_COLUMNS)
        if isinstance(self.merging, Folding):
            # Levels tell the fold that newer rows hold older ones: only lookup makes that true.
            levels = grouped.levels if self.merging.with_lookup else None
            rows = replace(grouped, levels=levels, folds_single=self.looks_below)
            folded = self.merging.engine.fold(rows, self.names)
            results = KeyedRows(np.arange(len(folded.kinds)), folded.table(grouped, wanted))
            return results, grouped.columns.rows_at(wanted, olds)
        winners = self.merging.pick(grouped.groups, grouped.kinds)
        of_keys = _keys_of(grouped, winners)
        if keys is not None:
            winners, of_keys = winners[keys[of_keys]], of_keys[keys[of_keys]]
        found = grouped.columns.rows_at(wanted, np.concatenate([winners, olds]))
        return KeyedRows(of_keys, found.slice(0, len(winners))), found.slice(len(winners))

    def _changes(self, results: KeyedRows, before: KeyedRows, past: "_Past") -> pa.Table:
        """The changes of keys that got new rows; a first row keeps its kind."""
        if self.drops_known_keys:
            is_first = past.is_new & (past.before == NOWHERE)
            return results.rows.filter(pa.array(is_first[results.keys]))
        news = np.flatnonzero(past.is_new[results.keys] & are_adds(_kinds(results.rows)))
        after = KeyedRows(results.keys[news], results.rows.take(news))
        return change_rows(before, after, compared=self.compared)


@dataclass(frozen=True, slots=True)
class _Past:
    """What each key of some rows was, and whether it is rewritten.

    Attributes:
        before: Place of the row that readers saw; `NOWHERE` where they saw none.
        is_new: Whether the key got rows that they did not see.
        moves: Whether its result is written: some row of it is rewritten.
        replaced: Places of rows that stay while the result of their key is written.
    """

    before: Positions
    is_new: Mask
    moves: Mask
    replaced: Positions

    @classmethod
    def of(cls, grouped: GroupedRows, levels: Levels, *, rewriting: Rewriting) -> "_Past":
        groups = grouped.groups
        if len(groups.order) == 0:
            none = np.zeros(0, np.bool_)
            return cls(_NO_ROWS, none, none, _NO_ROWS)
        starts, in_order = groups.firsts, levels[groups.order]
        counts = np.diff(groups.last, prepend=-1)
        if rewriting.tracking is Tracking.FULL:
            is_seen = in_order == rewriting.max_level
        else:
            # Of the rows above level 0 the one of the lowest level holds the others.
            high = np.where(in_order > 0, in_order, np.iinfo(in_order.dtype).max)
            lowest = np.minimum.reduceat(high, starts)
            is_seen = (in_order > 0) & (in_order == np.repeat(lowest, counts))
        is_new = in_order == 0
        if rewriting.tracking is Tracking.FULL:
            is_new = ~is_seen
        places = np.where(is_seen, np.arange(len(in_order)), NOWHERE)
        seen = np.maximum.reduceat(places, starts)
        before = np.where(seen == NOWHERE, NOWHERE, groups.order[seen])
        if grouped.kinds is not None:
            before = np.where(are_adds(grouped.kinds[before]), before, NOWHERE)
        stays = in_order > rewriting.output_level
        moves = ~np.logical_and.reduceat(stays, starts)
        if rewriting.drops_known_keys:
            moves &= ~np.logical_or.reduceat(stays, starts)
        replaced = groups.order[stays & np.repeat(moves, counts)]
        return cls(before, np.logical_or.reduceat(is_new, starts), moves, replaced)


def _by_file(positions: Positions, plan: SectionPlan) -> dict[int, Positions]:
    """Rows of a section by the place of their file, as numbers in it, ascending."""
    ordered = np.sort(positions)
    found = {}
    for place, (file, start) in enumerate(plan.by_key):
        first, end = np.searchsorted(ordered, [start, start + file.row_count])
        if first < end:
            found[place] = ordered[first:end] - start
    return found


def _kinds(rows: pa.Table) -> Kinds:
    return rows.column(VALUE_KIND.name).to_numpy()


def _keys_of(grouped: GroupedRows, places: Positions) -> Positions:
    """The key of each of some rows, as a position in `KeyGroups.last`."""
    groups = grouped.groups
    if len(places) == len(groups.last):
        return np.arange(len(places))
    indexes = np.empty(len(groups.order), np.intp)
    indexes[groups.order] = np.arange(len(groups.order))
    return np.searchsorted(groups.last, indexes[places])
