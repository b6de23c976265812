"""How an ORC data file becomes Arrow columns of the types that the table says (format.md 11).

pyarrow decodes, a stripe at a time, which is the least that it reads. Timestamps alone are not left
to it: it refuses years that nanoseconds do not reach, and shifts some by a second where the clock
of the writer was not that of UTC. `orc_timestamps` reads them.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
from pyarrow import orc

from lakebed.errors import CorruptTableError, UnsupportedError
from lakebed.format.file_rows import FileShape, Mask, check_columns, check_row_count, conform
from lakebed.format.orc.lengths import check_lengths
from lakebed.format.orc.tail import OrcTail, read_tail
from lakebed.format.orc.timestamps import LtzStorage, read_stripes_exactly
from lakebed.storage.file_io import FileIO

_DECODING_ERRORS = (
    pa.ArrowException,
    IndexError,
    KeyError,
    OSError,
    OverflowError,
    ValueError,
)
_AS_STORED = LtzStorage()
# The file keeps no size of a column, and of all columns the compressed one.
_COMPRESSION_FACTOR = 4


def read_orc(
    file_io: FileIO,
    path: str,
    *,
    schema: pa.Schema,
    row_count: int | None = None,
    keep: Mask | None = None,
    ltz: LtzStorage = _AS_STORED,
) -> pa.Table:
    """The rows of the columns named by `schema`, in its types; else as `data_file.read_file`.

    Args:
        file_io: The store.
        path: The file.
        schema: At least one column.
        row_count: Rows that the file must have; None where that is not known.
        keep: Which rows are wanted; None for all.
        ltz: How TIMESTAMP_LTZ values are stored.
    """
    with _open(file_io, path, schema, row_count=row_count) as (file, source):
        stripes = list(_stripes(file, source, path, schema=schema, ltz=ltz))
        table = pa.concat_tables(stripes) if stripes else schema.empty_table()
        check_row_count(table.num_rows, path, file.nrows)
    return table if keep is None else table.filter(pa.array(keep))


def stream_orc(
    file_io: FileIO,
    path: str,
    *,
    schema: pa.Schema,
    row_count: int | None = None,
    batch_rows: int,
    ltz: LtzStorage = _AS_STORED,
) -> Iterator[pa.Table]:
    """The same rows, at most `batch_rows` at a time; holds a stripe, the least that is decoded."""
    with _open(file_io, path, schema, row_count=row_count) as (file, source):
        found = 0
        for rows in _stripes(file, source, path, schema=schema, ltz=ltz):
            found += rows.num_rows
            for start in range(0, rows.num_rows, batch_rows):
                yield rows.slice(start, batch_rows)
        check_row_count(found, path, file.nrows)


def orc_shape(file_io: FileIO, path: str, *, columns: list[str]) -> FileShape:
    """Row count, and a guess at the size of some columns, which the file does not keep."""
    wanted = pa.schema([(name, pa.null()) for name in columns])
    with _open(file_io, path, wanted) as (file, _):
        share = len(columns) / max(len(file.schema.names), 1)
        return FileShape(file.nrows, int(_COMPRESSION_FACTOR * file.content_length * share))


@contextmanager
def _open(
    file_io: FileIO, path: str, schema: pa.Schema, *, row_count: int | None = None
) -> Iterator[tuple[orc.ORCFile, pa.NativeFile]]:
    with file_io.open_input(path) as source:
        tail = _known_tail(source, path)
        try:
            file = orc.ORCFile(source)
            names, found = file.schema.names, file.nrows
        except _DECODING_ERRORS as error:
            raise CorruptTableError(path, f"is not a whole ORC file: {error}") from error
        check_columns(names, path, schema)
        check_row_count(found, path, row_count)
        if tail is not None:
            # The decoder takes memory for as many rows as a stripe claims.
            check_row_count(sum(stripe.row_count for stripe in tail.stripes), path, found)
        yield file, source


def _known_tail(source: pa.NativeFile, path: str) -> OrcTail | None:
    """The end of a file, found to be sound; None of a codec that only the decoder unpacks."""
    try:
        return read_tail(source, path)
    except UnsupportedError:
        return None


def _stripes(
    file: orc.ORCFile, source: pa.NativeFile, path: str, *, schema: pa.Schema, ltz: LtzStorage
) -> Iterator[pa.Table]:
    decoded = (
        read_stripes_exactly(source, read_tail(source, path), schema=schema, ltz=ltz)
        if any(_holds_timestamp(field.type) for field in schema)
        else _decode_stripes(file, source, path, schema=schema)
    )
    while True:
        try:
            rows = next(decoded, None)
            if rows is not None:
                # The decoder hands out text that is none.
                rows.validate(full=True)
        except _DECODING_ERRORS as error:
            raise CorruptTableError(path, f"cannot be decoded: {error}") from error
        if rows is None:
            return
        yield conform(rows, schema, path)


def _decode_stripes(
    file: orc.ORCFile, source: pa.NativeFile, path: str, *, schema: pa.Schema
) -> Iterator[pa.Table]:
    tail = _known_tail(source, path)
    for index in range(file.nstripes):
        if tail is not None:
            check_lengths(source, tail, tail.stripes[index], names=schema.names)
        yield pa.Table.from_batches([file.read_stripe(index, columns=schema.names)])


def _holds_timestamp(kind: pa.DataType) -> bool:
    if pa.types.is_timestamp(kind):
        return True
    return any(_holds_timestamp(kind.field(i).type) for i in range(kind.num_fields))
