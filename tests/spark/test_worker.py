"""What a task of Spark's Python workers does with batches and errors; no session needed."""

import pickle
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Self

import pyarrow as pa
import pytest

from lakebed.errors import InvalidDataError, LakebedError, StorageError
from lakebed.spark.worker import ReadSplits, Renamed, WriteRows

SCHEMA = pa.schema([pa.field("id", pa.int64())])
ended: list[type[BaseException] | None] = []
"""With which error, if any, each sink was closed; tasks have their own copies of what they get."""


@dataclass
class Sink:
    error: LakebedError | None
    ids: list[object] = field(default_factory=list)

    def add(self, data: pa.RecordBatch) -> None:
        self.ids += data.column(0).to_pylist()
        if self.error is not None:
            raise self.error

    def finish(self) -> list[object]:
        return self.ids

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        ended.append(kind)


@dataclass(frozen=True)
class Target:
    error: LakebedError | None = None

    def open(self) -> Sink:
        return Sink(self.error)


class Reader:
    def read(self, split: int) -> Iterator[pa.RecordBatch]:
        yield batch(range(split))


@pytest.fixture(autouse=True)
def threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A task uses one thread; afterwards this process has its own again."""
    monkeypatch.setenv("POLARS_MAX_THREADS", "1")
    cpu, io = pa.cpu_count(), pa.io_thread_count()
    ended.clear()
    yield
    pa.set_cpu_count(cpu)
    pa.set_io_thread_count(io)


def batch(ids: range) -> pa.RecordBatch:
    return pa.record_batch([pa.array(ids, pa.int64())], schema=SCHEMA)


def result(target: Target) -> object:
    write = WriteRows(pickle.dumps(target))
    (answer,) = write(iter([batch(range(2)), batch(range(2, 5))]))
    return pickle.loads(answer.column(0)[0].as_py())


def test_all_batches_of_a_task_are_written() -> None:
    assert result(Target()) == [0, 1, 2, 3, 4]
    assert ended == [None]


def test_an_error_that_may_pass_is_raised_so_that_spark_runs_the_task_again() -> None:
    with pytest.raises(StorageError, match="busy"):
        result(Target(StorageError("s3://b/f", "busy", retryable=True)))
    assert ended == [StorageError]


@pytest.mark.parametrize("error", [InvalidDataError("no"), StorageError("file:/f", "is gone")])
def test_an_error_that_stays_is_the_result_and_the_sink_is_closed_with_it(
    error: LakebedError,
) -> None:
    found = result(Target(error))
    assert (type(found), str(found)) == (type(error), str(error))
    assert ended == [type(error)]


def test_columns_have_their_own_names_in_the_task() -> None:
    (found,) = Renamed(lambda batches: batches, ("a`b.c",))(iter([batch(range(2))]))
    assert found.to_pydict() == {"a`b.c": [0, 1]}


@pytest.mark.parametrize("count", [0, 1, 16_384, 16_385, 40_000])
def test_every_row_of_a_split_is_given_to_spark(count: int) -> None:
    read = ReadSplits(pickle.dumps(Reader()), (pickle.dumps([count, 2]),), SCHEMA)
    rows = list(read(iter([pa.record_batch([pa.array([0])], names=["group"])])))
    found = [value for each in rows for value in each.column(0).to_pylist()]
    assert found == [*range(count), 0, 1]
    assert max(each.num_rows for each in rows) <= 16_384
