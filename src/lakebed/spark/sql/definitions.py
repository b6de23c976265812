"""How are statements about databases and tables themselves run?"""

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import BooleanType, StringType, StructField

from lakebed.spark.conditions import analysis_error, spark_errors, table_not_found
from lakebed.spark.lake import Lake, database_name
from lakebed.spark.sql.arguments import Arguments
from lakebed.spark.sql.databases import matches, named_database, require_database
from lakebed.spark.sql.queries import Run
from lakebed.spark.sql.statements import (
    CreateDatabase,
    DropDatabase,
    DropTable,
    DropView,
    ShowDatabases,
    ShowTables,
    Statement,
    Use,
)

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
    lake.registry.cached.drop_where(lambda each: (each.catalog, each.database) == found)
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


def drop_table(lake: Lake, statement: DropTable, _: Arguments) -> DataFrame | None:
    """DROP TABLE; None when the name is Spark's."""
    name = lake.resolve(statement.name)
    if name is None:
        return None
    with spark_errors(name.catalog):
        lake.catalog(name).drop_table(name.identifier, ignore_if_not_exists=statement.if_exists)
    lake.registry.cached.drop(name)
    return lake.empty()


def drop_view(lake: Lake, statement: DropView, _: Arguments) -> DataFrame | None:
    """DROP VIEW; None when the name is Spark's, as that of a temporary view is.

    A catalog on a file system has no views that could be dropped.
    """
    name = lake.resolve(statement.name)
    if name is None:
        return None
    if lake.exists(name):
        raise analysis_error(
            "EXPECT_VIEW_NOT_TABLE.NO_ALTERNATIVE",
            f"The table {name} does not support DROP VIEW. Use DROP TABLE.",
            {"tableName": str(name), "operation": "DROP VIEW"},
        )
    if not statement.if_exists:
        raise table_not_found(str(name))
    return lake.empty()


RUNS: dict[type[Statement], Run[Any]] = {
    CreateDatabase: create_database,
    DropDatabase: drop_database,
    ShowDatabases: show_databases,
    ShowTables: show_tables,
    Use: use,
    DropTable: drop_table,
    DropView: drop_view,
}
