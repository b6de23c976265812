"""How are the messages of a Parquet footer read and written (Thrift's compact protocol)?

A struct becomes a list of its fields, in order, each with its number, its type and its value; a
list its element type and its elements. Nothing is lost, so a message can be changed in one place
and written again.
"""

from dataclasses import dataclass

__all__ = ["Field", "Items", "Struct", "read_struct", "read_struct_at", "write_struct"]

_BOOLEANS = (1, 2)
_BYTE = 3
_VARINTS = (4, 5, 6)
_DOUBLE = 7
_BINARY = 8
_LISTS = (9, 10)
_STRUCT = 12
_MAX_DEPTH = 32


@dataclass(frozen=True, slots=True)
class Items:
    """Elements of a list.

    Attributes:
        type: Of each element.
        values: Their values.
    """

    type: int
    values: "list[Value]"


@dataclass(frozen=True, slots=True)
class Field:
    """A field that is there.

    Attributes:
        number: Its number.
        type: Its type in the protocol.
        value: Its value; a boolean's is in its type.
    """

    number: int
    type: int
    value: "Value"


Struct = list[Field]
Value = int | bytes | Items | Struct


def read_struct(message: bytes) -> Struct:
    """The fields of a message.

    Raises:
        ValueError: The bytes are none.
    """
    return _Reader(message, 0).struct(0)


def read_struct_at(data: bytes, position: int) -> tuple[Struct, int]:
    """The fields of a message that begins somewhere in the data, and where it ends.

    Raises:
        ValueError: The bytes are none.
    """
    reader = _Reader(data, position)
    return reader.struct(0), reader.position


def write_struct(fields: Struct) -> bytes:
    """A message of these fields."""
    out = bytearray()
    _write_struct(out, fields)
    return bytes(out)


class _Reader:
    """A position in a message."""

    def __init__(self, message: bytes, position: int) -> None:
        self._message = message
        self.position = position

    def struct(self, depth: int) -> Struct:
        if depth > _MAX_DEPTH:
            raise ValueError("nested too deeply")
        fields: Struct = []
        number = 0
        while (head := self._take(1)[0]) & 15:
            number = number + (head >> 4) if head >> 4 else _signed(self._varint())
            fields.append(Field(number, head & 15, self._field(head & 15, depth)))
        return fields

    def _field(self, kind: int, depth: int) -> Value:
        # A boolean field has its value in its type; an element of a list has a byte of its own.
        return 0 if kind in _BOOLEANS else self._value(kind, depth)

    def _value(self, kind: int, depth: int) -> Value:
        if kind in _VARINTS:
            return self._varint()
        if kind in _BOOLEANS or kind == _BYTE:
            return self._take(1)
        if kind == _DOUBLE:
            return self._take(8)
        if kind == _BINARY:
            return self._take(self._varint())
        if kind in _LISTS:
            head = self._take(1)[0]
            count = head >> 4 if head >> 4 < 15 else self._varint()
            return Items(head & 15, [self._value(head & 15, depth + 1) for _ in range(count)])
        if kind == _STRUCT:
            return self.struct(depth + 1)
        raise ValueError(f"type {kind} is unknown")

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def _take(self, count: int) -> bytes:
        start, self.position = self.position, self.position + count
        if self.position > len(self._message):
            raise ValueError("its end is missing")
        return self._message[start : self.position]


def _write_struct(out: bytearray, fields: Struct) -> None:
    before = 0
    for field in fields:
        step = field.number - before
        if 0 < step <= 15:
            out.append(step << 4 | field.type)
        else:
            out.append(field.type)
            _write_varint(out, (field.number << 1) ^ (field.number >> 63))
        before = field.number
        if field.type not in _BOOLEANS:
            _write_value(out, field.type, field.value)
    out.append(0)


def _write_value(out: bytearray, kind: int, value: Value) -> None:
    match value:
        case int():
            _write_varint(out, value)
        case bytes():
            if kind == _BINARY:
                _write_varint(out, len(value))
            out += value
        case Items(type=element, values=values):
            if len(values) < 15:
                out.append(len(values) << 4 | element)
            else:
                out.append(15 << 4 | element)
                _write_varint(out, len(values))
            for each in values:
                _write_value(out, element, each)
        case list():
            _write_struct(out, value)


def _write_varint(out: bytearray, value: int) -> None:
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def _signed(zigzag: int) -> int:
    return (zigzag >> 1) ^ -(zigzag & 1)
