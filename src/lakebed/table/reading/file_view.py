"""A data file seen through the schema that is read: names, types and missing columns settled.

Keys are read from the value columns of the same fields, never from `_KEY_` columns: they hold the
same values, and writers may leave `_KEY_` columns out (`data-file.thin-mode`, pypaimon-rust).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo

import numpy as np
import pyarrow as pa

from lakebed.errors import CorruptTableError, InvalidDataError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.types import to_arrow_type
from lakebed.format.arrow.typing import ArrowArray, ArrowColumn, nulls, repeated
from lakebed.format.data_file import FileOrigin, file_shape, read_file, stream_file
from lakebed.format.evolution import FileColumn, file_columns
from lakebed.format.key_value import VALUE_KIND, data_file_fields
from lakebed.format.schema import TableSchema
from lakebed.format.types import DataField
from lakebed.lsm.section_plan import Mask
from lakebed.storage.file_io import FileIO
from lakebed.table.planning.split import SplitFile

_INSERT_KIND = pa.scalar(0, pa.int8())
_LAST_KIND = 3

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
        fields: Columns wanted: of the schema being read, or system columns of a key-value file
            (`format.key_value`).
        use_threads: Whether decoding may use more than the calling thread.
        time_zone: Where local times become instants, and back, when a type changed
            (`lakebed.time-zone`).
        options: Options of the table that say how its files are to be understood.
    """

    file_io: FileIO
    file: SplitFile
    file_schema: TableSchema
    fields: tuple[DataField, ...]
    use_threads: bool
    time_zone: tzinfo = UTC
    options: Mapping[str, str] = field(default_factory=dict)

    def read_values(self, keep: Mask | None, *, budget_bytes: int) -> Iterator[pa.Table]:
        """The columns in file order: whole when small beside the budget, else in parts.

        Args:
            keep: Which rows are wanted; None for all.
            budget_bytes: What one part may take in memory.

        Raises:
            InvalidDataError: A value of an older type that cannot become one of the current type.
        """
        columns = self._columns()
        schema = _schema_in_file(columns)
        batch_rows = self._batch_rows(budget_bytes)
        if batch_rows >= self.file.row_count:
            yield self._read(columns, keep)
            return
        start = 0
        for rows in self._stream(schema, batch_rows):
            stop = start + rows.num_rows
            kept = rows if keep is None else rows.filter(pa.array(keep[start:stop]))
            start = stop
            yield self._conformed(kept, columns, row_count=kept.num_rows)

    def read_whole(self, keep: Mask | None = None) -> pa.Table:
        """The columns of all rows, or of those that are wanted."""
        return self._read(self._columns(), keep)

    def stream(self, *, batch_rows: int) -> Iterator[pa.Table]:
        """The same, at most `batch_rows` at a time."""
        columns = self._columns()
        schema = _schema_in_file(columns)
        if not schema.names:
            for start in range(0, self.file.row_count, batch_rows):
                count = min(batch_rows, self.file.row_count - start)
                yield self._conformed(pa.table({}), columns, row_count=count)
            return
        for rows in self._stream(schema, batch_rows):
            yield self._conformed(rows, columns, row_count=rows.num_rows)

    def decoded_bytes(self) -> int:
        """Estimated size of the columns in memory."""
        kinds = [to_arrow_type(field.type) for field in self.fields]
        if all(map(_is_fixed_width, kinds)):
            return self.file.row_count * sum(kind.bit_width // 8 + 1 for kind in kinds)
        schema = _schema_in_file(self._columns())
        shape = file_shape(
            self.file_io, self.file.path, columns=schema.names, row_count=self.file.row_count
        )
        return _DECODE_FACTOR * shape.uncompressed_bytes

    @property
    def _origin(self) -> FileOrigin:
        return FileOrigin(
            fields=data_file_fields(self.file_schema),
            options=self.options,
            time_zone=self.time_zone,
        )

    def _columns(self) -> list[FileColumn]:
        return file_columns(self.fields, self.file_schema)

    def _read(self, columns: list[FileColumn], keep: Mask | None) -> pa.Table:
        schema = _schema_in_file(columns)
        if not schema.names:
            count = self.file.row_count if keep is None else int(np.count_nonzero(keep))
            return self._conformed(pa.table({}), columns, row_count=count)
        rows = read_file(
            self.file_io,
            self.file.path,
            schema=schema,
            row_count=self.file.row_count,
            keep=keep,
            use_threads=self.use_threads,
            origin=self._origin,
        )
        return self._conformed(rows, columns, row_count=rows.num_rows)

    def _stream(self, schema: pa.Schema, batch_rows: int) -> Iterator[pa.Table]:
        return stream_file(
            self.file_io,
            self.file.path,
            schema=schema,
            row_count=self.file.row_count,
            batch_rows=batch_rows,
            origin=self._origin,
        )

    def _conformed(self, rows: pa.Table, columns: list[FileColumn], *, row_count: int) -> pa.Table:
        if not columns:
            # Arrow counts the rows of a table without columns as none, so the count rides on one.
            return pa.table({"": pa.nulls(row_count)})
        found: dict[str, ArrowColumn] = {}
        for column in columns:
            name = column.field.name
            if column.in_file is None:
                found[name] = _absent(column.field, row_count)
                continue
            try:
                values = rows.column(column.in_file.name)
                found[name] = column.convert(values, time_zone=self.time_zone)
            except InvalidDataError as error:
                raise InvalidDataError(f"{self.file.path}: {error}") from error
            if column.field.id == VALUE_KIND.id:
                _check_kinds(found[name], self.file.path)
        return pa.table(found)

    def _batch_rows(self, budget_bytes: int) -> int:
        names = _schema_in_file(self._columns()).names
        if self.file.size_bytes * _SURELY_SMALL_FACTOR <= budget_bytes or not names:
            return self.file.row_count
        shape = file_shape(
            self.file_io, self.file.path, columns=names, row_count=self.file.row_count
        )
        size = max(shape.uncompressed_bytes * _DECODE_FACTOR, 1)
        if size <= budget_bytes:
            return self.file.row_count
        return max(int(budget_bytes / _STREAM_BATCHES_HELD / size * shape.row_count), 1024)


def _schema_in_file(columns: Sequence[FileColumn]) -> pa.Schema:
    """What to decode: the file's names and the types that it was written with."""
    present = [column.in_file for column in columns if column.in_file is not None]
    return pa.schema({field.name: to_arrow_type(field.type) for field in present})


def _absent(field: DataField, count: int) -> ArrowArray:
    """A field that the file lacks; rows without a kind are inserted ones."""
    if field.id == VALUE_KIND.id:
        return repeated(_INSERT_KIND, count)
    return nulls(count, to_arrow_type(field.type))


def _check_kinds(kinds: ArrowColumn, path: str) -> None:
    ends = pc.min_max(kinds)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    if kinds.null_count or (len(kinds) and not 0 <= low <= high <= _LAST_KIND):
        raise CorruptTableError(path, f"a row's kind is none from 0 to {_LAST_KIND}")


def _is_fixed_width(kind: pa.DataType) -> bool:
    return pa.types.is_primitive(kind) or pa.types.is_decimal(kind)
