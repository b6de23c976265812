"""Lakebed in PySpark: catalogs attached to a session, on classic Spark and on Spark Connect.

Names are loaded when they are first used, so that workers load no more than they run.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lakebed.spark.attachment import attach, detach, register
    from lakebed.spark.stream_health import StreamHealth
    from lakebed.spark.stream_sink import write_batch

__all__ = ["StreamHealth", "attach", "detach", "register", "write_batch"]

_HOMES = {
    "StreamHealth": "lakebed.spark.stream_health",
    "write_batch": "lakebed.spark.stream_sink",
}


def __getattr__(name: str) -> object:
    """Loads a public name from its home."""
    if name not in __all__:
        raise AttributeError(f"module 'lakebed.spark' has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, "lakebed.spark.attachment")), name)


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted(__all__)
