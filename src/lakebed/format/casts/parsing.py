"""What value does text become?

The grammars are Java's, one for each target, and no two alike: blanks count in integers, not in
fractions; 31 February is the last of February in a TIMESTAMP and an error in a DATE; digits alone
are days since 1970 in a DATE, milliseconds in a TIME, and units of the precision in a TIMESTAMP.
Text that is no such value is an error that shows it.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import InvalidDataError
from lakebed.format.arrow.atoms import arrow_value_type, timestamp_unit, unit_digits
from lakebed.format.arrow.compute import Values
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.casts.columns import numpy_values, with_nulls_of
from lakebed.format.time_zone import instants_of
from lakebed.format.types import AtomicType, TypeRoot

__all__ = [
    "booleans_of_text",
    "dates_of_text",
    "floats_of_text",
    "integers_of_text",
    "times_of_text",
    "timestamps_of_text",
]

_Numbers = npt.NDArray[np.int64]

_TRUE = pa.array(["t", "true", "y", "yes", "1"])
_FALSE = pa.array(["f", "false", "n", "no", "0"])
_BLANK = r"[\x00-\x20]*"
_BLANKS = "".join(map(chr, range(0x21)))
_INTEGER = r"\A[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]*)\z"
_FLOAT = r"\A[+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?)\z"
_COUNT = r"\A-?[0-9]+\z"
_DATE = (
    rf"\A{_BLANK}(?P<year>[0-9]+){_BLANK}(?:-{_BLANK}(?P<month>[0-9]+){_BLANK}"
    rf"(?:-{_BLANK}(?P<day>[0-9]+){_BLANK})?)?\z"
)
_TIME = (
    rf"\A{_BLANK}(?P<hour>[0-9]+){_BLANK}(?::{_BLANK}(?P<minute>[0-9]+){_BLANK}"
    rf"(?::{_BLANK}(?P<second>[0-9]+){_BLANK}(?:\.{_BLANK}(?P<fraction>[^+-]*))?)?)?"
    rf"(?:(?P<sign>[+-]){_BLANK}(?P<zone_hour>[0-9]+){_BLANK}"
    rf"(?::{_BLANK}(?P<zone_minute>[0-9]+){_BLANK})?)?\z"
)
# A time after a blank has seconds; after a T it may lack them.
_MOMENT = (
    r"\A(?P<year>[0-9]{4}|\+[0-9]{5,6})-(?P<month>[0-9]{1,2})-(?P<day>[0-9]{1,2})"
    r"(?:[ T](?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{1,2})"
    r"(?::(?P<second>[0-9]{1,2})(?:\.(?P<fraction>[0-9]{0,9}))?)?)?\z"
)
_WITHOUT_SECONDS = r" [0-9]+:[0-9]+\z"
_SECONDS_A_DAY = 86_400
_MILLIS_A_DAY = 86_400_000
_NANO_DIGITS = 9
# Numbers with more digits lie beyond every date, and are kept from overflowing.
_DIGITS_MAX = 9


def integers_of_text(text: Values, target: AtomicType) -> Values:
    """Whole numbers; digits after a point are checked and dropped.

    Raises:
        pyarrow.ArrowInvalid: A number beyond the type.
    """
    _refuse(text, pc.match_substring_regex(text, _INTEGER), "a whole number")
    plain = pc.replace_substring_regex(text, r"\A\+?(-?)([0-9]*)\.?[0-9]*\z", r"\10\2")
    return pc.cast(plain, arrow_value_type(target))


def floats_of_text(text: Values, target: AtomicType) -> Values:
    """Binary fractions, NaN and infinities, with blanks around them and a letter f or d behind."""
    trimmed = pc.utf8_trim(text, characters=_BLANKS)
    _refuse(text, pc.match_substring_regex(trimmed, _FLOAT), "a number")
    plain = pc.replace_substring_regex(trimmed, r"\A\+?(-?.*?[0-9.Ny])[fFdD]?\z", r"\1")
    return pc.cast(plain, arrow_value_type(target))


def booleans_of_text(text: Values) -> Values:
    """True of t, true, y, yes, 1; false of f, false, n, no, 0; in any case, without blanks."""
    lower = pc.utf8_lower(text)
    is_true = pc.is_in(lower, value_set=_TRUE)
    _refuse(text, pc.or_(is_true, pc.is_in(lower, value_set=_FALSE)), "true or false")
    return pc.if_else(pc.is_valid(text), is_true, pa.scalar(None, pa.bool_()))


def dates_of_text(text: Values) -> Values:
    """Days of `year`, `year-month` or `year-month-day`; what follows a blank counts for nothing."""
    is_count = pc.match_substring_regex(text, _COUNT)
    first_word = pc.replace_substring_regex(text, r"(?s)\A([^ ]+) .*\z", r"\1")
    written = pc.if_else(is_count, None, first_word)
    parts = pc.extract_regex(written, _DATE)
    year, month, day = (_number(parts, name, default=1) for name in ("year", "month", "day"))
    days, length = _first_days(year, month)
    is_date = (year <= 9999) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= length)
    _refuse(text, _or_count(is_count, parts, is_date), "a date")
    counts = pc.cast(pc.if_else(is_count, text, None), pa.int32())
    dates = with_nulls_of(written, (days + day - 1).astype(np.int32))
    return pc.coalesce(counts, dates).cast(pa.date32())


def times_of_text(text: Values) -> Values:
    """Times of the day to the millisecond; an offset behind is added with its sign."""
    is_count = pc.match_substring_regex(text, _COUNT)
    written = pc.if_else(is_count, None, text)
    parts = pc.extract_regex(written, _TIME)
    hour, minute, second, zone_hour, zone_minute = (
        _number(parts, name, default=0)
        for name in ("hour", "minute", "second", "zone_hour", "zone_minute")
    )
    is_minus = pc.fill_null(pc.equal(pc.struct_field(parts, "sign"), "-"), False)  # noqa: FBT003
    sign = np.where(is_minus.to_numpy(zero_copy_only=False), -1, 1)
    minutes = (hour + sign * zone_hour) * 60 + minute + sign * zone_minute
    millis = (minutes * 60 + second) * 1000 + _rounded_millis(pc.struct_field(parts, "fraction"))
    counts = pc.cast(pc.if_else(is_count, text, None), pa.int64())
    times = pc.coalesce(counts, with_nulls_of(written, millis))
    is_time = numpy_values(times, fill=0) // _MILLIS_A_DAY == 0
    _refuse(text, pc.and_(_or_count(is_count, parts, is_time), _flags(is_time)), "a time of day")
    return pc.cast(times, pa.int32()).cast(pa.time32("ms"))


def timestamps_of_text(text: Values, target: AtomicType, *, zone: str) -> Values:
    """Local times, or instants of local times in the zone, cut to the precision.

    Raises:
        pyarrow.ArrowInvalid: A number beyond 64 bits.
    """
    if target.root is TypeRoot.TIMESTAMP_LTZ:
        return instants_of(_moments(text, target), zone)
    is_count = pc.match_substring_regex(text, _COUNT)
    if not pc.any(is_count).as_py():
        return _moments(text, target)
    if target.precision not in {0, 3, 6, 9}:
        counted = text.filter(is_count)[0].as_py()
        raise InvalidDataError(
            f"the text {counted!r} is a number, and only TIMESTAMPs of precision 0, 3, 6 and 9 are "
            "made of numbers"
        )
    counts = pc.cast(pc.if_else(is_count, text, None), pa.int64())
    return pc.coalesce(
        _counted(counts, target),
        _moments(pc.if_else(is_count, None, text), target),
    )


def _counted(counts: Values, target: AtomicType) -> Values:
    if target.precision:
        return pc.cast(counts, arrow_value_type(target))
    # Java has seconds as milliseconds, which wrap around as NumPy's integers do.
    millis = with_nulls_of(counts, numpy_values(counts, fill=0) * 1000)
    return pc.cast(pc.cast(millis, pa.timestamp("ms")), arrow_value_type(target))


def _moments(text: Values, target: AtomicType) -> Values:
    """Local times in the unit of the target."""
    parts = pc.extract_regex(text, _MOMENT)
    year, month, day = (_number(parts, name, default=1) for name in ("year", "month", "day"))
    hour, minute, second = (
        _number(parts, name, default=0) for name in ("hour", "minute", "second")
    )
    digits = pc.utf8_rpad(pc.fill_null(pc.struct_field(parts, "fraction"), ""), _NANO_DIGITS, "0")
    nanos = pc.cast(digits, pa.int64()).to_numpy(zero_copy_only=False)
    first, length = _first_days(year, month)
    clock = hour * 3600 + minute * 60 + second
    is_clock = (hour < 24) | ((clock == _SECONDS_A_DAY) & (nanos == 0))
    is_date = (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    found = _flags(is_date & is_clock & (minute < 60) & (second < 60))
    has_seconds = pc.invert(pc.match_substring_regex(text, _WITHOUT_SECONDS))
    _refuse(text, pc.and_(pc.and_(pc.is_valid(parts), has_seconds), found), "a timestamp")
    seconds = (first + np.minimum(day, length) - 1) * _SECONDS_A_DAY + clock
    cut = 10 ** (_NANO_DIGITS - (target.precision or 0))
    unit = timestamp_unit(target)
    per_second = 10 ** unit_digits(unit)
    wide = pc.cast(with_nulls_of(text, seconds), pa.timestamp("s")).cast(pa.timestamp(unit))
    fraction = with_nulls_of(text, nanos // cut * cut // (10**_NANO_DIGITS // per_second))
    return pc.add(pc.cast(wide, pa.int64()), fraction).cast(pa.timestamp(unit))


def _first_days(year: _Numbers, month: _Numbers) -> tuple[_Numbers, _Numbers]:
    """Days from 1970-01-01 to the first of each month, and the days that the month has."""
    months = (year - 1970) * 12 + month - 1
    first = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    after = (months + 1).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    return first, after - first


def _number(parts: Values, name: str, *, default: int) -> _Numbers:
    digits = pc.struct_field(parts, name)
    digits = pc.replace_substring_regex(digits, r"\A\+?0*([0-9])", r"\1")
    digits = pc.if_else(pc.equal(digits, ""), None, digits)
    short = pc.utf8_slice_codeunits(digits, 0, _DIGITS_MAX)
    return numpy_values(pc.cast(short, pa.int64()), fill=default)


def _rounded_millis(fraction: Values) -> _Numbers:
    """Milliseconds of the digits of a fraction, rounded by the fourth; no digit counts as 0."""
    trimmed = pc.utf8_trim(pc.fill_null(fraction, ""), characters=_BLANKS)
    four = pc.utf8_slice_codeunits(pc.utf8_rpad(trimmed, 4, "0"), 0, 4)
    tenths = pc.cast(pc.replace_substring_regex(four, "[^0-9]", "0"), pa.int64())
    return (numpy_values(tenths, fill=0) + 5) // 10


def _or_count(is_count: Values, parts: Values, is_valid: npt.NDArray[np.bool_]) -> Values:
    return pc.or_(is_count, pc.and_(pc.is_valid(parts), _flags(is_valid)))


def _flags(flags: npt.NDArray[np.bool_]) -> Values:
    return pa.array(flags)


def _refuse(text: Values, accepted: Values, what: str) -> None:
    bad = pc.and_(pc.is_valid(text), pc.invert(pc.fill_null(accepted, False)))  # noqa: FBT003
    if pc.any(bad).as_py():
        raise InvalidDataError(f"the text {text.filter(bad)[0].as_py()!r} is not {what}")
