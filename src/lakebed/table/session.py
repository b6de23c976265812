"""What a catalog's options say for every table opened through it, and the effects that tables use.

The `lakebed.*` keys are session options: they steer this process and are never stored in a table.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lakebed.errors import InvalidArgumentError
from lakebed.options.session_options import SessionOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """Everything that is not a function of its arguments; passed in, so that tests can rule it.

    Every member can be pickled, because writers travel to tasks.

    Attributes:
        clock: Epoch milliseconds.
        fresh_uuid: A new random UUID as text.
        sleep_ms: Waits that many milliseconds.
        jitter: A number in [0, 1).
    """

    clock: Callable[[], int]
    fresh_uuid: Callable[[], str]
    sleep_ms: Callable[[float], None]
    jitter: Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """Options of this process, parsed, and its effects.

    Attributes:
        options: The catalog's options as given.
        time_zone: `lakebed.time-zone`; the system's where not given.
        merge_memory: `lakebed.merge.memory` in bytes.
        read_threads: `lakebed.read.threads`.
        compaction_max_commits: `lakebed.compaction.max-commits`.
        effects: The effects.
    """

    options: Mapping[str, str] = field(repr=False)  # may hold keys of a store
    time_zone: tzinfo
    merge_memory: int
    read_threads: int
    compaction_max_commits: int
    effects: Effects

    @classmethod
    def of(cls, options: Mapping[str, str], effects: Effects) -> "Session":
        """Parses the session options among a catalog's.

        Raises:
            InvalidArgumentError: A value that is none of its option.
        """
        given = SessionOptions.parse(options)
        return cls(
            options=dict(options),
            time_zone=_time_zone(given.time_zone),
            merge_memory=given.merge_memory,
            read_threads=given.read_threads or os.cpu_count() or 1,
            compaction_max_commits=given.compaction_max_commits,
            effects=effects,
        )

    def wall_clock_ms(self) -> int:
        """The local wall clock as if it were UTC, in milliseconds (format.md 7)."""
        now = self.effects.clock()
        offset = datetime.fromtimestamp(now / 1000, self.time_zone).utcoffset()
        return now + (round(offset.total_seconds() * 1000) if offset else 0)


def _time_zone(name: str | None) -> tzinfo:
    wanted = name or _system_zone_name()
    if wanted is None:
        return datetime.fromtimestamp(0, UTC).astimezone().tzinfo or UTC
    try:
        return ZoneInfo(wanted)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise InvalidArgumentError(
            f"lakebed.time-zone: {wanted!r} is no time zone; give a name such as Asia/Tokyo or UTC"
        ) from error


def _system_zone_name() -> str | None:
    """The system's zone by name, which unlike its present offset knows about summer time."""
    given = os.environ.get("TZ", "").lstrip(":")
    if given:
        return given
    target = Path("/etc/localtime").resolve().as_posix()
    _, found, name = target.partition("zoneinfo/")
    return name if found else None
