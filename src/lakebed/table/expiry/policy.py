"""Which snapshots and changelogs expire (format.md 16)?

    earliest                                             latest
       1    2    3    4    5    6    7    8    9    10    11
       |-------- expire -------|    |- retain_min of them -|
                               ^ the first one kept

The oldest expire, up to the first that something keeps. Beyond `retain_max` age does not count;
otherwise a snapshot goes only when the one after it is older than `older_than_ms`: until then it
was what readers saw. A consumer keeps what it has yet to read.

Of changelogs that outlive their snapshots the oldest expire, up to the first that is young enough.
How many are kept counts from the newest snapshot. The newest changelog stays.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from lakebed.errors import InvalidArgumentError
from lakebed.options.expiry_options import ExpiryOptions

_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """What keeps snapshots, by the names of the procedure.

    Attributes:
        retain_max: The most snapshots that are kept, however young.
        retain_min: The fewest that are kept, however old.
        older_than_ms: Epoch milliseconds from which on a snapshot keeps the one before it.
        max_deletes: How many expire at a time.
    """

    retain_max: int
    retain_min: int
    older_than_ms: int
    max_deletes: int

    def __post_init__(self) -> None:
        """Refuses what would leave no snapshot, or cannot be."""
        if self.retain_min < 1:
            raise InvalidArgumentError(
                f"retain_min is {self.retain_min}; the newest snapshot is always kept, so it is 1 "
                "or more"
            )
        if self.retain_max < self.retain_min:
            raise InvalidArgumentError(
                f"retain_max is {self.retain_max}, less than retain_min, which is "
                f"{self.retain_min}; give both"
            )
        if self.max_deletes < 0:
            raise InvalidArgumentError(f"max_deletes is {self.max_deletes}; it cannot be below 0")

    @classmethod
    def of(
        cls,
        options: ExpiryOptions,
        now_ms: int,
        *,
        retain_max: int | None = None,
        retain_min: int | None = None,
        older_than_ms: int | None = None,
        max_deletes: int | None = None,
    ) -> "Retention":
        """What a call asks for, and for the rest what the table says.

        Args:
            options: The table's.
            now_ms: The time, from which `snapshot.time-retained` counts.
            retain_max: See above; as are the others.
            retain_min: See above.
            older_than_ms: See above.
            max_deletes: See above.

        Raises:
            InvalidArgumentError: A number that cannot be.
        """
        since = now_ms - options.time_retained // _MILLISECOND
        return cls(
            retain_max=options.retain_max if retain_max is None else retain_max,
            retain_min=options.retain_min if retain_min is None else retain_min,
            older_than_ms=since if older_than_ms is None else older_than_ms,
            max_deletes=options.limit if max_deletes is None else max_deletes,
        )

    @classmethod
    def of_changelogs(
        cls,
        options: ExpiryOptions,
        now_ms: int,
        *,
        retain_max: int | None = None,
        retain_min: int | None = None,
        older_than_ms: int | None = None,
        max_deletes: int | None = None,
    ) -> "Retention":
        """The same for changelogs that outlive their snapshots."""
        of_changelogs = replace(
            options,
            retain_max=options.changelog_retain_max,
            retain_min=options.changelog_retain_min,
            time_retained=options.changelog_time_retained,
        )
        return cls.of(
            of_changelogs,
            now_ms,
            retain_max=retain_max,
            retain_min=retain_min,
            older_than_ms=older_than_ms,
            max_deletes=max_deletes,
        )


def expiring_count(
    ids: Sequence[int],
    retention: Retention,
    *,
    next_read: int | None,
    time_of: Callable[[int], int],
) -> int:
    """How many of the oldest snapshots expire.

    Args:
        ids: Every snapshot, ascending.
        retention: What keeps them.
        next_read: The first snapshot that some consumer has yet to read; None without consumers.
        time_of: Commit time of a snapshot in epoch milliseconds; asked for few of them.
    """
    most = min(len(ids) - retention.retain_min, retention.max_deletes)
    if next_read is not None:
        most = min(most, bisect_left(ids, next_read))
    for count in range(max(len(ids) - retention.retain_max, 0), most):
        if time_of(ids[count + 1]) >= retention.older_than_ms:
            return count
    return max(most, 0)


def expiring_changelog_count(
    ids: Sequence[int],
    retention: Retention,
    *,
    latest_id: int,
    next_read: int | None,
    time_of: Callable[[int], int],
) -> int:
    """How many of the oldest changelogs expire.

    Args:
        ids: Of the snapshots whose changelogs outlive them, ascending; never empty.
        retention: What keeps them.
        latest_id: The newest snapshot.
        next_read: The first snapshot that some consumer has yet to read; None without consumers.
        time_of: Commit time of a changelog in epoch milliseconds; asked for few of them.
    """
    end = min(latest_id - retention.retain_min + 1, ids[0] + retention.max_deletes, ids[-1])
    if next_read is not None:
        end = min(end, next_read)
    for each in ids[bisect_left(ids, latest_id - retention.retain_max + 1) : bisect_left(ids, end)]:
        if time_of(each) >= retention.older_than_ms:
            return bisect_left(ids, each)
    return bisect_left(ids, end)
