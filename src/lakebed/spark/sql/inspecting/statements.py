"""Which statement that tells what is there is this, and what are its parts?"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lakebed.spark.sql.statements import Name, Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowProperties(Statement):
    """SHOW TBLPROPERTIES; `key` is None for all."""

    name: Name
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowCreateTable(Statement):
    """SHOW CREATE TABLE."""

    name: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowColumns(Statement):
    """SHOW COLUMNS; `database` is empty where the name of the table says it all."""

    name: Name
    database: Name = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowPartitions(Statement):
    """SHOW PARTITIONS; `partition` has texts of literals, none for all partitions."""

    name: Name
    partition: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowTablesExtended(Statement):
    """SHOW TABLE EXTENDED.

    Attributes:
        database: Behind IN; empty for the current one.
        pattern: Of names; with a partition, one name.
        partition: Texts of literals; none for the tables themselves.
    """

    database: Name
    pattern: str
    partition: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowViews(Statement):
    """SHOW VIEWS; `database` is empty for the current one."""

    database: Name
    pattern: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowCatalogs(Statement):
    """SHOW CATALOGS."""

    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class ShowCurrentNamespace(Statement):
    """SHOW CURRENT NAMESPACE."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeColumn(Statement):
    """DESCRIBE of a column; EXTENDED says no more of one, as in Spark for such tables."""

    name: Name
    column: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribePartition(Statement):
    """DESCRIBE of a partition, whose values are texts of literals."""

    name: Name
    partition: Mapping[str, str]
    is_extended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeDatabase(Statement):
    """DESCRIBE DATABASE."""

    name: Name
    is_extended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshTable(Statement):
    """REFRESH TABLE."""

    name: Name
