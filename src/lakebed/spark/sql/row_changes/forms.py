"""How are UPDATE and MERGE read?"""

from dataclasses import dataclass, field

from lakebed.spark.sql.clauses import column_list
from lakebed.spark.sql.cursor import Cursor
from lakebed.spark.sql.forms import Forms
from lakebed.spark.sql.row_changes.statements import (
    Assignment,
    DeleteClause,
    InsertClause,
    Merge,
    Update,
    UpdateClause,
)
from lakebed.spark.sql.statements import Name, Statement
from lakebed.spark.sql.tokens import Token, closing_index

_OPENING, _CLOSING = ("(", "["), (")", "]")


def update(cursor: Cursor) -> Statement:
    """UPDATE, behind that word."""
    name = cursor.names()
    alias = _alias(cursor, "SET")
    cursor.expect("SET")
    assignments = _assignments(cursor, "WHERE")
    condition = cursor.rest() if cursor.accept("WHERE") else None
    cursor.expect_end()
    return Update(name=name, alias=alias, assignments=assignments, condition=condition)


def merge(cursor: Cursor, *, with_clause: str = "") -> Statement:
    """MERGE, behind that word.

    Args:
        cursor: Behind MERGE.
        with_clause: Text of a WITH clause before it.
    """
    evolves = cursor.accept("WITH", "SCHEMA", "EVOLUTION")
    cursor.expect("INTO")
    name = cursor.names()
    alias = _alias(cursor, "USING")
    cursor.expect("USING")
    source = _source(cursor)
    cursor.expect("ON")
    condition = _expression(cursor, "WHEN")
    clauses = _Clauses()
    while cursor.accept("WHEN"):
        clauses.read(cursor)
    if cursor.text and not cursor.at_end:
        raise cursor.error()
    if not (clauses.matched or clauses.not_matched or clauses.not_matched_by_source):
        raise cursor.error()
    return Merge(
        name=name,
        alias=alias,
        with_clause=with_clause,
        source=source.text,
        source_alias=source.alias,
        source_columns=source.columns,
        source_name=source.name,
        evolves=evolves,
        condition=condition,
        matched=clauses.matched,
        not_matched=clauses.not_matched,
        not_matched_by_source=clauses.not_matched_by_source,
    )


@dataclass(slots=True)
class _Clauses:
    matched: list[UpdateClause | DeleteClause] = field(default_factory=list)
    not_matched: list[InsertClause] = field(default_factory=list)
    not_matched_by_source: list[UpdateClause | DeleteClause] = field(default_factory=list)

    def read(self, cursor: Cursor) -> None:
        """One clause, behind WHEN."""
        if cursor.accept("MATCHED"):
            self.matched.append(_change(cursor))
            return
        cursor.expect("NOT", "MATCHED")
        if cursor.accept("BY", "SOURCE"):
            self.not_matched_by_source.append(_change(cursor))
            return
        cursor.accept("BY", "TARGET")
        self.not_matched.append(_insertion(cursor))


def _change(cursor: Cursor) -> UpdateClause | DeleteClause:
    condition = _condition(cursor)
    if cursor.accept("DELETE"):
        return DeleteClause(condition=condition)
    cursor.expect("UPDATE", "SET")
    token = cursor.peek(1)
    if cursor.sees_symbol("*") and (token is None or token.is_word("WHEN")):
        cursor.expect_symbol("*")
        return UpdateClause(condition=condition, assignments=None)
    return UpdateClause(condition=condition, assignments=_assignments(cursor, "WHEN"))


def _insertion(cursor: Cursor) -> InsertClause:
    condition = _condition(cursor)
    cursor.expect("INSERT")
    if cursor.accept_symbol("*"):
        return InsertClause(condition=condition, columns=None, values=None)
    inner = Cursor(cursor.parenthesized())
    columns = []
    while True:
        # A column may be written with the table before it.
        columns.append(inner.names()[-1])
        if not inner.accept_symbol(","):
            break
    inner.expect_end()
    cursor.expect("VALUES")
    values = Cursor(cursor.parenthesized())
    texts = [_expression(values, comma=True)]
    while values.accept_symbol(","):
        texts.append(_expression(values, comma=True))
    if len(texts) != len(columns):
        raise cursor.error()
    return InsertClause(condition=condition, columns=columns, values=texts)


def _condition(cursor: Cursor) -> str | None:
    found = _expression(cursor, "THEN") if cursor.accept("AND") else None
    cursor.expect("THEN")
    return found


def _alias(cursor: Cursor, *following: str) -> str | None:
    is_told = cursor.accept("AS")
    token = cursor.peek()
    if is_told or (token is not None and token.is_name and not token.is_word(*following)):
        return cursor.name()
    return None


def _assignments(cursor: Cursor, stop: str) -> list[Assignment]:
    assignments = []
    while True:
        column = cursor.names()
        cursor.expect_symbol("=")
        assignments.append(Assignment(column, _expression(cursor, stop, comma=True)))
        if not cursor.accept_symbol(","):
            return assignments


def _expression(cursor: Cursor, *stops: str, comma: bool = False) -> str:
    """The text up to a word, or a comma, outside of parentheses and CASE."""
    first, last = cursor.peek(), None
    depth = 0
    while (token := cursor.peek()) is not None:
        if depth == 0 and (token.is_word(*stops) or (comma and token.is_symbol(","))):
            break
        depth += token.is_symbol(*_OPENING) or token.is_word("CASE")
        depth -= token.is_symbol(*_CLOSING) or token.is_word("END")
        last = cursor.take()
    if first is None or last is None:
        raise cursor.error()
    return cursor.text[first.start : last.end]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    text: str
    alias: str | None
    columns: tuple[str, ...]
    name: Name


def _source(cursor: Cursor) -> _Source:
    """The relation behind USING: a name, a query or a function, and its alias."""
    start = cursor.index
    text = _expression(cursor, "ON")
    tokens = cursor.tokens[start : cursor.index]
    columns: tuple[str, ...] = ()
    name = _plain_name(tokens)
    alias = None
    end = len(tokens)
    if tokens[-1].is_symbol(")"):
        opening = next(
            index
            for index, token in enumerate(tokens)
            if token.is_symbol("(") and closing_index(tokens, index) == end - 1
        )
        if opening >= 2 and _names_alias(tokens, opening - 1):
            inner = cursor.text[tokens[opening].end : tokens[-1].start]
            columns = column_list(Cursor(inner))
            end = opening
    if end >= 2 and _names_alias(tokens, end - 1):
        alias = tokens[end - 1].name
        end -= 2 if tokens[end - 2].is_word("AS") else 1
    text = cursor.text[tokens[0].start : tokens[end - 1].end]
    return _Source(text=text, alias=alias, columns=columns, name=name)


def _names_alias(tokens: list[Token], index: int) -> bool:
    """Whether a token is an alias of what stands before it."""
    token, before = tokens[index], tokens[index - 1]
    if not token.is_name:
        return False
    if before.is_word("AS"):
        return index >= 2
    return before.is_symbol(")") or (before.is_name and not before.is_word("OF"))


def _plain_name(tokens: list[Token]) -> Name:
    parts = []
    for index, token in enumerate(tokens):
        if index % 2 == 0 and token.is_name:
            parts.append(token.name)
        elif index % 2 == 0 or not token.is_symbol("."):
            break
    return tuple(parts)


FORMS: Forms = ((("UPDATE",), update), (("MERGE",), merge))
