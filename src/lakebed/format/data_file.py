"""How data files of any format are opened: the one place that knows which formats there are."""

from collections.abc import Iterator

import pyarrow as pa

from lakebed.errors import UnsupportedError
from lakebed.format.parquet_read import (
    Mask,
    ParquetShape,
    parquet_shape,
    read_parquet,
    stream_parquet,
)
from lakebed.storage.file_io import FileIO

__all__ = ["file_shape", "read_file", "stream_file"]


def read_file(
    file_io: FileIO,
    path: str,
    *,
    schema: pa.Schema,
    row_count: int | None = None,
    keep: Mask | None = None,
    use_threads: bool = False,
) -> pa.Table:
    """The rows of a data file.

    Args:
        file_io: The store.
        path: The file; its extension is its format.
        schema: The columns wanted, at least one, by the file's own names, in the types wanted.
        row_count: Rows that the file must have; None where that is not known.
        keep: Which rows are wanted; None for all.
        use_threads: Whether decoding may use more than the calling thread.

    Raises:
        CorruptTableError: The bytes are not what the name, the schema and the count promise.
        UnsupportedError: A format that Lakebed does not read.
        NotFoundError: The file is missing.
    """
    _require_parquet(path)
    return read_parquet(
        file_io, path, schema=schema, row_count=row_count, keep=keep, use_threads=use_threads
    )


def stream_file(
    file_io: FileIO,
    path: str,
    *,
    schema: pa.Schema,
    row_count: int | None = None,
    batch_rows: int,
) -> Iterator[pa.Table]:
    """The rows of a data file, at most `batch_rows` at a time; else as `read_file`."""
    _require_parquet(path)
    return stream_parquet(file_io, path, schema=schema, row_count=row_count, batch_rows=batch_rows)


def file_shape(file_io: FileIO, path: str, *, columns: list[str]) -> ParquetShape:
    """Rows and uncompressed bytes of some columns, without decoding any."""
    _require_parquet(path)
    return parquet_shape(file_io, path, columns=columns)


def _require_parquet(path: str) -> None:
    extension = path.rsplit(".", 1)[-1].lower()
    if extension != "parquet":
        raise UnsupportedError(
            f"{path}: data files of format {extension!r} cannot be read yet, only parquet"
        )
