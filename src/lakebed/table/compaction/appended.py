"""Compaction of files of an append table: their rows one after the other, or sorted, in new files.

Rows that a deletion vector marks are left out, and the vector goes with its file.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from lakebed.format.data_file_meta import DataFileMeta, FileSource
from lakebed.lsm.clustering.row_sorter import RowOrdering, RowSorter
from lakebed.lsm.compaction.append import AppendPick
from lakebed.lsm.compaction.pick import Pick
from lakebed.table.compaction.buckets import BucketFiles
from lakebed.table.compaction.row_sample import SampleReader
from lakebed.table.planning.split import Split
from lakebed.table.reading.read import SplitReader
from lakebed.table.reading.row_tracking import RowTrackingReader
from lakebed.table.writing.bucket_writer import BucketWrites
from lakebed.table.writing.commit_message import CommitMessage
from lakebed.table.writing.deletion_vector_files import DeletionVectorFiles, VectorChanges


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendedCompaction:
    """A compaction of some files of one bucket, or of one partition without buckets.

    Attributes:
        stored: The bucket's files.
        directory: Its directory.
        pick: The files, in the order of their rows.
        reader: Reads the table's columns.
        writes: Opens files.
        vectors: Writes deletion vectors.
        ordering: What the rows are sorted by; None where they stay in their order.
        is_tracked: Whether rows have ids, which they keep.
    """

    stored: BucketFiles
    directory: str
    pick: AppendPick | Pick
    reader: SplitReader
    writes: BucketWrites
    vectors: DeletionVectorFiles
    ordering: RowOrdering | None = None
    is_tracked: bool = False

    @property
    def output_level(self) -> int:
        """Where the rows go."""
        return self.pick.output_level

    @property
    def rewritten_bytes(self) -> int:
        """What the files take that are read and written anew."""
        return self.pick.size_bytes

    @property
    def splits(self) -> list[Split]:
        """What is read: the files, one after the other."""
        files = self.stored.files
        return [Split.of_file(files[meta.file_name].split_file) for meta in self.pick.files]

    def run(self) -> CommitMessage:
        """Writes the rows anew; on an error, leaves no file.

        Raises:
            CorruptTableError: A file cannot be read.
            StorageError: A file cannot be written.
        """
        with self.writes.open_compaction(
            self.stored.bucket, directory=self.directory, level=0
        ) as writers:
            for rows in self._rows():
                writers.files.gather(rows)
            return self.message(
                written.meta(
                    schema_id=self.writes.table_schema.id,
                    level=0,
                    created_ms=self.writes.local_millis(),
                    source=FileSource.COMPACT,
                    sequences=written.summary.tracked_range or (0, written.summary.row_count - 1),
                )
                for written in writers.files.finish()
            )

    def message(self, written: Iterable[DataFileMeta]) -> CommitMessage:
        """What replaces the files that were picked; the deletion vectors that stay are written.

        Args:
            written: Files of all their rows, in order, wherever and whenever they were written.

        Raises:
            StorageError: A deletion vector cannot be read or written.
        """
        gone = VectorChanges(gone={meta.file_name for meta in self.pick.files})
        place = (self.stored.partition, self.stored.bucket)
        index = self.vectors.change(place, self.stored.vectors, gone)
        return CommitMessage(
            partition=self.stored.partition,
            bucket=self.stored.bucket,
            total_buckets=self.stored.total_buckets,
            new_files=tuple(
                replace(meta, level=self.output_level, file_source=FileSource.COMPACT)
                for meta in self._numbered(list(written))
            ),
            deleted_files=self.pick.files,
            new_index_files=index.added,
            deleted_index_files=index.deleted,
        )

    def _numbered(self, metas: Sequence[DataFileMeta]) -> Sequence[DataFileMeta]:
        """The files with the sequence numbers of their rows: those that they had."""
        if self.is_tracked:
            return metas
        first = min(meta.min_sequence_number for meta in self.pick.files)
        ends = (first + np.cumsum([meta.row_count for meta in metas])).tolist()
        return [
            replace(meta, min_sequence_number=end - meta.row_count, max_sequence_number=end - 1)
            for meta, end in zip(metas, ends, strict=True)
        ]

    @property
    def _row_reader(self) -> SplitReader | RowTrackingReader:
        if not self.is_tracked:
            return self.reader
        return RowTrackingReader.of(self.reader, self.pick.files)

    def _rows(self) -> Iterator[pa.Table]:
        """The rows of the files in the order in which they are written."""
        if self.ordering is None:
            yield from self._stored_rows()
            return
        ordering = self.ordering
        if ordering.takes_sample:
            ordering = ordering.fitted(self._sample(ordering.columns))
        budget_bytes = self.reader.merge_memory
        with RowSorter(self._row_reader.schema, ordering, budget_bytes=budget_bytes) as sorter:
            for rows in self._stored_rows():
                sorter.add(rows)
            yield from sorter.finish()

    def _sample(self, columns: Sequence[str]) -> pa.Table:
        sampler = SampleReader.of(self.reader, columns, splits=self.splits)
        batches = [batch for split in self.splits for batch in sampler.read(split)]
        return pa.Table.from_batches(batches, sampler.reader.schema)

    def _stored_rows(self) -> Iterator[pa.Table]:
        reader = self._row_reader
        for split in self.splits:
            for batch in reader.read(split):
                yield pa.Table.from_batches([batch])
