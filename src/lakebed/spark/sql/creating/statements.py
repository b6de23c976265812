"""Which statement that makes a table of another is this, and what are its parts?"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lakebed.spark.sql.statements import Name, Statement


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
