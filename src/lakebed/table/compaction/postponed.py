"""Rows that wait in `bucket-postpone` get their buckets (format.md 11).

They are read in the order in which they were written, and go where a writer of the table would put
them: to the buckets that their partition has, or to as many as a new partition needs. One commit
takes the waiting files away and brings the new ones. Then the buckets are as any others.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import pyarrow as pa

from lakebed.format.arrow.compute import compute as pc
from lakebed.format.data_file_meta import ManifestEntry
from lakebed.format.key_value import VALUE_KIND
from lakebed.format.manifest import entries_from_columns
from lakebed.format.paths import POSTPONE_BUCKET
from lakebed.format.snapshot import Snapshot
from lakebed.table.committing import commit
from lakebed.table.metadata.partitions import PartitionFilter
from lakebed.table.parts import TableParts, WriteBase
from lakebed.table.planning.split import Split, SplitFile
from lakebed.table.reading.read import SplitReader
from lakebed.table.reading.scan_source import SnapshotSource
from lakebed.table.routers import rows_writer
from lakebed.table.writing.changes import AppendChanges
from lakebed.table.writing.commit_message import CommitMessage


@dataclass(frozen=True, slots=True)
class WaitingFile:
    """A file of rows without a bucket.

    Attributes:
        entry: What the manifests say of it.
        file: The same for readers.
    """

    entry: ManifestEntry
    file: SplitFile


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingRows:
    """Rows that wait for their buckets.

    Attributes:
        parts: The table, with options as of a batch that goes to buckets at once.
        base: The table's state that they were found in.
        files: The files in the order in which they were written, partition by partition.
    """

    parts: TableParts
    base: WriteBase
    files: Sequence[WaitingFile]

    @property
    def size_bytes(self) -> int:
        """Bytes of the files."""
        return sum(each.file.size_bytes for each in self.files)

    @property
    def reader(self) -> SplitReader:
        """Reads the columns of the table, and at their end the kind of each row."""
        scan = self.parts.scan(SnapshotSource(snapshot=self.base.snapshot))
        columns = (*self.parts.schema.names, VALUE_KIND.name)
        return replace(scan.reader, columns=columns, keep_deletes=True)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows in their order."""
        reader = self.reader
        for each in self.files:
            yield from reader.read(Split.of_file(each.file))

    def write(self) -> list[CommitMessage]:
        """Writes them into their buckets, in this process; on an error, leaves no file."""
        with rows_writer(self.parts, self.base) as rows:
            for batch in self.batches():
                table = pa.Table.from_batches([batch])
                kinds = table.column(VALUE_KIND.name).to_numpy()
                rows.add_aligned(table.select(rows.schema.names), kinds)
            return rows.finish()


def place_postponed(
    parts: TableParts,
    partitions: PartitionFilter,
    *,
    write: Callable[[WaitingRows], list[CommitMessage]] = WaitingRows.write,
) -> Snapshot | None:
    """Gives the rows that wait in some partitions their buckets; None where none wait.

    Args:
        parts: A table.
        partitions: The partitions.
        write: Writes the rows; by default in this process.

    Raises:
        CommitConflictError: Somebody else took the same files; nothing is visible.
        CorruptTableError: A file cannot be read.
        StorageError: A file cannot be written.
    """
    base = parts.write_base()
    if parts.options.bucket != POSTPONE_BUCKET or base.snapshot is None:
        return None
    files = _waiting(parts, base.snapshot, partitions)
    if not files:
        return None
    options = replace(parts.options, postpone_batch_write_fixed_bucket=True)
    waiting = WaitingRows(parts=replace(parts, options=options), base=base, files=files)
    messages = write(waiting)
    changes = AppendChanges(
        messages=[*_taken(files), *messages],
        manifests=parts.manifests,
        operation=None,
        based_on=base.snapshot,
        counts=base.counts,
        is_unaware=False,
        is_compaction=True,
    )
    return commit(parts, changes, messages)


def _waiting(
    parts: TableParts, snapshot: Snapshot, partitions: PartitionFilter
) -> list[WaitingFile]:
    live = parts.manifests.live(snapshot, partitions=partitions)
    live = live.filter(pc.equal(live.column("bucket"), POSTPONE_BUCKET))
    pairs = zip(entries_from_columns(live), parts.split_files.files(live), strict=True)
    return sorted(
        (WaitingFile(entry, file) for entry, file in pairs),
        key=lambda each: (
            each.entry.partition,
            each.entry.file.creation_time or 0,
            each.file.ordinal,
        ),
    )


def _taken(waiting: Sequence[WaitingFile]) -> list[CommitMessage]:
    """What takes the waiting files away."""
    return [
        CommitMessage(
            partition=partition,
            bucket=POSTPONE_BUCKET,
            total_buckets=POSTPONE_BUCKET,
            new_files=(),
            deleted_files=tuple(each.entry.file for each in files),
        )
        for partition, files in groupby(waiting, key=lambda each: each.entry.partition)
    ]
