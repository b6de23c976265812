"""Which bucket of a partition does a new key go to, where buckets grow with the keys (format.md 9)?

The simplest example, `dynamic-bucket.target-row-num` of 3, five new keys, one assigner:

    before   bucket 0: 2 keys
    after    bucket 0: 3    bucket 1: 3    bucket 2: 1       the first with room, then new ones

Two complications:

1. *Assigners.* Where several tasks assign keys at once, each has buckets of its own: those that
   leave its number as remainder. `dynamic-bucket.initial-buckets` asks for as many assigners, so a
   partition has so many buckets from the start; a task may play several (`Share`).
2. *A bound.* When `dynamic-bucket.max-buckets` are full, keys go on into all of them, each key by
   its hash.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lakebed.errors import InvalidTableError
from lakebed.format.hash_index import BUCKET_MAX, Hashes
from lakebed.options.table_options import TableOptions

Buckets = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]

_UNBOUNDED = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketGrowth:
    """How the buckets of a partition grow.

    Attributes:
        target_rows: How many keys fill a bucket.
        bucket_limit: How many buckets there may be.
        is_bounded: Whether keys go on into full buckets when there are so many.
        assigners: Into how many classes keys and buckets fall.
    """

    target_rows: int
    bucket_limit: int
    is_bounded: bool
    assigners: int

    @classmethod
    def of(cls, options: TableOptions, *, tasks: int = 1) -> "BucketGrowth":
        """What the options of a table say.

        Args:
            options: Of the table.
            tasks: How many tasks assign keys at once, where the options leave that open.

        Raises:
            InvalidTableError: An option out of its range.
        """
        for key, number in (
            ("dynamic-bucket.target-row-num", options.dynamic_bucket_target_row_num),
            ("dynamic-bucket.initial-buckets", options.dynamic_bucket_initial_buckets),
            ("dynamic-bucket.assigner-parallelism", options.dynamic_bucket_assigner_parallelism),
        ):
            if number is not None and number < 1:
                raise InvalidTableError(f"option {key!r} is {number}; give it at least 1")
        most = options.dynamic_bucket_max_buckets
        if most != _UNBOUNDED and most < 1:
            raise InvalidTableError(
                f"option 'dynamic-bucket.max-buckets' is {most}; give it at least 1, or -1 for no"
                " bound"
            )
        limit = BUCKET_MAX + 1 if most == _UNBOUNDED else min(most, BUCKET_MAX + 1)
        wanted = options.dynamic_bucket_initial_buckets
        parallelism = options.dynamic_bucket_assigner_parallelism
        return cls(
            target_rows=options.dynamic_bucket_target_row_num,
            bucket_limit=limit,
            is_bounded=most != _UNBOUNDED,
            assigners=min(wanted or parallelism or tasks, parallelism or limit, limit),
        )


@dataclass(frozen=True, slots=True)
class Share:
    """The assigners that one of several tasks plays.

    Attributes:
        number: Those that leave this number as remainder.
        tasks: How many tasks there are.
    """

    number: int
    tasks: int

    @classmethod
    def of(cls, owners: Buckets, *, tasks: int) -> "Share":
        """The share of a task that some rows came to.

        Args:
            owners: The assigners of their keys, at least one.
            tasks: How many tasks there are.
        """
        return cls(int(owners[0]) % tasks, tasks)

    def has(self, owners: Buckets) -> npt.NDArray[np.bool_]:
        """Whether each of some assigners is of the share."""
        mine: npt.NDArray[np.bool_] = owners % self.tasks == self.number
        return mine

    def check(self, owners: Buckets) -> None:
        """Looks whether all of some assigners are of the share.

        Raises:
            RuntimeError: They are not: a key that is sent to two tasks may get two buckets.
        """
        if not self.has(owners).all():
            raise RuntimeError(f"the task of {self} was sent keys of another task")


WHOLE = Share(0, 1)
"""All assigners, of a task that is the only one."""


def assigners_of(hashes: Hashes, partition_hash: int, assigners: int) -> Buckets:
    """The assigner of each key, as every engine computes it.

    Args:
        hashes: Hashes of the keys.
        partition_hash: Hash of the partition's row.
        assigners: How many there are.
    """
    first = abs(int(np.fmod(partition_hash, assigners)))
    numbers: Buckets = (first + np.abs(np.fmod(hashes, np.int32(assigners)))) % assigners
    return numbers


class BucketRoom:
    """How many keys each bucket of a partition has; changes as keys are placed."""

    def __init__(self, growth: BucketGrowth, counts: Counts | None = None) -> None:
        """Starts with the buckets that there are.

        Args:
            growth: How buckets grow.
            counts: Keys of each bucket by its number, -1 where there is no such bucket.
        """
        self._growth = growth
        self._counts: Counts = np.empty(0, np.int64) if counts is None else counts

    def place(self, hashes: Hashes, owners: Buckets) -> Buckets:
        """A bucket for each of some new keys.

        Args:
            hashes: Their hashes, in the order of arrival.
            owners: Their assigners.

        Raises:
            InvalidTableError: There would be more buckets than the format knows.
        """
        buckets = np.empty(len(hashes), np.int32)
        for owner in np.unique(owners).tolist():
            mine = np.flatnonzero(owners == owner)
            buckets[mine] = self._place_own(hashes[mine], owner)
        self._count(buckets)
        return buckets

    def leave(self, buckets: Buckets) -> None:
        """Keys left these buckets; each of them was placed here or counted from the start."""
        np.subtract.at(self._counts, buckets, 1)

    def _place_own(self, hashes: Hashes, owner: int) -> Buckets:
        growth, count = self._growth, len(hashes)
        new_at_most = -(-count // growth.target_rows)
        beyond = len(self._counts) + (new_at_most + 1) * growth.assigners
        own = np.arange(owner, min(beyond, growth.bucket_limit), growth.assigners)
        keys = np.full(len(own), -1, np.int64)
        known = own < len(self._counts)
        keys[known] = self._counts[own[known]]
        room = np.clip(growth.target_rows - np.maximum(keys, 0), 0, count)
        order = np.argsort(keys < 0, kind="stable")
        ends = np.minimum(np.cumsum(room[order]), count)
        buckets = np.repeat(own[order], np.diff(ends, prepend=0))
        rest = hashes[len(buckets) :]
        if len(rest) and not growth.is_bounded:
            raise InvalidTableError(
                f"a partition would need more than {growth.bucket_limit} buckets of"
                f" {growth.target_rows} keys; raise the option 'dynamic-bucket.target-row-num'"
            )
        spread = own[(rest.view(np.uint32) // growth.assigners) % max(len(own), 1)]
        return np.concatenate([buckets, spread]).astype(np.int32)

    def _count(self, buckets: Buckets) -> None:
        added = np.bincount(buckets)
        if len(added) > len(self._counts):
            missing = np.full(len(added) - len(self._counts), -1, np.int64)
            self._counts = np.concatenate([self._counts, missing])
        touched = np.flatnonzero(added)
        self._counts[touched] = np.maximum(self._counts[touched], 0) + added[touched]
