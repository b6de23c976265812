"""Where does a stream begin (features.md 17: scan modes)?

    latest-full (default)     the newest snapshot, then what comes
    latest                    what comes from now on
    compacted-full            the newest snapshot of a compaction, then what comes
    from-snapshot             the changes of a snapshot, and what comes
    from-snapshot-full        a snapshot, then what comes
    from-timestamp            what came from a time on
    from-file-creation-time   the newest snapshot's files from a time on, then what comes
    from-creation-timestamp   what came from a time on; as from-file-creation-time where no
                              snapshot is older, so that nobody knows what came when

A consumer that is known goes on where it was, whatever is said.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from lakebed.errors import InvalidArgumentError, NotFoundError
from lakebed.format.snapshot import Snapshot
from lakebed.options.choices import ScanMode
from lakebed.options.values import parse_member
from lakebed.table.metadata.consumers import Consumers
from lakebed.table.parts import TableParts
from lakebed.table.planning.visibility import Visibility
from lakebed.table.reading.history import wall_clock_ms
from lakebed.table.reading.scan_point import (
    CreationPoint,
    Newest,
    NewestCompacted,
    ScanPoint,
    SnapshotPoint,
    TimePoint,
)
from lakebed.table.reading.scan_source import SnapshotSource
from lakebed.table.reading.time_travel import find_scan_point
from lakebed.table.streaming.position import Position

_MODE = "scan.mode"
_FIRST = Position(snapshot_id=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """Where the stream of a table begins.

    Attributes:
        parts: The table, with the stream's options laid over its own.
        given: The stream's options alone, under their current keys.
        consumer_id: The consumer whose position counts; None for none.
    """

    parts: TableParts
    given: Mapping[str, str]
    consumer_id: str | None

    def find(self) -> Position:
        """The first position.

        Raises:
            InvalidArgumentError: A mode that streams do not have, or options that contradict it.
            NotFoundError: The consumer is beyond the newest snapshot.
        """
        kept = self._kept()
        return self._chosen() if kept is None else kept

    def _kept(self) -> Position | None:
        if self.consumer_id is None:
            return None
        parts = self.parts
        next_id = Consumers(parts.file_io, parts.paths).find(self.consumer_id)
        newest = parts.snapshots.latest_id()
        if next_id is not None and next_id > (newest or 0) + 1:
            raise NotFoundError(
                "snapshot",
                f"{next_id} of {parts.paths.location}, which consumer {self.consumer_id!r} reads",
                hint=f"The newest is {newest}: the table was rolled back or made anew. Reset the"
                " consumer, or begin with consumer.ignore-progress = true",
            )
        # What expired under a consumer is an error of the first step, and no gap.
        return None if next_id is None else Position(snapshot_id=next_id)

    def whole(self, snapshot: Snapshot, visibility: Visibility) -> SnapshotSource:
        """What is read of a snapshot that the stream begins with.

        Args:
            snapshot: The snapshot.
            visibility: Which levels the stream sees of it.
        """
        point = self._point().point
        since_ms = (
            wall_clock_ms(point.time_ms, self.parts.session.time_zone)
            if isinstance(point, CreationPoint)
            else None
        )
        return SnapshotSource(snapshot=snapshot, visibility=visibility, created_from_ms=since_ms)

    def _point(self) -> ScanPoint:
        return find_scan_point(
            {},
            self.given,
            stored=self.parts.schema.options,
            time_zone=self.parts.session.time_zone,
        )

    def _chosen(self) -> Position:
        parts, history, chosen = self.parts, self.parts.history, self._point()
        mode = parse_member(parts.texts.get(_MODE, "default"), _MODE, of=ScanMode)
        match chosen.point:
            case Newest() if mode is ScanMode.LATEST:
                newest = history.snapshots.latest_id()
                return _FIRST if newest is None else Position(snapshot_id=newest + 1)
            case Newest() | NewestCompacted():
                source = history.find(chosen).source
                return _whole(source.snapshot if isinstance(source, SnapshotSource) else None)
            case SnapshotPoint(snapshot_id) if mode is ScanMode.FROM_SNAPSHOT_FULL:
                earliest = history.snapshots.earliest_id()
                if earliest is None:
                    return _FIRST
                return _whole(history.snapshots.load(max(snapshot_id, earliest)))
            case SnapshotPoint(snapshot_id):
                return self._from(snapshot_id)
            case TimePoint(time_ms):
                return self._since(time_ms)
            case CreationPoint(time_ms, files_only):
                before = history.snapshots.at_or_before(time_ms - 1)
                if files_only or before is None:
                    return _whole(history.snapshots.latest())
                return self._from(before.id + 1)
            case other:
                raise InvalidArgumentError(
                    f"a stream cannot begin at {other}: give scan.snapshot-id, a timestamp, or "
                    f"{_MODE!r} = latest-full, latest, compacted-full, from-snapshot, "
                    "from-snapshot-full, from-timestamp, from-creation-timestamp or "
                    "from-file-creation-time"
                )

    def _from(self, snapshot_id: int) -> Position:
        """The changes of a snapshot, or of the oldest whose changes are still there."""
        earliest = self._earliest()
        return Position(snapshot_id=max(snapshot_id, earliest or 1))

    def _since(self, time_ms: int) -> Position:
        before = self.parts.history.snapshots.at_or_before(time_ms - 1)
        return self._from(before.id + 1) if before is not None else self._from(1)

    def _earliest(self) -> int | None:
        history = self.parts.history
        kept = (history.snapshots.earliest_id(), min(history.changelogs.list_ids(), default=None))
        return min((each for each in kept if each is not None), default=None)


def _whole(snapshot: Snapshot | None) -> Position:
    if snapshot is None:
        return _FIRST
    return Position(snapshot_id=snapshot.id, is_full=True, committed_ms=snapshot.time_millis)
