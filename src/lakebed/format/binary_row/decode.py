"""What values serialized BinaryRows hold, all rows at once (format.md 8).

Nothing in the bytes is trusted: lengths and offsets are checked before they are followed, and a
contradiction is a CorruptTableError that names the file.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import CorruptTableError, UnsupportedError
from lakebed.format.arrow.atoms import arrow_value_type, timestamp_unit
from lakebed.format.arrow.typing import ArrowArray, ArrowColumn
from lakebed.format.binary_row.layout import (
    ARITY_BYTES,
    BYTES_ROOTS,
    INLINE_BYTES_MAX,
    TEXT_ROOTS,
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
    one_array,
    padded_bytes,
    words_at_every_byte,
)
from lakebed.format.types import AtomicType, DataType, TypeRoot

_INLINE_FLAG = 0x80
_LOW_HALF = np.uint64(0xFFFFFFFF)
_NANOS_PER_MILLI = 1_000_000
_NANO_MILLIS_MAX = (2**63 - 1) // _NANOS_PER_MILLI - 1


def decode_rows(
    rows: ArrowColumn,
    types: Sequence[DataType],
    *,
    indexes: Sequence[int] | None = None,
    source: str = "serialized row",
) -> list[ArrowArray]:
    """The columns that the rows hold; a null row has null in all of them.

    Args:
        rows: Binary or large binary, each value with its arity prefix.
        types: One a field.
        indexes: The fields to decode, all by default; only their types matter then.
        source: What an error names, best the path of the file that the rows come from.

    Raises:
        CorruptTableError: Bytes that no row of these types has.
        UnsupportedError: A type that keys and bounds cannot have, or a time that Arrow cannot hold.
    """
    array = one_array(rows)
    wanted = range(len(types)) if indexes is None else indexes
    kinds = atomic_types([types[index] for index in wanted])
    if len(array) == 0:
        return [pa.array([], arrow_value_type(kind)) for kind in kinds]
    block = _open_rows(array, len(types), source=source)
    return [block.column(index, kind) for index, kind in zip(wanted, kinds, strict=True)]


def _open_rows(array: ArrowArray, arity: int, *, source: str) -> "_Rows":
    offsets, data = byte_positions(array)
    padded = padded_bytes(data)
    absent = array.is_null().to_numpy(zero_copy_only=False)
    lengths = np.diff(offsets) - ARITY_BYTES
    head = (header_word_count(arity) + arity) * WORD_BYTES
    _require(absent | (lengths >= head), f"a row shorter than its {arity} fields need", source)
    # Null rows may be empty and the last ones: they read whatever comes first, and are masked.
    starts = np.where(absent, 0, offsets[:-1] + ARITY_BYTES)
    block = _Rows(padded, words_at_every_byte(padded), starts, lengths, absent, arity, source)
    if not absent.all():
        prefixes = block.words[offsets[:-1][~absent]].astype(np.uint32).byteswap()
        _require(prefixes == arity, f"a row whose arity is not {arity}", source)
    return block


def _require(holds: Flags, problem: str, source: str) -> None:
    if not holds.all():
        raise CorruptTableError(source, f"{problem}, first at row {int(np.argmin(holds))}")


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows whose fixed part is known to be there.

    Attributes:
        padded: The bytes of all rows.
        words: The word at every byte.
        starts: Where each row begins, after the prefix.
        lengths: Its length without the prefix.
        absent: Which rows are null.
    """

    padded: npt.NDArray[np.uint8]
    words: Words
    starts: Positions
    lengths: Positions
    absent: Flags
    arity: int
    source: str

    def column(self, index: int, kind: AtomicType) -> ArrowArray:
        """The values of one field."""
        if self.absent.all():
            return pa.nulls(len(self.starts)).cast(arrow_value_type(kind))
        word, bit = null_bit(index)
        header = self.words[self.starts + word * WORD_BYTES]
        nulls: Flags = ((header >> np.uint64(bit)) & np.uint64(1)).astype(np.bool_) | self.absent
        slot = _Slot(self, (header_word_count(self.arity) + index) * WORD_BYTES, nulls)
        if kind.root in BYTES_ROOTS:
            return slot.to_bytes(kind)
        if kind.root is TypeRoot.DECIMAL:
            return slot.to_decimals(kind)
        if kind.root in TIMESTAMP_ROOTS:
            return slot.to_timestamps(kind)
        return slot.to_fixed_width(kind)


@dataclass(frozen=True, slots=True)
class _Slot:
    """One field of every row."""

    rows: _Rows
    offset: int
    nulls: Flags

    @property
    def words(self) -> Words:
        return self.rows.words[self.rows.starts + self.offset]

    def to_fixed_width(self, kind: AtomicType) -> ArrowArray:
        target = arrow_value_type(kind)
        words = self.words
        if pa.types.is_boolean(target):
            flags: ArrowArray = pa.array((words & np.uint64(0xFF)) != 0, mask=self.nulls)
            return flags
        bits = words.astype(np.dtype(f"u{target.bit_width // 8}"))
        integers: ArrowArray = pa.array(bits, mask=self.nulls)
        return integers.view(target)

    def to_bytes(self, kind: AtomicType) -> ArrowArray:
        words = self.words
        marks = (words >> np.uint64(56)).astype(np.int64)
        inline = (marks & _INLINE_FLAG) != 0
        lengths = np.where(inline, marks & (_INLINE_FLAG - 1), (words & _LOW_HALF).astype(np.int64))
        offsets = np.where(inline, self.offset, (words >> np.uint64(32)).astype(np.int64))
        lengths[self.nulls] = 0
        offsets[self.nulls] = self.offset
        self._require_inside(offsets, np.where(inline, 0, lengths))
        _require(~inline | (lengths <= INLINE_BYTES_MAX), "a text overflows its slot", self.source)
        values = self._slice(offsets, lengths)
        try:
            return values.cast(arrow_value_type(kind))
        except pa.ArrowInvalid as invalid:
            problem = "a text that is not UTF-8" if kind.root in TEXT_ROOTS else "too many bytes"
            raise CorruptTableError(self.source, f"{problem} ({invalid})") from invalid

    def to_decimals(self, kind: AtomicType) -> ArrowArray:
        words = self.words
        if is_compact(kind):
            low, high = words, (words.view(np.int64) >> 63).view(np.uint64)
        else:
            lengths = np.where(self.nulls, np.uint64(1), words & _LOW_HALF)
            offsets = np.where(self.nulls, 0, (words >> np.uint64(32)).astype(np.int64))
            self._require_inside(offsets, np.where(self.nulls, 0, 2 * WORD_BYTES))
            fits = (lengths >= 1) & (lengths <= 2 * WORD_BYTES)
            _require(fits, "a decimal of other than 1 to 16 bytes", self.source)
            first = self._tail(offsets).byteswap()
            second = self._tail(offsets + WORD_BYTES).byteswap()
            low, high = _shift_right(first, second, bits=(16 - lengths) * np.uint64(8))
        pairs = np.column_stack([low, high])
        return pa.Array.from_buffers(
            arrow_value_type(kind), len(pairs), [self._validity(), buffer_of(pairs)]
        )

    def to_timestamps(self, kind: AtomicType) -> ArrowArray:
        words, unit = self.words, timestamp_unit(kind)
        if is_compact(kind):
            millis = words.view(np.int64)
            values = millis // 1000 if unit == "s" else millis
        else:
            offsets = np.where(self.nulls, 0, (words >> np.uint64(32)).astype(np.int64))
            self._require_inside(offsets, np.where(self.nulls, 0, WORD_BYTES))
            millis = np.where(self.nulls, 0, self._tail(offsets).view(np.int64))
            nanos = np.where(self.nulls, 0, (words & _LOW_HALF).astype(np.int64))
            _require(nanos < _NANOS_PER_MILLI, "more nanoseconds than in 1 ms", self.source)
            values = _units_since_epoch(millis, nanos, unit=unit)
        return pa.array(values, mask=self.nulls).view(arrow_value_type(kind))

    @property
    def source(self) -> str:
        return self.rows.source

    def _tail(self, offsets: Positions) -> Words:
        # A null value's tail may lie outside: it is read at the row's start, and masked.
        last = len(self.rows.words) - 1
        words: Words = self.rows.words[np.minimum(self.rows.starts + offsets, last)]
        return words

    def _require_inside(self, offsets: Positions, lengths: Positions) -> None:
        ends = offsets + lengths
        inside = self.nulls | ((offsets >= 0) & (ends <= self.rows.lengths))
        _require(inside, "a variable part outside of its row", self.source)

    def _slice(self, offsets: Positions, lengths: Positions) -> ArrowArray:
        """The byte ranges of all rows as one binary array.

        Rows lie one after the other, so the values and the gaps between them are a binary array
        over the rows' own bytes, of which every second value is wanted.
        """
        starts = self.rows.starts + offsets
        starts = np.maximum.accumulate(np.where(self.nulls, 0, starts))
        bounds = np.empty(2 * len(starts), dtype=np.int64)
        bounds[0::2], bounds[1::2] = starts, starts + lengths
        values = pa.Array.from_buffers(
            pa.large_binary(),
            len(bounds) - 1,
            [None, buffer_of(bounds), buffer_of(self.rows.padded)],
        )
        wanted: ArrowArray = pa.array(np.arange(0, len(bounds), 2), mask=self.nulls)
        return values.take(wanted)

    def _validity(self) -> pa.Buffer | None:
        return pa.array(~self.nulls).buffers()[1] if self.nulls.any() else None


def _shift_right(first: Words, second: Words, *, bits: Words) -> tuple[Words, Words]:
    """The lower and the upper word of signed 128-bit numbers shifted right by 0 to 120 bits."""
    within = bits % np.uint64(64)
    signed = first.view(np.int64)
    shifted = (signed >> within.view(np.int64)).view(np.uint64)
    carried = (first << np.uint64(1)) << (np.uint64(63) - within)
    low = np.where(bits < 64, (second >> within) | carried, shifted)
    return low, np.where(bits < 64, shifted, (signed >> 63).view(np.uint64))


def _units_since_epoch(millis: Positions, nanos: Positions, *, unit: str) -> Positions:
    if unit == "us":
        return millis * 1000 + nanos // 1000
    if (np.abs(millis) > _NANO_MILLIS_MAX).any():
        raise UnsupportedError(
            "a TIMESTAMP of more than 6 digits lies before 1677-09-22 or after 2262-04-11, which"
            " 64-bit nanoseconds cannot hold: use at most 6 digits for such times"
        )
    return millis * _NANOS_PER_MILLI + nanos
