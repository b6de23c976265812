"""Protocol buffers, as far as ORC's footers need them.

Few fields of few messages are looked at, so they are read by number, without generated classes.
"""

from collections.abc import Iterator

from lakebed.errors import CorruptTableError

_MAX_VARINT_LENGTH = 10


def numbers_of(message: bytes, path: str) -> dict[int, int]:
    """The fields that are numbers, the last of each."""
    return {n: value for n, value in fields_of(message, path) if isinstance(value, int)}


def messages_of(message: bytes, path: str, number: int) -> list[bytes]:
    """Every value of a field that holds bytes."""
    return [v for n, v in fields_of(message, path) if n == number and isinstance(v, bytes)]


def fields_of(message: bytes, path: str) -> Iterator[tuple[int, int | bytes]]:
    """Field numbers with their varints or bytes; other wire types do not occur."""
    position = 0
    while position < len(message):
        tag, position = read_varint(message, position, path)
        value, position = read_varint(message, position, path)
        if tag & 7 == 0:
            yield tag >> 3, value
        elif tag & 7 == 2 and position + value <= len(message):
            yield tag >> 3, message[position : position + value]
            position += value
        else:
            raise CorruptTableError(path, "an ORC footer is no message of its kind")


def unpacked_varints(value: bytes, path: str) -> list[int]:
    """The numbers of a packed field."""
    numbers: list[int] = []
    position = 0
    while position < len(value):
        number, position = read_varint(value, position, path)
        numbers.append(number)
    return numbers


def read_varint(message: bytes, position: int, path: str) -> tuple[int, int]:
    """The number at a position, and where it ends.

    Raises:
        CorruptTableError: It does not end.
    """
    value = 0
    for index, byte in enumerate(message[position : position + _MAX_VARINT_LENGTH]):
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value, position + index + 1
    raise CorruptTableError(path, "an ORC footer has a number that does not end")


def encode_field(number: int, value: int | bytes) -> bytes:
    """A field with a number or bytes."""
    if isinstance(value, int):
        return encode_varint(number << 3) + encode_varint(value)
    return encode_varint(number << 3 | 2) + encode_varint(len(value)) + value


def encode_varint(value: int) -> bytes:
    """A number."""
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
