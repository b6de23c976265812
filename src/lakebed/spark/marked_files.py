"""How does Spark's own reader leave out the rows that deletion vectors mark?

Each row brings the name of its file and its place there, and a small broadcast relation has the
marks of each file as a bitmap: a row whose bit is set is dropped. Catalyst still prunes columns and
pushes filters into the files.

The name, the place and the bit test cost the same for each row, however few columns it has. In a
Python worker a row costs by its columns, and nothing where a filter that is known drops it. So this
is for frames whose user has not yet said what is needed: for all columns, and no filter.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from lakebed.format.deletion_vector import read_deletion_vector
from lakebed.lsm.section_plan import Mask
from lakebed.storage.file_io import FileIO
from lakebed.table.planning.split import Split, SplitFile
from lakebed.table.reading.scan import Scan

COLUMNS_MIN = 4
"""Of how many columns of a table it is worth a bit test to leave some out."""
_ROWS_MAX = 128 << 20
"""16 MB of bitmaps, which each executor is sent."""
_FILES_MAX = 10_000

_FILE, _ROW = "__lakebed_file", "__lakebed_row"
_MARKED_FILE, _WORDS = "__lakebed_marked_file", "__lakebed_words"
_LOST = "The marks of deleted rows were not found for a file that has some; nothing was read"
_WORD_BITS = 64
_IS_KEPT = (
    f"(shiftright(coalesce(get({_WORDS}, cast(shiftright({_ROW}, 6) as int)),"
    f" raise_error('{_LOST}')), cast({_ROW} & 63 as int)) & 1) = 0"
)
_V1_SOURCES = "spark.sql.sources.useV1SourceList"


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedFiles:
    """Files of which some rows are marked deleted.

    Attributes:
        files: The files, each with a deletion vector.
        file_io: The store.
        threads: How many vectors are read at once.
        columns: How many columns the table has.
        is_filtered: Whether a filter of the rows is known.
    """

    files: Sequence[SplitFile]
    file_io: FileIO
    threads: int
    columns: int
    is_filtered: bool

    @classmethod
    def of(cls, scan: Scan, splits: Sequence[Split]) -> "MarkedFiles":
        """Those among the files of some splits of a scan."""
        return cls(
            files=[f for split in splits for f in split.files if f.deletion_vector is not None],
            file_io=scan.reader.file_io,
            threads=scan.threads,
            columns=len(scan.table_schema.fields),
            is_filtered=scan.reader.predicate is not None,
        )

    @property
    def paths(self) -> list[str]:
        """Where the files are."""
        return [file.path for file in self.files]

    def are_worth_it(self, spark: SparkSession, *, columns: int) -> bool:
        """Whether Spark's reader can tell their rows apart, and costs less than Python workers.

        Args:
            spark: The session.
            columns: How many columns are wanted.
        """
        if self.is_filtered or columns < max(self.columns, COLUMNS_MIN):
            return False
        if len(self.files) > _FILES_MAX:
            return False
        if sum(file.row_count for file in self.files) > _ROWS_MAX:
            return False
        # Files that were taken over from elsewhere may have one name in several partitions.
        if len({_name(file) for file in self.files}) < len(self.files):
            return False
        # Spark's newer reader does not tell where a row stands.
        return "parquet" in (spark.conf.get(_V1_SOURCES, "parquet") or "").lower().split(",")

    def unmarked(self, rows: DataFrame) -> DataFrame:
        """The rows that are not marked.

        Args:
            rows: What Spark reads from the files.

        Raises:
            CorruptTableError: A deletion vector cannot be read.
        """
        told = rows.metadataColumn("_metadata")
        placed = rows.withColumns({_FILE: told["file_name"], _ROW: told["row_index"]})
        marks = F.broadcast(rows.sparkSession.createDataFrame(self._marks()))
        # An outer join, so that no row is lost without a word.
        joined = placed.join(marks, F.col(_FILE) == F.col(_MARKED_FILE), "left")
        return joined.where(_IS_KEPT).drop(_FILE, _ROW, _MARKED_FILE, _WORDS)

    def _marks(self) -> pa.Table:
        """A row a file: its name and its bitmap."""
        with ThreadPoolExecutor(max(min(self.threads, len(self.files)), 1)) as pool:
            words = list(pool.map(partial(_words_of, self.file_io), self.files))
        names = [_name(file) for file in self.files]
        return pa.table({_MARKED_FILE: names, _WORDS: pa.array(words, pa.list_(pa.int64()))})


def to_words(marks: Mask) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Flags as bits, the first of each 64 the lowest of its word."""
    padded = np.zeros(-(-len(marks) // _WORD_BITS) * _WORD_BITS, np.bool_)
    padded[: len(marks)] = marks
    return np.packbits(padded, bitorder="little").view("<i8").astype(np.int64)


def _words_of(file_io: FileIO, file: SplitFile) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    if file.deletion_vector is None:
        raise ValueError(f"{file.path} has no deletion vector")
    return to_words(
        read_deletion_vector(
            file_io, file.deletion_vector, data_file=file.path, row_count=file.row_count
        )
    )


def _name(file: SplitFile) -> str:
    return file.path.rpartition("/")[2]
