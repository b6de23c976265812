"""Which statement is this, and what are its parts?

Only the forms that Lakebed may have to run are told apart. The parts are texts and names as the
user wrote them; whether a name is a Lakebed table is asked elsewhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

Name = tuple[str, ...]


class Statement:
    """Any of them, here or in the module of a family of statements."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateDatabase(Statement):
    """CREATE DATABASE."""

    name: Name
    if_not_exists: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DropDatabase(Statement):
    """DROP DATABASE."""

    name: Name
    if_exists: bool
    cascade: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowDatabases(Statement):
    """SHOW DATABASES; `catalog` is empty for the current one."""

    catalog: Name
    pattern: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowTables(Statement):
    """SHOW TABLES; `database` is empty for the current one."""

    database: Name
    pattern: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Use(Statement):
    """USE and SET CATALOG.

    Attributes:
        name: A catalog, a database, or both.
        is_catalog: Whether the name can only be a catalog.
    """

    name: Name
    is_catalog: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DropTable(Statement):
    """DROP TABLE."""

    name: Name
    if_exists: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DropView(Statement):
    """DROP VIEW."""

    name: Name
    if_exists: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Insert(Statement):
    """INSERT INTO and INSERT OVERWRITE.

    Attributes:
        name: The table.
        is_overwrite: Whether rows are replaced.
        columns: The column list.
        is_by_name: Whether columns meet by name.
        partition: PARTITION (name = literal); None where a name stands alone.
        query: Text of the rows to write.
        replaced: Text behind REPLACE WHERE; None where it is not there.
        evolves: Whether the table gets the columns that only the rows have.
    """

    name: Name
    is_overwrite: bool
    columns: tuple[str, ...] | None
    is_by_name: bool
    partition: Mapping[str, str | None]
    query: str
    replaced: str | None = None
    evolves: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Describe(Statement):
    """DESCRIBE TABLE."""

    name: Name
    is_extended: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete(Statement):
    """DELETE FROM; `condition` is None for all rows."""

    name: Name
    alias: str | None
    condition: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncate(Statement):
    """TRUNCATE TABLE; `partition` has texts of literals, none for the whole table."""

    name: Name
    partition: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallArgument:
    """An argument of a CALL: the text of its value, and its name if it has one."""

    name: str | None = None
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Statement):
    """CALL."""

    name: Name
    arguments: tuple[CallArgument, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTemporaryView(Statement):
    """CREATE TEMPORARY VIEW ... AS, and CACHE TABLE ... AS.

    Attributes:
        name: The view.
        query: Text behind AS.
        is_replace: Whether a view of that name is replaced.
        if_not_exists: Whether a view of that name is fine.
        is_global: Whether every session sees it.
        is_cached: Whether its rows are kept.
        is_lazy: Whether they are kept as late as somebody reads them.
        cache_options: Text behind OPTIONS of CACHE TABLE, in its parentheses.
    """

    name: Name
    query: str
    is_replace: bool = False
    if_not_exists: bool = False
    is_global: bool = False
    is_cached: bool = False
    is_lazy: bool = False
    cache_options: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsupported(Statement):
    """A statement that Lakebed does not run yet.

    Attributes:
        operation: Its first words.
        target: The table or database that it acts on, where it names one.
        is_explicit_only: Whether only a name with its catalog makes it Lakebed's.
    """

    operation: str
    target: Name
    is_explicit_only: bool = False


@dataclass(frozen=True, slots=True)
class Query(Statement):
    """Anything else: rows are asked for, or it is Spark's own business."""
