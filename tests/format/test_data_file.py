"""Data files of every format, whole and damaged."""

import gzip
import random
import re
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakebed.errors import CorruptTableError, LakebedError, NotFoundError, UnsupportedError
from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.data_file import FileOrigin, file_shape, read_file, stream_file
from lakebed.format.schema import TableSchema
from lakebed.format.type_text import parse_type
from lakebed.format.types import DataField
from lakebed.storage.memory import MemoryFileIO
from support.golden_manifests import DATABASE

FLAT = "append_types_{}"
EXTENSIONS = ("avro", "orc", "parquet")
FLIPS = 60


def largest(table: str, extension: str) -> Path:
    files = DATABASE.glob(f"{table}/bucket-*/*.{extension}")
    return max(files, key=lambda path: path.stat().st_size)


def schema_of_table(table: str) -> pa.Schema:
    path = DATABASE / table / "schema" / "schema-0"
    return to_arrow_schema(TableSchema.from_json(path.read_bytes(), str(path)).fields)


CASES = {
    **{f"flat {e}": (FLAT.format(e), e) for e in EXTENSIONS},
    **{f"nested {e}": ("append_nested_orc", e) for e in EXTENSIONS},
}


@pytest.fixture(params=CASES)
def file(request: pytest.FixtureRequest) -> tuple[str, bytes, pa.Schema]:
    """Where a file of the real engine would lie, its bytes, and its columns."""
    table, extension = CASES[request.param]
    path = f"memory:/t/bucket-0/data-1.{extension}"
    return path, largest(table, extension).read_bytes(), schema_of_table(table)


def stored(path: str, data: bytes) -> MemoryFileIO:
    store = MemoryFileIO()
    store.write(path, data)
    return store


def read_whole(store: MemoryFileIO, path: str, schema: pa.Schema, *, count: int) -> pa.Table:
    return read_file(store, path, schema=schema, row_count=count)


def read_in_parts(store: MemoryFileIO, path: str, schema: pa.Schema, *, count: int) -> pa.Table:
    batches = stream_file(store, path, schema=schema, row_count=count, batch_rows=3)
    return pa.concat_tables([schema.empty_table(), *batches])


READERS: list[Callable[..., pa.Table]] = [read_whole, read_in_parts]


def test_formats_agree_on_the_rows_of_the_real_engine() -> None:
    found = []
    for extension in EXTENSIONS:
        table = FLAT.format(extension)
        schema = schema_of_table(table)
        rows = [
            row
            for path in DATABASE.glob(f"{table}/bucket-*/*.{extension}")
            for row in read_file_of(path, schema)
        ]
        found.append(sorted(rows))
    # Timestamps before 1970 differ by a second in ORC, as its writers have it.
    assert found[0] == found[2]
    assert [row[:3] for row in found[1]] == [row[:3] for row in found[2]]
    assert len(found[0]) == 45


def read_file_of(path: Path, schema: pa.Schema) -> list[str]:
    store = stored(f"memory:/{path.name}", path.read_bytes())
    return [str(row) for row in read_file(store, f"memory:/{path.name}", schema=schema).to_pylist()]


def test_whole_and_in_parts_are_the_same(file: tuple[str, bytes, pa.Schema]) -> None:
    path, data, schema = file
    store = stored(path, data)
    count = file_shape(store, path, columns=schema.names).row_count
    whole = read_whole(store, path, schema, count=count)
    assert whole.schema == schema
    assert whole.num_rows == count
    whole.validate(full=True)
    parts = read_in_parts(store, path, schema, count=count)
    # As text, because NaN equals nothing.
    assert str(parts.to_pylist()) == str(whole.to_pylist())


def test_the_codec_in_a_name_is_no_format(file: tuple[str, bytes, pa.Schema]) -> None:
    path, data, schema = file
    longer = re.sub(r"\.(\w+)$", r".zstd.\1", path)
    store = stored(longer, data)
    assert read_file(store, longer, schema=schema).num_rows > 0


@pytest.mark.parametrize("extension", ["blob", "row", "lance", ""])
def test_an_unknown_format_is_refused_by_name(extension: str) -> None:
    path = f"memory:/t/data-1.{extension}"
    store = stored(path, b"")
    schema = pa.schema([("x", pa.int32())])
    for read in READERS:
        with pytest.raises(UnsupportedError, match="only avro, csv, json, orc, parquet"):
            read(store, path, schema, count=1)
    with pytest.raises(UnsupportedError, match="only avro, csv, json, orc, parquet"):
        file_shape(store, path, columns=["x"])


@pytest.mark.parametrize("read", READERS)
def test_a_truncated_file_is_corrupt_wherever_it_ends(
    file: tuple[str, bytes, pa.Schema], read: Callable[..., pa.Table]
) -> None:
    path, data, schema = file
    count = file_shape(stored(path, data), path, columns=schema.names).row_count
    for length in {0, 1, 4, 5, len(data) // 3, len(data) // 2, len(data) - 9, len(data) - 1}:
        with pytest.raises(CorruptTableError, match=re.escape(path)):
            read(stored(path, data[:length]), path, schema, count=count)


@pytest.mark.parametrize("read", READERS)
def test_a_missing_file_is_named(
    file: tuple[str, bytes, pa.Schema], read: Callable[..., pa.Table]
) -> None:
    path, _, schema = file
    with pytest.raises(NotFoundError, match=re.escape(path)):
        read(MemoryFileIO(), path, schema, count=1)


@pytest.mark.parametrize("read", READERS)
def test_a_flipped_bit_is_an_error_of_the_file_or_rows_of_the_schema(
    file: tuple[str, bytes, pa.Schema], read: Callable[..., pa.Table]
) -> None:
    path, data, schema = file
    count = file_shape(stored(path, data), path, columns=schema.names).row_count
    choose = random.Random(7)
    for _ in range(FLIPS):
        damaged = bytearray(data)
        damaged[choose.randrange(len(data))] ^= 1 << choose.randrange(8)
        outcome = outcome_of(read, stored(path, bytes(damaged)), path, schema=schema, count=count)
        assert outcome in {"read", f"told of {path}"}, outcome


def outcome_of(
    read: Callable[..., pa.Table],
    store: MemoryFileIO,
    path: str,
    *,
    schema: pa.Schema,
    count: int,
) -> str:
    try:
        rows = read(store, path, schema, count=count)
    except LakebedError as error:
        return f"told of {path}" if path in str(error) else str(error)
    return "read" if (rows.num_rows, rows.schema) == (count, schema) else f"{rows.num_rows} rows"


@pytest.mark.parametrize("extension", ["avro", "parquet"])
def test_a_flipped_bit_among_values_is_found_by_the_checksum(extension: str) -> None:
    table = FLAT.format(extension)
    path = f"memory:/t/bucket-0/data-1.{extension}"
    data, schema = largest(table, extension).read_bytes(), schema_of_table(table)
    count = file_shape(stored(path, data), path, columns=schema.names).row_count
    if extension == "avro":
        # One block, compressed with snappy, between the two sync markers.
        marker = data[-16:]
        places = range(data.index(marker) + 20, len(data) - 20)
    else:
        chunk = pq.ParquetFile(pa.BufferReader(data)).metadata.row_group(0).column(4)
        end = (chunk.dictionary_page_offset or chunk.data_page_offset) + chunk.total_compressed_size
        places = range(end - 20, end)
    for place in places[:200]:
        damaged = data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :]
        with pytest.raises(CorruptTableError, match=re.escape(path)):
            read_whole(stored(path, damaged), path, schema, count=count)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", b'1,"a,b"\n2,\n'),
        ("t.csv.gz", gzip.compress(b'1,"a,b"\n2,\n', mtime=0)),
        ("t.json", b'{"i":"1","s":"a,b"}\n{"i":"2"}\n'),
    ],
)
def test_text_files_are_read_by_the_columns_of_their_schema(name: str, text: bytes) -> None:
    fields = [
        DataField(id=index, name=column, type=parse_type(kind))
        for index, (column, kind) in enumerate([("i", "INT"), ("s", "STRING")])
    ]
    path = f"memory:/{name}"
    store, origin = stored(path, text), FileOrigin(fields=fields)
    schema = pa.schema([("s", pa.string())])
    assert read_file(store, path, schema=schema, row_count=2, origin=origin).to_pylist() == [
        {"s": "a,b"},
        {"s": None},
    ]
    batches = stream_file(store, path, schema=schema, row_count=2, batch_rows=1, origin=origin)
    assert [batch.num_rows for batch in batches] == [1, 1]
    assert file_shape(store, path, columns=["s"], row_count=2).row_count == 2
    with pytest.raises(CorruptTableError, match="rows"):
        read_file(store, path, schema=schema, row_count=3, origin=origin)
