"""How a stream of rows becomes data files of about the target size."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import pyarrow as pa

from lakebed.errors import StorageError
from lakebed.format.data_file_meta import DataFileMeta, FileSource
from lakebed.format.data_file_write import DataFileWriter, open_data_file_writer
from lakebed.format.paths import file_index_name
from lakebed.storage.file_io import FileIO
from lakebed.table.writing.file_layout import FileLayout
from lakebed.table.writing.file_summary import FileSummary, PlacedIndex

Range = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    """A closed data file.

    Attributes:
        name: File name.
        size_bytes: Its size.
        summary: What its rows said.
        index: Where its indexes are.
    """

    name: str
    size_bytes: int
    summary: FileSummary
    index: PlacedIndex

    def meta(
        self, *, schema_id: int, level: int, created_ms: int, source: FileSource, sequences: Range
    ) -> DataFileMeta:
        """What the manifests say of it.

        Args:
            schema_id: The schema that wrote it.
            level: Its LSM level.
            created_ms: When, on the wall clock (format.md 7).
            source: Why it was written.
            sequences: Smallest and greatest sequence number of its rows.
        """
        value_stats, value_stats_cols = self.summary.value_stats()
        return DataFileMeta(
            file_name=self.name,
            file_size=self.size_bytes,
            row_count=self.summary.row_count,
            min_key=self.summary.min_key,
            max_key=self.summary.max_key,
            key_stats=self.summary.key_stats(),
            value_stats=value_stats,
            min_sequence_number=sequences[0],
            max_sequence_number=sequences[1],
            schema_id=schema_id,
            level=level,
            creation_time=created_ms,
            delete_row_count=self.summary.delete_row_count,
            file_source=source,
            value_stats_cols=value_stats_cols,
            write_cols=self.summary.write_cols,
            embedded_file_index=self.index.embedded,
            extra_files=self.index.extra_files,
        )


@dataclass(slots=True)
class _OpenFile:
    name: str
    summary: FileSummary
    stack: contextlib.ExitStack
    sink: pa.NativeFile
    writer: DataFileWriter


@dataclass(slots=True, kw_only=True)
class RollingWriter:
    """Writes files one after another; a context manager that leaves nothing behind on an error.

    Attributes:
        file_io: The store.
        directory: Where the files go.
        next_name: Gives the name of each file, from its extension.
        layout: How the files are made, and when one is full.
        key_names: The trimmed primary key.
    """

    file_io: FileIO
    directory: str
    next_name: Callable[[str], str]
    layout: FileLayout
    key_names: tuple[str, ...] = ()
    _open: _OpenFile | None = field(default=None, init=False)
    _written: list[WrittenFile] = field(default_factory=list, init=False)
    _names: list[str] = field(default_factory=list, init=False)
    _held: list[pa.Table] = field(default_factory=list, init=False)
    _held_bytes: int = field(default=0, init=False)

    def write(self, rows: pa.Table) -> None:
        """Appends rows in the layout of the file, rolling where a file is full."""
        offset = 0
        while offset < rows.num_rows:
            current = self._open or self._start()
            step = min(self._step(rows), self.layout.target_rows - current.summary.row_count)
            part = rows.slice(offset, step)
            current.writer.write(self.layout.arranged(part, self.key_names))
            current.summary.add(part)
            offset += part.num_rows
            if (
                current.sink.tell() >= self.layout.target_bytes
                or current.summary.row_count >= self.layout.target_rows
            ):
                self._close()

    def gather(self, rows: pa.Table) -> None:
        """Appends rows that may come in small parts, which would make small row groups."""
        if rows.num_rows == 0:
            return
        self._held.append(rows)
        self._held_bytes += rows.nbytes
        if self._held_bytes >= self.layout.gathered_bytes:
            self._write_held()

    def roll(self) -> None:
        """Closes the current file, if there is one; the next rows begin another."""
        self._write_held()
        self._close()

    def _write_held(self) -> None:
        held, self._held, self._held_bytes = self._held, [], 0
        if held:
            self.write(pa.concat_tables(held))

    def _close(self) -> None:
        current, self._open = self._open, None
        if current is None:
            return
        current.stack.close()
        path = f"{self.directory}/{current.name}"
        self._names.append(file_index_name(current.name))
        self._written.append(
            WrittenFile(
                name=current.name,
                size_bytes=self.file_io.size(path),
                summary=current.summary,
                index=current.summary.place_index(path, file_io=self.file_io),
            )
        )

    def finish(self) -> list[WrittenFile]:
        """Closes the current file and returns all."""
        self.roll()
        return self._written

    def __enter__(self) -> Self:
        """Nothing is opened before the first row."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """On an error, closes the open file unseen and deletes the others.

        A file whose closing failed may be there all the same, so every name is deleted.
        """
        if kind is None:
            return
        if self._open is not None:
            with contextlib.suppress(StorageError, pa.ArrowException):
                self._open.stack.__exit__(kind, error, trace)
        for name in self._names:
            with contextlib.suppress(StorageError):
                self.file_io.delete(f"{self.directory}/{name}")

    def _start(self) -> _OpenFile:
        layout = self.layout
        name = self.next_name(layout.file_format)
        self._names.append(name)
        with contextlib.ExitStack() as stack:
            sink = stack.enter_context(self.file_io.open_output(f"{self.directory}/{name}"))
            writer = open_data_file_writer(
                sink, layout.file_format, fields=layout.fields, settings=layout.encoding
            )
            stack.callback(writer.close)
            opened = _OpenFile(name, FileSummary(layout.summary), stack.pop_all(), sink, writer)
        self._open = opened
        return opened

    def _step(self, rows: pa.Table) -> int:
        """Rows of a row group; no more than fill a file even uncompressed."""
        row_bytes = max(rows.nbytes // rows.num_rows, 1)
        return max(self.layout.gathered_bytes // row_bytes, 1)
