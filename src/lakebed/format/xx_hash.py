"""What is the 64-bit xxHash of each of many texts, with seed 0?

The texts go through the algorithm together: all take their first word, then all that have a second
one take that, and so on. A few thousand texts at a time, so that what is computed stays in the
processor's cache. Very long texts, where a call costs little against the bytes, go one by one.
"""

import numpy as np
import numpy.typing as npt
import xxhash

from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.binary_row.layout import numbers_in

__all__ = ["text_hashes"]

Words = npt.NDArray[np.uint64]
Positions = npt.NDArray[np.int64]

_PRIME_1 = np.uint64(0x9E3779B185EBCA87)
_PRIME_2 = np.uint64(0xC2B2AE3D27D4EB4F)
_PRIME_3 = np.uint64(0x165667B19E3779F9)
_PRIME_4 = np.uint64(0x85EBCA77C2B2AE63)
_PRIME_5 = np.uint64(0x27D4EB2F165667C5)
# Of seed 0: prime 1 + prime 2, prime 2, zero, and minus prime 1, in 64 bits.
_LANES = (0x60EA27EEADC0B5D6, 0xC2B2AE3D27D4EB4F, 0, 0x61C8864E7A143579)
_STRIPE_BYTES = 32
_LANE_ROTATIONS = (1, 7, 12, 18)

_TOGETHER_BYTES_MAX = 1024
_BATCH_ROWS = 1 << 13


def text_hashes(values: ArrowArray) -> npt.NDArray[np.int64]:
    """The hashes of texts or bytes without nulls, their 64 bits as signed numbers."""
    offsets_buffer, data_buffer = values.buffers()[1:3]
    offsets = numbers_in(offsets_buffer, np.int32).astype(np.int64)
    offsets = offsets[values.offset : values.offset + len(values) + 1]
    data = numbers_in(data_buffer, np.uint8)
    found = np.empty(len(values), dtype=np.uint64)
    for begin in range(0, len(values), _BATCH_ROWS):
        bounds = offsets[begin : begin + _BATCH_ROWS + 1]
        part = data[bounds[0] : bounds[-1]]
        found[begin : begin + _BATCH_ROWS] = _hashes(part, bounds - bounds[0])
    return found.view(np.int64)


def _hashes(data: npt.NDArray[np.uint8], bounds: Positions) -> Words:
    starts, sizes = bounds[:-1], np.diff(bounds)
    found = np.empty(len(sizes), dtype=np.uint64)
    is_long = sizes > _TOGETHER_BYTES_MAX
    for row in np.flatnonzero(is_long).tolist():
        found[row] = xxhash.xxh64_intdigest(data[bounds[row] : bounds[row + 1]].data)
    if is_long.any():
        together = ~is_long
        found[together] = _hashes_together(data, starts[together], sizes[together])
        return found
    return _hashes_together(data, starts, sizes)


def _hashes_together(data: npt.NDArray[np.uint8], starts: Positions, sizes: Positions) -> Words:
    padded = np.concatenate([data, np.zeros(8, dtype=np.uint8)])
    # A word at every byte, not copied.
    words = np.ndarray((len(data) + 1,), "<u8", buffer=padded.data, strides=(1,))
    stripes = sizes // _STRIPE_BYTES
    hashes = np.full(len(sizes), _PRIME_5)
    striped = np.flatnonzero(stripes)
    hashes[striped] = _striped(words, starts[striped], stripes[striped])
    hashes += sizes.astype(np.uint64)
    places, rest = starts + _STRIPE_BYTES * stripes, sizes % _STRIPE_BYTES
    for step in range(3):
        rows = np.flatnonzero(rest >> 3 > step)
        word = _round(np.uint64(0), words[places[rows] + 8 * step])
        hashes[rows] = _rotated(hashes[rows] ^ word, 27) * _PRIME_1 + _PRIME_4
    places, rest = places + (rest & ~7), rest & 7
    rows = np.flatnonzero(rest & 4)
    half = words[places[rows]] & np.uint64(0xFFFFFFFF)
    hashes[rows] = _rotated(hashes[rows] ^ half * _PRIME_1, 23) * _PRIME_2 + _PRIME_3
    places, rest = places + (rest & 4), rest & 3
    for step in range(3):
        rows = np.flatnonzero(rest > step)
        byte = padded[places[rows] + step].astype(np.uint64)
        hashes[rows] = _rotated(hashes[rows] ^ byte * _PRIME_5, 11) * _PRIME_1
    hashes = (hashes ^ hashes >> np.uint64(33)) * _PRIME_2
    hashes = (hashes ^ hashes >> np.uint64(29)) * _PRIME_3
    return hashes ^ hashes >> np.uint64(32)


def _striped(words: Words, starts: Positions, stripes: Positions) -> Words:
    """What the first 32 bytes, the next and so on make, of texts that have them."""
    lanes = [np.full(len(starts), lane, dtype=np.uint64) for lane in _LANES]
    for stripe in range(int(stripes.max(initial=0))):
        rows = np.flatnonzero(stripes > stripe)
        places = starts[rows] + _STRIPE_BYTES * stripe
        for number, lane in enumerate(lanes):
            lane[rows] = _round(lane[rows], words[places + 8 * number])
    hashes = np.zeros(len(starts), dtype=np.uint64)
    for lane, rotation in zip(lanes, _LANE_ROTATIONS, strict=True):
        hashes += _rotated(lane, rotation)
    for lane in lanes:
        hashes = (hashes ^ _round(np.uint64(0), lane)) * _PRIME_1 + _PRIME_4
    return hashes


def _round(lane: Words | np.uint64, words: Words) -> Words:
    return _rotated(lane + words * _PRIME_2, 31) * _PRIME_1


def _rotated(words: Words, bits: int) -> Words:
    return words << np.uint64(bits) | words >> np.uint64(64 - bits)
