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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import fastavro
import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
from fastavro.schema import SchemaParseException
from fastavro.types import Schema
from polars.exceptions import PanicException, PolarsError

from lakebed.errors import CorruptTableError
from lakebed.format.avro.container import (
    BlockReader,
    Container,
    read_container,
    reframe,
    write_container,
)
from lakebed.format.avro.schema import (
    flatten_record,
    flatten_schema,
    sentinel,
    without_logical_types,
)

# The usual size; readers may skip or split between blocks.
_BLOCK_SIZE_BYTES = 64000
# What is decoded at once: many blocks, so that a call is cheap, and little enough for the caches.
_DECODED_BYTES = 1 << 21
_DECODING_ERRORS = (
    EOFError,
    IndexError,
    KeyError,
    MemoryError,
    OverflowError,
    RecursionError,
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


@dataclass(frozen=True, slots=True)
class RowChoice:
    """Which records are wanted, going by a few cheap columns.

    Attributes:
        columns: These, by their path in the record.
        keep: Which of some records with these columns are wanted; called part by part, in order.
    """

    columns: Collection[str]
    keep: Callable[[pa.Table], npt.NDArray[np.bool_]]


def read_columns(
    data: bytes,
    path: str,
    *,
    wanted: Collection[str] | None = None,
    choice: RowChoice | None = None,
    convert: Callable[[pa.Table], pa.Table] = lambda rows: rows,
) -> pa.Table:
    """The records as a table of flat columns, named by their path in the record.

    Strings, bytes and lists are Arrow's large types. A schema with maps, enums, fixed types, wider
    unions than null-or-one, or a union on top goes through Python objects: slower, with inferred
    types.

    Args:
        data: The bytes of the file.
        path: The file, for messages.
        wanted: The columns to decode, all by default; those that the file lacks are left out.
        choice: Which records; parts of the file without any are not decoded further.
        convert: What becomes of each part before the next is decoded, so that little is held
            twice; all results have one schema.

    Raises:
        CorruptTableError: The bytes are no Avro file, or end early.
        UnsupportedError: The codec is unknown.
    """
    blocks = BlockReader(io.BytesIO(data), len(data), path=path)
    try:
        columnar = _columnar(blocks.schema)
    except _DECODING_ERRORS as error:
        raise CorruptTableError(path, f"the Avro schema cannot be used: {error}") from error
    if columnar is None:
        rows = pa.Table.from_pylist(list(map(flatten_record, read_records(data, path))))
        return convert(rows if choice is None else rows.filter(pa.array(choice.keep(rows))))
    decoder = _Decoder(columnar, path)
    tables = [
        convert(table)
        for count, part in _parts(blocks)
        if (table := decoder.table(count, part, wanted=wanted, choice=choice)) is not None
    ]
    if not tables:
        tables = [convert(decoder.decode(decoder.framed(0, []), 0, wanted=wanted))]
    return pa.concat_tables(tables).combine_chunks()


def _parts(blocks: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, list[bytes]]]:
    """Consecutive blocks with the number of their records; one empty part of an empty file."""
    part: list[bytes] = []
    count = size = 0
    for block_count, block in blocks:
        if part and size + len(block) > _DECODED_BYTES:
            yield count, part
            part, count, size = [], 0, 0
        part.append(block)
        count += block_count
        size += len(block)
    yield count, part


@dataclass(frozen=True, slots=True)
class _Decoder:
    """Decodes parts of one file."""

    columnar: "_Columnar"
    path: str

    def table(
        self,
        count: int,
        blocks: list[bytes],
        *,
        wanted: Collection[str] | None,
        choice: RowChoice | None,
    ) -> pa.Table | None:
        """The wanted columns of the chosen records; None where there is none."""
        framed = self.framed(count, blocks)
        if choice is None:
            return self.decode(framed, count, wanted=wanted)
        mask = choice.keep(self.decode(framed, count, wanted=choice.columns))
        if not mask.any():
            return None
        rows = self.decode(framed, count, wanted=wanted)
        return rows if mask.all() else rows.filter(pa.array(mask))

    def framed(self, count: int, blocks: list[bytes]) -> bytes:
        """Blocks and the sentinel as a file of their own."""
        parts = [*blocks, self.columnar.encoded_sentinel]
        return reframe(self.columnar.schema, parts, count=count + 1)

    def decode(self, framed: bytes, count: int, *, wanted: Collection[str] | None) -> pa.Table:
        """The columns of such a file, the sentinel checked and left out."""
        sentinel = self.columnar.sentinel
        names = [name for name in sentinel if wanted is None or name in wanted]
        try:
            frame = pl.read_avro(io.BytesIO(framed), columns=names)
        except (PolarsError, PanicException, OSError, ValueError) as error:
            problem = f"the Avro records cannot be decoded: {error}"
            raise CorruptTableError(self.path, problem) from error
        last = {name: sentinel[name] for name in names}
        if frame.height != count + 1 or frame.row(-1, named=True) != last:
            problem = "the Avro records do not fill their blocks exactly"
            raise CorruptTableError(self.path, problem)
        return frame.head(count).to_arrow(compat_level=pl.CompatLevel.oldest())


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Columnar:
    """How to decode the records of a schema into columns."""

    schema: str
    sentinel: dict[str, object]
    encoded_sentinel: bytes


# All manifests of a table have one schema, or a few of different ages.
@lru_cache(maxsize=32)
def _columnar(schema_text: str) -> _Columnar | None:
    schema = flatten_schema(json.loads(schema_text))
    if schema is None:
        return None
    last = sentinel(schema)
    encoded = io.BytesIO()
    fastavro.schemaless_writer(encoded, schema, last)
    return _Columnar(schema=json.dumps(schema), sentinel=last, encoded_sentinel=encoded.getvalue())


@lru_cache(maxsize=32)
def _stored_schema(schema_text: str) -> Schema:
    stored = without_logical_types(json.loads(schema_text))
    return fastavro.parse_schema(cast("Schema", stored))


def _decode_records(container: Container, path: str) -> list[dict[str, object]]:
    stream = io.BytesIO(b"".join(container.blocks))
    records: list[dict[str, object]] = []
    try:
        schema = _stored_schema(container.schema)
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
