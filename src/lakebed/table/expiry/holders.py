"""What needs files of a branch beside its own snapshots: its tags, and the other branches."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from lakebed.errors import NotFoundError
from lakebed.format.paths import MAIN_BRANCH, TablePaths
from lakebed.format.snapshot import Snapshot
from lakebed.format.tag import Tag
from lakebed.storage.file_io import FileIO
from lakebed.table.metadata.branches import Branches
from lakebed.table.metadata.snapshots import Snapshots
from lakebed.table.metadata.tags import Tags
from lakebed.table.parts import TableParts

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherBranch:
    """A branch with which data is shared.

    Attributes:
        snapshots: Its snapshots, ascending.
        tags: What its tags name, where that is no snapshot any more.
    """

    snapshots: tuple[Snapshot, ...]
    tags: tuple[Snapshot, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Holders:
    """Whoever needs files.

    Attributes:
        tags: The snapshots of its history that tags of the branch name, ascending.
        apart: What the tags of commits name that were not told whether they had come about: any of
            their ids may have gone to another snapshot, so they are of no history.
        branches: The other branches, the main one among them.
    """

    tags: tuple[Snapshot, ...]
    apart: tuple[Snapshot, ...]
    branches: tuple[OtherBranch, ...]

    @classmethod
    def found(cls, parts: TableParts) -> "Holders":
        """Those that there are now.

        Raises:
            CorruptTableError: A tag or a snapshot cannot be read.
            UnsupportedError: It is of a newer version.
        """
        file_io, paths = parts.file_io, parts.paths

        def read(names: Sequence[str]) -> "Holders":
            others = sorted({MAIN_BRANCH, *names} - {paths.branch})
            tags = _tags(file_io, paths)
            return cls(
                tags=tuple(each.snapshot for each in tags if not each.is_of_commit),
                apart=tuple(each.snapshot for each in tags if each.is_of_commit),
                branches=tuple(_branch(file_io, paths.of_branch(name)) for name in others),
            )

        return settled(Branches(file_io, paths).list_names, read)


def settled(list_names: Callable[[], list[str]], read: Callable[[Sequence[str]], Found]) -> Found:
    """What is read by names, once these are the same after it: nobody renamed one meanwhile.

    Args:
        list_names: Lists them, in order.
        read: Reads what they name; who finds one gone leaves it out.
    """
    names = list_names()
    while True:
        found = read(names)
        before, names = names, list_names()
        if names == before:
            return found


def tagged_snapshots(file_io: FileIO, paths: TablePaths) -> tuple[Snapshot, ...]:
    """What the tags of a branch name, ascending.

    Raises:
        CorruptTableError: A tag cannot be read.
        UnsupportedError: Its snapshot is of a newer version.
    """
    return tuple(each.snapshot for each in _tags(file_io, paths))


def _tags(file_io: FileIO, paths: TablePaths) -> tuple[Tag, ...]:
    """The tags of a branch, by the ids of their snapshots."""
    tags = Tags(file_io, paths)

    def read(names: Sequence[str]) -> tuple[Tag, ...]:
        return tuple(sorted(_loaded(tags, names), key=lambda each: each.snapshot.id))

    return settled(tags.list_names, read)


def _loaded(tags: Tags, names: Iterable[str]) -> Iterator[Tag]:
    for name in names:
        try:
            yield tags.load(name)
        except NotFoundError:
            continue  # it was deleted meanwhile


def _branch(file_io: FileIO, paths: TablePaths) -> OtherBranch:
    stored = Snapshots(file_io, paths)
    found = (stored.find(each) for each in stored.list_ids())
    snapshots = tuple(each for each in found if each is not None)
    by_id = {each.id: each for each in snapshots}
    tags = tuple(each for each in tagged_snapshots(file_io, paths) if by_id.get(each.id) != each)
    return OtherBranch(snapshots=snapshots, tags=tags)
