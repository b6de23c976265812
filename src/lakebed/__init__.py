"""Lakebed: the Apache Paimon lake format in Python, with PySpark as its engine.

Names are loaded when they are first used, so that `import lakebed` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from lakebed.version import VERSION as __version__  # noqa: N811 - the name that Python expects

if TYPE_CHECKING:
    from lakebed import changes, errors
    from lakebed.catalog.loading import load_catalog, load_table
    from lakebed.format.schema_definition import Schema, schema
    from lakebed.table.table import Table

__all__ = [
    "Schema",
    "Table",
    "__version__",
    "changes",
    "errors",
    "load_catalog",
    "load_table",
    "schema",
]

_HOMES = {
    "Schema": "lakebed.format.schema_definition",
    "Table": "lakebed.table.table",
    "load_catalog": "lakebed.catalog.loading",
    "load_table": "lakebed.catalog.loading",
    "schema": "lakebed.format.schema_definition",
}


_MODULES = ("changes", "errors")


def __getattr__(name: str) -> object:
    """Loads a public name from its home."""
    if name in _MODULES:
        return import_module(f"lakebed.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'lakebed' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted(__all__)
