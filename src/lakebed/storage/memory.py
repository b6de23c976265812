"""How are files kept in the memory of one process, for tests and for trying things out?

It keeps the whole contract of `FileIO` between the threads of the process. The surprising thing:
it cannot be pickled, because a copy in another process would silently be another store.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NoReturn

import pyarrow as pa

from lakebed.errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    NotFoundError,
    StorageError,
    UnsupportedError,
)
from lakebed.storage.file_io import FileStatus, PutResult
from lakebed.storage.uri import Location, join, parse_location


@dataclass(frozen=True, slots=True)
class _File:
    content: pa.Buffer
    modification_time_ms: int


class _Directory(dict[str, "_File | _Directory"]):
    """Entries by name."""


def _system_clock() -> int:
    return time.time_ns() // 1_000_000


class MemoryFileIO:
    """Files of this process; paths are `memory:/x` or plain `/x`."""

    def __init__(self, *, clock: Callable[[], int] = _system_clock) -> None:
        """Makes an empty store.

        Args:
            clock: Gives modification times, in epoch milliseconds.
        """
        self._clock = clock
        self._lock = threading.Lock()
        self._root = _Directory()

    def __reduce__(self) -> NoReturn:
        """Refuses, see above."""
        raise UnsupportedError(
            "a store in memory belongs to its process and cannot be sent to another; "
            "keep the table on a store that both can reach, such as file:/data/lake"
        )

    def read(self, path: str) -> bytes:
        """The whole file."""
        return self._read_buffer(path).to_pybytes()

    def read_range(self, path: str, *, offset: int, length: int) -> bytes:
        """`length` bytes from `offset`; shorter only at the end of the file."""
        if offset < 0 or length < 0:
            raise InvalidArgumentError(f"{path}: no range of {length} bytes from {offset}")
        content = self._read_buffer(path)
        start = min(offset, content.size)
        return content.slice(start, min(length, content.size - start)).to_pybytes()

    def open_input(self, path: str) -> pa.NativeFile:
        """A seekable Arrow file."""
        return pa.BufferReader(self._read_buffer(path))

    @contextmanager
    def open_output(self, path: str) -> Iterator[pa.NativeFile]:
        """A new file, visible whole when the context ends well, and not at all otherwise.

        Raises:
            AlreadyExistsError: The path is taken, when opened or by the time of closing.
        """
        if self.exists(path):
            raise AlreadyExistsError("file", path)
        stream = pa.BufferOutputStream()
        yield stream
        if self._put(path, stream.getvalue()) is PutResult.PRESENT:
            raise AlreadyExistsError("file", path)

    def put_if_absent(self, path: str, data: bytes) -> PutResult:
        """Writes a file that must not exist yet; of many threads, one wins."""
        return self._put(path, pa.py_buffer(data))

    def write(self, path: str, data: bytes) -> None:
        """Writes or replaces a file, whole."""
        self._put(path, pa.py_buffer(data), replaces=True)

    def size(self, path: str) -> int:
        """Size in bytes."""
        return self._read_buffer(path).size

    def exists(self, path: str) -> bool:
        """Whether a file or directory is there."""
        with self._lock:
            return self._find(_parts(path)) is not None

    def list(self, path: str) -> list[FileStatus]:
        """The entries of a directory, in no order; empty when it is missing."""
        with self._lock:
            directory = self._find(_parts(path))
            if directory is None:
                return []
            if isinstance(directory, _File):
                raise StorageError(path, "cannot list: it is a file, not a directory")
            return [_file_status(join(path, name), entry) for name, entry in directory.items()]

    def make_directory(self, path: str) -> None:
        """Makes a directory and its parents."""
        with self._lock:
            self._make_directories(_parts(path), path)

    def delete(self, path: str) -> bool:
        """Deletes one file; False when it was missing."""
        with self._lock:
            parts = _parts(path)
            entry = self._find(parts)
            if entry is None:
                return False
            if isinstance(entry, _Directory):
                raise StorageError(path, "cannot delete: it is a directory, not a file")
            self._take(parts)
            return True

    def delete_directory(self, path: str) -> None:
        """Deletes a directory with all that is in it; missing is fine."""
        with self._lock:
            parts = _parts(path)
            entry = self._find(parts)
            if isinstance(entry, _File):
                raise StorageError(path, "cannot delete the directory: it is a file")
            if entry is not None and parts:
                self._take(parts)
            elif entry is not None:
                entry.clear()

    def rename_directory(self, source: str, target: str) -> None:
        """Moves a directory.

        Raises:
            NotFoundError: `source` is missing.
            AlreadyExistsError: `target` is there.
        """
        with self._lock:
            source_parts, target_parts = _parts(source), _parts(target)
            entry = self._find(source_parts)
            if entry is None:
                raise NotFoundError("directory", source)
            if isinstance(entry, _File):
                raise StorageError(source, "cannot move the directory: it is a file")
            if self._find(target_parts) is not None:
                raise AlreadyExistsError("directory", target)
            if target_parts[: len(source_parts)] == source_parts:
                raise StorageError(source, f"cannot move the directory to {target}, inside itself")
            parent = self._make_directories(target_parts[:-1], target)
            parent[target_parts[-1]] = self._take(source_parts)

    def local_path(self, path: str) -> str | None:
        """None: the operating system has no path for it."""
        _parts(path)
        return None

    def _read_buffer(self, path: str) -> pa.Buffer:
        with self._lock:
            entry = self._find(_parts(path))
        if entry is None:
            raise NotFoundError("file", path)
        if isinstance(entry, _Directory):
            raise StorageError(path, "cannot read: it is a directory, not a file")
        return entry.content

    def _put(self, path: str, content: pa.Buffer, *, replaces: bool = False) -> PutResult:
        with self._lock:
            parts = _parts(path)
            entry = self._find(parts)
            if isinstance(entry, _Directory):
                raise StorageError(path, "cannot write: it is a directory, not a file")
            if entry is not None and not replaces:
                return PutResult.PRESENT
            parent = self._make_directories(parts[:-1], path)
            parent[parts[-1]] = _File(content, self._clock())
            return PutResult.WRITTEN

    def _find(self, parts: tuple[str, ...]) -> "_File | _Directory | None":
        entry: _File | _Directory | None = self._root
        for part in parts:
            if not isinstance(entry, _Directory):
                return None
            entry = entry.get(part)
        return entry

    def _make_directories(self, parts: tuple[str, ...], path: str) -> _Directory:
        directory = self._root
        for part in parts:
            entry = directory.setdefault(part, _Directory())
            if isinstance(entry, _File):
                raise StorageError(path, f"cannot write: {part!r} in its path is a file")
            directory = entry
        return directory

    def _take(self, parts: tuple[str, ...]) -> "_File | _Directory":
        parent = self._find(parts[:-1])
        assert isinstance(parent, _Directory), "the caller found an entry in it"
        return parent.pop(parts[-1])


PROCESS_MEMORY = MemoryFileIO()
"""The store behind `memory:` locations: one a process, as one disk is behind `file:`."""


def open_store(_location: Location, _options: Mapping[str, str]) -> MemoryFileIO:
    """The store of this process, whatever the location."""
    return PROCESS_MEMORY


def _parts(path: str) -> tuple[str, ...]:
    location = parse_location(path)
    if location.scheme != "memory" and not path.startswith("/"):
        raise InvalidArgumentError(f"{path} is not in memory, where it was looked for")
    return tuple(part for part in location.path.split("/") if part)


def _file_status(path: str, entry: _File | _Directory) -> FileStatus:
    is_directory = isinstance(entry, _Directory)
    return FileStatus(
        path=path,
        size_bytes=0 if isinstance(entry, _Directory) else entry.content.size,
        modification_time_ms=0 if isinstance(entry, _Directory) else entry.modification_time_ms,
        is_directory=is_directory,
    )
