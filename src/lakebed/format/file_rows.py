"""What do all readers of data files owe, whatever the format?

They check that the file has the columns and the number of rows that it should have, and they hand
out Arrow columns of exactly the types asked for. A decoder's own types may differ in width (large
or not), in the names of list elements, or in the order of a struct's fields; `conform` settles it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import CorruptTableError, UnsupportedError
from lakebed.format.arrow.nested import (
    entries_of,
    part_of,
    values_of,
    with_entries,
    with_parts,
    with_values,
)
from lakebed.format.arrow.typing import ArrowArray, ArrowChunks

# The stubs know too few types of chunks.
_arrow: Any = pa

Mask = npt.NDArray[np.bool_]

_VARIANT_PARTS = {"value", "metadata"}
_SHREDDED_PART = "typed_value"


@dataclass(frozen=True, slots=True)
class FileShape:
    """What a file says of some columns before any is decoded.

    Attributes:
        row_count: Rows of the file.
        uncompressed_bytes: Their encoded but uncompressed size; an estimate where the format does
            not keep it.
    """

    row_count: int
    uncompressed_bytes: int


def check_columns(present: Iterable[str], path: str, schema: pa.Schema) -> None:
    """Checks that a file has the columns wanted, and that they can be read at all.

    Raises:
        CorruptTableError: One is missing.
        UnsupportedError: One is a VECTOR.
    """
    names = set(present)
    for field in schema:
        if field.name not in names:
            raise CorruptTableError(path, f"has no column {field.name!r}, only {sorted(names)}")
        if _holds_vector(field.type):
            raise UnsupportedError(f"{path}: column {field.name!r} is a VECTOR: not read yet")


def check_row_count(found: int, path: str, row_count: int | None) -> None:
    """Checks the number of rows against the manifest's.

    Raises:
        CorruptTableError: It is another one.
    """
    if row_count is not None and found != row_count:
        raise CorruptTableError(path, f"holds {found} rows where the manifest says {row_count}")


def conform(table: pa.Table, schema: pa.Schema, path: str) -> pa.Table:
    """Casts columns as a decoder names and types them to the types asked for.

    Raises:
        CorruptTableError: A column of the file cannot hold the type that the table's schema gives.
        UnsupportedError: A VARIANT column is shredded.
    """
    columns = []
    for field in schema:
        column = table.column(field.name)
        if column.type != field.type:
            try:
                column = _cast(column, field.type)
            except _ShreddedError as error:
                raise UnsupportedError(
                    f"{path}: column {field.name!r} holds shredded variants: not read yet"
                ) from error
            except UnicodeDecodeError as error:
                problem = f"column {field.name!r} has a field whose name is no text: {error}"
                raise CorruptTableError(path, problem) from error
            except (pa.ArrowException, KeyError) as error:
                raise CorruptTableError(
                    path, f"column {field.name!r} is {column.type}, not {field.type}: {error}"
                ) from error
        columns.append(column)
    return pa.table(columns, schema=schema)


class _ShreddedError(Exception):
    """A variant's value lies partly in columns of its own."""


def _cast(column: ArrowChunks, target: pa.DataType) -> ArrowChunks:
    if not pa.types.is_nested(target):
        return column.cast(target)
    chunks = [reshape(chunk, target) for chunk in column.chunks]
    reshaped: ArrowChunks = _arrow.chunked_array(chunks, target)
    return reshaped


def reshape(array: ArrowArray, target: pa.DataType) -> ArrowArray:
    """A nested array in another type: struct fields by name, list and map parts by place.

    Raises:
        ArrowException: The types do not fit.
        KeyError: A field of a struct is missing.
    """
    if array.type.equals(target, check_metadata=True):
        return array
    if isinstance(target, pa.StructType):
        return _reshape_struct(array, target)
    if isinstance(target, pa.MapType):
        keys, items = entries_of(array)
        entries = reshape(keys, target.key_type), reshape(items, target.item_type)
        return with_entries(array, entries, target)
    if isinstance(target, pa.ListType):
        return with_values(array, reshape(values_of(array), target.value_type), target)
    return array.cast(target)


def _reshape_struct(array: ArrowArray, target: pa.StructType) -> ArrowArray:
    present = {array.type.field(i).name for i in range(array.type.num_fields)}
    if _SHREDDED_PART in present and {field.name for field in target} == _VARIANT_PARTS:
        raise _ShreddedError
    parts = {field.name: reshape(part_of(array, field.name), field.type) for field in target}
    return with_parts(array, parts, target)


def _holds_vector(kind: pa.DataType) -> bool:
    if isinstance(kind, pa.FixedSizeListType):
        return True
    return any(_holds_vector(kind.field(i).type) for i in range(kind.num_fields))
