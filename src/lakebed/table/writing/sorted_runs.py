"""How is a sorted set of numbers kept that grows by batches, without sorting all of it each time?

As a few sorted arrays, each some times as long as the next. A batch makes a short array of its own,
which is merged with the one before as soon as they are of like size: a number is moved only as
often as the set becomes that many times larger, and a search looks into few arrays.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]

_LIKE_SIZE = 4


class SortedRuns:
    """The arrays, longest first."""

    def __init__(self) -> None:
        """Starts empty."""
        self._runs: list[Numbers] = []

    def __iter__(self) -> Iterator[Numbers]:
        """Each array."""
        return iter(self._runs)

    def add(self, numbers: Numbers) -> None:
        """Takes numbers, in any order."""
        if len(numbers) == 0:
            return
        run = np.sort(numbers)
        while self._runs and len(self._runs[-1]) < _LIKE_SIZE * len(run):
            run = np.concatenate([self._runs.pop(), run])
            # Two sorted parts: a stable sort merges them.
            run.sort(kind="stable")
        self._runs.append(run)
