"""Which bucket a row belongs to (format.md 9).

Three functions say so (`bucket-function.type`), all from the columns of the bucket key:

- ``default``: murmur3 of the BinaryRow, then Java's truncated remainder, without its sign;
- ``mod``: the floored remainder of one INT or BIGINT;
- ``hive``: Hive's hash of each value, joined as 31 * h + hash, then the remainder of 31 bits.

The surprising thing: the row is built with the types of the table, so the same number as INT and as
BIGINT may lie in different buckets.
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from lakebed.errors import InvalidArgumentError, UnsupportedError
from lakebed.format.arrow.typing import ArrowArray, ArrowColumn
from lakebed.format.binary_row.codec import encode_rows
from lakebed.format.binary_row.layout import Positions, byte_positions, numbers_in, one_array
from lakebed.format.hive_hash import hive_hashes
from lakebed.format.types import AtomicType, DataType, TypeRoot

Hashes = npt.NDArray[np.int32]
Buckets = npt.NDArray[np.int32]

_SEED = 42
_BLOCK_BYTES = 4
_ROWS_AT_ONCE = 1 << 16  # so that hashes and blocks of all steps stay in the processor's cache


def assign_buckets(
    columns: Sequence[ArrowColumn],
    types: Sequence[DataType],
    *,
    total_buckets: int,
    function: str = "default",
) -> Buckets:
    """The bucket of every row, from the columns of the bucket key.

    Args:
        columns: The bucket key's columns, in its order.
        types: Their types in the table.
        total_buckets: How many buckets the partition has.
        function: The value of `bucket-function.type`: ``default``, ``mod`` or ``hive``.

    Raises:
        InvalidArgumentError: An unknown function, a count below 1, or columns that do not fit.
        UnsupportedError: A type that the function does not take.
    """
    if total_buckets < 1:
        raise InvalidArgumentError(f"{total_buckets} buckets hold no rows: give at least 1")
    chosen = _FUNCTIONS.get(function)
    if chosen is None:
        raise InvalidArgumentError(
            f"unknown bucket function {function!r}: use one of {', '.join(_FUNCTIONS)}"
        )
    return chosen(columns, types, total_buckets)


def hash_rows(rows: ArrowColumn) -> Hashes:
    """Murmur3 of every row; rows are BinaryRows without the arity prefix."""
    array = one_array(rows)
    offsets, data = byte_positions(array)
    lengths = np.diff(offsets)
    if (lengths % (2 * _BLOCK_BYTES)).any() or array.null_count:
        raise InvalidArgumentError(
            "hashes are of rows without nulls and without arity prefix: encode them with"
            " with_arity=False"
        )
    blocks = numbers_in(data, "<u4")
    starts, counts = offsets[:-1] // _BLOCK_BYTES, lengths // _BLOCK_BYTES
    hashes = np.empty(len(array), dtype=np.uint32)
    for first in range(0, len(array), _ROWS_AT_ONCE):
        window = slice(first, first + _ROWS_AT_ONCE)
        hashes[window] = _murmur(blocks, starts=starts[window], counts=counts[window])
    return hashes.view(np.int32)


def _murmur(
    blocks: npt.NDArray[np.uint32], *, starts: Positions, counts: Positions
) -> npt.NDArray[np.uint32]:
    """Mixes the k-th block of all rows that have one, for k = 0, 1, ...

    Longest rows go first, so that those which still have blocks are always a prefix.
    """
    order = np.argsort(-counts, kind="stable")
    starts, descending = starts[order], -counts[order]
    hashes = np.full(len(starts), _SEED, dtype=np.uint32)
    for index in range(int(-descending[0])):
        alive = int(np.searchsorted(descending, -index, side="left"))
        _mix(hashes[:alive], blocks[starts[:alive] + index])
    hashes ^= (-descending * _BLOCK_BYTES).astype(np.uint32)
    _avalanche(hashes)
    result = np.empty_like(hashes)
    result[order] = hashes
    return result


def _mix(hashes: npt.NDArray[np.uint32], blocks: npt.NDArray[np.uint32]) -> None:
    blocks *= np.uint32(0xCC9E2D51)
    blocks = _rotate_left(blocks, 15)
    blocks *= np.uint32(0x1B873593)
    hashes ^= blocks
    hashes[:] = _rotate_left(hashes, 13)
    hashes *= np.uint32(5)
    hashes += np.uint32(0xE6546B64)


def _avalanche(hashes: npt.NDArray[np.uint32]) -> None:
    hashes ^= hashes >> np.uint32(16)
    hashes *= np.uint32(0x85EBCA6B)
    hashes ^= hashes >> np.uint32(13)
    hashes *= np.uint32(0xC2B2AE35)
    hashes ^= hashes >> np.uint32(16)


def _rotate_left(words: npt.NDArray[np.uint32], bits: int) -> npt.NDArray[np.uint32]:
    rotated: npt.NDArray[np.uint32] = words << np.uint32(bits) | words >> np.uint32(32 - bits)
    return rotated


def _default_buckets(
    columns: Sequence[ArrowColumn], types: Sequence[DataType], total_buckets: int
) -> Buckets:
    hashes = hash_rows(encode_rows(columns, types, with_arity=False))
    return np.abs(np.fmod(hashes, np.int32(total_buckets)))


def _mod_buckets(
    columns: Sequence[ArrowColumn], types: Sequence[DataType], total_buckets: int
) -> Buckets:
    kind = types[0] if len(types) == 1 else None
    if not isinstance(kind, AtomicType) or kind.root not in {TypeRoot.INT, TypeRoot.BIGINT}:
        raise UnsupportedError(
            "the bucket function 'mod' takes a bucket key of one INT or BIGINT column: choose"
            " such a key or the function 'default'"
        )
    array: ArrowArray = one_array(columns[0])
    values: npt.NDArray[np.signedinteger] = array.fill_null(0).to_numpy()
    buckets: Buckets = np.mod(values, total_buckets).astype(np.int32)
    return buckets


def _hive_buckets(
    columns: Sequence[ArrowColumn], types: Sequence[DataType], total_buckets: int
) -> Buckets:
    hashes = hive_hashes([one_array(column) for column in columns], types)
    return ((hashes & np.uint32(0x7FFFFFFF)) % np.uint32(total_buckets)).astype(np.int32)


_FUNCTIONS: dict[str, Callable[[Sequence[ArrowColumn], Sequence[DataType], int], Buckets]] = {
    "default": _default_buckets,
    "mod": _mod_buckets,
    "hive": _hive_buckets,
}
