"""What time does a text name, by a pattern such as `yyyyMMdd HH:mm` (`partition.timestamp-*`)?

A time is milliseconds on the wall's clock, as if that were UTC. Without a pattern a text is a date
or a date and a time, `2024-1-31 12:00:00`, whose parts may be beyond their range: day 32 of January
is the first of February. By a pattern they may not, but for a day that the month lacks, which is
its last one.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lakebed.errors import InvalidArgumentError

_SECOND_MS = 1000
_MINUTE_MS = 60 * _SECOND_MS
_HOUR_MS = 60 * _MINUTE_MS
_DAY_MS = 24 * _HOUR_MS

_TEXT = re.compile(
    r"(?P<year>-?[0-9]{1,10})-(?P<month>[0-9]{1,2})-(?P<day>[0-9]{1,2})"
    r"(?: (?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{1,2}):(?P<second>[0-9]{1,2})"
    r"(?:\.(?P<fraction>[0-9]{1,9}))?)?"
)
_PIECE = re.compile(r"'(?P<quoted>(?:[^']|'')*)'|(?P<letters>([A-Za-z])\3*)|(?P<sign>.)", re.DOTALL)
_RESERVED = frozenset("[]{}#'")
_PARTS = {
    "y": "year",
    "u": "year",
    "M": "month",
    "d": "day",
    "H": "hour",
    "m": "minute",
    "s": "second",
    "S": "fraction",
}
_YEAR_DIGITS = (1, 2, 4)
_FRACTION_DIGITS_MAX = 9
_CENTURY = 2000
_DATE = ("year", "month", "day")
_TIME = ("hour", "minute", "second", "fraction")


@dataclass(frozen=True, slots=True, kw_only=True)
class TimePattern:
    """How a text is read as a time.

    Attributes:
        form: What a text must look like; its groups are the parts of the time.
        is_lenient: Whether parts may be beyond their range.
        has_short_year: Whether the year is two digits, of this century.
    """

    form: re.Pattern[str]
    is_lenient: bool
    has_short_year: bool

    @classmethod
    def of(cls, pattern: str | None) -> "TimePattern":
        """The pattern of a text; None for that of texts without one.

        Letters are `yyyy MM dd HH mm ss SSS`; `y`, `M`, `d`, `H`, `m` and `s` alone are numbers of
        any width, and text stands in quotes.

        Raises:
            InvalidArgumentError: A letter that is none of these, or the pattern names no day.
        """
        if pattern is None:
            return cls(form=_TEXT, is_lenient=True, has_short_year=False)
        pieces = list(_pieces(pattern))
        names = [name for name, _, _ in pieces if name]
        lacking = [name for name in _DATE if name not in names]
        if lacking or len(set(names)) < len(names):
            problem = f"names no {lacking[0]}" if lacking else "names a part of the time twice"
            raise _refused(pattern, problem)
        for (name, _, is_open), (following, _, _) in pairwise(pieces):
            if is_open and following:
                raise _refused(pattern, f"does not say where the {name} ends")
        form = "".join(f"(?P<{name}>{each})" if name else each for name, each, _ in pieces)
        has_short_year = ("year", _digits(2), False) in pieces
        return cls(form=re.compile(form), is_lenient=False, has_short_year=has_short_year)

    def millis(self, text: str) -> int | None:
        """The time that a text names; None where it does not look like one."""
        found = self.form.fullmatch(text)
        if found is None:
            return None
        parts = found.groupdict()
        numbers = {name: int(parts.get(name) or 0) for name in _PARTS.values()}
        if self.has_short_year:
            numbers["year"] += _CENTURY
        if not self.is_lenient and not _is_time(numbers):
            return None
        day_ms = _day(numbers, clamps=not self.is_lenient) * _DAY_MS
        is_given = [parts.get(name) is not None for name in _TIME]
        if is_given != sorted(is_given, reverse=True):
            return day_ms  # minutes of no hour are no time
        return (
            day_ms
            + numbers["hour"] * _HOUR_MS
            + numbers["minute"] * _MINUTE_MS
            + numbers["second"] * _SECOND_MS
            + int((parts.get("fraction") or "")[:3].ljust(3, "0"))
        )


def _pieces(pattern: str) -> Iterator[tuple[str | None, str, bool]]:
    """Each piece's part of the time, its form, and whether its width is open; None for a text."""
    for found in _PIECE.finditer(pattern):
        if found["letters"] is not None:
            yield _piece(found["letters"], pattern)
        elif found["quoted"] is not None:
            yield None, re.escape(found["quoted"].replace("''", "'") or "'"), False
        elif found["sign"] in _RESERVED:
            raise _refused(pattern, f"has {found['sign']!r}")
        else:
            yield None, re.escape(found["sign"]), False


def _piece(letters: str, pattern: str) -> tuple[str, str, bool]:
    name, count = _PARTS.get(letters[0]), len(letters)
    if name == "year" and count in _YEAR_DIGITS:
        return name, "[0-9]{1,9}" if count == 1 else _digits(count), count == 1
    if name == "fraction" and count <= _FRACTION_DIGITS_MAX:
        return name, _digits(count), False
    if name not in {None, "year", "fraction"} and count <= 2:
        return str(name), "[0-9]{1,2}" if count == 1 else _digits(2), count == 1
    raise _refused(pattern, f"has {letters!r}")


def _digits(count: int) -> str:
    return f"[0-9]{{{count}}}"


def _refused(pattern: str, problem: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"the pattern {pattern!r} of a time {problem}; Lakebed reads yyyy, MM, dd, HH, mm, ss and "
        "SSS, each once, and text in quotes: yyyy-MM-dd'T'HH:mm:ss"
    )


def _is_time(numbers: Mapping[str, int]) -> bool:
    is_midnight = numbers["hour"] == 24 and not numbers["minute"] and not numbers["second"]
    return (
        1 <= numbers["month"] <= 12
        and 1 <= numbers["day"] <= 31
        and (numbers["hour"] < 24 or is_midnight)
        and numbers["minute"] < 60
        and numbers["second"] < 60
    )


def _day(numbers: Mapping[str, int], *, clamps: bool) -> int:
    """Days since 1970; a day that the month lacks is its last one, or one of the next."""
    month = (numbers["year"] - 1970) * 12 + numbers["month"] - 1
    first, following = (_first_day(month + each) for each in (0, 1))
    day = first + numbers["day"] - 1
    return min(day, following - 1) if clamps else day


def _first_day(month: int) -> int:
    return int(np.datetime64(month, "M").astype("datetime64[D]").astype(np.int64))
