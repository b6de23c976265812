"""How do places of a text get another text, with all between them as the user wrote it?"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Edit:
    """A place of a text, and what comes there.

    Attributes:
        start: Where the place begins.
        end: Where it ends; what begins there stays.
        text: What comes there.
    """

    start: int
    end: int
    text: str


def spliced(text: str, edits: Iterable[Edit], *, between: Callable[[str], str] = str) -> str:
    """A text after edits.

    Args:
        text: The text.
        edits: Of which no two overlap; those at one place keep their order.
        between: What becomes of the text between them.
    """
    pieces, position = [], 0
    for edit in sorted(edits, key=lambda each: each.start):
        pieces += [between(text[position : edit.start]), edit.text]
        position = edit.end
    return "".join([*pieces, between(text[position:])])
