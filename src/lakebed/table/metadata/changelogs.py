"""Which changelogs of a table outlive their snapshots (format.md 3).

Where changelogs are kept for longer than snapshots, a snapshot that expires leaves its file here.
Of the lists that such a file names only the changelog's still exists.
"""

from dataclasses import dataclass

from lakebed.errors import CorruptTableError, NotFoundError
from lakebed.format.paths import TablePaths, changelog_id_of
from lakebed.format.snapshot import Snapshot
from lakebed.storage.file_io import FileIO


@dataclass(frozen=True, slots=True)
class Changelogs:
    """The changelogs of one table or branch that outlive their snapshots."""

    file_io: FileIO
    paths: TablePaths

    def find(self, snapshot_id: int) -> Snapshot | None:
        """What was the snapshot; None when no changelog of it is kept.

        Raises:
            CorruptTableError: Its file cannot be read.
        """
        path = self.paths.changelog(snapshot_id)
        try:
            data = self.file_io.read(path)
        except NotFoundError:
            return None
        changelog = Snapshot.from_json(data, path)
        if changelog.id != snapshot_id:
            raise CorruptTableError(path, f"holds the changelog of snapshot {changelog.id}")
        return changelog

    def list_ids(self) -> list[int]:
        """Ids of the snapshots whose changelogs are kept, ascending."""
        found = (
            changelog_id_of(status.name)
            for status in self.file_io.list(self.paths.changelog_directory)
        )
        return sorted(snapshot_id for snapshot_id in found if snapshot_id is not None)
