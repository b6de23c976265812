"""What text does a value become?

The text of a nested value is made of the texts of its parts, and null in it is the word `null`.
FLOAT and DOUBLE are printed with the fewest digits that tell them apart, as Java prints them since
version 19; older ones print some with a digit more.
"""

from collections.abc import Callable
from typing import TypeAlias

import pyarrow as pa

from lakebed.format.arrow.atoms import unit_digits
from lakebed.format.arrow.compute import Values
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import scalar_of
from lakebed.format.casts.columns import numpy_values, with_nulls_of
from lakebed.format.casts.nesting import entries_of, fields_of, flattened, lists_like
from lakebed.format.predicate.evaluation_text import text_of_floats
from lakebed.format.types import (
    MAX_LENGTH,
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    RowType,
    TypeRoot,
)

__all__ = [
    "fit_bytes",
    "fit_text",
    "text_of_arrays",
    "text_of_bytes",
    "text_of_dates",
    "text_of_fractions",
    "text_of_maps",
    "text_of_rows",
    "text_of_times",
    "text_of_timestamps",
]

PartText: TypeAlias = Callable[[Values, DataType], Values]
_NULL = scalar_of("null", pa.string())
_MILLIS_DIGITS = 3
_LONG_YEAR = r"\A[0-9]+([0-9]{4}-)"


def fit_text(text: Values, target: AtomicType) -> Values:
    """Text cut to the length of the type, for CHAR also filled up with blanks."""
    length = target.length or 0
    if length < MAX_LENGTH:
        text = pc.utf8_slice_codeunits(text, 0, length)
    return pc.utf8_rpad(text, length, " ") if target.root is TypeRoot.CHAR else text


def fit_bytes(values: Values, target: AtomicType) -> Values:
    """Bytes cut to the length of the type, for BINARY also filled up with zeros."""
    length = target.length or 0
    if target.root is TypeRoot.BINARY:
        values = pc.binary_join_element_wise(values, bytes(length), b"")
    return values if length >= MAX_LENGTH else pc.binary_slice(values, 0, length)


def text_of_bytes(values: Values) -> Values:
    """The text whose UTF-8 the bytes are; no length is heeded.

    Raises:
        pyarrow.ArrowInvalid: Bytes that are no UTF-8.
    """
    return pc.cast(values, pa.string())


def text_of_fractions(values: Values) -> Values:
    """`1.0`, `1.0E10`, `NaN`, `-Infinity`: FLOAT and DOUBLE in Java's way."""
    text = pc.cast(values, pa.string())
    # From a thousandth to ten millions Java writes as Arrow does, but for whole numbers.
    size = pc.abs(values)
    is_middling = pc.and_(pc.greater_equal(size, 1e-3), pc.less(size, 1e7))
    is_plain = pc.and_(is_middling, pc.invert(pc.match_substring(text, "e")))
    whole = pc.binary_join_element_wise(text, "0", ".")
    middling = pc.if_else(pc.match_substring(text, "."), text, whole)
    others = text_of_floats(pc.if_else(is_plain, None, values))
    return pc.if_else(is_plain, middling, others)


def text_of_dates(values: Values) -> Values:
    """`2026-01-31`; of a longer year the last four digits."""
    return pc.replace_substring_regex(pc.cast(values, pa.string()), _LONG_YEAR, r"\1")


def text_of_times(values: Values, source: AtomicType) -> Values:
    """`23:59:59` for TIME(0), else with one digit of the fraction and what is not zero of more."""
    millis = pc.cast(values, pa.int32())
    whole = pc.divide(millis, pa.scalar(1000, pa.int32()))
    seconds = pc.cast(pc.cast(whole, pa.time32("s")), pa.string())
    digits = min(source.precision or 0, _MILLIS_DIGITS)
    if digits == 0:
        return seconds
    rest = with_nulls_of(values, numpy_values(millis, fill=0) % 1000)
    padded = pc.utf8_lpad(pc.cast(rest, pa.string()), _MILLIS_DIGITS, "0")
    # The zeros go before the digits are cut to the precision: .102 is .10, and .100 is .1.
    significant = pc.replace_substring_regex(padded, r"\A([0-9][0-9]*?)0*\z", r"\1")
    fraction = pc.utf8_slice_codeunits(significant, 0, digits)
    return pc.binary_join_element_wise(seconds, fraction, ".")


def text_of_timestamps(local_times: Values, source: AtomicType) -> Values:
    """`2026-01-31 23:59:59.500`, as many digits as the precision says, of the year the last four.

    Args:
        local_times: Timestamps without zone.
        source: Whose precision counts.
    """
    text = pc.strftime(local_times, format="%Y-%m-%d %H:%M:%S")
    text = pc.replace_substring_regex(text, _LONG_YEAR, r"\1")
    spare = unit_digits(local_times.type.unit) - (source.precision or 0)
    return pc.replace_substring_regex(text, rf"0{{1,{spare}}}\z", "") if spare else text


def text_of_arrays(values: Values, source: ArrayType, part_text: PartText) -> Values:
    """`[1, null, 3]`."""
    elements = _or_null(part_text(flattened(values), source.element))
    return _enclosed("[", pc.binary_join(lists_like(values, elements), ", "), "]")


def text_of_maps(values: Values, source: MapType, part_text: PartText) -> Values:
    """`{a -> 1, b -> null}`, in the order of the entries."""
    keys, items = entries_of(values)
    entries = pc.binary_join_element_wise(
        _or_null(part_text(keys, source.key)), _or_null(part_text(items, source.value)), " -> "
    )
    return _enclosed("{", pc.binary_join(lists_like(values, entries), ", "), "}")


def text_of_rows(values: Values, source: RowType, part_text: PartText) -> Values:
    """`{1, null, c}`, the fields in their order."""
    parts = [
        _or_null(part_text(part, field.type))
        for part, field in zip(fields_of(values), source.fields, strict=True)
    ]
    text = pc.binary_join_element_wise(*parts, ", ")
    return _enclosed("{", pc.if_else(pc.is_valid(values), text, None), "}")


def _or_null(text: Values) -> Values:
    return pc.fill_null(text, _NULL)


def _enclosed(opening: str, text: Values, closing: str) -> Values:
    return pc.binary_join_element_wise(opening, text, closing, "")
