"""How do rows that wait in `bucket-postpone` get their buckets as a Spark job?

Tasks read the waiting files and tell of each row its bucket and its place in the order in which all
were written. A shuffle brings the rows of a bucket to one task, which sorts them by that place: of
two rows of a key the later one wins, whoever wrote the files.
"""

import pickle
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

import numpy as np
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know
from pyspark.sql.types import ByteType, IntegerType, LongType

from lakebed.errors import LakebedError
from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.key_value import VALUE_KIND
from lakebed.options.table_options import TableOptions
from lakebed.spark.compaction import SMALL_BYTES
from lakebed.spark.distribution import ONE_TASK_BYTES
from lakebed.spark.job_description import described
from lakebed.spark.reader import split_frame
from lakebed.spark.registry import Registry
from lakebed.spark.tasks import run_tasks
from lakebed.spark.types import is_native, to_spark_schema
from lakebed.spark.worker import WriteRows, to_schema
from lakebed.table.compaction.postponed import WaitingRows
from lakebed.table.parts import TableParts, WriteBase
from lakebed.table.planning.split import Split, SplitFile
from lakebed.table.reading.read import SplitReader
from lakebed.table.routers import rows_writer
from lakebed.table.writing.commit_message import CommitMessage
from lakebed.table.writing.postpone import PostponedSize
from lakebed.table.writing.routing import hashed_buckets
from lakebed.table.writing.row_stage import staged_bytes
from lakebed.table.writing.rows_writer import RowsWriter

_TASK, _ORDER = "__lakebed_task", "__lakebed_order"
# Files by number, and the rows of each by theirs.
_FILE_ROW_BITS = 40
_SAMPLE_ROWS = 20_000


def place_in_tasks(
    spark: SparkSession,
    registry: Registry,
    waiting: WaitingRows,
    *,
    small_bytes: int = SMALL_BYTES,
    one_task_bytes: int = ONE_TASK_BYTES,
) -> list[CommitMessage]:
    """Writes rows that wait into their buckets; in the driver where they are few.

    So are rows written of types that Spark would cut.

    Args:
        spark: The session.
        registry: The session's registry.
        waiting: The rows.
        small_bytes: Up to how many bytes they are written in the driver.
        one_task_bytes: How many bytes a task may as well write.

    Raises:
        CorruptTableError: A file cannot be read; nothing was written.
        LakebedError: The Spark job failed; no row left its place.
        StorageError: A file cannot be written; nothing was.
    """
    fields = waiting.parts.schema.fields
    if waiting.size_bytes <= small_bytes or not all(is_native(field.type) for field in fields):
        return waiting.write()
    wanted = -(-waiting.size_bytes // one_task_bytes)
    tasks = min(wanted, registry.parallelism(spark))
    counts = _bucket_counts(waiting)
    reader = WaitingReader(reader=waiting.reader, options=waiting.parts.options, tasks=tasks)
    schema = (
        to_spark_schema(fields)
        .add(VALUE_KIND.name, ByteType(), nullable=False)
        .add(_TASK, IntegerType(), nullable=False)
        .add(_ORDER, LongType(), nullable=False)
    )
    in_task = replace(waiting.parts, session=replace(waiting.parts.session, read_threads=1))
    target = WaitingTarget(in_task, replace(waiting.base, counts=counts))
    pieces = _pieces(waiting, counts)
    try:
        with described(spark, f"place postponed rows of {waiting.parts.paths.location}"):
            rows = split_frame(spark, registry, pieces, reader=reader, schema=schema)
            dealt = rows.repartitionById(tasks, F.col(_TASK)).sortWithinPartitions(_ORDER)
            return run_tasks(dealt, WriteRows(pickle.dumps(target)), waiting.parts)
    except PySparkException as error:
        raise LakebedError(f"rows were not placed by a Spark job: {error}") from error


def _bucket_counts(waiting: WaitingRows) -> dict[bytes, int]:
    """The bucket count of each partition; tasks could not agree on one of their own."""
    size = PostponedSize.of(waiting.parts.options)
    rows: dict[bytes, int] = {}
    for each in waiting.files:
        rows[each.entry.partition] = rows.get(each.entry.partition, 0) + each.file.row_count
    new = [partition for partition in rows if partition not in waiting.base.counts]
    row_bytes = 0.0
    if new and size.fixed is None and size.target_rows is None:
        sample = next(waiting.batches()).slice(0, _SAMPLE_ROWS)
        row_bytes = staged_bytes(pa.Table.from_batches([sample])) / max(sample.num_rows, 1)
    found = {
        partition: size.buckets(
            row_count=rows[partition], size_bytes=round(rows[partition] * row_bytes)
        )
        for partition in new
    }
    return {**found, **waiting.base.counts}


def _pieces(waiting: WaitingRows, counts: dict[bytes, int]) -> list["WaitingPiece"]:
    first: dict[bytes, int] = {}
    buckets = 0
    for each in waiting.files:
        if each.entry.partition not in first:
            first[each.entry.partition] = buckets
            buckets += counts[each.entry.partition]
    return [
        WaitingPiece(
            file=each.file,
            number=number,
            first_bucket=first[each.entry.partition],
            total_buckets=counts[each.entry.partition],
        )
        for number, each in enumerate(waiting.files)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingPiece:
    """A file of rows that wait.

    Attributes:
        file: The file.
        number: Its place in the order in which the files were written.
        first_bucket: The number of its partition's first bucket among those of all partitions.
        total_buckets: How many its partition has.
    """

    file: SplitFile
    number: int
    first_bucket: int
    total_buckets: int

    @property
    def size_bytes(self) -> int:
        """Bytes of the file."""
        return self.file.size_bytes

    @property
    def row_count(self) -> int:
        """Rows of the file."""
        return self.file.row_count


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingReader:
    """Reads pieces; travels to tasks.

    Attributes:
        reader: Reads the columns of the table and the kind of each row.
        options: Of the table.
        tasks: How many tasks write the rows.
    """

    reader: SplitReader
    options: TableOptions
    tasks: int

    def read(self, piece: WaitingPiece) -> Iterator[pa.RecordBatch]:
        """The rows, the task of each, and its place among all rows."""
        order = piece.number << _FILE_ROW_BITS
        for batch in self.reader.read(Split.of_file(piece.file)):
            buckets = hashed_buckets(
                pa.Table.from_batches([batch]),
                self.reader.table_schema,
                self.options,
                total_buckets=piece.total_buckets,
            )
            task = (piece.first_bucket + buckets) % self.tasks
            yield batch.append_column(_TASK, pa.array(task, pa.int32())).append_column(
                _ORDER, pa.array(np.arange(order, order + batch.num_rows), pa.int64())
            )
            order += batch.num_rows


@dataclass(frozen=True, slots=True)
class WaitingTarget:
    """Where the rows of a task go; travels to tasks.

    Attributes:
        parts: The table.
        base: What the tasks start from, with the bucket count of each partition.
    """

    parts: TableParts
    base: WriteBase

    def open(self) -> "PlacedRows":
        """Starts writing in this task."""
        return PlacedRows(rows_writer(self.parts, self.base))


@dataclass(frozen=True, slots=True)
class PlacedRows:
    """Takes rows in their order.

    Attributes:
        rows: Writes them.
    """

    rows: RowsWriter

    def add(self, data: pa.RecordBatch) -> None:
        """Takes a batch of what `WaitingReader` reads."""
        names = self.rows.schema.names
        kinds = data.column(VALUE_KIND.name).to_numpy()
        aligned = to_schema(data.select(names), to_arrow_schema(self.rows.schema.fields))
        self.rows.add_aligned(pa.Table.from_batches([aligned]), kinds)

    def finish(self) -> list[CommitMessage]:
        """What was written."""
        return self.rows.finish()

    def __enter__(self) -> Self:
        """Starts writing."""
        self.rows.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """On an error, deletes every file written."""
        self.rows.__exit__(kind, error, trace)
