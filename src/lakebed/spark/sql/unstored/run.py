"""What becomes of statements about views and functions?

A catalog on a file system stores none, here as in Paimon. Where one is meant or current such a
statement is an error: Spark would carry it out in its own catalog, in which nobody would look.
"""

from typing import Any

from pyspark.sql import DataFrame

from lakebed.spark.conditions import analysis_error
from lakebed.spark.lake import Lake
from lakebed.spark.names import quoted
from lakebed.spark.sql.arguments import Arguments
from lakebed.spark.sql.queries import Run
from lakebed.spark.sql.statements import Name, Statement
from lakebed.spark.sql.unstored.statements import (
    CreateFunction,
    CreateView,
    DropFunction,
    RefreshFunction,
)


def create_view(lake: Lake, statement: CreateView, _: Arguments) -> DataFrame | None:
    """CREATE VIEW; None when it is for Spark."""
    name = _find_own(lake, statement.name)
    if name is None:
        return None
    raise _lacking("VIEWS", "views", name, remedy="CREATE TEMPORARY VIEW")


def create_function(lake: Lake, statement: CreateFunction, _: Arguments) -> DataFrame | None:
    """CREATE FUNCTION; None when it is for Spark."""
    name = _find_own(lake, statement.name)
    if name is None:
        return None
    raise _lacking("CREATE_FUNCTION", "CREATE FUNCTION", name, remedy="CREATE TEMPORARY FUNCTION")


def drop_function(lake: Lake, statement: DropFunction, _: Arguments) -> DataFrame | None:
    """DROP FUNCTION; None when it is for Spark."""
    name = _find_own(lake, statement.name)
    if name is None:
        return None
    if not statement.if_exists:
        raise _not_found(name)
    return lake.empty()


def refresh_function(lake: Lake, statement: RefreshFunction, _: Arguments) -> DataFrame | None:
    """REFRESH FUNCTION; None when it is for Spark."""
    name = _find_own(lake, statement.name)
    if name is None:
        return None
    raise _not_found(name)


def _find_own(lake: Lake, name: Name) -> Name | None:
    """The whole name of what an attached catalog would store; None when it is Spark's.

    Temporary views and functions do not count: these statements are not about them.
    """
    registry = lake.registry
    if len(name) > 1 and name[0] in registry.catalogs:
        return name
    found = registry.resolve_table(name, is_view=lambda _: False)
    return None if found is None else (found.catalog, found.database, found.table)


def _lacking(ability: str, what: str, name: Name, *, remedy: str) -> Exception:
    return analysis_error(
        f"MISSING_CATALOG_ABILITY.{ability}",
        f"Catalog {quoted(name[:1])} does not support {what}. It is on a file system and stores"
        f" tables alone, so {quoted(name)} is not made: use {remedy}, or name a catalog of Spark's"
        " (spark_catalog).",
        {"plugin": name[0]},
    )


def _not_found(name: Name) -> Exception:
    return analysis_error(
        "ROUTINE_NOT_FOUND",
        f"The routine {quoted(name)} cannot be found. Catalog {quoted(name[:1])} stores no"
        " functions; DROP TEMPORARY FUNCTION drops one of the session, and a name that begins with"
        " spark_catalog means one of Spark's.",
        {"routineName": quoted(name)},
    )


RUNS: dict[type[Statement], Run[Any]] = {
    CreateView: create_view,
    CreateFunction: create_function,
    DropFunction: drop_function,
    RefreshFunction: refresh_function,
}
