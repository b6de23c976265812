"""Is the history of a branch being taken back or replaced, or was that broken off?

`snapshot/.lakebed-rewriting` says so, in words that name the operation. Who deletes newer snapshots
puts it before the first deletion and removes it after the last one, that of files too. No commit
begins while it is there, and where the operation broke off it stays: else others would write above
what is half taken back. The same operation, done again, goes on and ends it.
"""

from dataclasses import dataclass

from lakebed.errors import CommitConflictError, NotFoundError
from lakebed.format.paths import TablePaths
from lakebed.storage.file_io import FileIO, PutResult

_NAME = ".lakebed-rewriting"


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
        try:
            return self.file_io.read(self.path).decode()
        except NotFoundError:
            return None

    def put(self, operation: str) -> bool:
        """Says that an operation begins, or goes on where it broke off.

        Args:
            operation: What is done, the same words each time.

        Returns:
            Whether it begins: no earlier one of the same words broke off.

        Raises:
            CommitConflictError: Another operation is under way or broke off.
            StorageError: The store failed.
        """
        result = self.file_io.put_if_absent(self.path, operation.encode())
        if result is PutResult.WRITTEN:
            return True
        found = self.find()
        if found == operation:
            return False
        raise CommitConflictError(
            f"{self.paths.location}: there can be no {operation} now. {self.told(found)}"
        )

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
