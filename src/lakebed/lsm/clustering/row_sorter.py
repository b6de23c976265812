"""All rows of a partition in the order that they are laid out in, within a budget of memory.

It is the merge of a table whose every row has a key of its own: what the rows are sorted by, then
when they came. So rows alike stay in their order, and what does not fit is spilled and merged as
that of other writers is.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self

import pyarrow as pa

from lakebed.format.key_value import SEQUENCE_NUMBER
from lakebed.lsm.clustering.order_keys import (
    WORD_BYTES,
    Bounds,
    Ordering,
    order_keys,
    sampled_bounds,
)
from lakebed.lsm.engines import Picking
from lakebed.lsm.merge import KeyGroups, Kinds, Positions
from lakebed.lsm.section_plan import RowOrder
from lakebed.lsm.spill import Spills
from lakebed.lsm.write_buffer import WriteBuffer

# Columns of tables have no such names.
_KEY = "_KEY_"
# Rows that are tracked have a number of their own besides that by which they are sorted.
_HELD_AS = {SEQUENCE_NUMBER.name: "_KEY_NUMBER"}
# Rows are held as they came, joined, and as keys.
_COPIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RowOrdering:
    """What rows are sorted by; travels to tasks.

    Attributes:
        columns: The columns (`order_keys.check_order`).
        strategy: How they are laid out by them.
        text_bytes: `zorder.var-length-contribution`.
        bounds: What a sample of the rows says of the columns (`fitted`).
    """

    columns: tuple[str, ...]
    strategy: Ordering
    text_bytes: int = WORD_BYTES
    bounds: Bounds = field(default=(), compare=False)

    @property
    def why(self) -> str:
        """Why files are written anew for it, in a sentence for users."""
        return f"all rows are sorted: {self.strategy.value} by {', '.join(self.columns)}"

    @property
    def takes_sample(self) -> bool:
        """Whether it must be `fitted` to the rows."""
        return self.strategy is not Ordering.ORDER

    def fitted(self, sample: pa.Table) -> "RowOrdering":
        """The same for rows of which some are given."""
        bounds = sampled_bounds(sample, self.columns, text_bytes=self.text_bytes)
        return replace(self, bounds=bounds)

    def with_keys(self, rows: pa.Table) -> tuple[pa.Table, tuple[str, ...]]:
        """The rows with the columns that they are sorted by, and the names of these."""
        if self.strategy is Ordering.ORDER:
            return rows, self.columns
        keys = order_keys(
            rows,
            self.columns,
            self.strategy,
            bounds=self.bounds,
            text_bytes=self.text_bytes,
        )
        names = tuple(f"{_KEY}{index}" for index in range(len(keys)))
        for name, key in zip(names, keys, strict=True):
            rows = rows.append_column(name, key)
        return rows, names


class RowSorter:
    """Sorts rows; a context manager that leaves nothing on the local disk.

    Args:
        schema: The columns of the rows.
        ordering: What they are sorted by.
        budget_bytes: Memory that sorting may take (`lakebed.merge.memory`).
    """

    def __init__(self, schema: pa.Schema, ordering: RowOrdering, *, budget_bytes: int) -> None:
        self._names = schema.names
        self._held_names = [_HELD_AS.get(name, name) for name in schema.names]
        self._ordering = ordering
        self._budget_bytes = budget_bytes
        self._held_bytes = 0
        with_keys, key_names = ordering.with_keys(self._held(schema.empty_table()))
        order = RowOrder(key_names=(*key_names, SEQUENCE_NUMBER.name))
        merging = Picking(order=order, pick=_every_row)
        stored = with_keys.column_names
        self._buffer = WriteBuffer(stored, merging=merging, first_sequence=0)
        self._spills = Spills(
            stored,
            merging=merging,
            budget_bytes=budget_bytes,
            memory_option="lakebed.merge.memory",
        )

    def add(self, rows: pa.Table) -> None:
        """Takes rows.

        Raises:
            StorageError: The local disk is full, or cannot be written.
        """
        with_keys, _ = self._ordering.with_keys(self._held(rows))
        self._buffer.add(with_keys)
        self._held_bytes += with_keys.nbytes
        if self._held_bytes * _COPIES >= self._budget_bytes:
            self._spill()

    def finish(self) -> Iterator[pa.Table]:
        """All rows in order, in parts.

        Raises:
            StorageError: The local disk is full, or cannot be written.
        """
        if self._spills:
            self._spill()
            parts = self._spills.merged()
        else:
            flushed = self._buffer.flush()
            parts = iter(()) if flushed is None else flushed.run
        for part in parts:
            yield part.select(self._held_names).rename_columns(self._names)

    def __enter__(self) -> Self:
        """Nothing is spilled before memory is full."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Deletes what was spilled."""
        self._spills.close()

    def _held(self, rows: pa.Table) -> pa.Table:
        return rows.rename_columns(self._held_names)

    def _spill(self) -> None:
        flushed = self._buffer.flush()
        self._held_bytes = 0
        if flushed is not None:
            self._spills.add(flushed.run)


def _every_row(groups: KeyGroups, kinds: Kinds | None) -> Positions:
    del kinds
    return groups.order
