"""How are the forms of DESCRIBE run?"""

from datetime import UTC, datetime
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import StringType, StructField

from lakebed.format.types import DataField
from lakebed.spark.conditions import spark_errors, unknown_column, unsupported_operation
from lakebed.spark.lake import Lake
from lakebed.spark.names import TableName
from lakebed.spark.sql.arguments import Arguments
from lakebed.spark.sql.databases import require_database
from lakebed.spark.sql.inspecting.partitions import (
    Partition,
    one_partition,
    require_partitioned,
)
from lakebed.spark.sql.inspecting.properties import own_properties
from lakebed.spark.sql.inspecting.statements import (
    DescribeColumn,
    DescribeDatabase,
    DescribePartition,
)
from lakebed.spark.sql.partition_specs import partition_spec
from lakebed.spark.sql.queries import Run
from lakebed.spark.sql.statements import Describe, Statement
from lakebed.spark.types import type_text
from lakebed.table.table import Table

_Row = tuple[str, str, str | None]
_DESCRIBE = (
    StructField("col_name", StringType(), nullable=False),
    StructField("data_type", StringType(), nullable=False),
    StructField("comment", StringType()),
)
_INFO = (
    StructField("info_name", StringType(), nullable=False),
    StructField("info_value", StringType()),
)
_BLANK: _Row = ("", "", "")


def describe(lake: Lake, statement: Describe, _: Arguments) -> DataFrame | None:
    """DESCRIBE TABLE; None when the name is Spark's."""
    name = lake.resolve(statement.name)
    if name is None:
        return None
    table = lake.load_stored(name)
    rows = _columns(table)
    if statement.is_extended:
        rows += _details(lake, name, table)
    return lake.frame(rows, _DESCRIBE)


def describe_column(lake: Lake, statement: DescribeColumn, _: Arguments) -> DataFrame | None:
    """DESCRIBE of a column; None when the table is Spark's."""
    name = lake.resolve(statement.name)
    if name is None:
        return None
    table = lake.load_stored(name)
    wanted, *inner = statement.column
    found = [each for each in table.schema.fields if _is_same(lake, each.name, wanted)]
    if not found:
        raise unknown_column(wanted, table.schema.names)
    if inner:
        raise unsupported_operation("DESCRIBE of a nested column", str(name))
    column = found[0]
    # NULL as text is what Spark has here.
    comment = column.description if column.description is not None else "NULL"
    rows = [("col_name", column.name), ("data_type", type_text(column.type)), ("comment", comment)]
    return lake.frame(rows, _INFO)


def describe_partition(
    lake: Lake, statement: DescribePartition, given: Arguments
) -> DataFrame | None:
    """DESCRIBE of a partition: the table's columns, and what is in it; None when Spark's."""
    name = lake.resolve(statement.name)
    if name is None:
        return None
    table = lake.load_stored(name)
    require_partitioned(table, name)
    spec = partition_spec(lake, table, statement.partition, given=given)
    with spark_errors(name.catalog):
        partition = one_partition(table, spec, name)
    rows = _columns(table)
    if statement.is_extended:
        rows += _details(lake, name, table)
        rows += _partition_details(lake, name, partition)
    return lake.frame(rows, _DESCRIBE)


def describe_database(lake: Lake, statement: DescribeDatabase, _: Arguments) -> DataFrame | None:
    """DESCRIBE DATABASE; None when the name is Spark's."""
    found = lake.registry.resolve_database(statement.name)
    if found is None:
        return None
    require_database(lake, *found)
    catalog, database = found
    rows = [("Catalog Name", catalog), ("Namespace Name", database)]
    if statement.is_extended:
        # A catalog on a file system stores no properties of databases.
        rows.append(("Properties", ""))
    return lake.frame(rows, _INFO)


def _columns(table: Table) -> list[_Row]:
    rows = [_described(field) for field in table.schema.fields]
    if table.partition_keys:
        partitions = [_described(table.schema.field(each)) for each in table.partition_keys]
        head: list[_Row] = [
            ("# Partition Information", "", ""),
            ("# col_name", "data_type", "comment"),
        ]
        rows += [*head, *partitions]
    return rows


def _described(field: DataField) -> _Row:
    return field.name, type_text(field.type), field.description


def _details(lake: Lake, name: TableName, table: Table) -> list[_Row]:
    listed = ",".join(f"{key}={value}" for key, value in own_properties(lake, table).items())
    return [
        _BLANK,
        ("# Detailed Table Information", "", ""),
        ("Name", f"{name.catalog}.{name.identifier}", ""),
        ("Type", "MANAGED", ""),
        *([("Comment", table.comment, "")] if table.comment else []),
        ("Location", table.location, ""),
        ("Provider", "paimon", ""),
        ("Table Properties", f"[{listed}]", ""),
    ]


def _partition_details(lake: Lake, name: TableName, partition: Partition) -> list[_Row]:
    """What Paimon's connector says of a partition, in the form of Spark's own tables."""
    values = ", ".join(f"{key}={text}" for key, text in partition.values.items())
    created = datetime.fromtimestamp(partition.last_file_creation_ms / 1000, UTC)
    parameters = (
        f"fileCount={partition.file_count}",
        f"fileSizeInBytes={partition.file_size_in_bytes}",
        f"lastFileCreationTime={partition.last_file_creation_ms}",
        f"recordCount={partition.record_count}",
    )
    statistics = f"{partition.file_size_in_bytes} bytes, {partition.record_count} rows"
    return [
        _BLANK,
        ("# Detailed Partition Information", "", ""),
        ("Database", name.database, ""),
        ("Table", name.table, ""),
        ("Partition Values", f"[{values}]", ""),
        ("Partition Parameters", f"{{{', '.join(parameters)}}}", ""),
        ("Created Time", f"{created.astimezone(lake.time_zone):%a %b %d %H:%M:%S %Z %Y}", ""),
        ("Last Access", "UNKNOWN", ""),
        ("Partition Statistics", statistics, ""),
        _BLANK,
    ]


def _is_same(lake: Lake, name: str, other: str) -> bool:
    return name == other if lake.is_case_sensitive else name.lower() == other.lower()


RUNS: dict[type[Statement], Run[Any]] = {
    Describe: describe,
    DescribeColumn: describe_column,
    DescribePartition: describe_partition,
    DescribeDatabase: describe_database,
}
