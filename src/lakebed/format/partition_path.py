"""Which directory a partition lies in: `key=value/key=value`, escaped (format.md 1).

The surprising thing: with `partition.legacy-name`, which is the default, a value is written as the
engine holds it, so a DATE is its day number. The path is a name only, the values of a partition are
in the manifests: null, blank text and the default name itself share one directory.
"""

import datetime as dt
import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal

import numpy as np

from lakebed.errors import CorruptTableError, InvalidArgumentError, UnsupportedError
from lakebed.format.types import AtomicType, DataField, DataType, TypeRoot

DEFAULT_PARTITION_NAME = "__DEFAULT_PARTITION__"

_ESCAPED = re.compile(r"[\x00-\x1f\x7f\"#%'*/:=?\\{}\[\]^]")
_ESCAPE = re.compile("%([0-9A-Fa-f]{2})")
_COMPONENT = re.compile("([^/=]+)=([^/]+)")
_EPOCH = dt.date(1970, 1, 1)
# Python counts these among white space; the format's blank text has none of them.
_NO_BREAK = frozenset("\x85\u00a0\u2007\u202f")
_TIMESTAMP_ROOTS = frozenset({TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ})


def format_partition(
    values: Sequence[object],
    fields: Sequence[DataField],
    *,
    default_name: str = DEFAULT_PARTITION_NAME,
    legacy: bool = True,
    time_zone: dt.tzinfo = dt.UTC,
) -> str:
    """The path of a partition below the data directory, without slashes at its ends.

    Args:
        values: One a field, as `binary_row.decode_row` gives them.
        fields: The partition columns in the order of the partition keys.
        default_name: `partition.default-name`, for null and blank values.
        legacy: `partition.legacy-name`.
        time_zone: In which a TIMESTAMP_LTZ is written when names are not legacy.

    Raises:
        InvalidArgumentError: A value that is none of its type.
        UnsupportedError: A type that has no name as a directory.
    """
    components = []
    for value, field in zip(values, fields, strict=True):
        text = (
            ""
            if value is None
            else partition_value_text(value, field, legacy=legacy, time_zone=time_zone)
        )
        name = default_name if _is_blank(text) else text
        components.append(f"{escape_path_name(field.name)}={escape_path_name(name)}")
    return "/".join(components)


def parse_partition(
    path: str, *, default_name: str = DEFAULT_PARTITION_NAME
) -> dict[str, str | None]:
    """The value texts by key that a partition path says; None where it says the default name.

    Raises:
        CorruptTableError: A component that is not `key=value`.
    """
    spec: dict[str, str | None] = {}
    for component in path.split("/") if path else []:
        found = _COMPONENT.fullmatch(component)
        if found is None:
            raise CorruptTableError(path, f"{component!r} is not key=value as in a partition path")
        text = unescape_path_name(found[2])
        spec[unescape_path_name(found[1])] = None if text == default_name else text
    return spec


def escape_path_name(name: str) -> str:
    """The name with `%XX` for each character that a path component cannot have."""
    return _ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", name)


def unescape_path_name(name: str) -> str:
    """The name that was escaped; a `%` without two digits after it stands for itself."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), name)


def _is_blank(text: str) -> bool:
    return all(character.isspace() and character not in _NO_BREAK for character in text)


def partition_value_text(
    value: object, field: DataField, *, legacy: bool, time_zone: dt.tzinfo
) -> str:
    """The text of one value that is not null, before it is escaped; as `format_partition`."""
    kind = _atomic(field)
    if kind.root in _TIMESTAMP_ROOTS and isinstance(value, dt.datetime | np.datetime64):
        if legacy:
            return _iso_text(*_moment(value, kind, time_zone=dt.UTC))
        return _padded_text(*_moment(value, kind, time_zone=time_zone), digits=kind.precision or 0)
    try:
        return (_LEGACY_TEXTS if legacy else _TEXTS)[kind.root](value, kind)
    except (KeyError, TypeError, AttributeError, UnicodeDecodeError) as refused:
        if kind.root not in (_LEGACY_TEXTS if legacy else _TEXTS):
            raise UnsupportedError(
                f"partition column {field.name!r}: {kind.root.value} has no name as a directory:"
                " partition by a column of another type"
            ) from refused
        raise InvalidArgumentError(
            f"partition column {field.name!r}: {value!r} is no value of {kind.root.value}"
        ) from refused


def _atomic(field: DataField) -> AtomicType:
    kind: DataType = field.type
    if isinstance(kind, AtomicType):
        return kind
    raise UnsupportedError(
        f"partition column {field.name!r} is nested: partition by columns of atomic types"
    )


def _moment(
    value: dt.datetime | np.datetime64, kind: AtomicType, *, time_zone: dt.tzinfo
) -> tuple[dt.datetime, int]:
    """The local time and the nanoseconds in its second."""
    if isinstance(value, np.datetime64):
        nanos = int(value.astype("datetime64[ns]").astype(np.int64))
        seconds, nano = divmod(nanos, 1_000_000_000)
        value = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=seconds)
    else:
        nano = value.microsecond * 1000
        value = value if value.tzinfo else value.replace(tzinfo=dt.UTC)
    return value.astimezone(time_zone if kind.root is TypeRoot.TIMESTAMP_LTZ else dt.UTC), nano


def _iso_text(moment: dt.datetime, nano: int) -> str:
    """ISO 8601, the seconds only if there are any, fractions in threes of digits."""
    text = f"{moment.year:04d}-{moment:%m-%dT%H:%M}"
    if moment.second == 0 and nano == 0:
        return text
    digits = 0 if nano == 0 else 3 if nano % 1_000_000 == 0 else 6 if nano % 1000 == 0 else 9
    return f"{text}:{moment:%S}" + (f".{nano:09d}"[: digits + 1] if digits else "")


def _padded_text(moment: dt.datetime, nano: int, *, digits: int) -> str:
    """Always with seconds, and with at least as many digits after them as the type has."""
    fraction = f"{nano:09d}"
    kept = max(digits, len(fraction.rstrip("0")))
    text = f"{moment.year:04d}-{moment:%m-%d %H:%M:%S}"
    return f"{text}.{fraction[:kept]}" if kept else text


def _bool_text(value: object, _: AtomicType) -> str:
    return "true" if value else "false"


def _plain_text(value: object, _: AtomicType) -> str:
    return str(value)


def _decimal_text(value: object, kind: AtomicType) -> str:
    number = value if isinstance(value, Decimal) else Decimal(str(value))
    return f"{number:.{kind.scale or 0}f}"


def _float_text(value: object, kind: AtomicType) -> str:
    """The fewest digits that tell the number apart, as 1.5 or, far from 1, as 1.5E10."""
    number = np.float32(str(value)) if kind.root is TypeRoot.FLOAT else np.float64(str(value))
    size = abs(float(number))
    if not math.isfinite(size):
        return "NaN" if math.isnan(size) else "Infinity" if number > 0 else "-Infinity"
    if size == 0 or 1e-3 <= size < 1e7:
        return np.format_float_positional(number, trim="0")
    mantissa, exponent = np.format_float_scientific(number, trim="0").split("e")
    return f"{mantissa}E{int(exponent)}"


def _day_text(value: object, _: AtomicType) -> str:
    return str((value - _EPOCH).days) if isinstance(value, dt.date) else str(_whole(value))


def _date_text(value: object, _: AtomicType) -> str:
    if not isinstance(value, dt.date):
        raise TypeError
    return value.isoformat()


def _millis_text(value: object, _: AtomicType) -> str:
    return str(_millis_of_day(value))


def _time_text(value: object, kind: AtomicType) -> str:
    seconds, millis = divmod(_millis_of_day(value), 1000)
    text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    fraction = f"{millis:03d}"[: kind.precision or 0].rstrip("0") or "0"
    return f"{text}.{fraction}" if kind.precision else text


def _millis_of_day(value: object) -> int:
    if not isinstance(value, dt.time):
        return _whole(value)
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000


def _whole(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError
    return value


def _decoded_text(value: object, _: AtomicType) -> str:
    if not isinstance(value, bytes):
        raise TypeError
    return value.decode()


_Text = Callable[[object, AtomicType], str]
_COMMON_TEXTS: dict[TypeRoot, _Text] = {
    TypeRoot.BOOLEAN: _bool_text,
    TypeRoot.TINYINT: _plain_text,
    TypeRoot.SMALLINT: _plain_text,
    TypeRoot.INT: _plain_text,
    TypeRoot.BIGINT: _plain_text,
    TypeRoot.FLOAT: _float_text,
    TypeRoot.DOUBLE: _float_text,
    TypeRoot.DECIMAL: _decimal_text,
    TypeRoot.CHAR: _plain_text,
    TypeRoot.VARCHAR: _plain_text,
}
_LEGACY_TEXTS = _COMMON_TEXTS | {TypeRoot.DATE: _day_text, TypeRoot.TIME: _millis_text}
_TEXTS = _COMMON_TEXTS | {
    TypeRoot.DATE: _date_text,
    TypeRoot.TIME: _time_text,
    TypeRoot.BINARY: _decoded_text,
    TypeRoot.VARBINARY: _decoded_text,
}
