"""How are the parts in parentheses of a statement read?"""

from pyspark.errors import ParseException

from lakebed.spark.sql.cursor import Cursor
from lakebed.spark.sql.statements import CallArgument, Name
from lakebed.spark.sql.tokens import TokenKind

_QUERY_START = ("SELECT", "WITH", "FROM", "TABLE", "VALUES")


def condition_before_query(cursor: Cursor) -> str:
    """The text up to the first word of a query, outside of parentheses."""
    first, last = cursor.peek(), None
    depth = 0
    while (token := cursor.peek()) is not None:
        is_compared = last is not None and last.is_word("DISTINCT")
        if depth == 0 and token.is_word(*_QUERY_START) and not is_compared:
            break
        depth += token.is_symbol("(") - token.is_symbol(")")
        last = cursor.take()
    if first is None or last is None or cursor.at_end:
        raise cursor.error()
    return cursor.text[first.start : last.end]


def partition_columns(cursor: Cursor) -> tuple[tuple[str, str], ...]:
    """PARTITIONED BY: names, each with its type where it is defined here."""
    inner = Cursor(cursor.parenthesized())
    columns = []
    while not inner.at_end:
        name = inner.name()
        if inner.sees_symbol("("):
            raise inner.error()
        columns.append((name, type_text(inner)))
        if not inner.accept_symbol(","):
            inner.expect_end()
    return tuple(columns)


def type_text(cursor: Cursor, *stops: str) -> str:
    """The text up to a comma, or one of some words, outside of parentheses and angles."""
    depth, first, last = 0, cursor.peek(), None
    while (token := cursor.peek()) is not None:
        if depth == 0 and (token.is_symbol(",") or token.is_word(*stops)):
            break
        depth += token.is_symbol("(", "<") - token.is_symbol(")", ">")
        last = cursor.take()
    if first is None or last is None:
        return ""
    return cursor.text[first.start : last.end]


def properties(cursor: Cursor) -> dict[str, str]:
    """TBLPROPERTIES: keys and values as text."""
    inner = Cursor(cursor.parenthesized())
    properties: dict[str, str] = {}
    while not inner.at_end:
        token = inner.peek()
        if token is not None and token.kind is TokenKind.STRING:
            key = inner.string()
        else:
            key = ".".join(inner.names())
        inner.accept_symbol("=")
        if key in properties:
            raise inner.error()
        properties[key] = _property_value(inner)
        if not inner.accept_symbol(","):
            inner.expect_end()
    return properties


def _property_value(cursor: Cursor) -> str:
    sign = "-" if cursor.accept_symbol("-") else ""
    token = cursor.take()
    if token.kind is TokenKind.STRING:
        return token.value
    if token.kind is TokenKind.NUMBER or token.is_word("TRUE", "FALSE"):
        return sign + token.text.lower()
    cursor.index -= 1
    raise cursor.error()


def is_query(cursor: Cursor) -> bool:
    """Whether a query comes next, maybe in parentheses."""
    ahead = 0
    while (token := cursor.peek(ahead)) is not None and token.is_symbol("("):
        ahead += 1
    return token is not None and token.is_word(*_QUERY_START)


def existing(cursor: Cursor) -> tuple[Name, bool]:
    """The name that ends a statement, and whether IF EXISTS stands before it."""
    if_exists = cursor.accept("IF", "EXISTS")
    name = cursor.names()
    cursor.expect_end()
    return name, if_exists


def place(cursor: Cursor) -> Name:
    """The name behind IN or FROM; empty where neither comes."""
    return cursor.names() if cursor.accept("IN") or cursor.accept("FROM") else ()


def pattern(cursor: Cursor) -> str | None:
    """The pattern of SHOW, behind LIKE or alone; None where none comes."""
    token = cursor.peek()
    is_pattern = cursor.accept("LIKE") or (token is not None and token.kind is TokenKind.STRING)
    return cursor.string() if is_pattern else None


def column_list(cursor: Cursor) -> tuple[str, ...]:
    """Names between commas."""
    columns = [cursor.name()]
    while cursor.accept_symbol(","):
        columns.append(cursor.name())
    cursor.expect_end()
    return tuple(columns)


def static_partition(cursor: Cursor) -> dict[str, str | None]:
    """PARTITION: names, each with the text of its literal where it has one."""
    inner = Cursor(cursor.parenthesized())
    partition: dict[str, str | None] = {}
    while not inner.at_end:
        name = inner.name()
        if name in partition:
            raise inner.error()
        partition[name] = type_text(inner) if inner.accept_symbol("=") else None
        if not inner.accept_symbol(","):
            inner.expect_end()
    return partition


def whole_partition(cursor: Cursor) -> dict[str, str]:
    """PARTITION where every name needs a value: names with the texts of their literals.

    Raises:
        ParseException: A name has no value, or comes twice.
    """
    given = static_partition(cursor)
    for name, text in given.items():
        if text is None:
            raise ParseException(
                f"Invalid SQL syntax: Partition key `{name}` must set value. SQLSTATE: 42000"
                f"\n\n== SQL ==\n{cursor.text}",
                errorClass="INVALID_SQL_SYNTAX.EMPTY_PARTITION_VALUE",
                messageParameters={"partKey": f"`{name}`"},
            )
    if not given:
        raise cursor.error()
    return {name: text for name, text in given.items() if text is not None}


def call_arguments(cursor: Cursor) -> tuple[CallArgument, ...]:
    """The arguments of a CALL, each behind its name and an arrow, or alone."""
    inner = Cursor(cursor.parenthesized())
    arguments = []
    is_more = not inner.at_end
    while is_more:
        equals = inner.peek(1)
        name = None
        if equals is not None and equals.is_symbol("="):
            name = inner.name()
            inner.expect_symbol("=")
            inner.expect_symbol(">")
        value = type_text(inner)
        if not value:
            raise inner.error()
        arguments.append(CallArgument(name=name, value=value))
        is_more = inner.accept_symbol(",")
    inner.expect_end()
    return tuple(arguments)
