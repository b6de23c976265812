"""How are rows marked deleted in an append table with deletion vectors, whose files stay?"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from lakebed.format.deletion_vector import EncodedVector
from lakebed.format.predicate.evaluation import true_rows
from lakebed.format.predicate.expressions import Expression, columns_of
from lakebed.format.snapshot import Snapshot
from lakebed.lsm.section_plan import Mask
from lakebed.table.committing import delete_written
from lakebed.table.compaction.buckets import BucketFiles, StoredFile, bucket_files, vector_files
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.parts import TableParts
from lakebed.table.planning.split import Split, SplitFile
from lakebed.table.reading.read import SplitReader
from lakebed.table.reading.scan_source import SnapshotSource
from lakebed.table.spreading import Spread, threads
from lakebed.table.writing.commit_message import CommitMessage
from lakebed.table.writing.deletion_vector_files import DeletionVectorFiles, VectorChanges

RowsOf = Callable[[SplitFile], Mask]


def mark_matching(
    parts: TableParts, snapshot: Snapshot, where: str | Expression | None
) -> list[CommitMessage]:
    """Marks the rows for which a condition is true, all rows without one; as `mark_rows`.

    Raises:
        InvalidArgumentError: An unknown column or a bad condition.
    """
    scan = parts.scan(SnapshotSource(snapshot=snapshot), where=where)
    predicate = scan.reader.predicate
    paths = {path for split in scan.plan().splits for path in split.file_paths}
    if predicate is None:
        return mark_rows(
            parts, snapshot, paths, rows_of=lambda file: np.ones(file.row_count, np.bool_)
        )
    reader = replace(scan.reader, predicate=None, columns=tuple(sorted(columns_of(predicate))))
    return mark_rows(
        parts, snapshot, paths, rows_of=lambda file: _matching(reader, file, predicate)
    )


def mark_rows(
    parts: TableParts, snapshot: Snapshot, paths: Collection[str], *, rows_of: RowsOf
) -> list[CommitMessage]:
    """Deletes rows of data files by deletion vectors; a file that loses its last rows goes.

    Args:
        parts: The table.
        snapshot: Where the rows are.
        paths: Paths of the data files that may hold some.
        rows_of: Gives one flag a row of a file, in several threads; rows that are deleted already
            may have it, too.

    Returns:
        What is to be committed, of the buckets where a file has such rows. On an error, no file is
        left.

    Raises:
        CorruptTableError: A file or its deletion vector cannot be read.
        UnsupportedError: A row is too far back for the bitmaps that the table asks for.
    """
    names = {path.rpartition("/")[2] for path in paths}
    marks = _Marks(
        files=vector_files(parts),
        reader=parts.scan(SnapshotSource(snapshot=snapshot)).reader,
        paths=frozenset(paths),
        rows_of=rows_of,
    )
    messages: list[CommitMessage] = []
    try:
        with threads(parts) as spread:
            for stored in bucket_files(parts, snapshot, EveryPartition(), names=names):
                messages += marks.of_bucket(stored, spread)
    except BaseException:
        delete_written(parts, messages)
        raise
    return messages


def _matching(reader: SplitReader, file: SplitFile, predicate: Expression) -> Mask:
    tables = (pa.Table.from_batches([batch]) for batch in reader.read(Split.of_file(file)))
    flags = [np.zeros(0, np.bool_), *(true_rows(predicate, rows) for rows in tables)]
    removed = reader.removed(file)
    rows = np.zeros(file.row_count, np.bool_)
    rows[slice(None) if removed is None else ~removed] = np.concatenate(flags)
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class _Marks:
    """Rows to delete.

    Attributes:
        files: Writes deletion vectors.
        reader: Reads them.
        paths: Paths of the data files that may have such rows.
        rows_of: Says which rows of a file they are.
    """

    files: DeletionVectorFiles
    reader: SplitReader
    paths: frozenset[str]
    rows_of: RowsOf

    def of_bucket(self, stored: BucketFiles, spread: Spread) -> list[CommitMessage]:
        """What deletes the rows of a bucket; nothing where it has none."""
        files = [file for file in stored.files.values() if file.split_file.path in self.paths]
        vectors: dict[str, EncodedVector] = {}
        gone = []
        for file, vector in zip(files, spread(self._vector, files), strict=True):
            if vector is None:
                continue
            if vector.cardinality == file.meta.row_count:
                gone.append(file.meta)
            else:
                vectors[file.meta.file_name] = vector
        if not vectors and not gone:
            return []
        place = (stored.partition, stored.bucket)
        changes = VectorChanges(vectors=vectors, gone={meta.file_name for meta in gone})
        index = self.files.change(place, stored.vectors, changes)
        return [
            CommitMessage(
                partition=stored.partition,
                bucket=stored.bucket,
                total_buckets=stored.total_buckets,
                new_files=(),
                deleted_files=tuple(gone),
                new_index_files=index.added,
                deleted_index_files=index.deleted,
            )
        ]

    def _vector(self, file: StoredFile) -> EncodedVector | None:
        """What marks all deleted rows of a file; None where no row is new among them."""
        rows, removed = self.rows_of(file.split_file), self.reader.removed(file.split_file)
        if removed is not None:
            rows = rows & ~removed
        if not rows.any():
            return None
        deleted = rows if removed is None else rows | removed
        return self.files.encode(deleted, data_file=file.meta.file_name)
