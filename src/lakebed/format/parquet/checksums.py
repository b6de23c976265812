"""Are the pages of a Parquet file what their writer left?

The format's writers keep a CRC of every page in its header. pyarrow looks at it when asked to,
polars never; so before polars decodes, the pages of the columns wanted are checked here. Pages
without a CRC, as most other writers leave them, are passed over.
"""

import zlib
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from lakebed.errors import CorruptTableError

__all__ = ["check_pages"]

# Fields of a page's header, and types of fields, in Thrift's compact protocol.
_UNPACKED_SIZE, _COMPRESSED_SIZE, _CRC = 2, 3, 4
_DATA_PAGE, _DICTIONARY_PAGE, _DATA_PAGE_V2 = 5, 7, 8
_VALUE_COUNT, _LEVEL_SIZES = 1, (5, 6)
_BOOLEANS, _BYTE, _VARINTS, _DOUBLE, _BINARY, _STRUCT = (1, 2), 3, (4, 5, 6), 7, 8, 12
_MAX_DEPTH = 8


def check_pages(
    metadata: pq.FileMetaData, source: pa.NativeFile, *, path: str, names: list[str]
) -> None:
    """Compares the pages of some columns with their checksums, and their heads with the footer.

    Raises:
        CorruptTableError: One differs, or a page lies outside of its column or claims more than the
            column has.
    """
    wanted = set(names)
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        for index in range(row_group.num_columns):
            column = row_group.column(index)
            if column.path_in_schema.split(".", 1)[0] not in wanted:
                continue
            starts = (column.dictionary_page_offset, column.data_page_offset)
            offset = min(start for start in starts if start)
            size = column.total_compressed_size
            if not 0 <= offset <= offset + size <= source.size():
                problem = f"column {column.path_in_schema!r} should have {size} bytes at {offset}"
                raise CorruptTableError(path, problem)
            source.seek(offset)
            chunk = source.read(size)
            try:
                _check_chunk(chunk, _Limits(column.num_values, column.total_uncompressed_size))
            except (ValueError, IndexError) as error:
                raise CorruptTableError(path, f"a page at {offset} is damaged: {error}") from error


class _Limits(NamedTuple):
    """The most that a page of a column can have."""

    values: int
    unpacked_bytes: int


def _check_chunk(chunk: bytes, limits: _Limits) -> None:
    position = 0
    pages = memoryview(chunk)
    while position < len(chunk):
        header = _read_header(chunk, position)
        # polars takes the memory that a head asks for, and ends the process where there is none.
        if not 0 <= header.value_count <= limits.values:
            raise ValueError(f"it has {header.value_count} values, its column {limits.values}")
        if not 0 <= header.unpacked_size <= limits.unpacked_bytes:
            raise ValueError(f"it unpacks to {header.unpacked_size} bytes")
        if not all(0 <= size <= header.unpacked_size for size in header.level_sizes):
            raise ValueError("its levels are larger than itself")
        position = header.end + header.compressed_size
        if not header.end <= position <= len(chunk):
            raise ValueError("it ends outside of its column")
        if header.crc is not None and zlib.crc32(pages[header.end : position]) != header.crc:
            raise ValueError("its checksum differs")


class _Header(NamedTuple):
    compressed_size: int
    unpacked_size: int
    value_count: int
    level_sizes: tuple[int, ...]
    crc: int | None
    end: int


def _read_header(data: bytes, position: int) -> _Header:
    """What a page's header says of its size, and where it ends; the rest is passed over."""
    numbers, inside, end = _read_numbers(data, position, depth=0)
    page = inside.get(_DATA_PAGE) or inside.get(_DICTIONARY_PAGE) or inside.get(_DATA_PAGE_V2) or {}
    crc = numbers.get(_CRC)
    return _Header(
        compressed_size=numbers.get(_COMPRESSED_SIZE, 0),
        unpacked_size=numbers.get(_UNPACKED_SIZE, 0),
        value_count=page.get(_VALUE_COUNT, 0),
        level_sizes=tuple(page.get(field, 0) for field in _LEVEL_SIZES)
        if _DATA_PAGE_V2 in inside
        else (),
        crc=None if crc is None else crc & 0xFFFFFFFF,
        end=end,
    )


def _read_numbers(
    data: bytes, position: int, *, depth: int
) -> tuple[dict[int, int], dict[int, dict[int, int]], int]:
    """The numbers in a struct, those in the structs inside of it, and where it ends."""
    if depth > _MAX_DEPTH:
        raise ValueError("its header is none of a page")
    numbers: dict[int, int] = {}
    inside: dict[int, dict[int, int]] = {}
    number = 0
    while head := data[position]:
        position += 1
        kind = head & 15
        if head < 16:
            raise ValueError("its header is none of a page")
        number += head >> 4
        if kind in _VARINTS:
            zigzag, position = _varint(data, position)
            numbers[number] = (zigzag >> 1) ^ -(zigzag & 1)
        elif kind == _STRUCT:
            inside[number], _, position = _read_numbers(data, position, depth=depth + 1)
        elif kind == _BINARY:
            length, position = _varint(data, position)
            position += length
        elif kind in {_BYTE, _DOUBLE}:
            position += 1 if kind == _BYTE else 8
        elif kind not in _BOOLEANS:
            raise ValueError("its header is none of a page")
    return numbers, inside, position + 1


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while (byte := data[position]) > 0x7F:
        value |= (byte & 0x7F) << shift
        shift += 7
        position += 1
    return value | byte << shift, position + 1
