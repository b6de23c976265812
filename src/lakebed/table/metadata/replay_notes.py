"""Was a commit made that may have expired since?

A commit is known by its user and identifier in the snapshots, for as long as these are there. A
stream that was killed in its commit and is started again after a night may find none of them. So it
notes in `snapshot/.lakebed-stream-<user>` what it is about to commit and after which snapshot, and
afterwards that it was done:

    noted, and done                         it was committed
    noted, and every snapshot since is here none of them is this commit: it was not
    noted, and some since have expired      nobody knows: an error, and never twice
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from lakebed.errors import CommitUnknownError, CorruptTableError, NotFoundError
from lakebed.format.json_text import format_json, parse_json_object
from lakebed.format.paths import TablePaths
from lakebed.storage.file_io import FileIO
from lakebed.table.metadata.snapshots import Snapshots

_IDENTIFIER, _AFTER, _IS_DONE = "identifier", "after", "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Note:
    identifier: int
    after: int
    is_done: bool


@dataclass(frozen=True, slots=True)
class ReplayNotes:
    """What one commit user noted of its commits to a table or branch.

    Attributes:
        file_io: The store.
        paths: Names on disk.
        user: The commit user.
    """

    file_io: FileIO
    paths: TablePaths
    user: str

    def begin(self, identifier: int) -> None:
        """Notes that a commit is about to be tried."""
        newest = self._snapshots.latest_id() or 0
        self._write({_IDENTIFIER: identifier, _AFTER: newest})

    def end(self, identifier: int) -> None:
        """Notes that it was made, or that there was nothing to commit."""
        self._write({_IDENTIFIER: identifier, _IS_DONE: True})

    def has_committed(self, identifier: int) -> bool:
        """Whether a commit that no snapshot tells of was made nevertheless.

        Raises:
            CommitUnknownError: It was tried, and what snapshots would tell of it has expired.
            CorruptTableError: The note cannot be read.
        """
        note = self._read()
        if note is None or note.identifier < identifier:
            return False
        if note.identifier > identifier or note.is_done:
            return True
        earliest = self._snapshots.earliest_id()
        if earliest is None or earliest <= note.after + 1:
            return False
        raise CommitUnknownError(
            f"{self.paths.location}: commit {identifier} of {self.user} was tried after snapshot "
            f"{note.after}, and the oldest snapshot is {earliest} now, so nobody knows whether it "
            f"was made. Look whether its rows are there; then delete {self._path} to have it "
            'written, or set "done" in it to true to have it passed over'
        )

    @staticmethod
    def path_of(paths: TablePaths, user: str) -> str:
        """Where a user's note is."""
        return f"{paths.snapshot_directory}/.lakebed-stream-{quote(user, safe='')}"

    @property
    def _path(self) -> str:
        return self.path_of(self.paths, self.user)

    @property
    def _snapshots(self) -> Snapshots:
        return Snapshots(self.file_io, self.paths)

    def _write(self, members: Mapping[str, int]) -> None:
        self.file_io.write(self._path, format_json(members).encode())

    def _read(self) -> _Note | None:
        try:
            data = self.file_io.read(self._path)
        except NotFoundError:
            return None
        found = parse_json_object(data, self._path)
        identifier, is_done = found.get(_IDENTIFIER), found.get(_IS_DONE) is True
        after = 0 if is_done else found.get(_AFTER)
        if not isinstance(identifier, int) or not isinstance(after, int):
            raise CorruptTableError(self._path, f"{found!r} is no note of a commit")
        return _Note(identifier=identifier, after=after, is_done=is_done)
