"""What a store must offer: the one seam between Lakebed and bytes.

Invariants that every backend keeps, and that `tests/contracts/file_io_contract.py` proves:

* a file that can be seen is whole: nobody reads half of a `put_if_absent`, a `write` or a closed
  `open_output`;
* of any number of concurrent `put_if_absent` calls for one path, in any processes, exactly one
  returns `PutResult.WRITTEN`;
* `delete` of a missing file is no error;
* names are literal: nothing in a path is URL-decoded, and a path may be a plain one or a URI of the
  store's scheme, which `list` then repeats.

A crash may leave a draft, named `.<name>.<unique>.tmp`, beside its target. `list` shows drafts, for
cleaning to find; nobody else looks at a name that begins with a dot.

The surprising thing: `PutResult.UNKNOWN`. A store that lost its answer neither wrote nor failed;
whoever asked must look before doing anything else.
"""

import enum
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa


class PutResult(enum.Enum):
    """Outcome of a put-if-absent."""

    WRITTEN = "written"
    PRESENT = "present"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStatus:
    """One entry of a directory listing.

    Attributes:
        path: Full path, in the spelling that the store's other calls take.
        size_bytes: Size; 0 for a directory.
        modification_time_ms: Epoch milliseconds.
        is_directory: Whether it is a directory.
    """

    path: str
    size_bytes: int
    modification_time_ms: int
    is_directory: bool

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rstrip("/").rsplit("/", 1)[-1]


class FileIO(Protocol):
    """A store. Implementations are picklable, immutable and safe between threads.

    Every method raises `StorageError` when the store fails, and `NotFoundError` (kind ``"file"``)
    when a file to be read is not there.
    """

    def read(self, path: str) -> bytes:
        """The whole file."""
        ...

    def read_range(self, path: str, *, offset: int, length: int) -> bytes:
        """`length` bytes from `offset`; shorter only at the end of the file."""
        ...

    def open_input(self, path: str) -> pa.NativeFile:
        """A seekable Arrow file, for readers that pick their own ranges. The caller closes it."""
        ...

    def open_output(self, path: str) -> AbstractContextManager[pa.NativeFile]:
        """A new file, visible whole when the context ends well, and not at all otherwise.

        Raises:
            AlreadyExistsError: The path is taken; a data file is never overwritten.
        """
        ...

    def put_if_absent(self, path: str, data: bytes) -> PutResult:
        """Writes a file that must not exist yet; decides every commit (format.md 2)."""
        ...

    def write(self, path: str, data: bytes) -> None:
        """Writes or replaces a file, whole. For hints only: nothing may depend on who was last."""
        ...

    def size(self, path: str) -> int:
        """Size in bytes."""
        ...

    def exists(self, path: str) -> bool:
        """Whether a file or directory is there."""
        ...

    def list(self, path: str) -> list[FileStatus]:
        """The entries of a directory, in no order; empty when it is missing."""
        ...

    def make_directory(self, path: str) -> None:
        """Makes a directory and its parents where the store has directories; else does nothing."""
        ...

    def delete(self, path: str) -> bool:
        """Deletes one file; False when it was missing."""
        ...

    def delete_directory(self, path: str) -> None:
        """Deletes a directory with all that is in it; missing is fine."""
        ...

    def rename_directory(self, source: str, target: str) -> None:
        """Moves a directory.

        Raises:
            NotFoundError: `source` is missing.
            AlreadyExistsError: `target` is there.
        """
        ...

    def local_path(self, path: str) -> str | None:
        """The path for the operating system, where the store is the local disk; else None."""
        ...
