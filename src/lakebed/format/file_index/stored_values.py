"""How do indexes of rows write the values of a type, and what are these in Arrow (format.md 14)?

Numbers are big-endian, a boolean is a byte, text has its length in front. A DECIMAL is its unscaled
number, a timestamp milliseconds up to a precision of 3 and microseconds above.

The surprising thing: a timestamp of more than 6 digits is cut to microseconds, so an index of rows
does not know its values, and types of more digits than a word holds are not known either.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import CorruptTableError
from lakebed.format.arrow.atoms import arrow_value_type
from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.binary_row.layout import numbers_in
from lakebed.format.types import AtomicType, TypeRoot

__all__ = [
    "STORED_NUMBERS",
    "TEXT_ROOTS",
    "is_indexable",
    "ordered_integers",
    "stored_integers",
    "to_arrow",
    "to_stored",
]

Numbers = npt.NDArray[np.number]

TEXT_ROOTS = frozenset({TypeRoot.CHAR, TypeRoot.VARCHAR})
TIMESTAMP_ROOTS = frozenset({TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ})

STORED_NUMBERS: Mapping[TypeRoot, np.dtype[np.number]] = {
    TypeRoot.BOOLEAN: np.dtype(">u1"),
    TypeRoot.TINYINT: np.dtype(">i1"),
    TypeRoot.SMALLINT: np.dtype(">i2"),
    TypeRoot.INT: np.dtype(">i4"),
    TypeRoot.BIGINT: np.dtype(">i8"),
    TypeRoot.FLOAT: np.dtype(">f4"),
    TypeRoot.DOUBLE: np.dtype(">f8"),
    TypeRoot.DECIMAL: np.dtype(">i8"),
    TypeRoot.DATE: np.dtype(">i4"),
    TypeRoot.TIME: np.dtype(">i4"),
    TypeRoot.TIMESTAMP: np.dtype(">i8"),
    TypeRoot.TIMESTAMP_LTZ: np.dtype(">i8"),
}
"""The number that stands for a value of each type that is not text."""

_FLOAT_BITS = {TypeRoot.FLOAT: np.int32, TypeRoot.DOUBLE: np.int64}
_DECIMAL_DIGITS_MAX = 18
_TIMESTAMP_DIGITS_MAX = 6
_MILLISECOND_DIGITS = 3


def is_indexable(kind: AtomicType) -> bool:
    """Whether an index of rows holds the very values of a type."""
    precision = kind.precision or 0
    if kind.root is TypeRoot.DECIMAL:
        return precision <= _DECIMAL_DIGITS_MAX
    if kind.root in TIMESTAMP_ROOTS:
        return precision <= _TIMESTAMP_DIGITS_MAX
    return kind.root in TEXT_ROOTS or kind.root in STORED_NUMBERS


def to_arrow(stored: Numbers | ArrowArray, kind: AtomicType, path: str) -> ArrowArray:
    """Values as Arrow has them, of the type that `arrow_value_type` says.

    Args:
        stored: Numbers as in `STORED_NUMBERS`, of any byte order, or binary text.
        kind: An indexable type.
        path: The file, for messages.

    Raises:
        CorruptTableError: A value is none of the type.
    """
    try:
        if isinstance(stored, np.ndarray):
            return _number_array(stored, kind)
        return stored.cast(arrow_value_type(kind))
    except (pa.ArrowException, OverflowError) as error:
        problem = f"an index holds what is no {kind.root.value}: {error}"
        raise CorruptTableError(path, problem) from error


def _number_array(stored: Numbers, kind: AtomicType) -> ArrowArray:
    native: ArrowArray = pa.array(stored.astype(stored.dtype.newbyteorder("=")))
    wanted = arrow_value_type(kind)
    if kind.root is TypeRoot.DECIMAL:
        return _decimals(stored, wanted)
    if kind.root in TIMESTAMP_ROOTS:
        unit = "ms" if (kind.precision or 0) <= _MILLISECOND_DIGITS else "us"
        zone = "UTC" if kind.root is TypeRoot.TIMESTAMP_LTZ else None
        native = native.cast(pa.timestamp(unit, zone))
    if kind.root in {TypeRoot.DATE, TypeRoot.TIME}:
        native = native.cast(pa.int32())
    return native.cast(wanted)


def _decimals(unscaled: Numbers, wanted: pa.DataType) -> ArrowArray:
    low = unscaled.astype(np.int64)
    words = np.column_stack([low, low >> np.int64(63)])
    return pa.Array.from_buffers(wanted, len(words), [None, pa.py_buffer(words.data)])


def stored_integers(values: ArrowArray, kind: AtomicType) -> npt.NDArray[np.int64] | None:
    """The whole numbers that stand for values without nulls; None where numbers do not.

    A timestamp of more than 6 digits is cut to microseconds, as writers of bloom filters do.
    """
    if kind.root in TIMESTAMP_ROOTS:
        counts: npt.NDArray[np.int64] = values.cast(pa.int64()).to_numpy(zero_copy_only=False)
        match str(values.type.unit):
            case "s":
                return counts * 1000
            case "ns":
                return counts // 1000
            case _:
                return counts
    dtype = STORED_NUMBERS.get(kind.root)
    if dtype is None or kind.root is TypeRoot.DECIMAL or dtype.kind == "f":
        return None
    if kind.root in {TypeRoot.DATE, TypeRoot.TIME}:
        values = values.cast(pa.int32())
    return values.cast(pa.int64()).to_numpy(zero_copy_only=False)


def ordered_integers(values: ArrowArray, kind: AtomicType) -> npt.NDArray[np.int64]:
    """Whole numbers in the order of values without nulls, one for each that is stored apart.

    Of floats -0.0 comes before 0.0, and NaN, of which there is one, last.

    Args:
        values: Of the type that `arrow_value_type` says.
        kind: An indexable type that is no text.
    """
    if kind.root is TypeRoot.DECIMAL:
        words: npt.NDArray[np.int64] = numbers_in(values.buffers()[1], np.int64)
        return words[2 * values.offset : 2 * (values.offset + len(values)) : 2]
    bits = _FLOAT_BITS.get(kind.root)
    if bits is not None:
        floats = values.to_numpy(zero_copy_only=False).copy()
        floats[np.isnan(floats)] = np.nan
        return _flipped(floats.view(bits)).astype(np.int64)
    integers = stored_integers(values, kind)
    assert integers is not None, kind
    return integers


def to_stored(integers: npt.NDArray[np.int64], kind: AtomicType) -> Numbers:
    """The values of `ordered_integers` as indexes hold them, in the type of `STORED_NUMBERS`."""
    dtype = STORED_NUMBERS[kind.root]
    bits = _FLOAT_BITS.get(kind.root)
    if bits is not None:
        return _flipped(integers.astype(bits)).view(dtype.newbyteorder("=")).astype(dtype)
    return integers.astype(dtype)


def _flipped(bits: npt.NDArray[np.signedinteger]) -> npt.NDArray[np.signedinteger]:
    """Bits of floats in the order of the floats, or such bits back: negative ones are flipped."""
    return np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)
