"""Which casts are there, and what does each make of a column?

There are those of features.md 9 for which Java has a rule. ARRAY, MAP and ROW as the same with
other parts are not here but in `evolution`, which goes by field ids.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo
from typing import TypeAlias

import pyarrow as pa

from lakebed.errors import InvalidDataError
from lakebed.format.arrow.compute import Values
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.casts.moments import (
    dates_of_timestamps,
    integers_of_timestamps,
    times_of_timestamps,
    timestamps_of_dates,
    timestamps_of_integers,
    timestamps_of_times,
    timestamps_of_timestamps,
)
from lakebed.format.casts.numbers import (
    booleans_of_integers,
    decimals_of_booleans,
    decimals_of_decimals,
    decimals_of_floats,
    decimals_of_integers,
    decimals_of_text,
    floats_of_decimals,
    integers_of_decimals,
    integers_of_floats,
    nearest_numbers,
)
from lakebed.format.casts.parsing import (
    booleans_of_text,
    dates_of_text,
    floats_of_text,
    integers_of_text,
    times_of_text,
    timestamps_of_text,
)
from lakebed.format.casts.printing import (
    fit_bytes,
    fit_text,
    text_of_arrays,
    text_of_bytes,
    text_of_dates,
    text_of_fractions,
    text_of_maps,
    text_of_rows,
    text_of_times,
    text_of_timestamps,
)
from lakebed.format.predicate.evaluation_text import text_of_decimals
from lakebed.format.time_zone import local_times_in, time_zone_name
from lakebed.format.type_text import format_type
from lakebed.format.types import (
    MAX_LENGTH,
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    RowType,
    TypeRoot,
)

__all__ = ["cast_values", "has_cast", "keeps_order"]


@dataclass(frozen=True, slots=True)
class _Cast:
    """What values are and become.

    Attributes:
        source: The type they have.
        target: The type they get.
        zone: Where local times become instants, as Arrow knows it.
    """

    source: AtomicType
    target: AtomicType
    zone: str


_Rule: TypeAlias = Callable[[Values, _Cast], Values]

_STRING = AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH)
_INTEGERS = (TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT)
_SECONDS = (TypeRoot.INT, TypeRoot.BIGINT)
_MOMENTS = ("date", "time", "timestamp")
_FAMILIES = {
    **dict.fromkeys(_INTEGERS, "integer"),
    **dict.fromkeys((TypeRoot.FLOAT, TypeRoot.DOUBLE), "float"),
    **dict.fromkeys((TypeRoot.CHAR, TypeRoot.VARCHAR), "text"),
    **dict.fromkeys((TypeRoot.BINARY, TypeRoot.VARBINARY), "bytes"),
    **dict.fromkeys((TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ), "timestamp"),
    TypeRoot.BOOLEAN: "boolean",
    TypeRoot.DECIMAL: "decimal",
    TypeRoot.DATE: "date",
    TypeRoot.TIME: "time",
}
_DECIMAL_DIGITS = dict(zip(_INTEGERS, (3, 5, 10, 19), strict=True))
# Of two values the greater never becomes the lesser, and no value becomes null or an error.
_WIDENINGS = {
    (TypeRoot.TINYINT, TypeRoot.SMALLINT),
    (TypeRoot.TINYINT, TypeRoot.INT),
    (TypeRoot.TINYINT, TypeRoot.BIGINT),
    (TypeRoot.SMALLINT, TypeRoot.INT),
    (TypeRoot.SMALLINT, TypeRoot.BIGINT),
    (TypeRoot.INT, TypeRoot.BIGINT),
    *((kind, TypeRoot.FLOAT) for kind in _INTEGERS),
    *((kind, TypeRoot.DOUBLE) for kind in _INTEGERS),
    (TypeRoot.FLOAT, TypeRoot.DOUBLE),
    (TypeRoot.DECIMAL, TypeRoot.DOUBLE),
    (TypeRoot.DATE, TypeRoot.TIMESTAMP),
}


def has_cast(source: DataType, target: DataType) -> bool:
    """Whether values of one type can become values of the other, the types being different."""
    match source:
        case ArrayType(element=element):
            return _is_text(target) and _prints(element)
        case MapType(key=key, value=value):
            return _is_text(target) and _prints(key) and _prints(value)
        case RowType(fields=fields):
            return _is_text(target) and all(_prints(field.type) for field in fields)
        case AtomicType():
            return isinstance(target, AtomicType) and _has_rule(source, target)
        case _:
            return False


def keeps_order(source: DataType, target: DataType) -> bool:
    """Whether bounds of a column are, cast like its values, bounds of these: none becomes null."""
    if not (isinstance(source, AtomicType) and isinstance(target, AtomicType)):
        return False
    if target.root is TypeRoot.DECIMAL and source.root in _DECIMAL_DIGITS:
        return _DECIMAL_DIGITS[source.root] <= (target.precision or 0) - (target.scale or 0)
    if source.root is not target.root:
        return (source.root, target.root) in _WIDENINGS
    match source.root:
        case TypeRoot.DECIMAL:
            gained = (target.scale or 0) - (source.scale or 0)
            return 0 <= gained <= (target.precision or 0) - (source.precision or 0)
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            return (source.precision or 0) <= (target.precision or 0)
        case TypeRoot.VARCHAR | TypeRoot.VARBINARY:
            return (source.length or 0) <= (target.length or 0)
        case _:
            return False


def cast_values(values: Values, source: DataType, target: DataType, *, time_zone: tzinfo) -> Values:
    """An array as another type.

    Args:
        values: Of the Arrow type of `source`.
        source: What they are.
        target: What they become; `has_cast` says whether that is possible.
        time_zone: Where local times become instants, and back (`lakebed.time-zone`).

    Raises:
        InvalidDataError: A value that cannot become one of the target; shows it where it can.
    """
    try:
        if isinstance(source, AtomicType) and isinstance(target, AtomicType):
            rule = _RULES[_FAMILIES[source.root], _FAMILIES[target.root]]
            return rule(values, _Cast(source, target, time_zone_name(time_zone)))
        return _text_of_nested(values, source, time_zone)
    except pa.ArrowInvalid as error:
        raise InvalidDataError(
            f"a value of {format_type(source)} cannot become {format_type(target)}: {error}"
        ) from error


def _is_text(kind: DataType) -> bool:
    return isinstance(kind, AtomicType) and _FAMILIES.get(kind.root) == "text"


def _prints(kind: DataType) -> bool:
    """Whether a part of a nested value has a text."""
    return _is_text(kind) or has_cast(kind, _STRING)


def _has_rule(source: AtomicType, target: AtomicType) -> bool:
    pair = _FAMILIES.get(source.root), _FAMILIES.get(target.root)
    match pair:
        case ("integer", "timestamp"):
            return source.root in _SECONDS
        case ("timestamp", "integer"):
            return target.root in _SECONDS
        case (family, "text") if family in _MOMENTS:
            return target.root is TypeRoot.VARCHAR and target.length == MAX_LENGTH
        case _:
            return pair in _RULES


def _text_of_nested(values: Values, source: DataType, time_zone: tzinfo) -> Values:
    def part_text(part: Values, kind: DataType) -> Values:
        return cast_values(part, kind, _STRING, time_zone=time_zone)

    match source:
        case ArrayType():
            return text_of_arrays(values, source, part_text)
        case MapType():
            return text_of_maps(values, source, part_text)
        case RowType():
            return text_of_rows(values, source, part_text)
        case _:
            raise TypeError(source)


def _text_of_timestamps(values: Values, cast: _Cast) -> Values:
    if cast.source.root is TypeRoot.TIMESTAMP_LTZ:
        values = local_times_in(values, cast.zone)
    return text_of_timestamps(values, cast.source)


def _printed(values: Values, cast: _Cast) -> Values:
    return fit_text(pc.cast(values, pa.string()), cast.target)


def _by_target(convert: Callable[[Values, AtomicType], Values]) -> _Rule:
    return lambda values, cast: convert(values, cast.target)


_RULES: dict[tuple[str | None, str | None], _Rule] = {
    ("boolean", "integer"): _by_target(nearest_numbers),
    ("boolean", "float"): _by_target(nearest_numbers),
    ("boolean", "decimal"): _by_target(decimals_of_booleans),
    ("boolean", "text"): _printed,
    ("integer", "boolean"): lambda values, _: booleans_of_integers(values),
    ("integer", "integer"): _by_target(nearest_numbers),
    ("integer", "float"): _by_target(nearest_numbers),
    ("integer", "decimal"): _by_target(decimals_of_integers),
    ("integer", "text"): _printed,
    ("integer", "timestamp"): lambda values, cast: timestamps_of_integers(
        values, cast.target, zone=cast.zone
    ),
    ("float", "integer"): _by_target(integers_of_floats),
    ("float", "float"): _by_target(nearest_numbers),
    ("float", "decimal"): _by_target(decimals_of_floats),
    ("float", "text"): lambda values, cast: fit_text(text_of_fractions(values), cast.target),
    ("decimal", "integer"): _by_target(integers_of_decimals),
    ("decimal", "float"): _by_target(floats_of_decimals),
    ("decimal", "decimal"): _by_target(decimals_of_decimals),
    ("decimal", "text"): lambda values, cast: fit_text(text_of_decimals(values), cast.target),
    ("text", "boolean"): lambda values, _: booleans_of_text(values),
    ("text", "integer"): _by_target(integers_of_text),
    ("text", "float"): _by_target(floats_of_text),
    ("text", "decimal"): _by_target(decimals_of_text),
    ("text", "text"): _by_target(fit_text),
    ("text", "bytes"): lambda values, cast: fit_bytes(pc.cast(values, pa.binary()), cast.target),
    ("text", "date"): lambda values, _: dates_of_text(values),
    ("text", "time"): lambda values, _: times_of_text(values),
    ("text", "timestamp"): lambda values, cast: timestamps_of_text(
        values, cast.target, zone=cast.zone
    ),
    ("bytes", "bytes"): _by_target(fit_bytes),
    ("bytes", "text"): lambda values, _: text_of_bytes(values),
    ("date", "text"): lambda values, _: text_of_dates(values),
    ("date", "timestamp"): lambda values, cast: timestamps_of_dates(
        values, cast.target, zone=cast.zone
    ),
    ("time", "text"): lambda values, cast: text_of_times(values, cast.source),
    ("time", "timestamp"): _by_target(timestamps_of_times),
    ("timestamp", "integer"): _by_target(integers_of_timestamps),
    ("timestamp", "text"): _text_of_timestamps,
    ("timestamp", "date"): lambda values, cast: dates_of_timestamps(
        values, cast.source, zone=cast.zone
    ),
    ("timestamp", "time"): lambda values, cast: times_of_timestamps(
        values, cast.source, zone=cast.zone
    ),
    ("timestamp", "timestamp"): lambda values, cast: timestamps_of_timestamps(
        values, cast.source, cast.target, zone=cast.zone
    ),
}
