"""How is CREATE TABLE ... LIKE read?"""

from lakebed.spark.sql.clauses import properties
from lakebed.spark.sql.creating.statements import CreateTableLike
from lakebed.spark.sql.cursor import Cursor
from lakebed.spark.sql.statements import Name, Statement, Unsupported

_REFUSED = (("LOCATION",), ("STORED", "AS"), ("ROW", "FORMAT"))


def create_table_like(cursor: Cursor, name: Name, *, if_not_exists: bool) -> Statement:
    """The statement, from behind its LIKE.

    Args:
        cursor: The place behind LIKE.
        name: The table.
        if_not_exists: Whether a table that is there is fine.
    """
    source = cursor.names()
    provider: str | None = None
    given: dict[str, str] = {}
    while not cursor.at_end:
        for words in _REFUSED:
            if cursor.accept(*words):
                shown = f"CREATE TABLE LIKE with {' '.join(words)}"
                return Unsupported(operation=shown, target=name)
        if provider is None and cursor.accept("USING"):
            provider = cursor.name().lower()
        elif not given and cursor.accept("TBLPROPERTIES"):
            given = properties(cursor)
        else:
            raise cursor.error()
    return CreateTableLike(
        name=name,
        source=source,
        if_not_exists=if_not_exists,
        provider=provider,
        properties=given,
    )
