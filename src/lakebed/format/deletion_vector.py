"""Which rows of a data file are marked deleted (format.md 13)?

Two forms, told apart by their magic number:

    32-bit | size, big-endian | magic, big-endian | bitmap | checksum |
    64-bit | size, big-endian | magic, little-endian | count | (high half, bitmap) ... | checksum |

Size and checksum are of magic and bitmap. The surprising thing: the index manifest counts the
length without size and checksum in the 32-bit form, and with them in the 64-bit one.

An index file begins with its version, a byte; then come the vectors of any number of data files.
"""

import struct
import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lakebed.errors import CorruptTableError
from lakebed.format.roaring_bitmap import Bytes, Positions, bitmap_length, bitmap_positions
from lakebed.storage.file_io import FileIO

MAGIC_32 = struct.pack(">i", 1581511376)
MAGIC_64 = struct.pack("<i", 1681511377)
FILE_VERSION = b"\1"
FRAME_BYTES = 8
"""What size and checksum take."""
_SIZE_BYTES = 4
_CHECKSUM_BYTES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionVectorRef:
    """Where the deletion vector of one data file stands.

    Attributes:
        path: Full path of the index file that holds it.
        offset: Where in that file it begins, in bytes.
        length: Its bytes, as the index manifest counts them.
        cardinality: How many rows it marks; None where the writer did not say.
    """

    path: str
    offset: int
    length: int
    cardinality: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedVector:
    """A deletion vector as it stands in an index file.

    Attributes:
        data: Its bytes, from size to checksum.
        length: Its bytes, as the index manifest counts them.
        cardinality: How many rows it marks; None where its writer did not say.
    """

    data: bytes
    length: int
    cardinality: int | None


def read_deletion_vector(
    file_io: FileIO, ref: DeletionVectorRef, *, data_file: str, row_count: int
) -> npt.NDArray[np.bool_]:
    """Which rows are deleted, by their position in the data file.

    Args:
        file_io: The store.
        ref: Where the vector stands; just its bytes are read.
        data_file: The data file, for messages.
        row_count: How many rows the data file has.

    Returns:
        One flag a row, True where it is deleted.

    Raises:
        CorruptTableError: The bytes are no deletion vector of that length, or contradict their
            checksum, the cardinality of the manifest or the number of rows.
        NotFoundError: The index file is missing.
    """
    _check_place(ref, data_file)
    # In the 32-bit form the length leaves the frame out, so there are 8 bytes more; of the 64-bit
    # form this reads 8 too many.
    data = file_io.read_range(ref.path, offset=ref.offset, length=ref.length + FRAME_BYTES)
    try:
        magic, bitmaps = _checked(data, ref)
        read = _positions_64 if magic == MAGIC_64 else bitmap_positions
        positions = read(bitmaps, ref.path)
    except CorruptTableError as error:
        raise _corrupt(ref, data_file, error.problem) from error
    last = int(positions.max(initial=-1))
    if last >= row_count:
        raise _corrupt(ref, data_file, f"row {last} is marked, of {row_count} rows")
    if ref.cardinality is not None and ref.cardinality != len(positions):
        problem = f"{len(positions)} rows are marked, and the index manifest says {ref.cardinality}"
        raise _corrupt(ref, data_file, problem)
    deleted = np.zeros(row_count, dtype=np.bool_)
    deleted[positions] = True
    return deleted


def stored_vector(index_file: Bytes, ref: DeletionVectorRef, *, data_file: str) -> EncodedVector:
    """A vector of an index file, to be written again as it is.

    Args:
        index_file: The whole index file.
        ref: Where the vector stands in it.
        data_file: The data file, for messages.

    Raises:
        CorruptTableError: There is no deletion vector of that length, or it contradicts its
            checksum.
    """
    _check_place(ref, data_file)
    start = memoryview(index_file)[ref.offset :]
    try:
        magic, bitmaps = _checked(start, ref)
    except CorruptTableError as error:
        raise _corrupt(ref, data_file, error.problem) from error
    data = bytes(start[: len(magic) + len(bitmaps) + FRAME_BYTES])
    return EncodedVector(data=data, length=ref.length, cardinality=ref.cardinality)


def _check_place(ref: DeletionVectorRef, data_file: str) -> None:
    if ref.offset < 0 or ref.length < 0:
        raise _corrupt(ref, data_file, f"the index manifest gives it {ref.length} bytes")


def _corrupt(ref: DeletionVectorRef, data_file: str, problem: str) -> CorruptTableError:
    return CorruptTableError(
        ref.path, f"the deletion vector at byte {ref.offset}, of {data_file}: {problem}"
    )


def _checked(data: Bytes, ref: DeletionVectorRef) -> tuple[bytes, memoryview]:
    """The magic number of a vector, and its bitmap or bitmaps."""
    magic = bytes(data[_SIZE_BYTES : _SIZE_BYTES + len(MAGIC_32)])
    if len(magic) < len(MAGIC_32):
        raise CorruptTableError(ref.path, "it is cut off")
    if magic not in {MAGIC_32, MAGIC_64}:
        raise CorruptTableError(ref.path, f"its magic number is 0x{magic.hex()}, which none has")
    size = int.from_bytes(data[:_SIZE_BYTES], "big", signed=True)
    expected = ref.length if magic == MAGIC_32 else ref.length - FRAME_BYTES
    if size != expected or size < len(magic):
        raise CorruptTableError(ref.path, f"{expected} bytes were expected, and it has {size}")
    body = memoryview(data)[_SIZE_BYTES : _SIZE_BYTES + size]
    checksum = data[_SIZE_BYTES + size : FRAME_BYTES + size]
    if len(body) < size or len(checksum) < _CHECKSUM_BYTES:
        raise CorruptTableError(ref.path, "it is cut off")
    if zlib.crc32(body) != int.from_bytes(checksum, "big"):
        raise CorruptTableError(ref.path, "its checksum does not match")
    return magic, body[len(magic) :]


def _positions_64(data: memoryview, path: str) -> Positions:
    """The positions in bitmaps of their low halves, each after its high half."""
    count = int.from_bytes(data[:8], "little")
    parts = [np.empty(0, dtype=np.int64)]
    start = 8
    for _ in range(count):
        high = int.from_bytes(data[start : start + 4], "little")
        bitmap = data[start + 4 :]
        parts.append((np.int64(high) << np.int64(32)) + bitmap_positions(bitmap, path))
        start += 4 + bitmap_length(bitmap, path)
    return np.concatenate(parts)
