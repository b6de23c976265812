"""How are the integers of an ORC stream decoded (run length encoding, version 2)?

A stream is a row of runs of at most 512 integers; the two top bits of a run's first byte choose
among four encodings. Only the unsigned form is here, which timestamps keep nanoseconds in, and text
its lengths. Integers have 64 bits and wrap: some writers store negative ones all the same.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lakebed.errors import CorruptTableError

Integers = npt.NDArray[np.int64]

# How many bits the 32 codes of a width stand for.
_WIDTHS = (*range(1, 25), 26, 28, 30, 32, 40, 48, 56, 64)
_WORD_BITS = 64


def decode_unsigned(stream: bytes, count: int, path: str) -> Integers:
    """That many integers, which must be all of the stream.

    Raises:
        CorruptTableError: The stream holds others or ends within a run.
    """
    reader = _RunReader(stream)
    runs: list[Integers] = []
    found = 0
    try:
        while not reader.is_at_end:
            runs.append(reader.read_run())
            found += len(runs[-1])
    except (IndexError, ValueError) as error:
        raise CorruptTableError(path, f"an ORC stream ends within a run: {error}") from error
    if found != count:
        raise CorruptTableError(path, f"an ORC stream has {found} integers and not {count}")
    return np.concatenate(runs) if runs else np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Extent:
    """What integers are together.

    Attributes:
        count: How many there are.
        least: The least of them, or less, but not below 0 where they are not.
        total: Their sum, or more.
    """

    count: int
    least: int
    total: int


def extent_of_unsigned(stream: bytes, path: str, *, exactly: bool) -> Extent:
    """The extent of the integers of a stream.

    Args:
        stream: The runs.
        path: The file, for messages.
        exactly: Whether packed integers are unpacked, which takes ten times as long, and not taken
            for as large as their bits allow.

    Raises:
        CorruptTableError: The stream ends within a run.
    """
    reader = _RunReader(stream)
    count = least = total = 0
    try:
        while not reader.is_at_end:
            number, low, value = reader.read_extent(exactly=exactly)
            count += number
            total += value
            least = min(least, low)
    except (IndexError, ValueError) as error:
        raise CorruptTableError(path, f"an ORC stream ends within a run: {error}") from error
    return Extent(count, least, total)


class _RunReader:
    """A position in a stream."""

    def __init__(self, stream: bytes) -> None:
        self._stream = stream
        self._position = 0

    @property
    def is_at_end(self) -> bool:
        return self._position >= len(self._stream)

    def read_run(self) -> Integers:
        first = self._byte()
        match first >> 6:
            case 0:
                value = int.from_bytes(self._bytes((first >> 3 & 7) + 1), "big")
                return np.full((first & 7) + 3, _wrapped(value), np.int64)
            case 1:
                width, length = _WIDTHS[first >> 1 & 31], self._length(first)
                return self._unpacked(length, width)
            case 2:
                return self._patched(first)
            case _:
                return self._deltas(first)

    def read_extent(self, *, exactly: bool) -> tuple[int, int, int]:
        """Count, least and sum of the next run, as in `Extent`."""
        start = self._position
        first = self._byte()
        code = first >> 1 & 31
        match first >> 6:
            case 0:
                value = _wrapped(int.from_bytes(self._bytes((first >> 3 & 7) + 1), "big"))
                count = (first & 7) + 3
                return count, value, value * count
            case 1 if not exactly and code < len(_WIDTHS) - 1:
                count = self._length(first)
                self._bytes((count * _WIDTHS[code] + 7) // 8)
                return count, 0, count << _WIDTHS[code]
            case 3 if not code:
                count, base = self._length(first), self._varint()
                coded = self._varint()
                step = (coded >> 1) ^ -(coded & 1)
                last = base + step * (count - 1)
                return count, min(base, last), (base + last) * count // 2
            case _:
                self._position = start
                run = self.read_run()
                return len(run), int(run.min()), int(run.sum(dtype=float))

    def _patched(self, first: int) -> Integers:
        """Small numbers above a base, and the upper bits of the few that are large."""
        width, length = _WIDTHS[first >> 1 & 31], self._length(first)
        third, fourth = self._byte(), self._byte()
        base_bytes = (third >> 5) + 1
        patch_width = _WIDTHS[third & 31]
        gap_width = (fourth >> 5) + 1
        base = int.from_bytes(self._bytes(base_bytes), "big")
        sign = 1 << (8 * base_bytes - 1)
        base = sign - base if base & sign else base
        values = self._unpacked(length, width)
        entry_width = next(w for w in _WIDTHS if w >= patch_width + gap_width)
        entries = self._unpacked(fourth & 31, entry_width)
        places = np.cumsum(entries >> patch_width)
        # A gap too wide for its bits is split by entries whose patch is nothing.
        patches = (entries & ((1 << patch_width) - 1)) << width
        np.bitwise_or.at(values, places, patches)
        return values + base

    def _deltas(self, first: int) -> Integers:
        """A base, a first difference, and the sizes of the next, which go the same way."""
        code, length = first >> 1 & 31, self._length(first)
        base, coded = _wrapped(self._varint()), self._varint()
        step = _wrapped((coded >> 1) ^ -(coded & 1))
        steps = np.full(max(length - 1, 0), step, np.int64)
        if code and length > 2:
            rest = self._unpacked(length - 2, _WIDTHS[code])
            steps[1:] = rest if step >= 0 else -rest
        return base + np.concatenate([np.zeros(1, np.int64), np.cumsum(steps)])

    def _length(self, first: int) -> int:
        return ((first & 1) << 8 | self._byte()) + 1

    def _unpacked(self, count: int, width: int) -> Integers:
        """Big-endian integers of some bits each, from a whole number of bytes."""
        packed = np.frombuffer(self._bytes((count * width + 7) // 8), np.uint8)
        bits = np.unpackbits(packed)[: count * width].reshape(count, width)
        words = np.zeros((count, _WORD_BITS), np.uint8)
        words[:, _WORD_BITS - width :] = bits
        return np.packbits(words, axis=1).reshape(-1).view(">i8").astype(np.int64)

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def _byte(self) -> int:
        self._position += 1
        return self._stream[self._position - 1]

    def _bytes(self, count: int) -> bytes:
        start, self._position = self._position, self._position + count
        if self._position > len(self._stream):
            raise IndexError("its last bytes are missing")
        return self._stream[start : self._position]


def _wrapped(value: int) -> int:
    """An integer of any size as one of 64 bits."""
    return (value + (1 << 63) & (1 << 64) - 1) - (1 << 63)
