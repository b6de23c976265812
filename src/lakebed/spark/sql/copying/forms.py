"""How is COPY INTO read?

The clauses behind the first two may come in any order, each once.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from lakebed.spark.names import quoted
from lakebed.spark.sql.clauses import is_query
from lakebed.spark.sql.copying.statements import (
    CopyIntoFiles,
    CopyIntoTable,
    FormatOptions,
    OnError,
)
from lakebed.spark.sql.cursor import Cursor
from lakebed.spark.sql.forms import Forms
from lakebed.spark.sql.statements import Statement
from lakebed.spark.sql.tokens import TokenKind

_ESCAPE = re.compile(r"\\([ntr\\'\"])|(['\"])\2", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}

_Clauses = Mapping[str, tuple[str, Callable[[Cursor], object]]]


def _copy_into(cursor: Cursor) -> Statement:
    token = cursor.peek()
    if token is not None and token.kind is TokenKind.STRING:
        return _files(cursor)
    name = cursor.names()
    columns = _columns(cursor) if cursor.sees_symbol("(") else None
    cursor.expect("FROM")
    path = _text(cursor)
    clauses = _clauses(cursor, _OF_TABLE)
    return CopyIntoTable(name=name, columns=columns, path=path, **clauses)


def _files(cursor: Cursor) -> Statement:
    path = _text(cursor)
    cursor.expect("FROM")
    if cursor.accept_symbol("("):
        if not is_query(cursor):
            raise cursor.error()
        cursor.index -= 1
        query = f"({cursor.parenthesized()}\n)"
    else:
        query = quoted(cursor.names())
    # Inside of another query nothing can stand that changes something.
    query = f"SELECT * FROM {query}"
    return CopyIntoFiles(path=path, query=query, **_clauses(cursor, _OF_FILES))


def _columns(cursor: Cursor) -> tuple[str, ...]:
    cursor.expect_symbol("(")
    names = [cursor.name()]
    while cursor.accept_symbol(","):
        names.append(cursor.name())
    cursor.expect_symbol(")")
    return tuple(names)


def _clauses(cursor: Cursor, known: _Clauses) -> dict[str, Any]:
    """Arguments of the statement."""
    given: dict[str, Any] = {}
    while not cursor.at_end:
        word = cursor.name().upper()
        argument, read = known.get(word, ("", _text))
        if not argument or argument in given:
            cursor.index -= 1
            raise cursor.error()
        cursor.expect_symbol("=")
        given[argument] = read(cursor)
    if "file_format" not in given:
        raise cursor.error()
    return given


def _file_format(cursor: Cursor) -> FormatOptions:
    cursor.expect_symbol("(")
    options: dict[str, str | tuple[str, ...]] = {}
    is_more = True
    while is_more:
        name = cursor.name().upper()
        if name in options:
            cursor.index -= 1
            raise cursor.error()
        cursor.expect_symbol("=")
        options[name] = _value(cursor)
        is_more = cursor.accept_symbol(",")
    cursor.expect_symbol(")")
    return options


def _value(cursor: Cursor) -> str | tuple[str, ...]:
    if cursor.accept_symbol("("):
        texts = [_text(cursor)]
        while cursor.accept_symbol(","):
            texts.append(_text(cursor))
        cursor.expect_symbol(")")
        return tuple(texts)
    token = cursor.peek()
    if token is not None and (token.is_name or (token.kind is TokenKind.NUMBER)):
        return cursor.take().name
    return _text(cursor)


def _text(cursor: Cursor) -> str:
    r"""A text. Unlike in the rest of SQL, `\` stays before a sign that it says nothing of.

    So patterns can be written as they are.
    """
    token = cursor.peek()
    if token is None or token.kind is not TokenKind.STRING or token.text[0] in "xX":
        raise cursor.error()
    cursor.index += 1
    if token.text[0] in "rR":
        return token.value
    quote = token.text[0]
    return _ESCAPE.sub(lambda found: _unescaped(found, quote), token.text[1:-1])


def _unescaped(found: re.Match[str], quote: str) -> str:
    sign, doubled = found[1], found[2]
    if doubled is not None:
        return quote if doubled == quote else found[0]
    if sign == quote:
        return quote
    return _ESCAPED.get(sign, found[0])


def _truth(cursor: Cursor) -> bool:
    is_true = cursor.accept("TRUE")
    if not is_true:
        cursor.expect("FALSE")
    return is_true


def _on_error(cursor: Cursor) -> OnError:
    for choice in OnError:
        if cursor.accept(choice):
            return choice
    raise cursor.error()


_OF_TABLE: _Clauses = {
    "FILE_FORMAT": ("file_format", _file_format),
    "PATTERN": ("pattern", _text),
    "FORCE": ("is_forced", _truth),
    "ON_ERROR": ("on_error", _on_error),
}
_OF_FILES: _Clauses = {
    "FILE_FORMAT": ("file_format", _file_format),
    "OVERWRITE": ("is_overwrite", _truth),
}
FORMS: Forms = ((("COPY", "INTO"), _copy_into),)
