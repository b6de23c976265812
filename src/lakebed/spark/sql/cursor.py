"""How is a statement read from its tokens, one clause after the other?"""

from dataclasses import dataclass, field

from pyspark.errors import ParseException

from lakebed.spark.sql.tokens import Token, TokenKind, closing_index, tokenize


@dataclass(slots=True)
class Cursor:
    """A place in the tokens of a text.

    Attributes:
        text: The text.
        tokens: Its tokens, without a semicolon at the end.
        index: The token that comes next.
    """

    text: str
    tokens: list[Token] = field(init=False)
    index: int = 0

    def __post_init__(self) -> None:
        """Cuts the text into tokens."""
        self.tokens = tokenize(self.text)
        while self.tokens and self.tokens[-1].is_symbol(";"):
            self.tokens.pop()

    @property
    def at_end(self) -> bool:
        """Whether nothing comes any more."""
        return self.index >= len(self.tokens)

    def peek(self, ahead: int = 0) -> Token | None:
        """The token that comes next, or a later one."""
        place = self.index + ahead
        return self.tokens[place] if place < len(self.tokens) else None

    def sees(self, *words: str) -> bool:
        """Whether these words come next."""
        return all(
            (token := self.peek(ahead)) is not None and token.is_word(word)
            for ahead, word in enumerate(words)
        )

    def sees_symbol(self, symbol: str) -> bool:
        """Whether this sign comes next."""
        token = self.peek()
        return token is not None and token.is_symbol(symbol)

    def accept(self, *words: str) -> bool:
        """Takes these words if they come next."""
        found = self.sees(*words)
        if found:
            self.index += len(words)
        return found

    def accept_symbol(self, symbol: str) -> bool:
        """Takes this sign if it comes next."""
        found = self.sees_symbol(symbol)
        if found:
            self.index += 1
        return found

    def expect(self, *words: str) -> None:
        """Takes these words.

        Raises:
            ParseException: Others come.
        """
        if not self.accept(*words):
            raise self.error()

    def expect_symbol(self, symbol: str) -> None:
        """Takes this sign.

        Raises:
            ParseException: Another comes.
        """
        if not self.accept_symbol(symbol):
            raise self.error()

    def expect_end(self) -> None:
        """Makes sure that nothing comes any more.

        Raises:
            ParseException: Something comes.
        """
        if not self.at_end:
            raise self.error()

    def take(self) -> Token:
        """The token that comes next.

        Raises:
            ParseException: None comes.
        """
        token = self.peek()
        if token is None:
            raise self.error()
        self.index += 1
        return token

    def name(self) -> str:
        """A name of one part."""
        token = self.peek()
        if token is None or not token.is_name:
            raise self.error()
        self.index += 1
        return token.name

    def names(self) -> tuple[str, ...]:
        """A name of any number of parts."""
        parts = [self.name()]
        while self.accept_symbol("."):
            parts.append(self.name())
        return tuple(parts)

    def string(self) -> str:
        """The value of a string literal."""
        token = self.peek()
        if token is None or token.kind is not TokenKind.STRING:
            raise self.error()
        self.index += 1
        return token.value

    def parenthesized(self) -> str:
        """The text between this parenthesis and the one that closes it."""
        opening = self.index
        self.expect_symbol("(")
        closing = closing_index(self.tokens, opening)
        if not self.tokens[closing].is_symbol(")"):
            raise self.error()
        self.index = closing + 1
        return self.text[self.tokens[opening].end : self.tokens[closing].start]

    def rest(self) -> str:
        """The text from here to the end of the statement."""
        token = self.take()
        self.index = len(self.tokens)
        return self.text[token.start : self.tokens[-1].end]

    def error(self) -> ParseException:
        """What is wrong at this place, in Spark's words."""
        token = self.peek()
        where = repr(token.text) if token is not None else "end of input"
        before = self.text[: token.start if token is not None else len(self.text)]
        line = before.count("\n") + 1
        column = len(before) - (before.rfind("\n") + 1)
        return ParseException(
            f"Syntax error at or near {where}. SQLSTATE: 42601 (line {line}, pos {column})"
            f"\n\n== SQL ==\n{self.text}",
            errorClass="PARSE_SYNTAX_ERROR",
            messageParameters={"error": where, "hint": ""},
        )
