"""Does a snapshot that was put stand where it is?

A writer that paused after it read snapshot N-1 may find the place of `snapshot-N` free though N was
there: others committed N and more, and N expired. Or a rollback took N-1 away. What it puts then
follows nothing, and must go before anybody builds on it. After the put it can be told, for an
expiry deletes the oldest snapshots first and a rollback the newest:

    base N-1     below N-1    N+1        above    the snapshot
    as read                                       stands
    another                                       follows nothing: rolled back, and written on
    gone         some                             follows nothing: rolled back
    gone         none         none       none     stands: the base expired
    gone         none         none       some     follows nothing: N expired
    gone         none         there               stands where N+1 was built upon it, as N+1 says
                                                  where Lakebed wrote it, and else its files

Until its writer looks, others find such a snapshot, and must not build upon it
(`format.snapshot_lineage`).
"""

from dataclasses import dataclass

import pyarrow as pa

from lakebed.errors import NotFoundError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import python_values
from lakebed.format.data_file_meta import FileKind
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_lineage import is_after
from lakebed.table.metadata.live_files import LiveScan
from lakebed.table.metadata.manifests import Manifests
from lakebed.table.metadata.snapshots import Snapshots

_FILE = ("file_name", "level")


@dataclass(frozen=True, slots=True)
class Standing:
    """Looks at a table after a snapshot was put."""

    snapshots: Snapshots
    manifests: Manifests

    def is_adrift(self, snapshot: Snapshot) -> bool:
        """Whether a snapshot says that it follows one that is not the one before it.

        Args:
            snapshot: Of any writer; the newest one.

        Raises:
            StorageError: The store failed.
        """
        if is_after(snapshot, snapshot) is None:
            return False
        base = self.snapshots.find(snapshot.id - 1)
        if base is not None:
            return not is_after(snapshot, base)
        return any(each < snapshot.id for each in self.snapshots.list_ids())

    def stands(self, snapshot: Snapshot, base: Snapshot | None) -> bool:
        """Whether a snapshot that is there follows what it builds on.

        Args:
            snapshot: The one that was put.
            base: The newest one when it was prepared; None for an empty table.

        Raises:
            NotFoundError: What it takes to tell expires right now.
            StorageError: The store failed.
        """
        if base is not None:
            present = self.snapshots.find(base.id)
            if present is not None:
                return present == base
        ids = self.snapshots.list_ids()
        if snapshot.id not in ids:
            raise NotFoundError("snapshot", str(snapshot.id))
        if any(each < snapshot.id for each in ids):
            return False
        if snapshot.id + 1 in ids:
            return self._is_built_upon(snapshot)
        return all(each <= snapshot.id for each in ids)

    def _is_built_upon(self, snapshot: Snapshot) -> bool:
        """Whether the next snapshot starts from the files that this one leaves."""
        following = self.snapshots.load(snapshot.id + 1)
        says_so = is_after(following, snapshot)
        if says_so is not None:
            return says_so
        delta = self.manifests.delta_files(snapshot)
        before = self.manifests.base_files(following)
        if {meta.file_name for meta in delta} & {meta.file_name for meta in before}:
            return True
        live, _ = self.manifests.live_files(before, LiveScan(columns=frozenset(_FILE)))
        left = _files(live)
        entries = self.manifests.entries(delta)
        is_add = pc.equal(entries.column("kind"), int(FileKind.ADD))
        added = _files(entries.filter(is_add))
        return added <= left and not (_files(entries) - added) & left


def _files(entries: pa.Table) -> set[tuple[object, ...]]:
    """Files by name and level: a compaction may give one another level and no other name."""
    return set(zip(*(python_values(entries.column(each)) for each in _FILE), strict=True))
