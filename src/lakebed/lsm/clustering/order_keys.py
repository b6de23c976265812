"""From the columns that rows are laid out by to columns that the rows are sorted by.

One column, or several of which the first matters most, are sorted by as they are. A space-filling
curve treats all alike: each value becomes a word, whose order is that of the values, and a row's
words become its place on the curve. Rows near each other there are near in every column, so that
the minima and maxima of a file say much about each.

    word of a   a0 a1 a2 ...        z-order   a0 b0 a1 b1 a2 b2 ...
    word of b   b0 b1 b2 ...        hilbert   the same, after turning each square of the plane

A word is not the value itself: only the highest bits in which values differ count for much, and
numbers of users differ in others than dates do. It is the share of rows with smaller values, as a
sample of the rows tells it (`sampled_bounds`).

The surprising thing: nothing on disk depends on how a place is computed, so no other engine has to
compute the same one. Places are compared with those of the same bounds alone.
"""

from collections.abc import Sequence
from enum import Enum
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import InvalidArgumentError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowArray, ArrowChunks, joined
from lakebed.format.binary_row.layout import COMPACT_DECIMAL_PRECISION, numbers_in

WORD_BYTES = 8
"""Bytes that a value contributes to a place, and by default a text."""

_RANK_BITS = 12
_SIGN = np.uint64(1 << 63)
# Bits lie a byte each while they are interleaved.
_ROWS_AT_ONCE = 65_536
_HILBERT_COLUMNS_MIN = 2
_ZORDER_COLUMNS_MAX = 4

Words = npt.NDArray[np.uint64]
Octets = npt.NDArray[np.uint8]
Bounds = tuple[npt.NDArray[np.generic], ...]
"""Of each column, values at equal distances in a sorted sample."""


class Ordering(Enum):
    """How rows are laid out by some columns."""

    ORDER = "order"
    ZORDER = "zorder"
    HILBERT = "hilbert"

    @classmethod
    def automatic(cls, column_count: int) -> "Ordering":
        """What `clustering.strategy` = `auto` stands for."""
        if column_count == 1:
            return cls.ORDER
        return cls.ZORDER if column_count <= _ZORDER_COLUMNS_MAX else cls.HILBERT


def check_order(columns: Sequence[str], strategy: Ordering) -> None:
    """Refuses columns that a strategy cannot work with.

    Raises:
        InvalidArgumentError: There are none, one is named twice, or too few.
    """
    if not columns:
        raise InvalidArgumentError("no column is named to sort by; name one at least")
    if len(set(columns)) < len(columns):
        raise InvalidArgumentError(f"a column to sort by is named twice: {', '.join(columns)}")
    if strategy is Ordering.HILBERT and len(columns) < _HILBERT_COLUMNS_MIN:
        raise InvalidArgumentError(
            f"hilbert takes two columns at least, and {columns[0]} is one; use order"
        )


def is_sortable(kind: pa.DataType) -> bool:
    """Whether rows can be laid out by values of a type: not by nested ones."""
    return _is_number(kind) or _is_text(kind)


def sampled_bounds(
    sample: pa.Table, columns: Sequence[str], *, text_bytes: int = WORD_BYTES
) -> Bounds:
    """What tells the share of rows with smaller values; the arguments are as of `order_keys`.

    Args:
        sample: Some of the rows.
        columns: The columns that the rows are laid out by.
        text_bytes: How many bytes of a text count.
    """
    bounds = []
    for name in columns:
        values = np.sort(_comparable(_octets(joined(sample.column(name)), text_bytes)))
        places = np.linspace(0, len(values), 1 << _RANK_BITS, endpoint=False)
        bounds.append(values[places.astype(np.intp)] if len(values) else values)
    return tuple(bounds)


def order_keys(
    rows: pa.Table,
    columns: Sequence[str],
    strategy: Ordering,
    *,
    bounds: Bounds = (),
    text_bytes: int = WORD_BYTES,
) -> list[ArrowChunks]:
    """Columns by which rows are sorted, the first one first, nulls before all else.

    Args:
        rows: The rows.
        columns: The columns that they are laid out by (`check_order`), all of them `is_sortable`.
        strategy: How.
        bounds: For a curve, what a sample says of the columns.
        text_bytes: How many bytes of a text count there (`zorder.var-length-contribution`).

    Returns:
        The columns themselves for `ORDER`; for a curve, 64-bit integers.
    """
    if strategy is Ordering.ORDER:
        return [rows.column(name) for name in columns]
    ranks = [
        _ranks(joined(rows.column(name)), each, text_bytes=text_bytes)
        for name, each in zip(columns, bounds, strict=True)
    ]
    if strategy is Ordering.HILBERT:
        ranks = _hilbert_axes(ranks)
    words = np.concatenate(
        [
            _interleaved([rank[start : start + _ROWS_AT_ONCE] for rank in ranks])
            for start in range(0, max(rows.num_rows, 1), _ROWS_AT_ONCE)
        ]
    )
    signed = (words ^ _SIGN).view(np.int64)
    return [pa.chunked_array([pa.array(word)]) for word in np.ascontiguousarray(signed.T)]


def _ranks(array: ArrowArray, bounds: npt.NDArray[np.generic], *, text_bytes: int) -> Words:
    found = np.searchsorted(bounds, _comparable(_octets(array, text_bytes)))
    return np.minimum(found, (1 << _RANK_BITS) - 1).astype(np.uint64)


def _comparable(octets: Octets) -> npt.NDArray[np.generic]:
    """Bytes of a row each as something that NumPy compares as it does bytes."""
    width = octets.shape[1]
    values: npt.NDArray[np.generic] = octets.view(f"S{width}").reshape(-1)
    return values.view(">u8").astype(np.uint64) if width == WORD_BYTES else values


def _octets(array: ArrowArray, text_bytes: int) -> Octets:
    """Bytes of each value, whose order is that of the values; nulls are zeros."""
    if _is_text(array.type):
        return _text_octets(array, text_bytes)
    words = _number_words(array)
    if array.null_count:
        words[pc.is_null(array).to_numpy(zero_copy_only=False)] = 0
    return _octets_of_words(words)


def _octets_of_words(words: Words) -> Octets:
    return words.astype(">u8").view(np.uint8).reshape(-1, WORD_BYTES)


def _is_text(kind: pa.DataType) -> bool:
    return (
        pa.types.is_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
    )


def _is_number(kind: pa.DataType) -> bool:
    return (
        pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_temporal(kind)
        or pa.types.is_decimal(kind)
    )


def _text_octets(array: ArrowArray, count: int) -> Octets:
    """The first bytes of each text, shorter ones filled up with zeros."""
    text = pc.fill_null(array.cast(pa.large_binary()), b"")
    _, offsets_buffer, data_buffer = text.buffers()
    offsets = numbers_in(offsets_buffer, np.int64)[text.offset : text.offset + len(text) + 1]
    data = numbers_in(data_buffer, np.uint8)
    octets = np.zeros((len(text), count), np.uint8)
    for place in range(count):
        has = offsets[:-1] + place < offsets[1:]
        octets[has, place] = data[offsets[:-1][has] + place]
    return octets


def _number_words(array: ArrowArray) -> Words:
    """Unsigned words in the order of the values."""
    kind = array.type
    if pa.types.is_decimal(kind):
        if kind.precision > COMPACT_DECIMAL_PRECISION:
            return _number_words(array.cast(pa.float64()))
        halves = numbers_in(array.buffers()[1], np.int64)
        return _unsigned(halves[2 * array.offset : 2 * (array.offset + len(array)) : 2])
    if pa.types.is_floating(kind):
        values = np.asarray(_filled(array.cast(pa.float64())), np.float64)
        # All NaN are one, and so are both zeros.
        bits = np.where(np.isnan(values), np.nan, values + 0.0).view(np.int64)
        return _unsigned(np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits))
    if pa.types.is_temporal(kind):
        array = array.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    return _unsigned(_filled(array.cast(pa.int64())))


def _filled(array: ArrowArray) -> npt.NDArray[np.generic]:
    values: npt.NDArray[np.generic] = pc.fill_null(array, 0).to_numpy(zero_copy_only=False)
    return values


def _unsigned(values: npt.NDArray[np.generic]) -> Words:
    return np.ascontiguousarray(values, np.int64).view(np.uint64) ^ _SIGN


def _interleaved(ranks: Sequence[Words]) -> Words:
    """The first bit of every column, then the second of every column, and so on."""
    bits = [np.unpackbits(_octets_of_words(each), axis=1)[:, -_RANK_BITS:] for each in ranks]
    turns = np.stack(bits, axis=2).reshape(len(bits[0]), _RANK_BITS * len(bits))
    mixed = np.packbits(turns, axis=1)
    padded = np.zeros((len(mixed), -(-mixed.shape[1] // WORD_BYTES) * WORD_BYTES), np.uint8)
    padded[:, : mixed.shape[1]] = mixed
    return padded.view(">u8").astype(np.uint64)


def _hilbert_axes(axes: Sequence[Words]) -> list[Words]:
    """Coordinates as the words whose interleaved bits are the place on the Hilbert curve.

    J. Skilling, "Programming the Hilbert curve", 2004: from the highest bit on, what lies below is
    turned as the square of that bit asks; then Gray code is undone.
    """
    turned = [axis.copy() for axis in axes]
    for bit in range(_RANK_BITS - 1, 0, -1):
        below = np.uint64((1 << bit) - 1)
        for index in range(len(turned)):
            is_set = _has_bit(turned[index], bit)
            swapped = np.where(is_set, np.uint64(0), (turned[0] ^ turned[index]) & below)
            turned[index] ^= swapped
            turned[0] ^= np.where(is_set, below, swapped)
    for before, after in pairwise(range(len(turned))):
        turned[after] ^= turned[before]
    parity = np.zeros_like(turned[0])
    for bit in range(_RANK_BITS - 1, 0, -1):
        below = np.uint64((1 << bit) - 1)
        parity ^= np.where(_has_bit(turned[-1], bit), below, np.uint64(0))
    return [axis ^ parity for axis in turned]


def _has_bit(words: Words, bit: int) -> npt.NDArray[np.bool_]:
    is_set: npt.NDArray[np.bool_] = (words >> np.uint64(bit)) & np.uint64(1) == 1
    return is_set
