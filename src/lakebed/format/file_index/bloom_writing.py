"""How is a bloom filter made of the values of a column (format.md 14)?

Its size follows from how many values are expected and how often a value that is not in the file
may be taken for one that is.
"""

import math

import numpy as np

from lakebed.format.arrow.typing import ArrowColumn
from lakebed.format.file_index.bloom import bloom_hashes, bloom_places
from lakebed.format.file_index.distinct_values import chunks_of
from lakebed.format.types import AtomicType

__all__ = ["BloomFilterBuilder", "bloom_size"]

_INT_MAX = 2**31 - 1
_BATCH_ROWS = 1 << 16


class BloomFilterBuilder:
    """Gathers the values of a column."""

    def __init__(self, kind: AtomicType, *, items: int, fpp: float) -> None:
        """Begins with no values.

        Args:
            kind: A type that has hashes.
            items: How many distinct values are expected.
            fpp: The share of other values that may be taken for one of them.
        """
        self._kind = kind
        bit_count, self._hash_count = bloom_size(items, fpp)
        self._bits = np.zeros(bit_count, dtype=np.bool_)

    def add(self, column: ArrowColumn) -> None:
        """Takes the values of the next rows."""
        for chunk in chunks_of(column, self._kind):
            values = chunk.drop_null()
            for begin in range(0, len(values), _BATCH_ROWS):
                hashes = bloom_hashes(values.slice(begin, _BATCH_ROWS), self._kind)
                assert hashes is not None, self._kind
                for places in bloom_places(hashes, self._hash_count, len(self._bits)):
                    self._bits[places] = True

    def finish(self) -> bytes:
        """The index."""
        bits = np.packbits(self._bits, bitorder="little")
        return self._hash_count.to_bytes(4, "big") + bits.tobytes()


def bloom_size(items: int, fpp: float) -> tuple[int, int]:
    """How many bits a filter has, a multiple of 8, and how many of them a value sets."""
    # The format's writers cut what exceeds 31 bits, and add a byte to whole bytes too.
    bits = min(int(-items * math.log(fpp) / (math.log(2) * math.log(2))), _INT_MAX - 8)
    bits += 8 - bits % 8
    return bits, max(1, math.floor(bits / items * math.log(2) + 0.5))
