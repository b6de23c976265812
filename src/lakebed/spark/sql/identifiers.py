"""What names do clauses `IDENTIFIER(…)` stand for?

Each is replaced by its name before the statement is looked at, as Spark does it while it reads the
text: so the name may be of a table, a column, a function or whatever else has one.
"""

from collections.abc import Sequence
from dataclasses import replace

from pyspark.errors import AnalysisException

from lakebed.errors import InvalidArgumentError
from lakebed.spark.lake import Lake
from lakebed.spark.names import quoted, split_name
from lakebed.spark.sql.arguments import Arguments, kept
from lakebed.spark.sql.literals import constants
from lakebed.spark.sql.splicing import Edit, spliced
from lakebed.spark.sql.tokens import Token, TokenKind, closing_index, tokenize

_CLAUSE = "IDENTIFIER"


def with_identifiers(lake: Lake, text: str, given: Arguments) -> tuple[str, Arguments]:
    """A statement with names in the place of such clauses.

    A clause that is no constant text, or no name, stays for Spark to tell what is wrong.

    Args:
        lake: The session.
        text: The statement.
        given: What its parameters stand for.

    Returns:
        The statement, and what its other parameters stand for.
    """
    if _CLAUSE.lower() not in text.lower():
        return text, given
    tokens = tokenize(text)
    edits: list[Edit] = []
    taken = set[int]()
    for index, token in enumerate(tokens):
        is_inside = bool(edits) and token.start < edits[-1].end
        if is_inside or not _is_clause(tokens, index):
            continue
        last = closing_index(tokens, index + 1)
        markers = _markers(tokens, index, last)
        inner = text[tokens[index + 1].end : tokens[last].start]
        name = _name(lake, inner, _chosen(given, markers))
        if name is not None:
            put = kept(name, has_fields=not given.fields)
            edits.append(Edit(token.start, tokens[last].end, put))
            taken |= {*markers}
    named = spliced(text, edits)
    if not isinstance(given.args, list):
        return named, given
    left = [each for place, each in enumerate(given.args) if place not in taken]
    return named, replace(given, args=left)


def _is_clause(tokens: Sequence[Token], index: int) -> bool:
    token = tokens[index]
    is_call = index + 1 < len(tokens) and tokens[index + 1].is_symbol("(")
    is_part = index > 0 and tokens[index - 1].is_symbol(".")
    return is_call and not is_part and token.kind is TokenKind.WORD and token.is_word(_CLAUSE)


def _markers(tokens: Sequence[Token], first: int, last: int) -> range:
    """Which of the statement's markers `?` are between two tokens."""
    before = sum(token.is_symbol("?") for token in tokens[:first])
    return range(before, before + sum(token.is_symbol("?") for token in tokens[first:last]))


def _chosen(given: Arguments, markers: range) -> Arguments:
    """What is given, of positional values those of some markers alone."""
    if not isinstance(given.args, list):
        return given
    return replace(given, args=given.args[markers.start : markers.stop] or None)


def _name(lake: Lake, text: str, given: Arguments) -> str | None:
    """The name that a constant expression tells; None where it tells none."""
    try:
        (value,) = constants(lake, [text], given)
        return quoted(split_name(value)) if isinstance(value, str) else None
    except (AnalysisException, InvalidArgumentError):
        return None
