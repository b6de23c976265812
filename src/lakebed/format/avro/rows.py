"""How does an Avro data file become Arrow columns of the types that the table says?

    blocks -> one block under a schema that polars knows -> polars -> Arrow, typed -> conformed

No Python object is made for a row. `avro_rows_schema` explains why polars, which has no maps, may
be told that there are none. Avro interleaves the columns, so all of them are decoded whichever are
wanted; and it keeps no row count in one place, so blocks are the batches of a stream.

As with manifests (`avro`), a known record is appended to the bytes and must come out last, because
a decoder does not tell when it stops before the end of a block.
"""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

import fastavro
import polars as pl
import pyarrow as pa
from polars.exceptions import PanicException, PolarsError

from lakebed.errors import CorruptTableError, UnsupportedError
from lakebed.format.avro.container import BlockReader, reframe
from lakebed.format.avro.rows_schema import TOP, AvroNode, decoder_schema, parse_schema, sentinel
from lakebed.format.avro.values import typed
from lakebed.format.file_rows import FileShape, Mask, check_columns, check_row_count, conform
from lakebed.storage.file_io import FileIO

_SCHEMA_ERRORS = (ValueError, TypeError, KeyError, RecursionError, IndexError, AttributeError)
_DECODING_ERRORS = (PolarsError, PanicException, OSError, ValueError, OverflowError)

# Blocks are read through a buffer of this size; writers close one at about 64 kB.
_BUFFER_BYTES = 1 << 20
# Text and numbers as Avro writes them, compressed with anything, seldom get smaller than this.
_COMPRESSION_FACTOR = 4


def read_avro(
    file_io: FileIO,
    path: str,
    *,
    schema: pa.Schema,
    row_count: int | None = None,
    keep: Mask | None = None,
) -> pa.Table:
    """The rows of the columns named by `schema`, in its types; else as `data_file.read_file`."""
    with _open(file_io, path) as reader:
        layout = _layout(reader.schema, path)
        check_columns(layout.names, path, schema)
        blocks = list(reader)
    check_row_count(sum(count for count, _ in blocks), path, row_count)
    return _decode(layout, blocks, path, schema=schema, keep=keep)


def stream_avro(
    file_io: FileIO,
    path: str,
    *,
    schema: pa.Schema,
    row_count: int | None = None,
    batch_rows: int,
) -> Iterator[pa.Table]:
    """The same rows, at most `batch_rows` at a time; holds about one batch and one block."""
    with _open(file_io, path) as reader:
        layout = _layout(reader.schema, path)
        check_columns(layout.names, path, schema)
        found, held = 0, 0
        blocks: list[tuple[int, bytes]] = []
        for count, records in reader:
            if blocks and held + count > batch_rows:
                yield from _batches(_decode(layout, blocks, path, schema=schema), batch_rows)
                blocks, held = [], 0
            blocks.append((count, records))
            held += count
            found += count
        check_row_count(found, path, row_count)
        yield from _batches(_decode(layout, blocks, path, schema=schema), batch_rows)


def avro_shape(file_io: FileIO, path: str, *, columns: list[str]) -> FileShape:
    """Row count, from the heads of the blocks, and a guess at the size of all columns.

    The columns asked for make no difference: whoever decodes one decodes them all.
    """
    with _open(file_io, path) as reader:
        wanted = pa.schema([(name, pa.null()) for name in columns])
        check_columns(_layout(reader.schema, path).names, path, wanted)
        sizes = list(reader.sizes())
    return FileShape(
        sum(count for count, _ in sizes), _COMPRESSION_FACTOR * sum(size for _, size in sizes)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """How the files of one schema are decoded."""

    row: AvroNode
    schema: str
    sentinel: dict[str, object]
    encoded_sentinel: bytes

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.row.fields]


@contextmanager
def _open(file_io: FileIO, path: str) -> Iterator[BlockReader]:
    with file_io.open_input(path) as source:
        buffered = io.BufferedReader(source, _BUFFER_BYTES)  # type: ignore[type-var]  # quacks enough
        yield BlockReader(buffered, source.size(), path=path)


def _layout(schema_text: str, path: str) -> _Layout:
    try:
        return _layout_of(schema_text)
    except UnsupportedError as error:
        raise UnsupportedError(f"{path}: {error}") from error
    except _SCHEMA_ERRORS as error:
        raise CorruptTableError(path, f"the Avro schema cannot be used: {error}") from error


# All files of a table have one schema, or a few of different ages.
@lru_cache(maxsize=64)
def _layout_of(schema_text: str) -> _Layout:
    row = parse_schema(json.loads(schema_text))
    schema = decoder_schema(row)
    last = sentinel(row)
    encoded = io.BytesIO()
    fastavro.schemaless_writer(encoded, fastavro.parse_schema(schema), last)
    return _Layout(
        row=row, schema=json.dumps(schema), sentinel=last, encoded_sentinel=encoded.getvalue()
    )


def _decode(
    layout: _Layout,
    blocks: list[tuple[int, bytes]],
    path: str,
    *,
    schema: pa.Schema,
    keep: Mask | None = None,
) -> pa.Table:
    count = sum(count for count, _ in blocks)
    framed = reframe(
        layout.schema,
        [*(records for _, records in blocks), layout.encoded_sentinel],
        count=count + 1,
    )
    try:
        frame = pl.read_avro(io.BytesIO(framed))
    except _DECODING_ERRORS as error:
        raise CorruptTableError(path, f"the Avro records cannot be decoded: {error}") from error
    if frame.height != count + 1 or frame.row(-1, named=True) != layout.sentinel:
        raise CorruptTableError(path, "the Avro records do not fill their blocks exactly")
    if layout.row.nullable:
        if frame.get_column(TOP).null_count():
            raise CorruptTableError(path, "some Avro records are null")
        frame = frame.unnest(TOP)
    rows = frame.select(schema.names).head(count)
    if keep is not None:
        rows = rows.filter(pl.Series(keep))
    return conform(_typed(rows, layout.row, path), schema, path)


def _typed(rows: pl.DataFrame, row: AvroNode, path: str) -> pa.Table:
    table = rows.to_arrow(compat_level=pl.CompatLevel.oldest()).combine_chunks()
    columns = {}
    for name in table.column_names:
        kind = row.field(name)
        try:
            chunks = [typed(chunk, kind) for chunk in table.column(name).chunks]
        except (pa.ArrowException, ValueError) as error:
            what = kind.logical or kind.kind
            raise CorruptTableError(path, f"column {name!r} is no {what}: {error}") from error
        columns[name] = pa.chunked_array(chunks)
    return pa.table(columns)


def _batches(rows: pa.Table, batch_rows: int) -> Iterator[pa.Table]:
    for start in range(0, rows.num_rows, batch_rows):
        yield rows.slice(start, batch_rows)
