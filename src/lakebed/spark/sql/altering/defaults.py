"""What is the value of a DEFAULT, as a table keeps it?

The text of a literal, to which the column's type gives a meaning when rows are written. A default
that is more than a literal would be computed once and for all, or not at all, and is refused.
"""

from lakebed.spark.conditions import analysis_error
from lakebed.spark.sql.tokens import TokenKind, tokenize

_TYPED = ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ")
_SUFFIXES = "LlSsYyDdFfBb"


def default_text(text: str) -> str | None:
    """The text of a literal; None for NULL.

    Raises:
        AnalysisException: It is no literal.
    """
    tokens = tokenize(text)
    sign = ""
    if len(tokens) == 2 and tokens[0].is_symbol("-", "+"):
        sign, tokens = tokens[0].text.replace("+", ""), tokens[1:]
        if tokens[0].kind is not TokenKind.NUMBER:
            raise _no_literal(text)
    if len(tokens) == 2 and tokens[0].is_word(*_TYPED):
        tokens = tokens[1:]
    if len(tokens) != 1:
        raise _no_literal(text)
    (token,) = tokens
    if token.kind is TokenKind.STRING and token.text[0] not in "xX":
        return _quoted(token.value)
    if token.kind is TokenKind.NUMBER:
        return sign + token.text.rstrip(_SUFFIXES)
    if token.is_word("TRUE", "FALSE"):
        return token.text.lower()
    if token.is_word("NULL"):
        return None
    raise _no_literal(text)


def _quoted(value: str) -> str:
    """A text that itself stands in quotes, in quotes once more: readers take one pair away."""
    is_quoted = len(value) > 1 and value[0] == value[-1] == "'"
    return f"'{value}'" if is_quoted else value


def _no_literal(text: str) -> Exception:
    return analysis_error(
        "INVALID_DEFAULT_VALUE.NOT_CONSTANT",
        f"A table keeps a literal as the DEFAULT of a column, and {text} is none.",
        {"statement": "ALTER TABLE ALTER COLUMN", "colName": "", "defaultValue": text},
    )
