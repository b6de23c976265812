"""From deleted rows to deletion vectors, and from these to an index file (format.md 13)."""

import struct
import zlib
from collections.abc import Mapping

import numpy as np

from lakebed.errors import UnsupportedError
from lakebed.format.deletion_vector import (
    FILE_VERSION,
    FRAME_BYTES,
    MAGIC_32,
    MAGIC_64,
    EncodedVector,
)
from lakebed.format.index_manifest import DeletionVectorRange
from lakebed.format.roaring_bitmap import Positions
from lakebed.format.roaring_writing import bitmap_bytes

_POSITION_MAX_32 = 2**31 - 1
_LOW_BITS = 32


def encode_deletion_vector(
    positions: Positions, *, data_file: str, is_64_bit: bool
) -> EncodedVector:
    """The vector of some rows of a data file.

    Args:
        positions: The rows, ascending, each once.
        data_file: The data file, for the message.
        is_64_bit: `deletion-vectors.bitmap64`.

    Raises:
        UnsupportedError: A row is too far back for the 32-bit form.
    """
    if is_64_bit:
        body = MAGIC_64 + _bitmaps_64(positions)
    elif len(positions) and positions[-1] > _POSITION_MAX_32:
        raise UnsupportedError(
            f"{data_file}: row {positions[-1]} cannot be marked deleted by a bitmap of 32 bits; "
            "set deletion-vectors.bitmap64=true"
        )
    else:
        body = MAGIC_32 + bitmap_bytes(positions)
    data = struct.pack(">i", len(body)) + body + struct.pack(">I", zlib.crc32(body))
    length = len(body) + FRAME_BYTES if is_64_bit else len(body)
    return EncodedVector(data=data, length=length, cardinality=len(positions))


def index_file_of(
    vectors: Mapping[str, EncodedVector],
) -> tuple[bytes, tuple[DeletionVectorRange, ...]]:
    """An index file, and where each data file's vector stands in it.

    Args:
        vectors: The vectors by the name of their data file.
    """
    parts, ranges, offset = [FILE_VERSION], [], len(FILE_VERSION)
    for name, vector in vectors.items():
        parts.append(vector.data)
        ranges.append(
            DeletionVectorRange(
                data_file_name=name,
                offset=offset,
                length=vector.length,
                cardinality=vector.cardinality,
            )
        )
        offset += len(vector.data)
    return b"".join(parts), tuple(ranges)


def _bitmaps_64(positions: Positions) -> bytes:
    """A bitmap for each high half up to the greatest, those that have no row too."""
    highs = positions >> _LOW_BITS
    count = int(highs[-1]) + 1 if len(positions) else 0
    cuts = np.searchsorted(highs, np.arange(1, count))
    parts = [struct.pack("<q", count)]
    for high, of_high in enumerate(np.split(positions, cuts) if count else []):
        parts += [struct.pack("<i", high), bitmap_bytes(of_high & (2**_LOW_BITS - 1))]
    return b"".join(parts)
