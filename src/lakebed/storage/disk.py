"""What is asked of the operating system to change the disk, and what do its errors mean?

Each method of `Disk` is one step that a crash can come before or after; tests replace it to fail
at every step.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lakebed.errors import StorageError

_NO_DIRECTORY_SYNC: Final = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM})

_RETRYABLE: Final = frozenset(
    {errno.EAGAIN, errno.EBUSY, errno.EINTR, errno.EIO, errno.EMFILE, errno.ENFILE}
    | {errno.ENOTEMPTY, errno.ESTALE, errno.ETIMEDOUT}
)

_MEANINGS: Final = {
    errno.EACCES: "permission denied; check the owner and mode of the file and its directory",
    errno.EPERM: "not permitted; check the owner and mode of the file and its directory",
    errno.EROFS: "the file system is mounted read-only",
    errno.ENOSPC: "no space left on the device; free some and repeat",
    errno.EDQUOT: "the disk quota is used up; free some space and repeat",
    errno.EISDIR: "it is a directory, not a file",
    errno.ENOTDIR: "it, or a part of its path, is a file, not a directory",
    errno.ENAMETOOLONG: "the name is too long for the file system",
    errno.EMFILE: "the process has too many open files; raise its limit (ulimit -n)",
    errno.ENOTEMPTY: "the directory is not empty; another process writes there",
}


@dataclass(frozen=True, slots=True)
class Disk:
    """The calls that change the disk, as the operating system has them: each raises OSError."""

    def create(self, path: str) -> int:
        """Makes a file that is not there yet; returns its descriptor, open for writing."""
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)

    def write(self, descriptor: int, data: bytes) -> None:
        """Writes all of `data`."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]

    def sync(self, descriptor: int) -> None:
        """Returns when the bytes of an open file outlive a loss of power."""
        os.fsync(descriptor)

    def close(self, descriptor: int) -> None:
        """Gives back a descriptor."""
        os.close(descriptor)

    def link(self, source: str, target: str) -> None:
        """Gives a file a second name, which must be free: the atomic step of a commit."""
        Path(target).hardlink_to(source)

    def replace(self, source: str, target: str) -> None:
        """Moves a file or directory; a file at `target` is replaced in the same instant."""
        Path(source).replace(target)

    def unlink(self, path: str) -> None:
        """Deletes a file."""
        Path(path).unlink()

    def make_directory(self, path: str) -> None:
        """Makes one directory."""
        Path(path).mkdir()

    def remove_directory(self, path: str) -> None:
        """Deletes an empty directory."""
        Path(path).rmdir()

    def sync_directory(self, path: str) -> None:
        """Returns when the names in a directory outlive a loss of power, if the store can say."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            # Network and FUSE file systems refuse to sync a directory, and one that may be written
            # but not read cannot be opened: there is nothing more to be had from them.
            if error.errno not in _NO_DIRECTORY_SYNC:
                raise


@contextmanager
def storage_errors(path: str, action: str, *, only: frozenset[int] | None = None) -> Iterator[None]:
    """Turns what the operating system says into a `StorageError`.

    Args:
        path: The path to name, in the caller's spelling.
        action: What was attempted, as a verb.
        only: Errnos to turn; all by default, and Arrow's own errors, which have none.
    """
    try:
        yield
    except OSError as error:
        if only is not None and error.errno not in only:
            raise
        meaning = _MEANINGS.get(error.errno or 0) or error.strerror or str(error)
        raise StorageError(
            path, f"cannot {action}: {meaning}", retryable=error.errno in _RETRYABLE
        ) from error
