"""How Arrow columns become BinaryRows, all rows at once (format.md 8).

Each column first gives one slot a row and, for some types, a tail: words for the variable part.
Only then are the offsets of the tails known, for they depend on the tails of earlier columns.

The surprising thing: a null DECIMAL(p > 18) or TIMESTAMP(p > 3) keeps its tail, as zeros, and the
offset in its slot. Hashes and keys of other engines depend on it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import InvalidArgumentError
from lakebed.format.arrow.atoms import arrow_value_type, timestamp_unit
from lakebed.format.arrow.typing import ArrowArray, ArrowColumn
from lakebed.format.binary_row.layout import (
    ARITY_BYTES,
    BYTES_ROOTS,
    INLINE_BYTES_MAX,
    TIMESTAMP_ROOTS,
    WORD_BYTES,
    Flags,
    Positions,
    Words,
    atomic_types,
    buffer_of,
    byte_positions,
    header_word_count,
    is_compact,
    null_bit,
    numbers_in,
    one_array,
    padded_bytes,
    words_at_every_byte,
)
from lakebed.format.types import AtomicType, DataType, TypeRoot

_INLINE_FLAG = 0x80
_UNITS_PER_MILLI = {"us": 1_000, "ns": 1_000_000}
# The low k bytes of a word, for k of 0 to 8.
_LOW_BYTES = np.array([(1 << (8 * k)) - 1 for k in range(9)], dtype=np.uint64)


def encode_rows(
    columns: Sequence[ArrowColumn],
    types: Sequence[DataType],
    *,
    with_arity: bool = True,
) -> ArrowArray:
    """One serialized BinaryRow a row of the columns.

    Args:
        columns: Equally long; Arrow types as the types are read (also large text and bytes).
        types: The types in the table, one a column; they decide the bytes.
        with_arity: Whether the 4-byte arity goes first, as in manifests; hashes want it left out.

    Raises:
        InvalidArgumentError: Columns that differ in length, do not fit their types, or are none.
        UnsupportedError: A type that keys and bounds cannot have.
    """
    arrays = _checked_arrays(columns, types)
    parts = [
        _encode_column(array, kind) for array, kind in zip(arrays, atomic_types(types), strict=True)
    ]
    row_count = len(arrays[0])
    if row_count == 0:
        return pa.array([], pa.large_binary())
    header_words = header_word_count(len(parts))
    tail_starts: list[int | Positions] = []
    end: int | Positions = header_words + len(parts)
    for part in parts:
        tail_starts.append(end)
        if part.tail is not None:
            part.point_slots_at(end)
            end = end + part.tail.word_counts
    rows = _RowBuffer(row_count, word_counts=end, arity=len(parts) if with_arity else None)
    for index, header in enumerate(_header(parts, row_count)):
        rows.put(index, header)
    for index, part in enumerate(parts):
        rows.put(header_words + index, part.slots)
        if part.tail is not None:
            part.tail.write(rows, tail_starts[index])
    return rows.to_arrow()


class _RowBuffer:
    """The bytes of all rows, written one word of every row at a time.

    Rows of one length are a matrix. Otherwise words are scattered through a view of the buffer
    that has a word at every 4 bytes, since the arity prefix shifts each row by half a word.
    """

    def __init__(self, row_count: int, *, word_counts: int | Positions, arity: int | None) -> None:
        prefix = 0 if arity is None else ARITY_BYTES
        sizes = word_counts * WORD_BYTES + prefix
        self._offsets = np.zeros(row_count + 1, dtype=np.int64)
        np.cumsum(np.broadcast_to(sizes, row_count), out=self._offsets[1:])
        self._bytes = np.empty(int(self._offsets[-1]), dtype=np.uint8)
        self._matrix: Words | None = None
        if isinstance(word_counts, int):
            self._matrix = np.ndarray(
                (row_count, word_counts),
                dtype="<u8",
                buffer=self._bytes.data,
                offset=prefix,
                strides=(word_counts * WORD_BYTES + prefix, WORD_BYTES),
            )
        self._unit = 4 if prefix else WORD_BYTES
        self._words: Words = np.ndarray(
            ((len(self._bytes) - WORD_BYTES) // self._unit + 1,),
            dtype="<u8",
            buffer=self._bytes.data,
            strides=(self._unit,),
        )
        self._starts = (self._offsets[:-1] + prefix) // self._unit
        if arity is not None:
            starts = self._offsets[:-1] // 4
            self._bytes.view(">u4")[starts] = arity

    def put(self, word: int | Positions, values: Words) -> None:
        """Sets one word of every row; `word` counts from the row's start."""
        if self._matrix is not None and isinstance(word, int):
            self._matrix[:, word] = values
        else:
            self._words[self._starts + word * (WORD_BYTES // self._unit)] = values

    def put_runs(self, word: int | Positions, counts: Positions, values: Words) -> None:
        """Sets `counts[i]` words of row i from `word` on; values are those of all rows in turn."""
        step = WORD_BYTES // self._unit
        first = self._starts + word * step
        self._words[np.repeat(first, counts) + position_in_run(counts) * step] = values

    def to_arrow(self) -> ArrowArray:
        """The rows, without a copy."""
        return pa.LargeBinaryArray.from_buffers(
            pa.large_binary(),
            len(self._offsets) - 1,
            [None, buffer_of(self._offsets), buffer_of(self._bytes)],
        )


@dataclass(frozen=True, slots=True)
class _FixedTail:
    """The same number of words for every row, null or not."""

    words: tuple[Words, ...]

    @property
    def word_counts(self) -> int:
        return len(self.words)

    def write(self, rows: _RowBuffer, start: int | Positions) -> None:
        for index, word in enumerate(self.words):
            rows.put(start + index, word)


@dataclass(frozen=True, slots=True)
class _BytesTail:
    """Text or bytes too long for a slot; no words for the others."""

    source: Words
    positions: Positions
    lengths: Positions
    word_counts: Positions

    def write(self, rows: _RowBuffer, start: int | Positions) -> None:
        index = position_in_run(self.word_counts)
        words = self.source[np.repeat(self.positions, self.word_counts) + index * WORD_BYTES]
        left = np.repeat(self.lengths, self.word_counts) - index * WORD_BYTES
        words &= _LOW_BYTES[np.minimum(left, WORD_BYTES)]
        rows.put_runs(start, self.word_counts, words)


@dataclass(frozen=True, slots=True)
class _Part:
    """What one column contributes to every row."""

    slots: Words
    nulls: Flags | None
    tail: _FixedTail | _BytesTail | None = None

    def point_slots_at(self, start: int | Positions) -> None:
        """Puts the byte offset of the tail into the upper half of the slots that have one."""
        offsets = np.broadcast_to(np.asarray(start, dtype=np.uint64), len(self.slots))
        offsets = (offsets * np.uint64(WORD_BYTES)) << np.uint64(32)
        if isinstance(self.tail, _BytesTail):
            offsets[self.tail.word_counts == 0] = 0
        np.bitwise_or(self.slots, offsets, out=self.slots)


def position_in_run(counts: Positions) -> Positions:
    """0, 1, ... within each run, for runs of these lengths one after the other."""
    ends = np.cumsum(counts)
    return np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - counts, counts)


def _checked_arrays(columns: Sequence[ArrowColumn], types: Sequence[DataType]) -> list[ArrowArray]:
    if not columns or len(columns) != len(types):
        raise InvalidArgumentError(
            f"{len(columns)} columns for {len(types)} types: give one type a column and at least"
            " one column (the row without columns is EMPTY_ROW)"
        )
    arrays = [one_array(column) for column in columns]
    lengths = {len(array) for array in arrays}
    if len(lengths) > 1:
        raise InvalidArgumentError(f"columns of different lengths {sorted(lengths)} make no rows")
    return arrays


def _header(parts: Sequence[_Part], row_count: int) -> list[Words]:
    words = [np.zeros(row_count, dtype=np.uint64) for _ in range(header_word_count(len(parts)))]
    for index, part in enumerate(parts):
        if part.nulls is not None:
            word, bit = null_bit(index)
            words[word] |= part.nulls.astype(np.uint64) << np.uint64(bit)
    return words


def _encode_column(array: ArrowArray, kind: AtomicType) -> _Part:
    _check_arrow_type(array, kind)
    nulls = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
    if kind.root in BYTES_ROOTS:
        return _encode_bytes(array, nulls)
    if kind.root is TypeRoot.DECIMAL:
        return _encode_decimals(array, kind, nulls)
    if kind.root in TIMESTAMP_ROOTS:
        return _encode_timestamps(array, kind, nulls)
    return _Part(_integers(array).astype(np.uint64), nulls)


def _check_arrow_type(array: ArrowArray, kind: AtomicType) -> None:
    expected = arrow_value_type(kind)
    wide = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}.get(expected)
    if array.type not in (expected, wide):
        raise InvalidArgumentError(
            f"a column of Arrow type {array.type} is not one of {kind.root.value}: cast it to"
            f" {expected} first"
        )


def _integers(array: ArrowArray) -> npt.NDArray[np.unsignedinteger]:
    """The bits of fixed-width values as unsigned integers of their width; 0 where null."""
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.uint8())
    unsigned = {8: pa.uint8(), 16: pa.uint16(), 32: pa.uint32(), 64: pa.uint64()}
    bits = array.view(unsigned[array.type.bit_width])
    if bits.null_count:
        bits = bits.fill_null(0)
    integers: npt.NDArray[np.unsignedinteger] = bits.to_numpy()
    return integers


def _encode_bytes(array: ArrowArray, nulls: Flags | None) -> _Part:
    offsets, data = byte_positions(array)
    starts, lengths = offsets[:-1], np.diff(offsets)
    if nulls is not None:
        lengths[nulls] = 0
    source = words_at_every_byte(padded_bytes(data))
    is_long = lengths > INLINE_BYTES_MAX
    inline_lengths = np.where(is_long, 0, lengths)
    slots = source[starts]
    slots &= _LOW_BYTES[inline_lengths]
    slots |= (inline_lengths.astype(np.uint64) | np.uint64(_INLINE_FLAG)) << np.uint64(56)
    if nulls is not None:
        slots[nulls] = 0
    if not is_long.any():
        return _Part(slots, nulls)
    slots = np.where(is_long, lengths.astype(np.uint64), slots)
    word_counts = np.where(is_long, (lengths + WORD_BYTES - 1) // WORD_BYTES, 0)
    return _Part(slots, nulls, _BytesTail(source, starts, lengths, word_counts))


def _encode_decimals(array: ArrowArray, kind: AtomicType, nulls: Flags | None) -> _Part:
    pairs = np.zeros((len(array), 2), dtype=np.uint64)
    if len(array):
        stored = numbers_in(array.buffers()[1], "<u8").reshape(-1, 2)
        pairs[:] = stored[array.offset : array.offset + len(array)]
    if nulls is not None:
        pairs[nulls] = 0
    low, high = pairs[:, 0].copy(), pairs[:, 1].copy()
    if is_compact(kind):
        return _Part(low, nulls)
    lengths = _twos_complement_lengths(low, high)
    first, second = _shift_left(low, high, bits=(16 - lengths) * np.uint64(8))
    if nulls is not None:
        lengths[nulls] = 0
    return _Part(lengths, nulls, _FixedTail((first.byteswap(), second.byteswap())))


def _twos_complement_lengths(low: Words, high: Words) -> Words:
    """How many bytes each 128-bit number needs, its sign bit included."""
    sign = (high.view(np.int64) >> 63).view(np.uint64)
    low, high = low ^ sign, high ^ sign
    lengths = np.ones(len(low), dtype=np.uint64)
    for bit in range(7, 127, 8):
        beyond = high >> np.uint64(max(bit - 64, 0)) != 0
        if bit < 64:
            beyond |= low >> np.uint64(bit) != 0
        lengths += beyond
    return lengths


def _shift_left(low: Words, high: Words, *, bits: Words) -> tuple[Words, Words]:
    """The upper and the lower word of 128-bit numbers shifted left by 0 to 120 bits."""
    within = bits % np.uint64(64)
    carried = (low >> np.uint64(1)) >> (np.uint64(63) - within)
    upper = np.where(bits < 64, (high << within) | carried, low << within)
    return upper, np.where(bits < 64, low << within, np.uint64(0))


def _encode_timestamps(array: ArrowArray, kind: AtomicType, nulls: Flags | None) -> _Part:
    values = _integers(array).view(np.int64)
    unit = timestamp_unit(kind)
    if is_compact(kind):
        millis = values * 1000 if unit == "s" else values.copy()
        return _Part(millis.view(np.uint64), nulls)
    per_milli = _UNITS_PER_MILLI[unit]
    millis, rest = np.divmod(values, per_milli)
    nanos = (rest * (1_000_000 // per_milli)).view(np.uint64)
    return _Part(nanos, nulls, _FixedTail((millis.view(np.uint64),)))
