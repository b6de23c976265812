"""What does the end of an ORC file say that pyarrow does not tell?

    stripes | metadata | footer | postscript | length of the postscript (1 byte)
    stripe: streams, index first | stripe footer

The footer has the tree of types and the places of stripes, a stripe footer the places of streams
and the zone of the writer. All are protocol buffers, cut into chunks that are compressed each on
its own, with three bytes of head: the size and whether the chunk is uncompressed.
"""

import sys
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

import pyarrow as pa

from lakebed.errors import CorruptTableError, UnsupportedError
from lakebed.format.orc.protobuf import (
    encode_field,
    fields_of,
    messages_of,
    numbers_of,
    read_varint,
    unpacked_varints,
)

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_CHUNK_HEAD = 3
_MAX_PRECISION = 38
_TYPES = 4
_CODECS = {3: "LZO", 6: "Brotli"}
UNPACKABLE = frozenset({0, 1, 2, 4, 5})
"""Numbers of the codecs that `read_stream` unpacks: none, zlib, snappy, lz4 and zstd."""
# Magic, version 1 with independent blocks of at most 4 MB, and the checksum of these two bytes.
_LZ4_FRAME_HEAD = bytes.fromhex("04224d18 607073")


class TypeKind(IntEnum):
    """Kinds of types that matter here."""

    LONG = 4
    STRING = 7
    BINARY = 8
    TIMESTAMP = 9
    LIST = 10
    MAP = 11
    STRUCT = 12
    DECIMAL = 14
    VARCHAR = 16
    CHAR = 17
    TIMESTAMP_INSTANT = 18


TEXTS = frozenset({TypeKind.STRING, TypeKind.BINARY, TypeKind.VARCHAR, TypeKind.CHAR})
"""Types whose values are bytes, as many as a length says."""
LISTS = frozenset({TypeKind.LIST, TypeKind.MAP})
"""Types whose values are values of another column, as many as a length says."""


class StreamKind(IntEnum):
    """Kinds of streams that matter here."""

    DATA = 1
    LENGTH = 2
    DICTIONARY_DATA = 3
    SECONDARY = 5


@dataclass(frozen=True, slots=True)
class OrcType:
    """A node of the tree of types; its column id is its place in the list of them.

    Attributes:
        kind: Its number, a `TypeKind` where that has it.
        children: Column ids.
        names: Of a struct's fields.
    """

    kind: int
    children: tuple[int, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stripe:
    """Where a stripe is.

    Attributes:
        offset: Of its first stream.
        streams_bytes: Size of all its streams.
        footer_bytes: Size of its footer, which follows them.
        row_count: Rows in it.
    """

    offset: int
    streams_bytes: int
    footer_bytes: int
    row_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OrcTail:
    """The end of a file.

    Attributes:
        path: The file.
        compression: Number of the codec.
        block_bytes: The most that a chunk unpacks to.
        footer_start: Where the footer begins.
        footer: Its message.
        postscript: Its message.
        types: By column id; the first is the struct of a row.
        stripes: In order.
    """

    path: str
    compression: int
    block_bytes: int
    footer_start: int
    footer: bytes
    postscript: bytes
    types: tuple[OrcType, ...]
    stripes: tuple[Stripe, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StripeFooter:
    """Where the streams of a stripe are.

    Attributes:
        streams: Column id and kind to offset and size, of the streams that are there.
        encodings: Kind of the encoding, by column id.
        dictionary_sizes: Number of texts in the dictionary, by column id; 0 without one.
        zone: The writer's; None where the file does not say.
    """

    streams: Mapping[tuple[int, int], tuple[int, int]]
    encodings: tuple[int, ...]
    dictionary_sizes: tuple[int, ...]
    zone: str | None


def read_tail(source: pa.NativeFile, path: str) -> OrcTail:
    """The end of a file.

    Raises:
        CorruptTableError: It is not that of an ORC file.
        UnsupportedError: The codec is LZO or Brotli.
    """
    size = source.size()
    postscript_size = _read_at(source, path, (size - 1, 1))[0] if size else 0
    postscript = _read_at(source, path, (size - 1 - postscript_size, postscript_size))
    ends = numbers_of(postscript, path)
    footer_size = ends.get(1, 0)
    footer_start = size - 1 - postscript_size - footer_size
    compression, block_bytes = ends.get(2, 0), ends.get(3, 0)
    footer = unpack(
        _read_at(source, path, (footer_start, footer_size)), path, (compression, block_bytes)
    )
    return OrcTail(
        path=path,
        compression=compression,
        block_bytes=block_bytes,
        footer_start=footer_start,
        footer=footer,
        postscript=postscript,
        types=tuple(_type(part, path) for part in messages_of(footer, path, _TYPES)),
        stripes=tuple(_stripe(part, path) for part in messages_of(footer, path, 3)),
    )


def read_stripe_footer(source: pa.NativeFile, tail: OrcTail, stripe: Stripe) -> StripeFooter:
    """The footer of one stripe.

    Raises:
        CorruptTableError: It is truncated or no such message.
    """
    span = (stripe.offset + stripe.streams_bytes, stripe.footer_bytes)
    message = unpack(
        _read_at(source, tail.path, span), tail.path, (tail.compression, tail.block_bytes)
    )
    streams: dict[tuple[int, int], tuple[int, int]] = {}
    offset = stripe.offset
    for part in messages_of(message, tail.path, 1):
        stream = numbers_of(part, tail.path)
        length = stream.get(3, 0)
        # Of two of one kind, which there should not be, decoders take the first.
        streams.setdefault((stream.get(2, 0), stream.get(1, 0)), (offset, length))
        offset += length
    encodings = [numbers_of(part, tail.path) for part in messages_of(message, tail.path, 2)]
    zones = [zone.decode(errors="replace") for zone in messages_of(message, tail.path, 3)]
    return StripeFooter(
        streams=streams,
        encodings=tuple(numbers.get(1, 0) for numbers in encodings),
        dictionary_sizes=tuple(numbers.get(2, 0) for numbers in encodings),
        zone=zones[0] if zones else None,
    )


def read_stream(source: pa.NativeFile, tail: OrcTail, span: tuple[int, int]) -> bytes:
    """A stream, unpacked, from its offset and size.

    Raises:
        CorruptTableError: It is truncated or cannot be unpacked.
    """
    packed = _read_at(source, tail.path, span)
    return unpack(packed, tail.path, (tail.compression, tail.block_bytes))


def unpacked_bytes_max(source: pa.NativeFile, tail: OrcTail, span: tuple[int, int]) -> int:
    """The most bytes that a stream can unpack to, from its offset and size; nothing is unpacked.

    Raises:
        CorruptTableError: It is truncated.
    """
    offset, length = span
    if tail.compression == 0:
        return length
    position, unpacked = offset, 0
    while position < offset + length:
        head = int.from_bytes(_read_at(source, tail.path, (position, _CHUNK_HEAD)), "little")
        unpacked += head >> 1 if head & 1 else tail.block_bytes
        position += _CHUNK_HEAD + (head >> 1)
    return unpacked


def tail_with_numbers(tail: OrcTail) -> bytes:
    """The end of a file from `footer_start` on, in which timestamps are said to be LONG.

    A decoder that believes it reads the stream of seconds, and leaves that of nanoseconds unread.
    """
    types = [_as_long(message) for message in messages_of(tail.footer, tail.path, _TYPES)]
    return tail_with_types(tail, types)


def tail_with_types(tail: OrcTail, types: Sequence[bytes]) -> bytes:
    """The end of a file from `footer_start` on, with other messages for the tree of types."""
    others = iter(types)
    footer = b"".join(
        encode_field(number, next(others) if number == _TYPES else value)
        for number, value in fields_of(tail.footer, tail.path)
    )
    if tail.compression:
        step = min(tail.block_bytes, (1 << 23) - 1) or 1
        chunks = (footer[start : start + step] for start in range(0, len(footer), step))
        footer = b"".join((len(c) << 1 | 1).to_bytes(3, "little") + c for c in chunks)
    postscript = b"".join(
        encode_field(number, len(footer) if number == 1 else value)
        for number, value in fields_of(tail.postscript, tail.path)
    )
    return footer + postscript + bytes([len(postscript)])


def unpack(packed: bytes, path: str, compression: tuple[int, int]) -> bytes:
    """Chunks as they were before compression.

    Args:
        packed: The chunks.
        path: For messages.
        compression: Number of the codec, and the most that a chunk unpacks to.

    Raises:
        CorruptTableError: A chunk is truncated or cannot be unpacked.
        UnsupportedError: The codec is LZO or Brotli.
    """
    codec, block_bytes = compression
    if codec == 0:
        return packed
    parts = []
    position = 0
    while position < len(packed):
        head = int.from_bytes(packed[position : position + _CHUNK_HEAD], "little")
        start = position + _CHUNK_HEAD
        position = start + (head >> 1)
        if position > len(packed):
            raise CorruptTableError(path, "an ORC chunk ends after its stream")
        chunk = packed[start:position]
        parts.append(chunk if head & 1 else _unpack_chunk(chunk, path, (codec, block_bytes)))
    return b"".join(parts)


def _unpack_chunk(chunk: bytes, path: str, compression: tuple[int, int]) -> bytes:
    codec, block_bytes = compression
    try:
        match codec:
            case 1:
                return zlib.decompress(chunk, wbits=-zlib.MAX_WBITS)
            case 2:
                size = read_varint(chunk, 0, path)[0]
                return _unpack_snappy(chunk, min(size, block_bytes))
            case 4:
                return _unpack_lz4(chunk)
            case 5:
                return zstd.decompress(chunk)
            case _:
                pass
    except (zstd.ZstdError, zlib.error, OSError, ValueError, EOFError) as error:
        raise CorruptTableError(path, f"an ORC chunk cannot be unpacked: {error}") from error
    raise UnsupportedError(
        f"{path}: timestamps of ORC files cannot be read with {_CODECS.get(codec, codec)}, only "
        "with none, zlib, snappy, lz4 or zstd"
    )


def _unpack_lz4(chunk: bytes) -> bytes:
    """A bare block, which does not say its size; so it is read as the one block of a frame."""
    block = len(chunk).to_bytes(4, "little") + chunk
    framed = pa.BufferReader(_LZ4_FRAME_HEAD + block + bytes(4))
    with pa.CompressedInputStream(framed, "lz4") as stream:
        return stream.read()


def _unpack_snappy(chunk: bytes, size: int) -> bytes:
    unpacked: bytes = pa.decompress(chunk, decompressed_size=size, codec="snappy", asbytes=True)
    return unpacked


def _read_at(source: pa.NativeFile, path: str, span: tuple[int, int]) -> bytes:
    offset, length = span
    if offset < 0 or offset + length > source.size():
        raise CorruptTableError(path, "is not a whole ORC file: its parts lie outside of it")
    source.seek(offset)
    return source.read(length)


def _type(message: bytes, path: str) -> OrcType:
    children: list[int] = []
    for number, value in fields_of(message, path):
        if number == 2:
            children += [value] if isinstance(value, int) else unpacked_varints(value, path)
    names = tuple(name.decode(errors="replace") for name in messages_of(message, path, 3))
    numbers = numbers_of(message, path)
    kind, precision = numbers.get(1, 0), numbers.get(5, 0)
    # Asked for a type that it cannot have, the decoder ends the process.
    if kind == TypeKind.DECIMAL and precision > _MAX_PRECISION:
        raise CorruptTableError(path, f"an ORC column is a decimal of {precision} digits")
    return OrcType(kind, tuple(children), names)


def _stripe(message: bytes, path: str) -> Stripe:
    numbers = numbers_of(message, path)
    return Stripe(
        offset=numbers.get(1, 0),
        streams_bytes=numbers.get(2, 0) + numbers.get(3, 0),
        footer_bytes=numbers.get(4, 0),
        row_count=numbers.get(5, 0),
    )


def _as_long(message: bytes) -> bytes:
    kinds = {TypeKind.TIMESTAMP, TypeKind.TIMESTAMP_INSTANT}
    return b"".join(
        encode_field(number, int(TypeKind.LONG) if number == 1 and value in kinds else value)
        for number, value in fields_of(message, "")
    )
