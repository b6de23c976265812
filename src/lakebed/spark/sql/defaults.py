"""Which defaults do the columns of a CREATE TABLE have?

Spark's reader of column lists knows no DEFAULT, so that the clauses are taken out of the text.
"""

from collections.abc import Iterator

from lakebed.errors import UnsupportedError
from lakebed.spark.sql.default_literals import NoLiteralError, default_text
from lakebed.spark.sql.splicing import Edit, spliced
from lakebed.spark.sql.tokens import Token, tokenize


def without_defaults(columns: str) -> tuple[str, dict[str, str]]:
    """The column definitions without DEFAULT, and the texts of the defaults by column.

    Raises:
        UnsupportedError: A default is no literal.
    """
    defaults: dict[str, str] = {}
    edits = []
    for definition in _definitions(tokenize(columns)):
        clause = _default_clause(definition)
        if not clause:
            continue
        name = definition[0].name
        try:
            text = default_text(clause[1:])
        except NoLiteralError as error:
            written = columns[clause[0].start : clause[-1].end]
            raise UnsupportedError(
                f"column {name!r}: {written!r} cannot be stored; a default is a number, a text, "
                "TRUE, FALSE, NULL, a literal of DATE or TIMESTAMP, or ARRAY, MAP or STRUCT of such"
            ) from error
        if text is not None:
            defaults[name] = text
        edits.append(Edit(clause[0].start, clause[-1].end, ""))
    return spliced(columns, edits), defaults


def _definitions(tokens: list[Token]) -> Iterator[list[Token]]:
    """The tokens of each column, which commas outside of parentheses and angles part."""
    depth = 0
    definition: list[Token] = []
    for token in tokens:
        depth += token.is_symbol("(", "<") - token.is_symbol(")", ">")
        if depth == 0 and token.is_symbol(","):
            yield definition
            definition = []
        else:
            definition.append(token)
    yield definition


def _default_clause(definition: list[Token]) -> list[Token]:
    """DEFAULT and its value; empty where there is none."""
    depth = 0
    clause: list[Token] = []
    # A column may be called `default`; behind its name comes the type.
    for index, token in enumerate(definition[2:], start=2):
        depth += token.is_symbol("(", "<") - token.is_symbol(")", ">")
        if clause and depth == 0 and _ends_default(definition, index):
            break
        if clause or (depth == 0 and token.is_word("DEFAULT")):
            clause.append(token)
    return clause


def _ends_default(definition: list[Token], index: int) -> bool:
    following = definition[index + 1] if index + 1 < len(definition) else None
    is_not_null = definition[index].is_word("NOT") and following is not None
    return definition[index].is_word("COMMENT", "GENERATED") or (
        is_not_null and following is not None and following.is_word("NULL")
    )
