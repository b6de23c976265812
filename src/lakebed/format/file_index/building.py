"""Which indexes does a table want in each data file, and how do rows become their bytes?

A `FileIndexes` is what the options say, checked against the columns; its `builder` takes the rows
of one file in their order and gives the container. No rows are kept: of a bloom filter just its
bits, of the other indexes the distinct values and a number a row.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import pyarrow as pa

from lakebed.errors import InvalidTableError, UnsupportedError
from lakebed.format.arrow.typing import ArrowColumn
from lakebed.format.file_index.bitmap import is_bitmap_type
from lakebed.format.file_index.bitmap_writing import BitmapBuilder
from lakebed.format.file_index.bloom import is_bloom_type
from lakebed.format.file_index.bloom_writing import BloomFilterBuilder
from lakebed.format.file_index.bsi import is_bsi_type
from lakebed.format.file_index.bsi_writing import BitSlicedBuilder
from lakebed.format.file_index.container import container_bytes
from lakebed.format.file_index.range_bitmap_writing import RangeBitmapBuilder
from lakebed.format.file_index.stored_values import is_indexable
from lakebed.format.schema import TableSchema
from lakebed.format.type_text import format_type
from lakebed.format.types import AtomicType, DataField
from lakebed.options.index_options import (
    ColumnIndexOptions,
    column_indexes,
    in_manifest_threshold,
)

__all__ = ["FileIndexBuilder", "FileIndexes"]


class _Builder(Protocol):
    def add(self, column: ArrowColumn) -> None: ...

    def finish(self) -> bytes | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FileIndexes:
    """The indexes that each data file of a table gets.

    Attributes:
        indexes: Each with the type of its column.
        in_manifest_bytes_max: Up to this size the manifest holds them (`file-index.in-manifest-
            threshold`); larger ones are a file beside the data file.
    """

    indexes: tuple[tuple[ColumnIndexOptions, AtomicType], ...]
    in_manifest_bytes_max: int

    @classmethod
    def of(cls, schema: TableSchema, options: Mapping[str, str]) -> "FileIndexes | None":
        """What a table's options ask for; None where they ask for no index.

        Args:
            schema: The table's columns.
            options: The options' texts.

        Raises:
            InvalidArgumentError: A text is no value of its option.
            InvalidTableError: An unknown column or setting, or a column of a type that an index of
                that type cannot hold.
            UnsupportedError: A type of index that Lakebed does not write, or of one key of a map.
        """
        wanted = column_indexes(options)
        if not wanted:
            return None
        return cls(
            indexes=tuple((index, _column_type(schema, index)) for index in wanted),
            in_manifest_bytes_max=in_manifest_threshold(options),
        )

    def of_file(self, fields: Mapping[str, DataField]) -> "FileIndexes":
        """What of them a file of another schema can have.

        Args:
            fields: By the present name of a column what it was for the file
                (`evolution.unchanged_fields`).
        """
        found = [
            (replace(index, column=fields[index.column].name), kind)
            for index, kind in self.indexes
            if index.column in fields
        ]
        return replace(self, indexes=tuple(found))

    @property
    def names(self) -> frozenset[tuple[str, str]]:
        """The column and the type of each."""
        return frozenset((index.column, index.index_type) for index, _ in self.indexes)

    def builder(self) -> "FileIndexBuilder":
        """Takes the rows of one file."""
        return FileIndexBuilder(self)


class FileIndexBuilder:
    """Makes the indexes of one data file."""

    def __init__(self, indexes: FileIndexes) -> None:
        """Begins with no rows."""
        self._builders = [
            (index.column, index.index_type, _builder(index, kind))
            for index, kind in indexes.indexes
        ]

    def add(self, rows: pa.Table) -> None:
        """Takes the next rows of the file; further columns do not matter."""
        for column, _, builder in self._builders:
            builder.add(rows.column(column))

    def finish(self) -> bytes:
        """The container with all indexes, for the manifest or a file of its own.

        Raises:
            UnsupportedError: They are larger than a container can be.
        """
        made: dict[str, dict[str, bytes]] = {}
        for column, index_type, builder in self._builders:
            data = builder.finish()
            if data is not None:
                made.setdefault(column, {})[index_type] = data
        return container_bytes(made)


def _column_type(schema: TableSchema, index: ColumnIndexOptions) -> AtomicType:
    key = f"'file-index.{index.index_type}.columns'"
    name = index.column
    if "[" in name and name.endswith("]"):
        problem = f"{key} names {name!r}: an index of one key of a map is not supported yet"
        raise UnsupportedError(f"{problem}. Leave it out.")
    kinds = {field.name: field.type for field in schema.fields}
    if name not in kinds:
        known = ", ".join(kinds)
        raise InvalidTableError(f"{key} names {name!r}, which is no column. Columns: {known}.")
    kind = kinds[name]
    if isinstance(kind, AtomicType) and _can_hold(index.index_type, kind):
        return kind
    held = format_type(kind)
    problem = f"{key} names {name!r}, but an index of type {index.index_type} cannot hold a {held}"
    raise InvalidTableError(f"{problem}. Leave it out or use another type of index.")


def _can_hold(index_type: str, kind: AtomicType) -> bool:
    match index_type:
        case "bloom-filter":
            return is_bloom_type(kind)
        case "bitmap":
            return is_indexable(kind) and is_bitmap_type(kind)
        case "bsi":
            return is_indexable(kind) and is_bsi_type(kind)
        case _:
            return is_indexable(kind)


def _builder(index: ColumnIndexOptions, kind: AtomicType) -> _Builder:
    match index.index_type:
        case "bloom-filter":
            return BloomFilterBuilder(kind, items=index.items, fpp=index.fpp)
        case "bitmap":
            return BitmapBuilder(kind, version=index.version, block_bytes=index.index_block_size)
        case "bsi":
            return BitSlicedBuilder(kind)
        case _:
            return RangeBitmapBuilder(kind, chunk_bytes=index.chunk_size)
