"""Timestamps of nine digits, and other columns that only a closer look at Parquet gets right."""

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakebed.errors import CorruptTableError, UnsupportedError
from lakebed.format.arrow.types import to_arrow_type
from lakebed.format.file_rows import conform
from lakebed.format.parquet.read import read_parquet, stream_parquet
from lakebed.format.parquet.thrift_compact import Field, Items, Struct, read_struct, write_struct
from lakebed.format.type_text import parse_type
from lakebed.storage.local import LocalFileIO
from lakebed.storage.memory import MemoryFileIO
from support.columns import array_of
from support.golden_manifests import DATABASE

PATH = "memory:/t/bucket-0/data-1.parquet"
NANOS = pa.timestamp("ns")
MICROS = pa.timestamp("us")
VARIANT = to_arrow_type(parse_type("VARIANT"))


def stored(table: pa.Table, **settings: Any) -> MemoryFileIO:  # noqa: ANN401 - of pyarrow's
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, **settings)
    store = MemoryFileIO()
    store.write(PATH, sink.getvalue().to_pybytes())
    return store


def read(store: MemoryFileIO, schema: pa.Schema) -> pa.Table:
    return read_parquet(store, PATH, schema=schema, use_threads=False)


def stream(store: MemoryFileIO, schema: pa.Schema, rows: int = 7) -> pa.Table:
    return pa.concat_tables(stream_parquet(store, PATH, schema=schema, batch_rows=rows))


def nested(moments: list[datetime | None]) -> pa.Table:
    kind = pa.list_(pa.struct([("x", MICROS), ("m", pa.map_(pa.string(), MICROS))]))
    cells = [[{"x": m, "m": [("k", m)]}, None] if m else None for m in moments]
    return pa.table({"t": array_of(cells, kind), "n": pa.array(range(len(moments)))})


def flat(moments: list[datetime | None]) -> pa.Table:
    return pa.table({"t": array_of(moments, MICROS), "n": pa.array(range(len(moments)))})


def in_nanos(schema: pa.Schema) -> pa.Schema:
    nested_type = pa.list_(pa.struct([("x", NANOS), ("m", pa.map_(pa.string(), NANOS))]))
    return schema.set(0, pa.field("t", NANOS if schema.field(0).type == MICROS else nested_type))


def moment(year: int) -> datetime:
    return datetime(year, 1, 1)  # noqa: DTZ001 - zoneless


INSIDE = [moment(1678), None, moment(1970) - timedelta(microseconds=1), moment(2262)]


@pytest.mark.parametrize("shape", [flat, nested])
def test_timestamps_within_nanoseconds_are_read(shape: Any) -> None:  # noqa: ANN401 - either
    table = shape(INSIDE * 5)
    store = stored(table, use_deprecated_int96_timestamps=True, row_group_size=6)
    schema = in_nanos(table.schema)
    for rows in (read(store, schema), stream(store, schema)):
        assert rows.schema == schema
        assert conform(rows, table.schema, PATH) == table


@pytest.mark.parametrize("year", [1, 1500, 1677, 2263, 9999])
@pytest.mark.parametrize("shape", [flat, nested])
def test_timestamps_beyond_nanoseconds_are_an_error(shape: Any, year: int) -> None:  # noqa: ANN401 - either
    table = shape([*INSIDE, moment(year)])
    store = stored(table, use_deprecated_int96_timestamps=True)
    schema = in_nanos(table.schema)
    with pytest.raises(UnsupportedError, match="column 't' has timestamps before 1677"):
        read(store, schema)
    with pytest.raises(UnsupportedError, match="column 't' has timestamps before 1677"):
        stream(store, schema, 2)
    assert read(store, schema.remove(0)).num_rows == 5


def test_the_real_engine_s_nanoseconds_are_read_alone_as_with_others() -> None:
    (path,) = map(str, DATABASE.glob("append_java_types/bucket-0/*.parquet"))
    types: dict[str, pa.DataType] = {
        "t9": NANOS,
        "l9": pa.timestamp("ns", "UTC"),
        "t6": MICROS,
        "tm": pa.time32("ms"),
    }
    for names in (["t9"], ["t9", "tm"], ["l9", "t6"]):
        fields = [(name, types[name]) for name in names]
        rows = read_parquet(LocalFileIO(), path, schema=pa.schema(fields), use_threads=False)
        assert rows.column(0).cast(pa.int64()).to_pylist() == [
            1704070923123456789,
            None,
            -1,
            -9223372035999999999,
        ]


def test_a_variant_s_parts_come_in_the_order_of_the_type() -> None:
    parts = pa.struct([("metadata", pa.binary()), ("value", pa.binary())])
    cells = [{"metadata": b"\x01\x00\x00", "value": b"\x00"}, None]
    rows = read(stored(pa.table({"v": array_of(cells, parts)})), pa.schema([("v", VARIANT)]))
    assert rows.schema.field("v").type == VARIANT
    assert rows.column("v").to_pylist() == cells


def test_a_shredded_variant_is_refused_by_name() -> None:
    parts = pa.struct(
        [("metadata", pa.binary()), ("value", pa.binary()), ("typed_value", pa.int64())]
    )
    cells = [{"metadata": b"\x01\x00\x00", "value": None, "typed_value": 5}]
    store = stored(pa.table({"v": array_of(cells, parts)}))
    with pytest.raises(UnsupportedError, match="column 'v' holds shredded variants"):
        read(store, pa.schema([("v", VARIANT)]))


def test_a_vector_is_refused_by_name() -> None:
    kind = pa.list_(pa.float32(), 2)
    store = stored(pa.table({"v": array_of([[1.0, 2.0]], kind)}))
    with pytest.raises(UnsupportedError, match="column 'v' is a VECTOR"):
        read(store, pa.schema([("v", kind)]))


TABLE = pa.table(
    {
        "i": pa.array(range(100)),
        "s": [f"text {n % 7}" for n in range(100)],
        "l": [[n, None] for n in range(100)],
    }
)


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "zstd", "brotli", "lz4"])
@pytest.mark.parametrize("names", [["i", "s"], ["i", "s", "l"]])
def test_every_codec_is_read_by_either_decoder(codec: str, names: list[str]) -> None:
    table = TABLE.select(names)
    assert read(stored(table, compression=codec), table.schema) == table


def with_codec(file: bytes, codec: int) -> bytes:
    """The file, whose chunks say that they have another codec."""
    length = int.from_bytes(file[-8:-4], "little")
    metadata = read_struct(file[-8 - length : -8])
    assert write_struct(metadata) == file[-8 - length : -8]
    footer = write_struct([replaced(field, codec) for field in metadata])
    return file[: -8 - length] + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def replaced(field: Field, codec: int) -> Field:
    """Row groups, their columns, their metadata, and in it the codec."""
    match field.value:
        case Items(type=kind, values=groups) if field.number == 4:
            changed = [[chunks(f, codec) for f in g] for g in groups if isinstance(g, list)]
            return Field(field.number, field.type, Items(kind, list(changed)))
        case _:
            return field


def chunks(field: Field, codec: int) -> Field:
    if field.number != 1 or not isinstance(field.value, Items):
        return field
    columns: list[Any] = [
        [metadata(f, codec) for f in c] for c in field.value.values if isinstance(c, list)
    ]
    return Field(field.number, field.type, Items(field.value.type, columns))


def metadata(field: Field, codec: int) -> Field:
    if field.number != 3 or not isinstance(field.value, list):
        return field
    parts: Struct = [Field(4, f.type, codec << 1) if f.number == 4 else f for f in field.value]
    return Field(field.number, field.type, parts)


@pytest.mark.parametrize("names", [["i", "s"], ["i", "s", "l"]])
def test_lzo_is_refused_by_name(names: list[str]) -> None:
    table = TABLE.select(names)
    store = stored(table, compression="snappy")
    store.write(PATH, with_codec(store.read(PATH), 3))
    with pytest.raises(UnsupportedError, match="LZO"):
        read(store, table.schema)
    with pytest.raises(UnsupportedError, match="LZO"):
        stream(store, table.schema)


def test_a_wrong_codec_is_an_error_of_the_file() -> None:
    store = stored(TABLE, compression="snappy")
    store.write(PATH, with_codec(store.read(PATH), 6))
    with pytest.raises(CorruptTableError, match="cannot be decoded"):
        read(store, TABLE.schema)


def test_keep_masks_rows_of_int96_columns() -> None:
    store = stored(flat(INSIDE), use_deprecated_int96_timestamps=True)
    keep = np.array([False, True, False, True])
    schema = pa.schema([("t", NANOS)])
    rows = read_parquet(store, PATH, schema=schema, keep=keep, use_threads=False)
    assert rows.column("t").cast(MICROS).to_pylist() == [None, INSIDE[3]]
