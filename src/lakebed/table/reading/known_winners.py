"""Which rows of a section are known to win, so that it is not merged each time it is read?

Files never change, and their names are never given twice. So of the same files, merged by the same
rules, the same rows survive each time. A process that reads often, as Spark's Python workers do,
keeps which they are as bits, an eighth of a byte a row, and then reads no more than the columns
that are wanted of the rows that are left.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence

import numpy as np
import numpy.typing as npt

from lakebed.lsm.section_plan import Mask

BYTES_MAX = 64 << 20
"""What a process keeps: the bits of 500 M rows."""
# What a file costs besides, its names and numbers in the key.
_FILE_BYTES = 1 << 10

_Packed = list[tuple[npt.NDArray[np.uint8], int]]


class KnownWinners:
    """Masks of sections, by what determines them; safe between threads."""

    def __init__(self, *, bytes_max: int = BYTES_MAX) -> None:
        """Starts with none.

        Args:
            bytes_max: How much is kept; what was not used for longest goes first.
        """
        self._bytes_max = bytes_max
        self._lock = threading.Lock()
        self._held: OrderedDict[Hashable, _Packed] = OrderedDict()
        self._bytes = 0

    def masks(self, key: Hashable, find: Callable[[], Sequence[Mask]]) -> list[Mask]:
        """One mask a file: those that are kept under a key, or else those that are found.

        Args:
            key: All that determines the masks.
            find: Merges the section.
        """
        with self._lock:
            held = self._held.get(key)
            if held is not None:
                self._held.move_to_end(key)
        if held is not None:
            return [np.unpackbits(bits, count=count).astype(np.bool_) for bits, count in held]
        found = list(find())
        self._keep(key, [(np.packbits(mask), len(mask)) for mask in found])
        return found

    def _keep(self, key: Hashable, masks: _Packed) -> None:
        size = _size(masks)
        if size > self._bytes_max:
            return
        with self._lock:
            self._bytes += size - _size(self._held.pop(key, []))
            self._held[key] = masks
            while self._bytes > self._bytes_max:
                self._bytes -= _size(self._held.popitem(last=False)[1])


def _size(masks: _Packed) -> int:
    return sum(bits.nbytes + _FILE_BYTES for bits, _ in masks)


OF_PROCESS = KnownWinners()
"""What this process keeps."""
