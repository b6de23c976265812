"""How are the parts in parentheses of a statement read?"""

from lakebed.spark.sql.cursor import Cursor
from lakebed.spark.sql.statements import CallArgument
from lakebed.spark.sql.tokens import TokenKind


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
        partition[name] = type_text(inner) if inner.accept_symbol("=") else None
        if not inner.accept_symbol(","):
            inner.expect_end()
    return partition


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
