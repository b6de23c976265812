"""What are the values of expressions that stand in a statement and name no column?"""

from collections.abc import Sequence

from lakebed.spark.lake import Lake
from lakebed.spark.sql.arguments import NO_ARGUMENTS, Arguments
from lakebed.spark.sql.tokens import TokenKind, tokenize


def constants(lake: Lake, texts: Sequence[str], given: Arguments = NO_ARGUMENTS) -> list[object]:
    """The values of constant expressions; Spark is asked where they are more than plain strings.

    Args:
        lake: The session.
        texts: The expressions.
        given: What their parameters and fields stand for.
    """
    plain = [] if given.fields else [each for text in texts for each in _plain_string(text)]
    if len(plain) == len(texts):
        return list(plain)
    row = lake.sql(f"SELECT {', '.join(texts)}", given.args, **given.fields).collect()[0]
    return list(row)


def _plain_string(text: str) -> list[str]:
    """The value, if the text is one string literal."""
    tokens = tokenize(text)
    is_string = len(tokens) == 1 and tokens[0].kind is TokenKind.STRING
    return [tokens[0].value] if is_string and tokens[0].text[0] not in "xX" else []
