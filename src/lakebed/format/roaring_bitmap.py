"""Which rows does a serialized Roaring bitmap name, and where does it end?

The bytes are the portable form of the Roaring specification. A bitmap of 32-bit numbers holds one
container for each 65,536 numbers of which it has some.
"""

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap

from lakebed.errors import CorruptTableError

__all__ = ["bitmap_length", "bitmap_positions"]

Positions = npt.NDArray[np.int64]
Bytes = bytes | memoryview

_COOKIE_WITH_RUNS = 12347
_COOKIE = 12346
_ARRAY_CARDINALITY_MAX = 4096
_BITSET_BYTES = 8192
_RUN_BYTES = 4
# With runs, offsets stand only where there are this many containers.
_OFFSETS_CONTAINERS_MIN = 4


def bitmap_positions(data: Bytes, path: str) -> Positions:
    """The numbers in a bitmap, ascending.

    Args:
        data: Begins with the bitmap; bytes after it are not looked at.
        path: The file, for messages.

    Raises:
        CorruptTableError: The bytes are no bitmap.
    """
    length = bitmap_length(data, path)
    try:
        found = BitMap.deserialize(bytes(data[:length]))
    except ValueError as error:
        raise CorruptTableError(path, f"a Roaring bitmap was expected: {error}") from error
    return np.frombuffer(found.to_array(), dtype=np.uint32).astype(np.int64)


def bitmap_length(data: Bytes, path: str) -> int:
    """How many bytes a bitmap takes, of bytes that begin with it.

    Raises:
        CorruptTableError: The bytes are no bitmap, or end before it does.
    """
    cookie = _numbers(data, np.dtype("<u4"), 0, count=1, path=path)[0]
    if cookie & 0xFFFF == _COOKIE_WITH_RUNS:
        count = int(cookie >> 16) + 1
        flag_bytes = (count + 7) // 8
        flags = _numbers(data, np.dtype("u1"), 4, count=flag_bytes, path=path)
        has_runs = np.unpackbits(flags, bitorder="little")[:count].astype(np.bool_)
        start = 4 + flag_bytes
        has_offsets = count >= _OFFSETS_CONTAINERS_MIN
    elif cookie == _COOKIE:
        count = int(_numbers(data, np.dtype("<u4"), 4, count=1, path=path)[0])
        has_runs = np.zeros(min(count, 1 << 16), dtype=np.bool_)
        start, has_offsets = 8, True
    else:
        raise CorruptTableError(path, f"a Roaring bitmap was expected, not one of kind {cookie}")
    pairs = _numbers(data, np.dtype("<u2"), start, count=2 * count, path=path)
    sizes = _container_bytes(pairs[1::2].astype(np.int64) + 1)
    end = start + 4 * count + (4 * count if has_offsets else 0)
    for has_run, size in zip(has_runs.tolist(), sizes.tolist(), strict=True):
        if has_run:
            runs = int(_numbers(data, np.dtype("<u2"), end, count=1, path=path)[0])
            end += 2 + _RUN_BYTES * runs
        else:
            end += size
    if end > len(data):
        raise CorruptTableError(path, "a Roaring bitmap is cut off")
    return end


def _container_bytes(cardinalities: Positions) -> Positions:
    return np.where(
        cardinalities <= _ARRAY_CARDINALITY_MAX, 2 * cardinalities, _BITSET_BYTES
    ).astype(np.int64)


def _numbers(
    data: Bytes, kind: np.dtype[np.unsignedinteger], start: int, *, count: int, path: str
) -> npt.NDArray[np.unsignedinteger]:
    if start + count * kind.itemsize > len(data):
        raise CorruptTableError(path, "a Roaring bitmap is cut off")
    return np.frombuffer(data, dtype=kind, count=count, offset=start)
