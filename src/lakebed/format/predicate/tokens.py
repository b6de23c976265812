"""Which words, numbers, texts and signs does the text of an expression consist of?

The lexical rules are Spark's. sqlglot's tokenizer is not used here: it splits `5Y` into a number
and a cast, decodes escapes in its own way, and takes a column named `show` for a command.
"""

import re
from dataclasses import dataclass
from enum import Enum

from lakebed.errors import InvalidArgumentError

__all__ = ["Token", "TokenKind", "TokenStream", "syntax_error", "text_value", "tokenize"]

UNDERSTOOD = (
    "Understood are: = == <=> != <> < <= > >=, [NOT] IN (...), [NOT] BETWEEN ... AND ..., "
    "[NOT] LIKE '...' [ESCAPE '...'], IS [NOT] NULL, AND, OR, NOT, ( ), + - * /, "
    "CAST(... AS type), column, struct.field, `quoted name`, numbers, 'text', TRUE, FALSE, NULL, "
    "DATE '...', TIMESTAMP '...', TIMESTAMP_NTZ '...', TIMESTAMP_LTZ '...', TIME '...', X'...'."
)


class TokenKind(Enum):
    """What a token is."""

    WORD = "word"
    QUOTED = "quoted name"
    NUMBER = "number"
    TEXT = "text"
    HEX = "hex"
    SIGN = "sign"
    END = "end"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text.

    Attributes:
        kind: What it is.
        text: As written; of a quoted name, the name.
        start: Where it begins in the whole text.
        end: Where the next character is.
    """

    kind: TokenKind
    text: str
    start: int
    end: int

    def is_sign(self, *signs: str) -> bool:
        """Whether it is one of those signs."""
        return self.kind is TokenKind.SIGN and self.text in signs

    def is_word(self, *words: str) -> bool:
        """Whether it is one of those words, given in upper case and written in any."""
        return self.kind is TokenKind.WORD and self.text.upper() in words


_PATTERN = re.compile(
    r"""(?P<blank>\s+|--[^\n]*|/\*.*?\*/)
      | (?P<hex>[xX](?:'[^']*'|"[^"]*"))
      | (?P<text>(?:'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"))
      | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:[LlSsYyDdFf]|[bB][dD])?(?!\w))
      | (?P<word>\w+)
      | (?P<quoted>`(?:[^`]|``)+`)
      | (?P<sign><=>|==|!=|<>|<=|>=|[-+*/=<>(),.!])
    """,
    re.VERBOSE | re.DOTALL,
)
# A raw text ends at the first quote: a backslash in it escapes nothing.
_RAW_TEXT = re.compile(r"[rR](?:'[^']*'|\"[^\"]*\")")
_ESCAPE = re.compile(
    r"\\(?:u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})|(?P<octal>[0-3][0-7]{2})|(?P<one>.))",
    re.DOTALL,
)
_ONE_CHARACTER_ESCAPES = {
    "0": "\0",
    "b": "\b",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "Z": "\x1a",
    "%": "\\%",
    "_": "\\_",
}


def tokenize(text: str) -> list[Token]:
    """The tokens of a text, in order, with one of kind END after the last.

    Raises:
        InvalidArgumentError: Where no token of Spark's begins, or a quote is never closed.
    """
    tokens: list[Token] = []
    position = 0
    while position < len(text):
        found = _RAW_TEXT.match(text, position) or _PATTERN.match(text, position)
        if found is None:
            raise _unreadable(text, position)
        kind = TokenKind(_kind_name(found))
        piece = found.group()
        position = found.end()
        if kind is TokenKind.QUOTED:
            piece = piece[1:-1].replace("``", "`")
        if found.lastgroup != "blank":
            tokens.append(Token(kind, piece, found.start(), found.end()))
    tokens.append(Token(TokenKind.END, "", len(text), len(text)))
    return tokens


def _kind_name(found: re.Match[str]) -> str:
    name = found.lastgroup or "text"
    return {"quoted": "quoted name", "blank": "sign"}.get(name, name)


def _unreadable(text: str, position: int) -> InvalidArgumentError:
    character = text[position]
    token = Token(TokenKind.SIGN, character, position, position + 1)
    if character in "'\"`":
        return syntax_error(text, token, f"the quote {character} is never closed")
    return syntax_error(text, token, f"{character!r} is not understood")


def text_value(token: Token) -> str:
    """What a token of kind TEXT says, its escapes resolved."""
    if token.text[0] in "rR":
        return token.text[2:-1]
    quote = token.text[0]
    inner = token.text[1:-1]
    # A doubled quote is that quote, unless its first half is itself escaped.
    parts = re.split(rf"(\\.|{quote}{quote})", inner, flags=re.DOTALL)
    joined = "".join(quote if part == quote * 2 else part for part in parts)
    return _ESCAPE.sub(_unescaped, joined)


def _unescaped(found: re.Match[str]) -> str:
    code = found.group("u") or found.group("U")
    if code:
        return chr(int(code, 16))
    if found.group("octal"):
        return chr(int(found.group("octal"), 8))
    one = found.group("one")
    return _ONE_CHARACTER_ESCAPES.get(one, one)


def syntax_error(text: str, token: Token, problem: str) -> InvalidArgumentError:
    """The error for a token: what is wrong, where it stands, and what is understood."""
    line_number = text.count("\n", 0, token.start) + 1
    line_start = text.rfind("\n", 0, token.start) + 1
    line = text[line_start:].split("\n", 1)[0]
    column = token.start - line_start
    width = max(1, min(token.end - token.start, len(line) - column))
    return InvalidArgumentError(
        f"{problem}, at line {line_number}, column {column + 1} of the expression\n"
        f"  {line}\n"
        f"  {' ' * column}{'^' * width}\n"
        f"{UNDERSTOOD}"
    )


class TokenStream:
    """The tokens of a text, taken one after another."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokenize(text)
        self._position = 0

    @property
    def current(self) -> Token:
        """The token that is not yet taken."""
        return self._tokens[self._position]

    @property
    def following(self) -> Token:
        """The token after it."""
        return self._tokens[min(self._position + 1, len(self._tokens) - 1)]

    def next(self) -> Token:
        """Takes the token; the end is never passed."""
        token = self.current
        self._position = min(self._position + 1, len(self._tokens) - 1)
        return token

    def take_sign(self, *signs: str) -> Token | None:
        """Takes the token if it is one of those signs."""
        return self.next() if self.current.is_sign(*signs) else None

    def take_word(self, *words: str) -> Token | None:
        """Takes the token if it is one of those words."""
        return self.next() if self.current.is_word(*words) else None

    def need_sign(self, sign: str) -> None:
        """Takes that sign.

        Raises:
            InvalidArgumentError: When something else stands there.
        """
        if self.take_sign(sign) is None:
            raise self.unexpected(repr(sign))

    def need_word(self, word: str) -> None:
        """Takes that word.

        Raises:
            InvalidArgumentError: When something else stands there.
        """
        if self.take_word(word) is None:
            raise self.unexpected(word)

    def unexpected(self, expected: str) -> InvalidArgumentError:
        """The error that the token is not what may stand there."""
        found = repr(self.current.text) if self.current.text else "the end"
        return syntax_error(self._text, self.current, f"expected {expected}, found {found}")
