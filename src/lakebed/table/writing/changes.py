"""What a commit is asked to change, worked out anew against each newest snapshot.

Each kind of change is a value with one method, `prepare`: from the newest snapshot to the manifest
entries and index files that carry the change out there. The checks of format.md 16 happen here,
before anything of the commit is written.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import pyarrow as pa

from lakebed.errors import CommitConflictError, NotFoundError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import python_values
from lakebed.format.data_file_meta import FileKind, ManifestEntry
from lakebed.format.index_manifest import IndexManifestEntry, index_entries_from_columns
from lakebed.format.paths import POSTPONE_BUCKET
from lakebed.format.snapshot import CommitKind, Operation, Snapshot
from lakebed.table.metadata.entries import (
    bucket_counts,
    check_bucket_counts,
    check_deletes_live,
    live_identities,
)
from lakebed.table.metadata.index_files import (
    IndexChanges,
    check_index_files_kept,
    check_vectors_have_files,
    combined_index_files,
    touched_by,
)
from lakebed.table.metadata.manifest_rewrite import ManifestRewrite
from lakebed.table.metadata.manifests import Manifests
from lakebed.table.metadata.partitions import (
    PartitionFilter,
    PartitionsAmong,
    entries_of_partitions,
)
from lakebed.table.writing.commit_message import CommitMessage
from lakebed.table.writing.sole_writer import SoleWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What is ready to be committed on top of one snapshot.

    Attributes:
        entries: Data files that come and go.
        kind: What kind of snapshot it makes.
        operation: What the user asked for.
        changelog: Changelog files that come.
        index_files: Every index file after the commit, as `INDEX_COLUMNS`; None where they stay as
            they are.
        rewrite: How the manifests are written anew, in a commit that changes nothing else.
        statistics: A file of statistics to name; None for the one that was named before.
    """

    entries: Sequence[ManifestEntry]
    kind: CommitKind
    operation: Operation | None
    changelog: Sequence[ManifestEntry] = ()
    index_files: pa.Table | None = None
    rewrite: ManifestRewrite | None = None
    statistics: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to change."""
        others = (self.index_files, self.rewrite, self.statistics)
        is_unchanged = all(each is None for each in others)
        return not self.entries and not self.changelog and is_unchanged

    @property
    def delta_record_count(self) -> int:
        """Rows added less rows deleted, physical."""
        return sum(
            entry.file.row_count if entry.kind is FileKind.ADD else -entry.file.row_count
            for entry in self.entries
        )

    @property
    def changelog_record_count(self) -> int | None:
        """Rows of the changelog files; None without any."""
        rows = [entry.file.row_count for entry in self.changelog]
        return sum(rows) if rows else None


class Changes(Protocol):
    """Something to commit."""

    def prepare(self, latest: Snapshot | None) -> Prepared:
        """What to write on top of `latest`; empty for no change.

        Raises:
            CommitConflictError: The change contradicts what others committed meanwhile.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendChanges:
    """Adds files, and replaces files that must still be live.

    Attributes:
        messages: What the writers wrote.
        manifests: The table's manifests.
        operation: What the user asked for.
        based_on: The snapshot that the writers started from; None for an empty table.
        counts: Bucket count of each partition there.
        is_unaware: Whether the table has no buckets.
        is_compaction: Whether the rows stay the same.
        sole_writer: Says whether anybody else wrote, where nobody else may; None elsewhere.
    """

    messages: Sequence[CommitMessage]
    manifests: Manifests
    operation: Operation | None
    based_on: Snapshot | None
    counts: dict[bytes, int]
    is_unaware: bool
    is_compaction: bool = False
    sole_writer: SoleWriter | None = None

    def prepare(self, latest: Snapshot | None) -> Prepared:
        """Checks deletes, bucket counts and indexes against `latest`."""
        if self.sole_writer is not None:
            self.sole_writer.check(latest)
        entries = [entry for message in self.messages for entry in message.entries()]
        index = index_changes(self.messages)
        replaces = index.marks_rows or any(entry.kind is FileKind.DELETE for entry in entries)
        if replaces or self.is_compaction:
            self._check_against_all(entries, index, latest)
        elif latest is not None:
            self._check_against_newer(entries, latest)
        self._check_indexes(entries, index, latest)
        kind = CommitKind.OVERWRITE if replaces else CommitKind.APPEND
        return Prepared(
            entries=entries,
            kind=CommitKind.COMPACT if self.is_compaction else kind,
            operation=self.operation,
            changelog=[entry for one in self.messages for entry in one.changelog_entries()],
            index_files=None
            if index.is_empty
            else combined_index_files(
                self.manifests.index_columns(latest),
                index,
                is_unaware=self.is_unaware,
                base=_id_of(latest),
            ),
        )

    def _check_against_all(
        self, entries: list[ManifestEntry], index: IndexChanges, latest: Snapshot | None
    ) -> None:
        base, live = _id_of(latest), None
        if latest is not None:
            partitions = {*_partitions(entries), *touched_by(index).partitions}
            live = self.manifests.live(latest, partitions=PartitionsAmong(frozenset(partitions)))
        check_deletes_live(entries, set() if live is None else live_identities(live), base=base)
        check_bucket_counts(entries, {} if live is None else bucket_counts(live), base=base)
        if index.marks_rows:
            names = set() if live is None else set(python_values(live.column("file_name")))
            names -= {entry.file.file_name for entry in entries if entry.kind is FileKind.DELETE}
            names |= {entry.file.file_name for entry in entries if entry.kind is FileKind.ADD}
            check_vectors_have_files(index, names, base=base)

    def _check_against_newer(self, entries: list[ManifestEntry], latest: Snapshot) -> None:
        """A pure append only minds bucket counts, and only those that are newer than it knows."""
        counts = dict(self.counts)
        if all(entry.total_buckets <= 0 for entry in entries):
            return
        if latest.id != _id_of(self.based_on):
            partitions = PartitionsAmong(frozenset(_partitions(entries)))
            counts = bucket_counts(self.manifests.live(latest, partitions=partitions))
        check_bucket_counts(entries, counts, base=latest.id)

    def _check_indexes(
        self, entries: list[ManifestEntry], index: IndexChanges, latest: Snapshot | None
    ) -> None:
        """What the writers knew of hash indexes and deletion vectors must hold still."""
        before = self.based_on.index_manifest if self.based_on else None
        if latest is None or latest.index_manifest == before:
            return
        touched = touched_by(index)
        deletes = [entry for entry in entries if entry.kind is FileKind.DELETE]
        try:
            known = self.manifests.index_columns(self.based_on)
        except NotFoundError as error:
            raise CommitConflictError(
                f"snapshot {_id_of(self.based_on)}, which this commit started from, expired "
                "meanwhile, and others changed index files since. Nothing was committed; read the "
                "table again and repeat the change"
            ) from error
        check_index_files_kept(
            known,
            self.manifests.index_columns(latest),
            touched=replace(
                touched,
                partitions={*touched.partitions, *_partitions(entries)},
                buckets={*touched.buckets, *((each.partition, each.bucket) for each in deletes)},
                data_files={*touched.data_files, *(each.file.file_name for each in deletes)},
            ),
            is_unaware=self.is_unaware,
            base=latest.id,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenFiles:
    """The files that rows were read from which are written in their place.

    Attributes:
        snapshot_id: Where they were read.
        live: Their entries.
        index_files: Names of the index files of their partitions.
    """

    snapshot_id: int
    live: pa.Table
    index_files: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class OverwriteChanges:
    """Replaces every file of some partitions by the files given; changelog files are left out.

    Attributes:
        messages: What the writers wrote; may be empty, which truncates.
        manifests: The table's manifests.
        operation: What the user asked for.
        partitions: Which partitions are replaced.
        is_unaware: Whether the table has no buckets.
        seen: What must be there to be replaced, where the new rows were read from it; None
            replaces whatever there is.
        keeps_postponed: Whether rows that wait for their bucket stay.
    """

    messages: Sequence[CommitMessage]
    manifests: Manifests
    operation: Operation
    partitions: PartitionFilter
    is_unaware: bool
    seen: SeenFiles | None = None
    keeps_postponed: bool = False

    def prepare(self, latest: Snapshot | None) -> Prepared:
        """DELETE entries of all that is live in the partitions now, then the ADDs."""
        added = [entry for message in self.messages for entry in message.entries()]
        index = index_changes(self.messages)
        deleted: list[ManifestEntry] = []
        listed = self.manifests.index_columns(latest)
        if latest is not None:
            live = replaced_entries(
                self.manifests, latest, self.partitions, keeps_postponed=self.keeps_postponed
            )
            index = replace(index, deleted=self._replaced_index_files(listed))
            self._check_seen(live, index.deleted, latest)
            deleted = self.manifests.delete_entries(live)
        check_bucket_counts(added, {}, base=_id_of(latest))
        return Prepared(
            entries=[*deleted, *added],
            kind=CommitKind.OVERWRITE,
            operation=self.operation,
            index_files=None
            if index.is_empty
            else combined_index_files(
                listed, index, is_unaware=self.is_unaware, base=_id_of(latest)
            ),
        )

    def _replaced_index_files(self, listed: pa.Table) -> tuple[IndexManifestEntry, ...]:
        found = index_files_of(listed, self.partitions, keeps_postponed=self.keeps_postponed)
        return tuple(index_entries_from_columns(found))

    def _check_seen(
        self, live: pa.Table, index_files: Iterable[IndexManifestEntry], latest: Snapshot
    ) -> None:
        seen = self.seen
        if seen is None or seen.snapshot_id == latest.id:
            return
        is_same = seen.index_files == {entry.file_name for entry in index_files}
        if not is_same or live_identities(seen.live) != live_identities(live):
            raise CommitConflictError(
                f"another writer changed what was read at snapshot {seen.snapshot_id} to be "
                f"written anew, until snapshot {latest.id}; its rows would be lost. Nothing was "
                "committed; repeat the change"
            )


def replaced_entries(
    manifests: Manifests,
    snapshot: Snapshot,
    partitions: PartitionFilter,
    *,
    keeps_postponed: bool,
) -> pa.Table:
    """The live entries that an overwrite of some partitions takes away."""
    live = manifests.live(snapshot, partitions=partitions)
    if not keeps_postponed:
        return live
    return live.filter(pc.not_equal(live.column("bucket"), POSTPONE_BUCKET))


def index_files_of(
    listed: pa.Table, partitions: PartitionFilter, *, keeps_postponed: bool
) -> pa.Table:
    """The index files that an overwrite of some partitions takes away."""
    found = listed.filter(pa.array(entries_of_partitions(listed, partitions)))
    if not keeps_postponed:
        return found
    return found.filter(pc.not_equal(found["bucket"], POSTPONE_BUCKET))


def index_changes(messages: Iterable[CommitMessage]) -> IndexChanges:
    """The index files that come and go with some messages."""
    told = list(messages)
    return IndexChanges(
        added=tuple(entry for message in told for entry in message.new_index_files),
        deleted=tuple(entry for message in told for entry in message.deleted_index_files),
    )


def _partitions(entries: Iterable[ManifestEntry]) -> set[bytes]:
    return {entry.partition for entry in entries}


def _id_of(snapshot: Snapshot | None) -> int:
    return 0 if snapshot is None else snapshot.id
