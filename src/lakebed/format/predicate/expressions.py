"""What is a predicate, and an expression over a row, as a value?

Every node knows its type (`expression.type`). A tree is built by `predicate_parser`, which puts the
casts that Spark's coercion asks for into it, so an evaluator meets operands of one type only.

Invariants: the operands of a Comparison, an InList and an Arithmetic have one type, nullability
aside; And and Or have at least two operands and no operand of their own class.

The surprising thing: there is no "not equal". It is Not(Comparison("=")), which under
three-valued logic is the same.
"""

import enum
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from decimal import Decimal

from lakebed.format.types import AtomicType, DataType, TypeRoot

__all__ = [
    "BOOLEAN",
    "And",
    "Arithmetic",
    "ArithmeticOperator",
    "Cast",
    "Column",
    "Comparison",
    "ComparisonOperator",
    "Expression",
    "InList",
    "IsNull",
    "Like",
    "Literal",
    "LiteralValue",
    "Negation",
    "Not",
    "Or",
    "children",
    "columns_of",
    "conjunction",
    "conjuncts",
    "disjunction",
    "rename",
    "split_by_columns",
    "transform",
    "walk",
]

BOOLEAN = AtomicType(root=TypeRoot.BOOLEAN)

LiteralValue = bool | int | float | Decimal | str | bytes | None


class ComparisonOperator(enum.StrEnum):
    """How two values are compared; the value is the SQL."""

    EQUAL = "="
    NULL_SAFE_EQUAL = "<=>"
    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="


class ArithmeticOperator(enum.StrEnum):
    """How two numbers become one; the value is the SQL."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"


@dataclass(frozen=True, slots=True)
class Column:
    """A column, or a field inside a ROW column.

    Attributes:
        path: The column's name, then the names of fields inside it.
        type: The type of what the path leads to.
    """

    path: tuple[str, ...]
    type: DataType


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant.

    Attributes:
        value: As `pyarrow.scalar` takes it for the type: a DATE is days, a TIME milliseconds, a
            timestamp a count of its unit (seconds, milliseconds, microseconds, nanoseconds).
        type: The type; of an untyped NULL, BOOLEAN.
    """

    value: LiteralValue
    type: AtomicType


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two values of one type, compared: NaN equals itself and is greatest, text is bytes."""

    operator: ComparisonOperator
    left: "Expression"
    right: "Expression"

    @property
    def type(self) -> AtomicType:
        """BOOLEAN."""
        return BOOLEAN


@dataclass(frozen=True, slots=True)
class InList:
    """Whether a value equals one of the items; unknown when it does not and an item is null."""

    operand: "Expression"
    items: "tuple[Expression, ...]"

    @property
    def type(self) -> AtomicType:
        """BOOLEAN."""
        return BOOLEAN


@dataclass(frozen=True, slots=True)
class Like:
    """Whether text matches a pattern of `%` (any run) and `_` (any one character).

    Attributes:
        operand: Text.
        pattern: The pattern; None when it is NULL.
        escape: The character that makes `%`, `_` and itself literal.
    """

    operand: "Expression"
    pattern: str | None
    escape: str = "\\"

    @property
    def type(self) -> AtomicType:
        """BOOLEAN."""
        return BOOLEAN


@dataclass(frozen=True, slots=True)
class IsNull:
    """Whether a value is null; never unknown."""

    operand: "Expression"

    @property
    def type(self) -> AtomicType:
        """BOOLEAN."""
        return BOOLEAN


@dataclass(frozen=True, slots=True)
class And:
    """All operands hold; an operand is asked only of rows that earlier ones did not refuse."""

    operands: "tuple[Expression, ...]"

    @property
    def type(self) -> AtomicType:
        """BOOLEAN."""
        return BOOLEAN


@dataclass(frozen=True, slots=True)
class Or:
    """One operand holds; an operand is asked only of rows that earlier ones did not accept."""

    operands: "tuple[Expression, ...]"

    @property
    def type(self) -> AtomicType:
        """BOOLEAN."""
        return BOOLEAN


@dataclass(frozen=True, slots=True)
class Not:
    """The operand does not hold."""

    operand: "Expression"

    @property
    def type(self) -> AtomicType:
        """BOOLEAN."""
        return BOOLEAN


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Two numbers of one family; DECIMAL operands may differ in precision and scale.

    Attributes:
        operator: What to do.
        left: The first number.
        right: The second.
        type: The type of the result; overflow of it is an error.
    """

    operator: ArithmeticOperator
    left: "Expression"
    right: "Expression"
    type: AtomicType


@dataclass(frozen=True, slots=True)
class Negation:
    """A number with its sign turned."""

    operand: "Expression"
    type: AtomicType


@dataclass(frozen=True, slots=True)
class Cast:
    """A value as another type, under ANSI rules: what does not fit is an error.

    Attributes:
        operand: The value.
        type: The type asked for.
        time_zone: Where a local time becomes an instant, and back.
    """

    operand: "Expression"
    type: AtomicType
    time_zone: tzinfo


Expression = (
    Column
    | Literal
    | Comparison
    | InList
    | Like
    | IsNull
    | And
    | Or
    | Not
    | Arithmetic
    | Negation
    | Cast
)


def children(expression: Expression) -> "tuple[Expression, ...]":
    """The direct parts of an expression, in the order of its text."""
    match expression:
        case Column() | Literal():
            return ()
        case Comparison() | Arithmetic():
            return (expression.left, expression.right)
        case InList():
            return (expression.operand, *expression.items)
        case And() | Or():
            return expression.operands
        case _:
            return (expression.operand,)


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and everything inside it."""
    yield expression
    for child in children(expression):
        yield from walk(child)


def transform(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The expression with every node replaced by what `change` makes of it, parts first."""
    parts = tuple(transform(child, change) for child in children(expression))
    return change(_with_children(expression, parts))


def _with_children(expression: Expression, parts: "tuple[Expression, ...]") -> Expression:
    match expression:
        case Column() | Literal():
            return expression
        case Comparison() | Arithmetic():
            return replace(expression, left=parts[0], right=parts[1])
        case InList():
            return InList(parts[0], parts[1:])
        case And() | Or():
            return replace(expression, operands=parts)
        case _:
            return replace(expression, operand=parts[0])


def columns_of(expression: Expression) -> set[str]:
    """The names of the top-level columns that an expression reads."""
    return {node.path[0] for node in walk(expression) if isinstance(node, Column)}


def rename(expression: Expression, names: Mapping[str, str]) -> Expression:
    """The expression over columns of other names; columns that `names` lacks keep theirs."""

    def renamed(node: Expression) -> Expression:
        if isinstance(node, Column) and node.path[0] in names:
            return replace(node, path=(names[node.path[0]], *node.path[1:]))
        return node

    return transform(expression, renamed)


def conjuncts(predicate: Expression | None) -> list[Expression]:
    """Predicates that all hold where the predicate holds, and only there."""
    if predicate is None:
        return []
    return list(predicate.operands) if isinstance(predicate, And) else [predicate]


def conjunction(predicates: Sequence[Expression]) -> Expression | None:
    """One predicate that holds where all do; None, which is every row, of none."""
    flat = tuple(part for predicate in predicates for part in conjuncts(predicate))
    return flat[0] if len(flat) == 1 else And(flat) if flat else None


def disjunction(predicates: Sequence[Expression]) -> Expression:
    """One predicate that holds where any does."""
    flat: list[Expression] = []
    for predicate in predicates:
        flat.extend(predicate.operands if isinstance(predicate, Or) else (predicate,))
    return flat[0] if len(flat) == 1 else Or(tuple(flat))


def split_by_columns(
    predicate: Expression | None, names: Collection[str]
) -> tuple[Expression | None, Expression | None]:
    """The predicate in two parts that must both hold: over those columns alone, and the rest.

    A part that reads no column at all belongs to the rest.
    """
    inside: list[Expression] = []
    outside: list[Expression] = []
    for part in conjuncts(predicate):
        columns = columns_of(part)
        (inside if columns and columns <= set(names) else outside).append(part)
    return conjunction(inside), conjunction(outside)
