"""Where are the words of a SQL text?

A text is cut into tokens that know their span, so that names can be replaced in place and the rest
stays as the user wrote it. Space and comments are no tokens.
"""

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

_TOKEN = re.compile(
    r"""
      (?P<space>\s+|--(?:\\\n|[^\r\n])*)
    | (?P<comment>/\*)
    | (?P<raw>[rR](?:'[^']*'|"[^"]*"))
    | (?P<string>[xX]?'(?:[^'\\]|\\.|'')*'|[xX]?"(?:[^"\\]|\\.|"")*")
    | (?P<quoted>`(?:[^`]|``)*`)
    | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:BD|[LSYDFlsydf])?(?!\w))
    | (?P<word>\w+)
    | (?P<symbol>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_BRACKETS = re.compile(r"/\*(?!\+)|\*/")
_ESCAPE = re.compile(r"\\(.)|(['\"])\2", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "Z": "\x1a"}


class TokenKind(enum.Enum):
    """What a token is."""

    WORD = "word"
    QUOTED = "quoted"
    STRING = "string"
    NUMBER = "number"
    SYMBOL = "symbol"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a text.

    Attributes:
        kind: What it is.
        text: As written.
        start: Where it starts in the text.
    """

    kind: TokenKind
    text: str
    start: int

    @property
    def end(self) -> int:
        """The place behind it."""
        return self.start + len(self.text)

    @property
    def is_name(self) -> bool:
        """Whether it can be a part of a name."""
        return self.kind in {TokenKind.WORD, TokenKind.QUOTED}

    @property
    def name(self) -> str:
        """The name that it is, without backticks."""
        if self.kind is TokenKind.QUOTED:
            return self.text[1:-1].replace("``", "`")
        return self.text

    @property
    def value(self) -> str:
        """The text that a string literal stands for."""
        if self.text[0] in "rR":
            return self.text[2:-1]
        return _ESCAPE.sub(_unescaped, self.text[1:-1])

    def is_word(self, *words: str) -> bool:
        """Whether it is one of these words, unquoted; they are given in upper case."""
        return self.kind is TokenKind.WORD and self.text.upper() in words

    def is_symbol(self, *symbols: str) -> bool:
        """Whether it is one of these signs."""
        return self.kind is TokenKind.SYMBOL and self.text in symbols


def tokenize(text: str) -> list[Token]:
    """The tokens of a text, in order."""
    tokens = []
    position = 0
    while (found := _TOKEN.match(text, position)) is not None:
        group = found.lastgroup or ""
        position = _comment_end(text, found.start()) if group == "comment" else found.end()
        if group in {"space", "comment"}:
            continue
        kind = TokenKind.STRING if group == "raw" else TokenKind(group)
        tokens.append(Token(kind, found.group(), found.start()))
    return tokens


def has_pipe(tokens: Sequence[Token]) -> bool:
    """Whether a text has a step of the pipe syntax."""
    return any(
        one.is_symbol("|") and other.is_symbol(">") and one.end == other.start
        for one, other in pairwise(tokens)
    )


def _comment_end(text: str, start: int) -> int:
    """The place behind a comment in brackets, in which there may be others; a hint has none."""
    if text.startswith("/*+", start):
        end = text.find("*/", start)
        return end + 2 if end >= 0 else len(text)
    depth = 0
    for found in _BRACKETS.finditer(text, start):
        depth += 1 if found[0] == "/*" else -1
        if depth == 0:
            return found.end()
    return len(text)


def closing_index(tokens: Sequence[Token], opening: int) -> int:
    """Index of the parenthesis that closes the one at `opening`; the last token's where none."""
    depth = 0
    for index in range(opening, len(tokens)):
        if tokens[index].is_symbol("("):
            depth += 1
        elif tokens[index].is_symbol(")"):
            depth -= 1
            if depth == 0:
                return index
    return len(tokens) - 1


def _unescaped(found: re.Match[str]) -> str:
    doubled = found[2]
    if doubled is not None:
        return str(doubled)
    sign = found[1]
    return _ESCAPED.get(sign, "\\" + sign if sign in "%_" else sign)
