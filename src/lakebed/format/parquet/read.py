"""How a Parquet data file becomes Arrow columns of the types that the table says (format.md 11).

Two decoders, one result. polars decodes flat columns in two thirds of pyarrow's time on one thread
(docs/performance.md), pyarrow decodes everything and can stream; which one ran is invisible
outside.

The surprising thing: the footer is always read with pyarrow first, so a truncated or foreign file
is reported by name before a decoder sees its pages.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from lakebed.errors import CorruptTableError, UnsupportedError
from lakebed.format.file_rows import FileShape, Mask, check_columns, check_row_count, conform
from lakebed.format.parquet.checksums import check_pages
from lakebed.format.parquet.footer import LZO, codecs_of, open_raw
from lakebed.format.parquet.int96 import check_nanoseconds, int96_columns
from lakebed.format.parquet.types import check_physical_types
from lakebed.storage.file_io import FileIO

# Pages are fetched through a buffer of this size while streaming, so that a stream holds a few
# pages of each column and never a whole row group.
_STREAM_BUFFER_BYTES = 1 << 20
_ARROW_ERRORS = (pa.ArrowException, OSError, ValueError)
_POLARS_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)


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
        UnsupportedError: A codec that no library reads, or timestamps beyond Arrow's nanoseconds.
        NotFoundError: The file is missing.
    """
    with _open(file_io, path) as (file, source):
        check_columns(file.schema_arrow.names, path, schema)
        check_row_count(file.metadata.num_rows, path, row_count)
        check_physical_types(file.metadata, schema, path)
        int96 = int96_columns(file.metadata, schema.names)
        with _decoding(source, path):
            # polars reads INT96 as microseconds where other engines' metadata says so.
            whole = None
            if not int96 and _is_flat(schema):
                whole = _whole(file_io, path, metadata=file.metadata, names=schema.names)
            if whole is not None:
                pages = source if isinstance(whole, str) else pa.BufferReader(whole)
                check_pages(file.metadata, pages, path=path, names=schema.names)
                frame = _decode_with_polars(whole, schema.names, use_threads=use_threads)
                check_row_count(frame.height, path, file.metadata.num_rows)
                # Filtered before it becomes Arrow: text is cheap to drop while it is views.
                kept = frame if keep is None else frame.filter(pl.Series(keep))
                return conform(kept.to_arrow(compat_level=pl.CompatLevel.oldest()), schema, path)
            table = file.read(columns=schema.names, use_threads=use_threads)
            # Pages without a checksum may hold text that is none.
            table.validate(full=True)
            check_row_count(table.num_rows, path, file.metadata.num_rows)
            if int96:
                check_nanoseconds(table, open_raw(source, path).read(columns=int96), path)
            return conform(table if keep is None else table.filter(pa.array(keep)), schema, path)


def stream_parquet(
    file_io: FileIO,
    path: str,
    *,
    schema: pa.Schema,
    row_count: int | None = None,
    batch_rows: int,
) -> Iterator[pa.Table]:
    """The same rows, at most `batch_rows` at a time, holding about one batch of memory."""
    with _open(file_io, path, buffer_size=_STREAM_BUFFER_BYTES) as (file, source):
        check_columns(file.schema_arrow.names, path, schema)
        check_row_count(file.metadata.num_rows, path, row_count)
        check_physical_types(file.metadata, schema, path)
        with _decoding(source, path):
            found = 0
            for table in _checked_batches(file, source, path, names=schema.names, rows=batch_rows):
                found += table.num_rows
                yield conform(table, schema, path)
        check_row_count(found, path, file.metadata.num_rows)


def parquet_shape(file_io: FileIO, path: str, *, columns: list[str]) -> FileShape:
    """Row count and size of some columns, from the footer alone."""
    with _open(file_io, path) as (file, _):
        metadata = file.metadata
    wanted = set(columns)
    size = 0
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        for index in range(row_group.num_columns):
            chunk = row_group.column(index)
            if chunk.path_in_schema.split(".", 1)[0] in wanted:
                size += chunk.total_uncompressed_size
    return FileShape(metadata.num_rows, size)


@contextmanager
def _open(
    file_io: FileIO, path: str, *, buffer_size: int = 0
) -> Iterator[tuple[pq.ParquetFile, pa.NativeFile]]:
    with file_io.open_input(path) as source:
        try:
            file = pq.ParquetFile(
                source,
                buffer_size=buffer_size,
                pre_buffer=False,
                page_checksum_verification=True,
            )
            # Names are decoded when they are asked for.
            _ = file.schema_arrow.names
        except _ARROW_ERRORS as error:
            raise CorruptTableError(path, f"is not a whole Parquet file: {error}") from error
        yield file, source


def _is_flat(schema: pa.Schema) -> bool:
    return all(
        not pa.types.is_nested(field.type) and not pa.types.is_time(field.type) for field in schema
    )


def _checked_batches(
    file: pq.ParquetFile, source: pa.NativeFile, path: str, *, names: list[str], rows: int
) -> Iterator[pa.Table]:
    batches = _batches(file, names, rows)
    int96 = int96_columns(file.metadata, names)
    if not int96:
        yield from batches
        return
    for table, raw in zip(batches, _batches(open_raw(source, path), int96, rows), strict=True):
        check_nanoseconds(table, raw, path)
        yield table


def _batches(file: pq.ParquetFile, names: list[str], rows: int) -> Iterator[pa.Table]:
    for batch in file.iter_batches(rows, columns=names, use_threads=False):
        table = pa.Table.from_batches([batch])
        table.validate(full=True)
        yield table


def _whole(
    file_io: FileIO, path: str, *, metadata: pq.FileMetaData, names: list[str]
) -> str | bytes | None:
    """What polars decodes: a local path, or the bytes of a file most of which is wanted.

    None of a distant file of which less is wanted: pyarrow fetches some columns alone.
    """
    local = file_io.local_path(path)
    if local is not None:
        return local
    wanted = passed_over = 0
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        for index in range(row_group.num_columns):
            chunk = row_group.column(index)
            # Columns of flat types have no dots but in their own names.
            if chunk.path_in_schema in names:
                wanted += chunk.total_compressed_size
            else:
                passed_over += chunk.total_compressed_size
    return file_io.read(path) if wanted >= passed_over else None


def _decode_with_polars(whole: str | bytes, names: list[str], *, use_threads: bool) -> pl.DataFrame:
    return pl.read_parquet(
        whole,
        columns=names,
        parallel="auto" if use_threads else "none",
        glob=False,
        hive_partitioning=False,
    )


@contextmanager
def _decoding(source: pa.NativeFile, path: str) -> Iterator[None]:
    """Errors of the decoders within as errors of the file."""
    try:
        yield
    except (*_ARROW_ERRORS, *_POLARS_ERRORS) as error:
        if LZO in codecs_of(source, path):
            raise UnsupportedError(
                f"{path}: compressed with LZO, which cannot be read; rewrite it with zstd"
            ) from error
        raise CorruptTableError(path, f"cannot be decoded: {error}") from error
