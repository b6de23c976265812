"""How rows of one bucket become data files and a commit message, in a task or in process.

A `BucketWrites` is a value that travels to tasks; it opens a `BucketWriter` for each bucket that a
task meets. Rows come aligned (`align`): the table's columns in order and type.

Memory: a writer of a primary-key table holds rows until `flush`, of an append table until they make
a row group; `held_bytes` says how much, and whoever owns the writers decides when it is enough.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.arrow.types import parquet_schema
from lakebed.format.data_file_meta import DataFileMeta, FileSource
from lakebed.format.key_value import SEQUENCE_NUMBER, VALUE_KIND, data_file_fields
from lakebed.format.parquet.write import ParquetSettings, check_writable
from lakebed.format.paths import FileNames, TablePaths
from lakebed.format.schema import KEY_FIELD_PREFIX, TableSchema
from lakebed.lsm.merge import deduplicate
from lakebed.lsm.write_buffer import SortedRows, WriteBuffer
from lakebed.options.table_options import TableOptions
from lakebed.storage.file_io import FileIO
from lakebed.table.writing.commit_message import CommitMessage
from lakebed.table.writing.file_summary import FileSummary, SummaryPlan
from lakebed.table.writing.rolling import (
    ROW_GROUP_BYTES,
    RollingSettings,
    RollingWriter,
    WrittenFile,
)

Kinds = npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketWrites:
    """Opens writers for the buckets of one table.

    Attributes:
        file_io: The store.
        paths: Names on disk.
        table_schema: The schema that is written.
        options: The table's options.
        uuid_source: Gives a fresh uuid in every process.
        local_millis: Wall clock of `lakebed.time-zone` in epoch form, as format.md 7 wants it.
        max_sequence_numbers: Of each (partition, bucket) that has live files.
    """

    file_io: FileIO
    paths: TablePaths
    table_schema: TableSchema
    options: TableOptions
    uuid_source: Callable[[], str]
    local_millis: Callable[[], int]
    max_sequence_numbers: dict[tuple[bytes, int], int]

    def open(self, partition: bytes, bucket: int, *, directory: str) -> "BucketWriter":
        """A writer for one bucket.

        Raises:
            UnsupportedError: A column of a type that cannot be written.

        Args:
            partition: Serialized row of the partition values.
            bucket: The bucket.
            directory: The bucket's directory.
        """
        check_writable(self.table_schema.fields)
        file_schema = parquet_schema(data_file_fields(self.table_schema))
        plan = SummaryPlan.of(self.table_schema, self.options)
        files = RollingWriter(
            file_io=self.file_io,
            directory=directory,
            next_name=FileNames(
                self.uuid_source, data_prefix=self.options.data_file_prefix
            ).data_file,
            file_schema=file_schema,
            settings=RollingSettings(
                target_bytes=self.options.target_file_size,
                target_rows=self.options.target_file_row_num,
                row_group_bytes=self.options.file_block_size or ROW_GROUP_BYTES,
                parquet=ParquetSettings(
                    compression=self.options.file_compression,
                    zstd_level=self.options.file_compression_zstd_level,
                ),
            ),
            new_summary=lambda: FileSummary(plan),
        )
        known = self.max_sequence_numbers.get((partition, bucket))
        return BucketWriter(
            writes=self,
            partition=partition,
            bucket=bucket,
            files=files,
            next_sequence=_first_sequence(known, keyed=plan.is_keyed, bucket=self.options.bucket),
        )


def _first_sequence(known: int | None, *, keyed: bool, bucket: int) -> int:
    """Keys count from 1, appends from 0; unaware appends do not go on where others ended."""
    if keyed:
        return (known or 0) + 1
    return known + 1 if known is not None and bucket > 0 else 0


@dataclass(slots=True, kw_only=True)
class BucketWriter:
    """Writes one bucket; a context manager that leaves no file behind on an error.

    Attributes:
        writes: Where it came from.
        partition: Serialized row of the partition values.
        bucket: The bucket.
        files: Where rows go when they are flushed.
        next_sequence: Sequence number of the next row.
    """

    writes: BucketWrites
    partition: bytes
    bucket: int
    files: RollingWriter
    next_sequence: int
    _buffer: WriteBuffer | None = field(default=None, init=False)
    _tables: list[pa.Table] = field(default_factory=list, init=False)
    held_bytes: int = field(default=0, init=False)

    def add(self, rows: pa.Table, kinds: Kinds | None = None) -> None:
        """Takes rows, the newest last.

        Args:
            rows: The table's columns, aligned.
            kinds: Row kind of each row; None for all inserts.
        """
        if rows.num_rows == 0:
            return
        self.held_bytes += rows.nbytes
        if not self.writes.table_schema.primary_keys:
            self._tables.append(rows)
            if self.held_bytes >= self.files.settings.gathered_bytes:
                self.flush()
            return
        if self._buffer is None:
            self._buffer = WriteBuffer(
                self.writes.table_schema.trimmed_primary_keys,
                pick=deduplicate,
                first_sequence=self.next_sequence,
            )
        self._buffer.add(rows, np.zeros(rows.num_rows, np.int8) if kinds is None else kinds)

    def flush(self) -> None:
        """Writes what is held: as a sorted run of its own, or as rows after those before."""
        self.held_bytes = 0
        if self._tables:
            rows = pa.concat_tables(self._tables)
            self._tables = []
            self.files.write(rows)
        run = self._buffer.flush() if self._buffer is not None else None
        if run is not None:
            self.files.write(_key_value_rows(run, self.writes.table_schema))
            self.files.roll()

    def finish(self) -> CommitMessage:
        """Flushes, closes the files and says what was written."""
        self.flush()
        return CommitMessage(
            partition=self.partition,
            bucket=self.bucket,
            total_buckets=self.writes.options.bucket,
            new_files=tuple(self._meta(file) for file in self.files.finish()),
        )

    def __enter__(self) -> Self:
        """Nothing is opened before the first flush."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """On an error, deletes what was written."""
        self.files.__exit__(kind, error, trace)

    def _meta(self, file: WrittenFile) -> DataFileMeta:
        summary = file.summary
        sequences = summary.sequence_range
        if sequences is None:
            first, self.next_sequence = (
                self.next_sequence,
                self.next_sequence + summary.row_count,
            )
            sequences = (first, self.next_sequence - 1)
        value_stats, value_stats_cols = summary.value_stats()
        return DataFileMeta(
            file_name=file.name,
            file_size=file.size_bytes,
            row_count=summary.row_count,
            min_key=summary.min_key,
            max_key=summary.max_key,
            key_stats=summary.key_stats(),
            value_stats=value_stats,
            min_sequence_number=sequences[0],
            max_sequence_number=sequences[1],
            schema_id=self.writes.table_schema.id,
            level=0,
            creation_time=self.writes.local_millis(),
            delete_row_count=summary.delete_row_count,
            file_source=FileSource.APPEND,
            value_stats_cols=value_stats_cols,
        )


def _key_value_rows(run: SortedRows, schema: TableSchema) -> pa.Table:
    """The run in the layout of a key-value file."""
    names = schema.trimmed_primary_keys
    columns = {
        **{KEY_FIELD_PREFIX + name: run.rows.column(name) for name in names},
        SEQUENCE_NUMBER.name: pa.array(run.sequence),
        VALUE_KIND.name: pa.array(run.kinds),
        **{name: run.rows.column(name) for name in schema.names},
    }
    return pa.table(columns)
