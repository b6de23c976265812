"""Ranges of a sort that several tasks write, without Spark: rows and nulls as they were."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

import lakebed
from lakebed.errors import InvalidDataError, LakebedError
from lakebed.format.data_file_meta import FileSource
from lakebed.lsm.compaction.levels import size_of
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.compaction.appended import AppendedCompaction
from lakebed.table.compaction.job import CompactionJob, compaction_job
from lakebed.table.compaction.sort_order import chosen_ordering
from lakebed.table.compaction.sorted_ranges import (
    KeyedReader,
    RangeTarget,
    replacements,
)
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.table import Table
from lakebed.table.writing.commit_message import CommitMessage
from support.effects import open_catalog
from support.store_listing import data_files

ROW_COUNT = 100


@pytest.fixture
def table() -> Table:
    """Two files, with nulls in a column that writers would fill with its default."""
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    columns = lakebed.schema([("a", "INT"), ("b", "INT", {"default": "7"})])
    options = {"target-file-row-num": "100", "write-buffer-size": "1 b"}
    table = catalog.create_table("db.t", schema=columns, options=options)
    numbers = np.random.default_rng(1).permutation(2 * ROW_COUNT)
    for part in np.split(numbers, 2):
        table.append(pa.table({"a": pa.array(part, pa.int32()), "b": pa.array(part, pa.int32())}))
    return table


def job_of(table: Table) -> CompactionJob:
    parts = table.parts()
    ordering = chosen_ordering(parts, "zorder", "a,b")
    return compaction_job(parts, None, EveryPartition(), ordering=ordering)


def sorts_of(job: CompactionJob) -> list[AppendedCompaction]:
    return [each for each in job.compactions if isinstance(each, AppendedCompaction)]


def sorted_batches(compactions: list[AppendedCompaction]) -> Iterator[pa.RecordBatch]:
    """What Spark would hand to the tasks, a batch each, with nulls and narrow batches."""
    (ordering,) = {each.ordering for each in compactions if each.ordering is not None}
    rows = pa.table({"a": np.arange(2 * ROW_COUNT), "b": np.arange(2 * ROW_COUNT)})
    keyed = KeyedReader(compactions[0].reader, ordering.fitted(rows))
    batches = [batch for each in compactions for s in each.splits for batch in keyed.read(s)]
    rows = pa.Table.from_batches(batches).sort_by([(name, "ascending") for name in keyed.key_names])
    rows = rows.drop_columns(list(keyed.key_names)).combine_chunks()
    nulls = pa.array([None] * rows.num_rows, pa.int32())
    yield from rows.set_column(1, "b", nulls).to_batches(max_chunksize=ROW_COUNT)


def written(job: CompactionJob, batches: list[pa.RecordBatch]) -> list[CommitMessage]:
    messages: list[CommitMessage] = []
    for batch in batches:
        with RangeTarget(job.parts, job.base).open() as rows:
            rows.add(batch)
            messages.extend(rows.finish())
    return messages


def test_what_tasks_wrote_replaces_the_files_in_order_and_nulls_stay_nulls(table: Table) -> None:
    job = job_of(table)
    sorts = sorts_of(job)
    (message,) = replacements(sorts, written(job, list(sorted_batches(sorts))))
    assert message.deleted_files == sorts[0].pick.files
    assert size_of(message.deleted_files) == sorts[0].rewritten_bytes
    first, second = message.new_files
    assert {first.file_source, second.file_source} == {FileSource.COMPACT}
    assert (first.min_sequence_number, first.max_sequence_number) == (0, ROW_COUNT - 1)
    assert second.min_sequence_number == ROW_COUNT
    job.commit([message])
    rows = table.scan().to_arrow()
    assert sorted(rows["a"].to_numpy()) == list(range(2 * ROW_COUNT))
    assert rows["b"].null_count == 2 * ROW_COUNT


def test_a_row_that_did_not_arrive_stops_the_commit(table: Table) -> None:
    job = job_of(table)
    sorts = sorts_of(job)
    first, second = sorted_batches(sorts)
    messages = written(job, [first, second.slice(1)])
    with pytest.raises(LakebedError, match="200 rows were read to be sorted, and 199 written"):
        list(replacements(sorts, messages))


def test_a_task_that_fails_leaves_no_file(table: Table) -> None:
    job = job_of(table)
    before = data_files(table.file_io, table.location)
    first, second = sorted_batches(sorts_of(job))
    wrong = second.set_column(0, "a", second.column("a").cast(pa.string()))

    def write() -> None:
        with RangeTarget(job.parts, job.base).open() as rows:
            rows.add(first)
            assert data_files(table.file_io, table.location) > before
            rows.add(wrong)

    with pytest.raises(InvalidDataError, match="'a' is int32"):
        write()
    assert data_files(table.file_io, table.location) == before
