"""Which snapshots a table has, and which one is the newest (format.md 2, 3).

`LATEST` and `EARLIEST` are hints: a crash or a slower writer may leave them behind, so a hint is
believed only when the directory agrees, and listing decides otherwise.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lakebed.errors import CorruptTableError, NotFoundError
from lakebed.format.paths import TablePaths, snapshot_id_of
from lakebed.format.snapshot import Snapshot
from lakebed.storage.file_io import FileIO

_ID_DIGITS_MAX = 19
_LOOKS_MAX = 10
# Engines without watermarks write the smallest long.
_NO_WATERMARK = -(2**63)


@dataclass(frozen=True, slots=True)
class Snapshots:
    """The snapshots of one table or branch."""

    file_io: FileIO
    paths: TablePaths

    def load(self, snapshot_id: int) -> Snapshot:
        """One snapshot.

        Raises:
            NotFoundError: There is none of that id; the message names the range there is.
            CorruptTableError: Its file cannot be read.
        """
        path = self.paths.snapshot(snapshot_id)
        try:
            data = self.file_io.read(path)
        except NotFoundError as error:
            raise NotFoundError("snapshot", str(snapshot_id), hint=self._range_hint()) from error
        snapshot = Snapshot.from_json(data, path)
        if snapshot.id != snapshot_id:
            raise CorruptTableError(path, f"holds snapshot {snapshot.id}")
        return snapshot

    def find(self, snapshot_id: int) -> Snapshot | None:
        """One snapshot, or None when it is not there."""
        try:
            return self.load(snapshot_id)
        except NotFoundError:
            return None

    def latest_id(self) -> int | None:
        """Id of the newest snapshot; None for a table without any."""
        hint = self._hint(self.paths.latest_hint)
        if hint is not None and self._is_latest(hint):
            return hint
        return max(self.list_ids(), default=None)

    def latest(self) -> Snapshot | None:
        """The newest snapshot; None for a table without any.

        Raises:
            NotFoundError: One was found and then gone, several times: something deletes them.
            CorruptTableError: Its file cannot be read.
        """
        snapshot_id = self.latest_id()
        for _ in range(_LOOKS_MAX):
            if snapshot_id is None:
                return None
            snapshot = self.find(snapshot_id)
            if snapshot is not None:
                return snapshot
            # A rollback took it away before it was read.
            snapshot_id = self.latest_id()
        return None if snapshot_id is None else self.load(snapshot_id)

    def earliest_id(self) -> int | None:
        """Id of the oldest snapshot; None for a table without any."""
        hint = self._hint(self.paths.earliest_hint)
        if hint is not None and self.file_io.exists(self.paths.snapshot(hint)):
            return hint
        return min(self.list_ids(), default=None)

    def list_ids(self) -> list[int]:
        """Ids of all snapshots, ascending."""
        found = (
            snapshot_id_of(status.name)
            for status in self.file_io.list(self.paths.snapshot_directory)
        )
        return sorted(snapshot_id for snapshot_id in found if snapshot_id is not None)

    def newest(self, where: Callable[[Snapshot], bool]) -> Snapshot | None:
        """The newest snapshot for which a condition is true; None when there is none."""
        for snapshot_id in reversed(self.list_ids()):
            snapshot = self.find(snapshot_id)
            if snapshot is not None and where(snapshot):
                return snapshot
        return None

    def at_or_before(self, time_ms: int) -> Snapshot | None:
        """The newest snapshot that was committed at a time or before; None when all are younger.

        Of several snapshots of one millisecond the bisection takes the one that it meets first.
        """
        ids = self.list_ids()
        found = None
        low, high = 0, len(ids) - 1
        while low <= high:
            middle = (low + high) // 2
            snapshot = self.load(ids[middle])
            if snapshot.time_millis > time_ms:
                high = middle - 1
                continue
            found = snapshot
            if snapshot.time_millis == time_ms:
                break
            low = middle + 1
        return found

    def at_or_after(self, time_ms: int) -> Snapshot | None:
        """The oldest snapshot that was committed at a time or later; None when all are older."""
        ids = self.list_ids()
        place = bisect_left(ids, time_ms, key=lambda each: self.load(each).time_millis)
        return self.load(ids[place]) if place < len(ids) else None

    def at_or_after_watermark(self, watermark: int) -> Snapshot | None:
        """The oldest snapshot whose watermark is at one or beyond; None when all are before.

        A snapshot without a watermark stands where the nearest older one that has one does. Of
        several snapshots of one watermark the bisection takes the one that it meets first.
        """
        ids = self._ids_from_first_watermark()
        first = self.load(ids[0]) if ids else None
        reached = _watermark(first) if first else None
        if reached is None or reached >= watermark:
            return first
        return self._around_watermark(ids, watermark)[1]

    def at_or_before_watermark(self, watermark: int) -> Snapshot | None:
        """The newest snapshot whose watermark is at one or before; None when all are beyond.

        Snapshots without a watermark and several of one are as in `at_or_after_watermark`.
        """
        return self._around_watermark(self._ids_from_first_watermark(), watermark)[0]

    def _ids_from_first_watermark(self) -> list[int]:
        """Ids from the oldest snapshot on that has a watermark, ascending."""
        ids = self.list_ids()
        for place, snapshot_id in enumerate(ids):
            if _watermark(self.load(snapshot_id)) is not None:
                return ids[place:]
        return []

    def _around_watermark(
        self, ids: Sequence[int], watermark: int
    ) -> tuple[Snapshot | None, Snapshot | None]:
        """The newest of some snapshots up to a watermark, and the oldest from it on."""
        before = after = None
        low, high = 0, len(ids) - 1
        while low <= high:
            middle = place = (low + high) // 2
            snapshot = self.load(ids[place])
            while (reached := _watermark(snapshot)) is None and place > low:
                place -= 1
                snapshot = self.load(ids[place])
            if reached == watermark:
                return snapshot, snapshot
            if reached is not None and reached > watermark:
                after, high = snapshot, place - 1
                continue
            before, low = before if reached is None else snapshot, middle + 1
        return before, after

    def _is_latest(self, snapshot_id: int) -> bool:
        return not self.file_io.exists(
            self.paths.snapshot(snapshot_id + 1)
        ) and self.file_io.exists(self.paths.snapshot(snapshot_id))

    def _hint(self, path: str) -> int | None:
        try:
            text = self.file_io.read(path).decode("ascii", errors="replace").strip()
        except NotFoundError:
            return None
        return int(text) if text.isdecimal() and len(text) <= _ID_DIGITS_MAX else None

    def _range_hint(self) -> str:
        ids = self.list_ids()
        return f"Snapshots {ids[0]} to {ids[-1]} exist" if ids else "The table has no snapshot"


def _watermark(snapshot: Snapshot) -> int | None:
    return None if snapshot.watermark == _NO_WATERMARK else snapshot.watermark
