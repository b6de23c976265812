"""How does an Arrow column become numbers of NumPy and, its nulls kept, a column again?"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.arrow.compute import Values
from lakebed.format.arrow.compute import compute as pc

__all__ = ["numpy_values", "with_nulls_of"]

_Numbers = npt.NDArray[Any]


def numpy_values(values: Values, *, fill: float) -> _Numbers:
    """The values of a column of numbers, `fill` where it is null."""
    numbers: _Numbers = pc.fill_null(values, fill).to_numpy(zero_copy_only=False)
    return numbers


def with_nulls_of(column: Values, values: _Numbers) -> Values:
    """Values as a column that is null where another one is."""
    return pa.array(values, mask=np.asarray(column.is_null()))
