"""What do the manifests alone say of all rows of some files: how many, the least, the greatest?

The caller proves that every row of the files is a row of the answer and the other way round: files
of an append table or raw files of a table with a key, and no condition other than on partition
columns, which whole files meet or not. Here it is then decided whether the numbers are exact.

Bounds are exact where no writer rounds them. These do:
1. text and bytes are cut to a length when they are written;
2. NaN is left out by some writers, so the greatest FLOAT may be NaN all the same; and of 0.0 and
   -0.0 either may be the bound;
3. ORC files give timestamps in milliseconds.

The surprising thing: a deletion vector leaves the count exact, where its cardinality is known, but
no bound: the row that has it may be a deleted one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowArray, ArrowScalar, scalar_of
from lakebed.format.statistics.stored import ColumnBounds
from lakebed.format.types import AtomicType, TypeRoot
from lakebed.table.planning.deletion_vectors import DV_COLUMNS

__all__ = ["MetadataAnswers"]

Counts = npt.NDArray[np.int64]

_EXACT_ROOTS = frozenset(
    {
        TypeRoot.BOOLEAN,
        TypeRoot.TINYINT,
        TypeRoot.SMALLINT,
        TypeRoot.INT,
        TypeRoot.BIGINT,
        TypeRoot.DECIMAL,
        TypeRoot.DATE,
        TypeRoot.TIME,
    }
)
_TIMESTAMP_ROOTS = frozenset({TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ})
_FLOAT_ROOTS = frozenset({TypeRoot.FLOAT, TypeRoot.DOUBLE})
_MILLISECOND_DIGITS = 3
_MICROSECOND_DIGITS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataAnswers:
    """What is exactly known of all rows of some files.

    Attributes:
        files: Live entries, as `format.manifest.ENTRY_COLUMNS`, with `DV_COLUMNS` where the table
            has deletion vectors.
        has_key: Whether the table has a primary key, so that rows may be -U or -D.
    """

    files: pa.Table
    has_key: bool

    def count(self) -> int | None:
        """How many rows there are; None where the manifests do not say exactly."""
        deleted = self._deleted()
        if deleted is None or not self._are_all_inserts():
            return None
        rows: int = pc.sum(self.files["row_count"], min_count=0).as_py()
        return rows - int(deleted.sum())

    def min(self, bounds: ColumnBounds, kind: AtomicType) -> ArrowScalar | None:
        """The least value of a column, a null scalar if there is none; None where not exact.

        Args:
            bounds: Of the column in each file, read with the type that the file was written with.
            kind: Type of the column.
        """
        has_value = self._has_exact_bounds(bounds, kind)
        if has_value is None or (kind.root in _FLOAT_ROOTS and not _is_surely_least(bounds.min)):
            return None
        return _of_all(has_value, bounds.min, pc.min)

    def max(self, bounds: ColumnBounds, kind: AtomicType) -> ArrowScalar | None:
        """The greatest value of a column; as `min`, but of floats never known."""
        has_value = self._has_exact_bounds(bounds, kind)
        if has_value is None or kind.root in _FLOAT_ROOTS:
            return None
        return _of_all(has_value, bounds.max, pc.max)

    def _are_all_inserts(self) -> bool:
        """Whether no row is -U or -D, of which older writers did not tell the number."""
        counts = pc.fill_null(self.files["delete_row_count"], -1 if self.has_key else 0)
        return not counts.to_numpy().any()

    def _deleted(self) -> Counts | None:
        """How many rows of each file are marked deleted; None where that is not known."""
        if DV_COLUMNS.names[0] not in self.files.column_names:
            return np.zeros(self.files.num_rows, dtype=np.int64)
        has_vector = self.files["dv_path"].is_valid().to_numpy()
        counts = pc.fill_null(self.files["dv_cardinality"], -1).to_numpy()
        if (counts[has_vector] < 0).any():
            return None
        return np.where(has_vector, counts, 0)

    def _has_exact_bounds(
        self, bounds: ColumnBounds, kind: AtomicType
    ) -> npt.NDArray[np.bool_] | None:
        """Which files have a value at all, where the bounds of all these are exact; else None."""
        deleted = self._deleted()
        if deleted is None or deleted.any() or not self._are_all_inserts():
            return None
        if not self._is_exact_type(kind):
            return None
        rows = self.files["row_count"].to_numpy()
        null_counts = pc.fill_null(bounds.null_count, -1).to_numpy(zero_copy_only=False)
        has_value: npt.NDArray[np.bool_] = (null_counts != rows) & (rows > 0)
        return has_value if bounds.known[has_value].all() else None

    def _is_exact_type(self, kind: AtomicType) -> bool:
        if kind.root in _TIMESTAMP_ROOTS:
            digits = kind.precision or 0
            is_orc = pc.any(pc.ends_with(self.files["file_name"], ".orc"), min_count=0).as_py()
            return digits <= (_MILLISECOND_DIGITS if is_orc else _MICROSECOND_DIGITS)
        return kind.root in _EXACT_ROOTS or kind.root in _FLOAT_ROOTS


def _is_surely_least(lows: ArrowArray) -> bool:
    numbers = lows.drop_null().to_numpy(zero_copy_only=False)
    return not (np.isnan(numbers) | (numbers == 0)).any()


def _of_all(
    has_value: npt.NDArray[np.bool_], ends: ArrowArray, fold: Callable[..., Any]
) -> ArrowScalar:
    if not has_value.any():
        return scalar_of(None, ends.type)
    found: ArrowScalar = fold(ends.filter(pa.array(has_value)))
    return found
