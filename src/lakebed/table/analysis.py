"""How do statistics of a table become part of it?

A file holds them, which a snapshot of the kind ANALYZE names and changes nothing else. Later
snapshots name it too, while the schema stays.
"""

import contextlib
from dataclasses import dataclass

from lakebed.errors import CommitConflictError, StorageError
from lakebed.format.paths import FileNames
from lakebed.format.snapshot import CommitKind, Snapshot
from lakebed.format.table_statistics import TableStatistics
from lakebed.table.committing import commit, may_be_named
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.parts import TableParts
from lakebed.table.writing.changes import Prepared


@dataclass(frozen=True, slots=True)
class _NamedStatistics:
    """A file of statistics that the next snapshot names."""

    name: str

    def prepare(self, latest: Snapshot | None) -> Prepared:
        """No file comes or goes."""
        if latest is None:
            raise CommitConflictError(
                "the snapshot that was analyzed is gone, and the table is empty; nothing was "
                "committed"
            )
        kind = CommitKind.ANALYZE
        return Prepared(entries=(), kind=kind, operation=None, statistics=self.name)


def size_of(parts: TableParts, snapshot: Snapshot) -> int:
    """Bytes of all data files of a snapshot."""
    live = parts.manifests.live(snapshot, partitions=EveryPartition())
    return int(live.column("file_size").to_numpy().sum())


def commit_statistics(parts: TableParts, statistics: TableStatistics) -> Snapshot | None:
    """Writes statistics and commits a snapshot that names them.

    Args:
        parts: The table.
        statistics: What was found out.

    Raises:
        CommitConflictError: Every try to commit lost, or the table has no snapshot any more.
        StorageError: The store failed.
    """
    name = FileNames(parts.session.effects.fresh_uuid).statistics()
    path = parts.paths.statistics(name)
    parts.file_io.write(path, statistics.to_json())
    try:
        return commit(parts, _NamedStatistics(name), ())
    except Exception as error:
        if not may_be_named(error):
            with contextlib.suppress(StorageError):
                parts.file_io.delete(path)
        raise
