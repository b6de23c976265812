"""Who takes back or replaces the history of a branch, where two calls do the same?

The same operation, called again, goes on where one broke off. Nobody can tell whether the first
call died, or only takes its time. So the later one takes its place: the marker names it from then
on, and the earlier one, which reads the marker before each deletion, stops. Else it would go on to
delete when the later one has ended, and others commit again.

No store has a conditional delete: what is left is a call that pauses between reading the marker and
deleting one file for as long as the other takes to end and a third to commit the same id.
"""

from dataclasses import dataclass, replace

from lakebed.errors import CommitConflictError, StorageError
from lakebed.storage.file_io import PutResult
from lakebed.table.metadata.history_marker import HistoryMarker, Rewriting
from lakebed.table.parts import TableParts


@dataclass(slots=True, kw_only=True)
class HistoryClaim:
    """What one call does to the history of a branch.

    Attributes:
        marker: The marker of the branch.
        mine: What it says as long as the call is the one that does it.
        is_taken: Whether the call has begun.
    """

    marker: HistoryMarker
    mine: Rewriting
    is_taken: bool = False

    @classmethod
    def of(cls, parts: TableParts, operation: str) -> "HistoryClaim":
        """The claim of a new call."""
        owner = parts.session.effects.fresh_uuid()
        return cls(
            marker=HistoryMarker(parts.file_io, parts.paths),
            mine=Rewriting(operation=operation, is_changed=False, owner=owner),
        )

    def take(self) -> bool:
        """Says that the operation begins, or goes on where it broke off; once for each call.

        Returns:
            Whether it may have changed something before.

        Raises:
            CommitConflictError: Another operation is under way or broke off, or another call took
                the place of this one.
            StorageError: The store failed, or did not say what it did.
        """
        if self.is_taken:
            self.check()
        else:
            self._put()
            self.is_taken = True
        return self.mine.is_changed

    def _put(self) -> None:
        marker, mine = self.marker, self.mine
        result = marker.file_io.put_if_absent(marker.path, mine.to_bytes())
        if result is PutResult.WRITTEN:
            return
        found = marker.read()
        if found is None and result is PutResult.UNKNOWN:
            problem = "the store did not say whether it was written; nothing was changed"
            raise StorageError(marker.path, problem, retryable=True)
        if found is None or found.operation != mine.operation:
            told = marker.told(None if found is None else found.operation)
            raise CommitConflictError(
                f"{marker.paths.location}: there can be no {mine.operation} now. {told}"
            )
        self.mine = replace(mine, is_changed=found.is_changed)
        if found != self.mine:
            marker.file_io.write(marker.path, self.mine.to_bytes())

    def confirm(self) -> None:
        """Says that the operation is about to change something.

        Raises:
            CommitConflictError: Another call took the place of this one.
            StorageError: The store failed.
        """
        self.check()
        self.mine = replace(self.mine, is_changed=True)
        self.marker.file_io.write(self.marker.path, self.mine.to_bytes())

    def is_held(self) -> bool:
        """Whether this call is still the one that does it.

        Raises:
            StorageError: The store failed.
        """
        found = self.marker.read()
        return found is not None and found.owner == self.mine.owner

    def check(self) -> None:
        """Looks whether this call may change something now.

        Raises:
            CommitConflictError: Another one took its place.
            StorageError: The store failed.
        """
        if not self.is_held():
            raise CommitConflictError(
                f"{self.marker.paths.location}: another call of the same {self.mine.operation} "
                "goes on with it, or has ended it. Wait until no commit is refused any more, and "
                "see which snapshot is the newest then"
            )

    def delete(self, path: str) -> None:
        """Deletes a file, as long as nobody took the place of this call.

        Raises:
            CommitConflictError: Another one did.
            StorageError: The store failed.
        """
        self.check()
        self.marker.file_io.delete(path)

    def end(self) -> None:
        """The operation has ended; where another call goes on with it, that one says so.

        Raises:
            StorageError: The store failed.
        """
        if self.is_held():
            self.marker.file_io.delete(self.marker.path)
