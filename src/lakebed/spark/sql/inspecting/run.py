"""How are statements run that tell what is there?"""

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import BooleanType, StringType, StructField

from lakebed.spark.conditions import analysis_error, spark_errors
from lakebed.spark.lake import Lake
from lakebed.spark.names import TableName, quoted
from lakebed.spark.sql.arguments import Arguments
from lakebed.spark.sql.databases import matches, named_database, require_database
from lakebed.spark.sql.inspecting import describing
from lakebed.spark.sql.inspecting.definition_text import definition_text
from lakebed.spark.sql.inspecting.information import partition_information, table_information
from lakebed.spark.sql.inspecting.partitions import (
    one_partition,
    partitions_of,
    require_partitioned,
)
from lakebed.spark.sql.inspecting.properties import own_properties, redacted
from lakebed.spark.sql.inspecting.statements import (
    RefreshTable,
    ShowCatalogs,
    ShowColumns,
    ShowCreateTable,
    ShowCurrentNamespace,
    ShowPartitions,
    ShowProperties,
    ShowTablesExtended,
    ShowViews,
)
from lakebed.spark.sql.partition_specs import partition_spec
from lakebed.spark.sql.queries import Run
from lakebed.spark.sql.statements import Statement


def _text(name: str) -> StructField:
    return StructField(name, StringType(), nullable=False)


_IS_TEMPORARY = StructField("isTemporary", BooleanType(), nullable=False)
_PROPERTIES = (_text("key"), _text("value"))
_EXTENDED = (_text("namespace"), _text("tableName"), _IS_TEMPORARY, _text("information"))
_VIEWS = (_text("namespace"), _text("viewName"), _IS_TEMPORARY)


def show_properties(lake: Lake, statement: ShowProperties, _: Arguments) -> DataFrame | None:
    """SHOW TBLPROPERTIES, the `path` among them as in Paimon; None when the table is Spark's."""
    name = lake.resolve(statement.name)
    if name is None:
        return None
    table = lake.load_stored(name)
    properties = redacted(lake, {**own_properties(lake, table), "path": table.location})
    if statement.key is None:
        return lake.frame(list(properties.items()), _PROPERTIES)
    missing = f"Table {table.name} does not have property: {statement.key}"
    value = properties.get(statement.key, missing)
    return lake.frame([(statement.key, value)], _PROPERTIES)


def show_create_table(lake: Lake, statement: ShowCreateTable, _: Arguments) -> DataFrame | None:
    """SHOW CREATE TABLE; None when the table is Spark's."""
    name = lake.resolve(statement.name)
    if name is None:
        return None
    table = lake.load_stored(name)
    text = definition_text(name, table, own_properties(lake, table))
    return lake.frame([(text,)], (_text("createtab_stmt"),))


def show_columns(lake: Lake, statement: ShowColumns, _: Arguments) -> DataFrame | None:
    """SHOW COLUMNS; None when the table is Spark's."""
    *before, table = statement.name
    written, database = tuple(before), statement.database
    name = lake.resolve((*(written or database), table))
    if name is None:
        return None
    if written and database and written[-len(database) :] != database:
        raise analysis_error(
            "SHOW_COLUMNS_WITH_CONFLICT_NAMESPACE",
            f"SHOW COLUMNS with conflicting namespaces: {quoted(database)} != {quoted(written)}.",
            {"namespaceA": quoted(database), "namespaceB": quoted(written)},
        )
    rows = [(column,) for column in lake.load_stored(name).schema.names]
    return lake.frame(rows, (_text("col_name"),))


def show_partitions(lake: Lake, statement: ShowPartitions, given: Arguments) -> DataFrame | None:
    """SHOW PARTITIONS, in order of their text; None when the table is Spark's."""
    name = lake.resolve(statement.name)
    if name is None:
        return None
    table = lake.load_stored(name)
    require_partitioned(table, name)
    spec = partition_spec(lake, table, statement.partition, given=given)
    with spark_errors(name.catalog):
        partitions = partitions_of(table, spec)
    shown = sorted("/".join(each.assignments) for each in partitions)
    return lake.frame([(each,) for each in shown], (_text("partition"),))


def show_tables_extended(
    lake: Lake, statement: ShowTablesExtended, given: Arguments
) -> DataFrame | None:
    """SHOW TABLE EXTENDED; None when the database is Spark's."""
    found = named_database(lake, statement.database)
    if found is None:
        return None
    catalog, database = found
    require_database(lake, catalog, database)
    if statement.partition:
        return _show_partition_extended(lake, catalog, database, statement=statement, given=given)
    rows = []
    for table in lake.registry.catalog(catalog).list_tables(database):
        if matches(table, statement.pattern):
            name = TableName(catalog, database, table)
            text = table_information(lake, name, lake.load_stored(name))
            rows.append((database, table, False, text))
    return lake.frame(rows, _EXTENDED)


def show_views(lake: Lake, statement: ShowViews, _: Arguments) -> DataFrame | None:
    """SHOW VIEWS: a catalog on a file system has none; None when the database is Spark's."""
    found = named_database(lake, statement.database)
    if found is None:
        return None
    require_database(lake, *found)
    return lake.frame([], _VIEWS)


def show_catalogs(lake: Lake, statement: ShowCatalogs, _: Arguments) -> DataFrame:
    """SHOW CATALOGS: those of Spark and the attached ones."""
    names = {row[0] for row in lake.sql("SHOW CATALOGS").collect()} | {*lake.registry.catalogs}
    rows = [(each,) for each in sorted(names) if matches(each, statement.pattern)]
    return lake.frame(rows, (_text("catalog"),))


def show_current_namespace(
    lake: Lake, _statement: ShowCurrentNamespace, _: Arguments
) -> DataFrame | None:
    """SHOW CURRENT NAMESPACE; None while a catalog of Spark's is current."""
    registry = lake.registry
    if registry.current_catalog is None:
        return None
    row = (registry.current_catalog, registry.current_database)
    return lake.frame([row], (_text("catalog"), _text("namespace")))


def refresh_table(lake: Lake, statement: RefreshTable, _: Arguments) -> DataFrame | None:
    """REFRESH TABLE, which only matters where CACHE TABLE keeps rows; the table must be there."""
    name = lake.resolve(statement.name)
    if name is None:
        return None
    lake.refresh(name)
    return lake.empty()


def _show_partition_extended(
    lake: Lake, catalog: str, database: str, *, statement: ShowTablesExtended, given: Arguments
) -> DataFrame:
    # With a partition, the pattern is the name of one table.
    name = TableName(catalog, database, statement.pattern)
    table = lake.load_stored(name)
    require_partitioned(table, name)
    spec = partition_spec(lake, table, statement.partition, given=given)
    with spark_errors(catalog):
        text = partition_information(one_partition(table, spec, name))
    return lake.frame([(database, name.table, False, text)], _EXTENDED)


RUNS: dict[type[Statement], Run[Any]] = {
    **describing.RUNS,
    ShowProperties: show_properties,
    ShowCreateTable: show_create_table,
    ShowColumns: show_columns,
    ShowPartitions: show_partitions,
    ShowTablesExtended: show_tables_extended,
    ShowViews: show_views,
    ShowCatalogs: show_catalogs,
    ShowCurrentNamespace: show_current_namespace,
    RefreshTable: refresh_table,
}
