"""What may a scan read: a point in the table's life, or the changes between two?"""

from dataclasses import dataclass

from lakebed.options.choices import IncrementMode


@dataclass(frozen=True, slots=True)
class Newest:
    """The newest snapshot."""


@dataclass(frozen=True, slots=True)
class NewestCompacted:
    """The newest snapshot of a compaction, or of a full one; the newest of all without any.

    Attributes:
        delta_commits: After how many commits compaction is full; None takes any compaction.
    """

    delta_commits: int | None


@dataclass(frozen=True, slots=True)
class NewestChanges:
    """What the newest snapshot alone changed."""


@dataclass(frozen=True, slots=True)
class SnapshotPoint:
    """A snapshot by its id."""

    snapshot_id: int


@dataclass(frozen=True, slots=True)
class TagPoint:
    """A tag."""

    name: str


@dataclass(frozen=True, slots=True)
class VersionPoint:
    """A tag, a snapshot's id or `watermark-` and a watermark, in this order."""

    text: str


@dataclass(frozen=True, slots=True)
class TimePoint:
    """The newest snapshot at a time, in epoch milliseconds."""

    time_ms: int


@dataclass(frozen=True, slots=True)
class WatermarkPoint:
    """The oldest snapshot at or after a watermark."""

    watermark: int


@dataclass(frozen=True, slots=True)
class CreationPoint:
    """The oldest snapshot at or after a time, in epoch milliseconds, else the files from then on.

    Attributes:
        time_ms: The time.
        files_only: Whether files are chosen by their own time, whatever the snapshots.
    """

    time_ms: int
    files_only: bool


@dataclass(frozen=True, slots=True)
class Increment:
    """The changes after a start up to an end: snapshot ids, or names that tags may have."""

    start: int | str
    end: int | str


@dataclass(frozen=True, slots=True)
class TimeIncrement:
    """The changes after one time up to another, in epoch milliseconds."""

    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class AutoTagIncrement:
    """The changes from the previous automatic tag to this one."""

    end_tag: str


Point = (
    Newest
    | NewestCompacted
    | NewestChanges
    | SnapshotPoint
    | TagPoint
    | VersionPoint
    | TimePoint
    | WatermarkPoint
    | CreationPoint
    | Increment
    | TimeIncrement
    | AutoTagIncrement
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanPoint:
    """What one scan reads.

    Attributes:
        point: The point or the changes.
        increment_mode: What changes are made of.
        tag_to_snapshot: Whether two tags stand for their snapshots, rather than for a difference.
    """

    point: Point
    increment_mode: IncrementMode
    tag_to_snapshot: bool
