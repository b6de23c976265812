"""What a writer tells the committer: the files of one bucket that came and went."""

from dataclasses import dataclass

from lakebed.format.data_file_meta import DataFileMeta, FileKind, ManifestEntry
from lakebed.format.index_manifest import IndexManifestEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitMessage:
    """Changes of one bucket, picklable.

    Attributes:
        partition: Serialized BinaryRow of the partition columns.
        bucket: The bucket.
        total_buckets: Bucket count that the files were written with; -1 unaware.
        new_files: Files written.
        deleted_files: Files that they replace, which must still be live at commit.
        changelog_files: Changelog files written, of the snapshot's changelog manifests.
        new_index_files: Index files of the bucket; of a type, they replace the bucket's one.
        deleted_index_files: Index files that go, which must still be listed at commit.
        taken_rows: Rows that were given to the writer of new files, before it merged them.
    """

    partition: bytes
    bucket: int
    total_buckets: int
    new_files: tuple[DataFileMeta, ...]
    deleted_files: tuple[DataFileMeta, ...] = ()
    changelog_files: tuple[DataFileMeta, ...] = ()
    new_index_files: tuple[IndexManifestEntry, ...] = ()
    deleted_index_files: tuple[IndexManifestEntry, ...] = ()
    taken_rows: int = 0

    def entries(self) -> list[ManifestEntry]:
        """The manifest entries, deletes first."""
        return [
            *self._entries(FileKind.DELETE, self.deleted_files),
            *self._entries(FileKind.ADD, self.new_files),
        ]

    def changelog_entries(self) -> list[ManifestEntry]:
        """The entries of the changelog manifests."""
        return self._entries(FileKind.ADD, self.changelog_files)

    def _entries(self, kind: FileKind, files: tuple[DataFileMeta, ...]) -> list[ManifestEntry]:
        return [
            ManifestEntry(
                kind=kind,
                partition=self.partition,
                bucket=self.bucket,
                total_buckets=self.total_buckets,
                file=file,
            )
            for file in files
        ]
