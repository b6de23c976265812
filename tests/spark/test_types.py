"""Spark's types and the format's meet as in Paimon's own connector."""

import pyarrow as pa
import pytest
from pyspark.sql import types as spark_types

from lakebed.errors import UnsupportedError
from lakebed.format.type_text import parse_type
from lakebed.format.types import DataField
from lakebed.spark.types import (
    is_native,
    to_arrow_schema,
    to_spark_schema,
    to_spark_type,
    to_table_schema,
    type_text,
)


@pytest.mark.parametrize(
    ("text", "spark", "native"),
    [
        ("BOOLEAN", "boolean", True),
        ("TINYINT", "tinyint", True),
        ("DECIMAL(20, 3)", "decimal(20,3)", True),
        ("CHAR(3)", "string", True),
        ("STRING", "string", True),
        ("BYTES", "binary", True),
        ("DATE", "date", True),
        ("TIMESTAMP(3)", "timestamp_ntz", True),
        ("TIMESTAMP(9)", "timestamp_ntz", False),
        ("TIMESTAMP(6) WITH LOCAL TIME ZONE", "timestamp", True),
        ("ARRAY<INT>", "array<int>", True),
        ("MAP<STRING, TIMESTAMP(9)>", "map<string,timestamp_ntz>", False),
        ("MULTISET<STRING>", "map<string,int>", False),
        ("ROW<x INT, y ARRAY<STRING>>", "struct<x:int,y:array<string>>", True),
    ],
)
def test_types_of_the_format_in_spark(text: str, spark: str, *, native: bool) -> None:
    kind = parse_type(text)
    assert to_spark_type(kind, column="x").simpleString() == spark
    assert is_native(kind) is native


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("TIME(3)", "'x'"),
        ("ARRAY<TIME(3)>", "'x.element'"),
        ("MAP<INT, ROW<y TIME(3)>>", "'x.value.y'"),
    ],
)
def test_times_of_day_are_refused_by_the_name_of_their_column(text: str, named: str) -> None:
    with pytest.raises(UnsupportedError, match=rf"column {named} has type TIME\(3\)"):
        to_spark_schema([DataField(id=0, name="x", type=parse_type(text))])


@pytest.mark.parametrize("text", ["CHAR(3)", "VARCHAR(7)", "TIME(3)"])
def test_describe_shows_lengths_and_what_frames_lack(text: str) -> None:
    assert type_text(parse_type(text)) == text.lower()


def test_comments_and_nullability_of_a_frame_are_kept() -> None:
    struct = spark_types.StructType(
        [
            spark_types.StructField("id", spark_types.LongType(), nullable=False),
            spark_types.StructField(
                "ts", spark_types.TimestampType(), metadata={"comment": "when"}
            ),
            spark_types.StructField("c", spark_types.CharType(3)),
        ]
    )
    fields = to_table_schema(struct).fields
    assert [field.type for field in fields] == [
        parse_type("BIGINT NOT NULL"),
        parse_type("TIMESTAMP(6) WITH LOCAL TIME ZONE"),
        parse_type("CHAR(3)"),
    ]
    assert fields[1].description == "when"
    assert to_spark_schema(fields).fields[1].metadata == {"comment": "when"}


@pytest.mark.parametrize(
    "kind",
    [
        spark_types.TimeType(),
        spark_types.NullType(),
        spark_types.DayTimeIntervalType(),
        spark_types.ArrayType(spark_types.NullType()),
    ],
)
def test_types_that_the_format_lacks_are_refused(kind: spark_types.DataType) -> None:
    with pytest.raises(UnsupportedError, match="'x"):
        to_table_schema(spark_types.StructType([spark_types.StructField("x", kind)]))


def test_arrow_schemas_are_what_spark_expects_to_the_letter() -> None:
    fields = [
        DataField(id=0, name="s", type=parse_type("STRING")),
        DataField(id=1, name="ts", type=parse_type("TIMESTAMP(9) WITH LOCAL TIME ZONE")),
        DataField(id=2, name="a", type=parse_type("ARRAY<TIMESTAMP(3)>")),
    ]
    found = to_arrow_schema(to_spark_schema(fields))
    assert found.names == ["s", "ts", "a"]
    assert found.types == [
        pa.string(),
        pa.timestamp("us", tz="UTC"),
        pa.list_(pa.field("element", pa.timestamp("us"))),
    ]
