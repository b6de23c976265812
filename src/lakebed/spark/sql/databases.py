"""Which database does a statement mean, and which names does its pattern choose?"""

import re

from lakebed.spark.conditions import analysis_error
from lakebed.spark.lake import Lake, database_name


def named_database(lake: Lake, parts: tuple[str, ...]) -> tuple[str, str] | None:
    """Catalog and database behind IN, the current ones for no name; None when it is Spark's."""
    registry = lake.registry
    if parts:
        return registry.resolve_database(parts)
    if registry.current_catalog is None:
        return None
    return registry.current_catalog, registry.current_database


def require_database(lake: Lake, catalog: str, database: str) -> None:
    """Makes sure that there is such a database.

    Raises:
        AnalysisException: SCHEMA_NOT_FOUND.
    """
    if database not in lake.registry.catalog(catalog).list_databases():
        shown = database_name(catalog, database)
        raise analysis_error(
            "SCHEMA_NOT_FOUND",
            f"The schema {shown} cannot be found. Verify the spelling and correctness of the schema"
            " and catalog.",
            {"schemaName": shown},
        )


def matches(name: str, pattern: str | None) -> bool:
    """Whether a name matches one of `a*|b`, as LIKE of SHOW has it; every name matches None."""
    if pattern is None:
        return True
    choices = [re.escape(each.strip()).replace("\\*", ".*") for each in pattern.split("|")]
    return any(re.fullmatch(each, name, re.IGNORECASE) for each in choices)
