"""How are statements about rows that are kept run?"""

from collections.abc import Mapping
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame

from lakebed.errors import InvalidArgumentError
from lakebed.spark.cached_tables import whole_scan
from lakebed.spark.conditions import spark_errors, unsupported_operation
from lakebed.spark.lake import Lake
from lakebed.spark.names import TableName
from lakebed.spark.sql.arguments import Arguments
from lakebed.spark.sql.caching.statements import CacheTable, ClearCache, UncacheTable
from lakebed.spark.sql.queries import Run
from lakebed.spark.sql.statements import Statement

_STORAGE_LEVEL = "storagelevel"
_SERIALIZED = "_SER"
_LEVELS: Mapping[str, StorageLevel] = {
    name: level for name, level in vars(StorageLevel).items() if isinstance(level, StorageLevel)
}


def keep_table(lake: Lake, name: TableName, *, level: StorageLevel, is_lazy: bool = False) -> None:
    """Has Spark keep the rows of a table.

    Args:
        lake: The session.
        name: The table.
        level: Where they are kept.
        is_lazy: Whether they are kept as late as somebody reads them.

    Raises:
        AnalysisException: TABLE_OR_VIEW_NOT_FOUND; what the table shows are no rows of a snapshot.
    """
    scan = whole_scan(lake.scan(lake.load(name)))
    if scan is None:
        raise unsupported_operation("CACHE TABLE", str(name))
    lake.registry.cached.drop(name)
    lake.registry.cached.keep(name, scan, lake.rows(scan), level=level)
    if not is_lazy:
        lake.rows(scan).count()


def cache_table(lake: Lake, statement: CacheTable, _: Arguments) -> DataFrame | None:
    """CACHE TABLE; None when the name is Spark's."""
    name = lake.resolve(statement.name)
    if name is None:
        return None
    with spark_errors():
        level = _storage_level(statement.options)
    keep_table(lake, name, level=level, is_lazy=statement.is_lazy)
    return lake.empty()


def uncache_table(lake: Lake, statement: UncacheTable, _: Arguments) -> DataFrame | None:
    """UNCACHE TABLE; None when the name is Spark's."""
    name = lake.resolve(statement.name)
    if name is None:
        return None
    if not statement.if_exists:
        lake.load_stored(name)
    lake.registry.cached.drop(name)
    return lake.empty()


def clear_cache(lake: Lake, _statement: ClearCache, _: Arguments) -> None:
    """CLEAR CACHE, which Spark runs for what else is kept."""
    lake.registry.cached.clear()


def _storage_level(options: Mapping[str, str]) -> StorageLevel:
    given = {key.lower(): text for key, text in options.items()}
    text = given.pop(_STORAGE_LEVEL, "MEMORY_AND_DISK_DESER").upper()
    # Python has no names for them: Spark keeps columns, which are bytes in any case.
    level = _LEVELS.get(text) or _LEVELS.get(text.replace(_SERIALIZED, ""))
    if given:
        raise InvalidArgumentError(
            f"CACHE TABLE has no option {next(iter(given))!r}; there is storageLevel alone"
        )
    if level is None:
        raise InvalidArgumentError(
            f"{text!r} is no storage level; these are {', '.join(sorted(_LEVELS))}"
        )
    return level


RUNS: dict[type[Statement], Run[Any]] = {
    CacheTable: cache_table,
    UncacheTable: uncache_table,
    ClearCache: clear_cache,
}
