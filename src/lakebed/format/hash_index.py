"""Which keys does a dynamic bucket hold? The HASH index file says it (format.md 9, 12).

The hash of each key of the bucket, once, in no order, as big-endian integers of 4 bytes. The hash
is murmur3 of the key's BinaryRow, the one that chooses fixed buckets, so two keys of one hash are
always in one bucket.
"""

import numpy as np
import numpy.typing as npt

from lakebed.errors import CorruptTableError

Hashes = npt.NDArray[np.int32]

HASH_INDEX = "HASH"
BUCKET_MAX = 32766
"""The greatest dynamic bucket that the format knows."""

_STORED = np.dtype(">i4")


def encode_hashes(hashes: Hashes) -> bytes:
    """The bytes of a file."""
    return hashes.astype(_STORED).tobytes()


def decode_hashes(data: bytes, path: str) -> Hashes:
    """The hashes of a file.

    Args:
        data: Its bytes.
        path: The file, for the message.

    Raises:
        CorruptTableError: The bytes are no whole number of hashes.
    """
    if len(data) % _STORED.itemsize:
        raise CorruptTableError(
            path, f"a hash index has {_STORED.itemsize} bytes a key, this one {len(data)} in all"
        )
    return np.frombuffer(data, _STORED).astype(np.int32)
