"""How partitions expire (`partition.expiration-time`).

A partition expires when the time that its values name lies far enough back, or, by `update-time`,
when its youngest file does. Which ones these are is looked up anew against the snapshot that the
commit builds on, so a partition that another writer changed meanwhile is judged as it is then. They
go as in an overwrite, a batch of them in one snapshot: each commit stands for itself, and a crash
between two leaves partitions for the next time.

Without a process that lives on, `partition.expiration-check-interval` counts from the epoch: the
first commit of rows in each interval looks for partitions to expire.
"""

import logging
from dataclasses import dataclass, field
from datetime import timedelta

from lakebed.errors import InvalidArgumentError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import python_values
from lakebed.format.snapshot import CommitKind, Operation, Snapshot
from lakebed.options.acceptance import check_openable
from lakebed.options.partition_options import PartitionOptions
from lakebed.table.committing import commit, is_unaware
from lakebed.table.metadata.partition_changes import partition_changes
from lakebed.table.metadata.partitions import PartitionsAmong
from lakebed.table.partition_life.times import PartitionTimes, Spec, partition_specs, shown
from lakebed.table.parts import TableParts
from lakebed.table.writing.changes import OverwriteChanges, Prepared

_log = logging.getLogger(__name__)

_MILLISECOND = timedelta(milliseconds=1)
_SHOWN = 5


def expire_partitions(parts: TableParts, options: PartitionOptions) -> list[dict[str, str]]:
    """Deletes the rows of partitions that are past their time.

    Args:
        parts: The table.
        options: What keeps partitions.

    Returns:
        The values of each partition that expired, as text.

    Raises:
        InvalidArgumentError: The table has no partitions, or nothing says how long they are kept.
        CommitConflictError: Every try to commit lost; what expired before is gone.
    """
    if options.expiration_time is None or not parts.schema.partition_keys:
        raise InvalidArgumentError(
            f"{parts.paths.location}: partitions expire where there are partition columns and "
            "'partition.expiration-time' says how long a partition is kept; give both"
        )
    check_openable(parts.schema.options, use="write")
    age = options.expiration_time // _MILLISECOND
    due = _Due(
        parts=parts,
        times=None if options.is_by_update else PartitionTimes.of(parts.schema, options),
        before_ms=parts.session.wall_clock_ms() - age,
    )
    expired: list[Spec] = []
    while len(expired) < options.expires_max:
        limit = min(options.batch_size, options.expires_max - len(expired))
        changes = _Expiry(parts=parts, due=due, limit=limit)
        commit(parts, changes, (), force=False)
        expired += changes.specs
        if len(changes.specs) < limit:
            break
    return [_named(parts, each) for each in expired]


def is_check_due(parts: TableParts, snapshot: Snapshot, interval: timedelta) -> bool:
    """Whether a commit of rows is the first one of its interval.

    Args:
        parts: The table.
        snapshot: What it made.
        interval: The interval; each commit is the first one of none.
    """
    width = interval // _MILLISECOND
    if not width:
        return True
    before = parts.snapshots.find(snapshot.id - 1)
    while before is not None and before.time_millis // width == snapshot.time_millis // width:
        if before.commit_kind is not CommitKind.COMPACT:
            return False
        before = parts.snapshots.find(before.id - 1)
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Due:
    """Which partitions are past their time.

    Attributes:
        parts: The table.
        times: Reads the time that their values name; None where that of their files counts.
        before_ms: Before which time on the wall.
    """

    parts: TableParts
    times: PartitionTimes | None
    before_ms: int

    def among(self, snapshot: Snapshot) -> list[tuple[bytes, Spec]]:
        """Those of a snapshot, in the order of their values."""
        stored = partition_changes(self.parts.manifests, snapshot)
        if self.times is None:
            # A filter drops null: a file of unknown age may be young.
            stored = stored.filter(pc.less(stored["changed"], self.before_ms))
        partitions = stored["partition"].combine_chunks()
        specs = partition_specs(self.parts, partitions)
        found = list(zip(python_values(partitions), specs, strict=True))
        if self.times is not None:
            found = self._by_values(found, self.times)
        return sorted(found, key=lambda each: ",".join(_named(self.parts, each[1]).values()))

    def _by_values(
        self, found: list[tuple[bytes, Spec]], times: PartitionTimes
    ) -> list[tuple[bytes, Spec]]:
        millis = [times.millis(spec) for _, spec in found]
        timeless = [
            shown(spec) for (_, spec), time in zip(found, millis, strict=True) if time is None
        ]
        if timeless:
            _log.warning(
                "%s: %d partitions never expire, for their values name no time: %s",
                self.parts.paths.location,
                len(timeless),
                "; ".join(timeless[:_SHOWN]),
            )
        return [
            each
            for each, time in zip(found, millis, strict=True)
            if time is not None and time < self.before_ms
        ]


@dataclass(slots=True, kw_only=True)
class _Expiry:
    """Deletes partitions that are past their time at the snapshot that is built on.

    Attributes:
        parts: The table.
        due: Which ones.
        limit: How many at most.
        specs: Those that were last found.
    """

    parts: TableParts
    due: _Due
    limit: int
    specs: list[Spec] = field(default_factory=list)

    def prepare(self, latest: Snapshot | None) -> Prepared:
        """DELETE entries of all that is live in them."""
        found = [] if latest is None else self.due.among(latest)[: self.limit]
        self.specs = [spec for _, spec in found]
        changes = OverwriteChanges(
            messages=(),
            manifests=self.parts.manifests,
            operation=Operation.TRUNCATE,
            partitions=PartitionsAmong(frozenset(partition for partition, _ in found)),
            is_unaware=is_unaware(self.parts),
        )
        return changes.prepare(latest)


def _named(parts: TableParts, spec: Spec) -> dict[str, str]:
    default = parts.options.partition_default_name
    return {name: default if value is None else value for name, value in spec.items()}
