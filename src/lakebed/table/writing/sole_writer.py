"""May rows be committed whose writer had to be alone with the table?

A writer that knows where every key is (`cross_partition`) knows it as of one snapshot. Rows that
others commit after it may be of the same keys, so they make its commit a conflict. Compactions
leave every key where it is.
"""

from dataclasses import dataclass

from lakebed.errors import CommitConflictError
from lakebed.format.snapshot import CommitKind, Snapshot
from lakebed.table.metadata.snapshots import Snapshots


@dataclass(frozen=True, slots=True, kw_only=True)
class SoleWriter:
    """What a writer that had to be alone started from.

    Attributes:
        snapshots: The table's snapshots.
        based_on: The snapshot that it started from; None for an empty table.
    """

    snapshots: Snapshots
    based_on: Snapshot | None

    def check(self, latest: Snapshot | None) -> None:
        """Nobody may have committed rows since.

        Raises:
            CommitConflictError: Somebody did, or the snapshots in between are gone.
        """
        first = self.based_on.id + 1 if self.based_on else 1
        for snapshot_id in range(first, latest.id + 1 if latest else 0):
            snapshot = self.snapshots.find(snapshot_id)
            if snapshot is None or snapshot.commit_kind is not CommitKind.COMPACT:
                raise CommitConflictError(
                    f"snapshot {snapshot_id} was committed by another writer since this one began."
                    " Keys of this table may move between partitions, so it has one writer at a"
                    " time. Nothing was committed; repeat the write"
                )
