"""Is the history of a branch being taken back or replaced, or was that broken off?

`snapshot/.lakebed-rewriting` says so, in words that name the operation. Who deletes newer snapshots
puts it before the first deletion and removes it after the last one, that of files too. No commit
begins while it is there, and where the operation broke off it stays: else others would write above
what is half taken back. The same operation, done again, goes on and ends it.

A second line says that something was changed: that the operation found no expiry under way once the
marker was there, so that every expiry since then has given up, whatever copies it left.
"""

from dataclasses import dataclass

from lakebed.errors import CommitConflictError, NotFoundError, StorageError
from lakebed.format.paths import TablePaths
from lakebed.storage.file_io import FileIO, PutResult

_NAME = ".lakebed-rewriting"
_IS_CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class HistoryMarker:
    """The marker of one branch."""

    file_io: FileIO
    paths: TablePaths

    @property
    def path(self) -> str:
        """Where it is."""
        return f"{self.paths.snapshot_directory}/{_NAME}"

    def find(self) -> str | None:
        """The operation that is under way or broke off; None where there is none.

        Raises:
            StorageError: The store failed.
        """
        lines = self._lines()
        return lines[0] if lines else None

    def put(self, operation: str) -> bool:
        """Says that an operation begins, or goes on where it broke off.

        Args:
            operation: What is done, the same words each time.

        Returns:
            Whether it may have changed something before it broke off.

        Raises:
            CommitConflictError: Another operation is under way or broke off.
            StorageError: The store failed, or did not say what it did.
        """
        result = self.file_io.put_if_absent(self.path, operation.encode())
        if result is PutResult.WRITTEN:
            return False
        lines = self._lines()
        found = lines[0] if lines else None
        if found == operation:
            return len(lines) > 1
        if found is None and result is PutResult.UNKNOWN:
            problem = "the store did not say whether it was written; nothing was changed"
            raise StorageError(self.path, problem, retryable=True)
        raise CommitConflictError(
            f"{self.paths.location}: there can be no {operation} now. {self.told(found)}"
        )

    def is_begun(self, operation: str) -> bool:
        """Whether an operation is under way, or broke off, and has changed nothing yet.

        Raises:
            StorageError: The store failed.
        """
        return self._lines() == [operation]

    def confirm(self, operation: str) -> None:
        """Says that an operation is about to change something.

        Raises:
            StorageError: The store failed.
        """
        self.file_io.write(self.path, f"{operation}\n{_IS_CHANGED}".encode())

    def told(self, operation: str | None) -> str:
        """What whoever meets an operation is told of it."""
        return (
            f"A {operation or 'change of its history'} is under way or broke off. Wait until it "
            "has ended; where its process died, do the same again. Where that is not possible, "
            f"delete {self.path} and roll back to a snapshot that is there"
        )

    def remove(self) -> None:
        """The operation has ended.

        Raises:
            StorageError: The store failed.
        """
        self.file_io.delete(self.path)

    def _lines(self) -> list[str]:
        try:
            return self.file_io.read(self.path).decode().split("\n")
        except NotFoundError:
            return []
