"""From what a scan says it reads to the snapshots that it is read from."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo

from lakebed.errors import InvalidArgumentError, NotFoundError
from lakebed.format.snapshot import CommitKind, Snapshot
from lakebed.options.choices import ChangelogProducer, IncrementMode
from lakebed.table.metadata.auto_tags import auto_tag_time
from lakebed.table.metadata.changelogs import Changelogs
from lakebed.table.metadata.snapshots import Snapshots
from lakebed.table.metadata.tags import Tags
from lakebed.table.planning.visibility import Visibility
from lakebed.table.reading.scan_plan import ScanSource
from lakebed.table.reading.scan_point import (
    AutoTagIncrement,
    CreationPoint,
    Increment,
    Newest,
    NewestChanges,
    NewestCompacted,
    ScanPoint,
    SnapshotPoint,
    TagPoint,
    TimeIncrement,
    TimePoint,
    VersionPoint,
    WatermarkPoint,
)
from lakebed.table.reading.scan_source import ChangeSource, DiffSource, SnapshotSource

_NOTHING = SnapshotSource(snapshot=None)
_FIRST_ID = 1
_WATERMARK_PREFIX = "watermark-"
_COMMIT_IDENTIFIER_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a scan reads.

    Attributes:
        source: Where its rows come from.
        as_of: The snapshot whose columns are read; None for those of today.
    """

    source: ScanSource
    as_of: Snapshot | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The snapshots, tags and changelogs of a table or branch.

    Attributes:
        snapshots: Its snapshots.
        tags: Its tags.
        changelogs: Its changelogs that outlive their snapshots.
        options: Its options.
        changelog_producer: Where its changelog comes from.
        time_zone: Of the wall clock that files are dated by.
    """

    snapshots: Snapshots
    tags: Tags
    changelogs: Changelogs
    options: Mapping[str, str]
    changelog_producer: ChangelogProducer
    time_zone: tzinfo

    def find(self, chosen: ScanPoint, *, visibility: Visibility = Visibility.BATCH) -> Found:
        """Where the rows of a scan come from.

        Args:
            chosen: What the scan says.
            visibility: Which levels of a snapshot it sees.

        Raises:
            InvalidArgumentError: A range that ends before it starts, or mixes tags and ids.
            NotFoundError: There is no such snapshot or tag; the message names those there are.
        """
        match chosen.point:
            case Newest() | NewestCompacted() | CreationPoint() as point:
                return Found(source=self._newest(point, visibility))
            case Increment() | TimeIncrement() | AutoTagIncrement() | NewestChanges() as point:
                return Found(source=self._increment(point, chosen))
            case point:
                snapshot = self._snapshot(point)
                return Found(
                    source=SnapshotSource(snapshot=snapshot, visibility=visibility), as_of=snapshot
                )

    def _newest(
        self, point: Newest | NewestCompacted | CreationPoint, visibility: Visibility
    ) -> ScanSource:
        snapshot = self.snapshots.latest()
        if snapshot is None or isinstance(point, Newest):
            return SnapshotSource(snapshot=snapshot, visibility=visibility)
        if isinstance(point, NewestCompacted):
            compacted = self.snapshots.newest(lambda each: _is_compacted(each, point))
            return SnapshotSource(snapshot=compacted or snapshot, visibility=visibility)
        created = None if point.files_only else self._first_from(point.time_ms)
        if created is not None:
            return SnapshotSource(snapshot=created, visibility=visibility)
        return SnapshotSource(
            snapshot=snapshot,
            visibility=visibility,
            created_from_ms=wall_clock_ms(point.time_ms, self.time_zone),
        )

    def _first_from(self, time_ms: int) -> Snapshot | None:
        """The oldest snapshot from a time on, if it is known that an older one was before."""
        before = self.snapshots.at_or_before(time_ms - 1)
        found = before
        while found is not None and found.time_millis < time_ms:
            found = self.snapshots.find(found.id + 1)
        return found

    def _snapshot(
        self, point: SnapshotPoint | TagPoint | VersionPoint | TimePoint | WatermarkPoint
    ) -> Snapshot:
        if isinstance(point, VersionPoint):
            point = self._version(point.text)
        if isinstance(point, SnapshotPoint):
            return self.snapshots.load(point.snapshot_id)
        if isinstance(point, TagPoint):
            return self.tags.load(point.name).snapshot
        if isinstance(point, TimePoint):
            found = self.snapshots.at_or_before(point.time_ms)
            name, place = f"at {_shown(point.time_ms, self.time_zone)} or before", 0
        else:
            found = self.snapshots.at_or_after_watermark(point.watermark)
            name, place = f"with watermark {point.watermark} or later", -1
        if found is None:
            raise NotFoundError("snapshot", name, hint=self._end_hint(place))
        return found

    def _end_hint(self, place: int) -> str:
        ids = self.snapshots.list_ids()
        if not ids:
            return "The table has no snapshot"
        end = self.snapshots.load(ids[place])
        which = "earliest" if place == 0 else "latest"
        time = _shown(end.time_millis, self.time_zone)
        return f"The {which} is snapshot {end.id} of {time}, watermark {end.watermark}"

    def _version(self, text: str) -> SnapshotPoint | TagPoint | WatermarkPoint:
        if self.tags.find(text) is not None:
            return TagPoint(text)
        number = text.removeprefix(_WATERMARK_PREFIX)
        if number != text and number.lstrip("-").isdecimal():
            return WatermarkPoint(int(number))
        return SnapshotPoint(int(text)) if text.isdecimal() else TagPoint(text)

    def _increment(
        self, point: Increment | TimeIncrement | AutoTagIncrement | NewestChanges, chosen: ScanPoint
    ) -> ScanSource:
        if isinstance(point, NewestChanges):
            latest = self.snapshots.latest()
            return ChangeSource(snapshots=(latest,), from_changelog=False) if latest else _NOTHING
        if isinstance(point, AutoTagIncrement):
            return self._to_auto_tag(point.end_tag)
        if isinstance(point, TimeIncrement):
            return self._between_times(point, chosen.increment_mode)
        ends = self._tags(point)
        if ends is None:
            return self._between_ids(int(point.start), int(point.end), chosen.increment_mode)
        start, end = ends
        if chosen.tag_to_snapshot and chosen.increment_mode is not IncrementMode.DIFF:
            return self._between_ids(start.id, end.id, chosen.increment_mode)
        if chosen.increment_mode in {IncrementMode.DELTA, IncrementMode.CHANGELOG}:
            raise InvalidArgumentError(
                f"two tags are compared, which is mode 'diff', not {chosen.increment_mode.value!r};"
                " give their snapshots, or option 'incremental-between-tag-to-snapshot' = 'true'"
            )
        if end.id < start.id:
            raise InvalidArgumentError(
                f"tag {point.end!r} (snapshot {end.id}) is older than tag {point.start!r} "
                f"(snapshot {start.id})"
            )
        return _NOTHING if start.id == end.id else DiffSource(before=start, after=end)

    def _tags(self, point: Increment) -> tuple[Snapshot, Snapshot] | None:
        """The snapshots of two tags; None for two snapshot ids."""
        ends = (point.start, point.end)
        tags = [self.tags.find(end) if isinstance(end, str) else None for end in ends]
        if tags[0] is not None and tags[1] is not None:
            return tags[0].snapshot, tags[1].snapshot
        if all(isinstance(end, int) or end.isdecimal() for end in ends):
            return None
        for end, tag in zip(ends, tags, strict=True):
            if isinstance(end, str) and not end.isdecimal() and tag is None:
                self.tags.load(end)
        raise InvalidArgumentError(
            f"incremental from {point.start!r} to {point.end!r} mixes a tag and a snapshot id; "
            "give two tags or two ids"
        )

    def _between_ids(self, start: int, end: int, mode: IncrementMode) -> ScanSource:
        if end < start:
            raise InvalidArgumentError(
                f"the end of the changes, {end}, is before the start {start}"
            )
        if start == end or self.snapshots.latest_id() is None:
            return _NOTHING
        if mode is IncrementMode.DIFF:
            before = self.snapshots.load(start)
            return DiffSource(before=before, after=self.snapshots.load(end))
        from_changelog = self._reads_changelog(mode)
        changes = tuple(
            self._change(snapshot_id, from_changelog=from_changelog)
            for snapshot_id in range(start + 1, end + 1)
        )
        return ChangeSource(snapshots=changes, from_changelog=from_changelog)

    def _change(self, snapshot_id: int, *, from_changelog: bool) -> Snapshot:
        """A snapshot whose changes are read; its changelog may have outlived it.

        Without a producer the changes are the changelog.
        """
        kept = self.snapshots.find(snapshot_id)
        if kept is None and (from_changelog or self.changelog_producer is ChangelogProducer.NONE):
            kept = self.changelogs.find(snapshot_id)
        return self.snapshots.load(snapshot_id) if kept is None else kept

    def _reads_changelog(self, mode: IncrementMode) -> bool:
        if mode is IncrementMode.AUTO:
            return self.changelog_producer is not ChangelogProducer.NONE
        return mode is IncrementMode.CHANGELOG

    def _between_times(self, point: TimeIncrement, mode: IncrementMode) -> ScanSource:
        if point.end_ms < point.start_ms:
            raise InvalidArgumentError(
                f"the end of the changes, {_shown(point.end_ms, self.time_zone)}, is before the "
                f"start, {_shown(point.start_ms, self.time_zone)}"
            )
        ids = self.snapshots.list_ids()
        if not ids or point.start_ms == point.end_ms:
            return _NOTHING
        earliest, latest = self.snapshots.load(ids[0]), self.snapshots.load(ids[-1])
        if point.start_ms > latest.time_millis or point.end_ms < earliest.time_millis:
            return _NOTHING
        start = self.snapshots.at_or_before(point.start_ms)
        end = self.snapshots.at_or_before(point.end_ms) or latest
        if mode is not IncrementMode.DIFF:
            return self._between_ids(start.id if start else earliest.id - 1, end.id, mode)
        if start is None and earliest.id == _FIRST_ID:
            return SnapshotSource(snapshot=end, visibility=Visibility.ALL)
        return DiffSource(before=start or earliest, after=end)

    def _to_auto_tag(self, name: str) -> ScanSource:
        end_time = auto_tag_time(name, self.options)
        if end_time is None:
            raise InvalidArgumentError(f"{name!r} is no name of an automatic tag of this table")
        end = self.tags.find(name)
        times = {each: auto_tag_time(each, self.options) for each in self.tags.list_names()}
        earlier = [each for each, time in times.items() if time is not None and time < end_time]
        if end is None or not earlier:
            return _NOTHING
        start = self.tags.load(max(earlier, key=lambda each: times[each] or end_time))
        return DiffSource(before=start.snapshot, after=end.snapshot)


def _is_compacted(snapshot: Snapshot, point: NewestCompacted) -> bool:
    if snapshot.commit_kind is not CommitKind.COMPACT or point.delta_commits is None:
        return snapshot.commit_kind is CommitKind.COMPACT
    identifier = snapshot.commit_identifier
    return identifier % point.delta_commits == 0 or identifier == _COMMIT_IDENTIFIER_MAX


def wall_clock_ms(time_ms: int, time_zone: tzinfo) -> int:
    """What the local wall clock shows at a time, as if it were UTC (format.md 7)."""
    offset = datetime.fromtimestamp(time_ms / 1000, time_zone).utcoffset()
    return time_ms + (round(offset.total_seconds() * 1000) if offset else 0)


def _shown(time_ms: int, time_zone: tzinfo) -> str:
    try:
        return datetime.fromtimestamp(time_ms / 1000, time_zone).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return f"{time_ms} ms"
