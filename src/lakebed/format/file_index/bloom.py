"""Which values may a data file hold, going by a bloom filter of a column (format.md 14)?

    | count of hashes, big-endian | bits, least significant first |

A value sets one bit for each hash; where one of its bits is not set, the file does not hold it.
Nulls are not in the filter.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lakebed.errors import CorruptTableError
from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.file_index.byte_cursor import ByteCursor
from lakebed.format.file_index.stored_values import STORED_NUMBERS, stored_integers
from lakebed.format.types import AtomicType, TypeRoot
from lakebed.format.xx_hash import text_hashes

__all__ = ["BLOOM_FILTER", "BloomFilter", "bloom_hashes", "bloom_places", "is_bloom_type"]

BLOOM_FILTER = "bloom-filter"

Hashes = npt.NDArray[np.int64]

_BYTES_ROOTS = frozenset({TypeRoot.CHAR, TypeRoot.VARCHAR, TypeRoot.BINARY, TypeRoot.VARBINARY})
_WITHOUT_HASH = frozenset({TypeRoot.BOOLEAN, TypeRoot.DECIMAL})
_FLOAT_BITS = {TypeRoot.FLOAT: np.int32, TypeRoot.DOUBLE: np.int64}


@dataclass(frozen=True, slots=True, kw_only=True)
class BloomFilter:
    """A filter over the values of one column in one file.

    Attributes:
        hash_count: How many bits a value sets.
        bits: The bits, eight a number.
    """

    hash_count: int
    bits: npt.NDArray[np.uint8]

    @classmethod
    def parse(cls, data: bytes, path: str) -> "BloomFilter":
        """A filter from the bytes of the index.

        Raises:
            CorruptTableError: They are none.
        """
        cursor = ByteCursor(data=data, path=path, what="a bloom filter")
        hash_count = cursor.int32()
        bits = np.frombuffer(data, dtype=np.uint8, offset=cursor.position)
        if hash_count < 1 or not len(bits):
            problem = f"a bloom filter has {hash_count} hashes and {len(bits)} bytes"
            raise CorruptTableError(path, problem)
        return cls(hash_count=hash_count, bits=bits)

    def may_hold(self, hashes: Hashes) -> npt.NDArray[np.bool_]:
        """Which of some values may be in the file, by their `bloom_hashes`."""
        found = np.ones(len(hashes), dtype=np.bool_)
        for places in bloom_places(hashes, self.hash_count, 8 * len(self.bits)):
            found &= (self.bits[places >> 3] >> (places & 7).astype(np.uint8)) & 1 == 1
            if not found.any():
                break
        return found


def bloom_places(hashes: Hashes, hash_count: int, bit_count: int) -> Iterator[Hashes]:
    """The first bit that each value sets, then the second one and so on."""
    combined, high = hashes.astype(np.int32), (hashes >> np.int64(32)).astype(np.int32)
    for _ in range(hash_count):
        combined = combined + high  # 32 bits, wrapping
        yield np.where(combined < 0, ~combined, combined).astype(np.int64) % bit_count


def is_bloom_type(kind: AtomicType) -> bool:
    """Whether values of a type can be in a bloom filter."""
    return kind.root in _BYTES_ROOTS or (
        kind.root in STORED_NUMBERS and kind.root not in _WITHOUT_HASH
    )


def bloom_hashes(values: ArrowArray, kind: AtomicType) -> Hashes | None:
    """The 64-bit hashes of values without nulls; None for a type that has none."""
    if kind.root in _BYTES_ROOTS:
        return text_hashes(values)
    if kind.root in _FLOAT_BITS:
        floats = values.to_numpy(zero_copy_only=False).copy()
        floats[np.isnan(floats)] = np.nan  # of all that are NaN, the bits of the canonical one
        return _mixed(floats.view(_FLOAT_BITS[kind.root]).astype(np.int64))
    if kind.root in _WITHOUT_HASH:
        return None
    integers = stored_integers(values, kind)
    return None if integers is None else _mixed(integers)


def _mixed(keys: Hashes) -> Hashes:
    """Thomas Wang's mix of a 64-bit number, with shifts to the right that keep the sign."""
    keys = ~keys + (keys << 21)
    keys ^= keys >> 24
    keys = keys + (keys << 3) + (keys << 8)
    keys ^= keys >> 14
    keys = keys + (keys << 2) + (keys << 4)
    keys ^= keys >> 28
    return keys + (keys << 31)
