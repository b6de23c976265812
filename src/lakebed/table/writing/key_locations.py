"""Where is each key of a table whose keys may move between partitions? Exact, in columns.

A key is the BinaryRow of the whole primary key. Its words lie one key after the other; where they
start, the key's partition and its bucket are columns beside them. To find keys, `hash * 2**32 +
number of the key` is kept sorted: a binary search gives the keys of that hash, and their words are
compared, so two keys of one hash are two keys.

Memory: 24 bytes a key, and its BinaryRow: 16 bytes for a BIGINT.
"""

import numpy as np
import numpy.typing as npt

from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.binary_row.layout import WORD_BYTES, byte_positions, numbers_in
from lakebed.format.bucket import hash_rows
from lakebed.table.writing.bucket_room import Buckets
from lakebed.table.writing.sorted_runs import SortedRuns

Numbers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

NOWHERE = -1

_NUMBER_BITS = 32
_NUMBER_MASK = (1 << _NUMBER_BITS) - 1
_GROWTH = 1.25


class KeyLocations:
    """The partition and bucket of every key; a key has a number from the moment it is added."""

    def __init__(self) -> None:
        """Starts without keys."""
        self._runs = SortedRuns()
        self._words = _Column(np.uint64)
        self._starts = _Column(np.int64)
        self._sizes = _Column(np.int32)
        self._partitions = _Column(np.int32)
        self._buckets = _Column(np.int32)

    def find(self, keys: ArrowArray) -> Numbers:
        """The number of each key; `NOWHERE` of those that are not known.

        Args:
            keys: BinaryRows without their arity.
        """
        wanted = _Keys(keys)
        hashes = hash_rows(keys).astype(np.int64)
        numbers = np.full(len(hashes), NOWHERE, np.int64)
        by_hash = np.argsort(hashes)  # neighbours are searched for in the same memory
        for run in self._runs:
            left = by_hash[numbers[by_hash] == NOWHERE]
            places = np.searchsorted(run, hashes[left] << _NUMBER_BITS)
            while len(left):
                entries = run[np.minimum(places, len(run) - 1)]
                alike = (entries >> _NUMBER_BITS == hashes[left]) & (places < len(run))
                left, places, entries = left[alike], places[alike], entries[alike]
                same = self._are_equal(wanted, left, entries & _NUMBER_MASK)
                numbers[left[same]] = entries[same] & _NUMBER_MASK
                left, places = left[~same], places[~same] + 1
        return numbers

    def add(self, keys: ArrowArray, partitions: Numbers, buckets: Buckets) -> None:
        """Takes keys that are not known, each once, and where they are."""
        added = _Keys(keys)
        first = len(self._starts.values)
        self._starts.append(added.starts + len(self._words.values))
        self._words.append(added.words)
        self._sizes.append(added.sizes)
        self._partitions.append(partitions)
        self._buckets.append(buckets)
        numbers = np.arange(first, first + len(partitions))
        self._runs.add(hash_rows(keys).astype(np.int64) << _NUMBER_BITS | numbers)

    def move(self, numbers: Numbers, partitions: Numbers, buckets: Buckets) -> None:
        """Says that some keys are elsewhere now."""
        self._partitions.values[numbers] = partitions
        self._buckets.values[numbers] = buckets

    def places(self, numbers: Numbers) -> tuple[Numbers, Buckets]:
        """Partition and bucket of some keys by their numbers; `NOWHERE` where that is `NOWHERE`."""
        known = numbers != NOWHERE
        partitions = np.full(len(numbers), NOWHERE, np.int64)
        buckets = np.full(len(numbers), NOWHERE, np.int32)
        partitions[known] = self._partitions.values[numbers[known]]
        buckets[known] = self._buckets.values[numbers[known]]
        return partitions, buckets

    def counts(self) -> tuple[Numbers, Buckets, Numbers]:
        """Every place: its partition, its bucket, and how many keys it has."""
        pairs = self._partitions.values.astype(np.int64) << _NUMBER_BITS | self._buckets.values
        distinct, counts = np.unique(pairs, return_counts=True)
        buckets = (distinct & _NUMBER_MASK).astype(np.int32)
        return distinct >> _NUMBER_BITS, buckets, counts.astype(np.int64)

    def _are_equal(self, wanted: "_Keys", rows: Numbers, numbers: Numbers) -> Mask:
        sizes = wanted.sizes[rows]
        equal: Mask = sizes == self._sizes.values[numbers]
        ours, theirs = self._starts.values[numbers], wanted.starts[rows]
        for index in range(int(sizes.max(initial=0))):
            left = np.flatnonzero(equal & (sizes > index))
            mine = self._words.values[ours[left] + index]
            equal[left] = mine == wanted.words[theirs[left] + index]
        return equal


class _Keys:
    """The words of some keys, where each key's start, and how many it has."""

    def __init__(self, keys: ArrowArray) -> None:
        offsets, data = byte_positions(keys)
        bounds = offsets // WORD_BYTES
        self.starts: Numbers = bounds[:-1]
        self.sizes = np.diff(bounds).astype(np.int32)
        self.words: npt.NDArray[np.uint64] = numbers_in(data, np.uint64)


class _Column:
    """Numbers that grow at their end."""

    def __init__(self, kind: npt.DTypeLike) -> None:
        self._held = np.empty(0, kind)
        self.values = self._held

    def append(self, numbers: npt.NDArray[np.generic]) -> None:
        size = len(self.values)
        end = size + len(numbers)
        if end > len(self._held):
            grown = np.empty(max(end, int(len(self._held) * _GROWTH)), self._held.dtype)
            grown[:size] = self.values
            self._held = grown
        self._held[size:end] = numbers
        self.values = self._held[:end]
