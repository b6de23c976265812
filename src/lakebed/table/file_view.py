"""A data file seen through the schema that is read: names, types and missing columns settled.

Keys are read from the value columns of the same fields, never from `_KEY_` columns: they hold the
same values, and writers may leave `_KEY_` columns out (`data-file.thin-mode`, pypaimon-rust).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lakebed.errors import CorruptTableError
from lakebed.format.arrow_types import to_arrow_type
from lakebed.format.arrow_typing import nulls
from lakebed.format.data_file import file_shape, read_file, stream_file
from lakebed.format.evolution import file_columns
from lakebed.format.key_value import SEQUENCE_NUMBER, VALUE_KIND
from lakebed.format.schema import KEY_FIELD_PREFIX, TableSchema
from lakebed.format.types import DataField
from lakebed.lsm.winners import Mask
from lakebed.storage.file_io import FileIO
from lakebed.table.split import SplitFile

_SYSTEM_COLUMNS = {SEQUENCE_NUMBER.name: pa.int64(), VALUE_KIND.name: pa.int8()}

# Decoded values take more than their encoded pages: dictionaries and runs unfold. Where the file is
# small beside the budget even so, the footer is not asked.
_SURELY_SMALL_FACTOR = 8
_DECODE_FACTOR = 2
# A stream holds a decoded batch, its kept rows, the batch before, and what the decoder keeps.
_STREAM_BATCHES_HELD = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class FileView:
    """A data file, with its columns under the names and types of the schema being read.

    Attributes:
        file_io: The store.
        file: The file.
        file_schema: The schema that wrote it.
        fields: Value columns wanted, of the schema being read.
        key_fields: Primary-key columns of a key-value file; empty for an append file.
        use_threads: Whether decoding may use more than the calling thread.
    """

    file_io: FileIO
    file: SplitFile
    file_schema: TableSchema
    fields: tuple[DataField, ...]
    key_fields: tuple[DataField, ...]
    use_threads: bool

    def read_values(self, keep: Mask | None, *, budget_bytes: int) -> Iterator[pa.Table]:
        """The value columns in file order: whole when small beside the budget, else in parts.

        Args:
            keep: Which rows are wanted; None for all.
            budget_bytes: What one part may take in memory.
        """
        names = self._names_in_file()
        schema = pa.schema([(name, kind) for name, kind in names.values() if name is not None])
        if not schema.names:
            count = self.file.row_count if keep is None else int(np.count_nonzero(keep))
            yield self._conformed(pa.table({}), names, row_count=count)
            return
        batch_rows = self._batch_rows(list(schema.names), budget_bytes)
        if batch_rows >= self.file.row_count:
            rows = read_file(
                self.file_io,
                self.file.path,
                schema=schema,
                row_count=self.file.row_count,
                keep=keep,
                use_threads=self.use_threads,
            )
            yield self._conformed(rows, names, row_count=rows.num_rows)
            return
        start = 0
        for rows in self._stream(schema, batch_rows):
            stop = start + rows.num_rows
            kept = rows if keep is None else rows.filter(pa.array(keep[start:stop]))
            start = stop
            yield self._conformed(kept, names, row_count=kept.num_rows)

    def read_columns(self, names: Sequence[str]) -> pa.Table:
        """Key and system columns, whole; keys are named `_KEY_` and the current name."""
        schema, current = self._key_schema(names)
        rows = read_file(
            self.file_io,
            self.file.path,
            schema=schema,
            row_count=self.file.row_count,
            use_threads=self.use_threads,
        )
        return rows.rename_columns(current)

    def stream_columns(self, names: Sequence[str], *, batch_rows: int) -> Iterator[pa.Table]:
        """The same, at most `batch_rows` at a time."""
        schema, current = self._key_schema(names)
        for rows in self._stream(schema, batch_rows):
            yield rows.rename_columns(current)

    def _stream(self, schema: pa.Schema, batch_rows: int) -> Iterator[pa.Table]:
        return stream_file(
            self.file_io,
            self.file.path,
            schema=schema,
            row_count=self.file.row_count,
            batch_rows=batch_rows,
        )

    def key_bytes(self) -> int:
        """Estimated decoded size of the key columns."""
        if all(_is_fixed_width(to_arrow_type(field.type)) for field in self.key_fields):
            widths = (to_arrow_type(field.type).bit_width // 8 + 1 for field in self.key_fields)
            return self.file.row_count * sum(widths)
        schema, _ = self._key_schema([KEY_FIELD_PREFIX + field.name for field in self.key_fields])
        shape = file_shape(self.file_io, self.file.path, columns=schema.names)
        return _DECODE_FACTOR * shape.uncompressed_bytes

    def _key_schema(self, names: Sequence[str]) -> tuple[pa.Schema, list[str]]:
        then = {
            KEY_FIELD_PREFIX + column.field.name: (column.name_in_file, column.field)
            for column in file_columns(self.key_fields, self.file_schema)
        }
        fields: list[tuple[str, pa.DataType]] = []
        for name in names:
            if name in _SYSTEM_COLUMNS:
                fields.append((name, _SYSTEM_COLUMNS[name]))
                continue
            name_in_file, field = then[name]
            if name_in_file is None:
                raise CorruptTableError(
                    self.file.path, f"schema {self.file.schema_id} lacks the key {field.name!r}"
                )
            fields.append((name_in_file, to_arrow_type(field.type)))
        return pa.schema(fields), list(names)

    def _names_in_file(self) -> dict[str, tuple[str | None, pa.DataType]]:
        """Current name to (name in the file or None, type)."""
        found: dict[str, tuple[str | None, pa.DataType]] = {}
        for column in file_columns(self.fields, self.file_schema):
            found[column.field.name] = (column.name_in_file, to_arrow_type(column.field.type))
        return found

    def _conformed(
        self, rows: pa.Table, names: dict[str, tuple[str | None, pa.DataType]], *, row_count: int
    ) -> pa.Table:
        columns = {
            name: nulls(row_count, kind) if there is None else rows.column(there)
            for name, (there, kind) in names.items()
        }
        if columns:
            return pa.table(columns)
        # Arrow counts the rows of a table without columns as none, so the count rides on one.
        return pa.table({"": pa.nulls(row_count)})

    def _batch_rows(self, names: list[str], budget_bytes: int) -> int:
        if self.file.size_bytes * _SURELY_SMALL_FACTOR <= budget_bytes or not names:
            return self.file.row_count
        shape = file_shape(self.file_io, self.file.path, columns=names)
        size = max(shape.uncompressed_bytes * _DECODE_FACTOR, 1)
        if size <= budget_bytes:
            return self.file.row_count
        return max(int(budget_bytes / _STREAM_BATCHES_HELD / size * shape.row_count), 1024)


def _is_fixed_width(kind: pa.DataType) -> bool:
    return pa.types.is_primitive(kind) or pa.types.is_decimal(kind)
