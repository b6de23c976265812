"""`sum`, `product`, `bool_and` and `bool_or`.

Integers and decimals are summed at once, since no order of exact additions matters. Where order
does matter (floating point rounds at each step, an integer division truncates) the fold goes in
rounds: round k takes the k-th row of every segment that has one, all segments at once.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import InvalidDataError
from lakebed.format.arrow.compute import compute
from lakebed.format.arrow.typing import ArrowArray
from lakebed.lsm.functions.decimals import from_unscaled, unscaled_objects, unscaled_words
from lakebed.lsm.functions.groups import Mask, Segments
from lakebed.lsm.functions.selection import valid_rows

Numbers = npt.NDArray[Any]


def total(values: ArrowArray, segments: Segments) -> ArrowArray:
    """`sum`: adds, and subtracts what rows retract; null when every input is.

    Raises:
        InvalidDataError: An integer result that its type cannot hold.
    """
    valid, counted = _valid_inputs(values, segments)
    if pa.types.is_floating(values.type):
        return _float_sums(values, valid, counted, segments=segments)
    if pa.types.is_decimal(values.type):
        words = unscaled_words(values)
        numbers: Numbers = unscaled_objects(values) if words is None else words
        sums = _exact_sums(_signed(numbers, valid, segments), segments)
        return from_unscaled(sums, counted, values.type)
    numbers = _filled(values, 0).astype(np.int64, copy=False)
    sums = _exact_sums(_signed(numbers, valid, segments), segments)
    return _integers(sums, counted, values.type, function="sum")


def product(values: ArrowArray, segments: Segments) -> ArrowArray:
    """`product`: multiplies, and divides by what rows retract; null when every input is.

    Raises:
        InvalidDataError: An integer result that its type cannot hold, a division by zero.
    """
    valid, _ = _valid_inputs(values, segments)
    if pa.types.is_floating(values.type):
        return _float_products(values, valid, segments)
    if pa.types.is_decimal(values.type):
        numbers: Numbers = unscaled_objects(values)
        scale = values.type.scale
    else:
        numbers = _filled(values, 0).astype(object)
        scale = None
    results, known = _folded_products(numbers, valid, segments, scale=scale)
    if scale is not None:
        return from_unscaled(results, known, values.type)
    return _integers(results, known, values.type, function="product")


def all_true(values: ArrowArray, segments: Segments) -> ArrowArray:
    """`bool_and`: whether every value that is not null is true."""
    return _folded_booleans(values, segments, np.logical_and, neutral=True)


def any_true(values: ArrowArray, segments: Segments) -> ArrowArray:
    """`bool_or`: whether a value is true."""
    return _folded_booleans(values, segments, np.logical_or, neutral=False)


def _folded_booleans(
    values: ArrowArray, segments: Segments, operator: np.ufunc, *, neutral: bool
) -> ArrowArray:
    _, counted = _valid_inputs(values, segments)
    inputs = _filled(values, neutral)
    results = operator.reduceat(inputs, segments.starts) if segments.count else inputs
    return _masked(results, ~counted, values.type)


def _filled(values: ArrowArray, filling: object) -> Numbers:
    filled = values.fill_null(filling) if values.null_count else values
    numbers: Numbers = filled.to_numpy(zero_copy_only=False)
    return numbers


def _valid_inputs(values: ArrowArray, segments: Segments) -> tuple[Mask, Mask]:
    """Which inputs are not null, and which segments have such an input."""
    valid = valid_rows(values)
    if valid is None:
        return np.ones(len(values), np.bool_), np.ones(segments.count, np.bool_)
    if segments.count == 0:
        return valid, np.empty(0, np.bool_)
    return valid, np.logical_or.reduceat(valid, segments.starts)


def _signed(numbers: Numbers, valid: Mask, segments: Segments) -> Numbers:
    """The numbers, negative where they retract and 0 where null."""
    signed = numbers
    if not valid.all():
        signed = np.where(valid, signed, np.zeros(1, signed.dtype))
    if segments.retract is not None:
        if signed.dtype != np.object_ and (signed == np.iinfo(np.int64).min).any():
            signed = signed.astype(object)
        signed = np.where(segments.retract, -signed, signed)
    return signed


def _exact_sums(numbers: Numbers, segments: Segments) -> Numbers:
    """Sums of segments, in Python's integers where 64 bits might not hold them."""
    if segments.count == 0:
        return numbers
    if numbers.dtype != np.object_:
        longest = int((segments.ends - segments.starts).max())
        reach = max(abs(int(numbers.max())), abs(int(numbers.min()))) * longest
        if reach >= 2**63:
            numbers = numbers.astype(object)
    sums: Numbers = np.add.reduceat(numbers, segments.starts)
    return sums


def _integers(numbers: Numbers, valid: Mask, kind: pa.DataType, *, function: str) -> ArrowArray:
    reach = 2 ** (kind.bit_width - 1)
    known = numbers if valid.all() else numbers[valid]
    if len(known) and (known.min() < -reach or known.max() >= reach):
        worst = int(known[(known < -reach) | (known >= reach)][0])
        raise InvalidDataError(
            f"{function} of a column of type {kind} is {worst}, which the type cannot hold; "
            "give the column a wider type"
        )
    small = numbers if len(known) == len(numbers) else np.where(valid, numbers, 0)
    return _masked(small.astype(f"i{kind.bit_width // 8}"), ~valid, kind)


def _masked(numbers: Numbers, missing: Mask, kind: pa.DataType) -> ArrowArray:
    nulls = missing if missing.any() else None
    array: ArrowArray = compute.cast(pa.array(numbers, mask=nulls), kind)
    return array


def _float_sums(
    values: ArrowArray, valid: Mask, counted: Mask, *, segments: Segments
) -> ArrowArray:
    """Sums in the order of the rows. Nulls become -0.0, which added to any number leaves it."""
    numbers = _filled(values, 0)
    if segments.retract is not None:
        numbers = np.where(segments.retract, -numbers, numbers)
    if not valid.all():
        numbers = np.where(valid, numbers, np.array(-0.0, numbers.dtype))
    results = np.empty(segments.count, numbers.dtype)
    if segments.count:
        rounds = segments.rounds()
        owners, rows = next(rounds)
        sums = numbers[rows]
        for longer, rows in rounds:
            sums[: len(longer)] += numbers[rows]
        results[owners] = sums
    return _masked(results, ~counted, values.type)


def _float_products(values: ArrowArray, valid: Mask, segments: Segments) -> ArrowArray:
    """Products in the order of the rows; what is taken back before anything came is skipped."""
    numbers = _filled(values, 0)
    results = np.zeros(segments.count, numbers.dtype)
    known = np.zeros(segments.count, np.bool_)
    for owners, rows in segments.rounds(valid):
        started, kept, inputs = known[owners], results[owners], numbers[rows]
        divides = np.zeros(len(rows), np.bool_)
        if segments.retract is not None:
            divides = segments.retract[rows]
        with np.errstate(all="ignore"):
            combined = np.where(divides, kept / inputs, kept * inputs)
        results[owners] = np.where(started, combined, inputs)
        known[owners] = started | ~divides
    return _masked(results, ~known, values.type)


def _folded_products(
    numbers: Numbers, valid: Mask, segments: Segments, *, scale: int | None
) -> tuple[Numbers, Mask]:
    """Products in Python's integers; decimals are rounded half up to their scale at each step."""
    results: Numbers = np.zeros(segments.count, object)
    known = np.zeros(segments.count, np.bool_)
    for owners, rows in segments.rounds(valid):
        started = known[owners]
        retract = np.zeros(len(rows), np.bool_)
        if segments.retract is not None:
            retract = segments.retract[rows]
        begin = ~started & ~retract
        results[owners[begin]] = numbers[rows[begin]]
        known[owners[begin]] = True
        times, divided = started & ~retract, started & retract
        left, right = results[owners[times]], numbers[rows[times]]
        results[owners[times]] = left * right if scale is None else _rescaled(left * right, scale)
        left, right = results[owners[divided]], numbers[rows[divided]]
        if len(right) and (right == 0).any():
            raise InvalidDataError("product of a column retracts a 0, which divides by zero")
        results[owners[divided]] = _divided(left, right, scale)
    return results, known


def _rescaled(numbers: Numbers, scale: int) -> Numbers:
    """Products of two unscaled values, of twice the scale, at the scale again."""
    unit = 10**scale
    return _rounded_quotients(numbers, np.full(len(numbers), unit, object))


def _divided(left: Numbers, right: Numbers, scale: int | None) -> Numbers:
    if scale is None:
        quotients: Numbers = np.sign(left) * np.sign(right) * (abs(left) // abs(right))
        return quotients
    return _rounded_quotients(left * 10**scale, right)


def _rounded_quotients(left: Numbers, right: Numbers) -> Numbers:
    """Quotients rounded half away from zero."""
    if not len(left):
        return left
    magnitude = (2 * abs(left) + abs(right)) // (2 * abs(right))
    signs = np.where((left < 0) != (right < 0), -1, 1).astype(object)
    rounded: Numbers = signs * magnitude
    return rounded
