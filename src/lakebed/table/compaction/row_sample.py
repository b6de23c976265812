"""Some rows of all that are sorted, which say how a curve is best laid through them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import pyarrow as pa

from lakebed.table.planning.split import Split
from lakebed.table.reading.read import SplitReader

# Many for each of the bounds that come of them.
_ROWS = 1 << 17


@dataclass(frozen=True, slots=True)
class SampleReader:
    """Reads every so manieth row; travels to tasks.

    Attributes:
        reader: Reads the columns.
        step: Which rows of a batch.
    """

    reader: SplitReader
    step: int

    @classmethod
    def of(cls, reader: SplitReader, columns: Sequence[str], *, splits: Sequence[Split]) -> Self:
        """A reader of enough rows.

        Args:
            reader: Reads the rows.
            columns: The columns that are wanted.
            splits: All that is sorted.
        """
        row_count = sum(split.row_count for split in splits)
        return cls(replace(reader, columns=tuple(columns)), row_count // _ROWS + 1)

    def read(self, split: Split) -> Iterator[pa.RecordBatch]:
        """Some rows of one split."""
        for batch in self.reader.read(split):
            yield batch.take(pa.array(np.arange(0, batch.num_rows, self.step), pa.int64()))
