"""What runs in Spark's Python workers: splits are read there, and rows are written.

Little is imported here, because every worker does. What a task needs travels as pickled bytes, so
that libraries with threads of their own are told to use one before they are loaded.
"""

import os
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, Self, cast

import pyarrow as pa

from lakebed.errors import LakebedError, StorageError
from lakebed.spark.microseconds import cut_to_microseconds

RESULT_COLUMN = "result"
RESULT_SCHEMA = pa.schema([pa.field(RESULT_COLUMN, pa.binary())])

_BATCH_ROWS = 16_384


class Rows(Protocol):
    """Reads splits (`table.read.SplitReader`)."""

    def read(self, split: object) -> Iterator[pa.RecordBatch]:
        """The rows of one split."""
        ...


class RowsSink(Protocol):
    """Writes rows of any buckets (`table.rows_writer.RowsWriter`)."""

    def add(self, data: pa.RecordBatch) -> None:
        """Takes rows."""
        ...

    def finish(self) -> list[object]:
        """What was written."""
        ...

    def __enter__(self) -> Self:
        """Starts writing."""
        ...

    def __exit__(self, *error: object) -> None:
        """On an error, deletes what was written."""
        ...


class RowsTarget(Protocol):
    """Where rows go; travels to tasks."""

    def open(self) -> RowsSink:
        """Starts writing in this task."""
        ...


@dataclass(frozen=True, slots=True)
class ReadSplits:
    """Reads the splits whose group numbers come in.

    Attributes:
        reader: The pickled reader.
        groups: Pickled splits, group by group.
        schema: What Spark expects, to the letter.
    """

    reader: bytes
    groups: tuple[bytes, ...]
    schema: pa.Schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Rows of the groups."""
        _use_one_thread()
        reader = cast("Rows", pickle.loads(self.reader))
        for batch in batches:
            for group in cast("list[int]", batch.column(0).to_pylist()):
                for split in pickle.loads(self.groups[group]):
                    for rows in reader.read(split):
                        yield from _cut(to_schema(rows, self.schema))


@dataclass(frozen=True, slots=True)
class WriteRows:
    """Writes the rows of a task and returns commit messages, or why there are none.

    An error that trying again cannot mend is returned as a value: raised, Spark would run the task
    again and wrap the message.

    Attributes:
        target: The pickled target.
    """

    target: bytes

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row with what was written."""
        _use_one_thread()
        target = cast("RowsTarget", pickle.loads(self.target))
        try:
            with target.open() as sink:
                for batch in batches:
                    sink.add(batch)
                result: object = sink.finish()
        except LakebedError as error:
            if isinstance(error, StorageError) and error.retryable:
                raise
            result = error
        row = pa.array([pickle.dumps(result)], pa.binary())
        yield pa.RecordBatch.from_arrays([row], schema=RESULT_SCHEMA)


def to_schema(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The batch in exactly these types; times lose what is behind microseconds."""
    columns = [
        column
        if column.type == field.type
        else cut_to_microseconds(column).cast(field.type, safe=False)
        for column, field in zip(batch.columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _cut(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    for start in range(0, batch.num_rows, _BATCH_ROWS):
        yield batch.slice(start, _BATCH_ROWS)


def _use_one_thread() -> None:
    os.environ["POLARS_MAX_THREADS"] = "1"
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
