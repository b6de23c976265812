"""What is a tag, and how is its file read (format.md 3)?

A tag's file is the snapshot's own JSON, so that the tag outlives the snapshot's file. Where the tag
has a retention, two members follow: `tagCreateTime`, a local time as an array of year, month, day,
hour, minute, second and nanosecond, and `tagTimeRetained`, seconds.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from lakebed.errors import CorruptTableError
from lakebed.format.json_text import format_json, parse_json_object
from lakebed.format.paths import rollback_id_of
from lakebed.format.snapshot import Snapshot

COMMIT_TAG_PREFIX = "lakebed-commit-"
"""How tags are called that hold the files of a commit while it is put again."""

_CREATE_TIME, _TIME_RETAINED = "tagCreateTime", "tagTimeRetained"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """A named snapshot.

    Attributes:
        name: Its name.
        snapshot: What it names.
        create_time: Local time of its making, to the microsecond; None where it has no retention.
        time_retained: How long it is kept; None for ever.
    """

    name: str
    snapshot: Snapshot
    create_time: datetime | None
    time_retained: timedelta | None

    @property
    def is_of_commit(self) -> bool:
        """Whether it holds the files of a commit while it is put again."""
        return self.name.startswith(COMMIT_TAG_PREFIX)

    @property
    def is_settled(self) -> bool:
        """Whether its snapshot is or was one of the table.

        That of a commit may never come about; that of a rollback may have expired with its files
        where the rollback gave up because of that, and could not take back its tag.
        """
        return not self.is_of_commit and rollback_id_of(self.name) is None

    @classmethod
    def from_json(cls, data: bytes, path: str, *, name: str) -> "Tag":
        """The tag that a file holds.

        Raises:
            CorruptTableError: The file is no tag.
            UnsupportedError: Its snapshot is of a newer version.
        """
        members = parse_json_object(data, path)
        return cls(
            name=name,
            snapshot=Snapshot.from_json(data, path),
            create_time=_create_time(members.get(_CREATE_TIME), path),
            time_retained=_time_retained(members.get(_TIME_RETAINED), path),
        )


def with_retention(
    snapshot_file: bytes, *, create_time: datetime, time_retained: timedelta
) -> bytes:
    """The file of a tag with a retention.

    Args:
        snapshot_file: The file of its snapshot, which is that of a tag without one.
        create_time: Local time of its making.
        time_retained: How long it is kept, from 0 on.
    """
    time = list(create_time.timetuple()[:5])
    if create_time.second or create_time.microsecond:
        time.append(create_time.second)
    if create_time.microsecond:
        time.append(create_time.microsecond * 1000)
    seconds, micros = divmod(time_retained // timedelta(microseconds=1), 1_000_000)
    members = (
        f'"{_CREATE_TIME}" : {format_json(time)}',
        f'"{_TIME_RETAINED}" : {seconds}.{micros:06d}000',
    )
    head = snapshot_file.decode().rstrip().removesuffix("}").rstrip()
    return ",\n  ".join((head, *members)).encode() + b"\n}"


def _create_time(value: object, path: str) -> datetime | None:
    if value is None:
        return None
    # Parts that are zero at the end may be left out, down to the minute.
    if isinstance(value, list) and 5 <= len(value) <= 7 and all(type(v) is int for v in value):
        year, month, day, hour, minute, second, nanos = (*value, 0, 0)[:7]
        try:
            # It is a local time, of a zone that the file does not tell.
            return datetime(year, month, day, hour, minute, second, nanos // 1000)  # noqa: DTZ001
        except ValueError as error:
            raise CorruptTableError(path, f"{_CREATE_TIME} is no time: {error}") from error
    raise CorruptTableError(path, f"{_CREATE_TIME} is {value!r}, not year, month, day, hour, ...")


def _time_retained(value: object, path: str) -> timedelta | None:
    if value is None:
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return timedelta(seconds=value)
        except (OverflowError, ValueError) as error:
            raise CorruptTableError(path, f"{_TIME_RETAINED} is {value!r}: {error}") from error
    raise CorruptTableError(path, f"{_TIME_RETAINED} is {value!r}, not a number of seconds")
