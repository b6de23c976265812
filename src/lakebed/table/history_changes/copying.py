"""How is a file put that must hold just some bytes, and a snapshot that others name too?"""

import logging
from collections.abc import Iterable

from lakebed.errors import LakebedError, NotFoundError, StorageError
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_lineage import runs_of
from lakebed.storage.file_io import FileIO, PutResult
from lakebed.table.expiry.holders import tagged_snapshots
from lakebed.table.expiry.release import Runs, release
from lakebed.table.metadata.changelogs import Changelogs
from lakebed.table.metadata.expired_copies import ExpiredCopies
from lakebed.table.parts import TableParts

_log = logging.getLogger(__name__)


def put_same(file_io: FileIO, path: str, data: bytes) -> bool:
    """Puts a file, and says whether it holds these bytes then; others were there if not.

    Raises:
        StorageError: The store failed, or did not say what it did.
    """
    result = file_io.put_if_absent(path, data)
    if result is PutResult.WRITTEN:
        return True
    try:
        return file_io.read(path) == data
    except NotFoundError:
        if result is PutResult.PRESENT:
            return False
    raise StorageError(path, "the store did not say whether it was written", retryable=True)


def snapshot_bytes(parts: TableParts, snapshot: Snapshot) -> bytes:
    """The file of a snapshot, with members that only other engines know; made anew if it is gone.

    Args:
        parts: The branch where it is, or was before it expired.
        snapshot: The snapshot.
    """
    path = parts.paths.snapshot(snapshot.id)
    try:
        data = parts.file_io.read(path)
    except NotFoundError:
        return snapshot.to_json()
    return data if Snapshot.from_json(data, path) == snapshot else snapshot.to_json()


def branch_runs(parts: TableParts) -> list[list[Snapshot]]:
    """Everything in a branch that names files, as `release` takes it.

    Raises:
        CorruptTableError: Something of it cannot be read.
        UnsupportedError: It is of a newer version.
    """
    file_io, paths = parts.file_io, parts.paths
    snapshots = present(map(parts.snapshots.find, parts.snapshots.list_ids()))
    tags = [each for each in tagged_snapshots(file_io, paths) if each not in snapshots]
    changelogs, copies = Changelogs(file_io, paths), ExpiredCopies(file_io, paths)
    return [
        *runs_of(snapshots),
        *([tag] for tag in tags),
        *runs_of(present(map(changelogs.find, changelogs.list_ids()))),
        *runs_of(present(map(copies.find, copies.list_ids()))),
    ]


def present(found: Iterable[Snapshot | None]) -> list[Snapshot]:
    """Those that nobody deleted since they were listed."""
    return [each for each in found if each is not None]


def release_after(parts: TableParts, runs: Runs, *, done: str) -> None:
    """Deletes the files that snapshots leave after a change that stands, whatever happens here.

    Args:
        parts: The table.
        runs: The snapshots that nobody can find any more.
        done: What was done, for the log.
    """
    try:
        release(parts, runs, with_changelogs=True)
    except LakebedError as error:
        _log.warning(
            "%s: %s, but files that nobody needs any more are left for orphan cleaning: %s",
            parts.paths.location,
            done,
            error,
        )
