"""Which bucket is each key hash of one partition in, and which hashes are new?

A task that is one of several knows the hashes of its share only, and the size of every bucket.

A hash and its bucket are one number, `hash * 2**16 + bucket`, in sorted arrays: 8 bytes a key. A
probe is a binary search of all hashes of a batch at once.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from lakebed.format.hash_index import Hashes
from lakebed.table.writing.bucket_room import (
    WHOLE,
    BucketGrowth,
    BucketRoom,
    Buckets,
    Counts,
    Share,
    assigners_of,
)
from lakebed.table.writing.sorted_runs import SortedRuns

Entries = npt.NDArray[np.int64]

_BUCKET_BITS = 16
_BUCKET_MASK = (1 << _BUCKET_BITS) - 1


class KeyBuckets:
    """The buckets of the key hashes of one partition; grows with the keys that come."""

    def __init__(
        self,
        stored: Iterable[tuple[int, Hashes]],
        growth: BucketGrowth,
        *,
        partition_hash: int,
        share: Share = WHOLE,
    ) -> None:
        """Takes over what is known.

        Args:
            stored: Hashes of each bucket that there is. Where two buckets have one hash, two
                writers were at work, and the first of them counts.
            growth: How buckets grow.
            partition_hash: Hash of the partition's row.
            share: Whose keys will come.
        """
        self._growth = growth
        self._share = share
        self._partition_hash = partition_hash
        counts: dict[int, int] = {}
        parts: list[Entries] = []
        for bucket, hashes in stored:
            counts[bucket] = len(hashes)
            mine = hashes[share.has(self._owners(hashes))] if share.tasks > 1 else hashes
            parts.append(_entries(mine, bucket))
        self._runs = SortedRuns()
        self._runs.add(np.concatenate(parts or [np.empty(0, np.int64)]))
        self._room = BucketRoom(growth, _counts_by_number(counts))
        self._new: list[Entries] = []

    def assign(self, hashes: Hashes) -> Buckets:
        """The bucket of each key; new keys get one in the order of their arrival.

        Raises:
            InvalidTableError: There would be more buckets than the format knows.
            RuntimeError: A key is of another share, where it may have another bucket.
        """
        distinct, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
        buckets = self._find(distinct)
        unknown = np.flatnonzero(buckets < 0)
        if len(unknown):
            unknown = unknown[np.argsort(first[unknown])]
            new = distinct[unknown]
            owners = self._owners(new)
            self._share.check(owners)
            buckets[unknown] = placed = self._room.place(new, owners)
            entries = _entries(new, placed)
            self._new.append(entries)
            self._runs.add(entries)
        assigned: Buckets = buckets[inverse]
        return assigned

    def added(self) -> Iterator[tuple[int, Hashes]]:
        """Each bucket that took new hashes, with these."""
        if not self._new:
            return
        entries = np.concatenate(self._new)
        buckets = entries & _BUCKET_MASK
        order = np.argsort(buckets, kind="stable")
        hashes = (entries >> _BUCKET_BITS).astype(np.int32)[order]
        numbers, starts = np.unique(buckets[order], return_index=True)
        yield from zip(numbers.tolist(), np.split(hashes, starts[1:]), strict=True)

    def _owners(self, hashes: Hashes) -> Buckets:
        return assigners_of(hashes, self._partition_hash, self._growth.assigners)

    def _find(self, distinct: Hashes) -> Buckets:
        """The bucket of each hash, ascending; -1 where it is not known."""
        wanted = distinct.astype(np.int64)
        buckets = np.full(len(distinct), -1, np.int32)
        for run in self._runs:
            places = np.searchsorted(run, wanted << _BUCKET_BITS)
            entries = run[np.minimum(places, len(run) - 1)]
            found = entries >> _BUCKET_BITS == wanted
            buckets[found] = entries[found] & _BUCKET_MASK
        return buckets


def _entries(hashes: Hashes, buckets: Buckets | int) -> Entries:
    entries: Entries = hashes.astype(np.int64) << _BUCKET_BITS | buckets
    return entries


def _counts_by_number(counts: dict[int, int]) -> Counts:
    by_number = np.full(max(counts, default=-1) + 1, -1, np.int64)
    by_number[list(counts)] = list(counts.values())
    return by_number
