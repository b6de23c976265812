"""Functions whose result is one of the inputs: they answer with rows, so values are taken once.

A selector sees which rows are valid (not null) and which retract, and gives the row of each
segment's result, or `NOWHERE` for null.

    values    7 null 9 | null null | 3
    kinds     +  +   + |  +   +    | +
    last_non_null_value: rows 2, NOWHERE, 5
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowArray, ArrowScalar, scalar_of, taken
from lakebed.lsm.functions.groups import Mask, Positions, Segments
from lakebed.lsm.sort_keys import sort_words

NOWHERE = -1


# From which rows are valid (None: all) to the row of each segment's result, or `NOWHERE`.
Selector = Callable[[Mask | None, Segments], Positions]


def last_value(_valid: Mask | None, segments: Segments) -> Positions:
    """The newest value, also null; null where the newest row retracts."""
    rows = segments.ends - 1
    if segments.retract is None:
        return rows
    return np.where(segments.retract[rows], NOWHERE, rows)


def last_non_null_value(valid: Mask | None, segments: Segments) -> Positions:
    """The newest value that is not null; null where that one was retracted."""
    rows = newest(valid, segments)
    if segments.retract is None:
        return rows
    return np.where((rows != NOWHERE) & segments.retract[rows], NOWHERE, rows)


def first_value(_valid: Mask | None, segments: Segments) -> Positions:
    """The oldest value, also null."""
    return segments.starts


def first_non_null_value(valid: Mask | None, segments: Segments) -> Positions:
    """The oldest value that is not null."""
    return oldest(valid, segments)


def newest(eligible: Mask | None, segments: Segments) -> Positions:
    """The last eligible row of each segment, `NOWHERE` without any; None: all are eligible."""
    if eligible is None:
        return segments.ends - 1
    if segments.count == 0:
        return segments.starts
    rows = np.where(eligible, np.arange(segments.row_count), NOWHERE)
    found: Positions = np.maximum.reduceat(rows, segments.starts)
    return found


def oldest(eligible: Mask | None, segments: Segments) -> Positions:
    """The first eligible row of each segment, `NOWHERE` without any; None: all are eligible."""
    if eligible is None or segments.count == 0:
        return segments.starts
    beyond = segments.row_count
    rows = np.where(eligible, np.arange(beyond), beyond)
    found = np.minimum.reduceat(rows, segments.starts)
    return np.where(found == beyond, NOWHERE, found)


def take_or_null(values: ArrowArray, rows: Positions) -> ArrowArray:
    """The values of some rows, null for `NOWHERE`."""
    nowhere = rows < 0
    return taken(values, rows, nowhere if nowhere.any() else None)


def greatest(values: ArrowArray, segments: Segments) -> ArrowArray:
    """`max`: the greatest value that is not null, NaN above all."""
    return _extremes(values, segments, greatest_wins=True)


def smallest(values: ArrowArray, segments: Segments) -> ArrowArray:
    """`min`: the smallest value that is not null, NaN above all."""
    return _extremes(values, segments, greatest_wins=False)


def _extremes(values: ArrowArray, segments: Segments, *, greatest_wins: bool) -> ArrowArray:
    if segments.count and pa.types.is_primitive(values.type) and _compares_as_numbers(values):
        return _extreme_numbers(values, segments, greatest_wins=greatest_wins)
    if pa.types.is_string(values.type) or pa.types.is_binary(values.type):
        return _extreme_texts(values, segments, greatest_wins=greatest_wins)
    return take_or_null(values, _extreme(values, segments, greatest_wins=greatest_wins))


def _compares_as_numbers(values: ArrowArray) -> bool:
    """Whether NumPy's order of the values is the format's, in which -0.0 is below 0.0."""
    if pa.types.is_integer(values.type):
        return True
    if values.type not in {pa.float32(), pa.float64()}:
        return False
    zeros = pc.fill_null(pc.equal(values, 0), fill_value=False)
    return not pc.any(zeros).as_py()


def _extreme_numbers(values: ArrowArray, segments: Segments, *, greatest_wins: bool) -> ArrowArray:
    """The extremes of numbers, NaN above all: `maximum` keeps a NaN, `fmin` passes it over."""
    valid = valid_rows(values)
    if valid is not None:
        values = pc.fill_null(values, _neutral(values.type, greatest_wins=greatest_wins))
    reduce = np.maximum if greatest_wins else np.fmin
    found = reduce.reduceat(values.to_numpy(), segments.starts)
    missing = None if valid is None else ~np.logical_or.reduceat(valid, segments.starts)
    result: ArrowArray = pa.array(found, values.type, mask=missing)
    return result


def _extreme_texts(values: ArrowArray, segments: Segments, *, greatest_wins: bool) -> ArrowArray:
    """The extremes of texts, compared byte by byte; polars keeps them as views and copies none."""
    frame = pl.DataFrame({"segment": segments.of_row, "text": pl.from_arrow(values)})
    ends = pl.col("text").max() if greatest_wins else pl.col("text").min()
    sorted_frame = frame.with_columns(pl.col("segment").set_sorted())
    found = sorted_frame.group_by("segment", maintain_order=True).agg(ends).get_column("text")
    result: ArrowArray = pc.cast(found.to_arrow(compat_level=pl.CompatLevel.oldest()), values.type)
    return result


def _neutral(kind: pa.DataType, *, greatest_wins: bool) -> ArrowScalar:
    """What no number is beyond."""
    if pa.types.is_floating(kind):
        return scalar_of(-math.inf if greatest_wins else math.nan, kind)
    reach = 2 ** (kind.bit_width - 1)
    return scalar_of(-reach if greatest_wins else reach - 1, kind)


def _extreme(values: ArrowArray, segments: Segments, *, greatest_wins: bool) -> Positions:
    """The row of each segment's extreme.

    Rows are compared word by word: after each word only rows that equal the extreme so far remain.
    """
    if segments.count == 0:
        return segments.starts
    valid = remaining = valid_rows(values)
    for word in _signed_words(values, valid):
        keys = word if greatest_wins else ~word  # reverses the order and cannot overflow
        if remaining is not None:
            keys = np.where(remaining, keys, np.iinfo(np.int64).min)
        extremes = np.maximum.reduceat(keys, segments.starts)
        matching = keys == extremes[segments.of_row]
        remaining = matching if remaining is None else matching & remaining
        rows = np.flatnonzero(remaining)
        if valid is None and len(rows) == segments.count:
            return rows  # one row is left of each segment
    return oldest(remaining, segments)


def _signed_words(values: ArrowArray, valid: Mask | None) -> Iterator[npt.NDArray[np.int64]]:
    """64-bit integers that compare as the values do, the first word first; any where null."""
    known = values if valid is None else pc.drop_null(values)
    for word in sort_words([pa.chunked_array([known])]):
        signed = _as_signed(word)
        if valid is None:
            yield signed
            continue
        spread = np.zeros(len(values), np.int64)
        spread[valid] = signed
        yield spread


def _as_signed(word: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    if word.dtype.kind == "i":
        return word.astype(np.int64, copy=False)
    return (word.astype(np.uint64, copy=False) ^ np.uint64(1 << 63)).view(np.int64)


def valid_rows(values: ArrowArray) -> Mask | None:
    """Which values are not null; None where none is."""
    if not values.null_count:
        return None
    valid: Mask = pc.is_valid(values).to_numpy(zero_copy_only=False)
    return valid
