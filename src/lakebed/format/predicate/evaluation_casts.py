"""What becomes of a value under CAST, in Spark's ANSI mode?

A value that does not fit is an error; a fraction is cut off when the target is an integer and
rounded half away from zero when it is a DECIMAL; an instant and a local time become each other in
a time zone. Null stays null.

The surprising thing: a local time that a zone skips is read with the offset before the gap, and one
that it repeats is the earlier instant, as in java.time.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from lakebed.errors import InvalidArgumentError
from lakebed.format.arrow.atoms import arrow_value_type, timestamp_unit
from lakebed.format.arrow.compute import Values
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.predicate.evaluation_text import (
    TimestampUnit,
    booleans_of,
    dates_of,
    decimals_of,
    floats_of,
    instants_of_text,
    integers_of,
    local_times_of,
    text_of_decimals,
    text_of_floats,
    text_of_timestamps,
    times_of,
)
from lakebed.format.predicate.text import type_name
from lakebed.format.time_zone import instants_of, local_times_in, time_zone_name
from lakebed.format.types import AtomicType, TypeRoot

__all__ = ["can_cast", "cast_values", "keeps_order", "value_arrow_type"]

_DECIMAL128_DIGITS_MAX = 38
_DECIMAL_DIGITS_MAX = 76
_INTEGER_DIGITS = 20
_INTEGERS = (TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT)
_INTEGER_BITS = dict(zip(_INTEGERS, (8, 16, 32, 64), strict=True))
_FLOATS = (TypeRoot.FLOAT, TypeRoot.DOUBLE)
_FAMILIES = {
    **dict.fromkeys(_INTEGERS, "integer"),
    **dict.fromkeys(_FLOATS, "float"),
    **dict.fromkeys((TypeRoot.CHAR, TypeRoot.VARCHAR), "text"),
    **dict.fromkeys((TypeRoot.BINARY, TypeRoot.VARBINARY), "bytes"),
    TypeRoot.BOOLEAN: "boolean",
    TypeRoot.DECIMAL: "decimal",
    TypeRoot.DATE: "date",
    TypeRoot.TIME: "time",
    TypeRoot.TIMESTAMP: "timestamp",
    TypeRoot.TIMESTAMP_LTZ: "instant",
}
_UNITS_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@dataclass(frozen=True, slots=True)
class _Target:
    """What values become.

    Attributes:
        type: The type.
        time_zone: Where local times become instants.
    """

    type: AtomicType
    time_zone: tzinfo

    @property
    def arrow(self) -> pa.DataType:
        return value_arrow_type(self.type)

    @property
    def unit(self) -> TimestampUnit:
        return timestamp_unit(self.type)

    @property
    def scale(self) -> int:
        return self.type.scale or 0

    @property
    def zone(self) -> str:
        return time_zone_name(self.time_zone)


_Rule: TypeAlias = Callable[[Values, _Target], Values]


def value_arrow_type(kind: AtomicType) -> pa.DataType:
    """The Arrow type of values of an atomic type, DECIMALs of up to 76 digits included."""
    if kind.root is TypeRoot.DECIMAL and (kind.precision or 0) > _DECIMAL128_DIGITS_MAX:
        return pa.decimal256(kind.precision or 0, kind.scale or 0)
    return arrow_value_type(kind)


def can_cast(source: AtomicType, target: AtomicType) -> bool:
    """Whether some value of one type can become one of the other."""
    return _pair(source, target) in _RULES


def keeps_order(source: AtomicType, target: AtomicType) -> bool:
    """Whether of two values that both fit the greater never becomes the lesser."""
    return _pair(source, target) in _ORDER_KEEPING


def cast_values(
    values: Values, source: AtomicType, target: AtomicType, *, time_zone: tzinfo
) -> Values:
    """The values as another type.

    Args:
        values: Of the Arrow type of `source`.
        source: What they are.
        target: What they become; `can_cast` says whether that is possible.
        time_zone: Where local times become instants, and back.

    Raises:
        InvalidArgumentError: When a value does not fit or text cannot be read.
    """
    try:
        return _RULES[_pair(source, target)](values, _Target(target, time_zone))
    except pa.ArrowInvalid as exc:
        raise InvalidArgumentError(
            f"a value of {type_name(source)} cannot become {type_name(target)}: {exc}"
        ) from exc


def _pair(source: AtomicType, target: AtomicType) -> tuple[str, str]:
    return _FAMILIES.get(source.root, "other"), _FAMILIES.get(target.root, "other")


def _checked(values: Values, target: _Target) -> Values:
    return pc.cast(values, target.arrow)


def _nearest(values: Values, target: _Target) -> Values:
    return pc.cast(values, target.arrow, safe=False)


def _non_zero(values: Values, _: _Target) -> Values:
    return pc.not_equal(values, pa.scalar(0).cast(values.type))


def _decimal_from_integers(values: Values, target: _Target) -> Values:
    wide = pc.cast(values, pa.decimal256(_INTEGER_DIGITS, 0))
    return pc.cast(wide, target.arrow)


def _decimal_from_booleans(values: Values, target: _Target) -> Values:
    return _decimal_from_integers(pc.cast(values, pa.int8()), target)


def _decimal_from_text(values: Values, target: _Target) -> Values:
    return decimals_of(values, target.arrow, scale=target.scale)


def _decimal_from_floats(values: Values, target: _Target) -> Values:
    # Through the shortest text, as Java does: 2.675 rounds up, although its double lies below.
    return _decimal_from_text(pc.cast(values, pa.string()), target)


def _decimal_from_decimals(values: Values, target: _Target) -> Values:
    scale = target.scale
    if scale < values.type.scale:
        wide = pc.cast(values, pa.decimal256(_DECIMAL_DIGITS_MAX, values.type.scale))
        values = pc.round(wide, scale, round_mode="half_towards_infinity")
    return pc.cast(values, target.arrow)


def _integer_from_decimals(values: Values, target: _Target) -> Values:
    return pc.cast(pc.trunc(values), target.arrow)


def _integer_from_floats(values: Values, target: _Target) -> Values:
    limit = 2.0 ** (_INTEGER_BITS[target.type.root] - 1)
    numbers = pc.trunc(pc.cast(values, pa.float64()))
    fits = pc.and_(pc.greater_equal(numbers, -limit), pc.less(numbers, limit))
    if pc.any(pc.invert(fits)).as_py():
        bad = values.filter(pc.invert(fits))[0].as_py()
        raise InvalidArgumentError(f"{bad} does not fit into {type_name(target.type)}")
    return pc.cast(numbers, target.arrow, safe=False)


def _text_from_text(values: Values, target: _Target) -> Values:
    if target.type.root is TypeRoot.CHAR:
        return pc.utf8_rpad(values, target.type.length or 0, " ")
    return values


def _text_from_instants(values: Values, target: _Target) -> Values:
    return text_of_timestamps(local_times_in(values, target.zone))


def _instants_from_dates(values: Values, target: _Target) -> Values:
    return instants_of(pc.cast(values, pa.timestamp(target.unit)), target.zone)


def _instants_from_timestamps(values: Values, target: _Target) -> Values:
    return instants_of(_in_unit(values, target), target.zone)


def _instants_from_numbers(values: Values, target: _Target) -> Values:
    unit = target.unit
    counts = pc.multiply_checked(pc.cast(values, pa.int64()), _UNITS_PER_SECOND[unit])
    return pc.cast(counts, target.arrow)


def _timestamps_from_instants(values: Values, target: _Target) -> Values:
    return _in_unit(local_times_in(values, target.zone), target)


def _dates_from_instants(values: Values, target: _Target) -> Values:
    return pc.cast(local_times_in(values, target.zone), pa.date32())


def _integers_from_instants(values: Values, target: _Target) -> Values:
    counts = pc.cast(values, pa.int64())
    seconds = _floored(counts, _UNITS_PER_SECOND[values.type.unit])
    return pc.cast(seconds, target.arrow)


def _in_unit(values: Values, target: _Target) -> Values:
    """Timestamps in the unit of the target; what lies beyond its years is the last of them."""
    kind = pa.timestamp(target.unit, values.type.tz)
    if kind == values.type:
        return values
    counts = pc.cast(values, pa.int64())
    old, new = _UNITS_PER_SECOND[values.type.unit], _UNITS_PER_SECOND[kind.unit]
    if new < old:
        return pc.cast(_floored(counts, old // new), kind)
    limit = np.iinfo(np.int64).max // (new // old)
    inside = pc.min_element_wise(
        pc.max_element_wise(counts, -limit, skip_nulls=False), limit, skip_nulls=False
    )
    return pc.cast(pc.multiply(inside, new // old), kind)


def _floored(counts: Values, divisor: int) -> Values:
    quotients = pc.divide(counts, divisor)
    is_above = pc.greater(pc.multiply(quotients, divisor), counts)
    return pc.subtract(quotients, pc.cast(is_above, pa.int64()))


_RULES: dict[tuple[str, str], _Rule] = {
    ("boolean", "boolean"): _checked,
    ("boolean", "integer"): _checked,
    ("boolean", "float"): _checked,
    ("boolean", "decimal"): _decimal_from_booleans,
    ("boolean", "text"): _checked,
    ("integer", "boolean"): _non_zero,
    ("integer", "integer"): _checked,
    ("integer", "float"): _nearest,
    ("integer", "decimal"): _decimal_from_integers,
    ("integer", "text"): _checked,
    ("integer", "instant"): _instants_from_numbers,
    ("float", "boolean"): _non_zero,
    ("float", "integer"): _integer_from_floats,
    ("float", "float"): _nearest,
    ("float", "decimal"): _decimal_from_floats,
    ("float", "text"): lambda values, _: text_of_floats(values),
    ("decimal", "boolean"): _non_zero,
    ("decimal", "integer"): _integer_from_decimals,
    ("decimal", "float"): _checked,
    ("decimal", "decimal"): _decimal_from_decimals,
    ("decimal", "text"): lambda values, _: text_of_decimals(values),
    ("text", "boolean"): lambda values, _: booleans_of(values),
    ("text", "integer"): lambda values, target: integers_of(values, target.arrow),
    ("text", "float"): lambda values, target: floats_of(values, target.arrow),
    ("text", "decimal"): lambda values, target: decimals_of(
        values, target.arrow, scale=target.scale
    ),
    ("text", "text"): _text_from_text,
    ("text", "bytes"): _checked,
    ("text", "date"): lambda values, _: dates_of(values),
    ("text", "time"): lambda values, _: times_of(values),
    ("text", "timestamp"): lambda values, target: local_times_of(values, target.unit),
    ("text", "instant"): lambda values, target: instants_of_text(
        values, target.unit, zone=target.zone
    ),
    ("bytes", "bytes"): _checked,
    ("bytes", "text"): _checked,
    ("date", "date"): _checked,
    ("date", "text"): _checked,
    ("date", "timestamp"): _checked,
    ("date", "instant"): _instants_from_dates,
    ("time", "time"): _checked,
    ("time", "text"): _checked,
    ("timestamp", "text"): lambda values, _: text_of_timestamps(values),
    ("timestamp", "date"): _checked,
    ("timestamp", "timestamp"): _in_unit,
    ("timestamp", "instant"): _instants_from_timestamps,
    ("instant", "text"): _text_from_instants,
    ("instant", "date"): _dates_from_instants,
    ("instant", "integer"): _integers_from_instants,
    ("instant", "timestamp"): _timestamps_from_instants,
    ("instant", "instant"): _in_unit,
}

_NUMBERS = ("integer", "float", "decimal")
# Not from a local time to an instant: what a zone skips is put behind what follows the gap.
_ORDER_KEEPING = {
    *((source, target) for source in _NUMBERS for target in _NUMBERS),
    ("date", "timestamp"),
    ("timestamp", "date"),
    ("timestamp", "timestamp"),
    ("instant", "instant"),
}
