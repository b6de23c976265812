"""How are statements about databases and tables themselves run?"""

from collections.abc import Mapping
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql.types import BooleanType, StringType, StructField, StructType

from lakebed.errors import LakebedError
from lakebed.spark.conditions import analysis_error, spark_errors
from lakebed.spark.lake import Lake, database_name
from lakebed.spark.names import TableName
from lakebed.spark.sql.databases import matches, named_database, require_database
from lakebed.spark.sql.defaults import without_defaults
from lakebed.spark.sql.queries import Arguments, Run, run_query
from lakebed.spark.sql.statements import (
    CreateDatabase,
    CreateTable,
    DropDatabase,
    DropTable,
    ShowDatabases,
    ShowTables,
    Statement,
    Use,
)
from lakebed.table.table import Table

_NAMESPACE = StructField("namespace", StringType(), nullable=False)
_SHOW_TABLES = (
    _NAMESPACE,
    StructField("tableName", StringType(), nullable=False),
    StructField("isTemporary", BooleanType(), nullable=False),
)


def create_database(lake: Lake, statement: CreateDatabase, _: Arguments) -> DataFrame | None:
    """CREATE DATABASE; None when the name is Spark's."""
    found = lake.registry.resolve_database(statement.name)
    if found is None:
        return None
    catalog, database = found
    with spark_errors(catalog):
        lake.registry.catalog(catalog).create_database(
            database, ignore_if_exists=statement.if_not_exists
        )
    return lake.empty()


def drop_database(lake: Lake, statement: DropDatabase, _: Arguments) -> DataFrame | None:
    """DROP DATABASE; None when the name is Spark's."""
    found = lake.registry.resolve_database(statement.name)
    if found is None:
        return None
    name, database = found
    catalog = lake.registry.catalog(name)
    exists = database in catalog.list_databases()
    if exists and not statement.cascade and catalog.list_tables(database):
        shown = database_name(name, database)
        raise analysis_error(
            "SCHEMA_NOT_EMPTY",
            f"Cannot drop a schema {shown} because it contains objects. Use DROP SCHEMA ... CASCADE"
            " to drop the schema and all its objects.",
            {"schemaName": shown},
        )
    with spark_errors(name):
        catalog.drop_database(
            database, ignore_if_not_exists=statement.if_exists, cascade=statement.cascade
        )
    return lake.empty()


def show_databases(lake: Lake, statement: ShowDatabases, _: Arguments) -> DataFrame | None:
    """SHOW DATABASES; None when the catalog is Spark's."""
    name = statement.catalog[0] if statement.catalog else lake.registry.current_catalog
    if name not in lake.registry.catalogs or len(statement.catalog) > 1:
        return None
    databases = lake.registry.catalog(name).list_databases()
    rows = [(each,) for each in databases if matches(each, statement.pattern)]
    return lake.frame(rows, (_NAMESPACE,))


def show_tables(lake: Lake, statement: ShowTables, _: Arguments) -> DataFrame | None:
    """SHOW TABLES; None when the database is Spark's."""
    found = named_database(lake, statement.database)
    if found is None:
        return None
    name, database = found
    with spark_errors(name):
        tables = lake.registry.catalog(name).list_tables(database)
    rows = [(database, each, False) for each in tables if matches(each, statement.pattern)]
    return lake.frame(rows, _SHOW_TABLES)


def use(lake: Lake, statement: Use, _: Arguments) -> DataFrame | None:
    """USE and SET CATALOG; None when Spark's catalog becomes current."""
    registry = lake.registry
    first, *rest = statement.name
    if first in registry.catalogs and len(rest) <= 1:
        if rest:
            require_database(lake, first, rest[0])
        registry.current_catalog, registry.current_database = first, rest[0] if rest else "default"
        return lake.empty()
    if registry.current_catalog is None:
        return None
    if not rest and not statement.is_catalog:
        current = registry.current_catalog
        if first in registry.catalog(current).list_databases():
            registry.current_database = first
            return lake.empty()
        if first not in [row[0] for row in lake.sql("SHOW CATALOGS").collect()]:
            require_database(lake, current, first)
    return None


def create_table(lake: Lake, statement: CreateTable, given: Arguments) -> DataFrame | None:
    """CREATE TABLE, with AS too; None when the name is Spark's."""
    name = lake.resolve(statement.name)
    if name is None:
        return None
    require_paimon(name, statement.provider)
    if statement.query is not None:
        return _create_as(lake, name, statement, given=given)
    with spark_errors(name.catalog):
        columns, defaults = without_defaults(statement.columns)
    schema = _columns(columns, statement)
    _create(lake, name, schema, statement=statement, defaults=defaults)
    return lake.empty()


def drop_table(lake: Lake, statement: DropTable, _: Arguments) -> DataFrame | None:
    """DROP TABLE; None when the name is Spark's."""
    name = lake.resolve(statement.name)
    if name is None:
        return None
    with spark_errors(name.catalog):
        lake.catalog(name).drop_table(name.identifier, ignore_if_not_exists=statement.if_exists)
    return lake.empty()


def require_paimon(name: TableName, provider: str | None) -> None:
    """Makes sure that USING names no other format.

    Raises:
        AnalysisException: UNSUPPORTED_FEATURE.TABLE_OPERATION.
    """
    if provider not in {None, "paimon"}:
        raise analysis_error(
            "UNSUPPORTED_FEATURE.TABLE_OPERATION",
            f"The feature is not supported: Table {name} does not support USING {provider}; write"
            " USING paimon.",
            {"tableName": str(name), "operation": f"USING {provider}"},
        )


def _create_as(
    lake: Lake, name: TableName, statement: CreateTable, *, given: Arguments
) -> DataFrame:
    if statement.columns:
        raise analysis_error(
            "LAKEBED_INVALID_ARGUMENT",
            f"CREATE TABLE {name} AS SELECT takes its columns from the query; leave out the list",
        )
    if statement.if_not_exists and lake.exists(name):
        return lake.empty()
    frame = run_query(lake, statement.query or "", given)
    table = _create(lake, name, frame.schema, statement=statement)
    try:
        lake.write(frame, table)
    except (AnalysisException, LakebedError):
        lake.catalog(name).drop_table(name.identifier, ignore_if_not_exists=True)
        raise
    return lake.empty()


def _create(
    lake: Lake,
    name: TableName,
    schema: StructType,
    *,
    statement: CreateTable,
    defaults: Mapping[str, str] | None = None,
) -> Table:
    return lake.create(
        name,
        schema,
        defaults=defaults,
        partition_by=[column for column, _ in statement.partitions],
        properties=statement.properties,
        comment=statement.comment,
        ignore_if_exists=statement.if_not_exists,
    )


def _columns(columns: str, statement: CreateTable) -> StructType:
    """The columns as Spark's own parser reads them, those defined by PARTITIONED BY last."""
    texts = [columns.strip()] if columns.strip() else []
    texts += [f"`{column}` {kind}" for column, kind in statement.partitions if kind]
    schema = StructType.fromDDL(", ".join(texts))
    return schema if isinstance(schema, StructType) else StructType([StructField("value", schema)])


RUNS: dict[type[Statement], Run[Any]] = {
    CreateDatabase: create_database,
    DropDatabase: drop_database,
    ShowDatabases: show_databases,
    ShowTables: show_tables,
    Use: use,
    CreateTable: create_table,
    DropTable: drop_table,
}
