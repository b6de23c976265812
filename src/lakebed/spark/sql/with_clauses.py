"""Which names of one part mean a table of a WITH clause, and where?

Such a name is known behind its definition, to the end of the query that has the clause; within the
definition it is known only where the clause is RECURSIVE. So in `WITH t AS (SELECT * FROM t)` the
inner name is that of a stored table.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lakebed.spark.sql.tokens import Token, closing_index


@dataclass(frozen=True, slots=True)
class CommonTable:
    """A name that a WITH clause defines.

    Attributes:
        name: The name.
        start: The place in the text from which it is known.
        end: The place to which it is known.
    """

    name: str
    start: int
    end: int

    def is_meant(self, name: str, place: int) -> bool:
        """Whether a name at a place in the text is that of this table."""
        return self.start <= place < self.end and name.lower() == self.name.lower()


def common_tables(tokens: Sequence[Token]) -> list[CommonTable]:
    """The tables of all WITH clauses of a text."""
    found: list[CommonTable] = []
    open_at: list[int] = []
    for index, token in enumerate(tokens):
        if token.is_symbol("("):
            open_at.append(index)
        elif token.is_symbol(")") and open_at:
            open_at.pop()
        elif token.is_word("WITH"):
            last = closing_index(tokens, open_at[-1]) if open_at else len(tokens) - 1
            found += _defined(tokens, index + 1, tokens[last].end)
    return found


def _defined(tokens: Sequence[Token], index: int, end: int) -> list[CommonTable]:
    """The tables of one clause, from the token behind WITH on."""
    is_recursive = (
        _at(tokens, index, "RECURSIVE") and index + 1 < len(tokens) and tokens[index + 1].is_name
    )
    index += is_recursive
    found: list[CommonTable] = []
    while (opening := _definition(tokens, index)) is not None:
        closing = closing_index(tokens, opening)
        start = tokens[opening if is_recursive else closing].start
        found.append(CommonTable(tokens[index].name, start, end))
        if closing + 1 >= len(tokens) or not tokens[closing + 1].is_symbol(","):
            break
        index = closing + 2
    return found


def _definition(tokens: Sequence[Token], index: int) -> int | None:
    """Where the query of a name opens; None where no definition stands."""
    if index + 1 >= len(tokens) or not tokens[index].is_name:
        return None
    index += 1
    if tokens[index].is_symbol("("):
        index = closing_index(tokens, index) + 1
    if _at(tokens, index, "MAX"):
        # MAX RECURSION LEVEL and a number.
        index += 4
    if _at(tokens, index, "AS"):
        index += 1
    is_open = index < len(tokens) and tokens[index].is_symbol("(")
    return index if is_open else None


def _at(tokens: Sequence[Token], index: int, word: str) -> bool:
    return index < len(tokens) and tokens[index].is_word(word)
