"""Compaction of files of an append table: their rows one after the other, in larger files.

Rows that a deletion vector marks are left out, and the vector goes with its file.
"""

from dataclasses import dataclass

import pyarrow as pa

from lakebed.format.data_file_meta import DataFileMeta, FileSource
from lakebed.lsm.compaction.append import AppendPick
from lakebed.table.compaction.buckets import BucketFiles
from lakebed.table.planning.split import Split
from lakebed.table.reading.read import SplitReader
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
    """

    stored: BucketFiles
    directory: str
    pick: AppendPick
    reader: SplitReader
    writes: BucketWrites
    vectors: DeletionVectorFiles

    @property
    def output_level(self) -> int:
        """Append tables have no levels."""
        return 0

    @property
    def rewritten_bytes(self) -> int:
        """What the files take that are read and written anew."""
        return self.pick.size_bytes

    def run(self) -> CommitMessage:
        """Writes the rows anew; on an error, leaves no file.

        Raises:
            CorruptTableError: A file cannot be read.
            StorageError: A file cannot be written.
        """
        metas: list[DataFileMeta] = []
        # Rows keep the numbers that they had.
        first = min(meta.min_sequence_number for meta in self.pick.files)
        with self.writes.open_compaction(
            self.stored.bucket, directory=self.directory, level=0
        ) as writers:
            for meta in self.pick.files:
                file = self.stored.files[meta.file_name].split_file
                for batch in self.reader.read(Split.of_file(file)):
                    writers.files.gather(pa.Table.from_batches([batch]))
            for written in writers.files.finish():
                count = written.summary.row_count
                metas.append(
                    written.meta(
                        schema_id=self.writes.table_schema.id,
                        level=0,
                        created_ms=self.writes.local_millis(),
                        source=FileSource.COMPACT,
                        sequences=(first, first + count - 1),
                    )
                )
                first += count
            gone = VectorChanges(gone={meta.file_name for meta in self.pick.files})
            place = (self.stored.partition, self.stored.bucket)
            index = self.vectors.change(place, self.stored.vectors, gone)
        return CommitMessage(
            partition=self.stored.partition,
            bucket=self.stored.bucket,
            total_buckets=self.stored.total_buckets,
            new_files=tuple(metas),
            deleted_files=self.pick.files,
            new_index_files=index.added,
            deleted_index_files=index.deleted,
        )
