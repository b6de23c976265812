"""What are the parts of statements about rows that are kept?"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lakebed.spark.sql.statements import Name, Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheTable(Statement):
    """CACHE TABLE of a table that is there.

    Attributes:
        name: The table.
        is_lazy: Whether rows are kept as late as somebody reads them.
        options: Options, by their names as written.
    """

    name: Name
    is_lazy: bool = False
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class UncacheTable(Statement):
    """UNCACHE TABLE."""

    name: Name
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class ClearCache(Statement):
    """CLEAR CACHE."""
