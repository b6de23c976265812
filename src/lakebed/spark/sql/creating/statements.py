"""Which statement that makes a table is this, and what are its parts?"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from lakebed.spark.sql.statements import Name, Statement


class Making(enum.Enum):
    """What is done where the table is there, or is not."""

    CREATE = "CREATE"
    CREATE_IF_NOT_EXISTS = "CREATE IF NOT EXISTS"
    REPLACE = "REPLACE"
    CREATE_OR_REPLACE = "CREATE OR REPLACE"


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTable(Statement):
    """CREATE TABLE, REPLACE TABLE and CREATE OR REPLACE TABLE.

    Attributes:
        name: The table.
        making: Which of them it is.
        columns: Text of the column definitions.
        provider: What stands behind USING.
        partitions: Partition columns: name, and type text where the column is defined here.
        comment: The comment.
        properties: TBLPROPERTIES.
        query: Text behind AS.
    """

    name: Name
    making: Making = Making.CREATE
    columns: str = ""
    provider: str | None = None
    partitions: tuple[tuple[str, str], ...] = ()
    comment: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    query: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTableLike(Statement):
    """CREATE TABLE ... LIKE.

    Attributes:
        name: The table.
        source: The table that it is to be like.
        if_not_exists: Whether a table that is there is fine.
        provider: What stands behind USING.
        properties: TBLPROPERTIES, which go before those of the source.
    """

    name: Name
    source: Name
    if_not_exists: bool = False
    provider: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
