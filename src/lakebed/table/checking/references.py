"""Which snapshots, tags, branches and changelogs does a table have, and can they be read?

A *history* is what is looked at in order: the snapshots of a branch, or what one tag names, where
that is no snapshot of the branch any more.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from lakebed.errors import LakebedError, NotFoundError
from lakebed.format.paths import MAIN_BRANCH, TablePaths, expired_id_of
from lakebed.format.schema import TableSchema
from lakebed.format.snapshot import Snapshot
from lakebed.storage.file_io import FileIO
from lakebed.table.checking.findings import Code, Report
from lakebed.table.metadata.branches import Branches
from lakebed.table.metadata.changelogs import Changelogs
from lakebed.table.metadata.consumers import Consumers
from lakebed.table.metadata.history_marker import HistoryMarker
from lakebed.table.metadata.schemas import Schemas
from lakebed.table.metadata.snapshots import Snapshots
from lakebed.table.metadata.tags import Tags

Key = TypeVar("Key")
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Something that names the files of a state of the table.

    Attributes:
        path: Its file.
        snapshot: What it holds.
        has_changelog: Whether the changelog that it names must be there.
    """

    path: str
    snapshot: Snapshot
    has_changelog: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """States of the table, ascending, and what outlived its state.

    Attributes:
        branch: Whose they are.
        states: Snapshots of the branch, or what a tag names.
        changelogs: Changelogs that outlive their snapshots.
    """

    branch: str
    states: tuple[Reference, ...]
    changelogs: tuple[Reference, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """What a table has.

    Attributes:
        histories: What is to be checked.
        schemas: The schemas that can be read, by branch and id.
    """

    histories: tuple[History, ...]
    schemas: Mapping[str, Mapping[int, TableSchema]]

    @property
    def named(self) -> dict[str, Snapshot]:
        """What the file of each holds."""
        return {
            each.path: each.snapshot
            for one in self.histories
            for each in (*one.states, *one.changelogs)
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceSearch:
    """Finds what a table has.

    Attributes:
        file_io: The store.
        paths: Of the branch that was opened.
        report: Takes what cannot be read.
    """

    file_io: FileIO
    paths: TablePaths
    report: Report

    def all(self) -> References:
        """Everything, of every branch."""
        names = {MAIN_BRANCH, self.paths.branch, *self._branches()}
        of_names = [self.paths.of_branch(name) for name in sorted(names)]
        histories = [each for paths in of_names for each in self._histories(paths)]
        schemas = {paths.branch: self._schemas(paths) for paths in of_names}
        return References(histories=tuple(histories), schemas=schemas)

    def one(self, reference: Reference) -> References:
        """One of the branch that was opened, alone."""
        history = History(branch=self.paths.branch, states=(reference,))
        return References(
            histories=(history,), schemas={self.paths.branch: self._schemas(self.paths)}
        )

    def _branches(self) -> list[str]:
        stored = Branches(self.file_io, self.paths)
        return self._tried(stored.list_names, self.paths.branch_directory) or []

    def _schemas(self, paths: TablePaths) -> dict[int, TableSchema]:
        stored = Schemas(self.file_io, paths)
        ids = self._tried(stored.list_ids, paths.schema_directory) or []
        found = {each: self._read(stored.load, each, paths.schema(each)) for each in ids}
        return {key: schema for key, schema in found.items() if schema is not None}

    def _histories(self, paths: TablePaths) -> Iterator[History]:
        stored = Snapshots(self.file_io, paths)
        ids = self._tried(stored.list_ids, paths.snapshot_directory) or []
        self._check_ids(paths, ids)
        self._check_hints(paths, ids)
        # Expiry drops changelogs of what a branch was made from.
        is_main = paths.branch == MAIN_BRANCH
        states = self._references(stored.load, ids, paths.snapshot, has_changelog=is_main)
        yield History(
            branch=paths.branch, states=states, changelogs=self._changelogs(paths, set(ids))
        )
        by_id = {each.snapshot.id: each.snapshot for each in states}
        for tag in self._tags(paths):
            if by_id.get(tag.snapshot.id) != tag.snapshot:
                yield History(branch=paths.branch, states=(tag,))
        consumers = Consumers(self.file_io, paths)
        self._tried(consumers.next_snapshots, paths.consumer_directory)

    def _changelogs(self, paths: TablePaths, snapshots: set[int]) -> tuple[Reference, ...]:
        stored = Changelogs(self.file_io, paths)
        ids = self._tried(stored.list_ids, paths.changelog_directory) or []
        # Of one that still has its snapshot, the changelog is checked with that.
        outliving = [each for each in ids if each not in snapshots]
        return self._references(stored.find, outliving, paths.changelog, has_changelog=True)

    def _tags(self, paths: TablePaths) -> tuple[Reference, ...]:
        stored = Tags(self.file_io, paths)
        names = self._tried(stored.list_names, paths.tag_directory) or []

        def load(name: str) -> Snapshot:
            return stored.load(name).snapshot

        return self._references(load, names, paths.tag, has_changelog=False)

    def _references(
        self,
        load: Callable[[Key], Snapshot | None],
        keys: Sequence[Key],
        path_of: Callable[[Key], str],
        *,
        has_changelog: bool,
    ) -> tuple[Reference, ...]:
        found = [(path_of(key), self._read(load, key, path_of(key))) for key in keys]
        return tuple(
            Reference(path=path, snapshot=snapshot, has_changelog=has_changelog)
            for path, snapshot in found
            if snapshot is not None
        )

    def _read(self, load: Callable[[Key], Found], key: Key, path: str) -> Found | None:
        try:
            return load(key)
        except NotFoundError:
            return None  # it was deleted meanwhile
        except LakebedError as error:
            self.report.add_error(error, path)
            return None

    def _check_ids(self, paths: TablePaths, ids: Sequence[int]) -> None:
        for before, after in pairwise(ids):
            if after > before + 1:
                lost = f"{before + 1}" if after == before + 2 else f"{before + 1} to {after - 1}"
                problem = f"of the snapshots from {ids[0]} to {ids[-1]}, {lost} is not there"
                self.report.add(Code.SNAPSHOT_GAP, paths.snapshot(before + 1), problem)

    def _check_hints(self, paths: TablePaths, ids: Sequence[int]) -> None:
        if ids:
            self._check_hint(paths.latest_hint, ids[-1])
            self._check_hint(paths.earliest_hint, ids[0])
        directory = paths.snapshot_directory
        statuses = self._tried(lambda: self.file_io.list(directory), directory)
        copies = [each for each in statuses or () if expired_id_of(each.name) is not None]
        if copies:
            problem = f"{len(copies)} expired snapshots may have left files"
            self.report.add(Code.EXPIRED_COPIES, min(each.path for each in copies), problem)
        marker = HistoryMarker(self.file_io, paths)
        operation = self._tried(marker.find, marker.path)
        if operation is not None:
            problem = f"nobody can commit: a {operation} is under way or broke off"
            self.report.add(Code.UNFINISHED_REWRITE, marker.path, problem)

    def _check_hint(self, path: str, snapshot_id: int) -> None:
        try:
            text = self.file_io.read(path).decode("ascii", errors="replace")
        except NotFoundError:
            return  # nobody need write it
        except LakebedError as error:
            self.report.add_error(error, path)
            return
        if text.strip() != str(snapshot_id):
            problem = f"it says {text.strip()[:20]!r}, and snapshot {snapshot_id} is meant"
            self.report.add(Code.STALE_HINT, path, problem)

    def _tried(self, read: Callable[[], Found], path: str) -> Found | None:
        try:
            return read()
        except LakebedError as error:
            self.report.add_error(error, path)
            return None
