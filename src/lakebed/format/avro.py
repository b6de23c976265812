"""How are Avro records read and written?

Two readers and a writer. `read_records` gives a dict a record, for small files. `read_columns`
gives Arrow columns, for manifests of any size: no Python object is made for an entry.

The surprising thing is how: a record inside a record is encoded as nothing but its fields one
after the other. So the header that the decoder is shown declares the nested fields as top-level
ones, named by their path (`_FILE._KEY_STATS._MIN_VALUES`), over the same bytes, and flat columns
come out. A nullable record cannot be unfolded and stays a struct column. Logical types are dropped
from that header, so values are what is stored: a timestamp is its number.

Decoders do not tell when they stop before the end of a block, which would lose entries in silence;
hence a known record is appended to the bytes and must come out last.
"""

import io
import json
import struct
from collections.abc import Iterable, Mapping
from typing import Any, cast

import fastavro
import polars as pl
import pyarrow as pa
from fastavro.schema import SchemaParseException
from polars.exceptions import PanicException, PolarsError

from lakebed.errors import CorruptTableError
from lakebed.format.avro_container import Container, read_container, reframe, write_container
from lakebed.format.avro_schema import (
    flatten_record,
    flatten_schema,
    sentinel,
    without_logical_types,
)

# The usual size; readers may skip or split between blocks.
_BLOCK_SIZE_BYTES = 64000
_DECODING_ERRORS = (
    EOFError,
    IndexError,
    KeyError,
    MemoryError,
    OverflowError,
    SchemaParseException,
    TypeError,
    ValueError,
    struct.error,
)


def read_records(data: bytes, path: str) -> list[dict[str, object]]:
    """Every record as a dict; logical types as their stored values.

    Raises:
        CorruptTableError: The bytes are no Avro file, or end early.
        UnsupportedError: The codec is unknown.
    """
    return _decode_records(read_container(data, path), path)


def read_columns(data: bytes, path: str) -> pa.Table:
    """The records as a table of flat columns, named by their path in the record.

    Strings, bytes and lists are Arrow's large types. A schema with maps, enums, fixed types, wider
    unions than null-or-one, or a union on top goes through Python objects: slower, with inferred
    types.

    Raises:
        CorruptTableError: The bytes are no Avro file, or end early.
        UnsupportedError: The codec is unknown.
    """
    container = read_container(data, path)
    schema = flatten_schema(container.schema)
    if schema is None:
        return pa.Table.from_pylist(
            [flatten_record(record) for record in _decode_records(container, path)]
        )
    last = sentinel(schema)
    encoded = io.BytesIO()
    try:
        fastavro.schemaless_writer(encoded, schema, last)
    except _DECODING_ERRORS as error:
        raise CorruptTableError(path, f"the Avro schema cannot be used: {error}") from error
    framed = reframe(
        json.dumps(schema), [*container.blocks, encoded.getvalue()], count=container.count + 1
    )
    try:
        frame = pl.read_avro(io.BytesIO(framed))
    except (PolarsError, PanicException, OSError, ValueError) as error:
        raise CorruptTableError(path, f"the Avro records cannot be decoded: {error}") from error
    if frame.height != container.count + 1 or frame.row(-1, named=True) != last:
        raise CorruptTableError(path, "the Avro records do not fill their blocks exactly")
    return frame.head(container.count).to_arrow(compat_level=pl.CompatLevel.oldest())


def write_records(
    schema: Mapping[str, object],
    records: Iterable[Mapping[str, object]],
    *,
    compression: str = "zstd",
    level: int = 1,
) -> bytes:
    """An Avro file of the records.

    Args:
        schema: An Avro schema; the header holds its compact JSON, keys in the order given.
        records: A value for each field, logical types as stored.
        compression: `zstd`, `deflate` or `null`.
        level: Of zstd.

    Raises:
        UnsupportedError: Another compression.
    """
    # Parsing adds names to what it is given, and the header must not have them.
    text = json.dumps(schema, separators=(",", ":"), ensure_ascii=False)
    parsed = fastavro.parse_schema(json.loads(text))
    blocks = []
    count = 0
    buffer = io.BytesIO()
    for record in records:
        fastavro.schemaless_writer(buffer, parsed, record)
        count += 1
        if buffer.tell() >= _BLOCK_SIZE_BYTES:
            blocks.append((count, buffer.getvalue()))
            count, buffer = 0, io.BytesIO()
    if count:
        blocks.append((count, buffer.getvalue()))
    return write_container(text, blocks, compression=compression, level=level)


def _decode_records(container: Container, path: str) -> list[dict[str, object]]:
    stream = io.BytesIO(b"".join(container.blocks))
    records: list[dict[str, object]] = []
    try:
        stored = cast("dict[str, Any]", without_logical_types(container.schema))
        schema = fastavro.parse_schema(stored)
        for _ in range(container.count):
            record = fastavro.schemaless_reader(stream, schema, None)
            if not isinstance(record, dict):
                raise CorruptTableError(path, "the Avro schema is not that of a record")
            records.append(record)
    except _DECODING_ERRORS as error:
        raise CorruptTableError(path, f"the Avro records cannot be decoded: {error}") from error
    if stream.tell() != sum(map(len, container.blocks)):
        raise CorruptTableError(path, "the Avro records do not fill their blocks exactly")
    return records
