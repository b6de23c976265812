"""How are rows of an append table changed by writing the files anew that hold them?

Files without such a row stay as they are.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace

import pyarrow as pa

from lakebed.format.data_file_meta import DataFileMeta
from lakebed.format.predicate.evaluation import true_rows
from lakebed.format.predicate.expressions import Expression
from lakebed.format.snapshot import Snapshot
from lakebed.lsm.section_plan import Mask
from lakebed.table.compaction.buckets import BucketFiles, StoredFile, bucket_files
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.parts import TableParts, WriteBase
from lakebed.table.planning.split import Split
from lakebed.table.reading.read import SplitReader
from lakebed.table.reading.row_tracking import RowTrackingReader
from lakebed.table.reading.scan_source import SnapshotSource
from lakebed.table.routers import rows_writer
from lakebed.table.writing.bucket_writer import BucketWriter
from lakebed.table.writing.commit_message import CommitMessage

RowChange = Callable[[pa.Table, Mask], pa.Table]
"""What rows become, some of which are to be changed."""


def rewrite_matching(
    parts: TableParts,
    base: WriteBase,
    where: str | Expression | None,
    *,
    change: RowChange,
    moves_rows: bool = False,
) -> list[CommitMessage]:
    """Writes the files of an append table anew that hold rows for which a condition is true.

    Args:
        parts: The table.
        base: What the writers start from.
        where: The condition; None for all rows.
        change: What becomes of the rows of a file, given which of them match.
        moves_rows: Whether changed rows may belong to another partition or bucket.

    Returns:
        What is to be committed; nothing where no row matches. On an error, no file is left.

    Raises:
        InvalidArgumentError: An unknown column or a bad condition.
    """
    scan = parts.scan(SnapshotSource(snapshot=base.snapshot), where=where)
    if base.snapshot is None:
        return []
    matched = {
        one.files[0].path: one
        for split in scan.plan().splits
        for one in map(Split.of_file, split.files)
        if scan.reader.count(one)
    }
    buckets = _buckets_of(parts, base.snapshot, matched)
    reader: SplitReader | RowTrackingReader = replace(scan.reader, predicate=None)
    if parts.options.row_tracking_enabled:
        metas = [meta for bucket in buckets for meta in bucket.metas]
        reader = RowTrackingReader.of(replace(scan.reader, predicate=None), metas)
        base = replace(base, writes=base.writes.tracked)
    changed = _ChangedFiles(
        reader=reader, predicate=scan.reader.predicate, change=change, splits=matched
    )
    return changed.moved(parts, base, buckets) if moves_rows else changed.kept(parts, base, buckets)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ChangedFiles:
    """Files and what becomes of their rows.

    Attributes:
        reader: Reads all their rows.
        predicate: Which rows are changed; None for all.
        change: What becomes of them.
        splits: A split of each file, by path.
    """

    reader: SplitReader | RowTrackingReader
    predicate: Expression | None
    change: RowChange
    splits: dict[str, Split]

    def kept(
        self, parts: TableParts, base: WriteBase, buckets: list["_BucketRewrite"]
    ) -> list[CommitMessage]:
        """Writes the rows of each bucket back into it."""
        messages = []
        # One stack for the writers of all buckets, so that none leaves files when another fails.
        with ExitStack() as writers:
            for bucket in buckets:
                writer = writers.enter_context(bucket.writer(parts, base))
                for rows in self._rows(bucket):
                    writer.add(rows)
                messages.append(replace(writer.finish(), deleted_files=bucket.metas))
        return messages

    def moved(
        self, parts: TableParts, base: WriteBase, buckets: list["_BucketRewrite"]
    ) -> list[CommitMessage]:
        """Writes each row to where it belongs now."""
        with rows_writer(parts, base) as writer:
            for bucket in buckets:
                for rows in self._rows(bucket):
                    writer.add_aligned(rows, None)
            messages = writer.finish()
        return [*messages, *(bucket.deletion() for bucket in buckets)]

    def _rows(self, bucket: "_BucketRewrite") -> Iterator[pa.Table]:
        for file in bucket.files:
            for batch in self.reader.read(self.splits[file.split_file.path]):
                rows = pa.Table.from_batches([batch])
                yield self.change(rows, true_rows(self.predicate, rows))


def removal(parts: TableParts, snapshot: Snapshot, paths: Collection[str]) -> list[CommitMessage]:
    """What takes data files away.

    Args:
        parts: The table.
        snapshot: Where they are.
        paths: Their paths.
    """
    return [bucket.deletion() for bucket in _buckets_of(parts, snapshot, paths)]


def _buckets_of(
    parts: TableParts, snapshot: Snapshot, paths: Collection[str]
) -> list["_BucketRewrite"]:
    """The buckets that hold some files, with these files alone."""
    names = {path.rpartition("/")[2] for path in paths}
    buckets = [
        _BucketRewrite(stored, [f for f in stored.files.values() if f.split_file.path in paths])
        for stored in bucket_files(parts, snapshot, EveryPartition(), names=names)
    ]
    return [bucket for bucket in buckets if bucket.files]


@dataclass(frozen=True, slots=True)
class _BucketRewrite:
    """Files of one bucket that are rewritten."""

    stored: BucketFiles
    files: list[StoredFile]

    @property
    def metas(self) -> tuple[DataFileMeta, ...]:
        return tuple(file.meta for file in self.files)

    def writer(self, parts: TableParts, base: WriteBase) -> BucketWriter:
        """Opens the bucket."""
        stored = self.stored
        return base.writes.open(
            stored.partition,
            stored.bucket,
            directory=parts.split_files.bucket_directory(stored.partition, stored.bucket),
            total_buckets=stored.total_buckets,
        )

    def deletion(self) -> CommitMessage:
        """What takes the files away."""
        return CommitMessage(
            partition=self.stored.partition,
            bucket=self.stored.bucket,
            total_buckets=self.stored.total_buckets,
            new_files=(),
            deleted_files=self.metas,
        )
