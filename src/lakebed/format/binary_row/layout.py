"""Where the parts of a BinaryRow lie, and how Arrow holds its values (format.md 8).

    | header: row kind, null bits | slot 0 | slot 1 | ... | variable part of 0 | of 1 | ...
      8 bytes for up to 56 fields   8 bytes each            each padded to 8 bytes

Everything is little-endian and a multiple of 8 bytes long, so both codecs work on 64-bit words.
Bit i + 8 of the header says that field i is null; byte 0 is the row kind, always +I here.
"""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import UnsupportedError
from lakebed.format.arrow.typing import ArrowArray, ArrowColumn
from lakebed.format.types import AtomicType, DataType, TypeRoot

WORD_BYTES = 8
ARITY_BYTES = 4
HEADER_BITS = 8
INLINE_BYTES_MAX = 7
"""Text and bytes up to here live in the slot itself."""
COMPACT_DECIMAL_PRECISION = 18
COMPACT_TIMESTAMP_PRECISION = 3

Words = npt.NDArray[np.uint64]
Positions = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_NOT_IN_ROWS = frozenset({TypeRoot.VARIANT, TypeRoot.BLOB})
BYTES_ROOTS = frozenset({TypeRoot.CHAR, TypeRoot.VARCHAR, TypeRoot.BINARY, TypeRoot.VARBINARY})
TEXT_ROOTS = frozenset({TypeRoot.CHAR, TypeRoot.VARCHAR})
TIMESTAMP_ROOTS = frozenset({TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ})


def atomic_types(types: Sequence[DataType]) -> list[AtomicType]:
    """The types again, all of which a BinaryRow can hold here.

    Raises:
        UnsupportedError: A nested type, VARIANT or BLOB; keys, partitions and bounds have none.
    """
    return [_atomic_type(kind) for kind in types]


def is_compact(kind: AtomicType) -> bool:
    """Whether a DECIMAL or TIMESTAMP lies in its slot, not in the variable part."""
    limit = (
        COMPACT_DECIMAL_PRECISION if kind.root is TypeRoot.DECIMAL else COMPACT_TIMESTAMP_PRECISION
    )
    return (kind.precision or 0) <= limit


def header_word_count(arity: int) -> int:
    """How many words row kind and null bits take."""
    return (arity + 63 + HEADER_BITS) // 64


def null_bit(index: int) -> tuple[int, int]:
    """Word and bit in the header that say whether field `index` is null."""
    return divmod(index + HEADER_BITS, 64)


def one_array(column: ArrowColumn) -> ArrowArray:
    """The column in one piece; text and bytes of several chunks get 64-bit offsets."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks != 1:
        if pa.types.is_string(column.type):
            column = column.cast(pa.large_string())
        elif pa.types.is_binary(column.type):
            column = column.cast(pa.large_binary())
    return column.combine_chunks()


def numbers_in(buffer: pa.Buffer | None, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """The buffer as numbers, not copied."""
    return np.frombuffer(cast("memoryview", b"" if buffer is None else buffer), dtype=dtype)


def buffer_of(numbers: npt.NDArray[Any]) -> pa.Buffer:
    """Contiguous numbers as an Arrow buffer, not copied."""
    return pa.py_buffer(numbers.data)


def padded_bytes(buffer: pa.Buffer | None) -> npt.NDArray[np.uint8]:
    """The bytes with one word of zeros after them, so that a word can be read at any of them."""
    data = numbers_in(buffer, np.uint8)
    padded = np.zeros(len(data) + WORD_BYTES, dtype=np.uint8)
    padded[: len(data)] = data
    return padded


def words_at_every_byte(padded: npt.NDArray[np.uint8]) -> Words:
    """The 64-bit word that begins at each byte: overlapping, unaligned, not copied."""
    return np.ndarray(
        (max(len(padded) - WORD_BYTES + 1, 0),), dtype="<u8", buffer=padded.data, strides=(1,)
    )


def byte_positions(array: ArrowArray) -> tuple[Positions, pa.Buffer | None]:
    """Offsets of an Arrow binary or text array (one more than values) and the buffer they index."""
    wide = pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type)
    buffers = array.buffers()
    if len(array) == 0:
        return np.zeros(1, dtype=np.int64), None
    offsets = numbers_in(buffers[1], np.int64 if wide else np.int32)
    window = offsets[array.offset : array.offset + len(array) + 1]
    first, last = int(window[0]), int(window[-1])
    data = None if buffers[2] is None else buffers[2].slice(first, last - first)
    return window.astype(np.int64) - first, data


def _atomic_type(kind: DataType) -> AtomicType:
    if isinstance(kind, AtomicType) and kind.root not in _NOT_IN_ROWS:
        return kind
    name = kind.root.value if isinstance(kind, AtomicType) else type(kind).__name__
    raise UnsupportedError(
        f"{name} cannot be part of a serialized row: use columns of atomic types other than"
        " VARIANT and BLOB as keys and partitions"
    )
