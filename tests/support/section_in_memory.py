"""Rows of a key-value file as tests write them, and files of a section made of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.lsm.merge import DELETE, INSERT, UPDATE_BEFORE
from lakebed.lsm.section_plan import Mask

ENDS = (UPDATE_BEFORE, DELETE)


@dataclass(frozen=True)
class KeyValue:
    """One row: its key, what orders it, its kind and its values."""

    key: int
    sequence: int
    kind: int = INSERT
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class FileInMemory:
    """A file of a section; its batches are as small as the test wants."""

    rows: tuple[KeyValue, ...]
    run: int
    types: Mapping[str, pa.DataType]
    rows_a_batch: int = 2
    gone: tuple[int, ...] = ()
    level: int = 0
    read: list[int] = field(default_factory=list)

    @property
    def row_count(self) -> int:
        return len(self.rows)

    @property
    def ordinal(self) -> int:
        return self.run

    @property
    def min_sequence_number(self) -> int:
        return min(row.sequence for row in self.rows)

    @property
    def max_sequence_number(self) -> int:
        return max(row.sequence for row in self.rows)

    @property
    def has_deletes(self) -> bool:
        return any(row.kind in ENDS for row in self.rows)

    def removed(self) -> npt.NDArray[np.bool_] | None:
        return np.isin(np.arange(len(self.rows)), self.gone) if self.gone else None

    def decoded_bytes(self, names: Sequence[str]) -> int:
        return 9 * len(self.rows) * len(names)

    def read_columns(self, names: Sequence[str], keep: Mask | None = None) -> pa.Table:
        self.read.append(self.row_count if keep is None else int(keep.sum()))
        rows = self._table(self.rows, names)
        return rows if keep is None else rows.filter(pa.array(keep))

    def stream_columns(self, names: Sequence[str], *, batch_rows: int) -> Iterator[pa.Table]:
        size = min(self.rows_a_batch, batch_rows)
        for start in range(0, len(self.rows), size):
            yield self._table(self.rows[start : start + size], names)

    def _table(self, rows: Sequence[KeyValue], names: Sequence[str]) -> pa.Table:
        columns = {
            "k": pa.array([row.key for row in rows], pa.int64()),
            "_SEQUENCE_NUMBER": pa.array([row.sequence for row in rows], pa.int64()),
            "_VALUE_KIND": pa.array([row.kind for row in rows], pa.int8()),
        }
        for name, kind in self.types.items():
            columns[name] = pa.array([row.values.get(name) for row in rows], kind)
        return pa.table({name: columns[name] for name in names})


def oldest_first(files: Sequence[FileInMemory]) -> dict[int, list[KeyValue]]:
    """The rows of each key, keys ascending, from old to new."""
    rows = [
        (row.key, row.sequence, row.kind not in ENDS, file.run, row)
        for file in files
        for row in file.rows
    ]
    found: dict[int, list[KeyValue]] = {}
    for key, *_, row in sorted(rows, key=lambda each: each[:4]):
        found.setdefault(key, []).append(row)
    return found
