"""How are CREATE TABLE, its LIKE, and REPLACE TABLE read?"""

from collections.abc import Callable

from lakebed.spark.sql.clauses import is_query, partition_columns, properties
from lakebed.spark.sql.creating.statements import CreateTable, CreateTableLike, Making
from lakebed.spark.sql.cursor import Cursor
from lakebed.spark.sql.forms import Forms, Parse
from lakebed.spark.sql.statements import Name, Statement, Unsupported

_REFUSED_WORDS = ("LOCATION", "CLUSTERED", "CLUSTER")
_REFUSED = (("LOCATION",), ("STORED", "AS"), ("ROW", "FORMAT"))


def _making(making: Making) -> Parse:
    def parse(cursor: Cursor) -> Statement:
        return _create_table(cursor, making)

    return parse


def _create_table(cursor: Cursor, making: Making) -> Statement:
    if making is Making.CREATE and cursor.accept("IF", "NOT", "EXISTS"):
        making = Making.CREATE_IF_NOT_EXISTS
    name = cursor.names()
    if cursor.accept("LIKE"):
        is_fine = making is Making.CREATE_IF_NOT_EXISTS
        return _create_table_like(cursor, name, if_not_exists=is_fine)
    columns = cursor.parenthesized() if cursor.sees_symbol("(") and not is_query(cursor) else ""
    found: dict[str, object] = {}
    while not cursor.at_end and not is_query(cursor):
        if cursor.accept("AS"):
            break
        for words, key, parse in _CLAUSES:
            if cursor.accept(*words):
                found[key] = parse(cursor)
                break
        else:
            if any(cursor.sees(word) for word in _REFUSED_WORDS):
                word = cursor.take().text.upper()
                return Unsupported(operation=f"CREATE TABLE with {word}", target=name)
            raise cursor.error()
    query = None if cursor.at_end else cursor.rest()
    return CreateTable(
        name=name,
        making=making,
        columns=columns,
        query=query,
        **found,  # type: ignore[arg-type]  # each key of _CLAUSES is parsed to its field's type
    )


def _create_table_like(cursor: Cursor, name: Name, *, if_not_exists: bool) -> Statement:
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


_CLAUSES: tuple[tuple[tuple[str, ...], str, Callable[[Cursor], object]], ...] = (
    (("USING",), "provider", lambda cursor: cursor.name().lower()),
    (("PARTITIONED", "BY"), "partitions", partition_columns),
    (("COMMENT",), "comment", Cursor.string),
    (("TBLPROPERTIES",), "properties", properties),
)
FORMS: Forms = (
    (("CREATE", "TABLE"), _making(Making.CREATE)),
    (("CREATE", "EXTERNAL", "TABLE"), _making(Making.CREATE)),
    (("CREATE", "OR", "REPLACE", "TABLE"), _making(Making.CREATE_OR_REPLACE)),
    (("REPLACE", "TABLE"), _making(Making.REPLACE)),
)
