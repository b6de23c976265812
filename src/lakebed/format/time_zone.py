"""Which instant is a local time in a zone, and which local time an instant?

A local time that the zone skips is read with the offset before the gap, and one that it repeats is
the earlier instant, as in java.time.

The surprising thing: Arrow's zones have no summer from 2038 on, so later offsets are Python's.
"""

import re
from bisect import bisect_left
from collections.abc import Callable
from datetime import UTC, datetime, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import InvalidArgumentError
from lakebed.format.arrow.atoms import unit_digits
from lakebed.format.arrow.compute import Values
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import repeated

__all__ = ["instants_of", "local_times_in", "parse_time_zone", "time_zone_name"]

_OFFSET = re.compile(
    r"(?:UTC|GMT|UT)?(?P<sign>[+-])(?P<hours>\d{1,2})(?::?(?P<minutes>\d{2}))?"
    r"(?::?(?P<seconds>\d{2}))?"
)
_Numbers = npt.NDArray[np.int64]

_FIRST_LATER_SECOND = 2_114_380_800  # of 2037, the last year with all of Arrow's offsets
_SECONDS_A_DAY = 86_400
_SECONDS_A_WEEK = 7 * _SECONDS_A_DAY
# The calendar begins anew after that many years, and with it the rules of all zones: the last
# changes that are no rule are of 2087.
_CALENDAR_YEARS = 400
_CALENDAR_SECONDS = 146_097 * _SECONDS_A_DAY
_LAST_YEAR = 2_499
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
    return _later_put_right(
        pc.subtract(numbers, offsets).cast(utc), local_times, zone=zone, sign=-1
    )


def local_times_in(instants: Values, zone: str) -> Values:
    """The timestamps without zone that clocks in a zone show at instants."""
    if zone == "UTC":
        return instants.view(pa.timestamp(instants.type.unit))
    local_times = pc.local_timestamp(instants.view(pa.timestamp(instants.type.unit, zone)))
    return _later_put_right(local_times, instants, zone=zone, sign=1)


def _later_put_right(found: Values, times: Values, *, zone: str, sign: int) -> Values:
    """What was found for the early times, and for later ones the times and their offsets.

    Args:
        found: Timestamps that Arrow made of `times`.
        times: Local times if `sign` is -1, instants if it is 1.
        zone: A region or an offset.
        sign: Whether offsets are added or taken away.
    """
    if isinstance(times, pa.Scalar):
        return _later_put_right(repeated(found, 1), repeated(times, 1), zone=zone, sign=sign)[0]
    per_second = 10 ** unit_digits(times.type.unit)
    counts = pc.fill_null(pc.cast(times, pa.int64()), 0).to_numpy(zero_copy_only=False)
    is_late = counts >= _FIRST_LATER_SECOND * per_second
    if zone[0] in "+-" or not is_late.any():
        return found
    seconds = counts[is_late] // per_second
    if sign < 0:
        # A day before and after, any change is past or to come; the greater offset of the two
        # takes what is skipped or repeated to before the change.
        around = (_later_offsets(seconds + day, zone) for day in (-_SECONDS_A_DAY, _SECONDS_A_DAY))
        offsets = _later_offsets(seconds - np.maximum(*around), zone)
    else:
        offsets = _later_offsets(seconds, zone)
    numbers = pc.fill_null(pc.cast(found, pa.int64()), 0).to_numpy(zero_copy_only=False).copy()
    numbers[is_late] = counts[is_late] + sign * offsets * per_second
    return pa.array(numbers, mask=np.asarray(times.is_null())).cast(found.type)


def _later_offsets(seconds: _Numbers, zone: str) -> _Numbers:
    """Offsets in seconds at instants that are seconds since 1970."""
    years = seconds.astype("M8[s]").astype("M8[Y]").astype(np.int64) + 1970
    cycles = np.maximum(0, -((_LAST_YEAR - years) // _CALENDAR_YEARS))
    seconds = seconds - cycles * _CALENDAR_SECONDS
    present = np.unique(years - cycles * _CALENDAR_YEARS)
    changes = np.array([change for year in present.tolist() for change in _changes(year, zone)])
    offsets: _Numbers = changes[np.searchsorted(changes[:, 0], seconds, side="right") - 1, 1]
    return offsets


@lru_cache(maxsize=4096)
def _changes(year: int, zone: str) -> tuple[tuple[int, int], ...]:
    """Seconds since 1970 and the offset from there on: of a year's beginning and its changes."""
    region = ZoneInfo(zone)

    def offset(second: int) -> int:
        there = datetime.fromtimestamp(second, region).utcoffset()
        return round(there.total_seconds()) if there else 0

    first, end = (round(datetime(y, 1, 1, tzinfo=UTC).timestamp()) for y in (year, year + 1))
    found = [(first, offset(first))]
    for after in (*range(first + _SECONDS_A_WEEK, end, _SECONDS_A_WEEK), end):
        if offset(after) != found[-1][1]:
            change = _first_after(after, lambda second: offset(second) != found[-1][1])
            found.append((change, offset(change)))
    return tuple(found)


def _first_after(second: int, is_after: Callable[[int], bool]) -> int:
    """The first second, of the week before one, from which on something holds."""
    return bisect_left(range(second - _SECONDS_A_WEEK, second), x=True, key=is_after) + (
        second - _SECONDS_A_WEEK
    )
