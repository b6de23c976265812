"""What are the parts of statements about what no catalog stores?"""

from dataclasses import dataclass

from lakebed.spark.sql.statements import Name, Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateView(Statement):
    """CREATE VIEW, not a temporary one; what stands behind the name is not looked at."""

    name: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateFunction(Statement):
    """CREATE FUNCTION, likewise."""

    name: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class DropFunction(Statement):
    """DROP FUNCTION."""

    name: Name
    if_exists: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshFunction(Statement):
    """REFRESH FUNCTION."""

    name: Name
