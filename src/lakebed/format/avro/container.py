"""How does an Avro file frame its records?

    magic | metadata map (schema, codec) | sync | { count | size | compressed records | sync } ...

The frame is ours, and not a library's, for two reasons: whoever decodes the records may then be
given other metadata than the file's (`avro` does), and the schema text that a writer leaves in the
header is exactly the format's. Nothing here looks into a record.
"""

import bz2
import hashlib
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from lakebed.errors import CorruptTableError, UnsupportedError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_MAGIC = b"Obj\x01"
_SYNC_LENGTH = 16
_MAX_VARINT_LENGTH = 10
_NO_CODEC = "null"
_WRITABLE_CODECS = {
    "zstd": "zstandard",
    "zstandard": "zstandard",
    "deflate": "deflate",
    "snappy": "snappy",
    _NO_CODEC: _NO_CODEC,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """What an Avro file holds.

    Attributes:
        schema: The writer's schema, as it stands in the header.
        count: How many records there are.
        blocks: The encoded records, decompressed; a record never spans two blocks.
    """

    schema: str
    count: int
    blocks: tuple[bytes, ...]


def read_container(data: bytes, path: str) -> Container:
    """Opens the frame and decompresses the blocks.

    Raises:
        CorruptTableError: The file is truncated or no Avro file.
        UnsupportedError: The codec is none of Avro's.
    """
    blocks = BlockReader(io.BytesIO(data), len(data), path=path)
    counts, records = zip(*blocks, strict=True) if blocks.has_blocks else ((), ())
    return Container(schema=blocks.schema, count=sum(counts), blocks=records)


class BlockReader:
    """Iterates over the blocks of a file, each a count and its decompressed records, once.

    Attributes:
        schema: The writer's schema, as it stands in the header.
    """

    def __init__(self, source: io.BufferedIOBase, size_bytes: int, *, path: str) -> None:
        """Reads the header.

        Args:
            source: The file, at its start; it stays open for as long as blocks are read.
            size_bytes: Of the file.
            path: For messages.

        Raises:
            CorruptTableError: The file is truncated or no Avro file.
            UnsupportedError: The codec is none of Avro's.
        """
        self._cursor = _Cursor(source, size_bytes, path)
        self._path = path
        if self._cursor.take(len(_MAGIC), "the magic") != _MAGIC:
            raise CorruptTableError(path, "not an Avro file: it does not start with 'Obj1'")
        metadata = _read_metadata(self._cursor)
        self._sync = self._cursor.take(_SYNC_LENGTH, "the sync marker")
        schema = metadata.get("avro.schema")
        if schema is None:
            raise CorruptTableError(path, "the Avro header has no schema")
        self.schema = schema.decode(errors="replace")
        codec = metadata.get("avro.codec", _NO_CODEC.encode()).decode(errors="replace")
        if codec not in _DECOMPRESS:
            raise UnsupportedError(
                f"{path}: Avro codec {codec!r} is none of {', '.join(_DECOMPRESS)}. "
                "Rewrite the file with one of these"
            )
        self._codec = codec

    @property
    def has_blocks(self) -> bool:
        """Whether blocks are left."""
        return not self._cursor.is_at_end

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """The blocks that are left.

        Raises:
            CorruptTableError: A block is truncated or cannot be unpacked.
        """
        while self.has_blocks:
            count, block = _read_block(self._cursor, self._sync)
            records = _decompress(block, self._codec, self._path)
            # Records take at least a byte each; this bounds what a reader allocates.
            if not 0 <= count <= len(records):
                raise self._cursor.corrupt(f"an Avro block claims {count} records")
            yield count, records

    def sizes(self) -> Iterator[tuple[int, int]]:
        """Count and compressed bytes of the blocks that are left, none of which is unpacked.

        Raises:
            CorruptTableError: A block is truncated.
        """
        while self.has_blocks:
            yield _skip_block(self._cursor, self._sync)


def write_container(
    schema_text: str, blocks: Iterable[tuple[int, bytes]], *, compression: str, level: int
) -> bytes:
    """Frames blocks, each given as its count and its records.

    Args:
        schema_text: The schema, written as it is.
        blocks: Counts and encoded records.
        compression: `zstd`, `deflate`, `snappy` or `null`.
        level: Of zstd.

    Raises:
        UnsupportedError: Another compression.
    """
    codec = writable_codec(compression)
    packed = [(count, _compress(payload, codec, level)) for count, payload in blocks]
    sync = _sync_marker(block for _, block in packed)
    parts = [_header(schema_text, codec), sync]
    for count, block in packed:
        parts += [encode_long(count), encode_long(len(block)), block, sync]
    return b"".join(parts)


class BlockWriter:
    """Writes a file block by block, so that little of it is held."""

    def __init__(
        self, sink: pa.NativeFile, schema_text: str, *, compression: str, level: int
    ) -> None:
        """Writes nothing yet.

        Args:
            sink: Where the bytes go.
            schema_text: The schema, written as it is.
            compression: `zstd`, `deflate`, `snappy` or `null`.
            level: Of zstd.

        Raises:
            UnsupportedError: Another compression.
        """
        self._sink = sink
        self._schema_text = schema_text
        self._codec = writable_codec(compression)
        self._level = level
        self._sync: bytes | None = None

    def write(self, count: int, records: memoryview) -> None:
        """Adds a block of that many encoded records."""
        block = _compress(records, self._codec, self._level)
        sync = self._begin(block)
        self._sink.write(b"".join([encode_long(count), encode_long(len(block)), block, sync]))

    def close(self) -> None:
        """Ends the file, which has a header even without blocks."""
        self._begin(self._schema_text.encode())

    def _begin(self, first: bytes) -> bytes:
        if self._sync is None:
            self._sync = _sync_marker([first])
            self._sink.write(_header(self._schema_text, self._codec) + self._sync)
        return self._sync


def writable_codec(compression: str) -> str:
    """The name in a file's header of a value of `file.compression`, in any case.

    Raises:
        UnsupportedError: Avro files cannot be written with it.
    """
    codec = _WRITABLE_CODECS.get(compression.lower())
    if codec is None:
        raise UnsupportedError(
            f"Avro files cannot be written with compression {compression!r}; "
            "use zstd, deflate, snappy or null"
        )
    return codec


def reframe(schema_text: str, blocks: Sequence[bytes], *, count: int) -> bytes:
    """One uncompressed block of all the records, under another schema; for decoders only."""
    sync = bytes(_SYNC_LENGTH)
    size = sum(map(len, blocks))
    start = [_header(schema_text, _NO_CODEC), sync, encode_long(count), encode_long(size)]
    return b"".join([*start, *blocks, sync])


def encode_long(value: int) -> bytes:
    """The zigzag varint of a 64-bit number."""
    rest = (value << 1) ^ (value >> 63)
    encoded = bytearray()
    while rest > 0x7F:
        encoded.append(rest & 0x7F | 0x80)
        rest >>= 7
    encoded.append(rest)
    return bytes(encoded)


class _Cursor:
    """A position in the file; every step is checked against the end."""

    def __init__(self, source: io.BufferedIOBase, size_bytes: int, path: str) -> None:
        self._source = source
        self._size = size_bytes
        self._path = path
        self._position = 0

    @property
    def is_at_end(self) -> bool:
        return self._position == self._size

    def take(self, length: int, what: str) -> bytes:
        self._move(length, what)
        taken = self._source.read(length)
        if len(taken) != length:
            raise self.corrupt(f"truncated: {what} ends before {self._position}")
        return taken

    def skip(self, length: int, what: str) -> None:
        self._move(length, what)
        self._source.seek(length, io.SEEK_CUR)

    def _move(self, length: int, what: str) -> None:
        end = self._position + length
        if length < 0 or end > self._size:
            raise self.corrupt(
                f"truncated: {what} should have {length} bytes at {self._position}, "
                f"the file has {self._size}"
            )
        self._position = end

    def take_long(self, what: str) -> int:
        value = 0
        for shift in range(0, 7 * _MAX_VARINT_LENGTH, 7):
            byte = self.take(1, what)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1)
        raise self.corrupt(f"{what} is no number, before {self._position}")

    def corrupt(self, problem: str) -> CorruptTableError:
        return CorruptTableError(self._path, problem)


def _read_metadata(cursor: _Cursor) -> dict[str, bytes]:
    metadata = {}
    while (count := cursor.take_long("the size of the metadata")) != 0:
        if count < 0:
            cursor.take_long("the byte size of the metadata")
        for _ in range(abs(count)):
            key = cursor.take(cursor.take_long("a metadata key"), "a metadata key")
            value = cursor.take(cursor.take_long("a metadata value"), "a metadata value")
            metadata[key.decode(errors="replace")] = value
    return metadata


def _read_block(cursor: _Cursor, sync: bytes) -> tuple[int, bytes]:
    count = cursor.take_long("the record count of a block")
    block = cursor.take(cursor.take_long("the size of a block"), "a block")
    _check_sync(cursor, sync)
    return count, block


def _skip_block(cursor: _Cursor, sync: bytes) -> tuple[int, int]:
    count = cursor.take_long("the record count of a block")
    size = cursor.take_long("the size of a block")
    cursor.skip(size, "a block")
    _check_sync(cursor, sync)
    return count, size


def _check_sync(cursor: _Cursor, sync: bytes) -> None:
    if cursor.take(_SYNC_LENGTH, "a sync marker") != sync:
        raise cursor.corrupt("a sync marker differs from the header's")


def _decompress(block: bytes, codec: str, path: str) -> bytes:
    try:
        return _DECOMPRESS[codec](block)
    except _DECOMPRESSION_ERRORS as error:
        raise CorruptTableError(path, f"a {codec} block cannot be unpacked: {error}") from error


def _compress(payload: bytes | memoryview, codec: str, level: int) -> bytes:
    match codec:
        case "zstandard":
            return zstd.compress(payload, level)
        case "deflate":
            return zlib.compress(payload, wbits=-zlib.MAX_WBITS)
        case "snappy":
            return _snap(payload)
        case _:
            return bytes(payload)


def _snap(payload: bytes | memoryview) -> bytes:
    compressed: bytes = pa.compress(payload, codec="snappy", asbytes=True)
    return compressed + zlib.crc32(payload).to_bytes(4, "big")


def _sync_marker(blocks: Iterable[bytes]) -> bytes:
    """Sixteen bytes that must only be improbable among the data; a digest needs no randomness."""
    digest = hashlib.blake2b(digest_size=_SYNC_LENGTH)
    for block in blocks:
        digest.update(block)
    return digest.digest()


def _header(schema_text: str, codec: str) -> bytes:
    members = [b"avro.schema", schema_text.encode(), b"avro.codec", codec.encode()]
    return _MAGIC + encode_long(2) + b"".join(map(_encode_bytes, members)) + encode_long(0)


def _encode_bytes(value: bytes) -> bytes:
    return encode_long(len(value)) + value


def _unzstd(block: bytes) -> bytes:
    """A frame, or several; the library's own function for several is slow for small blocks."""
    frame = zstd.ZstdDecompressor()
    records = frame.decompress(block)
    if frame.eof and not frame.unused_data:
        return records
    return zstd.decompress(block)


def _unsnap(block: bytes) -> bytes:
    """Raw snappy, whose first varint is the decompressed size, and a CRC of what it unpacks to."""
    size = 0
    for index, byte in enumerate(block[:5]):
        size |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            break
    decompressed: bytes = pa.decompress(
        block[:-4], decompressed_size=size, codec="snappy", asbytes=True
    )
    if zlib.crc32(decompressed) != int.from_bytes(block[-4:], "big"):
        raise ValueError("its checksum differs")
    return decompressed


_DECOMPRESS: dict[str, Callable[[bytes], bytes]] = {
    _NO_CODEC: bytes,
    "zstandard": _unzstd,
    "deflate": lambda block: zlib.decompress(block, wbits=-zlib.MAX_WBITS),
    "snappy": _unsnap,
    "bzip2": bz2.decompress,
    "xz": lzma.decompress,
}
_DECOMPRESSION_ERRORS = (zstd.ZstdError, zlib.error, lzma.LZMAError, OSError, ValueError, EOFError)
