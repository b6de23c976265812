"""Is the history of a branch being taken back or replaced, or was that broken off?

`snapshot/.lakebed-rewriting` says so, in words that name the operation. Who deletes newer snapshots
puts it before the first deletion and removes it after the last one, that of files too. No commit
begins while it is there, and where the operation broke off it stays: else others would write above
what is half taken back. The same operation, done again, goes on and ends it.

A second line says whether something was changed: that the operation found no expiry under way once
the marker was there, so that every expiry since then has given up, whatever copies it left. A third
one says which call it is that does it.
"""

from dataclasses import dataclass

from lakebed.errors import NotFoundError
from lakebed.format.paths import TablePaths
from lakebed.storage.file_io import FileIO

_NAME = ".lakebed-rewriting"
_BEGUN, _CHANGED = "begun", "changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewriting:
    """What the marker says.

    Attributes:
        operation: What is done, the same words each time.
        is_changed: Whether it may have changed something.
        owner: The call that does it; whoever does the same later takes its place.
    """

    operation: str
    is_changed: bool
    owner: str

    @classmethod
    def from_bytes(cls, data: bytes) -> "Rewriting":
        """What a marker holds."""
        operation, state, owner, *_ = [*data.decode().split("\n"), "", ""]
        return cls(operation=operation, is_changed=state == _CHANGED, owner=owner)

    def to_bytes(self) -> bytes:
        """As a marker holds it."""
        state = _CHANGED if self.is_changed else _BEGUN
        return f"{self.operation}\n{state}\n{self.owner}".encode()


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
        found = self.read()
        return None if found is None else found.operation

    def read(self) -> Rewriting | None:
        """All that it says; None where there is none.

        Raises:
            StorageError: The store failed.
        """
        try:
            return Rewriting.from_bytes(self.file_io.read(self.path))
        except NotFoundError:
            return None

    def told(self, operation: str | None) -> str:
        """What whoever meets an operation is told of it."""
        return (
            f"A {operation or 'change of its history'} is under way or broke off. Wait until it "
            "has ended; where its process died, do the same again. Where that is not possible, "
            f"delete {self.path} and roll back to a snapshot that is there"
        )
