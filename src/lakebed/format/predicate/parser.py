"""Which expression is a text in Spark's SQL?

The grammar, loosest first, with Spark's precedence:

    condition   = conjunction { OR conjunction }
    conjunction = negation { AND negation }
    negation    = (NOT | !) negation | test
    test        = comparison [ [NOT] BETWEEN comparison AND comparison
                             | [NOT] IN ( condition, ... ) | [NOT] LIKE text [ESCAPE text]
                             | IS [NOT] NULL ]
    comparison  = sum { (= == <=> != <> < <= > >=) sum }
    sum         = product { (+ -) product }
    product     = sign { (* /) sign }
    sign        = (- +) sign | value
    value       = literal | CAST ( condition AS type ) | name { . name } | ( condition )

Everything else is refused at its token. Types are settled while parsing (`predicate_coercion`), and
constants computed, so the result never holds an operation over constants alone.
"""

from collections.abc import Callable
from datetime import tzinfo

from lakebed.errors import InvalidArgumentError
from lakebed.format.predicate.coercion import STRING, Coercion, TypeMismatchError
from lakebed.format.predicate.columns import find_field
from lakebed.format.predicate.evaluation import fold
from lakebed.format.predicate.expressions import (
    ArithmeticOperator,
    Column,
    ComparisonOperator,
    Expression,
    IsNull,
    Literal,
    Not,
    conjunction,
    disjunction,
)
from lakebed.format.predicate.literals import (
    TYPED_TEXTS,
    binary_literal,
    named_type,
    number_literal,
    typed_text,
)
from lakebed.format.predicate.text import type_name
from lakebed.format.predicate.tokens import Token, TokenKind, TokenStream, syntax_error, text_value
from lakebed.format.types import AtomicType, DataField, DataType, RowType, TypeRoot

__all__ = ["parse_expression", "parse_predicate"]

_COMPARISONS = {
    "=": ComparisonOperator.EQUAL,
    "==": ComparisonOperator.EQUAL,
    "<=>": ComparisonOperator.NULL_SAFE_EQUAL,
    "<": ComparisonOperator.LESS,
    "<=": ComparisonOperator.LESS_OR_EQUAL,
    ">": ComparisonOperator.GREATER,
    ">=": ComparisonOperator.GREATER_OR_EQUAL,
}
_NOT_EQUAL = ("!=", "<>")
_DEPTH_MAX = 50
_BOOLEAN = AtomicType(root=TypeRoot.BOOLEAN)
_CONSTANT_WORDS: dict[str, bool | None] = {"TRUE": True, "FALSE": False, "NULL": None}
# Words that begin or join a test; a column of such a name needs backticks.
_RESERVED = ("AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "IS", "ESCAPE")


def parse_predicate(
    text: str, row_type: RowType, *, time_zone: tzinfo, case_sensitive: bool = True
) -> Expression:
    """The condition that a text means for rows of a type.

    Args:
        text: What may stand behind WHERE.
        row_type: The columns.
        time_zone: Where timestamps without zone meet instants.
        case_sensitive: Whether names of columns match exactly.

    Raises:
        InvalidArgumentError: When the text is no such expression, names an unknown column, or is
            not BOOLEAN. The message points at the place.
    """
    parser = _Parser(text, row_type, time_zone=time_zone, case_sensitive=case_sensitive)
    return parser.whole(lambda found: parser.coercion.condition(found, "the predicate"))


def parse_expression(
    text: str,
    row_type: RowType,
    *,
    time_zone: tzinfo,
    case_sensitive: bool = True,
    assigned_to: DataType | None = None,
) -> Expression:
    """The expression that a text means for rows of a type.

    Args:
        text: What may stand behind SET column =.
        row_type: The columns.
        time_zone: Where timestamps without zone meet instants.
        case_sensitive: Whether names of columns match exactly.
        assigned_to: The type of the column that takes the value: the result is cast to it, where
            Spark's store assignment allows it.

    Raises:
        InvalidArgumentError: When the text is no such expression, names an unknown column, or its
            value cannot be stored in that type. The message points at the place.
    """
    parser = _Parser(text, row_type, time_zone=time_zone, case_sensitive=case_sensitive)
    if assigned_to is None:
        return parser.whole(lambda found: found)
    return parser.whole(lambda found: parser.coercion.assign(found, assigned_to))


class _Parser:
    def __init__(
        self, text: str, row_type: RowType, *, time_zone: tzinfo, case_sensitive: bool
    ) -> None:
        self.coercion = Coercion(time_zone)
        self._text = text
        self._row_type = row_type
        self._case_sensitive = case_sensitive
        self._tokens = TokenStream(text)
        self._depth = 0

    def whole(self, finish: Callable[[Expression], Expression]) -> Expression:
        """The expression that the whole text is."""
        first = self._tokens.current
        if first.kind is TokenKind.END:
            raise syntax_error(self._text, first, "the expression is empty")
        found = self._condition()
        if self._tokens.current.kind is not TokenKind.END:
            raise self._tokens.unexpected("an operator, or the end")
        return self._typed(first, lambda: finish(found))

    def _typed(self, token: Token, build: Callable[[], Expression]) -> Expression:
        """What `build` makes, its errors pointing at a token."""
        try:
            return build()
        except TypeMismatchError as exc:
            raise syntax_error(self._text, token, str(exc)) from exc
        except InvalidArgumentError as exc:
            raise syntax_error(self._text, token, str(exc)) from exc

    def _condition(self) -> Expression:
        parts = [self._conjunction()]
        while token := self._tokens.take_word("OR"):
            left, right = self._as_condition(token, parts.pop()), self._conjunction()
            parts.extend((left, self._as_condition(token, right)))
        return fold(disjunction(parts))

    def _conjunction(self) -> Expression:
        parts = [self._negation()]
        while token := self._tokens.take_word("AND"):
            left, right = self._as_condition(token, parts.pop()), self._negation()
            parts.extend((left, self._as_condition(token, right)))
        return fold(conjunction(parts) or parts[0])

    def _as_condition(self, token: Token, found: Expression) -> Expression:
        place = f"an operand of {token.text.upper()}"
        return self._typed(token, lambda: self.coercion.condition(found, place))

    def _negation(self) -> Expression:
        token = self._tokens.take_word("NOT") or self._tokens.take_sign("!")
        if token is None:
            return self._test()
        return fold(Not(self._as_condition(token, self._nested(token, self._negation))))

    def _test(self) -> Expression:
        operand = self._comparison()
        if token := self._tokens.take_word("IS"):
            is_negated = self._tokens.take_word("NOT") is not None
            self._tokens.need_word("NULL")
            return _negated(fold(IsNull(operand)), is_negated=is_negated)
        is_negated = self._tokens.take_word("NOT") is not None
        if token := self._tokens.take_word("BETWEEN"):
            return _negated(self._between(token, operand), is_negated=is_negated)
        if token := self._tokens.take_word("IN"):
            return _negated(self._in(token, operand), is_negated=is_negated)
        if token := self._tokens.take_word("LIKE"):
            return _negated(self._like(token, operand), is_negated=is_negated)
        if is_negated:
            raise self._tokens.unexpected("BETWEEN, IN or LIKE behind NOT")
        return operand

    def _between(self, token: Token, operand: Expression) -> Expression:
        low = self._comparison()
        self._tokens.need_word("AND")
        high = self._comparison()
        compare = self.coercion.compare

        def build() -> Expression:
            from_low = compare(ComparisonOperator.GREATER_OR_EQUAL, operand, low)
            to_high = compare(ComparisonOperator.LESS_OR_EQUAL, operand, high)
            return fold(conjunction([from_low, to_high]) or from_low)

        return self._typed(token, build)

    def _in(self, token: Token, operand: Expression) -> Expression:
        self._tokens.need_sign("(")
        items = [self._condition()]
        while self._tokens.take_sign(","):
            items.append(self._condition())
        self._tokens.need_sign(")")
        return self._typed(token, lambda: self.coercion.is_in(operand, items))

    def _like(self, token: Token, operand: Expression) -> Expression:
        pattern = (
            None if self._tokens.take_word("NULL") else self._plain_text("a text as the pattern")
        )
        escape = "\\"
        if self._tokens.take_word("ESCAPE"):
            place = self._tokens.current
            escape = self._plain_text("a text of one character")
            if len(escape) != 1:
                raise syntax_error(
                    self._text, place, f"ESCAPE takes one character, not {len(escape)}"
                )
        return self._typed(token, lambda: self.coercion.like(operand, pattern, escape))

    def _plain_text(self, expected: str) -> str:
        if self._tokens.current.kind is not TokenKind.TEXT:
            raise self._tokens.unexpected(expected)
        return "".join(self._adjacent_texts())

    def _adjacent_texts(self) -> list[str]:
        texts: list[str] = []
        while self._tokens.current.kind is TokenKind.TEXT:
            texts.append(text_value(self._tokens.next()))
        return texts

    def _comparison(self) -> Expression:
        left = self._sum()
        while token := self._tokens.take_sign(*_COMPARISONS, *_NOT_EQUAL):
            left = self._compared(token, left, self._sum())
        return left

    def _compared(self, token: Token, left: Expression, right: Expression) -> Expression:
        operator = _COMPARISONS.get(token.text, ComparisonOperator.EQUAL)
        found = self._typed(token, lambda: self.coercion.compare(operator, left, right))
        return _negated(found, is_negated=token.text in _NOT_EQUAL)

    def _sum(self) -> Expression:
        return self._chain(("+", "-"), self._product)

    def _product(self) -> Expression:
        return self._chain(("*", "/"), self._sign)

    def _chain(self, signs: tuple[str, str], part: Callable[[], Expression]) -> Expression:
        left = part()
        length = 0
        while token := self._tokens.take_sign(*signs):
            length += 1
            if length > _DEPTH_MAX:
                raise self._too_deep(token)
            left = self._calculated(token, left, part())
        return left

    def _calculated(self, token: Token, left: Expression, right: Expression) -> Expression:
        operator = ArithmeticOperator(token.text)
        return self._typed(token, lambda: self.coercion.arithmetic(operator, left, right))

    def _sign(self) -> Expression:
        token = self._tokens.take_sign("-", "+")
        if token is None:
            return self._value()
        if token.text == "-" and self._tokens.current.kind is TokenKind.NUMBER:
            number = self._tokens.next()
            return self._typed(number, lambda: number_literal("-" + number.text))
        operand = self._nested(token, self._sign)
        if token.text == "-":
            return self._typed(token, lambda: self.coercion.negate(operand))
        return operand

    def _value(self) -> Expression:
        token = self._tokens.current
        if token.is_sign("("):
            self._tokens.next()
            inner = self._nested(token, self._condition)
            self._tokens.need_sign(")")
            return inner
        if token.kind is TokenKind.TEXT:
            return Literal("".join(self._adjacent_texts()), STRING)
        if token.kind is TokenKind.NUMBER:
            self._tokens.next()
            return self._typed(token, lambda: number_literal(token.text))
        if token.kind is TokenKind.HEX:
            self._tokens.next()
            return self._typed(token, lambda: binary_literal(token))
        if token.kind is TokenKind.WORD:
            return self._word()
        if token.kind is TokenKind.QUOTED:
            return self._column()
        raise self._tokens.unexpected("a value")

    def _word(self) -> Expression:
        token = self._tokens.current
        following = self._tokens.following
        if token.is_word(*_CONSTANT_WORDS) and not following.is_sign("."):
            self._tokens.next()
            return Literal(_CONSTANT_WORDS[token.text.upper()], _BOOLEAN)
        if token.is_word(*TYPED_TEXTS) and following.kind is TokenKind.TEXT:
            self._tokens.next()
            text = "".join(self._adjacent_texts())
            zone = self.coercion.time_zone
            return self._typed(following, lambda: typed_text(token.text.upper(), text, zone))
        if token.is_word("CAST") and following.is_sign("("):
            return self._cast()
        if following.is_sign("("):
            problem = f"the function {token.text} is not understood"
            raise syntax_error(self._text, token, problem)
        if token.is_word(*_RESERVED):
            raise self._tokens.unexpected("a value")
        return self._column()

    def _cast(self) -> Expression:
        token = self._tokens.next()
        self._tokens.need_sign("(")
        operand = self._nested(token, self._condition)
        self._tokens.need_word("AS")
        target = self._type()
        self._tokens.need_sign(")")
        return self._typed(token, lambda: self.coercion.cast(operand, target))

    def _type(self) -> AtomicType:
        token = self._tokens.current
        if token.kind is not TokenKind.WORD:
            raise self._tokens.unexpected("the name of a type")
        self._tokens.next()
        numbers: list[int] = []
        if self._tokens.take_sign("("):
            numbers.append(self._whole_number())
            while self._tokens.take_sign(","):
                numbers.append(self._whole_number())
            self._tokens.need_sign(")")
        try:
            return named_type(token.text, numbers)
        except TypeMismatchError as exc:
            raise syntax_error(self._text, token, str(exc)) from exc

    def _whole_number(self) -> int:
        if (
            self._tokens.current.kind is not TokenKind.NUMBER
            or not self._tokens.current.text.isdigit()
        ):
            raise self._tokens.unexpected("a whole number")
        return int(self._tokens.next().text)

    def _column(self) -> Expression:
        token = self._tokens.next()
        field = self._field(self._row_type, token, "column")
        path = [field.name]
        kind = field.type
        while self._tokens.take_sign("."):
            part = self._tokens.current
            if part.kind not in (TokenKind.WORD, TokenKind.QUOTED):
                raise self._tokens.unexpected("the name of a field")
            self._tokens.next()
            if not isinstance(kind, RowType):
                name = ".".join(path)
                problem = f"{name} is {type_name(kind)} and has no fields"
                raise syntax_error(self._text, part, problem)
            field = self._field(kind, part, f"field of {'.'.join(path)}")
            path.append(field.name)
            kind = field.type
        return Column(tuple(path), kind)

    def _field(self, row_type: RowType, token: Token, what: str) -> DataField:
        try:
            return find_field(row_type, token.text, what=what, case_sensitive=self._case_sensitive)
        except TypeMismatchError as exc:
            raise syntax_error(self._text, token, str(exc)) from exc

    def _nested(self, token: Token, part: Callable[[], Expression]) -> Expression:
        """A part one level down; the depth is bounded, as Python's stack is."""
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise self._too_deep(token)
        found = part()
        self._depth -= 1
        return found

    def _too_deep(self, token: Token) -> InvalidArgumentError:
        return syntax_error(
            self._text, token, f"the expression is nested more than {_DEPTH_MAX} levels deep"
        )


def _negated(found: Expression, *, is_negated: bool) -> Expression:
    return fold(Not(found)) if is_negated else found
