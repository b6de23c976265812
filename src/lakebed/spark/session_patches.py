"""What stands in front of the methods of a session, and of `spark.catalog`?"""

from collections.abc import Callable, Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from lakebed.spark import session_catalog
from lakebed.spark.calls import calls_of
from lakebed.spark.hidden_frames import table_frame
from lakebed.spark.lake import Lake, find_lake
from lakebed.spark.sql.arguments import Arguments
from lakebed.spark.sql.run import run_sql

# PySpark's methods are of any shape; what passes through a replacement is not looked at.
Method = Callable[..., Any]
Patch = Callable[[Method], Method]


def _sql(original: Method) -> Method:
    def sql(self: SparkSession, sqlQuery: str, args: Any = None, **kwargs: Any) -> DataFrame:  # noqa: N803, ANN401 - PySpark's signature
        lake = find_lake(self)
        if lake is None:
            passed: DataFrame = original(self, sqlQuery, args, **kwargs)
            return passed
        return run_sql(lake, sqlQuery, Arguments(args=args, fields=kwargs))

    return sql


def _session_table(original: Method) -> Method:
    def table(self: SparkSession, tableName: str) -> DataFrame:  # noqa: N803 - PySpark's name
        lake = find_lake(self)
        name = lake.resolve_text(tableName) if lake is not None else None
        if lake is None or name is None:
            passed: DataFrame = original(self, tableName)
            return passed
        return table_frame(lake, lake.load(name))

    return table


def _session_read(original: Method) -> Method:
    def read(self: SparkSession) -> object:
        reader: object = original(self)
        calls_of(reader).session = self
        return reader

    return read


def _asking(answer: Callable[..., object]) -> Patch:
    """A question to `spark.catalog`; None, and False of a setter, passes it on."""

    def patch(original: Method) -> Method:
        def method(self: Any, *args: Any, **kwargs: Any) -> object:  # noqa: ANN401 - any call
            lake = find_lake(self._sparkSession)
            found = answer(lake, *args, **kwargs) if lake is not None else None
            return original(self, *args, **kwargs) if found is None else found

        return method

    return patch


def _doing(act: Callable[..., bool]) -> Patch:
    """What `spark.catalog` does; False passes it on."""

    def patch(original: Method) -> Method:
        def method(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - any call
            lake = find_lake(self._sparkSession)
            if lake is None or not act(lake, *args, **kwargs):
                original(self, *args, **kwargs)

        return method

    return patch


def _becoming_current(answer: Callable[[Lake, str], bool]) -> Patch:
    """A setter of what is current; it says whether that is Lakebed's."""

    def patch(original: Method) -> Method:
        def method(self: Any, name: str) -> None:  # noqa: ANN401 - PySpark's Catalog, either kind
            lake = find_lake(self._sparkSession)
            if lake is None or not answer(lake, name):
                original(self, name)
                if lake is not None:
                    lake.registry.current_catalog = None

        return method

    return patch


def _list_catalogs(original: Method) -> Method:
    def list_catalogs(self: Any, pattern: str | None = None) -> object:  # noqa: ANN401 - as above
        lake = find_lake(self._sparkSession)
        attached = session_catalog.list_catalogs(lake, pattern) if lake is not None else []
        return [*original(self, pattern), *attached]

    return list_catalogs


SESSION: Mapping[str, Patch] = {
    "sql": _sql,
    "table": _session_table,
    "read": _session_read,
}
CATALOG: Mapping[str, Patch] = {
    "currentCatalog": _asking(session_catalog.current_catalog),
    "setCurrentCatalog": _becoming_current(session_catalog.set_current_catalog),
    "currentDatabase": _asking(session_catalog.current_database),
    "setCurrentDatabase": _becoming_current(session_catalog.set_current_database),
    "listCatalogs": _list_catalogs,
    "listDatabases": _asking(session_catalog.list_databases),
    "databaseExists": _asking(session_catalog.database_exists),
    "listTables": _asking(session_catalog.list_tables),
    "tableExists": _asking(session_catalog.table_exists),
    "listColumns": _asking(session_catalog.list_columns),
    "isCached": _asking(session_catalog.is_cached),
    "cacheTable": _doing(session_catalog.cache_table),
    "uncacheTable": _doing(session_catalog.uncache_table),
    "refreshTable": _doing(session_catalog.refresh_table),
    "clearCache": _doing(session_catalog.clear_cache),
}
