"""What a commit is asked to change, worked out anew against each newest snapshot.

Each kind of change is a value with one method, `prepare`: from the newest snapshot to the manifest
entries that carry the change out there, or None where nothing is left to change. The checks of
format.md 16 happen here, before anything of the commit is written.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lakebed.errors import CommitConflictError
from lakebed.format.data_file_meta import FileKind, ManifestEntry
from lakebed.format.snapshot import CommitKind, Operation, Snapshot
from lakebed.table.metadata.entries import (
    bucket_counts,
    check_bucket_counts,
    check_deletes_live,
    live_identities,
)
from lakebed.table.metadata.manifests import Manifests
from lakebed.table.metadata.partitions import PartitionFilter, PartitionsAmong
from lakebed.table.writing.commit_message import CommitMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Entries ready to be committed on top of one snapshot."""

    entries: Sequence[ManifestEntry]
    kind: CommitKind
    operation: Operation

    @property
    def delta_record_count(self) -> int:
        """Rows added less rows deleted, physical."""
        return sum(
            entry.file.row_count if entry.kind is FileKind.ADD else -entry.file.row_count
            for entry in self.entries
        )


class Changes(Protocol):
    """Something to commit."""

    def prepare(self, latest: Snapshot | None) -> Prepared | None:
        """The entries on top of `latest`; None for no change.

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
        based_on: Id of the snapshot that the writers started from; None for an empty table.
        counts: Bucket count of each partition there.
    """

    messages: Sequence[CommitMessage]
    manifests: Manifests
    operation: Operation
    based_on: int | None
    counts: dict[bytes, int]

    def prepare(self, latest: Snapshot | None) -> Prepared | None:
        """Checks deletes and bucket counts against `latest`."""
        entries = [entry for message in self.messages for entry in message.entries()]
        if not entries:
            return None
        replaces = any(entry.kind is FileKind.DELETE for entry in entries)
        if latest is not None and replaces:
            self._check_against_all(entries, latest)
        elif latest is not None:
            self._check_against_newer(entries, latest)
        return Prepared(
            entries=entries,
            kind=CommitKind.OVERWRITE if replaces else CommitKind.APPEND,
            operation=self.operation,
        )

    def _check_against_all(self, entries: list[ManifestEntry], latest: Snapshot) -> None:
        live = self.manifests.live(latest, partitions=_partitions_of(entries))
        check_deletes_live(entries, live_identities(live), base=latest.id)
        check_bucket_counts(entries, bucket_counts(live), base=latest.id)

    def _check_against_newer(self, entries: list[ManifestEntry], latest: Snapshot) -> None:
        """A pure append only minds bucket counts, and only those that are newer than it knows."""
        counts = dict(self.counts)
        if all(entry.total_buckets <= 0 for entry in entries):
            return
        if latest.id != self.based_on:
            live = self.manifests.live(latest, partitions=_partitions_of(entries))
            counts = bucket_counts(live)
        check_bucket_counts(entries, counts, base=latest.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class OverwriteChanges:
    """Replaces every file of some partitions by the files given.

    Attributes:
        messages: What the writers wrote; may be empty, which truncates.
        manifests: The table's manifests.
        operation: What the user asked for.
        partitions: Which partitions are replaced.
    """

    messages: Sequence[CommitMessage]
    manifests: Manifests
    operation: Operation
    partitions: PartitionFilter

    def prepare(self, latest: Snapshot | None) -> Prepared | None:
        """DELETE entries of all that is live in the partitions now, then the ADDs."""
        added = [entry for message in self.messages for entry in message.entries()]
        deleted: list[ManifestEntry] = []
        if latest is not None:
            live = self.manifests.live(latest, partitions=self.partitions)
            deleted = self.manifests.delete_entries(live)
            if latest.index_manifest is not None and deleted:
                raise CommitConflictError(
                    "the table has index files; overwriting it is not supported yet. "
                    "Nothing was committed"
                )
        if not added and not deleted:
            return None
        check_bucket_counts(added, {}, base=latest.id if latest else 0)
        return Prepared(
            entries=[*deleted, *added], kind=CommitKind.OVERWRITE, operation=self.operation
        )


def _partitions_of(entries: Sequence[ManifestEntry]) -> PartitionFilter:
    return PartitionsAmong(frozenset(entry.partition for entry in entries))
