"""How a stream of rows becomes data files of about the target size."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import pyarrow as pa

from lakebed.errors import StorageError
from lakebed.format.parquet.write import ParquetSettings, open_parquet_writer
from lakebed.storage.file_io import FileIO
from lakebed.table.writing.file_summary import FileSummary

# Default of `file.block-size` here; half of Paimon's, since a writer holds a row group in memory.
ROW_GROUP_BYTES = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RollingSettings:
    """When a file is full, and how it is encoded.

    Attributes:
        target_bytes: `target-file-size`.
        target_rows: `target-file-row-num`.
        row_group_bytes: `file.block-size`: what a row group takes uncompressed, at most.
        parquet: The encoding.
    """

    target_bytes: int
    target_rows: int
    row_group_bytes: int
    parquet: ParquetSettings

    @property
    def gathered_bytes(self) -> int:
        """Rows are gathered to this size before they are written."""
        return min(self.row_group_bytes, self.target_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    """A closed data file.

    Attributes:
        name: File name.
        size_bytes: Its size.
        summary: What its rows said.
    """

    name: str
    size_bytes: int
    summary: FileSummary


@dataclass(slots=True)
class _OpenFile:
    name: str
    summary: FileSummary
    stack: contextlib.ExitStack
    sink: pa.NativeFile
    write_table: Callable[[pa.Table], None]


@dataclass(slots=True, kw_only=True)
class RollingWriter:
    """Writes files one after another; a context manager that leaves nothing behind on an error.

    Attributes:
        file_io: The store.
        directory: Where the files go.
        next_name: Gives the name of each file.
        file_schema: Arrow schema with field ids.
        settings: When a file is full.
        new_summary: Gives an empty summary for each file.
    """

    file_io: FileIO
    directory: str
    next_name: Callable[[], str]
    file_schema: pa.Schema
    settings: RollingSettings
    new_summary: Callable[[], FileSummary]
    _open: _OpenFile | None = field(default=None, init=False)
    _written: list[WrittenFile] = field(default_factory=list, init=False)
    _names: list[str] = field(default_factory=list, init=False)

    def write(self, rows: pa.Table) -> None:
        """Appends rows in the layout of the file, rolling where a file is full."""
        offset = 0
        while offset < rows.num_rows:
            current = self._open or self._start()
            step = min(self._step(rows), self.settings.target_rows - current.summary.row_count)
            part = rows.slice(offset, step)
            current.write_table(part.cast(self.file_schema))
            current.summary.add(part)
            offset += part.num_rows
            if (
                current.sink.tell() >= self.settings.target_bytes
                or current.summary.row_count >= self.settings.target_rows
            ):
                self.roll()

    def roll(self) -> None:
        """Closes the current file, if there is one; the next rows begin another."""
        current, self._open = self._open, None
        if current is None:
            return
        current.stack.close()
        path = f"{self.directory}/{current.name}"
        self._written.append(
            WrittenFile(
                name=current.name, size_bytes=self.file_io.size(path), summary=current.summary
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
        name = self.next_name()
        self._names.append(name)
        with contextlib.ExitStack() as stack:
            sink = stack.enter_context(self.file_io.open_output(f"{self.directory}/{name}"))
            writer = open_parquet_writer(sink, self.file_schema, self.settings.parquet)
            stack.callback(writer.close)
            opened = _OpenFile(name, self.new_summary(), stack.pop_all(), sink, writer.write_table)
        self._open = opened
        return opened

    def _step(self, rows: pa.Table) -> int:
        """Rows of a row group; no more than fill a file even uncompressed."""
        row_bytes = max(rows.nbytes // rows.num_rows, 1)
        return max(self.settings.gathered_bytes // row_bytes, 1)
