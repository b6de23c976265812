"""How is ANALYZE TABLE run?

One query over the newest snapshot computes it all, with the functions that Spark's own ANALYZE
uses: counts of distinct values are near ones, as `spark.sql.statistics.ndv.maxError` says.
"""

from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    TimestampNTZType,
    TimestampType,
)

from lakebed.format.table_statistics import ColumnStatistics, TableStatistics
from lakebed.spark.conditions import analysis_error, spark_errors, unknown_column
from lakebed.spark.lake import Lake, Travel
from lakebed.spark.names import quoted
from lakebed.spark.sql.analyzing.statements import AnalyzeTable
from lakebed.spark.sql.arguments import Arguments
from lakebed.spark.sql.queries import Run
from lakebed.spark.sql.statements import Statement
from lakebed.table.analysis import commit_statistics, size_of
from lakebed.table.table import Table

_NDV_ERROR = "spark.sql.statistics.ndv.maxError"
_LENGTHS: dict[type[DataType], int] = {
    BooleanType: 1,
    ByteType: 1,
    ShortType: 2,
    IntegerType: 4,
    LongType: 8,
    FloatType: 4,
    DoubleType: 8,
    DateType: 4,
    TimestampType: 8,
    TimestampNTZType: 8,
}
# Bytes of a decimal that fits into a long, and of one that does not.
_DECIMAL_LENGTHS = (8, 16)
_LONG_DIGITS = 18
_MEASURES = ("distinct", "nulls", "min", "max", "average", "longest")


def analyze_table(lake: Lake, statement: AnalyzeTable, _: Arguments) -> DataFrame | None:
    """ANALYZE TABLE; None when the table is Spark's. Nothing is known of a table without rows."""
    name = lake.resolve(statement.name)
    if name is None:
        return None
    table = lake.load(name)
    with spark_errors(name.catalog):
        parts = table.parts()
        snapshot = parts.snapshots.latest()
        if snapshot is None:
            return lake.empty()
        rows = lake.read(table, travel=Travel(snapshot_id=snapshot.id))
        fields = _chosen(rows, statement.columns, lake=lake, table=table)
        count, columns = _measured(lake, rows, fields, table=table)
        total = snapshot.total_record_count
        size = size_of(parts, snapshot) * count // total if total else 0
        commit_statistics(
            parts,
            TableStatistics(
                snapshot_id=snapshot.id,
                schema_id=snapshot.schema_id,
                row_count=count,
                size=size,
                columns=columns,
            ),
        )
    return lake.empty()


def _chosen(
    rows: DataFrame, names: Sequence[str] | None, *, lake: Lake, table: Table
) -> list[StructField]:
    """The columns to look at.

    Raises:
        AnalysisException: COLUMN_NOT_FOUND, or a type of which nothing can be said.
    """
    if names is None:
        chosen = list(rows.schema.fields)
    else:
        chosen = [_named(rows, name, is_exact=lake.is_case_sensitive) for name in names]
    for field in chosen:
        if not _is_supported(field.dataType):
            shown = field.dataType.simpleString().upper()
            raise analysis_error(
                "UNSUPPORTED_FEATURE.ANALYZE_UNSUPPORTED_COLUMN_TYPE",
                "The feature is not supported: The ANALYZE TABLE FOR COLUMNS command does not"
                f' support the type "{shown}" of the column {quoted((field.name,))} in the table'
                f" {table.name}. Name the other columns behind FOR COLUMNS.",
                {
                    "columnType": f'"{shown}"',
                    "columnName": quoted((field.name,)),
                    "tableName": table.name,
                },
            )
    return chosen


def _named(rows: DataFrame, name: str, *, is_exact: bool) -> StructField:
    for field in rows.schema.fields:
        if field.name == name or (not is_exact and field.name.lower() == name.lower()):
            return field
    raise unknown_column(name, rows.columns)


def _is_supported(kind: DataType) -> bool:
    return type(kind) in _LENGTHS or isinstance(kind, DecimalType | StringType | BinaryType)


def _measured(
    lake: Lake, rows: DataFrame, fields: Sequence[StructField], *, table: Table
) -> tuple[int, dict[str, ColumnStatistics]]:
    error = float(lake.setting(_NDV_ERROR) or "0.05")
    measures = [F.count(F.lit(1))]
    for field in fields:
        measures += _measures(field, error)
    named = [measure.alias(f"m{place}") for place, measure in enumerate(measures)]
    found = rows.agg(*named).collect()[0]
    count, rest = found[0], list(found[1:])
    columns = {}
    for place, field in enumerate(fields):
        values = rest[place * len(_MEASURES) : (place + 1) * len(_MEASURES)]
        distinct, nulls, least, greatest, average, longest = values
        columns[field.name] = ColumnStatistics(
            column_id=table.schema.field(field.name).id,
            distinct_count=min(distinct, count - nulls),
            null_count=nulls,
            min=least,
            max=greatest,
            average_length=average,
            max_length=longest,
        )
    return count, columns


def _measures(field: StructField, error: float) -> list[Column]:
    """One for each of `_MEASURES`."""
    column, kind = F.col(quoted((field.name,))), field.dataType
    counts = [F.approx_count_distinct(column, error), F.count_if(column.isNull())]
    if isinstance(kind, StringType | BinaryType):
        length, nothing = F.length(column), F.lit(None).cast("string")
        average = F.coalesce(F.ceil(F.avg(length)), F.lit(0))
        return [*counts, nothing, nothing, average, F.coalesce(F.max(length), F.lit(0))]
    if isinstance(kind, DecimalType):
        size = _DECIMAL_LENGTHS[kind.precision > _LONG_DIGITS]
    else:
        size = _LENGTHS[type(kind)]
    ends = [_text(F.min(column), kind), _text(F.max(column), kind)]
    return [*counts, *ends, F.lit(size), F.lit(size)]


def _text(value: Column, kind: DataType) -> Column:
    """A value as the format spells it."""
    if isinstance(kind, DateType):
        return F.unix_date(value).cast("string")
    if isinstance(kind, TimestampType):
        value = _in_utc(value)
    return value.cast("string")


def _in_utc(value: Column) -> Column:
    """The clock of UTC at a time; by arithmetic, as clocks of other zones are put back."""
    seconds = (F.unix_micros(value).cast("decimal(20, 0)") / F.lit(1_000_000)).cast(
        "decimal(18, 6)"
    )
    none = F.lit(0)
    epoch = F.to_timestamp_ntz(F.lit("1970-01-01 00:00:00"))
    return epoch + F.make_dt_interval(none, none, none, seconds)


RUNS: dict[type[Statement], Run[Any]] = {AnalyzeTable: analyze_table}
