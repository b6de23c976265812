"""What does `spark.catalog` say about attached catalogs?

Each function answers for one method, whose parameters it has; None means that the question is
Spark's.
"""

from pyspark import StorageLevel
from pyspark.sql.catalog import CatalogMetadata, Column, Database
from pyspark.sql.catalog import Table as CatalogTable

from lakebed.spark.conditions import spark_errors
from lakebed.spark.lake import Lake
from lakebed.spark.names import quoted, split_name
from lakebed.spark.sql.caching.run import keep_table
from lakebed.spark.sql.run import run_sql
from lakebed.spark.types import type_text


def current_catalog(lake: Lake) -> str | None:
    """`currentCatalog()`."""
    return lake.registry.current_catalog


def set_current_catalog(lake: Lake, name: str) -> bool:
    """`setCurrentCatalog(name)`; False when the catalog is Spark's."""
    if name in lake.registry.catalogs:
        run_sql(lake, f"SET CATALOG {quoted((name,))}")
        return True
    return False


def current_database(lake: Lake) -> str | None:
    """`currentDatabase()`."""
    return None if lake.registry.current_catalog is None else lake.registry.current_database


def set_current_database(lake: Lake, name: str) -> bool:
    """`setCurrentDatabase(name)`; False when the database is Spark's."""
    parts = split_name(name)
    if lake.registry.resolve_database(parts) is None:
        return False
    run_sql(lake, f"USE {quoted(parts)}")
    return True


def list_catalogs(lake: Lake, pattern: str | None = None) -> list[CatalogMetadata]:
    """Those of `listCatalogs()` that are attached."""
    return [
        CatalogMetadata(name=name, description=None)
        for name in lake.registry.catalogs
        if pattern is None or name == pattern
    ]


def list_databases(lake: Lake, pattern: str | None = None) -> list[Database] | None:
    """`listDatabases()`."""
    current = lake.registry.current_catalog
    if current is None:
        return None
    catalog = lake.registry.catalog(current)
    shown = f"SHOW DATABASES IN {quoted((current,))}"
    if pattern is not None:
        shown += f" LIKE '{pattern}'"
    return [
        Database(
            name=row[0],
            catalog=current,
            description=None,
            locationUri=f"{catalog.warehouse}/{row[0]}.db",
        )
        for row in run_sql(lake, shown).collect()
    ]


def database_exists(lake: Lake, dbName: str) -> bool | None:  # noqa: N803 - PySpark's names
    """`databaseExists(dbName)`."""
    found = lake.registry.resolve_database(split_name(dbName))
    if found is None:
        return None
    catalog, database = found
    return database in lake.registry.catalog(catalog).list_databases()


def list_tables(
    lake: Lake,
    dbName: str | None = None,  # noqa: N803 - PySpark's name
    pattern: str | None = None,
) -> list[CatalogTable] | None:
    """`listTables(database)`."""
    registry = lake.registry
    if dbName is None:
        if registry.current_catalog is None:
            return None
        found: tuple[str, str] | None = (registry.current_catalog, registry.current_database)
    else:
        found = registry.resolve_database(split_name(dbName))
    if found is None:
        return None
    shown = f"SHOW TABLES IN {quoted(found)}"
    if pattern is not None:
        shown += f" LIKE '{pattern}'"
    return [
        CatalogTable(
            name=row.tableName,
            catalog=found[0],
            namespace=[found[1]],
            description=None,
            tableType="MANAGED",
            isTemporary=False,
        )
        for row in run_sql(lake, shown).collect()
    ]


def table_exists(lake: Lake, tableName: str, dbName: str | None = None) -> bool | None:  # noqa: N803 - PySpark's names
    """`tableExists(tableName)`."""
    parts = (*split_name(dbName), *split_name(tableName)) if dbName else split_name(tableName)
    found = lake.resolve(parts)
    return None if found is None else lake.exists(found)


def list_columns(lake: Lake, tableName: str, dbName: str | None = None) -> list[Column] | None:  # noqa: N803 - PySpark's names
    """`listColumns(tableName)`."""
    parts = (*split_name(dbName), *split_name(tableName)) if dbName else split_name(tableName)
    found = lake.resolve(parts)
    if found is None:
        return None
    with spark_errors():
        table = lake.load(found)
    return [
        Column(
            name=field.name,
            description=field.description,
            dataType=type_text(field.type),
            nullable=field.type.nullable,
            isPartition=field.name in table.partition_keys,
            isBucket=field.name in table.schema.bucket_keys and "bucket" in table.options,
            isCluster=False,
        )
        for field in table.schema.fields
    ]


def is_cached(lake: Lake, tableName: str) -> bool | None:  # noqa: N803 - PySpark's name
    """`isCached(tableName)`."""
    name = lake.resolve_text(tableName)
    if name is None:
        return None
    lake.load_stored(name)
    return lake.registry.cached.holds(name)


def cache_table(
    lake: Lake,
    tableName: str,  # noqa: N803 - PySpark's name
    storageLevel: StorageLevel | None = None,  # noqa: N803 - PySpark's name
) -> bool:
    """`cacheTable(tableName)`, which is lazy; False when the table is Spark's."""
    name = lake.resolve_text(tableName)
    if name is None:
        return False
    level = StorageLevel.MEMORY_AND_DISK_DESER if storageLevel is None else storageLevel
    keep_table(lake, name, level=level, is_lazy=True)
    return True


def uncache_table(lake: Lake, tableName: str) -> bool:  # noqa: N803 - PySpark's name
    """`uncacheTable(tableName)`; False when the table is Spark's."""
    return _run_on(lake, "UNCACHE TABLE", tableName)


def refresh_table(lake: Lake, tableName: str) -> bool:  # noqa: N803 - PySpark's name
    """`refreshTable(tableName)`; False when the table is Spark's."""
    return _run_on(lake, "REFRESH TABLE", tableName)


def clear_cache(lake: Lake) -> bool:
    """What `clearCache()` clears of attached catalogs; False, for the rest is Spark's."""
    lake.registry.cached.clear()
    return False


def _run_on(lake: Lake, statement: str, table: str) -> bool:
    name = lake.resolve_text(table)
    if name is None:
        return False
    run_sql(lake, f"{statement} {name}")
    return True
