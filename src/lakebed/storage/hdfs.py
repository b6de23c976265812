"""How are files on HDFS written once and whole?

Every file is written under a draft name, `.<name>.<unique>.tmp`, in the directory of its target,
closed, and only then renamed, without overwriting. The name node does that under its lock: of any
number of renames to one name, one is done. A crash can leave a draft, never half a file.

The surprising thing: an error of a rename says little. A client repeats a request whose answer got
lost, at the other name node if there are two, and the repetition misses the draft that the first
one moved. So the draft is deleted before an error is believed: if it was still there, it was not
renamed, and never will be.

The client is made in the process that uses it, for its threads do not live on in a forked one.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import hdfs_native
import pyarrow as pa

from lakebed.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError, StorageError
from lakebed.storage.file_io import FileStatus, PutResult
from lakebed.storage.hdfs_client import (
    FAILURES,
    HdfsSettings,
    Output,
    client_of,
    failure,
    hdfs_errors,
    says_missing,
    settings_of,
)
from lakebed.storage.local import fresh_name
from lakebed.storage.ranged_file import RangedFile
from lakebed.storage.uri import Location, join, parse_location


def open_store(location: Location, options: Mapping[str, str]) -> "HdfsFileIO":
    """The store of a location (`openers`)."""
    return HdfsFileIO(settings=settings_of(location, options))


@dataclass(frozen=True, slots=True, kw_only=True)
class HdfsFileIO:
    """Files of a cluster; paths are URIs of its `hdfs:` or `viewfs:`, in every call.

    Attributes:
        settings: Which cluster, and how it is spoken to.
        names: Gives the unique part of draft names.
    """

    settings: HdfsSettings
    names: Callable[[], str] = fresh_name

    def read(self, path: str) -> bytes:
        """The whole file."""
        with self._reading(path) as file:
            return file.read_range(0, file.size)

    def read_range(self, path: str, *, offset: int, length: int) -> bytes:
        """`length` bytes from `offset`; shorter only at the end of the file."""
        if offset < 0 or length < 0:
            raise InvalidArgumentError(f"{path}: no range of {length} bytes from {offset}")
        with self._reading(path) as file:
            start = min(offset, file.size)
            return file.read_range(start, min(length, file.size - start))

    def open_input(self, path: str) -> pa.NativeFile:
        """A seekable Arrow file, which fetches what is read and a little ahead."""
        with self._reading(path) as file:
            size = file.size

        def fetch(offset: int, length: int) -> bytes:
            with hdfs_errors(path, "read"):
                return file.read_range(offset, length)

        return pa.PythonFile(RangedFile(size, b"", fetch), mode="r")

    @contextmanager
    def open_output(self, path: str) -> Iterator[pa.NativeFile]:
        """A new file, visible whole when the context ends well, and not at all otherwise.

        Raises:
            AlreadyExistsError: The path is taken, when opened or by the time of closing.
        """
        target = self._path(path)
        with hdfs_errors(path, "write"):
            if self._find(target) is not None:
                raise AlreadyExistsError("file", path)
            draft = self._draft(target)
            file = self._client.create(draft, hdfs_native.WriteOptions(create_parent=True))
        try:
            with pa.PythonFile(Output(file, path), mode="w") as stream:
                yield stream
            with hdfs_errors(path, "write"):
                file.close()
        except BaseException:
            self._discard(draft)
            raise
        outcome = self._publish(draft, target=target, path=path)
        if outcome is PutResult.PRESENT:
            raise AlreadyExistsError("file", path)
        if outcome is PutResult.UNKNOWN:
            raise StorageError(path, "HDFS did not say whether it was written", retryable=True)

    def put_if_absent(self, path: str, data: bytes) -> PutResult:
        """Writes a file that must not exist yet; of many writers, in any processes, one wins.

        1. Write and close a draft. A crash up to here leaves the draft alone.
        2. Rename it, without overwriting. This instant decides.
        """
        target = self._path(path)
        draft = self._write_draft(target, data, path=path)
        return self._publish(draft, target=target, path=path)

    def write(self, path: str, data: bytes) -> None:
        """Writes or replaces a file, whole."""
        target = self._path(path)
        draft = self._write_draft(target, data, path=path)
        try:
            with hdfs_errors(path, "write"):
                self._client.rename(draft, target, overwrite=True)
        except BaseException:
            self._discard(draft)
            self._require_no_directory(target, path=path)
            raise

    def size(self, path: str) -> int:
        """Size in bytes."""
        with hdfs_errors(path, "read"):
            status = self._find(self._path(path))
        if status is None:
            raise NotFoundError("file", path)
        if status.isdir:
            raise StorageError(path, "cannot read: it is a directory, not a file")
        return status.length

    def exists(self, path: str) -> bool:
        """Whether a file or directory is there."""
        with hdfs_errors(path, "look"):
            return self._find(self._path(path)) is not None

    def list(self, path: str) -> list[FileStatus]:
        """The entries of a directory, in no order; empty when it is missing."""
        directory = self._path(path)
        with hdfs_errors(path, "list"):
            try:
                statuses = [*self._client.list_status(directory)]
            except FAILURES as error:
                if not says_missing(error):
                    raise
                return []
        if len(statuses) == 1 and statuses[0].path == directory and not statuses[0].isdir:
            raise StorageError(path, "cannot list: it is a file, not a directory")
        return [_file_status(path, status) for status in statuses]

    def make_directory(self, path: str) -> None:
        """Makes a directory and its parents."""
        with hdfs_errors(path, "make the directory"):
            self._client.mkdirs(self._path(path), create_parent=True)

    def delete(self, path: str) -> bool:
        """Deletes one file; False when it was missing."""
        target = self._path(path)
        with hdfs_errors(path, "delete"):
            status = self._find(target)
            if status is None:
                return False
            if status.isdir:
                raise StorageError(path, "cannot delete: it is a directory, not a file")
            return self._client.delete(target)

    def delete_directory(self, path: str) -> None:
        """Deletes a directory with all that is in it; missing is fine."""
        target = self._path(path)
        with hdfs_errors(path, "delete the directory"):
            status = self._find(target)
            if status is None:
                return
            if not status.isdir:
                raise StorageError(path, "cannot delete the directory: it is a file")
            self._client.delete(target, recursive=True)

    def rename_directory(self, source: str, target: str) -> None:
        """Moves a directory, in one step.

        Raises:
            NotFoundError: `source` is missing.
            AlreadyExistsError: `target` is there.
        """
        from_path, to_path = self._path(source), self._path(target)
        with hdfs_errors(source, f"move the directory to {target}"):
            status = self._find(from_path)
            if status is None:
                raise NotFoundError("directory", source)
            if not status.isdir:
                raise StorageError(source, "cannot move the directory: it is a file")
            if to_path.startswith(f"{from_path}/"):
                raise StorageError(source, f"cannot move the directory to {target}, inside itself")
            self._client.mkdirs(_parent(to_path), create_parent=True)
            try:
                self._client.rename(from_path, to_path)
            except FAILURES as error:
                if self._find(to_path) is not None:
                    raise AlreadyExistsError("directory", target) from error
                raise

    def local_path(self, path: str) -> str | None:
        """None: the operating system has no path for it."""
        self._path(path)
        return None

    @property
    def _client(self) -> hdfs_native.Client:
        return client_of(os.getpid(), self.settings)

    def _path(self, path: str) -> str:
        location = parse_location(path)
        url = f"{location.scheme}://{location.authority}"
        if url != self.settings.url:
            raise InvalidArgumentError(
                f"{path} is not on {self.settings.url}, where it was looked for"
            )
        return location.path

    @contextmanager
    def _reading(self, path: str) -> Iterator[hdfs_native.FileReader]:
        target = self._path(path)
        with hdfs_errors(path, "read"):
            try:
                yield self._client.read(target)
            except FAILURES as error:
                if not says_missing(error):
                    raise
                self._require_no_directory(target, path=path, action="read")
                raise NotFoundError("file", path) from error

    def _find(self, target: str) -> hdfs_native.FileStatus | None:
        try:
            return self._client.get_file_info(target)
        except FAILURES as error:
            if says_missing(error):
                return None
            raise

    def _require_no_directory(self, target: str, *, path: str, action: str = "write") -> None:
        with hdfs_errors(path, action):
            status = self._find(target)
        if status is not None and status.isdir:
            raise StorageError(path, f"cannot {action}: it is a directory, not a file")

    def _draft(self, target: str) -> str:
        return join(_parent(target), f".{target.rsplit('/', 1)[-1]}.{self.names()}.tmp")

    def _write_draft(self, target: str, data: bytes, *, path: str) -> str:
        draft = self._draft(target)
        with hdfs_errors(path, "write"):
            file = self._client.create(draft, hdfs_native.WriteOptions(create_parent=True))
            try:
                file.write(data)
                file.close()
            except BaseException:
                self._discard(draft)
                raise
        return draft

    def _publish(self, draft: str, *, target: str, path: str) -> PutResult:
        """Gives a whole draft its name, unless the name is taken; afterwards no draft is left.

        A `StorageError` from here means for certain that the name was not given.
        """
        try:
            self._client.rename(draft, target)
        except FileExistsError:
            # The name node looks at the draft first: it was still there, and another has the name.
            self._discard(draft)
            return PutResult.PRESENT
        except FAILURES as error:
            if not self._discard(draft):
                return PutResult.UNKNOWN
            self._require_no_directory(target, path=path)
            raise failure(path, "write", error) from error
        return PutResult.WRITTEN

    def _discard(self, draft: str) -> bool:
        """Whether a draft was there, and now is not; one that stays is found by cleaning."""
        with suppress(*FAILURES):
            return self._client.delete(draft)
        return False


def _parent(target: str) -> str:
    return target.rsplit("/", 1)[0] or "/"


def _file_status(directory: str, status: hdfs_native.FileStatus) -> FileStatus:
    return FileStatus(
        path=join(directory, status.path.rsplit("/", 1)[-1]),
        size_bytes=0 if status.isdir else status.length,
        modification_time_ms=status.modification_time,
        is_directory=status.isdir,
    )
