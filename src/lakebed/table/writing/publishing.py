"""How is a snapshot put, and what became of it (format.md 2, 3, 16)?

The put decides: of all who want to be `snapshot-N`, one is. What the store says to it is looked at
once more, for a rollback, an expiry or another engine may have meant the place otherwise meanwhile:

    written              read: ours, standing        committed
                         ours, not standing          overtaken; removed
                         another's                   overtaken: it was replaced
                         not there                   overtaken, by a rollback; never put again
    present              read: another's             conflict
    no answer, not there put again, the same bytes, until one of these is known

A snapshot that is put again may have been there before, and rolled back, so that its files are
being deleted; others would build upon it all the same. So a tag holds its files first, and then it
is looked whether the marker of a rollback is there, which goes after the last file, or the list of
its changes is gone, which goes before all others. If so it stays unknown.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from lakebed.errors import NotFoundError, StorageError
from lakebed.format.paths import TablePaths
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_lineage import is_after
from lakebed.format.tag import COMMIT_TAG_PREFIX, with_retention
from lakebed.storage.file_io import FileIO, PutResult
from lakebed.table.metadata.history_marker import HistoryMarker
from lakebed.table.metadata.snapshots import Snapshots
from lakebed.table.writing.standing import Standing

_LOOKS_MAX = 5
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - of the wall's clock
# Longer than any zone is from another.
_HELD_AT_MOST = timedelta(days=2)


@dataclass(frozen=True, slots=True)
class Committed:
    """The snapshot is visible."""

    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class Conflict:
    """Another snapshot has the id that was tried."""

    snapshot_id: int


@dataclass(frozen=True, slots=True)
class Overtaken:
    """The snapshot may have been there for a moment, and is not any more."""

    snapshot_id: int


@dataclass(frozen=True, slots=True)
class Unknown:
    """The store did not say."""

    snapshot_id: int


Outcome = Committed | Conflict | Overtaken | Unknown


@dataclass(slots=True)
class _Puts:
    """The puts of one snapshot.

    Attributes:
        count: How many there were that did not fail for certain.
        is_written: Whether one wrote it for certain.
        may_be_written: Whether one may have.
    """

    count: int = 0
    is_written: bool = False
    may_be_written: bool = False

    def add(self, result: PutResult) -> None:
        self.count += 1
        self.is_written |= result is PutResult.WRITTEN
        self.may_be_written |= result is not PutResult.PRESENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Publisher:
    """Puts snapshots of one table or branch.

    Attributes:
        file_io: The store.
        paths: Names on disk.
        snapshots: The snapshots that are there.
        standing: Tells whether one follows what it builds on.
        pause: Waits before a look, which is given by its number.
        clock: Epoch milliseconds.
    """

    file_io: FileIO
    paths: TablePaths
    snapshots: Snapshots
    standing: Standing
    pause: Callable[[int], None]
    clock: Callable[[], int]

    def publish(self, snapshot: Snapshot, base: Snapshot | None) -> Outcome:
        """Makes a snapshot visible.

        Args:
            snapshot: It.
            base: The one that it builds on.

        Raises:
            StorageError: The first put failed for certain.
        """
        with self._held(snapshot) as hold:
            return self._publish(snapshot, base, hold)

    def _publish(
        self, snapshot: Snapshot, base: Snapshot | None, hold: Callable[[], bool]
    ) -> Outcome:
        data = snapshot.to_json()
        puts = _Puts()
        for look in range(_LOOKS_MAX):
            try:
                if look:
                    self.pause(look)
                    if self._has_passed(snapshot.id):
                        break
                    if puts.may_be_written and not puts.is_written and not hold():
                        break
                if not puts.is_written:
                    puts.add(self.file_io.put_if_absent(self.paths.snapshot(snapshot.id), data))
                outcome = self._look(snapshot, base, puts)
            except (NotFoundError, StorageError):
                if not puts.count:
                    raise
                continue
            if outcome is not None:
                return outcome
        return Unknown(snapshot.id)

    def remove(self, snapshot: Snapshot) -> None:
        """Deletes a snapshot that follows nothing, but no other one that has its place now."""
        if self.snapshots.find(snapshot.id) == snapshot:
            self.file_io.delete(self.paths.snapshot(snapshot.id))

    def _look(self, snapshot: Snapshot, base: Snapshot | None, puts: _Puts) -> Outcome | None:
        """What became of the puts; None where they must go on."""
        # Read back also after a put of ours: a writer that renames over files, as other engines
        # do, may have replaced it, and then this commit is lost and must be repeated.
        present = self.snapshots.find(snapshot.id)
        if present is None:
            if not puts.is_written:
                return None
            gone = Unknown if self._has_passed(snapshot.id) else Overtaken
            return gone(snapshot.id)
        if present.uuid != snapshot.uuid:
            return Overtaken(snapshot.id) if puts.may_be_written else Conflict(snapshot.id)
        if self.standing.stands(snapshot, base):
            self._clear_above(snapshot)
            return Committed(snapshot)
        self.remove(snapshot)
        # What was put before may have been built upon, and have expired.
        return Overtaken(snapshot.id) if puts.count == 1 else Unknown(snapshot.id)

    def _clear_above(self, snapshot: Snapshot) -> None:
        """Removes what follows a snapshot of the same id that was rolled back.

        A writer that paused through a rollback and died may have left it. Nobody found it as long
        as there was a gap below it; from now on readers would.
        """
        with suppress(NotFoundError, StorageError):
            above = self.snapshots.find(snapshot.id + 1)
            if above is None or is_after(above, snapshot) is not False:
                return
            # Else both were rolled back while this writer paused, and others committed anew.
            if self.snapshots.find(snapshot.id) == snapshot:
                self.remove(above)

    @contextmanager
    def _held(self, snapshot: Snapshot) -> Iterator[Callable[[], bool]]:
        """What holds the files of a snapshot until the end, and says whether all of them are there.

        Nothing is done unless it is called.
        """
        tag = self.paths.tag(f"{COMMIT_TAG_PREFIX}{snapshot.uuid}")
        is_held = False

        def hold() -> bool:
            nonlocal is_held
            if not is_held:
                is_held = True
                now = _EPOCH + timedelta(milliseconds=self.clock())
                data = with_retention(
                    snapshot.to_json(), create_time=now, time_retained=_HELD_AT_MOST
                )
                self.file_io.write(tag, data)
            marker = HistoryMarker(self.file_io, self.paths)
            changes = self.paths.manifest(snapshot.delta_manifest_list)
            return marker.find() is None and self.file_io.exists(changes)

        yield hold
        if is_held:
            with suppress(StorageError):
                self.file_io.delete(tag)

    def _has_passed(self, snapshot_id: int) -> bool:
        """Whether a snapshot, ours or not, may have been there and expired."""
        ids = self.snapshots.list_ids()
        return snapshot_id not in ids and any(each > snapshot_id for each in ids)
