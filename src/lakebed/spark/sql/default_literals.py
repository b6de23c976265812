"""What does a table keep of a DEFAULT?

The text of a literal, as engines with SQL write it, also of ARRAY, MAP and STRUCT of literals. The
column's type gives it a meaning when rows are written (`format.default_values`). A default that is
more than that would be computed once and for all, or not at all.
"""

from collections.abc import Sequence

from lakebed.spark.sql.tokens import Token, TokenKind, closing_index

_TYPED = ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ")
_NESTED = ("ARRAY", "MAP", "STRUCT")
_SUFFIXES = "LlSsYyDdFfBb"


class NoLiteralError(ValueError):
    """A default is something else."""


def default_text(tokens: Sequence[Token]) -> str | None:
    """The text of a default; None for NULL.

    Raises:
        NoLiteralError: It is no literal.
    """
    if _is_null(tokens):
        return None
    text = _string(tokens)
    # Readers of other engines take one pair of quotes away, and look at nothing else in between.
    return _bare(tokens) if text is None else f"'{text}'"


def _part(tokens: Sequence[Token]) -> str:
    if _is_null(tokens):
        return "null"
    text = _string(tokens)
    if text is None:
        return _bare(tokens)
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _is_null(tokens: Sequence[Token]) -> bool:
    return len(tokens) == 1 and tokens[0].is_word("NULL")


def _string(tokens: Sequence[Token]) -> str | None:
    """The text in quotes, of a text or a moment."""
    if len(tokens) > 1 and tokens[0].is_word(*_TYPED):
        tokens = tokens[1:]
    if len(tokens) != 1 or tokens[0].kind is not TokenKind.STRING or tokens[0].text[0] in "xX":
        return None
    return tokens[0].value


def _bare(tokens: Sequence[Token]) -> str:
    match tokens:
        case [number] if number.kind is TokenKind.NUMBER:
            return number.text.rstrip(_SUFFIXES)
        case [sign, number] if sign.is_symbol("-", "+") and number.kind is TokenKind.NUMBER:
            return sign.text.replace("+", "") + number.text.rstrip(_SUFFIXES)
        case [flag] if flag.is_word("TRUE", "FALSE"):
            return flag.text.lower()
        case [name, opening, *_, _] if name.is_word(*_NESTED) and opening.is_symbol("("):
            if closing_index(list(tokens), 1) == len(tokens) - 1:
                parts = map(_part, _arguments(tokens[2:-1]))
                return f"{name.text.upper()}({', '.join(parts)})"
    raise NoLiteralError


def _arguments(tokens: Sequence[Token]) -> list[list[Token]]:
    """What commas outside of parentheses part."""
    arguments: list[list[Token]] = [[]] if tokens else []
    depth = 0
    for token in tokens:
        depth += token.is_symbol("(") - token.is_symbol(")")
        if depth == 0 and token.is_symbol(","):
            arguments.append([])
        else:
            arguments[-1].append(token)
    return arguments
