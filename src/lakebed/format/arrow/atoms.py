"""Which Arrow type holds the values of an atomic type? One each, never a large or view one."""

from typing import Literal

import pyarrow as pa

from lakebed.format.types import AtomicType, TypeRoot

TimeUnit = Literal["s", "ms", "us", "ns"]

_DIGITS: dict[TimeUnit, int] = {"s": 0, "ms": 3, "us": 6, "ns": 9}
_FIXED_TYPES: dict[TypeRoot, pa.DataType] = {
    TypeRoot.BOOLEAN: pa.bool_(),
    TypeRoot.TINYINT: pa.int8(),
    TypeRoot.SMALLINT: pa.int16(),
    TypeRoot.INT: pa.int32(),
    TypeRoot.BIGINT: pa.int64(),
    TypeRoot.FLOAT: pa.float32(),
    TypeRoot.DOUBLE: pa.float64(),
    TypeRoot.CHAR: pa.string(),
    TypeRoot.VARCHAR: pa.string(),
    TypeRoot.BINARY: pa.binary(),
    TypeRoot.VARBINARY: pa.binary(),
    TypeRoot.BLOB: pa.binary(),
    TypeRoot.DATE: pa.date32(),
    TypeRoot.TIME: pa.time32("ms"),
}


def arrow_value_type(kind: AtomicType) -> pa.DataType:
    """The Arrow type of the values of an atomic type other than VARIANT."""
    match kind.root:
        case TypeRoot.DECIMAL:
            return pa.decimal128(kind.precision or 0, kind.scale or 0)
        case TypeRoot.TIMESTAMP:
            return pa.timestamp(timestamp_unit(kind))
        case TypeRoot.TIMESTAMP_LTZ:
            return pa.timestamp(timestamp_unit(kind), "UTC")
        case root:
            return _FIXED_TYPES[root]


def timestamp_unit(kind: AtomicType) -> TimeUnit:
    """The coarsest Arrow unit that holds the precision."""
    precision = kind.precision or 0
    return next(unit for unit, digits in _DIGITS.items() if precision <= digits)


def unit_digits(unit: str) -> int:
    """How many digits of a second an Arrow unit has."""
    return next(digits for name, digits in _DIGITS.items() if name == unit)
