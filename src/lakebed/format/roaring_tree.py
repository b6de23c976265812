"""64-bit bitmaps as Java's `Roaring64Bitmap` writes them, which no specification describes.

    00                                          nothing, or
    01 | key count u64 | tree | containers      little-endian, but for keys

The *tree* is an adaptive radix tree over the upper 48 bits of the numbers, written depth first. A
node is `type u8 | children u16 | prefix length u8 | prefix`, then a body, then its children:

    0  up to 4 children     their key bytes, reversed, 4 in all
    1  up to 16             two words of 8 key bytes, each reversed
    2  up to 48             for each of 256 key bytes the child's number or FF, in words, reversed
    3  up to 256            a bit for each key byte
    4  leaf                 key, 6 bytes, big-endian; number of its container u64

Since leaves hold whole keys, reading looks only for leaves. *Containers* lie in numbered slots,
some of them free, and hold the lower 16 bits of the numbers: as runs, as a bitmap, or as an array.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap

_EMPTY, _NOT_EMPTY = 0, 1
_NODE4, _NODE16, _NODE48, _NODE256, _LEAF = range(5)
_BODY_BYTES = {_NODE4: 4, _NODE16: 16, _NODE48: 256, _NODE256: 32, _LEAF: 14}
_CHILDREN_MAX = {_NODE4: 4, _NODE16: 16, _NODE48: 48, _NODE256: 256}
_ABSENT_CHILD = 0xFF
_KEY_BYTES = 6

_RUNS, _BITMAP, _ARRAY = range(3)
_RUN_BYTES = 4
_BITMAP_BYTES = 8192
# A container of more numbers is no array.
_ARRAY_MAX = 4096
_SLOT_FREE, _SLOT_USED = 0, 1
_UNTRIMMED = 0xFE

# A bitmap of one container in the portable form, with and without runs.
_COOKIE_OF_ONE_WITH_RUNS = 12347
_HEADER_WITH_RUNS = struct.Struct("<IBHH")
_HEADER = struct.Struct("<IIHHI")


@dataclass(slots=True)
class Bitmap64:
    """A set of 64-bit numbers: a bitmap of the lower 16 bits for each value of the upper 48.

    Attributes:
        slots: The bitmaps in the order of their slots; None is a free slot.
        slot_of: The slot of each value of the upper 48 bits.
    """

    slots: list[BitMap | None] = field(default_factory=list)
    slot_of: dict[int, int] = field(default_factory=dict)

    def update(self, other: "Bitmap64") -> None:
        """Adds the numbers of another one, whose bitmaps it may share from then on."""
        for key in sorted(other.slot_of):
            lows = other.slots[other.slot_of[key]]
            slot = self.slot_of.get(key)
            if lows is None:
                continue
            if slot is None:
                self._append(key, lows)
            else:
                self.slots[slot] = (self.slots[slot] or BitMap()) | lows

    def _append(self, key: int, lows: BitMap) -> None:
        slot = len(self.slot_of)
        if slot == len(self.slots):
            # Slots grow by half, which shows in the bytes.
            self.slots.extend([None] * max(slot // 2, 1))
        self.slots[slot] = lows
        self.slot_of[key] = slot


def parse_bitmap64(data: bytes) -> Bitmap64:
    """Reads a bitmap.

    Raises:
        ValueError: The bytes are no such bitmap.
    """
    reader = _Reader(data)
    if reader.number("<B") == _EMPTY:
        return Bitmap64()
    key_count = reader.number("<Q")
    slot_of = dict(_leaves(reader))
    slots = _slots(reader)
    used = [slot for slot, lows in enumerate(slots) if lows is not None]
    if len(slot_of) != key_count or sorted(slot_of.values()) != used:
        raise ValueError("its keys and its containers do not belong together")
    return Bitmap64(slots, slot_of)


def format_bitmap64(bitmap: Bitmap64) -> bytes:
    """Writes a bitmap."""
    if not bitmap.slot_of:
        return struct.pack("<B", _EMPTY)
    count = len(bitmap.slot_of)
    keys = sorted(key.to_bytes(_KEY_BYTES, "big") for key in bitmap.slot_of)
    return b"".join(
        [
            struct.pack("<BQ", _NOT_EMPTY, count),
            *_tree(keys, 0, bitmap.slot_of),
            struct.pack("<IBI", 1, _UNTRIMMED, len(bitmap.slots)),
            *(_slot(lows) for lows in bitmap.slots),
            struct.pack("<QII", count, 0, count - 1),
        ]
    )


@dataclass(slots=True)
class _Reader:
    """Bytes, and how far they are read."""

    data: bytes
    position: int = 0

    def take(self, length: int) -> bytes:
        taken = self.data[self.position : self.position + length]
        if len(taken) < length:
            raise ValueError(f"it ends at byte {len(self.data)}, in the middle")
        self.position += length
        return taken

    def number(self, layout: str) -> int:
        (value,) = struct.unpack(layout, self.take(struct.calcsize(layout)))
        return int(value)


def _leaves(reader: _Reader) -> Iterator[tuple[int, int]]:
    """The key and the slot of each leaf of a tree."""
    awaited = 1
    while awaited:
        kind, children, prefix_length = struct.unpack("<BHB", reader.take(4))
        if kind not in _BODY_BYTES:
            raise ValueError(f"its tree has a node of type {kind}")
        reader.take(prefix_length)
        body = reader.take(_BODY_BYTES[kind])
        awaited -= 1
        if kind == _LEAF:
            yield (
                int.from_bytes(body[:_KEY_BYTES], "big"),
                int.from_bytes(body[_KEY_BYTES:], "little"),
            )
        else:
            awaited += children


def _slots(reader: _Reader) -> list[BitMap | None]:
    if reader.number("<I") != 1:
        raise ValueError("its containers lie in several arrays")
    reader.take(1)
    slots = [_parsed_slot(reader) for _ in range(reader.number("<I"))]
    reader.take(16)
    return slots


def _parsed_slot(reader: _Reader) -> BitMap | None:
    if reader.number("<B") == _SLOT_FREE:
        return None
    kind = reader.number("<B")
    cardinality = reader.number("<I")
    if kind not in {_RUNS, _BITMAP, _ARRAY} or not 0 < cardinality <= 8 * _BITMAP_BYTES:
        raise ValueError(f"it has a container of type {kind} with {cardinality} numbers")
    if kind == _RUNS:
        runs = reader.number("<H")
        header = _HEADER_WITH_RUNS.pack(_COOKIE_OF_ONE_WITH_RUNS, 1, 0, cardinality - 1)
        payload = struct.pack("<H", runs) + reader.take(_RUN_BYTES * runs)
        return BitMap.deserialize(header + payload)
    if kind == _ARRAY:
        return BitMap(np.frombuffer(reader.take(2 * cardinality), "<u2").astype(np.uint32))
    bits = np.frombuffer(reader.take(_BITMAP_BYTES), np.uint8)
    return BitMap(np.flatnonzero(np.unpackbits(bits, bitorder="little")).astype(np.uint32))


def _slot(lows: BitMap | None) -> bytes:
    if lows is None:
        return struct.pack("<B", _SLOT_FREE)
    lows.run_optimize()
    portable = lows.serialize()
    if struct.unpack_from("<H", portable)[0] == _COOKIE_OF_ONE_WITH_RUNS:
        kind, payload = _RUNS, portable[_HEADER_WITH_RUNS.size :]
    else:
        payload = portable[_HEADER.size :]
        kind = _BITMAP if len(payload) == _BITMAP_BYTES and len(lows) > _ARRAY_MAX else _ARRAY
    return struct.pack("<BBI", _SLOT_USED, kind, len(lows)) + payload


def _tree(keys: list[bytes], depth: int, slot_of: dict[int, int]) -> Iterator[bytes]:
    """The nodes of sorted keys that agree up to a depth, depth first."""
    if len(keys) == 1:
        slot = slot_of[int.from_bytes(keys[0], "big")]
        yield struct.pack("<BHB", _LEAF, 0, 0) + keys[0] + struct.pack("<Q", slot)
        return
    length = next(i for i in range(_KEY_BYTES - depth) if keys[0][depth + i] != keys[-1][depth + i])
    at = depth + length
    branches: dict[int, list[bytes]] = {}
    for key in keys:
        branches.setdefault(key[at], []).append(key)
    kind = next(kind for kind, most in _CHILDREN_MAX.items() if len(branches) <= most)
    yield struct.pack("<BHB", kind, len(branches), length) + keys[0][depth:at]
    yield _body(kind, list(branches))
    for branch in branches.values():
        yield from _tree(branch, at + 1, slot_of)


def _body(kind: int, key_bytes: list[int]) -> bytes:
    """Which child stands for which byte of a key."""
    if kind == _NODE256:
        bits: npt.NDArray[np.bool_] = np.zeros(256, np.bool_)
        bits[key_bytes] = True
        return np.packbits(bits, bitorder="little").tobytes()
    if kind == _NODE48:
        children = np.full(256, _ABSENT_CHILD, np.uint8)
        children[key_bytes] = np.arange(len(key_bytes))
        return _words_reversed(children, 8)
    padded = np.zeros(_BODY_BYTES[kind], np.uint8)
    padded[: len(key_bytes)] = key_bytes
    return _words_reversed(padded, 4 if kind == _NODE4 else 8)


def _words_reversed(numbers: npt.NDArray[np.uint8], width: int) -> bytes:
    return numbers.reshape(-1, width)[:, ::-1].tobytes()
