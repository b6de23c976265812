"""How does a text become a statement?

A clause that Lakebed lacks gives `Unsupported`, never a statement without it.
"""

from lakebed.spark.sql.altering import forms as altering
from lakebed.spark.sql.analyzing import forms as analyzing
from lakebed.spark.sql.caching import forms as caching
from lakebed.spark.sql.clauses import (
    call_arguments,
    column_list,
    condition_before_query,
    existing,
    is_query,
    pattern,
    place,
    static_partition,
    whole_partition,
)
from lakebed.spark.sql.copying import forms as copying
from lakebed.spark.sql.creating import forms as creating
from lakebed.spark.sql.cursor import Cursor
from lakebed.spark.sql.forms import Forms, Parse
from lakebed.spark.sql.inspecting import forms as inspecting
from lakebed.spark.sql.row_changes import forms as row_changes
from lakebed.spark.sql.running import forms as running
from lakebed.spark.sql.statements import (
    Call,
    CreateDatabase,
    CreateTemporaryView,
    Delete,
    DropDatabase,
    DropTable,
    DropView,
    Insert,
    Query,
    ShowDatabases,
    ShowTables,
    Statement,
    Truncate,
    Unsupported,
    Use,
)
from lakebed.spark.sql.tagging import forms as tagging
from lakebed.spark.sql.tokens import TokenKind
from lakebed.spark.sql.unstored import forms as unstored

_DATABASE = ("DATABASE", "SCHEMA", "NAMESPACE")
# The words between which and its target nothing but IF [NOT] EXISTS stands.
_TARGETED = (
    ("ALTER", "TABLE"),
    ("ALTER", "VIEW"),
    ("ALTER", "DATABASE"),
    ("ALTER", "SCHEMA"),
    ("ALTER", "NAMESPACE"),
    ("COMMENT", "ON", "TABLE"),
    ("COMMENT", "ON", "DATABASE"),
    ("LOAD", "DATA"),
    ("MSCK", "REPAIR", "TABLE"),
    ("MSCK", "TABLE"),
    ("REFRESH",),
    ("REPAIR", "TABLE"),
)


def parse_statement(text: str) -> Statement:
    """The statement that a text is.

    Raises:
        ParseException: It begins as one of the statements above but does not go on as one.
    """
    cursor = Cursor(text)
    first = cursor.peek()
    if first is None:
        return Query()
    if first.is_word("WITH"):
        return _with(cursor)
    for words, parse in _STATEMENTS:
        if cursor.accept(*words):
            return parse(cursor)
    return _targeted(cursor)


def _targeted(cursor: Cursor) -> Statement:
    for words in sorted(_TARGETED, key=len, reverse=True):
        if cursor.accept(*words):
            _ = cursor.accept("IF", "NOT", "EXISTS") or cursor.accept("IF", "EXISTS")
            token = cursor.peek()
            if token is None or not token.is_name:
                return Query()
            return Unsupported(
                operation=" ".join(words),
                target=cursor.names(),
            )
    return Query()


def _with(cursor: Cursor) -> Statement:
    """WITH ... INSERT: the row source is the WITH clause and what follows INSERT together.

    WITH ... MERGE likewise.
    """
    depth = 0
    for index, token in enumerate(cursor.tokens):
        depth += token.is_symbol("(") - token.is_symbol(")")
        if depth == 0 and token.is_word("INSERT"):
            with_clause = cursor.text[: token.start]
            cursor.index = index + 1
            return _insert(cursor, with_clause=with_clause)
        if depth == 0 and token.is_word("MERGE"):
            cursor.index = index + 1
            return row_changes.merge(cursor, with_clause=cursor.text[: token.start])
    return Query()


def _create_database(cursor: Cursor) -> Statement:
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    name = cursor.names()
    if cursor.accept("COMMENT"):
        cursor.string()
    if not cursor.at_end:
        return Unsupported(operation="CREATE DATABASE with properties", target=name)
    return CreateDatabase(name=name, if_not_exists=if_not_exists)


def _drop_database(cursor: Cursor) -> Statement:
    if_exists = cursor.accept("IF", "EXISTS")
    name = cursor.names()
    cascade = cursor.accept("CASCADE")
    if not cascade:
        cursor.accept("RESTRICT")
    cursor.expect_end()
    return DropDatabase(name=name, if_exists=if_exists, cascade=cascade)


def _show_databases(cursor: Cursor) -> Statement:
    catalog, chosen = place(cursor), pattern(cursor)
    cursor.expect_end()
    return ShowDatabases(catalog=catalog, pattern=chosen)


def _show_tables(cursor: Cursor) -> Statement:
    database, chosen = place(cursor), pattern(cursor)
    cursor.expect_end()
    return ShowTables(database=database, pattern=chosen)


def _use(cursor: Cursor) -> Statement:
    for word in _DATABASE:
        cursor.accept(word)
    name = cursor.names()
    cursor.expect_end()
    return Use(name=name)


def _set_catalog(cursor: Cursor) -> Statement:
    token = cursor.take()
    cursor.expect_end()
    name = token.value if token.kind is TokenKind.STRING else token.name
    return Use(name=(name,), is_catalog=True)


def _drop_table(cursor: Cursor) -> Statement:
    if_exists = cursor.accept("IF", "EXISTS")
    name = cursor.names()
    cursor.accept("PURGE")
    cursor.expect_end()
    return DropTable(name=name, if_exists=if_exists)


def _drop_view(cursor: Cursor) -> Statement:
    name, if_exists = existing(cursor)
    return DropView(name=name, if_exists=if_exists)


def _insert(cursor: Cursor, *, with_clause: str = "") -> Statement:
    evolves = cursor.accept("WITH", "SCHEMA", "EVOLUTION")
    is_overwrite = cursor.accept("OVERWRITE")
    if not is_overwrite:
        cursor.expect("INTO")
    if cursor.sees("DIRECTORY") or cursor.sees("LOCAL", "DIRECTORY"):
        return Query()
    cursor.accept("TABLE")
    name = cursor.names()
    partition = static_partition(cursor) if cursor.accept("PARTITION") else {}
    if cursor.accept("IF", "NOT", "EXISTS"):
        return Unsupported(operation="INSERT OVERWRITE ... IF NOT EXISTS", target=name)
    is_by_name = cursor.accept("BY", "NAME")
    replaced = None
    if not is_overwrite and not partition and cursor.accept("REPLACE"):
        if not cursor.accept("WHERE"):
            return Unsupported(operation="INSERT INTO ... REPLACE ON and USING", target=name)
        replaced = condition_before_query(cursor)
    columns = None
    if not is_by_name and replaced is None and cursor.sees_symbol("(") and not is_query(cursor):
        columns = column_list(Cursor(cursor.parenthesized()))
    return Insert(
        name=name,
        is_overwrite=is_overwrite,
        columns=columns,
        is_by_name=is_by_name,
        partition=partition,
        query=with_clause + cursor.rest(),
        replaced=replaced,
        evolves=evolves,
    )


def _delete(cursor: Cursor) -> Statement:
    name = cursor.names()
    alias = None
    if cursor.accept("AS") or not (cursor.at_end or cursor.sees("WHERE")):
        alias = cursor.name()
    condition = cursor.rest() if cursor.accept("WHERE") else None
    cursor.expect_end()
    return Delete(name=name, alias=alias, condition=condition)


def _truncate(cursor: Cursor) -> Statement:
    name = cursor.names()
    partition = whole_partition(cursor) if cursor.accept("PARTITION") else {}
    cursor.expect_end()
    return Truncate(name=name, partition=partition)


def _call(cursor: Cursor) -> Statement:
    name = cursor.names()
    arguments = call_arguments(cursor)
    cursor.expect_end()
    return Call(name=name, arguments=arguments)


def _temporary_view(*, is_replace: bool, is_global: bool) -> Parse:
    def parse(cursor: Cursor) -> Statement:
        if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
        name = cursor.names()
        if cursor.accept("COMMENT"):
            cursor.string()
        if not cursor.accept("AS"):
            # A column list or USING: Spark says what it makes of it.
            return Query()
        return CreateTemporaryView(
            name=name,
            query=cursor.rest(),
            is_replace=is_replace,
            if_not_exists=if_not_exists,
            is_global=is_global,
        )

    return parse


_STATEMENTS: Forms = (
    *altering.FORMS,
    *analyzing.FORMS,
    *caching.FORMS,
    *copying.FORMS,
    *creating.FORMS,
    *inspecting.FORMS,
    *row_changes.FORMS,
    *running.FORMS,
    *tagging.FORMS,
    *unstored.FORMS,
    *((("CREATE", word), _create_database) for word in _DATABASE),
    *((("DROP", word), _drop_database) for word in _DATABASE),
    *((("SHOW", word + "S"), _show_databases) for word in _DATABASE),
    (("SHOW", "TABLES"), _show_tables),
    (("USE",), _use),
    (("SET", "CATALOG"), _set_catalog),
    (("DROP", "TABLE"), _drop_table),
    (("DROP", "VIEW"), _drop_view),
    (("INSERT",), _insert),
    (("DELETE", "FROM"), _delete),
    (("TRUNCATE", "TABLE"), _truncate),
    (("CALL",), _call),
    *(
        (
            (*start, *scope, word, "VIEW"),
            _temporary_view(is_replace=len(start) > 1, is_global=bool(scope)),
        )
        for start in (("CREATE",), ("CREATE", "OR", "REPLACE"))
        for scope in ((), ("GLOBAL",))
        for word in ("TEMPORARY", "TEMP")
    ),
)
