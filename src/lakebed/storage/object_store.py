"""How are files kept in a bucket of S3 and its kin, of Azure, Google or Aliyun?

A file is one object, whole from the moment it is there, and its path is the key: nothing is encoded
or decoded, so a key may hold `%2F`. `put_if_absent` is one conditional request.

These stores have no directories. A directory is there while an object lies below it, so a file and
a directory may have one name, and `rename_directory` copies and deletes object by object: a reader
sees a part of both, and a crash leaves a part of both. `make_directory` leaves an empty object
within, which listings do not show.

The surprising thing: a lost answer. Who repeats a put after a lost answer meets their own success,
and hears that the path is taken. So once an answer was lost, "taken" is UNKNOWN here: only who
asked can tell whose file it is.
"""

import re
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Final

import pyarrow as pa

from lakebed.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError, StorageError
from lakebed.storage.bucket import Bucket, ObjectStatus, RequestError
from lakebed.storage.file_io import FileStatus, PutResult
from lakebed.storage.ranged_file import TAIL_BYTES, RangedFile
from lakebed.storage.upload import Upload
from lakebed.storage.uri import join, parse_location

_MARKER: Final = ".lakebed-directory"
"""The empty object that keeps a directory."""

_PAUSES_S: Final = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
"""Before each repetition of a put."""

_DELETED_AT_ONCE: Final = 1000
_COPIED_AT_ONCE: Final = 8
_UNNAMEABLE: Final = re.compile(r"[\x00-\x1f\x7f]|(?<=/)\.\.?(?=/|$)")
"""What clients refuse in a key: control characters, and the names `.` and `..`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectStoreFileIO:
    """Files in one bucket or container; paths are URIs of its schemes.

    Attributes:
        bucket: The objects.
        schemes: The schemes that paths may have.
        authority: What stands before their path: the bucket's name, or `container@account...`.
    """

    bucket: Bucket
    schemes: tuple[str, ...]
    authority: str

    def read(self, path: str) -> bytes:
        """The whole file."""
        key = self._key(path)
        with self._reading(path):
            return self.bucket.read(key, start=0, stop=None)

    def read_range(self, path: str, *, offset: int, length: int) -> bytes:
        """`length` bytes from `offset`; shorter only at the end of the file."""
        if offset < 0 or length < 0:
            raise InvalidArgumentError(f"{path}: no range of {length} bytes from {offset}")
        if length == 0:
            # No store answers an empty range.
            self.size(path)
            return b""
        key = self._key(path)
        with self._reading(path):
            return self.bucket.read(key, start=offset, stop=offset + length)

    def open_input(self, path: str) -> pa.NativeFile:
        """A seekable Arrow file, which fetches what is read and a little ahead."""
        key = self._key(path)
        with self._reading(path):
            size, end = self.bucket.read_end(key, TAIL_BYTES)

        def fetch(offset: int, length: int) -> bytes:
            return self.read_range(path, offset=offset, length=length)

        return pa.PythonFile(RangedFile(size, end, fetch), mode="r")

    @contextmanager
    def open_output(self, path: str) -> Iterator[pa.NativeFile]:
        """A new file, visible whole when the context ends well, and not at all otherwise.

        Raises:
            AlreadyExistsError: The path is taken, when opened or by the time of closing.
        """
        key = self._key(path)
        if self._find(path) is not None:
            raise AlreadyExistsError("file", path)
        upload = Upload(lambda: self.bucket.upload(key))
        try:
            with _errors(path, "write"):
                with pa.PythonFile(upload, mode="w") as stream:
                    yield stream
                self._publish(upload, path)
        except BaseException:
            upload.abandon()
            raise

    def put_if_absent(self, path: str, data: bytes) -> PutResult:
        """Writes a file that must not exist yet; of many writers, in any processes, one wins.

        1. Put, on the condition that there is no such object. The store decides, in this instant.
        2. Put again what never arrived, and what the store had no time for.
        3. Once an answer is lost, or tells of a fault within the store, the object may be there:
           a later answer that the path is taken does not tell whose it is.
        """
        key = self._key(path)
        is_doubtful = False
        pauses = iter(_PAUSES_S)
        while True:
            try:
                self.bucket.put_if_absent(key, data)
            except RequestError as error:
                if error.is_present:
                    return PutResult.UNKNOWN if is_doubtful else PutResult.PRESENT
                is_doubtful = is_doubtful or error.is_doubtful
                pause = next(pauses, None) if error.is_retryable else None
                if pause is None:
                    if is_doubtful:
                        return PutResult.UNKNOWN
                    raise _storage_error(error, path, "write") from error
            else:
                return PutResult.WRITTEN
            time.sleep(pause)

    def write(self, path: str, data: bytes) -> None:
        """Writes or replaces a file, whole."""
        key = self._key(path)
        with _errors(path, "write"):
            self.bucket.put(key, data)

    def size(self, path: str) -> int:
        """Size in bytes."""
        with self._reading(path):
            found = self._find(path)
            if found is None:
                raise RequestError("it is missing", is_missing=True)
            return found.size_bytes

    def exists(self, path: str) -> bool:
        """Whether a file or directory is there."""
        return self._find(path) is not None or self._is_directory(path)

    def list(self, path: str) -> list[FileStatus]:
        """The entries of a directory, in no order; empty when it is missing."""
        prefix = self._prefix(path)
        with _errors(path, "list"):
            found = list(self.bucket.list(prefix, is_deep=False))
        if not found and self._find(path) is not None:
            raise StorageError(path, "cannot list: it is a file, not a directory")
        # Other clients keep a directory by an object of the directory's own name.
        hidden = {prefix, prefix + _MARKER}
        return [_file_status(path, each, prefix) for each in found if each.key not in hidden]

    def make_directory(self, path: str) -> None:
        """Makes a directory, by an empty object within."""
        if not self._is_directory(path):
            self.put_if_absent(join(path, _MARKER), b"")

    def delete(self, path: str) -> bool:
        """Deletes one file; False when it was missing."""
        key = self._key(path)
        with _errors(path, "delete"):
            is_deleted = self.bucket.delete(key)
        if not is_deleted and self._is_directory(path):
            raise StorageError(path, "cannot delete: it is a directory, not a file")
        return is_deleted

    def delete_directory(self, path: str) -> None:
        """Deletes a directory with all that is in it, file by file; missing is fine."""
        is_missing = True
        with _errors(path, "delete the directory"):
            for keys in _chunks(self._keys_below(self._prefix(path))):
                self.bucket.delete_all(keys)
                is_missing = False
        if is_missing and self._find(path) is not None:
            raise StorageError(path, "cannot delete the directory: it is a file")

    def rename_directory(self, source: str, target: str) -> None:
        """Copies all that is in a directory, then deletes it there; a crash leaves a part of both.

        Raises:
            NotFoundError: `source` is missing.
            AlreadyExistsError: `target` is there.
        """
        source_prefix, target_prefix = self._prefix(source), self._prefix(target)
        if not self._is_directory(source):
            if self._find(source) is not None:
                raise StorageError(source, "cannot move the directory: it is a file")
            raise NotFoundError("directory", source)
        if target_prefix.startswith(source_prefix):
            raise StorageError(source, f"cannot move the directory to {target}, inside itself")
        if self.exists(target):
            raise AlreadyExistsError("directory", target)
        with _errors(source, f"move the directory to {target}"):
            keys = list(self._keys_below(source_prefix))
            targets = [target_prefix + key.removeprefix(source_prefix) for key in keys]
            with ThreadPoolExecutor(_COPIED_AT_ONCE) as pool:
                list(pool.map(self.bucket.copy, keys, targets))
            for chunk in _chunks(keys):
                self.bucket.delete_all(chunk)

    def local_path(self, path: str) -> str | None:
        """None: the operating system has no path for it."""
        self._key(path)
        return None

    def _find(self, path: str) -> ObjectStatus | None:
        key = self._prefix(path).removesuffix("/")
        with _errors(path, "look"):
            return self.bucket.find(key) if key else None

    def _is_directory(self, path: str) -> bool:
        prefix = self._prefix(path)
        with _errors(path, "look"):
            return not prefix or any(True for _ in self.bucket.list(prefix, is_deep=True))

    def _keys_below(self, prefix: str) -> Iterator[str]:
        return (each.key for each in self.bucket.list(prefix, is_deep=True))

    def _publish(self, upload: Upload, path: str) -> None:
        content = upload.content
        if content is None:
            try:
                upload.join()
            except RequestError as error:
                if error.is_present:
                    raise AlreadyExistsError("file", path) from error
                raise
            return
        match self.put_if_absent(path, content):
            case PutResult.PRESENT:
                raise AlreadyExistsError("file", path)
            case PutResult.UNKNOWN:
                problem = "the store did not say whether it was written"
                raise StorageError(path, problem, retryable=True)
            case PutResult.WRITTEN:
                return

    @contextmanager
    def _reading(self, path: str) -> Iterator[None]:
        with _errors(path, "read"):
            try:
                yield
            except RequestError as error:
                if not error.is_missing:
                    raise
                if self._is_directory(path):
                    problem = "cannot read: it is a directory, not a file"
                    raise StorageError(path, problem) from error
                raise NotFoundError("file", path) from error

    def _key(self, path: str) -> str:
        """The key of a file."""
        key = self._prefix(path).removesuffix("/")
        if not key:
            raise StorageError(path, "it is a whole bucket or container, not a file")
        return key

    def _prefix(self, path: str) -> str:
        """What the keys below a directory begin with: its path and a slash; empty at the top."""
        location = parse_location(path)
        if location.scheme not in self.schemes or location.authority != self.authority:
            place = f"{self.schemes[0]}://{self.authority}"
            raise InvalidArgumentError(f"{path} is not in {place}, where it was looked for")
        if (bad := _UNNAMEABLE.search(location.path)) is not None:
            raise InvalidArgumentError(
                f"{path!r}: no object can be named so, because of {bad[0]!r}; choose another name"
            )
        return f"{location.path}/".lstrip("/")


def _chunks(keys: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(keys)
    while chunk := list(islice(rest, _DELETED_AT_ONCE)):
        yield chunk


@contextmanager
def _errors(path: str, action: str) -> Iterator[None]:
    """Turns what the store says into a `StorageError`."""
    try:
        yield
    except RequestError as error:
        raise _storage_error(error, path, action) from error


def _storage_error(error: RequestError, path: str, action: str) -> StorageError:
    return StorageError(path, f"cannot {action}: {error.meaning}", retryable=error.is_retryable)


def _file_status(path: str, found: ObjectStatus, prefix: str) -> FileStatus:
    name = found.key.removeprefix(prefix)
    return FileStatus(
        path=join(path, name.removesuffix("/")),
        size_bytes=found.size_bytes,
        modification_time_ms=found.modification_time_ms,
        is_directory=name.endswith("/"),
    )
