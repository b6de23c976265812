"""Do the bounds and null counts that are said of columns hold?"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowArray, ArrowColumn
from lakebed.format.statistics.stored import ColumnBounds

Mask = npt.NDArray[np.bool_]


def contradicts(said: ColumnBounds, true: ColumnBounds) -> Mask:
    """Where what is said of a column is wrong, one flag a file.

    Bounds may be wider than they must be, and anything may be unknown; null counts are exact. Where
    there is NaN, that alone says nothing (`leaves_out_nan`).

    Args:
        said: What is said.
        true: What is so; bounds are null where there is no value.
    """
    counts = pc.not_equal(said.null_count, true.null_count)
    if pa.types.is_null(said.min.type):
        return known_true(counts)
    low = pc.invert(_at_most(said.min, true.min))
    high = pc.invert(_at_most(true.max, said.max))
    return known_true(counts) | known_true(low) | (known_true(high) & ~leaves_out_nan(said, true))


def leaves_out_nan(said: ColumnBounds, true: ColumnBounds) -> Mask:
    """Where there is NaN and the upper bound is a number; writers of ORC do not count NaN."""
    if not pa.types.is_floating(said.max.type):
        return np.zeros(len(said.max), np.bool_)
    return known_true(pc.and_(pc.is_nan(true.max), pc.invert(pc.is_nan(said.max))))


def _at_most(values: ArrowArray, others: ArrowArray) -> ArrowArray:
    """Where values are not above others; null where either is. NaN is above all numbers."""
    if pa.types.is_boolean(values.type):
        values, others = values.cast(pa.int8()), others.cast(pa.int8())
    holds: ArrowArray = pc.less_equal(values, others)
    if pa.types.is_floating(values.type):
        holds = pc.or_(holds, pc.is_nan(others))
    return holds


def known_true(flags: ArrowColumn) -> Mask:
    """Where flags are true, and not null."""
    mask: Mask = np.asarray(pc.fill_null(flags, fill_value=False))
    return mask
