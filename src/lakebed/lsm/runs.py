"""Which files of a bucket must be merged together: sections and sorted runs.

Two files whose key ranges overlap may hold the same key. A *section* is a maximal set of files
linked by such overlaps, so sections can be read independently of each other; within a section,
files that do not overlap share a *sorted run*, so that a section has as few runs as possible.

    keys   1 . . . . . . . . 20
    f1     |-----|                     section 1: runs [f1, f3], [f2]
    f2        |-------|
    f3                |--|             (f2 links it to f1, after which it fits in one run)
    f4                      |---|      section 2: run [f4]

Pure: keys come in as ranks, integers in key order, so this module knows neither types nor bytes.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Section:
    """Files (by index) whose key ranges are linked by overlaps, as sorted runs.

    Attributes:
        runs: Each run's files in key order; the order of the runs means nothing.
    """

    runs: tuple[tuple[int, ...], ...]

    @property
    def files(self) -> list[int]:
        """Every file of the section, ascending."""
        return sorted(file for run in self.runs for file in run)


def sections(min_ranks: Sequence[int], max_ranks: Sequence[int]) -> list[Section]:
    """Cuts the files of a bucket into sections, in key order.

    Args:
        min_ranks: Rank of each file's smallest key.
        max_ranks: Rank of each file's greatest key, on the same scale.
    """
    if len(min_ranks) == 0:
        return []
    lows, highs = np.asarray(min_ranks), np.asarray(max_ranks)
    order = np.lexsort((highs, lows))
    cuts = np.flatnonzero(section_starts(lows[order], highs[order]))[1:]
    found = []
    for part in np.split(order, cuts):
        files = part.tolist()
        runs = sorted_runs([min_ranks[file] for file in files], [max_ranks[file] for file in files])
        found.append(Section(tuple(tuple(files[place] for place in run) for run in runs)))
    return found


def section_starts(
    min_ranks: npt.NDArray[np.generic], max_ranks: npt.NDArray[np.generic]
) -> npt.NDArray[np.bool_]:
    """Which of many files begin a section.

    Args:
        min_ranks: Rank of each file's smallest key, ascending. The ranks may be of many buckets,
            when those of a bucket are all above those of the one before.
        max_ranks: Rank of each file's greatest key, on the same scale.
    """
    starts = np.ones(len(min_ranks), np.bool_)
    bounds = np.maximum.accumulate(max_ranks)
    starts[1:] = min_ranks[1:] > bounds[:-1]
    return starts


def sorted_runs(min_ranks: Sequence[int], max_ranks: Sequence[int]) -> list[list[int]]:
    """As few runs as the files of one section can share, each a list of files in key order.

    Greedy colouring: a file joins the run that ends first, if that ends before the file.

    Args:
        min_ranks: Rank of each file's smallest key, ascending.
        max_ranks: Rank of each file's greatest key.
    """
    runs: list[list[int]] = []
    ends: list[tuple[int, int]] = []
    for file, (low, high) in enumerate(zip(min_ranks, max_ranks, strict=True)):
        if ends and ends[0][0] < low:
            _, run = heapq.heappop(ends)
            runs[run].append(file)
        else:
            run = len(runs)
            runs.append([file])
        heapq.heappush(ends, (high, run))
    return runs
