"""How are DECIMALs added, subtracted, multiplied and divided exactly?

Arrow's kernels truncate quotients and lack the digits for wide products, so the unscaled values
are computed as whole numbers without limit and rounded once, half away from zero.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import InvalidArgumentError
from lakebed.format.arrow.compute import Values
from lakebed.format.binary_row.layout import numbers_in
from lakebed.format.predicate.expressions import ArithmeticOperator
from lakebed.format.types import AtomicType

__all__ = ["calculate_decimals"]

_Integers = npt.NDArray[np.object_]
_WORD = 1 << 64


def calculate_decimals(
    operator: ArithmeticOperator, left: Values, right: Values, *, result: AtomicType
) -> Values:
    """The sum, difference, product or quotient in each row, null where an operand is.

    Args:
        operator: What to do.
        left: decimal128 values.
        right: decimal128 values, as many.
        result: The DECIMAL type of the result.

    Raises:
        InvalidArgumentError: When a result does not fit, or a divisor is zero.
    """
    precision, scale = result.precision or 0, result.scale or 0
    is_null = np.asarray(left.is_null()) | np.asarray(right.is_null())
    one, other = _unscaled(left), _unscaled(right)
    match operator:
        case ArithmeticOperator.DIVIDE:
            if bool(((other == 0) & ~is_null).any()):
                raise InvalidArgumentError(
                    "division of a DECIMAL by zero; exclude such rows by a condition before it"
                )
            other = np.where(other == 0, 1, other)
            values = _divided(one, other, shift=scale - left.type.scale + right.type.scale)
        case ArithmeticOperator.MULTIPLY:
            values = _rescaled(one * other, scale - left.type.scale - right.type.scale)
        case _:
            common = max(left.type.scale, right.type.scale)
            one = _rescaled(one, common - left.type.scale)
            other = _rescaled(other, common - right.type.scale)
            total = one + other if operator is ArithmeticOperator.ADD else one - other
            values = _rescaled(total, scale - common)
    values = np.where(is_null, 0, values)
    if bool((np.abs(values) >= 10**precision).any()):
        raise InvalidArgumentError(
            f"a result of {operator} does not fit into DECIMAL({precision}, {scale}); "
            "CAST an operand to a DECIMAL of fewer digits, or to DOUBLE"
        )
    return _decimals(values, is_null, pa.decimal128(precision, scale))


def _unscaled(array: Values) -> _Integers:
    words = numbers_in(array.buffers()[1], np.uint64)
    pairs = words[2 * array.offset : 2 * (array.offset + len(array))].reshape(-1, 2)
    high = pairs[:, 1].view(np.int64).astype(object)
    integers: _Integers = high * _WORD + pairs[:, 0].astype(object)
    return integers


def _decimals(values: _Integers, is_null: npt.NDArray[np.bool_], kind: pa.Decimal128Type) -> Values:
    pairs = np.empty((len(values), 2), dtype=np.uint64)
    pairs[:, 0] = (values % _WORD).astype(np.uint64)
    pairs[:, 1] = (values // _WORD).astype(np.int64).view(np.uint64)
    bits = np.packbits(~is_null, bitorder="little")
    buffers: list[pa.Buffer | None] = [pa.py_buffer(bits.tobytes()), pa.py_buffer(pairs.tobytes())]
    return pa.Array.from_buffers(kind, len(values), buffers)


def _rescaled(values: _Integers, digits: int) -> _Integers:
    if digits >= 0:
        scaled: _Integers = values * 10**digits
        return scaled
    return _rounded(values, np.full(len(values), 10**-digits, dtype=object))


def _divided(values: _Integers, divisors: _Integers, *, shift: int) -> _Integers:
    if shift >= 0:
        return _rounded(values * 10**shift, divisors)
    return _rounded(values, divisors * 10**-shift)


def _rounded(values: _Integers, divisors: _Integers) -> _Integers:
    """The quotients, half away from zero."""
    sign = np.where((values < 0) != (divisors < 0), -1, 1)
    sizes = np.abs(divisors)
    quotients: _Integers = sign * ((2 * np.abs(values) + sizes) // (2 * sizes))
    return quotients
