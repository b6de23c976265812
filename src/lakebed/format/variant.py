"""What value do the bytes of a VARIANT stand for?

A variant is two byte strings: metadata, with the names of all fields, and a value, which refers to
them by number. Numbers are little-endian, of as many bytes as the heads say:

    metadata: head | count of names | count + 1 offsets | names, one after the other
    value:    head | content; the two low bits of the head choose what follows:
        0 primitive     its type is in the upper six bits, and decides the size of the content
        1 short string  its size is in the upper six bits
        2 object        count | ids of names | count + 1 offsets | values
        3 array         count | count + 1 offsets | values

This is for one value at a time, as it is shown to somebody; columns of variants stay bytes.
"""

import base64
import json
import math
import struct
import uuid
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Context, Decimal
from itertools import pairwise

import numpy as np

from lakebed.errors import InvalidArgumentError

__all__ = ["variant_to_json"]

_VERSION = 1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MALFORMED = (IndexError, ValueError, KeyError, OverflowError, RecursionError, struct.error)


def variant_to_json(value: bytes, metadata: bytes, *, time_zone: tzinfo = UTC) -> str:
    """The JSON text of a variant.

    Numbers are written exactly; dates, timestamps, UUIDs and bytes (in base64) become strings, as
    do NaN and the infinities. Fields come in the order in which the variant has them.

    Args:
        value: The value part.
        metadata: The metadata part.
        time_zone: In which instants are written.

    Raises:
        InvalidArgumentError: The bytes are no variant, or one of a newer version.
    """
    try:
        return _Variant(value, _names(metadata), time_zone).json_at(0)
    except _MALFORMED as error:
        raise InvalidArgumentError(f"the bytes are no variant: {error!r}") from error


class _Variant:
    """The value of one variant, with its names."""

    def __init__(self, value: bytes, names: list[str], time_zone: tzinfo) -> None:
        self._value = value
        self._names = names
        self._zone = time_zone
        self._visited = 0

    def json_at(self, position: int) -> str:
        # Values take a byte each, so more of them than bytes means that some share theirs, which
        # could be told forth for ever.
        self._visited += 1
        if self._visited > len(self._value):
            raise ValueError("its values overlap")
        head = self._value[position]
        detail = head >> 2
        match head & 3:
            case 0:
                return self._primitive(detail, position + 1)
            case 1:
                return _quoted(_slice(self._value, position + 1, detail).decode())
            case 2:
                return self._object(detail, position + 1)
            case _:
                return self._array(detail, position + 1)

    def _object(self, detail: int, position: int) -> str:
        count_bytes, id_bytes = 4 if detail & 16 else 1, (detail >> 2 & 3) + 1
        count = _number(self._value, position, count_bytes)
        ids = _numbers(self._value, position + count_bytes, (count, id_bytes))
        starts = self._starts(position + count_bytes + count * id_bytes, count, (detail & 3) + 1)
        names = (_quoted(self._names[index]) for index in ids)
        members = (
            f"{name}:{self.json_at(start)}" for name, start in zip(names, starts, strict=True)
        )
        return "{" + ",".join(members) + "}"

    def _array(self, detail: int, position: int) -> str:
        count_bytes = 4 if detail & 4 else 1
        count = _number(self._value, position, count_bytes)
        starts = self._starts(position + count_bytes, count, (detail & 3) + 1)
        return "[" + ",".join(map(self.json_at, starts)) + "]"

    def _starts(self, position: int, count: int, offset_bytes: int) -> list[int]:
        """Where the members are whose offsets stand at a position."""
        offsets = _numbers(self._value, position, (count + 1, offset_bytes))
        first = position + (count + 1) * offset_bytes
        return [first + offset for offset in offsets[:-1]]

    def _primitive(self, kind: int, position: int) -> str:
        if kind in _WORDS:
            return _WORDS[kind]
        if kind in _SIZED:
            size = _number(self._value, position, 4)
            return _SIZED[kind](_slice(self._value, position + 4, size))
        if kind == _TIMESTAMP:
            micros = _signed(_slice(self._value, position, 8))
            moment = (_EPOCH + timedelta(microseconds=micros)).astimezone(self._zone)
            return _quoted(moment.isoformat(sep=" "))
        if kind not in _FIXED:
            raise ValueError(f"type {kind} is unknown")
        size, text = _FIXED[kind]
        return text(_slice(self._value, position, size))


def _names(metadata: bytes) -> list[str]:
    head = metadata[0]
    if head & 15 != _VERSION:
        raise ValueError(f"version {head & 15} is unknown")
    width = (head >> 6) + 1
    count = _number(metadata, 1, width)
    offsets = _numbers(metadata, 1 + width, (count + 1, width))
    first = 1 + width * (count + 2)
    return [
        _slice(metadata, first + start, stop - start).decode() for start, stop in pairwise(offsets)
    ]


def _slice(data: bytes, start: int, length: int) -> bytes:
    if length < 0 or start + length > len(data):
        raise IndexError("its end is missing")
    return data[start : start + length]


def _number(data: bytes, position: int, width: int) -> int:
    return int.from_bytes(_slice(data, position, width), "little")


def _numbers(data: bytes, position: int, shape: tuple[int, int]) -> list[int]:
    """Unsigned numbers, given how many and the bytes of each."""
    count, width = shape
    _slice(data, position, count * width)
    return [_number(data, position + i * width, width) for i in range(count)]


def _signed(data: bytes) -> int:
    return int.from_bytes(data, "little", signed=True)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _integer(data: bytes) -> str:
    return str(_signed(data))


def _decimal(data: bytes) -> str:
    return format(Decimal(_signed(data[1:])).scaleb(-data[0], _WIDE), "f")


def _double(data: bytes) -> str:
    (number,) = struct.unpack("<d", data)
    return repr(number) if math.isfinite(number) else _quoted(_java_text(number))


def _float(data: bytes) -> str:
    (number,) = struct.unpack("<f", data)
    # NumPy knows the shortest text of 32 bits.
    return str(np.float32(number)) if math.isfinite(number) else _quoted(_java_text(number))


def _java_text(number: float) -> str:
    if math.isnan(number):
        return "NaN"
    return "Infinity" if number > 0 else "-Infinity"


def _date(data: bytes) -> str:
    return _quoted((date(1970, 1, 1) + timedelta(days=_signed(data))).isoformat())


def _timestamp_ntz(data: bytes) -> str:
    moment = (_EPOCH + timedelta(microseconds=_signed(data))).replace(tzinfo=None)
    return _quoted(moment.isoformat(sep=" "))


def _uuid(data: bytes) -> str:
    return _quoted(str(uuid.UUID(bytes=data)))


def _bytes(data: bytes) -> str:
    return _quoted(base64.b64encode(data).decode())


def _text(data: bytes) -> str:
    return _quoted(data.decode())


_WIDE = Context(prec=60)
_TIMESTAMP = 12
_WORDS = {0: "null", 1: "true", 2: "false"}
_SIZED: dict[int, Callable[[bytes], str]] = {15: _bytes, 16: _text}
_FIXED: dict[int, tuple[int, Callable[[bytes], str]]] = {
    3: (1, _integer),
    4: (2, _integer),
    5: (4, _integer),
    6: (8, _integer),
    7: (8, _double),
    8: (5, _decimal),
    9: (9, _decimal),
    10: (17, _decimal),
    11: (4, _date),
    13: (8, _timestamp_ntz),
    14: (4, _float),
    20: (16, _uuid),
}
