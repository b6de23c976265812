"""What in a table names files: the snapshots, tags and changelogs of every branch."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from lakebed.format.paths import MAIN_BRANCH, TablePaths
from lakebed.format.snapshot import Snapshot
from lakebed.storage.file_io import FileIO
from lakebed.table.expiry.holders import settled, tagged_snapshots
from lakebed.table.metadata.branches import Branches
from lakebed.table.metadata.changelogs import Changelogs
from lakebed.table.metadata.expired_copies import ExpiredCopies
from lakebed.table.metadata.snapshots import Snapshots
from lakebed.table.parts import TableParts


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchReferences:
    """What names files in one branch.

    Attributes:
        snapshots: Its snapshots, ascending.
        tags: The snapshots that its tags name, ascending.
        changelogs: What were snapshots whose changelogs are kept for longer, ascending.
        copies: What were snapshots that expired, whose files the next expiry deletes, ascending.
    """

    snapshots: tuple[Snapshot, ...]
    tags: tuple[Snapshot, ...]
    changelogs: tuple[Snapshot, ...]
    copies: tuple[Snapshot, ...]


def find_references(parts: TableParts) -> tuple[BranchReferences, ...]:
    """Those that there are now, the main branch before the others.

    Raises:
        CorruptTableError: One cannot be read.
        UnsupportedError: It is of a newer version.
    """
    file_io, paths = parts.file_io, parts.paths

    def read(names: Sequence[str]) -> tuple[BranchReferences, ...]:
        return tuple(_of_branch(file_io, paths.of_branch(each)) for each in (MAIN_BRANCH, *names))

    return settled(Branches(file_io, paths).list_names, read)


def _of_branch(file_io: FileIO, paths: TablePaths) -> BranchReferences:
    snapshots = Snapshots(file_io, paths)
    changelogs = Changelogs(file_io, paths)
    copies = ExpiredCopies(file_io, paths)
    # First what may go while this is read: whoever deletes a snapshot made a tag of it, a changelog
    # or a copy before.
    found = tuple(_found(snapshots.find, snapshots.list_ids()))
    return BranchReferences(
        snapshots=found,
        tags=tagged_snapshots(file_io, paths),
        changelogs=tuple(_found(changelogs.find, changelogs.list_ids())),
        copies=tuple(_found(copies.find, copies.list_ids())),
    )


def _found(find: Callable[[int], Snapshot | None], ids: Iterable[int]) -> Iterator[Snapshot]:
    """Those that nobody deleted since they were listed."""
    return (each for each in map(find, ids) if each is not None)
