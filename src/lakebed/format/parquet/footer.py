"""What does the footer of a Parquet file say that pyarrow does not tell, or not safely?

Asked for the codec of a damaged file, pyarrow ends the process; and INT96 values it gives as
timestamps alone, whether they fit or not; and it writes all timestamps of a file as INT96 or none.
So the footer is read here as the message that it is, and may be changed before a decoder sees it,
or before it is written.
"""

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq

from lakebed.errors import CorruptTableError
from lakebed.format.parquet.thrift_compact import Field, Items, Struct, read_struct, write_struct
from lakebed.format.patched_file import open_patched

__all__ = ["LZO", "codecs_of", "end_with_int96", "open_raw"]

LZO = 3
"""Number of the codec that no library reads."""

_MAGIC = b"PAR1"
_LENGTH_BYTES = 4
_INT96 = 3
_FIXED_BYTES = 7
_WIDTH = 12
_I32 = 5

# Numbers of fields in Parquet's messages.
_SCHEMA, _ROW_GROUPS, _KEY_VALUES = 2, 4, 5
_TYPE, _TYPE_LENGTH = 1, 2
_COLUMNS, _COLUMN_METADATA = 1, 3
_CODEC = 4
_ANNOTATIONS = frozenset({6, 10})


def codecs_of(source: pa.NativeFile, path: str) -> set[int]:
    """Numbers of the codecs of all columns.

    Raises:
        CorruptTableError: The footer cannot be read.
    """
    return {_numbers(column).get(_CODEC, 0) >> 1 for column in _column_metadata(source, path)}


def open_raw(source: pa.NativeFile, path: str) -> pq.ParquetFile:
    """The file with its INT96 columns as binary of twelve bytes.

    Raises:
        CorruptTableError: The footer cannot be read.
    """
    start, metadata = _read_footer(source, path)
    footer = write_struct(_without_int96(metadata))
    tail = footer + len(footer).to_bytes(_LENGTH_BYTES, "little") + _MAGIC
    return pq.ParquetFile(open_patched(source, start, tail), pre_buffer=False)


def end_with_int96(end: bytes) -> bytes:
    """The end of a file, from its footer on or before, with INT96 for bare binary of twelve bytes.

    No other type of the format is stored as such binary without saying what it means.
    """
    length_at = len(end) - len(_MAGIC) - _LENGTH_BYTES
    length = int.from_bytes(end[length_at : length_at + _LENGTH_BYTES], "little")
    start = length_at - length
    metadata = read_struct(end[start:length_at])
    leaves = [each for each in _structs(metadata, _SCHEMA) if each[0].number == _TYPE]
    are_int96 = [_is_bare_binary(leaf) for leaf in leaves]
    changed = [
        _each(field, _int96_element)
        if field.number == _SCHEMA
        else _each(field, lambda group: _int96_row_group(group, are_int96))
        if field.number == _ROW_GROUPS
        else field
        for field in metadata
    ]
    footer = write_struct(changed)
    return end[:start] + footer + len(footer).to_bytes(_LENGTH_BYTES, "little") + _MAGIC


def _read_footer(source: pa.NativeFile, path: str) -> tuple[int, Struct]:
    end = source.size() - len(_MAGIC) - _LENGTH_BYTES
    source.seek(max(end, 0))
    start = end - int.from_bytes(source.read(_LENGTH_BYTES), "little")
    try:
        source.seek(start)
        return start, read_struct(source.read(end - start))
    except (ValueError, OSError) as error:
        raise CorruptTableError(path, f"its Parquet footer cannot be read: {error}") from error


def _column_metadata(source: pa.NativeFile, path: str) -> list[Struct]:
    _, metadata = _read_footer(source, path)
    groups = _structs(metadata, _ROW_GROUPS)
    chunks = [chunk for group in groups for chunk in _structs(group, _COLUMNS)]
    found = [field.value for chunk in chunks for field in chunk if field.number == _COLUMN_METADATA]
    return [value for value in found if isinstance(value, list)]


def _numbers(message: Struct) -> dict[int, int]:
    return {f.number: f.value for f in message if isinstance(f.value, int)}


def _structs(message: Struct, number: int) -> list[Struct]:
    """The structs in a field that is a list of them."""
    lists = [f.value for f in message if f.number == number and isinstance(f.value, Items)]
    return [value for items in lists for value in items.values if isinstance(value, list)]


def _without_int96(metadata: Struct) -> Struct:
    """A file's metadata with INT96 as binary, and without what engines keep in it."""
    changed: Struct = []
    for field in metadata:
        if field.number == _SCHEMA:
            changed.append(_each(field, _fixed_element))
        elif field.number == _ROW_GROUPS:
            changed.append(_each(field, _fixed_row_group))
        elif field.number != _KEY_VALUES:
            changed.append(field)
    return changed


def _each(field: Field, change: Callable[[Struct], Struct]) -> Field:
    if not isinstance(field.value, Items):
        return field
    values = [change(value) if isinstance(value, list) else value for value in field.value.values]
    return replace(field, value=replace(field.value, values=values))


def _fixed_element(element: Struct) -> Struct:
    if not _is_int96(element):
        return element
    rest = [field for field in element if field.number > _TYPE_LENGTH]
    return [_number(_TYPE, _FIXED_BYTES), _number(_TYPE_LENGTH, _WIDTH), *rest]


def _fixed_row_group(group: Struct) -> Struct:
    return [_each(field, _fixed_chunk) if field.number == _COLUMNS else field for field in group]


def _fixed_chunk(chunk: Struct) -> Struct:
    return [
        replace(field, value=_fixed_metadata(field.value))
        if field.number == _COLUMN_METADATA and isinstance(field.value, list)
        else field
        for field in chunk
    ]


def _fixed_metadata(metadata: Struct) -> Struct:
    if not _is_int96(metadata):
        return metadata
    return [_number(_TYPE, _FIXED_BYTES) if f.number == _TYPE else f for f in metadata]


def _is_bare_binary(element: Struct) -> bool:
    fixed = [_number(_TYPE, _FIXED_BYTES), _number(_TYPE_LENGTH, _WIDTH)]
    return element[:2] == fixed and not any(field.number in _ANNOTATIONS for field in element)


def _int96_element(element: Struct) -> Struct:
    return [_number(_TYPE, _INT96), *element[2:]] if _is_bare_binary(element) else element


def _int96_row_group(group: Struct, are_int96: list[bool]) -> Struct:
    verdicts = iter(are_int96)

    def change(chunk: Struct) -> Struct:
        if not next(verdicts):
            return chunk
        return [
            replace(field, value=[_number(_TYPE, _INT96), *field.value[1:]])
            if field.number == _COLUMN_METADATA and isinstance(field.value, list)
            else field
            for field in chunk
        ]

    return [_each(field, change) if field.number == _COLUMNS else field for field in group]


def _is_int96(fields: Struct) -> bool:
    return any(field == _number(_TYPE, _INT96) for field in fields)


def _number(number: int, value: int) -> Field:
    # Numbers are kept as they are encoded, with the sign in the lowest bit.
    return Field(number, _I32, value << 1)
