"""How does text become a value, and a value text, under CAST in Spark's ANSI mode?

Blanks and control characters around the text count for nothing. Text that is no such value is an
error that shows it.
"""

from decimal import Decimal
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import InvalidArgumentError
from lakebed.format.arrow.compute import Values
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.time_zone import instants_of, parse_time_zone

__all__ = [
    "booleans_of",
    "dates_of",
    "decimals_of",
    "floats_of",
    "instants_of_text",
    "integers_of",
    "local_times_of",
    "text_of_decimals",
    "text_of_floats",
    "text_of_timestamps",
    "times_of",
]

TimestampUnit = Literal["s", "ms", "us", "ns"]
_Numbers = npt.NDArray[np.int64]

_BLANKS = "".join(map(chr, range(0x21))) + "\x7f"
_INTEGER = r"\A[+-]?[0-9]+\z"
_FRACTION = r"\A[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\z"
_FLOAT = r"\A[+-]?(?i:inf|infinity|nan|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?[df]?)\z"
_TRUE = ["t", "true", "y", "yes", "1"]
_FALSE = ["f", "false", "n", "no", "0"]
_DATE = r"(?P<year>[+-]?[0-9]{4,7})(?:-(?P<month>[0-9]{1,2})(?:-(?P<day>[0-9]{1,2})"
_DATE_ONLY = rf"(?s)\A{_DATE}(?:[ T].*)?)?)?\z"
_CLOCK = (
    r"(?P<hour>[0-9]{1,2})(?::(?:(?P<minute>[0-9]{1,2})(?::(?:(?P<second>[0-9]{1,2})"
    r"(?:\.(?P<fraction>[0-9]*))?)?)?)?)?"
)
_ZONE = r"(?:\s*(?P<zone>[A-Za-z+-].*))?"
_MOMENT = rf"\A{_DATE}(?:[ T](?:{_CLOCK}{_ZONE})?)?)?)?\z"
_CLOCK_ONLY = rf"\A{_CLOCK}\z"
_SECONDS_A_DAY = 86_400
_UNITS_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_WIDEST_DECIMAL = 76


def integers_of(text: Values, kind: pa.DataType) -> Values:
    """Whole numbers; a fraction is an error."""
    trimmed = _matching(text, _INTEGER, "a whole number")
    return pc.cast(pc.replace_substring_regex(trimmed, r"\A\+", ""), kind)


def floats_of(text: Values, kind: pa.DataType) -> Values:
    """Binary fractions, NaN and infinities."""
    trimmed = _matching(text, _FLOAT, "a number")
    plain = pc.replace_substring_regex(pc.utf8_lower(trimmed), r"([0-9.])[df]\z", r"\1")
    return pc.cast(pc.replace_substring_regex(plain, r"\A\+", ""), kind)


def decimals_of(text: Values, kind: pa.DataType, *, scale: int) -> Values:
    """Decimal fractions of a type with that scale, rounded half away from zero to it."""
    trimmed = _matching(text, _FRACTION, "a decimal number")
    plain = pc.replace_substring_regex(trimmed, r"\A\+", "")
    # The digits that are cut off here lie beyond every scale.
    wide = pc.cast(plain, pa.decimal256(_WIDEST_DECIMAL, _WIDEST_DECIMAL // 2))
    return pc.cast(pc.round(wide, scale, round_mode="half_towards_infinity"), kind)


def booleans_of(text: Values) -> Values:
    """True of t, true, y, yes, 1; false of f, false, n, no, 0; in any case."""
    lower = pc.utf8_lower(pc.utf8_trim(text, characters=_BLANKS))
    is_true = pc.is_in(lower, value_set=pa.array(_TRUE))
    known = pc.or_(is_true, pc.is_in(lower, value_set=pa.array(_FALSE)))
    _refuse(text, known, "true or false")
    return pc.if_else(pc.is_valid(text), is_true, pa.scalar(None, pa.bool_()))


def dates_of(text: Values) -> Values:
    """Dates of `year`, `year-month` or `year-month-day`, of which a time may follow."""
    trimmed = _matching(text, _DATE_ONLY, "a date")
    parts = pc.extract_regex(trimmed, _DATE_ONLY)
    days, is_date = _days(parts)
    _refuse(text, _flags(is_date), "a date")
    return _with_nulls(days.astype(np.int32), text, pa.date32())


def times_of(text: Values) -> Values:
    """Times of the day to the millisecond."""
    trimmed = _matching(text, _CLOCK_ONLY, "a time of the day")
    seconds, nanos, is_time = _clock(pc.extract_regex(trimmed, _CLOCK_ONLY))
    _refuse(text, _flags(is_time), "a time of the day")
    return _with_nulls((seconds * 1000 + nanos // 10**6).astype(np.int32), text, pa.time32("ms"))


def local_times_of(text: Values, unit: TimestampUnit) -> Values:
    """Timestamps without a zone; a zone in the text counts for nothing."""
    return _moments(text, unit)[0]


def instants_of_text(text: Values, unit: TimestampUnit, *, zone: str) -> Values:
    """Timestamps with zone UTC, of times in the zone that the text names, else in `zone`."""
    local_times, zones = _moments(text, unit)
    result = instants_of(local_times, zone)
    for named in pc.unique(zones).to_pylist():
        if named:
            instants = instants_of(local_times, parse_time_zone(named))
            result = pc.if_else(pc.equal(zones, named), instants, result)
    return result


def _moments(text: Values, unit: TimestampUnit) -> tuple[Values, Values]:
    """Local times in a unit, and the name of the zone behind each."""
    trimmed = _matching(text, _MOMENT, "a timestamp")
    parts = pc.extract_regex(trimmed, _MOMENT)
    days, is_date = _days(parts)
    seconds, nanos, is_time = _clock(parts)
    _refuse(text, _flags(is_date & is_time), "a timestamp")
    per_second = _UNITS_PER_SECOND[unit]
    whole = days * _SECONDS_A_DAY + seconds
    # Nanoseconds end in the year 2262; what lies beyond compares like the last of them.
    limit = np.iinfo(np.int64).max // per_second - 1
    values = np.clip(whole, -limit, limit) * per_second + nanos // (10**9 // per_second)
    return _with_nulls(values, text, pa.timestamp(unit)), pc.struct_field(parts, "zone")


def _days(parts: Values) -> tuple[_Numbers, npt.NDArray[np.bool_]]:
    """Days since 1970-01-01 of fields year, month and day, and which of them there are."""
    year, month, day = (
        _number(parts, name, default) for name, default in (("year", 0), ("month", 1), ("day", 1))
    )
    months = (year - 1970) * 12 + month - 1
    first = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    after = (months + 1).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    is_date = (month >= 1) & (month <= 12) & (day >= 1) & (day <= after - first)
    return first + day - 1, is_date


def _clock(parts: Values) -> tuple[_Numbers, _Numbers, npt.NDArray[np.bool_]]:
    """Seconds of the day, nanoseconds of the second, and which of them there are."""
    hour, minute, second = (_number(parts, name, 0) for name in ("hour", "minute", "second"))
    digits = pc.struct_field(parts, "fraction")
    nine = pc.utf8_slice_codeunits(pc.utf8_rpad(digits, 9, "0"), 0, 9)
    nanos = pc.fill_null(pc.cast(nine, pa.int64()), 0).to_numpy(zero_copy_only=False)
    is_time = (hour < 24) & (minute < 60) & (second < 60)
    return hour * 3600 + minute * 60 + second, nanos, is_time


def _number(parts: Values, name: str, default: int) -> _Numbers:
    digits = pc.replace_substring_regex(pc.struct_field(parts, name), r"\A\+", "")
    filled = pc.if_else(pc.equal(digits, ""), str(default), digits)
    numbers: _Numbers = pc.fill_null(pc.cast(filled, pa.int64()), default).to_numpy(
        zero_copy_only=False
    )
    return numbers


def _with_nulls(values: _Numbers, like: Values, kind: pa.DataType) -> Values:
    is_null = np.asarray(like.is_null())
    return pa.array(values, mask=is_null).cast(kind)


def _flags(flags: npt.NDArray[np.bool_]) -> Values:
    return pa.array(flags)


def _matching(text: Values, pattern: str, what: str) -> Values:
    """The texts without the blanks around them, all of which match."""
    trimmed = pc.utf8_trim(text, characters=_BLANKS)
    _refuse(text, pc.match_substring_regex(trimmed, pattern), what)
    return trimmed


def _refuse(text: Values, accepted: Values, what: str) -> None:
    bad = pc.and_(pc.is_valid(text), pc.invert(pc.fill_null(accepted, False)))  # noqa: FBT003
    if pc.any(bad).as_py():
        first = text.filter(bad)[0].as_py()
        raise InvalidArgumentError(f"the text {first!r} is not {what}; mend the text or the type")


def text_of_decimals(values: Values) -> Values:
    """Decimal fractions as plain digits, never with an exponent."""
    scale = values.type.scale
    whole = pa.Array.from_buffers(
        pa.decimal128(values.type.precision, 0), len(values), values.buffers(), offset=values.offset
    )
    if scale == 0:
        return pc.cast(whole, pa.string())
    digits = pc.utf8_lpad(pc.cast(pc.abs(whole), pa.string()), scale + 1, "0")
    # Every number has more digits than its scale now, so the point goes before the last of them.
    point = pc.replace_substring_regex(digits, rf"([0-9]{{{scale}}})\z", r".\1")
    sign = pc.if_else(pc.less(values, pa.scalar(Decimal(0), values.type)), "-", "")
    return pc.binary_join_element_wise(sign, point, "")


def text_of_floats(values: Values) -> Values:
    """Binary fractions in Java's way: `1.0`, `1.0E10`, `NaN`, `Infinity`."""
    encoded = values.dictionary_encode()
    distinct = encoded.dictionary.to_numpy(zero_copy_only=False)
    texts = pa.array([_java_text(value) for value in distinct], pa.string())
    return texts.take(encoded.indices)


def _java_text(value: np.floating[npt.NBitBase]) -> str:
    if np.isnan(value):
        return "NaN"
    sign = "-" if np.signbit(value) else ""
    if np.isinf(value):
        return f"{sign}Infinity"
    if value == 0:
        return f"{sign}0.0"
    size = abs(value)
    if 1e-3 <= size < 1e7:
        return sign + np.format_float_positional(size, unique=True, trim="0")
    mantissa, _, exponent = np.format_float_scientific(size, unique=True, trim="0").partition("e")
    return f"{sign}{mantissa}E{int(exponent)}"


def text_of_timestamps(local_times: Values) -> Values:
    """Timestamps without zone as `2026-01-31 23:59:59.5`, zeros behind the second left out."""
    text = pc.strftime(local_times, format="%Y-%m-%d %H:%M:%S")
    if local_times.type.unit == "s":
        return text
    return pc.replace_substring_regex(text, r"\.?0*\z", "")
