"""What Hive's hash of a row of atomic values is (format.md 9, bucket function `hive`).

All arithmetic wraps at 32 bits. A null hashes to 0. Text and bytes are the polynomial of their
*signed* bytes in 31; a decimal hashes without its trailing zeros, so 1.50 and 1.5 are one.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import UnsupportedError
from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.binary_row.layout import (
    BYTES_ROOTS,
    TIMESTAMP_ROOTS,
    Words,
    atomic_types,
    byte_positions,
    numbers_in,
)
from lakebed.format.types import AtomicType, DataType, TypeRoot

HiveHashes = npt.NDArray[np.uint32]

_FACTOR = np.uint32(31)
_LIMB_BITS = np.uint64(32)
_LIMB_MASK = np.uint64(0xFFFFFFFF)


def hive_hashes(columns: Sequence[ArrowArray], types: Sequence[DataType]) -> HiveHashes:
    """The hash of every row.

    Raises:
        UnsupportedError: A type that Hive's buckets do not know.
    """
    hashes = np.zeros(len(columns[0]), dtype=np.uint32)
    for column, kind in zip(columns, atomic_types(types), strict=True):
        hashes = hashes * _FACTOR + _column_hashes(column, kind)
    return hashes


def _column_hashes(column: ArrowArray, kind: AtomicType) -> HiveHashes:
    if kind.root in TIMESTAMP_ROOTS:
        raise UnsupportedError(
            f"the bucket function 'hive' takes no {kind.root.value}: choose another bucket key or"
            " the function 'default'"
        )
    if kind.root in BYTES_ROOTS:
        hashes = _bytes_hashes(column)
    elif kind.root is TypeRoot.DECIMAL:
        hashes = _decimal_hashes(column, kind)
    else:
        hashes = _number_hashes(column)
    if column.null_count:
        hashes[column.is_null().to_numpy(zero_copy_only=False)] = 0
    return hashes


def _number_hashes(column: ArrowArray) -> HiveHashes:
    if pa.types.is_floating(column.type):
        return _bits_hashes(_canonical_bits(column.fill_null(0).to_numpy()))
    if pa.types.is_temporal(column.type):
        column = column.view(pa.int32())
    elif pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    return _bits_hashes(column.fill_null(0).to_numpy().astype(_integer_width(column)))


def _integer_width(column: ArrowArray) -> npt.DTypeLike:
    return np.int64 if pa.types.is_int64(column.type) else np.int32


def _bits_hashes(bits: npt.NDArray[np.signedinteger]) -> HiveHashes:
    if bits.dtype.itemsize == 4:
        return bits.astype(np.int32).view(np.uint32)
    wide = bits.view(np.uint64)
    return (wide ^ (wide >> _LIMB_BITS)).astype(np.uint32)


def _canonical_bits(values: npt.NDArray[np.floating]) -> npt.NDArray[np.signedinteger]:
    """The bits of floats, with one NaN; -0.0 needs no care, as buckets drop the highest bit."""
    plain = np.where(np.isnan(values), np.nan, values).astype(values.dtype)
    return plain.view(np.dtype(f"i{values.dtype.itemsize}"))


def _bytes_hashes(column: ArrowArray) -> HiveHashes:
    offsets, data = byte_positions(column)
    values = numbers_in(data, np.int8).astype(np.int32).view(np.uint32)
    lengths = np.diff(offsets)
    powers = np.ones(int(lengths.max(initial=0)) + 1, dtype=np.uint32)
    np.cumprod(np.full(len(powers) - 1, _FACTOR), dtype=np.uint32, out=powers[1:])
    exponents = np.repeat(offsets[1:], lengths) - np.arange(len(values)) - 1
    sums = np.zeros(len(values) + 1, dtype=np.uint32)
    np.cumsum(values * powers[exponents], dtype=np.uint32, out=sums[1:])
    return sums[offsets[1:]] - sums[offsets[:-1]]


def _decimal_hashes(column: ArrowArray, kind: AtomicType) -> HiveHashes:
    limbs, negative = _magnitude_limbs(column)
    scales = np.full(len(column), kind.scale or 0, dtype=np.uint32)
    for _ in range(kind.scale or 0):
        quotient, rest = _divide_by_ten(limbs)
        strips = (rest == 0) & (scales > 0)
        limbs = np.where(strips, quotient, limbs)
        scales -= strips
    hashes = np.zeros(len(column), dtype=np.uint32)
    for limb in limbs:
        hashes = hashes * _FACTOR + limb.astype(np.uint32)
    hashes = np.where(negative, np.uint32(0) - hashes, hashes)
    return hashes * _FACTOR + scales


def _magnitude_limbs(column: ArrowArray) -> tuple[Words, npt.NDArray[np.bool_]]:
    """Absolute unscaled values as four 32-bit limbs, highest first, and which are below zero."""
    stored = numbers_in(column.buffers()[1], "<u8").reshape(-1, 2)
    pairs = stored[column.offset : column.offset + len(column)]
    negative = pairs[:, 1] >> np.uint64(63) != 0
    flip = np.where(negative, np.uint64(2**64 - 1), np.uint64(0))
    low, high = pairs[:, 0] ^ flip, pairs[:, 1] ^ flip
    low = low + negative
    high = high + (negative & (low == 0))
    halves = [high >> _LIMB_BITS, high & _LIMB_MASK, low >> _LIMB_BITS, low & _LIMB_MASK]
    return np.stack(halves), negative


def _divide_by_ten(limbs: Words) -> tuple[Words, Words]:
    quotient = np.empty_like(limbs)
    rest = np.zeros(limbs.shape[1], dtype=np.uint64)
    for index, limb in enumerate(limbs):
        quotient[index], rest = np.divmod(rest << _LIMB_BITS | limb, np.uint64(10))
    return quotient, rest
