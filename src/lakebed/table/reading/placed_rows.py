"""How does a reader say where each row of an append table stands: in which file, at which place?"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lakebed.table.planning.split import Split, SplitFile
from lakebed.table.reading.read import SplitReader
from lakebed.table.reading.row_tracking import RowTrackingReader

FILE_NUMBER, ROW_NUMBER = "__lakebed_file", "__lakebed_row"
"""Columns that say which file, by a number that is given, and which of its rows from 0 on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedReader:
    """Reads the live rows of files with their places; travels to Spark's workers.

    Attributes:
        reader: Reads the rows; without a predicate, which would take rows out unseen.
        numbers: The number of each file, by its path.
    """

    reader: SplitReader | RowTrackingReader
    numbers: Mapping[str, int]

    def read(self, split: Split) -> Iterator[pa.RecordBatch]:
        """The rows of one split, each with its place in the last two columns."""
        for file in split.files:
            yield from self._read_file(file)

    def _read_file(self, file: SplitFile) -> Iterator[pa.RecordBatch]:
        removed = self.reader.removed(file)
        places = np.arange(file.row_count, dtype=np.int64)
        if removed is not None:
            places = places[~removed]
        start = 0
        for rows in self.reader.read(Split.of_file(file)):
            end = start + rows.num_rows
            number = np.full(rows.num_rows, self.numbers[file.path], np.int32)
            yield pa.RecordBatch.from_arrays(
                [*rows.columns, pa.array(number), pa.array(places[start:end])],
                names=[*rows.schema.names, FILE_NUMBER, ROW_NUMBER],
            )
            start = end
