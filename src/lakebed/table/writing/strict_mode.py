"""Has anybody else written the same partitions since a snapshot that the user knows to be safe?

With `commit.strict-mode.last-safe-snapshot` a commit gives up where another user compacted or
overwrote a partition that it changes, after that snapshot; an overwrite also where another appended
to a bucket of one.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from lakebed.errors import CommitConflictError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import python_values
from lakebed.format.snapshot import CommitKind, Snapshot
from lakebed.table.metadata.manifests import Manifests
from lakebed.table.metadata.snapshots import Snapshots
from lakebed.table.writing.changes import Prepared

_KEY = "commit.strict-mode.last-safe-snapshot"


@dataclass(frozen=True, slots=True, kw_only=True)
class StrictMode:
    """Watches other users.

    Attributes:
        last_safe: The snapshot up to which nobody is watched.
        snapshots: The table's snapshots.
        manifests: The table's manifests.
    """

    last_safe: int
    snapshots: Snapshots
    manifests: Manifests

    def check(self, prepared: Prepared, latest: Snapshot, *, user: str) -> None:
        """Gives up where somebody else changed what is to be changed.

        Args:
            prepared: What is to be changed.
            latest: The newest snapshot.
            user: Whose commits are no others'.

        Raises:
            CommitConflictError: Somebody did, or a snapshot that would tell has expired.
        """
        mine = self._changed(prepared, latest)
        for snapshot_id in range(max(self.last_safe, 0) + 1, latest.id + 1):
            snapshot = self.snapshots.find(snapshot_id)
            if snapshot is None:
                raise CommitConflictError(
                    f"snapshot {snapshot_id} expired, so nobody can tell whether it changed the "
                    f"same partitions; {_KEY} = {self.last_safe} asks for that. Nothing was "
                    "committed"
                )
            if snapshot.commit_user != user and mine & self._forbidden(snapshot, prepared.kind):
                raise CommitConflictError(
                    f"snapshot {snapshot_id}, {snapshot.commit_kind.value} by user "
                    f"{snapshot.commit_user!r}, changed a partition that this commit of "
                    f"{user!r} changes too, after the last safe snapshot {self.last_safe} "
                    f"({_KEY}). Nothing was committed"
                )

    def _changed(self, prepared: Prepared, latest: Snapshot) -> set[bytes]:
        of_files = {entry.partition for entry in prepared.entries}
        if prepared.index_files is None:
            return of_files
        before = self.manifests.index_columns(latest)
        return of_files | set(_differing(before, prepared.index_files))

    def _forbidden(self, snapshot: Snapshot, kind: CommitKind) -> set[bytes]:
        """The partitions of a snapshot of another user that a commit of a kind may not change."""
        match snapshot.commit_kind:
            case CommitKind.COMPACT | CommitKind.OVERWRITE:
                changed = self.manifests.entries(self.manifests.delta_files(snapshot))
                return {*_partitions(changed), *self._indexed(snapshot)}
            case CommitKind.APPEND if kind is CommitKind.OVERWRITE:
                changed = self.manifests.entries(self.manifests.delta_files(snapshot))
                return _partitions(changed.filter(pc.greater_equal(changed.column("bucket"), 0)))
            case _:
                return set()

    def _indexed(self, snapshot: Snapshot) -> set[bytes]:
        """The partitions whose index files a snapshot may have changed."""
        before = self.snapshots.find(snapshot.id - 1)
        if before is not None and before.index_manifest == snapshot.index_manifest:
            return set()
        return _partitions(self.manifests.index_columns(snapshot))


def _partitions(table: pa.Table) -> set[bytes]:
    return set(python_values(table.column("partition")))


def _differing(before: pa.Table, after: pa.Table) -> Iterator[bytes]:
    """The partitions of the index files that only one of two lists has."""
    for one, other in ((before, after), (after, before)):
        is_there = pc.is_in(one.column("file_name"), value_set=other.column("file_name"))
        yield from _partitions(one.filter(pc.invert(is_there)))
