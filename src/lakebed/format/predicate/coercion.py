"""Which types may meet in an expression, and which casts does Spark put between them?

The rules are those of Spark 4 in ANSI mode. Text that meets another type is cast to it; numbers
widen; DATE meets a timestamp as one; TIMESTAMP meets TIMESTAMP WITH LOCAL TIME ZONE as an instant
of the time zone.

The surprising thing: comparing DECIMALs may need up to 76 digits here, where Spark stays at 38 and
fails on values that do not fit. The comparison is exact; a column never has such a type.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from functools import reduce

from lakebed.format.predicate.evaluation import fold
from lakebed.format.predicate.evaluation_casts import can_cast
from lakebed.format.predicate.expressions import (
    Arithmetic,
    ArithmeticOperator,
    Cast,
    Comparison,
    ComparisonOperator,
    Expression,
    InList,
    Like,
    Literal,
    Negation,
)
from lakebed.format.predicate.text import type_name
from lakebed.format.types import MAX_LENGTH, AtomicType, DataType, TypeRoot, with_nullability

__all__ = ["STRING", "Coercion", "TypeMismatchError", "common_type"]

STRING = AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH)
_BIGINT = AtomicType(root=TypeRoot.BIGINT)
_DOUBLE = AtomicType(root=TypeRoot.DOUBLE)
_FLOAT = AtomicType(root=TypeRoot.FLOAT)

_INTEGERS = (TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT)
_INTEGER_DIGITS = dict(zip(_INTEGERS, (3, 5, 10, 20), strict=True))
_FLOATS = (TypeRoot.FLOAT, TypeRoot.DOUBLE)
_NUMBERS = (*_INTEGERS, *_FLOATS, TypeRoot.DECIMAL)
_TEXTS = (TypeRoot.CHAR, TypeRoot.VARCHAR)
_BYTES = (TypeRoot.BINARY, TypeRoot.VARBINARY)
_TIMESTAMPS = (TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ)
_DAYS = (TypeRoot.DATE, *_TIMESTAMPS)
_INCOMPARABLE = (TypeRoot.VARIANT, TypeRoot.BLOB)

_DECIMAL_DIGITS_MAX = 38
# When a result needs more digits than there are, at least so many stay behind the point.
_DECIMAL_SCALE_KEPT = 6
_MICROSECOND_PRECISION = 6


class TypeMismatchError(ValueError):
    """Operands whose types cannot meet; the parser adds where."""


def common_type(left: AtomicType, right: AtomicType) -> AtomicType | None:
    """The type as which values of two types are compared; None when they cannot be."""
    if left.root in _INCOMPARABLE or right.root in _INCOMPARABLE:
        return None
    if left.root in _NUMBERS and right.root in _NUMBERS:
        return _common_number(left, right)
    if left.root in _DAYS and right.root in _DAYS:
        return _common_day(left, right)
    for text, other in ((left, right), (right, left)):
        if text.root in _TEXTS:
            return _met_by_text(other)
    if left.root in _BYTES and right.root in _BYTES:
        return AtomicType(root=TypeRoot.VARBINARY, length=MAX_LENGTH)
    return AtomicType(root=left.root, precision=left.precision) if left.root is right.root else None


def _met_by_text(other: AtomicType) -> AtomicType:
    if other.root in _TEXTS:
        return STRING
    if other.root in _INTEGERS:
        return _BIGINT
    if other.root in (*_FLOATS, TypeRoot.DECIMAL):
        return _DOUBLE
    if other.root in _TIMESTAMPS:
        precision = max(other.precision or 0, _MICROSECOND_PRECISION)
        return AtomicType(root=other.root, precision=precision)
    return _nullable(other)


def _common_number(left: AtomicType, right: AtomicType) -> AtomicType:
    if left.root in _FLOATS or right.root in _FLOATS:
        return _FLOAT if left.root is right.root is TypeRoot.FLOAT else _DOUBLE
    if TypeRoot.DECIMAL in (left.root, right.root):
        one, other = _digits(left), _digits(right)
        scale = max(one[1], other[1])
        return _decimal(max(one[0] - one[1], other[0] - other[1]) + scale, scale)
    return AtomicType(root=max(left.root, right.root, key=_INTEGERS.index))


def _common_day(left: AtomicType, right: AtomicType) -> AtomicType:
    if left.root is right.root is TypeRoot.DATE:
        return AtomicType(root=TypeRoot.DATE)
    is_instant = TypeRoot.TIMESTAMP_LTZ in (left.root, right.root)
    precision = max(left.precision or 0, right.precision or 0)
    root = TypeRoot.TIMESTAMP_LTZ if is_instant else TypeRoot.TIMESTAMP
    return AtomicType(root=root, precision=precision)


def _digits(kind: AtomicType) -> tuple[int, int]:
    """Precision and scale of a DECIMAL, or of the one that holds an integer type."""
    if kind.root is TypeRoot.DECIMAL:
        return kind.precision or 0, kind.scale or 0
    return _INTEGER_DIGITS[kind.root], 0


def _decimal(precision: int, scale: int) -> AtomicType:
    return AtomicType(root=TypeRoot.DECIMAL, precision=precision, scale=scale)


def _decimal_result(
    operator: ArithmeticOperator, left: AtomicType, right: AtomicType
) -> AtomicType:
    (left_precision, left_scale), (right_precision, right_scale) = _digits(left), _digits(right)
    match operator:
        case ArithmeticOperator.MULTIPLY:
            scale = left_scale + right_scale
            precision = left_precision + right_precision + 1
        case ArithmeticOperator.DIVIDE:
            scale = max(_DECIMAL_SCALE_KEPT, left_scale + right_precision + 1)
            precision = left_precision - left_scale + right_scale + scale
        case _:
            scale = max(left_scale, right_scale)
            whole = max(left_precision - left_scale, right_precision - right_scale)
            precision = whole + scale + 1
    if precision <= _DECIMAL_DIGITS_MAX:
        return _decimal(precision, scale)
    kept = max(_DECIMAL_DIGITS_MAX - (precision - scale), min(scale, _DECIMAL_SCALE_KEPT))
    return _decimal(_DECIMAL_DIGITS_MAX, kept)


def _nullable(kind: AtomicType) -> AtomicType:
    return replace(kind, nullable=True)


def _is_null(expression: Expression) -> bool:
    return isinstance(expression, Literal) and expression.value is None


def _is_number(kind: DataType) -> bool:
    return isinstance(kind, AtomicType) and kind.root in _NUMBERS


def _is_whole_number(expression: Expression) -> bool:
    return isinstance(expression, Literal) and expression.type.root in _INTEGERS


def _atomic(expression: Expression) -> AtomicType:
    kind = expression.type
    if not isinstance(kind, AtomicType):
        raise TypeMismatchError(f"{type_name(kind)} has no single value; name a field inside it")
    return kind


def _as_decimal(operand: Expression) -> AtomicType:
    """The DECIMAL that an operand becomes: of an integer constant, with just its digits."""
    kind = _atomic(operand)
    if isinstance(operand, Literal) and _is_whole_number(operand):
        return _decimal(len(str(operand.value).lstrip("-")), 0)
    return _decimal(*_digits(kind))


def _holds_as_is(source: AtomicType, target: AtomicType) -> bool:
    """Whether every value of one type is the same value of the other, unlimited, one."""
    return (source.root in _TEXTS and target.root is TypeRoot.VARCHAR) or (
        source.root in _BYTES and target.root in _BYTES
    )


def _is_assignable(source: AtomicType, target: AtomicType) -> bool:
    return (
        source.root is target.root
        or target.root in _TEXTS
        or any(
            source.root in family and target.root in family for family in (_NUMBERS, _BYTES, _DAYS)
        )
    )


def _char_width(part: Expression) -> int | None:
    """To how many characters a part asks its peers to grow; None of text that never grows."""
    if isinstance(part, Literal):
        return len(part.value) if isinstance(part.value, str) else 0
    kind = _atomic(part)
    return kind.length if kind.root is TypeRoot.CHAR else None


@dataclass(frozen=True, slots=True)
class Coercion:
    """Builds typed expressions, with the casts that the types of their parts ask for.

    Attributes:
        time_zone: Where local times become instants.
    """

    time_zone: tzinfo

    def compare(
        self, operator: ComparisonOperator, left: Expression, right: Expression
    ) -> Expression:
        """The comparison of two values.

        Raises:
            TypeMismatchError: When their types cannot be compared.
        """
        one, other = self._unified((left, right), f"compared by {operator}")
        return fold(Comparison(operator, one, other))

    def is_in(self, operand: Expression, items: Sequence[Expression]) -> Expression:
        """Whether a value is one of others.

        Raises:
            TypeMismatchError: When their types cannot be compared.
        """
        unified = self._unified((operand, *items), "compared by IN")
        return fold(InList(unified[0], unified[1:]))

    def like(self, operand: Expression, pattern: str | None, escape: str) -> Expression:
        """Whether text matches a pattern; other types are printed first.

        Raises:
            TypeMismatchError: When the operand cannot be printed.
        """
        return fold(Like(self.cast(operand, STRING), pattern, escape))

    def condition(self, expression: Expression, place: str) -> Expression:
        """The expression, which must be BOOLEAN to stand in a place.

        Raises:
            TypeMismatchError: When it is not.
        """
        if _is_null(expression):
            return Literal(None, AtomicType(root=TypeRoot.BOOLEAN))
        if isinstance(expression.type, AtomicType) and expression.type.root is TypeRoot.BOOLEAN:
            return expression
        raise TypeMismatchError(
            f"{place} must be a condition, BOOLEAN, and this is {type_name(expression.type)}"
        )

    def cast(self, expression: Expression, target: AtomicType) -> Expression:
        """The expression as another type; itself when it has that type already.

        Raises:
            TypeMismatchError: When no value of its type can become one of the target.
        """
        if isinstance(expression, Literal) and expression.value is None:
            return Literal(None, _nullable(target))
        if with_nullability(expression.type, nullable=True) == _nullable(target):
            return expression
        source = expression.type
        if not isinstance(source, AtomicType) or not can_cast(source, target):
            raise TypeMismatchError(f"{type_name(source)} cannot become {type_name(target)}")
        if _holds_as_is(source, target):
            return expression
        return fold(Cast(expression, _nullable(target), self.time_zone))

    def assign(self, expression: Expression, target: DataType) -> Expression:
        """The expression as a column of a type stores it, under Spark's ANSI store assignment.

        Raises:
            TypeMismatchError: When the column does not take such values.
        """
        source = expression.type
        if with_nullability(source, nullable=True) == with_nullability(target, nullable=True):
            return expression
        if isinstance(target, AtomicType) and (
            _is_null(expression)
            or (isinstance(source, AtomicType) and _is_assignable(source, target))
        ):
            return self.cast(expression, target)
        raise TypeMismatchError(
            f"{type_name(source)} cannot be stored as {type_name(target)}; "
            "write CAST(... AS ...) where that is meant"
        )

    def arithmetic(
        self, operator: ArithmeticOperator, left: Expression, right: Expression
    ) -> Expression:
        """The sum, difference, product or quotient of two numbers.

        Raises:
            TypeMismatchError: When one is no number.
        """
        one, other = self._numbers(operator, left, right)
        kinds = _atomic(one), _atomic(other)
        roots = {kinds[0].root, kinds[1].root}
        if TypeRoot.DECIMAL in roots and roots.isdisjoint(_FLOATS):
            one = self.cast(one, _as_decimal(one))
            other = self.cast(other, _as_decimal(other))
            result = _decimal_result(operator, _atomic(one), _atomic(other))
            return fold(Arithmetic(operator, one, other, result))
        common = _DOUBLE if operator is ArithmeticOperator.DIVIDE else _common_number(*kinds)
        return fold(Arithmetic(operator, self.cast(one, common), self.cast(other, common), common))

    def negate(self, operand: Expression) -> Expression:
        """The number with its sign turned.

        Raises:
            TypeMismatchError: When it is no number.
        """
        kind = operand.type
        if isinstance(kind, AtomicType) and kind.root in _TEXTS:
            operand, kind = self.cast(operand, _DOUBLE), _DOUBLE
        if _is_null(operand):
            return Literal(None, AtomicType(root=TypeRoot.INT))
        if not _is_number(kind):
            raise TypeMismatchError(f"- takes a number, and this is {type_name(kind)}")
        return fold(Negation(operand, _nullable(_atomic(operand))))

    def _numbers(
        self, operator: ArithmeticOperator, left: Expression, right: Expression
    ) -> tuple[Expression, Expression]:
        """Both operands as numbers: text and NULL take after the other one."""
        for operand in (left, right):
            kind = operand.type
            is_text = isinstance(kind, AtomicType) and kind.root in _TEXTS
            if not (is_text or _is_null(operand) or _is_number(kind)):
                raise TypeMismatchError(f"{operator} takes numbers, and this is {type_name(kind)}")
        return self._as_number(left, beside=right), self._as_number(right, beside=left)

    def _as_number(self, operand: Expression, *, beside: Expression) -> Expression:
        if _is_number(operand.type):
            return operand
        if _is_null(operand):
            is_typed = _is_number(beside.type)
            return self.cast(
                operand, _atomic(beside) if is_typed else AtomicType(root=TypeRoot.INT)
            )
        is_integer = not _is_null(beside) and _atomic(beside).root in _INTEGERS
        return self.cast(operand, _BIGINT if is_integer else _DOUBLE)

    def _unified(self, parts: Sequence[Expression], purpose: str) -> tuple[Expression, ...]:
        typed = [part for part in parts if not _is_null(part)]
        for part in typed:
            if not isinstance(part.type, AtomicType):
                raise TypeMismatchError(
                    f"{type_name(part.type)} cannot be {purpose}; name a field inside it"
                )
        if not typed:
            return tuple(parts)
        has_decimal = any(_atomic(part).root is TypeRoot.DECIMAL for part in typed)
        kinds = [
            _as_decimal(part) if has_decimal and _is_whole_number(part) else _atomic(part)
            for part in typed
        ]
        target = reduce(self._met, kinds)
        if target.root in _INCOMPARABLE:
            raise TypeMismatchError(f"{type_name(target)} cannot be {purpose}")
        if target.root is TypeRoot.VARCHAR and any(k.root is TypeRoot.CHAR for k in kinds):
            return tuple(self._padded(parts))
        return tuple(self.cast(part, target) for part in parts)

    def _met(self, left: AtomicType, right: AtomicType) -> AtomicType:
        met = common_type(left, right)
        if met is None:
            raise TypeMismatchError(
                f"{type_name(left)} and {type_name(right)} cannot be compared; "
                "CAST one to the type of the other"
            )
        return met

    def _padded(self, parts: Sequence[Expression]) -> list[Expression]:
        """CHAR compares with its blanks: constants and other CHARs grow to the longest.

        A column is padded even when it has that length: other engines store CHAR without blanks.
        """
        widths = [_char_width(part) for part in parts]
        width = max(found for found in widths if found is not None)
        target = AtomicType(root=TypeRoot.CHAR, length=width)
        return [
            part if own is None else fold(Cast(part, target, self.time_zone))
            for part, own in zip(parts, widths, strict=True)
        ]
