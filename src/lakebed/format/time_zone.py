"""Which instant is a local time in a zone, and which local time an instant?

A local time that the zone skips is read with the offset before the gap, and one that it repeats is
the earlier instant, as in java.time.
"""

import re
from datetime import timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pyarrow as pa

from lakebed.errors import InvalidArgumentError
from lakebed.format.arrow_compute import Values
from lakebed.format.arrow_compute import compute as pc

__all__ = ["instants_of", "local_times_in", "parse_time_zone", "time_zone_name"]

_OFFSET = re.compile(
    r"(?:UTC|GMT|UT)?(?P<sign>[+-])(?P<hours>\d{1,2})(?::?(?P<minutes>\d{2}))?"
    r"(?::?(?P<seconds>\d{2}))?"
)
_UTC_NAMES = ("Z", "UTC", "GMT", "UT")


def time_zone_name(time_zone: tzinfo) -> str:
    """The name by which Arrow knows a zone: a region, or an offset such as `+05:45`.

    Raises:
        InvalidArgumentError: When the zone is neither a `ZoneInfo` nor a `datetime.timezone`.
    """
    if isinstance(time_zone, ZoneInfo) and time_zone.key:
        return time_zone.key
    if isinstance(time_zone, timezone):
        offset = time_zone.utcoffset(None)
        minutes, seconds = divmod(round(offset.total_seconds()), 60)
        if seconds == 0:
            sign = "-" if minutes < 0 else "+"
            return f"{sign}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"
    raise InvalidArgumentError(
        f"the time zone {time_zone!r} has no name; give a zoneinfo.ZoneInfo of a region, or a "
        "datetime.timezone of whole minutes"
    )


def parse_time_zone(text: str) -> str:
    """The zone that the end of a timestamp's text names, as Arrow knows it.

    Raises:
        InvalidArgumentError: When there is no such zone.
    """
    if text.upper() in _UTC_NAMES:
        return "UTC"
    found = _OFFSET.fullmatch(text)
    if found:
        return f"{found['sign']}{int(found['hours']):02d}:{found['minutes'] or '00'}"
    try:
        return ZoneInfo(text).key
    except (ZoneInfoNotFoundError, ValueError, OSError) as exc:
        raise InvalidArgumentError(
            f"there is no time zone {text!r}; write a region such as Europe/Paris, an offset such "
            "as +05:45, or Z"
        ) from exc


def instants_of(local_times: Values, zone: str) -> Values:
    """The instants, with zone UTC, of timestamps without one."""
    utc = pa.timestamp(local_times.type.unit, "UTC")
    if zone == "UTC":
        return local_times.view(utc)
    guesses = pc.assume_timezone(local_times, zone, ambiguous="earliest", nonexistent="earliest")
    # Of a skipped time the guess is the last instant before the gap; its offset is the one to use.
    numbers = pc.cast(local_times, pa.int64())
    offsets = pc.subtract(
        pc.cast(pc.local_timestamp(guesses), pa.int64()), pc.cast(guesses, pa.int64())
    )
    return pc.subtract(numbers, offsets).cast(utc)


def local_times_in(instants: Values, zone: str) -> Values:
    """The timestamps without zone that clocks in a zone show at instants."""
    if zone == "UTC":
        return instants.view(pa.timestamp(instants.type.unit))
    return pc.local_timestamp(instants.view(pa.timestamp(instants.type.unit, zone)))
