"""Functions over values that only a library understands: bitmaps and sketches.

Such values are merged one by one, and only where a segment has several.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from lakebed.errors import InvalidDataError, InvalidTableError
from lakebed.format.arrow.typing import ArrowArray, python_values, taken
from lakebed.format.type_text import format_type
from lakebed.format.types import AtomicType, DataField, TypeRoot
from lakebed.lsm.functions.groups import Aggregate, Segments
from lakebed.lsm.functions.identities import valid_mask

_arrow: Any = pa

# From the values of a segment, oldest first, to one. Raises what libraries do
# for bytes that they do not know: ValueError, IndexError, RuntimeError.
Union = Callable[[Sequence[bytes]], bytes]


def make_union(field: DataField, *, function: str, union: Union) -> Aggregate:
    """The function of a column of VARBINARY.

    Args:
        field: The column.
        function: Name of the function, for errors.
        union: What merges several values.

    Raises:
        InvalidTableError: The column is no VARBINARY.
    """
    kind = field.type
    if not isinstance(kind, AtomicType) or kind.root is not TypeRoot.VARBINARY:
        raise InvalidTableError(
            f"column {field.name!r}: {function} takes VARBINARY, not {format_type(kind)}"
        )
    return _Unions(field.name, function, union)


@dataclass(frozen=True, slots=True)
class _Unions:
    """The union of each segment; a single value stays as it is.

    Attributes:
        column: Name of the column, for errors.
        function: Name of the function, for errors.
        union: What merges several values.
    """

    column: str
    function: str
    union: Union

    def __call__(self, values: ArrowArray, segments: Segments) -> ArrowArray:
        rows = np.flatnonzero(valid_mask(values))
        counts = np.bincount(segments.of_row[rows], minlength=segments.count)
        ends = np.cumsum(counts)
        several = np.flatnonzero(counts > 1)
        merged = [
            self._merged(
                python_values(taken(values, rows[ends[index] - counts[index] : ends[index]]))
            )
            for index in several
        ]
        places = np.full(segments.count, -1)
        places[counts == 1] = rows[(ends - counts)[counts == 1]]
        places[several] = len(values) + np.arange(len(merged))
        every = [values, _arrow.array(merged, values.type)]
        return taken(pa.concat_arrays(every), places, places < 0)

    def _merged(self, values: Sequence[bytes]) -> bytes:
        try:
            return self.union(values)
        except (ValueError, IndexError, RuntimeError) as error:
            raise InvalidDataError(
                f"column {self.column!r}: {self.function} cannot merge a value, "
                f"which is no such thing: {error}"
            ) from error
