import re
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakebed.errors import CorruptTableError, NotFoundError, UnsupportedError
from lakebed.format.arrow.types import parquet_schema, to_arrow_schema, to_arrow_type
from lakebed.format.data_file_settings import DataFileSettings
from lakebed.format.key_value import data_file_fields
from lakebed.format.parquet.read import parquet_shape, read_parquet, stream_parquet
from lakebed.format.parquet.write import ParquetWriter, check_writable
from lakebed.format.schema import TableSchema
from lakebed.format.type_text import parse_type
from lakebed.format.types import ArrayType, DataField, DataType, MapType, RowType
from lakebed.storage.file_io import FileIO
from lakebed.storage.local import LocalFileIO
from lakebed.storage.memory import MemoryFileIO
from support.columns import array_of, schema_of
from support.golden_manifests import DATABASE

FLAT: dict[str, tuple[str, list[object]]] = {
    "flag": ("BOOLEAN", [True, False]),
    "tiny": ("TINYINT", [-128, 127]),
    "small": ("SMALLINT", [-(2**15), 2**15 - 1]),
    "i": ("INT NOT NULL", [-(2**31), 2**31 - 1]),
    "big": ("BIGINT", [-(2**63), 2**63 - 1]),
    "f": ("FLOAT", [-0.0, float("inf")]),
    "d": ("DOUBLE", [float("-inf"), 1e300]),
    "dec9": ("DECIMAL(9, 2)", [Decimal("-1234567.89"), Decimal("0.01")]),
    "dec18": ("DECIMAL(18, 3)", [Decimal("999999999999999.999"), Decimal(0)]),
    "dec38": ("DECIMAL(38, 0)", [Decimal("9" * 38), Decimal("-" + "9" * 38)]),
    "c": ("CHAR(3)", ["a", "äöü"]),
    "s": ("STRING", ["", "a\0b 𝄞"]),
    "b": ("BYTES", [b"", b"\x00\xff"]),
    "day": ("DATE", [date(1, 1, 1), date(9999, 12, 31)]),
    "ts0": ("TIMESTAMP(0)", [datetime(1, 1, 1), datetime(2026, 1, 2, 3, 4, 5)]),  # noqa: DTZ001 - zoneless
    "ts3": ("TIMESTAMP(3)", [datetime(9999, 12, 31, 23, 59, 59, 999000), None]),  # noqa: DTZ001 - zoneless
    "ts6": ("TIMESTAMP(6)", [datetime(1969, 12, 31, 23, 59, 59, 999999), None]),  # noqa: DTZ001 - zoneless
    "ltz": (
        "TIMESTAMP(6) WITH LOCAL TIME ZONE",
        [datetime(1900, 1, 1, tzinfo=UTC), datetime(2026, 7, 1, 0, 0, 0, 1, tzinfo=UTC)],
    ),
}
INT, STRING = parse_type("INT"), parse_type("STRING")
NESTED: dict[str, tuple[DataType, list[object]]] = {
    "time": (parse_type("TIME(3)"), [time(0), time(23, 59, 59, 999000)]),
    "list": (ArrayType(element=STRING), [[], ["a", None, ""]]),
    "map": (MapType(key=parse_type("STRING NOT NULL"), value=INT), [[], [("a", 1), ("b", None)]]),
    "row": (
        RowType(fields=(DataField(id=90, name="x", type=ArrayType(element=INT)),)),
        [{"x": None}, {"x": [1]}],
    ),
}


def fields_of(types: dict[str, DataType]) -> list[DataField]:
    return [DataField(id=i, name=name, type=kind) for i, (name, kind) in enumerate(types.items())]


def rows_of(columns: dict[str, tuple[DataType, list[object]]]) -> tuple[list[DataField], pa.Table]:
    """Columns, each of its values and, where it may, of a null."""
    fields = fields_of({name: kind for name, (kind, _) in columns.items()})
    arrays = [
        array_of([*values, None if kind.nullable else 0], to_arrow_type(kind))
        for kind, values in columns.values()
    ]
    return fields, pa.table(arrays, schema=to_arrow_schema(fields))


FLAT_FIELDS, FLAT_ROWS = rows_of({n: (parse_type(kind), v) for n, (kind, v) in FLAT.items()})
NESTED_FIELDS, NESTED_ROWS = rows_of(
    {**{n: (parse_type(FLAT[n][0]), FLAT[n][1]) for n in ("i", "s", "dec38")}, **NESTED}
)


@pytest.fixture(params=["memory", "local"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[FileIO, str]:
    if request.param == "memory":
        return MemoryFileIO(), "memory:/t/f.parquet"
    return LocalFileIO(), f"{tmp_path}/f.parquet"


def write(
    store: tuple[FileIO, str],
    fields: list[DataField],
    rows: pa.Table,
    *,
    compression: str = "zstd",
) -> None:
    """Writes every row as a row group of its own."""
    file_io, path = store
    schema = parquet_schema(fields)
    with file_io.open_output(path) as sink:
        writer = ParquetWriter(sink, schema, DataFileSettings(compression=compression))
        for row in range(rows.num_rows):
            writer.write(rows.slice(row, 1))
        writer.close()


@pytest.mark.parametrize("compression", ["zstd", "snappy", "gzip", "none", "ZSTD"])
@pytest.mark.parametrize("use_threads", [True, False])
def test_flat_columns_come_back_the_same_from_both_decoders(
    store: tuple[FileIO, str], compression: str, *, use_threads: bool
) -> None:
    write(store, FLAT_FIELDS, FLAT_ROWS, compression=compression)
    schema = FLAT_ROWS.schema
    whole = read_parquet(*store, schema=schema, row_count=3, use_threads=use_threads)
    streamed = pa.concat_tables(stream_parquet(*store, schema=schema, batch_rows=2))
    assert whole.schema == streamed.schema == schema
    assert whole.equals(FLAT_ROWS)
    assert streamed.equals(FLAT_ROWS)


def test_nested_columns_come_back_the_same(store: tuple[FileIO, str]) -> None:
    write(store, NESTED_FIELDS, NESTED_ROWS)
    schema = NESTED_ROWS.schema
    assert read_parquet(*store, schema=schema, use_threads=False).equals(NESTED_ROWS)
    streamed = pa.concat_tables(stream_parquet(*store, schema=schema, batch_rows=1))
    assert streamed.equals(NESTED_ROWS)


@pytest.mark.parametrize("names", [["s"], ["dec38", "i"], ["map", "i"]])
def test_the_columns_asked_for_come_in_the_order_asked_for(
    store: tuple[FileIO, str], names: list[str]
) -> None:
    write(store, NESTED_FIELDS, NESTED_ROWS)
    expected = NESTED_ROWS.select(names)
    assert read_parquet(*store, schema=expected.schema, use_threads=False).equals(expected)
    (streamed,) = stream_parquet(*store, schema=expected.schema, batch_rows=100)
    assert streamed.equals(expected)


def test_both_decoders_give_the_type_asked_for_where_the_file_has_a_narrower_one(
    store: tuple[FileIO, str],
) -> None:
    write(store, fields_of({"i": INT, "s": STRING}), pa.table({"i": [1, None], "s": ["a", ""]}))
    schema = schema_of(i=pa.int64(), s=pa.binary())
    whole = read_parquet(*store, schema=schema, use_threads=False)
    (streamed,) = stream_parquet(*store, schema=schema, batch_rows=10)
    assert whole.equals(streamed)
    assert whole.to_pydict() == {"i": [1, None], "s": [b"a", b""]}
    assert whole.schema == schema


def test_a_stream_never_gives_more_rows_than_asked_for(store: tuple[FileIO, str]) -> None:
    file_io, path = store
    rows = pa.table({"k": pa.array(range(100), pa.int64())})
    with file_io.open_output(path) as sink:
        writer = ParquetWriter(sink, rows.schema, DataFileSettings())
        writer.write(rows)
        writer.close()
    counts = [part.num_rows for part in stream_parquet(*store, schema=rows.schema, batch_rows=30)]
    assert counts == [30, 30, 30, 10]


def test_the_shape_counts_rows_and_the_bytes_of_the_columns_asked_for(
    store: tuple[FileIO, str],
) -> None:
    write(store, NESTED_FIELDS, NESTED_ROWS)
    both = parquet_shape(*store, columns=["s", "row"])
    assert both.row_count == 3
    parts = [parquet_shape(*store, columns=[name]).uncompressed_bytes for name in ("s", "row")]
    assert both.uncompressed_bytes == sum(parts)
    assert min(parts) > 0


def footer_lines(file: pq.ParquetFile) -> list[str]:
    """The schema without its name and without an annotation that only old readers look for."""
    text = re.sub(r"key_value \(Map\)", "key_value", str(file.schema))
    return text.splitlines()[2:]


@pytest.mark.parametrize(
    "name", ["append_nested", "pk_history", "pk_decimal_key", "pk_composite_partitioned"]
)
def test_the_footer_is_the_one_that_the_real_writer_leaves(
    store: tuple[FileIO, str], name: str
) -> None:
    schema_file = DATABASE / name / "schema" / "schema-0"
    schema = TableSchema.from_json(schema_file.read_bytes(), str(schema_file))
    golden = min((DATABASE / name).rglob("data-*.parquet"))
    write(
        store,
        list(data_file_fields(schema)),
        to_arrow_schema(data_file_fields(schema)).empty_table(),
    )
    file_io, path = store
    with file_io.open_input(path) as source:
        ours = footer_lines(pq.ParquetFile(source))
    assert ours == footer_lines(pq.ParquetFile(golden))


def test_the_footer_carries_no_arrow_schema(store: tuple[FileIO, str]) -> None:
    write(store, FLAT_FIELDS, FLAT_ROWS)
    file_io, path = store
    with file_io.open_input(path) as source:
        metadata = pq.ParquetFile(source).metadata
    assert metadata.metadata is None
    assert metadata.row_group(0).column(0).compression == "ZSTD"


def whole_content(store: tuple[FileIO, str]) -> bytes:
    write(store, FLAT_FIELDS, FLAT_ROWS)
    return store[0].read(store[1])


def put(store: tuple[FileIO, str], content: bytes) -> None:
    store[0].delete(store[1])
    store[0].write(store[1], content)


def read_both_ways(store: tuple[FileIO, str], schema: pa.Schema) -> list[CorruptTableError]:
    """The errors of both readers."""
    with pytest.raises(CorruptTableError) as whole:
        read_parquet(*store, schema=schema, use_threads=False)
    with pytest.raises(CorruptTableError) as streamed:
        list(stream_parquet(*store, schema=schema, batch_rows=10))
    return [whole.value, streamed.value]


@pytest.mark.parametrize("damage", ["empty", "short", "half", "cut", "foreign"])
def test_what_is_no_whole_file_is_refused_by_its_path(
    store: tuple[FileIO, str], damage: str
) -> None:
    content = whole_content(store)
    damaged = {
        "empty": b"",
        "short": b"PAR1",
        "half": content[: len(content) // 2],
        "cut": content[:-1],
        "foreign": b"Obj\x01" + bytes(1000),
    }
    put(store, damaged[damage])
    for error in read_both_ways(store, FLAT_ROWS.schema):
        assert store[1] in str(error)
        assert error.path == store[1]
    with pytest.raises(CorruptTableError, match=re.escape(store[1])):
        parquet_shape(*store, columns=[])


def test_pages_that_rotted_are_refused_by_their_path(store: tuple[FileIO, str]) -> None:
    rows = pa.table({"s": ["word" * 100, "other" * 100]})
    write(store, fields_of({"s": STRING}), rows)
    content = store[0].read(store[1])
    put(store, content[:4] + b"\xff" * 60 + content[64:])
    for error in read_both_ways(store, rows.schema):
        assert store[1] in str(error)


def test_a_column_that_is_missing_is_named_with_those_that_are_there(
    store: tuple[FileIO, str],
) -> None:
    write(store, fields_of({"k": INT, "v": STRING}), pa.table({"k": [1], "v": ["a"]}))
    schema = schema_of(k=pa.int32(), w=pa.string())
    for error in read_both_ways(store, schema):
        assert store[1] in str(error)
        assert "no column 'w', only ['k', 'v']" in str(error)


def test_a_column_of_another_type_is_refused_by_name(store: tuple[FileIO, str]) -> None:
    write(store, fields_of({"k": STRING}), pa.table({"k": ["a"]}))
    for error in read_both_ways(store, schema_of(k=pa.int32())):
        assert store[1] in str(error)
        assert "column 'k'" in str(error)


def test_another_number_of_rows_than_the_manifest_says_is_refused(
    store: tuple[FileIO, str],
) -> None:
    write(store, FLAT_FIELDS, FLAT_ROWS)
    schema = FLAT_ROWS.schema
    with pytest.raises(CorruptTableError, match="3 rows where the manifest says 4"):
        read_parquet(*store, schema=schema, row_count=4, use_threads=False)
    with pytest.raises(CorruptTableError, match="3 rows where the manifest says 4"):
        list(stream_parquet(*store, schema=schema, row_count=4, batch_rows=10))


def test_a_file_that_is_missing_is_no_corruption(store: tuple[FileIO, str]) -> None:
    with pytest.raises(NotFoundError):
        read_parquet(*store, schema=FLAT_ROWS.schema, use_threads=False)
    with pytest.raises(NotFoundError):
        list(stream_parquet(*store, schema=FLAT_ROWS.schema, batch_rows=10))


@pytest.mark.parametrize("compression", ["brotli", "LZO", ""])
def test_codecs_that_others_could_not_read_are_refused(compression: str) -> None:
    with pytest.raises(UnsupportedError, match=f"file.compression='{compression}'"):
        ParquetWriter(
            pa.BufferOutputStream(),
            parquet_schema(FLAT_FIELDS),
            DataFileSettings(compression=compression),
        )


@pytest.mark.parametrize("text", ["BLOB", "ARRAY<BLOB>", "VECTOR<FLOAT, 3>"])
def test_types_without_a_writer_are_refused_by_name(text: str) -> None:
    with pytest.raises(UnsupportedError, match=r"column 'v': .* cannot be written yet"):
        check_writable(fields_of({"v": parse_type(text)}))
