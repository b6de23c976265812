"""How do the columns of a frame become those of a table?

By name for DataFrame writers and BY NAME, by position for SQL and `insertInto`. Types follow
Spark's ANSI store assignment: what may lose the meaning of a value is refused before anything runs.
Columns that the frame lacks are left out; the table gives them their default or null, or refuses.
"""

from collections.abc import Iterable, Mapping, Sequence

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know
from pyspark.sql import types as spark_types

from lakebed.format.types import DataField
from lakebed.spark.conditions import analysis_error, spark_errors, unknown_column
from lakebed.spark.lengths import within_lengths
from lakebed.spark.names import quoted
from lakebed.spark.nested_names import NestedNames
from lakebed.spark.types import to_spark_type
from lakebed.table.table import Table
from lakebed.table.writing.row_kinds import ROW_KIND

_DATETIMES = (
    spark_types.DateType,
    spark_types.TimestampType,
    spark_types.TimestampNTZType,
)


def align_by_position(
    frame: DataFrame,
    table: Table,
    *,
    columns: Sequence[str] | None = None,
    fixed: Mapping[str, Column] | None = None,
) -> DataFrame:
    """The frame's columns as those of the table in order.

    Args:
        frame: The rows.
        table: The table.
        columns: Which columns of the table the frame has, in its order; None for all.
        fixed: Columns that every row has with the same value, beside those.
    """
    given = dict(fixed or {})
    fields = _fields(table, columns) if columns is not None else list(table.schema.fields)
    wanted = [field for field in fields if field.name not in given]
    if len(frame.columns) != len(wanted):
        raise _wrong_count(frame, table, wanted)
    names = [f"_{index}" for index in range(len(wanted))]
    plain = frame.toDF(*names)
    sources = zip(names, frame.schema.fields, wanted, strict=True)
    selected = [
        _stored(plain[name], source.dataType, field, table=table) for name, source, field in sources
    ]
    return plain.select(*selected, *_fixed_columns(table, given).values())


def align_by_name(
    frame: DataFrame,
    table: Table,
    *,
    is_case_sensitive: bool = False,
    fixed: Mapping[str, Column] | None = None,
    fills: bool = False,
) -> DataFrame:
    """The frame's columns as those of the table with the same name.

    Args:
        frame: The rows.
        table: The table.
        is_case_sensitive: Whether names match exactly.
        fixed: Columns that every row has with the same value, beside those.
        fills: Whether fields of a STRUCT that the rows lack are null, rather than an error.
    """
    given = [(field, frame[quoted((field.name,))]) for field in frame.schema.fields]
    found = columns_by_name(
        given, table, is_case_sensitive=is_case_sensitive, fixed=fixed, fills=fills
    )
    return frame.select(*found.values())


def columns_by_name(
    sources: Iterable[tuple[spark_types.StructField, Column]],
    table: Table,
    *,
    is_case_sensitive: bool = False,
    fixed: Mapping[str, Column] | None = None,
    fills: bool = False,
) -> dict[str, Column]:
    """Columns as those of the table with the same name, by it; arguments as of `align_by_name`."""
    given = dict(fixed or {})
    nested = NestedNames(
        table_name=table_name(table), is_case_sensitive=is_case_sensitive, fills=fills
    )
    own = _by_name(table.schema.fields, is_case_sensitive=is_case_sensitive)
    selected: dict[str, Column] = {}
    extra = []
    for source, column in sources:
        field = own.get(source.name if is_case_sensitive else source.name.lower())
        if field is not None and field.name not in given:
            arranged, kind = nested.arrange(
                column, source.dataType, _wanted_type(field), at=field.name
            )
            selected[field.name] = _stored(arranged, kind, field, table=table)
        elif source.name == ROW_KIND:
            selected[ROW_KIND] = column.cast("string").alias(ROW_KIND)
        else:
            extra.append(source.name)
    if extra:
        listed = ", ".join(quoted((name,)) for name in extra)
        raise analysis_error(
            "INCOMPATIBLE_DATA_FOR_TABLE.EXTRA_COLUMNS",
            f"Cannot write incompatible data for the table {table_name(table)}: Cannot write extra"
            f" columns {listed}.",
            {"tableName": table_name(table), "extraColumns": listed},
        )
    return selected | _fixed_columns(table, given)


def table_name(table: Table) -> str:
    """The table's name as Spark prints names."""
    return table.name if "/" in table.name else quoted(tuple(table.name.split(".")))


def can_store(given: spark_types.DataType, wanted: spark_types.DataType) -> bool:
    """Whether ANSI store assignment takes values of a type for a column of another."""
    match given, wanted:
        case spark_types.ArrayType(), spark_types.ArrayType():
            return can_store(given.elementType, wanted.elementType)
        case spark_types.MapType(), spark_types.MapType():
            return can_store(given.keyType, wanted.keyType) and can_store(
                given.valueType, wanted.valueType
            )
        case spark_types.StructType(), spark_types.StructType():
            return len(given.fields) == len(wanted.fields) and all(
                can_store(one.dataType, other.dataType)
                for one, other in zip(given.fields, wanted.fields, strict=True)
            )
        case spark_types.NullType(), _:
            return True
        case spark_types.NumericType(), spark_types.NumericType():
            return True
        case _, spark_types.StringType():
            return isinstance(given, spark_types.AtomicType)
        case _:
            pass
    if isinstance(given, _DATETIMES) and isinstance(wanted, _DATETIMES):
        return True
    return type(given) is type(wanted)


def _by_name(fields: Iterable[DataField], *, is_case_sensitive: bool) -> dict[str, DataField]:
    return {field.name if is_case_sensitive else field.name.lower(): field for field in fields}


def _fields(table: Table, columns: Sequence[str]) -> list[DataField]:
    own = _by_name(table.schema.fields, is_case_sensitive=False)
    for name in columns:
        if name.lower() not in own:
            raise unknown_column(name, table.schema.names)
    return [own[name.lower()] for name in columns]


def _fixed_columns(table: Table, fixed: Mapping[str, Column]) -> dict[str, Column]:
    return {
        name: column.cast(_wanted_type(table.schema.field(name))).alias(name)
        for name, column in fixed.items()
    }


def _wanted_type(field: DataField) -> spark_types.DataType:
    with spark_errors():
        return to_spark_type(field.type, column=field.name)


def _stored(
    column: Column, given: spark_types.DataType, field: DataField, *, table: Table
) -> Column:
    wanted = _wanted_type(field)
    if not can_store(given, wanted):
        raise analysis_error(
            "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST",
            f"Cannot write incompatible data for the table {table_name(table)}: Cannot safely cast"
            f' {quoted((field.name,))} "{given.simpleString().upper()}" to'
            f' "{wanted.simpleString().upper()}".',
            {
                "tableName": table_name(table),
                "colName": quoted((field.name,)),
                "srcType": given.simpleString().upper(),
                "targetType": wanted.simpleString().upper(),
            },
        )
    stored = column if given == wanted else column.cast(wanted)
    return within_lengths(stored, field.type, at=field.name).alias(field.name)


def _wrong_count(frame: DataFrame, table: Table, wanted: Sequence[DataField]) -> AnalysisException:
    is_short = len(frame.columns) < len(wanted)
    kind = "NOT_ENOUGH_DATA_COLUMNS" if is_short else "TOO_MANY_DATA_COLUMNS"
    there = ", ".join(quoted((field.name,)) for field in wanted)
    given = ", ".join(quoted((name,)) for name in frame.columns)
    return analysis_error(
        f"INSERT_COLUMN_ARITY_MISMATCH.{kind}",
        f"Cannot write to {table_name(table)}, the reason is"
        f" {'not enough' if is_short else 'too many'} data columns:\nTable columns: {there}.\n"
        f"Data columns: {given}.",
        {"tableName": table_name(table), "tableColumns": there, "dataColumns": given},
    )


def literal_column(text: str) -> Column:
    """A literal of SQL as a column."""
    return F.expr(text)
