"""What runs in Spark's Python workers: splits are read there, and rows are written.

Little is imported here, because every worker does. What a task needs travels as pickled bytes, so
that libraries with threads of their own are told to use one before they are loaded.
"""

import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Protocol, Self, cast

import pyarrow as pa

from lakebed.errors import LakebedError, StorageError
from lakebed.spark.microseconds import cut_to_microseconds

RESULT_COLUMN = "result"
RESULT_SCHEMA = pa.schema([pa.field(RESULT_COLUMN, pa.binary())])

_BATCH_ROWS = 16_384

Batches = Iterator[pa.RecordBatch]


class Rows(Protocol):
    """Reads splits (`table.read.SplitReader`)."""

    def read(self, split: object) -> Batches:
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


class RowsMerger(Protocol):
    """Merges rows of one key (`table.writing.local_merge.LocalMerger`)."""

    def add(self, rows: pa.RecordBatch) -> Batches:
        """Takes rows, and gives out those that there is no room for."""
        ...

    def finish(self) -> Batches:
        """The rest."""
        ...


class RowsMerge(Protocol):
    """How rows of one key become one; travels to tasks."""

    def open(self) -> RowsMerger:
        """Starts merging in this task."""
        ...


class RowsTarget(Protocol):
    """Where rows go; travels to tasks."""

    def open(self) -> RowsSink:
        """Starts writing in this task."""
        ...


class Work(Protocol):
    """Writes files anew (`table.compaction.job.CompactionJob`); travels to tasks."""

    def run(self) -> list[object]:
        """What was written; on an error, nothing is left of it."""
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

    def __call__(self, batches: Batches) -> Batches:
        """Rows of the groups."""
        for batch in batches:
            yield from self._read(cast("list[int]", batch.column(0).to_pylist()))

    def read_all(self) -> Batches:
        """Rows of all groups, in their order."""
        return self._read(range(len(self.groups)))

    def _read(self, numbers: Iterable[int]) -> Batches:
        _use_one_thread()
        reader = cast("Rows", pickle.loads(self.reader))
        for number in numbers:
            for split in pickle.loads(self.groups[number]):
                for rows in reader.read(split):
                    yield from _cut(to_schema(rows, self.schema))


@dataclass(frozen=True, slots=True)
class MergeRows:
    """Merges the rows of a task that have one key.

    Attributes:
        merge: The pickled merge.
    """

    merge: bytes

    def __call__(self, batches: Batches) -> Batches:
        """Rows of the same columns."""
        _use_one_thread()
        merger = cast("RowsMerge", pickle.loads(self.merge)).open()
        for batch in batches:
            for rows in merger.add(batch):
                yield from _cut(rows)
        for rows in merger.finish():
            yield from _cut(rows)


@dataclass(frozen=True, slots=True)
class WriteRows:
    """Writes the rows of a task and returns commit messages, or why there are none.

    Attributes:
        target: The pickled target.
    """

    target: bytes

    def __call__(self, batches: Batches) -> Batches:
        """One row with what was written."""
        _use_one_thread()
        target = cast("RowsTarget", pickle.loads(self.target))

        def write() -> object:
            with target.open() as sink:
                for batch in batches:
                    sink.add(batch)
                return sink.finish()

        yield _outcome(write)


@dataclass(frozen=True, slots=True)
class RunWork:
    """Does the work whose numbers come in and returns commit messages, or why there are none.

    Attributes:
        pieces: Pickled work.
    """

    pieces: tuple[bytes, ...]

    def __call__(self, batches: Batches) -> Batches:
        """One row a piece with what was written."""
        _use_one_thread()
        for batch in batches:
            for number in cast("list[int]", batch.column(0).to_pylist()):
                work = cast("Work", pickle.loads(self.pieces[number]))
                yield _outcome(work.run)


@dataclass(frozen=True, slots=True)
class RunCalls:
    """Calls a function for each value of the groups whose numbers come in.

    Attributes:
        function: The pickled function.
        groups: Pickled values, group by group.
    """

    function: bytes
    groups: tuple[bytes, ...]

    def __call__(self, batches: Batches) -> Batches:
        """One row a group: its number and what the calls gave, or why they gave nothing."""
        _use_one_thread()
        function = cast("Callable[[object], object]", pickle.loads(self.function))
        for batch in batches:
            for number in cast("list[int]", batch.column(0).to_pylist()):
                yield _outcome(partial(self._called, function, number))

    def _called(
        self, function: Callable[[object], object], number: int
    ) -> tuple[int, list[object]]:
        return number, list(map(function, pickle.loads(self.groups[number])))


def _outcome(write: Callable[[], object]) -> pa.RecordBatch:
    """One row with what was written.

    An error that trying again cannot mend is returned as a value: raised, Spark would run the task
    again and wrap the message.
    """
    try:
        result = write()
    except LakebedError as error:
        if isinstance(error, StorageError) and error.retryable:
            raise
        result = error
    row = pa.array([pickle.dumps(result)], pa.binary())
    return pa.RecordBatch.from_arrays([row], schema=RESULT_SCHEMA)


@dataclass(frozen=True, slots=True)
class Renamed:
    """Does something to rows whose columns have other names on their way to Python.

    Attributes:
        function: What is done.
        columns: The names of the columns.
    """

    function: Callable[[Batches], Batches]
    columns: tuple[str, ...]

    def __call__(self, batches: Batches) -> Batches:
        """What the function makes of the rows."""
        return self.function(batch.rename_columns(list(self.columns)) for batch in batches)


def same_rows(batches: Batches) -> Batches:
    """What comes in; sent by name, so a worker has to import this module to run it."""
    yield from batches


def to_schema(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The batch in exactly these types; times lose what is behind microseconds."""
    columns = [
        column
        if column.type == field.type
        else cut_to_microseconds(column).cast(field.type, safe=False)
        for column, field in zip(batch.columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _cut(batch: pa.RecordBatch) -> Batches:
    for start in range(0, batch.num_rows, _BATCH_ROWS):
        yield batch.slice(start, _BATCH_ROWS)


def _use_one_thread() -> None:
    os.environ["POLARS_MAX_THREADS"] = "1"
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
