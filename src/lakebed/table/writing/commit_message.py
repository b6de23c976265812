"""What a writer tells the committer: the files of one bucket that came and went."""

from dataclasses import dataclass

from lakebed.format.data_file_meta import DataFileMeta, FileKind, ManifestEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitMessage:
    """Changes of one bucket, picklable.

    Attributes:
        partition: Serialized BinaryRow of the partition columns.
        bucket: The bucket.
        total_buckets: Bucket count that the files were written with; -1 unaware.
        new_files: Files written.
        deleted_files: Files that they replace, which must still be live at commit.
    """

    partition: bytes
    bucket: int
    total_buckets: int
    new_files: tuple[DataFileMeta, ...]
    deleted_files: tuple[DataFileMeta, ...] = ()

    def entries(self) -> list[ManifestEntry]:
        """The manifest entries, deletes first."""
        kinds = (
            (FileKind.DELETE, self.deleted_files),
            (FileKind.ADD, self.new_files),
        )
        return [
            ManifestEntry(
                kind=kind,
                partition=self.partition,
                bucket=self.bucket,
                total_buckets=self.total_buckets,
                file=file,
            )
            for kind, files in kinds
            for file in files
        ]
