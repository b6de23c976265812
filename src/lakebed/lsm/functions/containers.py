"""How lists and maps are put together from what is kept of them."""

from typing import Any, cast

import numpy as np
import pyarrow as pa

from lakebed.format.arrow.typing import ArrowArray, taken
from lakebed.lsm.functions.groups import Mask, Positions

_arrow: Any = pa


def containers_of(
    parts: list[ArrowArray], segment: Positions, *, begun: Mask, kind: pa.DataType
) -> ArrowArray:
    """One list or map for each segment.

    Args:
        parts: What the lists hold, or the keys and the values of the maps, segment by segment.
        segment: The segment of each, ascending.
        begun: Segments that have a list or map, be it empty; null in the others.
        kind: Type of the lists or maps.
    """
    counts = np.bincount(segment, minlength=len(begun))
    offsets = pa.array(np.append(0, np.cumsum(counts)).astype(np.int32))
    home = _arrow.MapArray if pa.types.is_map(kind) else _arrow.ListArray
    return cast("ArrowArray", home.from_arrays(offsets, *parts, kind, None, pa.array(~begun)))


def kept_containers(
    parts: list[ArrowArray], kept: Positions, segment: Positions, *, begun: Mask, kind: pa.DataType
) -> ArrowArray:
    """The same of those parts only whose positions are given, in any order."""
    kept = np.sort(kept)
    left = [taken(part, kept) for part in parts]
    return containers_of(left, segment[kept], begun=begun, kind=kind)
