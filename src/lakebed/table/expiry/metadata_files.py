"""Which files of metadata, and which index files, do snapshots name?"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import pyarrow as pa

from lakebed.errors import NotFoundError
from lakebed.format.arrow.typing import python_values
from lakebed.format.index_manifest import INDEX_COLUMNS
from lakebed.format.manifest import ManifestFileMeta, entry_schema
from lakebed.format.manifest_file import read_manifest, read_manifest_list
from lakebed.format.snapshot import Snapshot
from lakebed.table.parts import TableParts
from lakebed.table.spreading import Spread

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataFiles:
    """Paths of files that some snapshots name.

    Attributes:
        lists: Manifest lists, index manifests and statistics: what snapshots themselves name.
        manifests: Manifests of data files.
        changelog_manifests: Manifests of changelog files.
        index_files: Index files.
    """

    lists: frozenset[str]
    manifests: frozenset[str]
    changelog_manifests: frozenset[str]
    index_files: frozenset[str]

    def less(self, kept: "MetadataFiles") -> "MetadataFiles":
        """Those that others do not name."""
        return MetadataFiles(
            lists=self.lists - kept.lists,
            manifests=self.manifests - kept.manifests,
            changelog_manifests=self.changelog_manifests - kept.changelog_manifests,
            index_files=self.index_files - kept.index_files,
        )

    @staticmethod
    def joined(found: Iterable["MetadataFiles"]) -> "MetadataFiles":
        """Those that any names."""
        every = list(found)
        return MetadataFiles(
            lists=frozenset().union(*(each.lists for each in every)),
            manifests=frozenset().union(*(each.manifests for each in every)),
            changelog_manifests=frozenset().union(*(each.changelog_manifests for each in every)),
            index_files=frozenset().union(*(each.index_files for each in every)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataReader:
    """Reads the metadata of snapshots.

    Attributes:
        parts: The table.
        spread: For many files.
        may_lack: Whether files may be gone, as those of expired snapshots are in part when an
            expiry did not come to its end; what is gone is as empty.
    """

    parts: TableParts
    spread: Spread
    may_lack: bool = False

    @property
    def lenient(self) -> "MetadataReader":
        """The same for expired snapshots."""
        return replace(self, may_lack=True)

    def files(
        self, snapshots: Iterable[Snapshot], *, with_changelogs: bool = True
    ) -> MetadataFiles:
        """The files that any of some snapshots names.

        Args:
            snapshots: The snapshots.
            with_changelogs: Whether they need their changelogs, as tags do not.

        Raises:
            CorruptTableError: A list cannot be read.
            NotFoundError: It is gone, and may not be.
        """
        of_one = partial(self._of, with_changelogs=with_changelogs)
        return MetadataFiles.joined(self.spread(of_one, snapshots))

    def index_files(self, snapshots: Iterable[Snapshot]) -> MetadataFiles:
        """The index files and statistics that any of some snapshots names, and nothing else."""
        return MetadataFiles.joined(self.spread(self._indexes, snapshots))

    def files_of_changelog(self, changelog: Snapshot, *, with_changes: bool) -> MetadataFiles:
        """The files that a changelog names which outlives its snapshot.

        Args:
            changelog: What was the snapshot.
            with_changes: Whether what the snapshot changed is the changelog.

        Raises:
            CorruptTableError: A list cannot be read.
        """
        name, lenient = self.parts.paths.manifest, self.lenient
        told = lenient.listed(
            changelog.changelog_manifest_list, changelog.changelog_manifest_list_size
        )
        changes = lenient.delta_files(changelog) if with_changes else []
        lists = [changelog.changelog_manifest_list]
        if with_changes:
            lists.append(changelog.delta_manifest_list)
        return MetadataFiles(
            lists=frozenset(name(each) for each in lists if each is not None),
            manifests=frozenset(name(meta.file_name) for meta in changes),
            changelog_manifests=frozenset(name(meta.file_name) for meta in told),
            index_files=frozenset(),
        )

    def listed(self, name: str | None, size: int | None) -> list[ManifestFileMeta]:
        """The manifests that a list names; none without a list."""
        if name is None:
            return []
        path = self.parts.paths.manifest(name)
        return self._unless_gone(
            lambda: read_manifest_list(self.parts.file_io, path, size=size), []
        )

    def delta_files(self, snapshot: Snapshot) -> list[ManifestFileMeta]:
        """The manifests of what a snapshot changed."""
        return self.listed(snapshot.delta_manifest_list, snapshot.delta_manifest_list_size)

    def all_files(self, snapshot: Snapshot) -> list[ManifestFileMeta]:
        """The manifests of all that a snapshot reads."""
        base = self.listed(snapshot.base_manifest_list, snapshot.base_manifest_list_size)
        return [*base, *self.delta_files(snapshot)]

    def entries(self, path: str, columns: Iterable[str], *, size: int | None = None) -> pa.Table:
        """Columns of the entries of a manifest."""
        wanted = frozenset(columns)
        return self._unless_gone(
            lambda: read_manifest(self.parts.file_io, path, size=size, columns=wanted),
            entry_schema(wanted).empty_table(),
        )

    def _of(self, snapshot: Snapshot, *, with_changelogs: bool) -> MetadataFiles:
        manifest = self.parts.paths.manifest
        changelog = snapshot.changelog_manifest_list if with_changelogs else None
        # A branch may be older than the expiry of what it was made from, which took the changelog.
        told = self.lenient.listed(changelog, snapshot.changelog_manifest_list_size)
        return MetadataFiles(
            lists=frozenset(self._lists(snapshot, changelog)),
            manifests=frozenset(manifest(meta.file_name) for meta in self.all_files(snapshot)),
            changelog_manifests=frozenset(manifest(meta.file_name) for meta in told),
            index_files=frozenset(self._index_files(snapshot)),
        )

    def _indexes(self, snapshot: Snapshot) -> MetadataFiles:
        return MetadataFiles(
            lists=frozenset(self._index_lists(snapshot)),
            manifests=frozenset(),
            changelog_manifests=frozenset(),
            index_files=frozenset(self._index_files(snapshot)),
        )

    def _lists(self, snapshot: Snapshot, changelog: str | None) -> Iterator[str]:
        paths = self.parts.paths
        yield paths.manifest(snapshot.base_manifest_list)
        yield paths.manifest(snapshot.delta_manifest_list)
        if changelog is not None:
            yield paths.manifest(changelog)
        yield from self._index_lists(snapshot)

    def _index_lists(self, snapshot: Snapshot) -> Iterator[str]:
        paths = self.parts.paths
        if snapshot.index_manifest is not None:
            yield paths.manifest(snapshot.index_manifest)
        if snapshot.statistics is not None:
            yield paths.statistics(snapshot.statistics)

    def _index_files(self, snapshot: Snapshot) -> list[str]:
        listed = self._unless_gone(
            lambda: self.parts.manifests.index_columns(snapshot), INDEX_COLUMNS.empty_table()
        )
        columns = {
            "partition": listed["partition"],
            "bucket": listed["bucket"],
            "index_file_name": listed["file_name"],
            "external_path": listed["external_path"],
        }
        return python_values(self.parts.index_paths.of_columns(pa.table(columns)))

    def _unless_gone(self, read: Callable[[], Found], nothing: Found) -> Found:
        try:
            return read()
        except NotFoundError:
            if not self.may_lack:
                raise
            return nothing
