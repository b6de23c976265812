"""Which snapshots of a table expired without that their files were deleted yet?

An expiry puts a copy beside a snapshot before it deletes it, and deletes the copy at its end.
"""

from dataclasses import dataclass

from lakebed.errors import NotFoundError
from lakebed.format.paths import TablePaths, expired_id_of
from lakebed.format.snapshot import Snapshot
from lakebed.storage.file_io import FileIO


@dataclass(frozen=True, slots=True)
class ExpiredCopies:
    """The copies of expired snapshots of one table or branch."""

    file_io: FileIO
    paths: TablePaths

    def find(self, snapshot_id: int) -> Snapshot | None:
        """What was the snapshot; None when there is no copy of it.

        Raises:
            CorruptTableError: The copy cannot be read.
        """
        path = self.paths.expired_snapshot(snapshot_id)
        try:
            return Snapshot.from_json(self.file_io.read(path), path)
        except NotFoundError:
            return None

    def list_ids(self) -> list[int]:
        """Ids of the snapshots of which there are copies, ascending."""
        found = (
            expired_id_of(status.name)
            for status in self.file_io.list(self.paths.snapshot_directory)
        )
        return sorted(snapshot_id for snapshot_id in found if snapshot_id is not None)
