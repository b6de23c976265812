"""How columns become NumPy arrays whose order is the format's order of keys (format.md 11).

Every function takes the same column of *all* runs that will be compared, concatenated, because a
normalised value has a meaning only beside the others of one call.

Invariants: equal keys give equal words; a smaller key gives smaller words, compared from the first
word to the last; nulls are smallest.

The surprising thing: strings become fixed-width byte words where they are short, since NumPy then
sorts them without touching a Python object, and ranks in a dictionary where they are long.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowArray, ArrowChunks
from lakebed.format.binary_row.layout import numbers_in

SortWords = tuple[npt.NDArray[np.generic], ...]

# Wider strings cost more memory as padded words than as ranks in a dictionary.
_WORD_BYTES_MAX = 64


def sort_words(columns: Sequence[ArrowChunks]) -> SortWords:
    """Arrays that sort, first one first, as rows of the columns do.

    Args:
        columns: The columns of a key, most significant first, of equal length.

    Returns:
        One or more NumPy arrays of that length. Integer words are packed into one where the ranges
        of their values allow it.
    """
    words: list[npt.NDArray[np.generic]] = []
    for column in columns:
        words.extend(_column_words(column))
    return _packed(words)


def age_words(columns: Sequence[ArrowChunks], *, descending: bool) -> SortWords:
    """As `sort_words`; with `descending` greater values sort first, but nulls stay smallest."""
    if not descending or not columns:
        return sort_words(columns) if columns else ()
    return tuple(_descending_ranks(column) for column in columns)


def dense_ranks(words: SortWords) -> npt.NDArray[np.int64]:
    """Rank of each row among the distinct rows of words, from 0."""
    if len(words[0]) == 0:
        return np.empty(0, np.int64)
    order = np.lexsort(words[::-1])
    changes = np.zeros(len(order), np.int64)
    for word in words:
        in_order = word[order]
        changes[1:] |= in_order[1:] != in_order[:-1]
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.cumsum(changes)
    return ranks


def _descending_ranks(column: ArrowChunks) -> npt.NDArray[np.int64]:
    ranks = -dense_ranks(tuple(_column_words(column)))
    if column.null_count and len(ranks):
        ranks[~_numpy(pc.is_valid(column)).astype(np.bool_)] = ranks.min() - 1
    return ranks


def _column_words(column: ArrowChunks) -> list[npt.NDArray[np.generic]]:
    words: list[npt.NDArray[np.generic]] = []
    if column.null_count:
        words.append(_numpy(pc.is_valid(column)).astype(np.int8))
    words.extend(_value_words(column))
    if column.null_count:
        words[1:] = [np.where(words[0] == 0, _zero(word), word) for word in words[1:]]
    return words


def _zero(word: npt.NDArray[np.generic]) -> np.generic:
    zero: np.generic = np.zeros(1, dtype=word.dtype)[0]
    return zero


def _value_words(column: ArrowChunks) -> list[npt.NDArray[np.generic]]:
    kind = column.type
    if pa.types.is_boolean(kind):
        return [_numpy(pc.cast(column, pa.int8()))]
    if pa.types.is_integer(kind):
        return [_numpy(column)]
    if pa.types.is_temporal(kind):
        physical = pa.int32() if kind.bit_width == 32 else pa.int64()
        return [_numpy(pa.chunked_array([c.view(physical) for c in column.chunks], physical))]
    if pa.types.is_floating(kind):
        return [_float_word(_numpy(column))]
    if pa.types.is_decimal(kind):
        return _decimal_words(column)
    return _bytes_words(column)


def _numpy(column: ArrowChunks) -> npt.NDArray[np.generic]:
    if column.null_count:
        zero = pa.scalar(0, column.type) if not pa.types.is_boolean(column.type) else False
        column = pc.fill_null(column, zero)
    values: npt.NDArray[np.generic] = column.to_numpy()
    return values


def _float_word(values: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """Bits of IEEE numbers as integers in the order -inf .. -0.0, 0.0 .. inf, NaN."""
    width = values.dtype.itemsize
    integer = np.dtype(f"i{width}")
    bits = np.where(np.isnan(values), np.array(np.nan, values.dtype), values).view(integer)
    flipped: npt.NDArray[np.generic] = np.where(bits < 0, bits ^ np.iinfo(integer).max, bits)
    return flipped


def _decimal_words(column: ArrowChunks) -> list[npt.NDArray[np.generic]]:
    """The 16 bytes of a decimal128: signed high half, then unsigned low half."""
    halves = np.concatenate(
        [
            numbers_in(chunk.buffers()[1], np.int64)[
                2 * chunk.offset : 2 * (chunk.offset + len(chunk))
            ].reshape(-1, 2)
            for chunk in column.chunks
        ]
        or [np.empty((0, 2), np.int64)]
    )
    low, high = halves[:, 0], halves[:, 1]
    if np.array_equal(high, low >> 63):
        return [low]
    return [high, low.view(np.uint64)]


def _bytes_words(column: ArrowChunks) -> list[npt.NDArray[np.generic]]:
    if len(column) == 0:
        return [np.empty(0, np.int64)]
    binary = pc.fill_null(column.cast(pa.large_binary()), b"")
    width = pc.max(pc.binary_length(binary)).as_py() or 1
    if width > _WORD_BYTES_MAX or _has_trailing_zero(binary):
        return [_dictionary_ranks(binary)]
    padded = pc.ascii_rpad(
        pa.chunked_array([c.view(pa.large_string()) for c in binary.chunks], pa.large_string()),
        width=width,
        padding="\0",
    )
    views = [_fixed_width_view(chunk, width) for chunk in padded.chunks]
    return [np.concatenate(views)]


def _has_trailing_zero(column: ArrowChunks) -> bool:
    """NumPy's fixed-width bytes drop trailing zero bytes, so such values need ranks."""
    return bool(pc.any(pc.ends_with(column, b"\0")).as_py())


def _fixed_width_view(chunk: ArrowArray, width: int) -> npt.NDArray[np.generic]:
    data = numbers_in(chunk.buffers()[2], np.uint8)
    start = numbers_in(chunk.buffers()[1], np.int64)[chunk.offset]
    rows: npt.NDArray[np.generic] = data[start : start + len(chunk) * width].view(f"S{width}")
    return rows


def _dictionary_ranks(column: ArrowChunks) -> npt.NDArray[np.generic]:
    encoded = pc.dictionary_encode(column).unify_dictionaries().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0)
    ranks = np.empty(len(encoded.dictionary), np.int64)
    ranks[pc.sort_indices(encoded.dictionary).to_numpy()] = np.arange(len(ranks))
    result: npt.NDArray[np.generic] = ranks[encoded.indices.to_numpy()]
    return result


def _packed(words: list[npt.NDArray[np.generic]]) -> SortWords:
    """Several integer words as one, where all their ranges together fit 63 bits."""
    if len(words) < 2 or len(words[0]) == 0 or any(w.dtype.kind not in "iu" for w in words):
        return tuple(words)
    lows = [int(word.min()) for word in words]
    bits = [(int(word.max()) - low).bit_length() for word, low in zip(words, lows, strict=True)]
    if sum(bits) > 63:
        return tuple(words)
    packed = np.zeros(len(words[0]), np.int64)
    for word, low, width in zip(words, lows, bits, strict=True):
        if word.dtype.kind == "u":
            above = (word.astype(np.uint64) - np.uint64(low)).astype(np.int64)
        else:
            above = word.astype(np.int64) - low
        packed = (packed << width) | above
    return (packed,)
