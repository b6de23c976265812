"""What is done with snapshots and changelogs that expire, step by step (format.md 16).

1. `.lakebed-expired-N`        put beside the snapshots: a copy of each snapshot or changelog that
                               expires; then it is looked whether the table is rolled back now, and
                               if so nothing expires
2. `changelog-N`               written for each snapshot whose changelog stays, then its `LATEST`
3. `snapshot-N`                deleted, the oldest first: *from here on nobody finds them*
4. `EARLIEST`                  the first snapshot kept
5. `changelog-N`               of those that expire deleted, the oldest first, then its `EARLIEST`
6. tags and branches           read again: one may have been made of a snapshot in the meantime
7. data and index files        deleted, then manifests, then manifest lists
8. `.lakebed-expired-N`        deleted, the oldest first

What can be found is whole: its files go after it. A crash from 3 on leaves copies, from which the
next expiry finds what is left to delete; until then the files do no harm. A changelog beside its
snapshot does no harm either: who finds the snapshot reads that.
"""

from collections.abc import Sequence

from lakebed.errors import CommitConflictError, NotFoundError, StorageError
from lakebed.format.paths import rollback_id_of, rollback_tag
from lakebed.format.snapshot import Snapshot
from lakebed.storage.file_io import PutResult
from lakebed.table.expiry.cleaning import Cleaning, delete_files
from lakebed.table.expiry.data_files import Expired
from lakebed.table.expiry.holders import Holders
from lakebed.table.expiry.metadata_files import MetadataReader
from lakebed.table.metadata.changelogs import Changelogs
from lakebed.table.metadata.expired_copies import ExpiredCopies
from lakebed.table.metadata.history_marker import HistoryMarker
from lakebed.table.metadata.tags import Tags
from lakebed.table.parts import TableParts


def carry_out(reader: MetadataReader, expired: Expired) -> None:
    """Deletes what expires, and the files that only this needs.

    Raises:
        CommitConflictError: The table is rolled back at the same time; nothing was deleted.
        CorruptTableError: Something that may keep files cannot be read; nothing was deleted.
        NotFoundError: Somebody else deletes snapshots; what is left, the next expiry finds.
        StorageError: The store failed; what is left, the next expiry finds.
    """
    parts = reader.parts
    holders, cleaning = _planned(reader, expired)
    expiring = (*expired.changelogs, *expired.expiring)
    written = [each for each in expiring if _write_copy(parts, each)]
    _check_not_rolled_back(parts, expired.end, written)
    leaving = [each for each in expired.expiring if each.id in expired.outliving.ids]
    _write_changelogs(parts, leaving)
    for snapshot in expired.expiring:
        parts.file_io.delete(parts.paths.snapshot(snapshot.id))
    if expired.all:
        write_earliest(parts, expired.end.id)
    if expired.changelogs:
        _delete_changelogs(parts, expired.changelogs)
    now = Holders.found(parts)
    if now != holders:
        cleaning = Cleaning.of(reader, expired, now)
    delete_files(reader, cleaning)
    for snapshot in (*expired.changelogs, *expired.all):
        parts.file_io.delete(parts.paths.expired_snapshot(snapshot.id))


def _planned(reader: MetadataReader, expired: Expired) -> tuple[Holders, Cleaning]:
    """Whoever needs files now, and what goes therefore.

    A tag may name what is gone with its files: whoever makes one of a snapshot that expires, or
    rolls back to it, sees that after the tag is there, and takes it back.
    """
    parts = reader.parts
    while True:
        holders = Holders.found(parts)
        try:
            return holders, Cleaning.of(reader, expired, holders)
        except NotFoundError as error:
            _check_not_rolled_back(parts, expired.end, [])
            if Holders.found(parts) == holders:
                hint = (
                    "A snapshot, tag or branch names it, and nothing expired. Where a tag is made "
                    "at this moment, try again; else table.check() tells what names it"
                )
                raise NotFoundError(error.kind, error.name, hint=hint) from error


def write_earliest(parts: TableParts, snapshot_id: int) -> None:
    """Writes which snapshot is the oldest."""
    parts.file_io.write(parts.paths.earliest_hint, str(snapshot_id).encode())


def _write_copy(parts: TableParts, snapshot: Snapshot) -> bool:
    """Writes the copy of a snapshot; False where it was there."""
    path = parts.paths.expired_snapshot(snapshot.id)
    written = parts.file_io.put_if_absent(path, snapshot.to_json())
    copies = ExpiredCopies(parts.file_io, parts.paths)
    if written is not PutResult.WRITTEN and copies.find(snapshot.id) != snapshot:
        raise StorageError(path, f"holds no copy of snapshot {snapshot.id} after it was written")
    return written is PutResult.WRITTEN


def _check_not_rolled_back(parts: TableParts, end: Snapshot, written: Sequence[Snapshot]) -> None:
    """Refuses what a rollback needs: it makes a tag, and then looks for copies.

    So of an expiry and a rollback that meet, one sees the other. Copies of another expiry stay.
    """
    tags = Tags(parts.file_io, parts.paths).list_names()
    targets = [each for each in map(rollback_id_of, tags) if each is not None]
    marker = HistoryMarker(parts.file_io, parts.paths)
    operation = marker.find()
    # The tag of a rollback lets expire what is older; where it is gone, the history is replaced.
    is_replaced = operation is not None and not targets
    target = min(targets, default=end.id)
    if target >= end.id and not is_replaced and parts.snapshots.find(end.id) == end:
        return
    for snapshot in written:
        parts.file_io.delete(parts.paths.expired_snapshot(snapshot.id))
    remedy = f"Where a rollback died, delete its tag {rollback_tag(target)!r}"
    raise CommitConflictError(
        f"{parts.paths.location}: the table is rolled back at the same time, and nothing expired. "
        f"{remedy if operation is None else marker.told(operation)}"
    )


def _write_changelogs(parts: TableParts, snapshots: Sequence[Snapshot]) -> None:
    for snapshot in snapshots:
        # One may be there of a snapshot that a rollback deleted.
        parts.file_io.write(parts.paths.changelog(snapshot.id), snapshot.to_json())
    if snapshots:
        newest = str(snapshots[-1].id).encode()
        parts.file_io.write(parts.paths.latest_changelog_hint, newest)


def _delete_changelogs(parts: TableParts, changelogs: Sequence[Snapshot]) -> None:
    paths = parts.paths
    for changelog in changelogs:
        parts.file_io.delete(paths.changelog(changelog.id))
    left = Changelogs(parts.file_io, paths).list_ids()
    if left:
        parts.file_io.write(paths.earliest_changelog_hint, str(left[0]).encode())
    else:
        parts.file_io.delete(paths.earliest_changelog_hint)
        parts.file_io.delete(paths.latest_changelog_hint)
