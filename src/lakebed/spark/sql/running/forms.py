"""How are statements that run others read?"""

from collections.abc import Iterator

from lakebed.spark.sql.clauses import type_text
from lakebed.spark.sql.cursor import Cursor
from lakebed.spark.sql.forms import Forms
from lakebed.spark.sql.running.statements import ExecuteImmediate, Script, Value
from lakebed.spark.sql.statements import Name, Statement
from lakebed.spark.sql.tokens import TokenKind, closing_index


def _execute_immediate(cursor: Cursor) -> Statement:
    text = type_text(cursor, "INTO", "USING")
    if not text:
        raise cursor.error()
    into = tuple(_names(cursor)) if cursor.accept("INTO") else ()
    values = tuple(_values(cursor)) if cursor.accept("USING") else ()
    cursor.expect_end()
    return ExecuteImmediate(text=text, into=into, values=values)


def _names(cursor: Cursor) -> Iterator[Name]:
    yield cursor.names()
    while cursor.accept_symbol(","):
        yield cursor.names()


def _values(cursor: Cursor) -> Iterator[Value]:
    is_enclosed = (
        cursor.sees_symbol("(")
        and closing_index(cursor.tokens, cursor.index) == len(cursor.tokens) - 1
    )
    inner = Cursor(cursor.parenthesized() if is_enclosed else cursor.rest())
    while True:
        yield _value(inner)
        if not inner.accept_symbol(","):
            inner.expect_end()
            return


def _value(cursor: Cursor) -> Value:
    first = cursor.index
    text = type_text(cursor)
    if not text:
        raise cursor.error()
    if cursor.index - first > 1:
        *_, before, last = cursor.tokens[first : cursor.index]
        is_behind_value = before.is_symbol(")") or before.kind in {
            TokenKind.NUMBER,
            TokenKind.STRING,
        }
        if last.is_name and (before.is_word("AS") or is_behind_value):
            end = before.start if before.is_word("AS") else last.start
            start = cursor.tokens[first].start
            return Value(text=cursor.text[start:end].strip(), name=last.name)
    return Value(text=text)


def _script(cursor: Cursor) -> Statement:
    cursor.rest()
    return Script(text=cursor.text)


FORMS: Forms = (
    (("EXECUTE", "IMMEDIATE"), _execute_immediate),
    (("BEGIN",), _script),
)
