"""Which values a column takes (ANSI store assignment); no session needed."""

import pytest
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    IntegerType,
    LongType,
    MapType,
    NullType,
    StringType,
    StructType,
    TimestampType,
)

from lakebed.spark.alignment import can_store

INT, LONG, TEXT = IntegerType(), LongType(), StringType()
ONE = StructType().add("a", INT)
TWO = StructType().add("a", INT).add("b", INT)


@pytest.mark.parametrize(
    ("given", "wanted", "expected"),
    [
        (LONG, INT, True),
        (BooleanType(), INT, False),
        (TEXT, INT, False),
        (TEXT, BinaryType(), False),
        (NullType(), INT, True),
        (INT, TEXT, True),
        (ArrayType(INT), TEXT, False),
        (DateType(), TimestampType(), True),
        (INT, DateType(), False),
        (ArrayType(INT), ArrayType(LONG), True),
        (ArrayType(TEXT), ArrayType(INT), False),
        (MapType(TEXT, INT), MapType(TEXT, LONG), True),
        (MapType(TEXT, INT), MapType(INT, INT), False),
        (MapType(INT, TEXT), MapType(INT, INT), False),
        (ONE, ONE, True),
        (ONE, TWO, False),
        (TWO, ONE, False),
        (StructType().add("a", TEXT), ONE, False),
    ],
    ids=lambda value: value.simpleString() if isinstance(value, DataType) else "",
)
def test_a_column_takes_what_keeps_its_meaning(
    *, given: DataType, wanted: DataType, expected: bool
) -> None:
    assert can_store(given, wanted) is expected
