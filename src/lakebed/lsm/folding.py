"""What merge engines that make new rows have in common.

`partial-update` and `aggregation` fold all rows of a key into one that may be none of them. They
see the rows of a section by key and age (`windows.GroupedRows`) and give one row a key.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from lakebed.format.arrow.typing import ArrowArray, joined, taken
from lakebed.format.key_value import SEQUENCE_NUMBER, VALUE_KIND
from lakebed.lsm.functions.groups import Mask, Positions, Segments
from lakebed.lsm.merge import DELETE, INSERT, Kinds, are_adds
from lakebed.lsm.section_plan import RowOrder, SectionFile, SectionPlan
from lakebed.lsm.windows import GroupedRows, Levels, grouped_rows


class FoldingEngine(Protocol):
    """A merge engine that makes new rows."""

    def inputs(self, wanted: Collection[str]) -> set[str]:
        """Value columns that results of the wanted columns follow from, these among them."""
        ...

    def fold(self, grouped: GroupedRows, wanted: Sequence[str]) -> "FoldedRows":
        """One row a key.

        Raises:
            InvalidDataError: Rows that the engine's options forbid.
        """
        ...


@dataclass(frozen=True, slots=True)
class FoldedRows:
    """One row a key, ascending.

    Attributes:
        columns: The wanted columns.
        kinds: Row kind of each.
    """

    columns: Mapping[str, ArrowArray]
    kinds: Kinds

    def table(self, grouped: GroupedRows, wanted: Sequence[str]) -> pa.Table:
        """The wanted columns as a table.

        Args:
            grouped: What was folded; of each key the newest row gives the sequence number.
            wanted: Of the columns; `_SEQUENCE_NUMBER` and `_VALUE_KIND` may be among them.
        """
        if not wanted:
            return pa.table({"": pa.nulls(len(self.kinds))})
        columns = dict(self.columns)
        if VALUE_KIND.name in wanted:
            columns[VALUE_KIND.name] = pa.array(self.kinds, pa.int8())
        if SEQUENCE_NUMBER.name in wanted:
            numbers = values_of(grouped, SEQUENCE_NUMBER.name)
            newest = grouped.groups.order[grouped.groups.last]
            columns[SEQUENCE_NUMBER.name] = taken(numbers, newest)
        return pa.table({name: columns[name] for name in wanted})


@dataclass(frozen=True, slots=True)
class OrderedRows:
    """Rows of a merge as folds see them.

    Attributes:
        order: Places of the rows, by key and age.
        segments: One a key. A row that is alone with its key comes out as it is, so it takes
            nothing back, whatever its kind.
        single: Keys that have one row, unless such a row is to be folded, too.
        kinds: Row kind of each row of `order`; None where all are adds.
    """

    order: Positions
    segments: Segments
    single: Mask
    kinds: Kinds | None

    @classmethod
    def of(cls, grouped: GroupedRows) -> "OrderedRows":
        """The rows of a window."""
        order = grouped.groups.order
        segments = Segments(grouped.groups.firsts, len(order))
        single = (segments.lengths == 1) & (not grouped.folds_single)
        if grouped.levels is not None:
            kept = segments.keeping(_counting(grouped.levels[order], segments))
            order, segments = order[kept.rows], kept.segments
        if grouped.kinds is None:
            return cls(order, segments, single, None)
        kinds = grouped.kinds[order]
        retract = ~are_adds(kinds) & ~single[segments.of_row]
        if retract.any():
            segments = Segments(segments.starts, segments.row_count, retract)
        return cls(order, segments, single, kinds)

    @property
    def deletes(self) -> Mask | None:
        """The -D rows that take something back; None when there is none."""
        if self.kinds is None or self.segments.retract is None:
            return None
        deletes: Mask = (self.kinds == DELETE) & self.segments.retract
        return deletes if deletes.any() else None

    def result_kinds(self, deleted: Mask) -> Kinds:
        """Kinds of results: of a lone row its own, else -D where deleted and +I elsewhere."""
        kinds = np.where(deleted, DELETE, INSERT).astype(np.int8)
        if self.kinds is not None:
            kinds[self.single] = self.kinds[self.segments.starts[self.single]]
        return kinds


def _counting(levels: Levels, segments: Segments) -> Mask:
    """Rows that count where compaction looks up older rows: a row above level 0 holds them all.

    Of a key's rows above level 0, only the one of the lowest level counts: it was made with what
    lies below it. Rows of level 0 are not in it yet.
    """
    beyond = np.iinfo(levels.dtype).max
    high = np.where(levels > 0, levels, beyond)
    lowest = np.minimum.reduceat(high, segments.starts) if segments.count else high
    counting: Mask = (levels <= 0) | (levels == lowest[segments.of_row])
    return counting


def values_of(grouped: GroupedRows, name: str) -> ArrowArray:
    """A column as one array."""
    return joined(grouped.columns.column(name))


def folded_rows(
    files: Sequence[SectionFile],
    *,
    order: RowOrder,
    engine: FoldingEngine,
    wanted: Sequence[str],
    budget_bytes: int,
    with_lookup: bool = False,
    keep_deletes: bool = False,
) -> Iterator[pa.Table]:
    """The rows that all files of one section merge into.

    Args:
        files: The files, those of one run in key order.
        order: How rows are ordered.
        engine: The merge engine.
        wanted: Columns out, in order; `_SEQUENCE_NUMBER` and `_VALUE_KIND` may be among them.
        budget_bytes: Memory that merging may take (`lakebed.merge.memory`).
        with_lookup: Whether compaction of the table looks older rows up, so that a row above
            level 0 already holds those of higher levels.
        keep_deletes: Whether rows that are deleted come out, too.
    """
    system = {SEQUENCE_NUMBER.name, VALUE_KIND.name}
    values = [name for name in wanted if name not in system]
    # Columns are decoded in the order in which the engine asks for them: those that decide first.
    others = engine.inputs(values).difference(values, order.key_names)
    inputs = [*sorted(others), *(name for name in values if name not in order.key_names)]
    if SEQUENCE_NUMBER.name in wanted:
        inputs.append(SEQUENCE_NUMBER.name)
    if VALUE_KIND.name in wanted:
        inputs.append(VALUE_KIND.name)
    plan = SectionPlan.of(files, order=order, values=inputs)
    for grouped in grouped_rows(plan, budget_bytes=budget_bytes, with_levels=with_lookup):
        folded = engine.fold(grouped, values)
        table = folded.table(grouped, wanted)
        adds = are_adds(folded.kinds)
        yield table if keep_deletes or adds.all() else table.filter(pa.array(adds))
