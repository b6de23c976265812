"""How are files on the local disk, or on NFS, written once and whole?

Every file is written under a draft name, `.<name>.<unique>.tmp`, in the directory of its target,
synced, and only then given its name. A crash can leave a draft, never half a file; drafts are
listed, so that cleaning finds them, and read by nobody.

`put_if_absent` gives the name by a hard link, because a link fails when the name is taken, where a
rename replaces what is there: of two writers that checked and then rename, both believe they won.

The surprising thing: a link that reports an error may have been made. NFS repeats a request whose
answer got lost, and the repetition finds its own work in the way; so the draft and the target are
compared before an error is believed.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pyarrow as pa

from lakebed.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError, StorageError
from lakebed.storage.disk import Disk, storage_errors
from lakebed.storage.file_io import FileStatus, PutResult
from lakebed.storage.store_options import SINGLE_WRITER, flag
from lakebed.storage.uri import Location, join, parse_location

_NO_HARD_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})

_REFUSALS: Final = frozenset(
    {errno.EACCES, errno.EDQUOT, errno.EISDIR, errno.ELOOP, errno.EMLINK, errno.ENAMETOOLONG}
    | {errno.ENOENT, errno.ENOSPC, errno.ENOTDIR, errno.EROFS, errno.EXDEV}
)
"""Errors that say for certain that a name was not given."""

_STREAM_FAILURES: Final = frozenset(
    {errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOSPC, errno.EROFS, errno.ESTALE}
)
"""Errors of a caller's write into an open file; its other errors are its own affair."""


def fresh_name() -> str:
    """A name that no other process uses."""
    return os.urandom(16).hex()


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalFileIO:
    """Files on this machine; paths are plain or `file:` URIs, in every call.

    Attributes:
        single_writer: The user's word that one process writes at a time. Only then does a file
            system without hard links take commits, by a check and a rename.
        names: Gives the unique part of draft names.
        disk: The calls that change the disk.
    """

    single_writer: bool = False
    names: Callable[[], str] = fresh_name
    disk: Disk = field(default_factory=Disk)

    def read(self, path: str) -> bytes:
        """The whole file."""
        local = _local(path)
        with _reading(path):
            return Path(local).read_bytes()

    def read_range(self, path: str, *, offset: int, length: int) -> bytes:
        """`length` bytes from `offset`; shorter only at the end of the file."""
        if offset < 0 or length < 0:
            raise InvalidArgumentError(f"{path}: no range of {length} bytes from {offset}")
        local = _local(path)
        with _reading(path), Path(local).open("rb") as file:
            # Python reserves all of `length` before it reads, however short the file is.
            rest = max(os.fstat(file.fileno()).st_size - offset, 0)
            file.seek(offset)
            return file.read(min(length, rest))

    def open_input(self, path: str) -> pa.NativeFile:
        """A seekable Arrow file.

        A memory map decodes Parquet no faster once pages are cached, and kills the process
        (SIGBUS) when the file is truncated under it; so this reads.
        """
        local = _local(path)
        with _reading(path):
            _require_file(Path(local).stat())
            return pa.OSFile(local, mode="rb")

    @contextmanager
    def open_output(self, path: str) -> Iterator[pa.NativeFile]:
        """A new file, visible whole when the context ends well, and not at all otherwise.

        Raises:
            AlreadyExistsError: The path is taken, when opened or by the time of closing.
        """
        target = _local(path)
        with storage_errors(path, "write"):
            if _find_status(target) is not None:
                raise AlreadyExistsError("file", path)
            draft, descriptor = self._create_draft(target)
        try:
            with storage_errors(path, "write", only=_STREAM_FAILURES):
                try:
                    with pa.OSFile(draft, mode="wb") as stream:
                        yield stream
                    self.disk.sync(descriptor)
                finally:
                    self.disk.close(descriptor)
            with storage_errors(path, "write"):
                outcome = self._publish(draft, target=target, path=path)
        finally:
            self._discard(draft)
        if outcome is PutResult.PRESENT:
            raise AlreadyExistsError("file", path)
        if outcome is PutResult.UNKNOWN:
            raise StorageError(path, "the disk did not say whether it was written", retryable=True)

    def put_if_absent(self, path: str, data: bytes) -> PutResult:
        """Writes a file that must not exist yet; of many writers, in any processes, one wins.

        1. Write and sync a draft. A crash up to here leaves the draft alone.
        2. Link it to the target. This instant decides; a crash after it leaves a whole file.
        3. Sync the directory, then unlink the draft.
        """
        target = _local(path)
        with storage_errors(path, "write"):
            draft = self._write_draft(target, data)
            try:
                return self._publish(draft, target=target, path=path)
            finally:
                self._discard(draft)

    def write(self, path: str, data: bytes) -> None:
        """Writes or replaces a file, whole."""
        target = _local(path)
        with storage_errors(path, "write"):
            draft = self._write_draft(target, data)
            try:
                self.disk.replace(draft, target)
            except BaseException:
                self._discard(draft)
                raise

    def size(self, path: str) -> int:
        """Size in bytes."""
        local = _local(path)
        with _reading(path):
            status = Path(local).stat()
            _require_file(status)
            return status.st_size

    def exists(self, path: str) -> bool:
        """Whether a file or directory is there."""
        local = _local(path)
        with storage_errors(path, "look"):
            return _find_status(local) is not None

    def list(self, path: str) -> list[FileStatus]:
        """The entries of a directory, drafts included; empty when it is missing."""
        local = _local(path)
        found = []
        with (
            storage_errors(path, "list"),
            suppress(FileNotFoundError),
            os.scandir(local) as entries,
        ):
            for entry in entries:
                # An entry may be deleted between the listing and the look at it.
                with suppress(FileNotFoundError):
                    found.append(_file_status(join(path, entry.name), entry.stat()))
        return found

    def make_directory(self, path: str) -> None:
        """Makes a directory and its parents."""
        local = _local(path)
        with storage_errors(path, "make the directory"):
            self._make_directories(local)

    def delete(self, path: str) -> bool:
        """Deletes one file; False when it was missing."""
        local = _local(path)
        with storage_errors(path, "delete"):
            try:
                self.disk.unlink(local)
            except (FileNotFoundError, NotADirectoryError):
                return False
        return True

    def delete_directory(self, path: str) -> None:
        """Deletes a directory with all that is in it; missing is fine."""
        local = _local(path)
        with storage_errors(path, "delete the directory"):
            self._delete_tree(local)

    def rename_directory(self, source: str, target: str) -> None:
        """Moves a directory.

        Raises:
            NotFoundError: `source` is missing.
            AlreadyExistsError: `target` is there.
        """
        local_source, local_target = _local(source), _local(target)
        with storage_errors(source, f"move the directory to {target}"):
            status = _find_status(local_source)
            if status is None:
                raise NotFoundError("directory", source)
            if not stat.S_ISDIR(status.st_mode):
                raise NotADirectoryError(errno.ENOTDIR, "")
            if _find_status(local_target) is not None:
                raise AlreadyExistsError("directory", target)
            self._make_directories(_parent(local_target))
            try:
                self.disk.replace(local_source, local_target)
            except OSError as error:
                if error.errno in {errno.ENOTEMPTY, errno.EEXIST}:
                    raise AlreadyExistsError("directory", target) from error
                raise
            self.disk.sync_directory(_parent(local_source))
            self.disk.sync_directory(_parent(local_target))

    def local_path(self, path: str) -> str | None:
        """The path for the operating system."""
        return _local(path)

    def _create_draft(self, target: str) -> tuple[str, int]:
        """Path and descriptor of an empty draft of `target`, whose directory is made if missing."""
        parent, name = _parent(target), target.rsplit("/", 1)[-1]
        draft = join(parent, f".{name}.{self.names()}.tmp")
        try:
            return draft, self.disk.create(draft)
        except FileNotFoundError:
            self._make_directories(parent)
            return draft, self.disk.create(draft)

    def _write_draft(self, target: str, data: bytes) -> str:
        draft, descriptor = self._create_draft(target)
        try:
            try:
                self.disk.write(descriptor, data)
                self.disk.sync(descriptor)
            finally:
                self.disk.close(descriptor)
        except BaseException:
            self._discard(draft)
            raise
        return draft

    def _publish(self, draft: str, *, target: str, path: str) -> PutResult:
        """Gives a whole, synced draft its name, unless the name is taken.

        An OSError from here means for certain that it was not given.
        """
        outcome = self._link(draft, target=target)
        if outcome is None:
            outcome = self._publish_by_rename(draft, target=target, path=path)
        if outcome is not PutResult.WRITTEN:
            return outcome
        try:
            self.disk.sync_directory(_parent(target))
        except OSError:
            # The name is there now, but may be gone after a loss of power.
            return PutResult.UNKNOWN
        return PutResult.WRITTEN

    def _link(self, draft: str, *, target: str) -> PutResult | None:
        """What came of a hard link; None where the file system has none."""
        try:
            self.disk.link(draft, target)
        except OSError as error:
            return self._judge_failed_link(error, draft=draft, target=target)
        return PutResult.WRITTEN

    def _judge_failed_link(self, error: OSError, *, draft: str, target: str) -> PutResult | None:
        try:
            existing = _find_status(target)
            is_ours = existing is not None and os.path.samestat(Path(draft).stat(), existing)
        except OSError:
            return PutResult.UNKNOWN
        if is_ours:
            return PutResult.WRITTEN
        if existing is not None and stat.S_ISDIR(existing.st_mode):
            raise IsADirectoryError(errno.EISDIR, "") from error
        if error.errno == errno.EEXIST:
            return PutResult.PRESENT
        if error.errno in _NO_HARD_LINKS:
            return None
        if error.errno in _REFUSALS:
            raise error
        return PutResult.UNKNOWN

    def _publish_by_rename(self, draft: str, *, target: str, path: str) -> PutResult:
        """Checks, then renames: two writers could both win, so the user must rule them out."""
        if not self.single_writer:
            raise StorageError(
                path,
                "the file system has no hard links, without which two writers could both win one "
                "commit. Keep the table on another file system or, if never more than one process "
                "writes it, set lakebed.commit.single-writer=true",
            )
        if _find_status(target) is not None:
            return PutResult.PRESENT
        try:
            self.disk.replace(draft, target)
        except OSError as error:
            if error.errno in _REFUSALS:
                raise
            return PutResult.UNKNOWN
        return PutResult.WRITTEN

    def _discard(self, draft: str) -> None:
        # The fate of the target is decided by now; a draft that stays is found by cleaning.
        with suppress(OSError):
            self.disk.unlink(draft)

    def _make_directories(self, directory: str) -> None:
        try:
            self.disk.make_directory(directory)
        except FileExistsError:
            if not Path(directory).is_dir():
                raise NotADirectoryError(errno.ENOTDIR, "") from None
        except FileNotFoundError:
            self._make_directories(_parent(directory))
            self._make_directories(directory)
        else:
            self.disk.sync_directory(_parent(directory))

    def _delete_tree(self, directory: str) -> None:
        try:
            with os.scandir(directory) as entries:
                content = [
                    (join(directory, entry.name), entry.is_dir(follow_symlinks=False))
                    for entry in entries
                ]
        except FileNotFoundError:
            return
        for path, is_directory in content:
            if is_directory:
                self._delete_tree(path)
            else:
                with suppress(FileNotFoundError):
                    self.disk.unlink(path)
        with suppress(FileNotFoundError):
            self.disk.remove_directory(directory)


def open_store(_location: Location, options: Mapping[str, str]) -> LocalFileIO:
    """The local disk; `lakebed.commit.single-writer` is the one option that it reads."""
    return LocalFileIO(single_writer=flag(options, [SINGLE_WRITER], default=False))


@contextmanager
def _reading(path: str) -> Iterator[None]:
    with storage_errors(path, "read"):
        try:
            yield
        except (FileNotFoundError, NotADirectoryError) as error:
            raise NotFoundError("file", path) from error


def _local(path: str) -> str:
    location = parse_location(path)
    if location.scheme != "file":
        raise InvalidArgumentError(f"{path} is not on the local disk, where it was looked for")
    return location.path


def _parent(local: str) -> str:
    return local.rsplit("/", 1)[0] or "/"


def _find_status(local: str) -> os.stat_result | None:
    try:
        return Path(local).stat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _require_file(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, "")


def _file_status(path: str, status: os.stat_result) -> FileStatus:
    is_directory = stat.S_ISDIR(status.st_mode)
    return FileStatus(
        path=path,
        size_bytes=0 if is_directory else status.st_size,
        modification_time_ms=status.st_mtime_ns // 1_000_000,
        is_directory=is_directory,
    )
