import io
import json

import fastavro
import pyarrow as pa
import pytest

from lakebed.errors import UnsupportedError
from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.avro.container import BlockReader
from lakebed.format.data_file import read_file
from lakebed.format.data_file_write import (
    DataFileSettings,
    check_writable,
)
from lakebed.format.key_value import data_file_fields
from lakebed.format.type_text import parse_type
from lakebed.format.types import RowType
from support.typed_columns import columns_of, fields_of, rows_of
from support.written_files import field, golden, one_column, written

INT, STRING = parse_type("INT"), parse_type("STRING")


def header(file: bytes) -> str:
    return BlockReader(io.BytesIO(file), len(file), path="").schema


@pytest.mark.parametrize("table", ["append_types_avro", "append_nested_orc", "pk_postpone"])
def test_avro_files_have_the_schema_text_of_real_ones(table: str) -> None:
    file, schema = golden(table, "avro")
    fields = data_file_fields(schema)
    store, path = written(to_arrow_schema(fields).empty_table(), fields, "avro")
    assert header(store.read(path)) == header(file.read_bytes())


def test_avro_files_have_the_schema_that_the_format_gives_them() -> None:
    columns = columns_of("avro")
    store, path = written(rows_of(columns), fields_of(columns), "avro")
    schema = json.loads(header(store.read(path)))
    assert fastavro.parse_schema(json.loads(json.dumps(schema)))
    assert (schema["name"], schema["namespace"]) == ("record", "org.apache.paimon.avro.generated")
    types = {member["name"]: member["type"] for member in schema["fields"]}
    assert types["local3"] == ["null", {"type": "long", "logicalType": "timestamp-millis"}]
    assert types["instant6"] == ["null", {"type": "long", "logicalType": "local-timestamp-micros"}]
    assert types["multiset"] == ["null", {"type": "map", "values": ["null", "int"]}]
    assert types["map_of_ints"][1]["items"]["name"] == "record_map_of_ints"


def test_avro_names_that_would_be_one_are_refused() -> None:
    inner = RowType(fields=(field("x", INT, number=9),))
    fields = [
        field("a_b", inner),
        field("a", RowType(fields=(field("b", inner, number=8),)), number=1),
    ]
    with pytest.raises(UnsupportedError, match=r"column 'a'.*'record_a_b'"):
        check_writable(fields, "avro", DataFileSettings())
    with pytest.raises(UnsupportedError, match="'a b' cannot stand in an Avro file"):
        check_writable([field("a b", INT)], "avro", DataFileSettings())


def test_large_avro_files_have_blocks_of_bounded_size() -> None:
    count = 30_000
    rows = pa.table({"c": pa.array(["x" * 20] * count)})
    store, path = written(
        rows, [field("c", STRING)], "avro", settings=DataFileSettings(compression="null")
    )
    data = store.read(path)
    blocks = list(BlockReader(io.BytesIO(data), len(data), path=path))
    assert sum(number for number, _ in blocks) == count
    assert max(len(block) for _, block in blocks) <= 64_100
    assert len(blocks) >= 10
    long = pa.table({"c": pa.array(["y" * 300_000, "z"])})
    store, path = written(long, [field("c", STRING)], "avro")
    assert read_file(store, path, schema=long.schema).equals(long)


def test_numbers_of_every_width_are_avro_numbers() -> None:
    edges = [
        sign * (1 << bits) + step for bits in range(63) for sign in (1, -1) for step in (-1, 0, 1)
    ]
    rows, fields = one_column(parse_type("BIGINT"), [*edges, -(2**63), 2**63 - 1])
    store, path = written(rows, fields, "avro")
    records = list(fastavro.reader(io.BytesIO(store.read(path))))
    assert records == rows.to_pylist()
