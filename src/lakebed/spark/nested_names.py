"""How do fields inside a frame's columns become those inside a table's, by name?

Spark casts a STRUCT to another by position; writers that match columns by name match what is inside
them by name too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.errors import AnalysisException
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know
from pyspark.sql import types as spark_types

from lakebed.spark.conditions import analysis_error
from lakebed.spark.names import quoted

_CONDITION = "INCOMPATIBLE_DATA_FOR_TABLE"


def lacks_fields(given: spark_types.DataType, wanted: spark_types.DataType) -> bool:
    """Whether a STRUCT, or one inside of another type, lacks fields of the one that is wanted."""
    match given, wanted:
        case spark_types.StructType(), spark_types.StructType():
            own = {field.name.lower(): field.dataType for field in given.fields}
            return any(
                field.name.lower() not in own
                or lacks_fields(own[field.name.lower()], field.dataType)
                for field in wanted.fields
            )
        case spark_types.ArrayType(), spark_types.ArrayType():
            return lacks_fields(given.elementType, wanted.elementType)
        case spark_types.MapType(), spark_types.MapType():
            return lacks_fields(given.valueType, wanted.valueType)
        case _:
            return False


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedNames:
    """Puts the fields of STRUCTs in the order of the table.

    Attributes:
        table_name: For errors.
        is_case_sensitive: Whether names match exactly.
        fills: Whether fields that the rows lack are null, rather than an error.
    """

    table_name: str
    is_case_sensitive: bool = False
    fills: bool = False

    def arrange(
        self, column: Column, given: spark_types.DataType, wanted: spark_types.DataType, *, at: str
    ) -> tuple[Column, spark_types.DataType]:
        """The column with its fields as wanted, their types as they were.

        Args:
            column: The column.
            given: Its type.
            wanted: The type of the table's column.
            at: The column's name, for errors.

        Raises:
            AnalysisException: Fields that the table lacks, or that the rows lack.
        """
        match given, wanted:
            case spark_types.StructType(), spark_types.StructType():
                return self._struct(column, given, wanted, at=at)
            case spark_types.ArrayType(), spark_types.ArrayType():
                inside = _Inside(self, given.elementType, wanted.elementType, f"{at}.element")
                if inside.is_as_wanted:
                    return column, given
                return F.transform(column, inside), spark_types.ArrayType(inside.kind)
            case spark_types.MapType(), spark_types.MapType():
                inside = _Inside(self, given.valueType, wanted.valueType, f"{at}.value")
                if inside.is_as_wanted:
                    return column, given
                arranged = F.transform_values(column, lambda _, value: inside(value))
                return arranged, spark_types.MapType(given.keyType, inside.kind)
            case _:
                return column, given

    def _struct(
        self,
        column: Column,
        given: spark_types.StructType,
        wanted: spark_types.StructType,
        *,
        at: str,
    ) -> tuple[Column, spark_types.DataType]:
        by_name = {self._key(field.name): field for field in given.fields}
        known = {self._key(field.name) for field in wanted.fields}
        extra = [field.name for field in given.fields if self._key(field.name) not in known]
        if extra:
            raise self._error("EXTRA_STRUCT_FIELDS", "extraFields", extra, at=at)
        missing = [field.name for field in wanted.fields if self._key(field.name) not in by_name]
        if missing and not self.fills:
            raise self._error("STRUCT_MISSING_FIELDS", "missingFields", missing, at=at)
        parts: list[Column] = []
        fields: list[spark_types.StructField] = []
        for field in wanted.fields:
            source = by_name.get(self._key(field.name))
            part, kind = (
                (F.lit(None).cast(field.dataType), field.dataType)
                if source is None
                else self.arrange(
                    column.getField(source.name),
                    source.dataType,
                    field.dataType,
                    at=f"{at}.{field.name}",
                )
            )
            parts.append(part.alias(field.name))
            fields.append(spark_types.StructField(field.name, kind))
        arranged = spark_types.StructType(fields)
        if arranged.simpleString() == given.simpleString():
            return column, given
        return F.when(column.isNotNull(), F.struct(*parts)), arranged

    def _error(
        self, kind: str, parameter: str, names: Sequence[str], *, at: str
    ) -> AnalysisException:
        listed = ", ".join(quoted((name,)) for name in names)
        column = quoted(tuple(at.split(".")))
        problem = (
            f"Cannot write extra fields {listed} to the struct {column}."
            if kind == "EXTRA_STRUCT_FIELDS"
            else f"Struct {column} missing fields: {listed}."
        )
        return analysis_error(
            f"{_CONDITION}.{kind}",
            f"Cannot write incompatible data for the table {self.table_name}: {problem}",
            {"tableName": self.table_name, "colName": column, parameter: listed},
        )

    def _key(self, name: str) -> str:
        return name if self.is_case_sensitive else name.lower()


class _Inside:
    """What is done to each element of an array, or to each value of a map."""

    def __init__(  # noqa: PLR0917 - who does it, from what, to what, and where
        self,
        names: NestedNames,
        given: spark_types.DataType,
        wanted: spark_types.DataType,
        at: str,
    ) -> None:
        self._names, self._given, self._wanted, self._at = names, given, wanted, at
        self.kind = names.arrange(F.lit(None), given, wanted, at=at)[1]

    @property
    def is_as_wanted(self) -> bool:
        return self.kind is self._given

    def __call__(self, element: Column) -> Column:
        return self._names.arrange(element, self._given, self._wanted, at=self._at)[0]
