"""What does a pattern of LIKE match?

`%` is any run of characters and `_` any one; the escape character makes either, or itself, literal.
"""

import re

from lakebed.errors import InvalidArgumentError

__all__ = ["like_prefix", "like_regex"]


def like_regex(pattern: str, escape: str) -> str:
    """A regular expression (RE2's, over UTF-8) that matches the same whole texts.

    Raises:
        InvalidArgumentError: When the escape character stands before an ordinary one, or last.
    """
    parts = {"%": ".*", "_": "."}
    body = "".join(
        re.escape(character) if is_literal else parts[character]
        for character, is_literal in _characters(pattern, escape)
    )
    return rf"(?s)\A{body}\z"


def like_prefix(pattern: str, escape: str) -> tuple[str, bool]:
    """The characters that every match begins with, and whether they are the whole match.

    Raises:
        InvalidArgumentError: When the escape character stands before an ordinary one, or last.
    """
    prefix: list[str] = []
    for character, is_literal in _characters(pattern, escape):
        if not is_literal:
            return "".join(prefix), False
        prefix.append(character)
    return "".join(prefix), True


def _characters(pattern: str, escape: str) -> list[tuple[str, bool]]:
    """Each character that a pattern speaks of, and whether it stands for itself alone."""
    found: list[tuple[str, bool]] = []
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            escaped = next(characters, "")
            if escaped not in ("%", "_", escape) or not escaped:
                raise InvalidArgumentError(
                    f"the LIKE pattern {pattern!r} has the escape character {escape!r} before "
                    f"{escaped!r}; it may stand before %, _ and itself only"
                    if escaped
                    else f"the LIKE pattern {pattern!r} ends in its escape character {escape!r}; "
                    "double it"
                )
            found.append((escaped, True))
        else:
            found.append((character, character not in "%_"))
    return found
