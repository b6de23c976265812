"""Which rows of two tables have the same values, row by row?

Null is null, and floating numbers are the same when their bits are: -0.0 is not 0.0, NaN is NaN.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from lakebed.format.arrow.typing import ArrowChunks


def same_rows(before: pa.Table, after: pa.Table, names: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Whether the n-th rows are the same, for each n.

    Args:
        before: Rows.
        after: As many rows.
        names: The columns that are compared.
    """
    same = np.ones(before.num_rows, np.bool_)
    for name in names:
        same &= _same_values(before.column(name), after.column(name))
    return same


def _same_values(before: ArrowChunks, after: ArrowChunks) -> npt.NDArray[np.bool_]:
    left, right = (pl.Series(values=_bits(values).combine_chunks()) for values in (before, after))
    same: npt.NDArray[np.bool_] = left.eq_missing(right).to_numpy()
    return same


def _bits(values: ArrowChunks) -> ArrowChunks:
    if not pa.types.is_floating(values.type):
        return values
    whole = pa.int32() if values.type.bit_width == 32 else pa.int64()
    return pa.chunked_array([chunk.view(whole) for chunk in values.chunks], whole)
