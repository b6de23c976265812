"""What does a stream read next?

A stream goes from snapshot to snapshot. Each is one step: the rows that it changed, or of the first
one all of its rows. What changed nothing for a reader is passed over: compactions, and overwrites
unless the stream wants them.

    snapshot 1 append   2 compact   3 overwrite        4 append
    read                -           if it wants them   read

With a changelog producer, changes are read from changelog files, whichever commit brought them; a
first snapshot is then read without the levels whose changelog is still to come.

Splits are in the order of partition and bucket, one a section, so that a position in a snapshot
means the same to whoever plans it again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from lakebed.errors import InvalidDataError, NotFoundError
from lakebed.format.schema import TableSchema
from lakebed.format.snapshot import CommitKind, Snapshot
from lakebed.format.type_text import format_type
from lakebed.options.choices import ChangelogProducer
from lakebed.options.stream_options import StreamOptions
from lakebed.table.parts import TableParts
from lakebed.table.planning.split import Split
from lakebed.table.planning.visibility import Visibility
from lakebed.table.reading.scan import Scan
from lakebed.table.reading.scan_plan import RowReader, ScanSource
from lakebed.table.reading.scan_source import ChangeSource, DiffSource, SnapshotSource
from lakebed.table.streaming.position import Position
from lakebed.table.streaming.start import Beginning

_LOOKS_BETWEEN = 16
_PLANS_MAX = 64
FINEST_SPLITS = {"source.split.target-size": "1 b", "source.split.open-file-cost": "1 b"}
_LEVELS = {
    ChangelogProducer.LOOKUP: Visibility.COMPACTED,
    ChangelogProducer.FULL_COMPACTION: Visibility.READ_OPTIMIZED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What a stream reads of one snapshot.

    Attributes:
        snapshot: The snapshot.
        is_full: Whether all its rows are read, rather than what it changed.
        splits: In their order, those before `first` too.
        first: The first split that was not read yet.
        reader: Reads any of them.
    """

    snapshot: Snapshot
    is_full: bool
    splits: Sequence[Split]
    first: int
    reader: RowReader

    def position(self, count: int) -> Position:
        """Where the stream is when that many of the splits are read."""
        return Position(
            snapshot_id=self.snapshot.id,
            index=count - 1,
            is_full=self.is_full,
            total=len(self.splits),
            committed_ms=self.snapshot.time_millis,
        )

    @property
    def end(self) -> Position:
        """Where the stream is when all is read."""
        return self.position(len(self.splits))


class _Passed(NamedTuple):
    """How far a stream has looked beyond its position, and found nothing to read."""

    start: Position
    next_id: int
    last: tuple[int, int] | None
    """The snapshot that came last, and when it was committed."""


class _Planned(NamedTuple):
    """What a snapshot has to read."""

    splits: list[Split]
    reader: RowReader
    committed_ms: int


class _Misses(NamedTuple):
    """How often a snapshot was not there yet."""

    number: int
    times: int


@dataclass(slots=True, kw_only=True)
class Following:
    """Follows a table; what it holds beside its arguments only saves work.

    Attributes:
        parts: The table, with the stream's options laid over its own.
        options: The stream's options.
        beginning: Where it begins.
        scan: From what is read to the scan of it, with the columns and the condition of the stream.
    """

    parts: TableParts
    options: StreamOptions
    beginning: Beginning
    scan: Callable[[ScanSource], Scan]
    _opened: Scan | None = field(default=None, init=False)
    _passed: _Passed | None = field(default=None, init=False)
    _planned: dict[tuple[int, bool], _Planned] = field(default_factory=dict, init=False)
    _misses: _Misses = field(default=_Misses(0, 0), init=False)

    def open(self) -> Scan:
        """Looks whether the columns and the condition can be; else the first step would.

        Raises:
            InvalidArgumentError: An unknown column or a bad condition.
            UnsupportedError: The table cannot be read as a stream.
        """
        self._opened = self.scan(SnapshotSource(snapshot=None))
        return self._opened

    def next_step(
        self, position: Position, *, up_to: int | None = None, is_planned: bool = False
    ) -> Step | None:
        """The first snapshot from a position on that has something to read.

        Args:
            position: How far the stream has read.
            up_to: The last snapshot that counts; None for all there are.
            is_planned: Whether a micro-batch was planned up to there: all of it is read, whatever
                the options say by now about delays and where the stream ends.

        Returns:
            The step; None while there is nothing to read.

        Raises:
            NotFoundError: The snapshot has expired before it was read, or is of a history that was
                rewritten.
            InvalidDataError: A column of the stream has another type in the snapshot.
        """
        if not position.is_done and position.total is not None:
            return self._step(self._load(position), position)
        passed = self._passed
        if passed is None or passed.start != position:
            passed = _Passed(position, position.next_id, _read(position))
        while up_to is None or passed.next_id <= up_to:
            snapshot = self._find(passed.next_id, is_due=passed.last is not None)
            if snapshot is None and is_planned:
                raise self.rewritten(passed.next_id, "it is not there")
            if snapshot is None or not (is_planned or self._is_due(snapshot)):
                break
            self._check_last(passed)
            is_full = position.is_full and snapshot.id == position.snapshot_id
            step = self._step(snapshot, Position(snapshot_id=snapshot.id, is_full=is_full))
            if step is not None:
                return step
            passed = _Passed(position, snapshot.id + 1, (snapshot.id, snapshot.time_millis))
        self._passed = passed
        return None

    def is_end(self, snapshot: Snapshot) -> bool:
        """Whether the stream ends before a snapshot, by `scan.bounded.watermark`."""
        bound, watermark = self.options.bounded_watermark, snapshot.watermark
        return bound is not None and watermark is not None and watermark > bound

    def looked_at(self, position: Position) -> int:
        """The last snapshot that is known to have nothing more to read after a position."""
        passed = self._passed
        is_known = passed is not None and passed.start == position
        return (passed.next_id if passed and is_known else position.next_id) - 1

    def is_over(self, position: Position) -> bool:
        """Whether the stream ends at a position after which `next_step` found nothing."""
        if self.options.bounded_watermark is None:
            return False
        snapshot = self.parts.snapshots.find(self.looked_at(position) + 1)
        return snapshot is not None and self.is_end(snapshot)

    def last_due(self) -> Snapshot | None:
        """The newest snapshot that the stream may read by now."""
        snapshots, bound = self.parts.snapshots, self.options.bounded_watermark
        newest = snapshots.latest()
        if newest is None or bound is None or not self.is_end(newest):
            return newest
        beyond = snapshots.at_or_after_watermark(bound + 1)
        return None if beyond is None else snapshots.find(beyond.id - 1)

    def _is_due(self, snapshot: Snapshot) -> bool:
        if self.is_end(snapshot):
            return False
        if self.options.delay is None:
            return True
        age_ms = self.parts.session.effects.clock() - snapshot.time_millis
        return age_ms >= self.options.delay.total_seconds() * 1000

    def _find(self, number: int, *, is_due: bool) -> Snapshot | None:
        """A snapshot, or its changelog where that outlived it; None where it is still to come.

        A stream asks again and again for the one that is still to come, and mostly with one look;
        whether it will ever come is a matter of several.

        Args:
            number: Its id.
            is_due: Whether it comes after one that was there; a stream may begin in the future.
        """
        found = self.parts.snapshots.find(number)
        if found is not None:
            return found
        times = self._misses.times + 1 if self._misses.number == number else 0
        self._misses = _Misses(number, times)
        if times % _LOOKS_BETWEEN:
            return None
        found = self.parts.history.changelogs.find(number)
        if found is None:
            self._check_to_come(number, is_due=is_due)
        return found

    def _check_to_come(self, number: int, *, is_due: bool) -> None:
        snapshots = self.parts.snapshots
        latest, earliest = snapshots.latest_id(), snapshots.earliest_id()
        if latest is None or earliest is None:
            if is_due:
                raise self.rewritten(number, "the table has no snapshot any more")
        elif earliest > number:
            if snapshots.find(number) is not None:
                return
            raise NotFoundError(
                "snapshot",
                f"{number} of {self.parts.paths.location}, which a stream reads next",
                hint=f"It has expired: the oldest is {earliest}. Keep snapshots longer "
                "(snapshot.time-retained) or protect them with a consumer-id; begin the stream "
                "anew, with a new checkpoint, to read on",
            )
        elif is_due and number > latest + 1:
            raise self.rewritten(number, f"the newest is {latest}")

    def _check_last(self, passed: _Passed) -> None:
        """What came last is what is there, unless it has expired."""
        if passed.last is not None:
            number, committed_ms = passed.last
            self._check_same(number, committed_ms, self.parts.snapshots.find(number))

    def _load(self, position: Position) -> Snapshot:
        number = position.snapshot_id
        snapshot = self._find(number, is_due=True)
        if snapshot is None:
            raise self.rewritten(number, "it is not there")
        if position.committed_ms is not None:
            self._check_same(number, position.committed_ms, snapshot)
        return snapshot

    def _check_same(self, number: int, committed_ms: int, found: Snapshot | None) -> None:
        if found is not None and found.time_millis != committed_ms:
            raise self.rewritten(number, "another took the place of the one that was read")

    def rewritten(self, number: int, why: str) -> NotFoundError:
        """The error that what the stream has read, or was about to, is not the table's any more."""
        return NotFoundError(
            "snapshot",
            f"{number} of {self.parts.paths.location}, which a stream reads",
            hint=f"{why[0].upper()}{why[1:]}: the table was rolled back or made anew. Begin the "
            "stream anew, with a new checkpoint",
        )

    def _step(self, snapshot: Snapshot, position: Position) -> Step | None:
        planned = self._plan(snapshot, is_full=position.is_full)
        if planned is None:
            return None
        splits = planned.splits
        if position.total is not None and position.total != len(splits):
            raise cut_otherwise(snapshot, planned=position.total, found=len(splits))
        if position.index + 1 >= len(splits):
            return None
        return Step(
            snapshot=snapshot,
            is_full=position.is_full,
            splits=splits,
            first=position.index + 1,
            reader=planned.reader,
        )

    def _plan(self, snapshot: Snapshot, *, is_full: bool) -> _Planned | None:
        """What a snapshot has to read; a micro-batch asks for its end, and then for its parts."""
        known = self._planned.get((snapshot.id, is_full))
        if known is not None and known.committed_ms == snapshot.time_millis:
            return known
        source = self._source(snapshot, is_full=is_full)
        if source is None:
            return None
        plan = replace(self._scan_of(snapshot), source=source).plan()
        planned = _Planned(sorted(plan.splits, key=_place), plan.reader, snapshot.time_millis)
        if len(self._planned) >= _PLANS_MAX:
            self._planned.pop(next(iter(self._planned)))
        self._planned[snapshot.id, is_full] = planned
        return planned

    def _source(self, snapshot: Snapshot, *, is_full: bool) -> ScanSource | None:
        producer = self.parts.options.changelog_producer
        if is_full:
            return self.beginning.whole(snapshot, _LEVELS.get(producer, Visibility.BATCH))
        if snapshot.commit_kind is CommitKind.OVERWRITE:
            return self._overwrite(snapshot) if self.options.reads_overwrites else None
        if producer is not ChangelogProducer.NONE:
            if snapshot.changelog_manifest_list is None:
                return None
            return ChangeSource(snapshots=(snapshot,), from_changelog=True)
        if snapshot.commit_kind is not CommitKind.APPEND:
            return None
        return ChangeSource(snapshots=(snapshot,), from_changelog=False, is_followed=True)

    def _overwrite(self, snapshot: Snapshot) -> ScanSource:
        if not self.parts.schema.primary_keys:
            return ChangeSource(snapshots=(snapshot,), from_changelog=False, is_followed=True)
        if snapshot.id == 1:
            return SnapshotSource(snapshot=snapshot, visibility=Visibility.ALL)
        return DiffSource(before=self.parts.snapshots.load(snapshot.id - 1), after=snapshot)

    def _scan_of(self, snapshot: Snapshot) -> Scan:
        """A scan that knows the schema that a snapshot was written with."""
        opened = self._opened
        if opened is None or snapshot.schema_id not in opened.planner.file_schemas:
            opened = self.open()
        if snapshot.schema_id > self.parts.schema.id:
            self._check_columns(opened.planner.file_schemas[snapshot.schema_id])
        return opened

    def _check_columns(self, then: TableSchema) -> None:
        """No column changed its type under the stream, which would have to undo it."""
        by_id = {column.id: column for column in then.fields}
        for column in self.parts.schema.fields:
            found = by_id.get(column.id)
            if found is not None and found.type != column.type:
                raise InvalidDataError(
                    f"{self.parts.paths.location}: column {column.name!r} became "
                    f"{format_type(found.type)} while a stream read it as "
                    f"{format_type(column.type)}. Start the stream again; it goes on "
                    "where it is, with the new type"
                )


def steps_between(following: Following, start: Position, end: Position) -> list[Step]:
    """What lies between two positions, each step with only the splits that do.

    Raises:
        NotFoundError: Some of it is not there any more, or is cut into other splits.
    """
    if end.next_id < start.next_id:
        raise following.rewritten(start.next_id, f"it ends with {end.next_id - 1}")
    steps: list[Step] = []
    position, last = start, end.snapshot_id
    while (step := following.next_step(position, up_to=last, is_planned=True)) is not None:
        is_last = step.snapshot.id == last
        known = end.total if is_last and end.total else len(step.splits)
        if known != len(step.splits):
            raise cut_otherwise(step.snapshot, planned=known, found=len(step.splits))
        until = end.index + 1 if is_last and end.total else len(step.splits)
        if step.first >= until:
            break
        steps.append(replace(step, splits=step.splits[step.first : until], first=0))
        position = step.end
    return steps


def cut_otherwise(snapshot: Snapshot, *, planned: int, found: int) -> NotFoundError:
    """The error that a position in a snapshot means nothing any more."""
    return NotFoundError(
        "split",
        f"of snapshot {snapshot.id}",
        hint=f"The stream planned {planned} splits of it, and now there are {found}: another "
        "program, or other options, cut them otherwise. Go on with those that wrote the checkpoint",
    )


def _read(position: Position) -> tuple[int, int] | None:
    """The snapshot that a position is in, and when it was committed, as far as it is known."""
    known = position.committed_ms
    return None if known is None else (position.snapshot_id, known)


def _place(split: Split) -> tuple[str, int]:
    return repr(split.partition), split.bucket
