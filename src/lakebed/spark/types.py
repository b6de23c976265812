"""How do Spark's types and the format's types map onto each other?

The mapping is that of Paimon's own Spark connector: TIMESTAMP is an instant (TIMESTAMP_LTZ),
TIMESTAMP_NTZ a wall clock (TIMESTAMP), MULTISET is a map to counts. What Spark cannot hold is cut,
digits of a second behind the sixth, or refused: TIME, which that connector reads as a bare number.

The surprising thing: frames that are read have STRING where the table has CHAR or VARCHAR, and are
nullable throughout. Spark's file reader gives neither lengths nor NOT NULL, and rows of both
readers must meet in one frame.
"""

from collections.abc import Iterable, Sequence

import pyarrow as pa
from pyspark.sql import types as spark_types

from lakebed.errors import UnsupportedError
from lakebed.format.schema_definition import Schema
from lakebed.format.type_text import format_type
from lakebed.format.types import (
    MAX_LENGTH,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    VectorType,
)

_MICROSECONDS = 6

_TO_SPARK: dict[TypeRoot, spark_types.DataType] = {
    TypeRoot.BOOLEAN: spark_types.BooleanType(),
    TypeRoot.TINYINT: spark_types.ByteType(),
    TypeRoot.SMALLINT: spark_types.ShortType(),
    TypeRoot.INT: spark_types.IntegerType(),
    TypeRoot.BIGINT: spark_types.LongType(),
    TypeRoot.FLOAT: spark_types.FloatType(),
    TypeRoot.DOUBLE: spark_types.DoubleType(),
    TypeRoot.CHAR: spark_types.StringType(),
    TypeRoot.VARCHAR: spark_types.StringType(),
    TypeRoot.BINARY: spark_types.BinaryType(),
    TypeRoot.VARBINARY: spark_types.BinaryType(),
    TypeRoot.BLOB: spark_types.BinaryType(),
    TypeRoot.DATE: spark_types.DateType(),
    TypeRoot.TIMESTAMP: spark_types.TimestampNTZType(),
    TypeRoot.TIMESTAMP_LTZ: spark_types.TimestampType(),
    TypeRoot.VARIANT: spark_types.VariantType(),
}

_FROM_SPARK: dict[type[spark_types.DataType], AtomicType] = {
    spark_types.BooleanType: AtomicType(root=TypeRoot.BOOLEAN),
    spark_types.ByteType: AtomicType(root=TypeRoot.TINYINT),
    spark_types.ShortType: AtomicType(root=TypeRoot.SMALLINT),
    spark_types.IntegerType: AtomicType(root=TypeRoot.INT),
    spark_types.LongType: AtomicType(root=TypeRoot.BIGINT),
    spark_types.FloatType: AtomicType(root=TypeRoot.FLOAT),
    spark_types.DoubleType: AtomicType(root=TypeRoot.DOUBLE),
    spark_types.BinaryType: AtomicType(root=TypeRoot.VARBINARY, length=MAX_LENGTH),
    spark_types.DateType: AtomicType(root=TypeRoot.DATE),
    spark_types.TimestampType: AtomicType(root=TypeRoot.TIMESTAMP_LTZ, precision=_MICROSECONDS),
    spark_types.TimestampNTZType: AtomicType(root=TypeRoot.TIMESTAMP, precision=_MICROSECONDS),
    spark_types.VariantType: AtomicType(root=TypeRoot.VARIANT),
}

_TO_ARROW: dict[type[spark_types.DataType], pa.DataType] = {
    spark_types.BooleanType: pa.bool_(),
    spark_types.ByteType: pa.int8(),
    spark_types.ShortType: pa.int16(),
    spark_types.IntegerType: pa.int32(),
    spark_types.LongType: pa.int64(),
    spark_types.FloatType: pa.float32(),
    spark_types.DoubleType: pa.float64(),
    spark_types.StringType: pa.string(),
    spark_types.BinaryType: pa.binary(),
    spark_types.DateType: pa.date32(),
    spark_types.TimestampType: pa.timestamp("us", tz="UTC"),
    spark_types.TimestampNTZType: pa.timestamp("us"),
    # The mark by which Spark tells a variant from a struct.
    spark_types.VariantType: pa.struct(
        [
            pa.field("value", pa.binary(), nullable=False),
            pa.field("metadata", pa.binary(), nullable=False, metadata={b"variant": b"true"}),
        ]
    ),
}

# Parquet holds these in another form than Spark's reader expects for the type above.
_NOT_NATIVE = {TypeRoot.VARIANT, TypeRoot.BLOB, TypeRoot.TIME}


def to_spark_schema(fields: Iterable[DataField]) -> spark_types.StructType:
    """The schema of a frame over these columns.

    Raises:
        UnsupportedError: A column has a type that frames lack.
    """
    return spark_types.StructType([_to_spark_field(field, field.name) for field in fields])


def to_spark_type(kind: DataType, *, column: str) -> spark_types.DataType:
    """The type of a frame's column.

    Args:
        kind: The column's type.
        column: Its name, for the error.

    Raises:
        UnsupportedError: Frames lack the type, or one inside it.
    """
    match kind:
        case AtomicType(root=TypeRoot.TIME):
            raise UnsupportedError(
                f"column {column!r} has type {format_type(kind)}, which is not read or written"
                " through Spark; name the other columns, or scan the table without Spark"
            )
        case AtomicType(root=TypeRoot.DECIMAL):
            return spark_types.DecimalType(kind.precision or 10, kind.scale or 0)
        case AtomicType():
            return _TO_SPARK[kind.root]
        case ArrayType() | VectorType():
            return spark_types.ArrayType(_to_part_type(kind.element, column, "element"))
        case MapType():
            return spark_types.MapType(
                _to_part_type(kind.key, column, "key"), _to_part_type(kind.value, column, "value")
            )
        case MultisetType():
            element = _to_part_type(kind.element, column, "element")
            return spark_types.MapType(element, spark_types.IntegerType())
        case RowType():
            return spark_types.StructType(
                [_to_spark_field(field, f"{column}.{field.name}") for field in kind.fields]
            )


def to_arrow_schema(schema: spark_types.StructType) -> pa.Schema:
    """The Arrow schema in which Spark takes rows of a frame's schema, to the letter."""
    return pa.schema([_to_arrow_field(field) for field in schema.fields])


def to_table_schema(schema: spark_types.StructType) -> Schema:
    """The columns of a table that holds the rows of a frame.

    Raises:
        UnsupportedError: A type that the format lacks.
    """
    return Schema(
        fields=tuple(
            _from_spark_field(index, field, column=field.name)
            for index, field in enumerate(schema.fields)
        )
    )


def is_native(kind: DataType) -> bool:
    """Whether Spark's Parquet reader gives the column exactly as `to_spark_type` says."""
    match kind:
        case AtomicType(root=TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ):
            return (kind.precision or 0) <= _MICROSECONDS
        case AtomicType():
            return kind.root not in _NOT_NATIVE
        case ArrayType():
            return is_native(kind.element)
        case MapType():
            return is_native(kind.key) and is_native(kind.value)
        case RowType():
            return all(is_native(field.type) for field in kind.fields)
        case MultisetType() | VectorType():
            return False


def type_text(kind: DataType) -> str:
    """The type as DESCRIBE prints it: Spark's text, with the lengths of CHAR and VARCHAR.

    A type that frames lack is printed as the format has it.
    """
    if isinstance(kind, AtomicType):
        if kind.root is TypeRoot.CHAR:
            return f"char({kind.length})"
        if kind.root is TypeRoot.VARCHAR and kind.length != MAX_LENGTH:
            return f"varchar({kind.length})"
    try:
        return to_spark_type(kind, column="").simpleString()
    except UnsupportedError:
        return format_type(kind).lower()


def _to_part_type(kind: DataType, column: str, part: str) -> spark_types.DataType:
    return to_spark_type(kind, column=f"{column}.{part}")


def _to_spark_field(field: DataField, column: str) -> spark_types.StructField:
    metadata = {"comment": field.description} if field.description is not None else {}
    kind = to_spark_type(field.type, column=column)
    return spark_types.StructField(field.name, kind, metadata=metadata)


def _to_arrow_field(field: spark_types.StructField) -> "pa.Field[pa.DataType]":
    return pa.field(field.name, _to_arrow_type(field.dataType), nullable=field.nullable)


def _to_arrow_type(kind: spark_types.DataType) -> pa.DataType:
    match kind:
        case spark_types.DecimalType():
            return pa.decimal128(kind.precision, kind.scale)
        case spark_types.ArrayType():
            element = _to_arrow_type(kind.elementType)
            return pa.list_(pa.field("element", element, nullable=kind.containsNull))
        case spark_types.MapType():
            return pa.map_(_to_arrow_type(kind.keyType), _to_arrow_type(kind.valueType))
        case spark_types.StructType():
            return pa.struct([_to_arrow_field(field) for field in kind.fields])
        case _:
            return _TO_ARROW[type(kind)]


def _from_spark_field(index: int, field: spark_types.StructField, *, column: str) -> DataField:
    return DataField(
        id=index,
        name=field.name,
        type=_from_spark_type(field.dataType, nullable=field.nullable, column=column),
        description=(field.metadata or {}).get("comment"),
    )


def _from_spark_type(kind: spark_types.DataType, *, nullable: bool, column: str) -> DataType:
    match kind:
        case spark_types.ArrayType():
            element = _from_spark_type(
                kind.elementType, nullable=kind.containsNull, column=f"{column}.element"
            )
            return ArrayType(element=element, nullable=nullable)
        case spark_types.MapType():
            return MapType(
                key=_from_spark_type(kind.keyType, nullable=False, column=f"{column}.key"),
                value=_from_spark_type(
                    kind.valueType, nullable=kind.valueContainsNull, column=f"{column}.value"
                ),
                nullable=nullable,
            )
        case spark_types.StructType():
            return RowType(fields=_nested_fields(kind.fields, column), nullable=nullable)
        case _:
            return _from_spark_atomic(kind, nullable=nullable, column=column)


def _nested_fields(fields: Sequence[spark_types.StructField], column: str) -> tuple[DataField, ...]:
    return tuple(
        _from_spark_field(index, field, column=f"{column}.{field.name}")
        for index, field in enumerate(fields)
    )


def _from_spark_atomic(kind: spark_types.DataType, *, nullable: bool, column: str) -> AtomicType:
    match kind:
        case spark_types.DecimalType():
            return AtomicType(
                root=TypeRoot.DECIMAL,
                nullable=nullable,
                precision=kind.precision,
                scale=kind.scale,
            )
        case spark_types.CharType():
            return AtomicType(root=TypeRoot.CHAR, nullable=nullable, length=kind.length)
        case spark_types.VarcharType():
            return AtomicType(root=TypeRoot.VARCHAR, nullable=nullable, length=kind.length)
        case spark_types.StringType() if kind.simpleString() == "string":
            return AtomicType(root=TypeRoot.VARCHAR, nullable=nullable, length=MAX_LENGTH)
    found = _FROM_SPARK.get(type(kind))
    if found is None:
        raise UnsupportedError(
            f"column {column!r} has the Spark type {kind.simpleString().upper()}, which the format"
            " lacks; cast it to another type"
        )
    return AtomicType(
        root=found.root, nullable=nullable, length=found.length, precision=found.precision
    )
