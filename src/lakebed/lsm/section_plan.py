"""What a section is made of, and what merging it takes.

A section is planned from what the manifests say of its files; nothing is decoded.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.key_value import SEQUENCE_NUMBER, VALUE_KIND
from lakebed.lsm.merge import ranges_overlap

Mask = npt.NDArray[np.bool_]

# Sorting holds copies of the keys while they become words, and of each row besides: its place in
# the order, its key in that order, and flags.
_KEY_COPIES = 4
_ROW_OVERHEAD_BYTES = 24


class SectionFile(Protocol):
    """A data file of a section, as far as the merge needs it."""

    @property
    def row_count(self) -> int:
        """Rows of the file."""
        ...

    @property
    def run(self) -> int:
        """Which sorted run it belongs to."""
        ...

    @property
    def ordinal(self) -> int:
        """Its place in the manifests; of rows alike in age that of the later file wins."""
        ...

    @property
    def level(self) -> int:
        """Its LSM level."""
        ...

    @property
    def min_sequence_number(self) -> int:
        """Smallest sequence number of its rows."""
        ...

    @property
    def max_sequence_number(self) -> int:
        """Greatest sequence number of its rows."""
        ...

    @property
    def has_deletes(self) -> bool:
        """Whether it may hold -U or -D rows."""
        ...

    def removed(self) -> Mask | None:
        """Rows that a deletion vector took out; None without one."""
        ...

    def decoded_bytes(self, names: Sequence[str]) -> int:
        """Estimated decoded size of some columns."""
        ...

    def read_columns(self, names: Sequence[str], keep: Mask | None = None) -> pa.Table:
        """Columns by the table's names, in file order: of all rows, or of some."""
        ...

    def stream_columns(self, names: Sequence[str], *, batch_rows: int) -> Iterator[pa.Table]:
        """The same, at most `batch_rows` at a time."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RowOrder:
    """How the rows of a primary-key table are ordered: by key, then from old to new.

    Attributes:
        key_names: The trimmed primary key.
        sequence_fields: `sequence.field`: what tells age before the sequence number does.
        descending: `sequence.field.sort-order`: whether smaller values are newer.
    """

    key_names: tuple[str, ...]
    sequence_fields: tuple[str, ...] = ()
    descending: bool = False


@dataclass(frozen=True, slots=True)
class SectionPlan:
    """How one section is merged.

    Attributes:
        files: From old to new, or as the manifests name them where sequence numbers tell age.
        starts: Position of each file's first row in the section.
        by_key: The files with their starts, those of one run in key order.
        order: How rows are ordered.
        sorting: The columns that order rows.
        values: Other columns wanted.
        by_sequence: Whether age must be told by sequence numbers.
        with_kind: Whether there may be -U or -D rows, or kinds are wanted.
        row_count: Rows of the section.
        sorting_bytes: What grouping all rows at once would take.
        value_bytes: Decoded size of the values.
    """

    files: list[SectionFile]
    starts: list[int]
    by_key: list[tuple[SectionFile, int]]
    order: RowOrder
    sorting: list[str]
    values: list[str]
    by_sequence: bool
    with_kind: bool
    row_count: int
    sorting_bytes: int
    value_bytes: int

    @classmethod
    def of(
        cls, files: Sequence[SectionFile], *, order: RowOrder, values: Sequence[str] = ()
    ) -> "SectionPlan":
        """Plans the merge of all files of one section, those of one run in key order.

        Args:
            files: The files.
            order: How rows are ordered.
            values: Columns to decode besides those that order rows; may name those too.
        """
        by_sequence = bool(order.sequence_fields) or _sequences_overlap(files)
        ordered = sorted(files, key=lambda f: f.ordinal if by_sequence else f.min_sequence_number)
        with_kind = VALUE_KIND.name in values or any(file.has_deletes for file in ordered)
        sorting = list(dict.fromkeys((*order.key_names, *order.sequence_fields)))
        if by_sequence:
            sorting.append(SEQUENCE_NUMBER.name)
        if with_kind:
            sorting.append(VALUE_KIND.name)
        others = [name for name in dict.fromkeys(values) if name not in sorting]
        starts: list[int] = np.cumsum([0, *(file.row_count for file in ordered)]).tolist()
        start_of = {id(file): start for file, start in zip(ordered, starts, strict=False)}
        sorting_bytes = sum(file.decoded_bytes(sorting) for file in ordered)
        return cls(
            files=ordered,
            starts=starts[:-1],
            by_key=[(file, start_of[id(file)]) for file in files],
            order=order,
            sorting=sorting,
            values=others,
            by_sequence=by_sequence,
            with_kind=with_kind,
            row_count=starts[-1],
            sorting_bytes=_KEY_COPIES * sorting_bytes + _ROW_OVERHEAD_BYTES * starts[-1],
            value_bytes=sum(file.decoded_bytes(others) for file in ordered) if others else 0,
        )


def _sequences_overlap(files: Sequence[SectionFile]) -> bool:
    """Whether files of different runs share sequence numbers; one run never holds a key twice."""
    spans: dict[int, tuple[int, int]] = {}
    for file in files:
        low, high = spans.get(file.run, (file.min_sequence_number, file.max_sequence_number))
        spans[file.run] = (
            min(low, file.min_sequence_number),
            max(high, file.max_sequence_number),
        )
    return ranges_overlap(list(spans.values()))
