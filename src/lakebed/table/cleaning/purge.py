"""How does a table lose everything but its schemas?

Each step leaves a whole table, so a purge that breaks off is ended by the next one.
"""

from lakebed.errors import InvalidArgumentError
from lakebed.format.paths import MAIN_BRANCH
from lakebed.table.cleaning.orphans import remove_orphan_files
from lakebed.table.expiry.changelogs import expire_changelogs
from lakebed.table.expiry.expire import expire_snapshots
from lakebed.table.expiry.policy import Retention
from lakebed.table.history_changes.branches import delete_branches
from lakebed.table.metadata.branches import Branches
from lakebed.table.metadata.consumers import Consumers
from lakebed.table.metadata.tags import Tags
from lakebed.table.parts import TableParts
from lakebed.table.row_changes import overwrite
from lakebed.table.spreading import threads
from lakebed.table.tags.deletion import delete_tags

_EVERY = 2**31 - 1


def purge_files(parts: TableParts) -> None:
    """Deletes every row, branch, tag, consumer and changelog, and all files of theirs.

    Args:
        parts: The table, which nobody else may write to meanwhile.

    Raises:
        CorruptTableError: Something that names files cannot be read; what is left is whole.
        InvalidArgumentError: It is a branch.
        StorageError: The store failed; the same.
    """
    if parts.paths.branch != MAIN_BRANCH:
        raise InvalidArgumentError(
            f"{parts.paths.location}: branch {parts.paths.branch!r} shares files with its table."
            " Purge the table, or delete the branch"
        )
    file_io, paths = parts.file_io, parts.paths
    delete_branches(parts, Branches(file_io, paths).list_names())
    delete_tags(parts, Tags(file_io, paths).list_names())
    Consumers(file_io, paths).clear(lambda _: True)
    overwrite(parts, None, None)
    now = parts.session.effects.clock()
    keeps_one = Retention(retain_max=1, retain_min=1, older_than_ms=now, max_deletes=_EVERY)
    expire_snapshots(parts, keeps_one)
    expire_changelogs(parts, None)
    with threads(parts) as spread:
        remove_orphan_files(parts, now, dry_run=False, spread=spread)
