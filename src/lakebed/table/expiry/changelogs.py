"""How changelogs expire that are kept for longer than their snapshots.

A changelog goes as a snapshot does (`carrying_out`), with its changelog files; where there is no
producer, with the data files that it names as deleted.
"""

from lakebed.options.choices import ChangelogProducer
from lakebed.table.expiry.carrying_out import carry_out
from lakebed.table.expiry.data_files import Expired, Outliving
from lakebed.table.expiry.metadata_files import MetadataReader
from lakebed.table.expiry.overwrites import overwrites_among
from lakebed.table.expiry.policy import Retention, expiring_changelog_count
from lakebed.table.metadata.changelogs import Changelogs
from lakebed.table.metadata.consumers import Consumers
from lakebed.table.parts import TableParts
from lakebed.table.spreading import threads


def expire_changelogs(parts: TableParts, retention: Retention | None) -> int:
    """Deletes changelogs that nothing keeps, and the files that only they need.

    Args:
        parts: The table, or one of its branches.
        retention: What keeps changelogs; None where nothing does.

    Returns:
        How many expired.

    Raises:
        CorruptTableError: Something that may keep files cannot be read; nothing was deleted.
        NotFoundError: Somebody else deletes changelogs; what is left, the next expiry finds.
        StorageError: The store failed; what is left, the next expiry finds.
    """
    stored = Changelogs(parts.file_io, parts.paths)
    snapshots = parts.snapshots.list_ids()
    # A changelog beside its snapshot is of an expiry that goes on, or did not come to its end.
    ids = [each for each in stored.list_ids() if snapshots and each < snapshots[0]]
    if not ids:
        return 0
    count = len(ids)
    if retention is not None:
        count = expiring_changelog_count(
            ids,
            retention,
            latest_id=snapshots[-1],
            next_read=next_read(parts),
            time_of=lambda snapshot_id: _time_of(stored, snapshot_id),
        )
    if not count:
        return 0
    with threads(parts) as spread:
        found = spread(stored.find, ids[:count])
        expired = Expired(
            changelogs=tuple(each for each in found if each is not None),
            end=parts.snapshots.load(snapshots[0]),
            overwriting=overwrites_among(parts, snapshots[1:], spread=spread),
            outliving=Outliving(
                ids=frozenset([*ids[count:], snapshots[0]]),
                first=stored.find(ids[count]) if count < len(ids) else None,
                are_changes=parts.options.changelog_producer is ChangelogProducer.NONE,
            ),
        )
        carry_out(MetadataReader(parts=parts, spread=spread), expired)
    return count


def next_read(parts: TableParts) -> int | None:
    """The first snapshot that some consumer has yet to read; None without consumers.

    Raises:
        CorruptTableError: A consumer's file cannot be read.
    """
    return min(Consumers(parts.file_io, parts.paths).next_snapshots().values(), default=None)


def _time_of(stored: Changelogs, snapshot_id: int) -> int:
    found = stored.find(snapshot_id)
    return 0 if found is None else found.time_millis
