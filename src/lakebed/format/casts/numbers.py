"""What becomes of a BOOLEAN or a number as another number?

Nothing is refused for its size: an integer keeps its low bits, a FLOAT or DOUBLE goes to the
nearest INT (or BIGINT, if that is wanted) first, NaN being 0, and a DECIMAL with too many digits
is null. Only NaN and infinities as DECIMAL are errors.
"""

from decimal import Decimal

import numpy as np
import pyarrow as pa

from lakebed.errors import InvalidDataError
from lakebed.format.arrow.atoms import arrow_value_type
from lakebed.format.arrow.compute import Values
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.binary_row.layout import numbers_in
from lakebed.format.casts.columns import numpy_values, with_nulls_of
from lakebed.format.predicate.evaluation_text import text_of_decimals
from lakebed.format.types import AtomicType, TypeRoot

__all__ = [
    "booleans_of_integers",
    "decimals_of_booleans",
    "decimals_of_decimals",
    "decimals_of_floats",
    "decimals_of_integers",
    "decimals_of_text",
    "floats_of_decimals",
    "integers_of_decimals",
    "integers_of_floats",
    "nearest_numbers",
]

_WIDEST = 76
_INTEGER_DIGITS = 20
_COMPACT_PRECISION = 18  # up to which the format keeps a DECIMAL as one 64-bit integer
_DIGITS_MAX = 38
_EXPONENT_MAX = 2 * _DIGITS_MAX  # beyond it a number is too great for, or nothing in, any DECIMAL
_PLAIN = r"\A[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)\z"
_SCIENTIFIC = r"\A[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][+-]?[0-9]{1,9}\z"


def nearest_numbers(values: Values, target: AtomicType) -> Values:
    """Integers as integers of their low bits or as the nearest fraction, fractions likewise."""
    return pc.cast(values, arrow_value_type(target), safe=False)


def integers_of_floats(values: Values, target: AtomicType) -> Values:
    """Fractions cut off and kept within 32 bits (64 for BIGINT), of which the low bits count."""
    wide = np.int64 if target.root is TypeRoot.BIGINT else np.int32
    least, most = np.iinfo(wide).min, np.iinfo(wide).max
    numbers = numpy_values(values, fill=0).astype(np.float64)
    numbers = np.where(np.isnan(numbers), 0, numbers)
    is_great = numbers >= float(most)
    inside = np.where(is_great, 0, np.maximum(numbers, float(least)))
    whole = np.where(is_great, most, np.trunc(inside).astype(wide))
    return pc.cast(with_nulls_of(values, whole), arrow_value_type(target), safe=False)


def booleans_of_integers(values: Values) -> Values:
    """True but for 0."""
    return pc.not_equal(values, pa.scalar(0, values.type))


def integers_of_decimals(values: Values, target: AtomicType) -> Values:
    """Fractions cut off; of what is left the low bits."""
    whole = pc.cast(values, pa.decimal128(_DIGITS_MAX, 0), safe=False)
    words = numbers_in(whole.buffers()[1], np.int64)[2 * whole.offset :: 2][: len(whole)]
    return pc.cast(with_nulls_of(values, words), arrow_value_type(target), safe=False)


def floats_of_decimals(values: Values, target: AtomicType) -> Values:
    """The nearest DOUBLE, for FLOAT rounded once more.

    The surprising thing: up to 18 digits the unscaled integer is rounded before it is divided.
    """
    if values.type.precision > _COMPACT_PRECISION:
        doubles = pc.cast(text_of_decimals(values), pa.float64())
    else:
        unscaled = integers_of_decimals(_unscaled(values), AtomicType(root=TypeRoot.BIGINT))
        numbers = numpy_values(unscaled, fill=0).astype(np.float64)
        doubles = with_nulls_of(values, numbers / float(10**values.type.scale))
    return pc.cast(doubles, arrow_value_type(target), safe=False)


def decimals_of_booleans(values: Values, target: AtomicType) -> Values:
    """1 and 0."""
    return decimals_of_integers(pc.cast(values, pa.int8()), target)


def decimals_of_integers(values: Values, target: AtomicType) -> Values:
    """The same number, null where it has too many digits."""
    return _fitted(pc.cast(values, pa.decimal256(_INTEGER_DIGITS, 0)), target)


def decimals_of_decimals(values: Values, target: AtomicType) -> Values:
    """Rounded half away from zero, null where too many digits are left."""
    return _fitted(values, target)


def decimals_of_floats(values: Values, target: AtomicType) -> Values:
    """The number that the shortest text of the DOUBLE says, rounded half away from zero.

    Raises:
        InvalidDataError: NaN or an infinity.
    """
    doubles = pc.cast(values, pa.float64())
    odd = pc.and_(pc.is_valid(doubles), pc.invert(pc.is_finite(doubles)))
    if pc.any(odd).as_py():
        raise InvalidDataError(f"{doubles.filter(odd)[0].as_py()} is no DECIMAL")
    return decimals_of_text(pc.cast(doubles, pa.string()), target)


def decimals_of_text(text: Values, target: AtomicType) -> Values:
    """What digits say, with a fraction and an exponent where given, rounded half away from zero.

    Raises:
        InvalidDataError: Text that is no number; blanks count as such.
    """
    plain = _without_exponents(text)
    # Arrow refuses what lies beyond its digits: a whole part with more of them than the type has
    # room for is null anyway, and of a fraction one digit beyond the scale decides the rounding.
    room = (target.precision or 0) - (target.scale or 0)
    is_great = pc.match_substring_regex(plain, rf"\A[+-]?0*[1-9][0-9]{{{room},}}(?:\.|\z)")
    plain = pc.if_else(is_great, None, plain)
    digits = (target.scale or 0) + 1
    shape = rf"\A\+?(-?)0*([0-9]*)(?:\.([0-9]{{0,{digits}}})[0-9]*)?\z"
    short = pc.replace_substring_regex(plain, shape, r"\10\2.\30")
    return _fitted(pc.cast(short, pa.decimal256(_WIDEST, digits + 1)), target)


def _without_exponents(text: Values) -> Values:
    """Numbers as plain digits; few have an exponent, and each distinct one is written out once."""
    is_plain = pc.fill_null(pc.match_substring_regex(text, _PLAIN), True)  # noqa: FBT003
    if pc.all(is_plain).as_py():
        return text
    is_number = pc.or_(is_plain, pc.match_substring_regex(text, _SCIENTIFIC))
    if not pc.all(is_number).as_py():
        bad = text.filter(pc.invert(is_number))[0].as_py()
        raise InvalidDataError(f"the text {bad!r} is not a decimal number")
    encoded = pc.if_else(is_plain, None, text).dictionary_encode()
    written = pa.array(map(_written_out, encoded.dictionary.to_pylist()), pa.string())
    return pc.if_else(is_plain, text, written.take(encoded.indices))


def _written_out(number: str) -> str:
    value = Decimal(number)
    size = value.adjusted() if value else 0
    if size > _EXPONENT_MAX:
        return "9" * _EXPONENT_MAX
    return "0" if size < -_EXPONENT_MAX else f"{value:f}"


def _fitted(values: Values, target: AtomicType) -> Values:
    """Decimals rounded half away from zero to the scale, null where the precision is exceeded."""
    precision, scale = target.precision or 0, target.scale or 0
    source: pa.Decimal256Type = values.type
    wide = pc.cast(values, pa.decimal256(_WIDEST, source.scale))
    if scale < source.scale:
        wide = pc.round(wide, scale, round_mode="half_towards_infinity")
    # Rounding may carry, so that one digit more than the source has is what surely fits.
    if precision - scale <= source.precision - source.scale:
        limit = pa.scalar(Decimal(10) ** (precision - scale), wide.type)
        wide = pc.if_else(pc.less(pc.abs(wide), limit), wide, None)
    return pc.cast(wide, pa.decimal128(precision, scale))


def _unscaled(values: Values) -> Values:
    return pa.Array.from_buffers(
        pa.decimal128(values.type.precision, 0), len(values), values.buffers(), offset=values.offset
    )
