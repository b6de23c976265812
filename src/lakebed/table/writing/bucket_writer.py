"""How rows of one bucket become data files and a commit message, in a task or in process.

A `BucketWrites` is a value that travels to tasks; it opens a `BucketWriter` for each bucket that a
task meets. Rows come aligned (`align`): the table's columns in order and type.

Memory: a writer of a primary-key table holds rows until `flush`, of an append table until they make
a row group; `held_bytes` says how much, and whoever owns the writers decides when it is enough. A
primary-key table's writer then spills to the local disk, so that a bucket still becomes one sorted
run (`write-buffer-spillable`); without spilling each flush is a run of its own.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from types import TracebackType
from typing import Self

import pyarrow as pa

from lakebed.format.data_file_meta import DataFileMeta, FileSource
from lakebed.format.paths import POSTPONE_BUCKET, FileNames, TablePaths
from lakebed.format.row_tracking import tracked_schema
from lakebed.format.schema import TableSchema
from lakebed.lsm.engines import merging_of
from lakebed.lsm.merge import Kinds
from lakebed.lsm.spill import Spills
from lakebed.lsm.write_buffer import FlushedRows, WriteBuffer
from lakebed.options.choices import ChangelogProducer
from lakebed.options.table_options import TableOptions
from lakebed.storage.file_io import FileIO
from lakebed.table.writing.commit_message import CommitMessage
from lakebed.table.writing.file_layout import FileLayout
from lakebed.table.writing.rolling import RollingWriter, WrittenFile


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
        time_zone: `lakebed.time-zone`.
        max_sequence_numbers: Of each (partition, bucket) that has live files.
    """

    file_io: FileIO
    paths: TablePaths
    table_schema: TableSchema
    options: TableOptions
    uuid_source: Callable[[], str]
    local_millis: Callable[[], int]
    time_zone: tzinfo
    max_sequence_numbers: dict[tuple[bytes, int], int]

    @property
    def tracked(self) -> "BucketWrites":
        """The same for rows that bring their ids and numbers along (`row_tracking`)."""
        return replace(self, table_schema=tracked_schema(self.table_schema))

    def open(
        self, partition: bytes, bucket: int, *, directory: str, total_buckets: int | None = None
    ) -> "BucketWriter":
        """A writer for one bucket.

        Args:
            partition: Serialized row of the partition values.
            bucket: The bucket.
            directory: The bucket's directory.
            total_buckets: The partition's bucket count; by default the table's option.

        Raises:
            InvalidTableError: The options of merging contradict each other.
            UnsupportedError: A column of a type that cannot be written.
        """
        is_keyed = bool(self.table_schema.primary_keys)
        known = self.max_sequence_numbers.get((partition, bucket))
        next_sequence = _first_sequence(known, goes_on=is_keyed or self.options.bucket > 0)
        with_changelog = is_keyed and self.options.changelog_producer is ChangelogProducer.INPUT
        names = self._names()
        files = self._layout(bucket, is_changelog=False)
        changelog = None
        if with_changelog:
            layout = self._layout(bucket, is_changelog=True)
            changelog = self._rolling(directory, names.changelog_file, layout)
        buffer = spills = None
        if is_keyed:
            merging = merging_of(self.table_schema, self.table_schema.options)
            columns = self.table_schema.names
            buffer = WriteBuffer(
                columns,
                merging=merging,
                first_sequence=next_sequence,
                with_ordered=with_changelog,
            )
            spills = Spills(columns, merging=merging, budget_bytes=self.options.write_buffer_size)
        return BucketWriter(
            writes=self,
            partition=partition,
            bucket=bucket,
            total_buckets=self.options.bucket if total_buckets is None else total_buckets,
            files=self._rolling(directory, names.data_file, files),
            changelog=changelog,
            buffer=buffer,
            spills=spills,
            next_sequence=next_sequence,
        )

    @contextmanager
    def open_compaction(
        self, bucket: int, *, directory: str, level: int
    ) -> Iterator["CompactionWriters"]:
        """Writers for what a compaction of a bucket makes; on an error, they leave no file.

        Args:
            bucket: The bucket.
            directory: Its directory.
            level: Where its rows go.

        Raises:
            UnsupportedError: A column of a type that cannot be written.
        """
        names = self._names()
        layouts = [self._layout(bucket, level=level, is_changelog=each) for each in (False, True)]
        with (
            self._rolling(directory, names.data_file, layouts[0]) as files,
            self._rolling(directory, names.changelog_file, layouts[1]) as changelog,
        ):
            yield CompactionWriters(files, changelog)

    def _names(self) -> FileNames:
        return FileNames(
            self.uuid_source,
            data_prefix=self.options.data_file_prefix,
            changelog_prefix=self.options.changelog_file_prefix,
        )

    def _rolling(
        self, directory: str, next_name: Callable[[str], str], layout: FileLayout
    ) -> RollingWriter:
        return RollingWriter(
            file_io=self.file_io,
            directory=directory,
            next_name=next_name,
            layout=layout,
            key_names=self.table_schema.trimmed_primary_keys,
        )

    def _layout(self, bucket: int, *, is_changelog: bool, level: int = 0) -> FileLayout:
        return FileLayout.of(
            self.table_schema,
            self.options,
            time_zone=self.time_zone,
            level=level,
            is_changelog=is_changelog,
            is_postponed=bucket == POSTPONE_BUCKET,
        )


@dataclass(frozen=True, slots=True)
class CompactionWriters:
    """Where a compaction writes.

    Attributes:
        files: Its rows.
        changelog: Its changes.
    """

    files: RollingWriter
    changelog: RollingWriter


def _first_sequence(known: int | None, *, goes_on: bool) -> int:
    """Numbers count from 0; those of unaware appends do not go on where others ended."""
    return known + 1 if known is not None and goes_on else 0


@dataclass(slots=True, kw_only=True)
class BucketWriter:
    """Writes one bucket; a context manager that leaves no file behind on an error.

    Attributes:
        writes: Where it came from.
        partition: Serialized row of the partition values.
        bucket: The bucket.
        total_buckets: The partition's bucket count.
        files: Where rows go when they are flushed.
        changelog: Where rows go as they came (`changelog-producer=input`); None elsewhere.
        buffer: Rows of a primary-key table; None of an append table.
        spills: Its full buffers on disk.
        next_sequence: Sequence number of the next row of an append table.
    """

    writes: BucketWrites
    partition: bytes
    bucket: int
    total_buckets: int
    files: RollingWriter
    changelog: RollingWriter | None
    buffer: WriteBuffer | None
    spills: Spills | None
    next_sequence: int
    _tables: list[pa.Table] = field(default_factory=list, init=False)
    held_bytes: int = field(default=0, init=False)
    _taken_rows: int = field(default=0, init=False)

    def add(self, rows: pa.Table, kinds: Kinds | None = None) -> None:
        """Takes rows, the newest last.

        Args:
            rows: The table's columns, aligned.
            kinds: Row kind of each row; None for all inserts.
        """
        if rows.num_rows == 0:
            return
        self.held_bytes += rows.nbytes
        self._taken_rows += rows.num_rows
        if self.buffer is not None:
            self.buffer.add(rows, kinds)
            return
        self._tables.append(rows)
        if self.held_bytes >= self.files.layout.gathered_bytes:
            self.flush()

    def flush(self) -> None:
        """Lets go of what is held: rows of an append table are written, others are spilled.

        Raises:
            InvalidDataError: Rows that the merge engine forbids.
            StorageError: They cannot be written.
        """
        flushed = self._taken()
        if flushed is None:
            return
        if self.spills is not None and self.writes.options.write_buffer_spillable:
            self.spills.add(flushed.run)
        else:
            self._write_run(flushed.run)

    def finish(self) -> CommitMessage:
        """Writes what is held or spilled, closes the files and says what was written.

        Raises:
            InvalidDataError: Rows that the merge engine forbids.
            StorageError: They cannot be written.
        """
        flushed = self._taken()
        if self.spills:
            if flushed is not None:
                self.spills.add(flushed.run)
            self._write_run(self.spills.merged())
            self.spills.close()
        elif flushed is not None:
            self._write_run(flushed.run)
        changelog = [] if self.changelog is None else self.changelog.finish()
        return CommitMessage(
            partition=self.partition,
            bucket=self.bucket,
            total_buckets=self.total_buckets,
            new_files=tuple(self._meta(file) for file in self.files.finish()),
            changelog_files=tuple(self._meta(file) for file in changelog),
            taken_rows=self._taken_rows,
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
        if self.spills is not None:
            self.spills.close()
        if self.changelog is not None:
            self.changelog.__exit__(kind, error, trace)
        self.files.__exit__(kind, error, trace)

    def _taken(self) -> FlushedRows | None:
        """What the buffer held, its changelog written; rows of an append table are just written."""
        self.held_bytes = 0
        if self._tables:
            rows = pa.concat_tables(self._tables)
            self._tables = []
            self.files.write(rows)
        flushed = None if self.buffer is None else self.buffer.flush()
        if flushed is not None and flushed.ordered is not None and self.changelog is not None:
            for rows in flushed.ordered:
                self.changelog.gather(rows)
            self.changelog.roll()
        return flushed

    def _write_run(self, parts: Iterable[pa.Table]) -> None:
        """Writes a sorted run, given in parts, into files of its own."""
        for rows in parts:
            self.files.gather(rows)
        self.files.roll()

    def _meta(self, file: WrittenFile) -> DataFileMeta:
        summary = file.summary
        sequences = summary.tracked_range or summary.sequence_range
        if sequences is None:
            first, self.next_sequence = (
                self.next_sequence,
                self.next_sequence + summary.row_count,
            )
            sequences = (first, self.next_sequence - 1)
        return file.meta(
            schema_id=self.writes.table_schema.id,
            level=0,
            created_ms=self.writes.local_millis(),
            source=FileSource.APPEND,
            sequences=sequences,
        )
