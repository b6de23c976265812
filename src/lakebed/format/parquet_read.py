"""How a Parquet data file becomes Arrow columns of the types that the table says (format.md 11).

Two decoders, one result. polars decodes flat columns in two thirds of pyarrow's time on one thread
(docs/performance.md), pyarrow decodes everything and can stream; which one ran is invisible
outside.

The surprising thing: the footer is always read with pyarrow first, so a truncated or foreign file
is reported by name before a decoder sees its pages.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from lakebed.errors import CorruptTableError
from lakebed.storage.file_io import FileIO

Mask = npt.NDArray[np.bool_]

# Pages are fetched through a buffer of this size while streaming, so that a stream holds a few
# pages of each column and never a whole row group.
_STREAM_BUFFER_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class ParquetShape:
    """What the footer says of some columns.

    Attributes:
        row_count: Rows of the file.
        uncompressed_bytes: Their encoded but uncompressed size.
    """

    row_count: int
    uncompressed_bytes: int


def read_parquet(
    file_io: FileIO,
    path: str,
    *,
    schema: pa.Schema,
    row_count: int | None = None,
    keep: Mask | None = None,
    use_threads: bool,
) -> pa.Table:
    """The rows of the columns named by `schema`, in its types.

    Args:
        file_io: The store.
        path: The file.
        schema: At least one column.
        row_count: Rows that the file must have; None where that is not known.
        keep: Which rows are wanted; None for all.
        use_threads: Whether decoding may use more than the calling thread.

    Raises:
        CorruptTableError: Not a Parquet file, a column is missing or of an unreadable type, or the
            file has another number of rows.
        NotFoundError: The file is missing.
    """
    with file_io.open_input(path) as source:
        file = _open(source, path)
        _check_columns(file, path, schema)
        _check_row_count(file, path, row_count)
        if not _is_flat(schema):
            try:
                table = file.read(columns=schema.names, use_threads=use_threads)
            except (pa.ArrowException, OSError) as error:
                raise CorruptTableError(path, f"cannot be decoded: {error}") from error
            return conform(table if keep is None else table.filter(pa.array(keep)), schema, path)
    frame = _decode_flat(file_io, path, schema, use_threads=use_threads)
    # Filtered before it becomes Arrow: text is cheap to drop while polars holds it as views.
    kept = frame if keep is None else frame.filter(pl.Series(keep))
    return conform(kept.to_arrow(compat_level=pl.CompatLevel.oldest()), schema, path)


def stream_parquet(
    file_io: FileIO,
    path: str,
    *,
    schema: pa.Schema,
    row_count: int | None = None,
    batch_rows: int,
) -> Iterator[pa.Table]:
    """The same rows, at most `batch_rows` at a time, holding about one batch of memory."""
    with file_io.open_input(path) as source:
        file = _open(source, path, buffer_size=_STREAM_BUFFER_BYTES)
        _check_columns(file, path, schema)
        _check_row_count(file, path, row_count)
        try:
            for batch in file.iter_batches(batch_rows, columns=schema.names, use_threads=False):
                yield conform(pa.Table.from_batches([batch]), schema, path)
        except (pa.ArrowException, OSError) as error:
            raise CorruptTableError(path, f"cannot be decoded: {error}") from error


def parquet_shape(file_io: FileIO, path: str, *, columns: list[str]) -> ParquetShape:
    """Row count and size of some columns, from the footer alone."""
    with file_io.open_input(path) as source:
        metadata = _open(source, path).metadata
    wanted = set(columns)
    size = 0
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        for index in range(row_group.num_columns):
            chunk = row_group.column(index)
            if chunk.path_in_schema.split(".", 1)[0] in wanted:
                size += chunk.total_uncompressed_size
    return ParquetShape(metadata.num_rows, size)


def conform(table: pa.Table, schema: pa.Schema, path: str) -> pa.Table:
    """Casts columns as a decoder names and types them to the types asked for.

    Raises:
        CorruptTableError: A column of the file cannot hold the type that the table's schema gives.
    """
    columns = []
    for field in schema:
        column = table.column(field.name)
        if column.type != field.type:
            try:
                column = column.cast(field.type)
            except pa.ArrowException as error:
                raise CorruptTableError(
                    path, f"column {field.name!r} is {column.type}, not {field.type}: {error}"
                ) from error
        columns.append(column)
    return pa.table(columns, schema=schema)


def _open(source: pa.NativeFile, path: str, *, buffer_size: int = 0) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(source, buffer_size=buffer_size, pre_buffer=False)
    except (pa.ArrowException, OSError) as error:
        raise CorruptTableError(path, f"is not a whole Parquet file: {error}") from error


def _check_columns(file: pq.ParquetFile, path: str, schema: pa.Schema) -> None:
    present = set(file.schema_arrow.names)
    missing = [name for name in schema.names if name not in present]
    if missing:
        raise CorruptTableError(path, f"has no column {missing[0]!r}, only {sorted(present)}")


def _check_row_count(file: pq.ParquetFile, path: str, row_count: int | None) -> None:
    found = file.metadata.num_rows
    if row_count is not None and found != row_count:
        raise CorruptTableError(path, f"holds {found} rows where the manifest says {row_count}")


def _is_flat(schema: pa.Schema) -> bool:
    return all(
        not pa.types.is_nested(field.type) and not pa.types.is_time(field.type) for field in schema
    )


def _decode_flat(
    file_io: FileIO, path: str, schema: pa.Schema, *, use_threads: bool
) -> pl.DataFrame:
    local = file_io.local_path(path)
    try:
        return pl.read_parquet(
            file_io.read(path) if local is None else local,
            columns=schema.names,
            parallel="auto" if use_threads else "none",
            glob=False,
            hive_partitioning=False,
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise CorruptTableError(path, f"cannot be decoded: {error}") from error
