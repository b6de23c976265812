import io
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakebed.errors import InvalidTableError
from lakebed.format.arrow.types import (
    FIELD_ID_KEY,
    from_arrow_schema,
    from_arrow_type,
    parquet_schema,
    to_arrow_schema,
    to_arrow_type,
)
from lakebed.format.schema import TableSchema
from lakebed.format.type_text import format_type, parse_type

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "warehouse" / "db.db"


@pytest.mark.parametrize(
    ("text", "arrow"),
    [
        ("BOOLEAN", pa.bool_()),
        ("TINYINT", pa.int8()),
        ("SMALLINT", pa.int16()),
        ("INT", pa.int32()),
        ("BIGINT", pa.int64()),
        ("FLOAT", pa.float32()),
        ("DOUBLE", pa.float64()),
        ("DECIMAL(9, 2)", pa.decimal128(9, 2)),
        ("CHAR(3)", pa.string()),
        ("STRING", pa.string()),
        ("BINARY(3)", pa.binary()),
        ("BYTES", pa.binary()),
        ("BLOB", pa.binary()),
        ("DATE", pa.date32()),
        ("TIME(9)", pa.time32("ms")),
        ("TIMESTAMP(0)", pa.timestamp("s")),
        ("TIMESTAMP(1)", pa.timestamp("ms")),
        ("TIMESTAMP(3)", pa.timestamp("ms")),
        ("TIMESTAMP(4)", pa.timestamp("us")),
        ("TIMESTAMP(6)", pa.timestamp("us")),
        ("TIMESTAMP(7)", pa.timestamp("ns")),
        ("TIMESTAMP_LTZ(3)", pa.timestamp("ms", "UTC")),
        ("ARRAY<INT>", pa.list_(pa.int32())),
        ("MAP<STRING, INT>", pa.map_(pa.string(), pa.int32())),
        ("VECTOR<FLOAT, 3>", pa.list_(pa.float32(), 3)),
        ("ROW<a INT, b STRING>", pa.struct([("a", pa.int32()), ("b", pa.string())])),
    ],
)
def test_each_type_has_one_arrow_type(text: str, arrow: pa.DataType) -> None:
    assert to_arrow_type(parse_type(text)) == arrow


def test_a_variant_is_a_struct_of_its_two_parts() -> None:
    parts = [pa.field(name, pa.binary(), nullable=False) for name in ("value", "metadata")]
    assert to_arrow_type(parse_type("VARIANT")) == pa.struct(parts)


def test_a_multiset_is_a_map_to_counts() -> None:
    kind = to_arrow_type(parse_type("MULTISET<STRING>"))
    assert isinstance(kind, pa.MapType)
    assert (kind.key_type, kind.item_type) == (pa.string(), pa.int32())
    assert not kind.item_field.nullable


def test_nullability_goes_both_ways_at_every_depth() -> None:
    text = "ROW<`a` ARRAY<INT NOT NULL> NOT NULL, `m` MAP<STRING NOT NULL, BIGINT NOT NULL>>"
    schema = pa.schema([pa.field("c", to_arrow_type(parse_type(text)), nullable=False)])
    (column,) = from_arrow_schema(schema).fields
    assert format_type(column.type) == text + " NOT NULL"
    assert to_arrow_schema([column]).equals(schema)


@pytest.mark.parametrize(
    ("arrow", "text"),
    [
        (pa.large_string(), "STRING"),
        (pa.string_view(), "STRING"),
        (pa.dictionary(pa.int8(), pa.large_string()), "STRING"),
        (pa.large_binary(), "BYTES"),
        (pa.binary_view(), "BYTES"),
        (pa.binary(4), "BINARY(4)"),
        (pa.large_list(pa.int8()), "ARRAY<TINYINT>"),
        (pa.list_view(pa.int8()), "ARRAY<TINYINT>"),
        (pa.large_list_view(pa.int8()), "ARRAY<TINYINT>"),
        (pa.list_(pa.int8(), 3), "ARRAY<TINYINT>"),
        (pa.decimal32(5, 2), "DECIMAL(5, 2)"),
        (pa.decimal256(38, 0), "DECIMAL(38, 0)"),
        (pa.date64(), "DATE"),
        (pa.time32("s"), "TIME(0)"),
        (pa.time32("ms"), "TIME(3)"),
        (pa.timestamp("s"), "TIMESTAMP(0)"),
        (pa.timestamp("ns", "Asia/Kathmandu"), "TIMESTAMP(9) WITH LOCAL TIME ZONE"),
        (pa.map_(pa.string(), pa.int8()), "MAP<STRING NOT NULL, TINYINT>"),
    ],
)
def test_arrow_types_are_taken_for_their_plain_ones(arrow: pa.DataType, text: str) -> None:
    assert format_type(from_arrow_type(arrow, column="c")) == text


@pytest.mark.parametrize(
    ("arrow", "advice"),
    [
        (pa.uint8(), "int16"),
        (pa.uint16(), "int32"),
        (pa.uint32(), "int64"),
        (pa.uint64(), "decimal128"),
        (pa.float16(), "float32"),
        (pa.duration("ms"), "int64"),
        (pa.null(), "cast it to the type"),
        (pa.time64("us"), "time32"),
        (pa.decimal256(39, 0), "cast it"),
        (pa.decimal128(5, -2), "cast it"),
        (pa.month_day_nano_interval(), "cast it"),
    ],
)
def test_arrow_types_that_lose_values_are_refused_with_advice(
    arrow: pa.DataType, advice: str
) -> None:
    with pytest.raises(InvalidTableError, match=rf"column 'c' has .*{advice}"):
        from_arrow_schema(pa.schema([("a", pa.int8()), ("c", arrow)]))


def test_a_refused_type_inside_others_is_named_by_its_path() -> None:
    kind = pa.list_(pa.struct([("x", pa.map_(pa.string(), pa.uint8()))]))
    with pytest.raises(InvalidTableError, match=r"'c\.element\.x\.value'"):
        from_arrow_schema(pa.schema([("c", kind)]))


@pytest.mark.parametrize("table", ["append_nested", "append_types_parquet", "variant"])
def test_parquet_files_get_the_schema_of_the_real_engine(table: str) -> None:
    path = GOLDEN / table / "schema" / "schema-0"
    fields = TableSchema.from_json(path.read_bytes(), str(path)).fields
    sink = io.BytesIO()
    pq.write_table(
        parquet_schema(fields).empty_table(),
        sink,
        store_schema=False,
        store_decimal_as_integer=True,
    )
    real = pq.ParquetFile(min((GOLDEN / table / "bucket-0").glob("*.parquet")))
    assert describe(pq.ParquetFile(sink)) == describe(real)


def test_field_ids_of_nested_lists_grow_with_the_depth() -> None:
    path = GOLDEN / "append_nested" / "schema" / "schema-0"
    fields = TableSchema.from_json(path.read_bytes(), str(path)).fields
    column = parquet_schema(fields).field("aa")
    outer = column.type.value_field
    parts = (column, outer, outer.type.value_field)
    ids = [(part.metadata or {})[FIELD_ID_KEY] for part in parts]
    assert ids == [b"7", b"536878080", b"536878081"]


def describe(file: pq.ParquetFile) -> list[str]:
    """The lines of the Parquet schema below its name, less the map annotation of old writers."""
    lines = str(file.schema).splitlines()[2:]
    return [re.sub(r"key_value \(Map\)", "key_value", line) for line in lines]
