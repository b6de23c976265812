"""A sort of partitions that many tasks share: each writes a range of the rows.

Rows are read together with what they are sorted by; whoever runs the tasks brings the rows of a
range together and in order, by partition and then by these keys. What the tasks wrote replaces the
files that were read, as if one task had sorted all.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import pyarrow as pa

from lakebed.errors import LakebedError
from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.data_file_meta import DataFileMeta
from lakebed.lsm.clustering.row_sorter import RowOrdering
from lakebed.table.compaction.appended import AppendedCompaction
from lakebed.table.parts import TableParts, WriteBase
from lakebed.table.planning.split import Split
from lakebed.table.reading.read import SplitReader
from lakebed.table.routers import rows_writer
from lakebed.table.writing.align import align_column
from lakebed.table.writing.commit_message import CommitMessage
from lakebed.table.writing.rows_writer import RowsWriter


@dataclass(frozen=True, slots=True)
class KeyedReader:
    """Reads rows with what they are sorted by; travels to tasks.

    Attributes:
        reader: Reads the rows.
        ordering: What they are sorted by.
    """

    reader: SplitReader
    ordering: RowOrdering

    @property
    def key_names(self) -> tuple[str, ...]:
        """The columns that the rows are sorted by, nulls first; not all are the table's."""
        _, names = self.ordering.with_keys(self.reader.schema.empty_table())
        return names

    def read(self, split: Split) -> Iterator[pa.RecordBatch]:
        """The rows of one split, their keys behind the table's columns."""
        for batch in self.reader.read(split):
            rows, _ = self.ordering.with_keys(pa.Table.from_batches([batch]))
            yield from rows.to_batches()


@dataclass(frozen=True, slots=True)
class RangeTarget:
    """Where the rows of a range go; travels to tasks.

    Attributes:
        parts: The table.
        base: The table's state when the rows were read.
    """

    parts: TableParts
    base: WriteBase

    def open(self) -> "RangeWriter":
        """Starts writing in this task."""
        return RangeWriter(rows_writer(self.parts, self.base))


@dataclass(frozen=True, slots=True)
class RangeWriter:
    """Writes rows in the order in which they come.

    Attributes:
        rows: Writes the rows of all partitions.
    """

    rows: RowsWriter

    def add(self, batch: pa.RecordBatch) -> None:
        """Takes rows; what is null stays null, though the column have a default."""
        schema = self.rows.schema
        columns = [
            align_column(
                pa.chunked_array([batch.column(field.name)]), replace(field, default_value=None)
            )
            for field in schema.fields
        ]
        self.rows.add_aligned(pa.table(columns, schema=to_arrow_schema(schema.fields)), None)

    def finish(self) -> list[CommitMessage]:
        """What was written, a message a partition."""
        return self.rows.finish()

    def __enter__(self) -> Self:
        """Nothing is opened before the first row."""
        self.rows.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        """On an error, deletes every file written."""
        self.rows.__exit__(*error)


def replacements(
    compactions: Sequence[AppendedCompaction], written: Sequence[CommitMessage]
) -> Iterator[CommitMessage]:
    """What replaces the files that some compactions picked, one after the other.

    Args:
        compactions: The compactions.
        written: What the tasks wrote, range by range.

    Raises:
        LakebedError: The tasks did not write as many rows as there were.
    """
    files: defaultdict[bytes, list[DataFileMeta]] = defaultdict(list)
    for message in written:
        files[message.partition].extend(message.new_files)
    for each in compactions:
        expected = sum(each.reader.count(split) for split in each.splits)
        found = sum(meta.row_count for meta in files[each.stored.partition])
        if found != expected:
            raise LakebedError(
                f"{each.directory}: {expected} rows were read to be sorted, and {found} written;"
                " nothing was committed"
            )
    for each in compactions:
        yield each.message(files[each.stored.partition])
