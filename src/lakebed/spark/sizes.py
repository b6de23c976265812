"""How does Spark come to know how many rows a task reads in Python?

What comes of `mapInArrow` Spark takes to be as large as what goes in, and by that it chooses how to
join: of two numbers it would think that any table can be sent to every executor. So a task counts
on from its number, in proportion to what it reads, and drops what it counted.
"""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    MapType,
    ShortType,
    StringType,
    StructType,
)

_SIZES: dict[type[DataType], int] = {
    BooleanType: 1,
    ByteType: 1,
    ShortType: 2,
    IntegerType: 4,
    FloatType: 4,
    DateType: 4,
    StringType: 20,
    BinaryType: 100,
}
_OTHER_SIZE = 8
_ROW_SIZE = 8
# Spark takes a number for 8 bytes, and for as much again beside a column that is 8 and 100 wide.
_COUNTED_SIZE = (8 + 8 + 100) // 2


def numbers(spark: SparkSession, count: int, *, size_bytes: int) -> DataFrame:
    """The numbers from 0 on, each in a task of its own, in the first column.

    Args:
        spark: The session.
        count: How many, at least one.
        size_bytes: What Spark is to take all rows that come of them for. Of Parquet files it takes
            the share of their columns in the files' bytes, so whatever is compared with such is to
            be measured alike, although rows in memory are larger.
    """
    counted = size_bytes // _COUNTED_SIZE
    # One of few steps, as the code that Spark makes for each is kept.
    step = 1 << (max(counted // count, 1).bit_length() - 1)
    every = spark.range(0, count * step, 1, count).where(f"id % {step} = 0")
    return every.selectExpr(f"id DIV {step} AS id", "CAST(NULL AS BINARY) AS width")


def row_size(schema: StructType) -> int:
    """How many bytes Spark takes a row for."""
    return _ROW_SIZE + size_of(schema)


def size_of(kind: DataType) -> int:
    """How many bytes Spark takes a value for."""
    match kind:
        case StructType():
            return sum(size_of(field.dataType) for field in kind.fields)
        case ArrayType():
            return size_of(kind.elementType)
        case MapType():
            return size_of(kind.keyType) + size_of(kind.valueType)
        case DecimalType() if kind.precision > 18:
            return 16
        case _:
            return _SIZES.get(type(kind), _OTHER_SIZE)
