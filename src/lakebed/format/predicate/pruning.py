"""Which files may hold a row for which a predicate is true, going by their statistics?

For every file each condition has two flags: some row may make it TRUE, some row may make it FALSE.
NOT swaps them, so nothing has to be pushed through it; unknown needs no flag. A flag is False only
when the statistics prove it, so a file that is left out holds no row of the answer.

Two surprising things. Bounds are bounds, never values: long text is cut when they are written. And
NaN hides from them: the format counts it as the greatest value, but writers exist that leave it
out, so no upper bound proves that a FLOAT or DOUBLE is not above a number.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import InvalidArgumentError
from lakebed.format.arrow.compute import Values
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.predicate.evaluation import evaluate
from lakebed.format.predicate.evaluation_casts import keeps_order, value_arrow_type
from lakebed.format.predicate.expressions import (
    BOOLEAN,
    And,
    Cast,
    Column,
    Comparison,
    ComparisonOperator,
    Expression,
    InList,
    IsNull,
    Like,
    Literal,
    Not,
    Or,
    transform,
)
from lakebed.format.predicate.like_pattern import like_prefix
from lakebed.format.statistics.bounds import ColumnBounds
from lakebed.format.types import MAX_LENGTH, AtomicType, TypeRoot

__all__ = ["may_match"]

Flags = npt.NDArray[np.bool_]

_FLOATS = (TypeRoot.FLOAT, TypeRoot.DOUBLE)
_STRING = AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH)
_LOW, _HIGH = "low", "high"
_FLIPPED = {
    ComparisonOperator.LESS: ComparisonOperator.GREATER,
    ComparisonOperator.LESS_OR_EQUAL: ComparisonOperator.GREATER_OR_EQUAL,
    ComparisonOperator.GREATER: ComparisonOperator.LESS,
    ComparisonOperator.GREATER_OR_EQUAL: ComparisonOperator.LESS_OR_EQUAL,
}


def may_match(
    predicate: Expression, bounds: Mapping[str, ColumnBounds], row_counts: npt.NDArray[np.int64]
) -> Flags:
    """Which of many files may hold a row for which a predicate is TRUE.

    Args:
        predicate: Over columns of the table.
        bounds: What is known of columns, one value a file; a column that is missing is unknown.
        row_counts: How many rows each file has.

    Returns:
        One flag a file; False only where no row can match.
    """
    return _Files(bounds, np.asarray(row_counts, dtype=np.int64)).outcome(predicate).may_be_true


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What the rows of each file may make of a condition."""

    may_be_true: Flags
    may_be_false: Flags


@dataclass(frozen=True, slots=True)
class _Operand:
    """A column, or an order-keeping cast of one, with the bounds of the column.

    Attributes:
        expression: What is compared.
        column: The column in it.
        bounds: Columns `low` and `high`, one row a file.
        has_value: Where the file may have a row in which it is not null.
        is_float: Whether the column may hold NaN.
    """

    expression: Expression
    column: Column
    bounds: pa.RecordBatch
    has_value: Flags
    is_float: bool

    def may(self, side: str, operator: ComparisonOperator, literal: Literal) -> Flags:
        """Where a bound compares so with a constant, or is unknown."""
        bound = _with_column(self.expression, Column((side,), self.column.type))
        try:
            found = evaluate(Comparison(operator, bound, literal), self.bounds)
        except InvalidArgumentError:
            # The bound itself does not fit into the type that it is cast to.
            return np.ones(self.bounds.num_rows, dtype=np.bool_)
        return _flags(found)

    def may_reach_up(self, operator: ComparisonOperator, literal: Literal) -> Flags:
        """Where some value may be above a constant (or equal): NaN is, and no bound shows it."""
        if self.is_float:
            return np.ones(self.bounds.num_rows, dtype=np.bool_)
        return self.may(_HIGH, operator, literal)


@dataclass(frozen=True, slots=True)
class _Files:
    bounds: Mapping[str, ColumnBounds]
    row_counts: npt.NDArray[np.int64]

    def outcome(self, predicate: Expression) -> _Outcome:
        match predicate:
            case Literal():
                return self._constant(predicate)
            case And():
                return reduce(_both, map(self.outcome, predicate.operands))
            case Or():
                return _swapped(
                    reduce(_both, (_swapped(self.outcome(part)) for part in predicate.operands))
                )
            case Not():
                return _swapped(self.outcome(predicate.operand))
            case IsNull():
                return self._is_null(predicate.operand)
            case Column():
                is_true = Comparison(
                    ComparisonOperator.EQUAL, predicate, Literal(value=True, type=BOOLEAN)
                )
                return self._comparison(is_true)
            case Comparison():
                return self._comparison(predicate)
            case InList():
                return self._in_list(predicate)
            case Like():
                return self._like(predicate)
            case _:
                return self._unknown()

    def _all(self, *, value: bool) -> Flags:
        return np.full(len(self.row_counts), value, dtype=np.bool_)

    def _unknown(self) -> _Outcome:
        return _Outcome(self._all(value=True), self._all(value=True))

    def _constant(self, literal: Literal) -> _Outcome:
        is_true, is_false = literal.value is True, literal.value is False
        return _Outcome(self._all(value=is_true), self._all(value=is_false))

    def _operand(self, expression: Expression) -> _Operand | None:
        """The column that is compared, if the order of its values says enough."""
        column = expression
        while isinstance(column, Cast):
            source = column.operand.type
            if not isinstance(source, AtomicType) or not keeps_order(source, column.type):
                return None
            column = column.operand
        if not isinstance(column, Column) or len(column.path) > 1:
            return None
        known = self.bounds.get(column.path[0])
        kind = column.type
        if known is None or not isinstance(kind, AtomicType):
            return None
        if known.min.type != value_arrow_type(kind):
            return None
        batch = pa.RecordBatch.from_arrays([known.min, known.max], names=[_LOW, _HIGH])
        return _Operand(
            expression, column, batch, self._has_value(known), is_float=kind.root in _FLOATS
        )

    def _has_value(self, known: ColumnBounds) -> Flags:
        counts = _numbers(known.null_count)
        return (counts < 0) | (counts < self.row_counts)

    def _is_null(self, operand: Expression) -> _Outcome:
        while isinstance(operand, Cast):
            operand = operand.operand
        if not isinstance(operand, Column) or len(operand.path) > 1:
            return self._unknown()
        known = self.bounds.get(operand.path[0])
        if known is None:
            return self._unknown()
        counts = _numbers(known.null_count)
        return _Outcome(counts != 0, self._has_value(known))

    def _comparison(self, comparison: Comparison) -> _Outcome:
        operator, operand, literal = comparison.operator, comparison.left, comparison.right
        if isinstance(operand, Literal):
            operator, operand, literal = _FLIPPED.get(operator, operator), literal, operand
        if not isinstance(literal, Literal):
            return self._unknown()
        if literal.value is None:
            if operator is ComparisonOperator.NULL_SAFE_EQUAL:
                return self._is_null(operand)
            return _Outcome(self._all(value=False), self._all(value=False))
        known = self._operand(operand)
        if known is None:
            return self._unknown()
        may_be_true = _may_be_true(operator, known, literal) & known.has_value
        may_be_false = _may_be_false(operator, known, literal) & known.has_value
        if operator is ComparisonOperator.NULL_SAFE_EQUAL:
            may_be_false |= self._is_null(operand).may_be_true
        return _Outcome(may_be_true, may_be_false)

    def _in_list(self, in_list: InList) -> _Outcome:
        equals = tuple(
            Comparison(ComparisonOperator.EQUAL, in_list.operand, item) for item in in_list.items
        )
        return self.outcome(Or(equals))

    def _like(self, like: Like) -> _Outcome:
        operand = self._operand(like.operand)
        if like.pattern is None or operand is None:
            return self._unknown()
        prefix, is_whole = like_prefix(like.pattern, like.escape)
        text = Literal(prefix, _STRING)
        if is_whole:
            return self._comparison(Comparison(ComparisonOperator.EQUAL, like.operand, text))
        # A lower bound beyond the prefix may still begin with it.
        starts = pc.starts_with(operand.bounds.column(_LOW), prefix)
        reaches_down = operand.may(_LOW, ComparisonOperator.LESS_OR_EQUAL, text) | _flags(starts)
        reaches_up = operand.may(_HIGH, ComparisonOperator.GREATER_OR_EQUAL, text)
        return _Outcome(reaches_down & reaches_up & operand.has_value, operand.has_value)


def _may_be_true(operator: ComparisonOperator, operand: _Operand, literal: Literal) -> Flags:
    match operator:
        case ComparisonOperator.EQUAL | ComparisonOperator.NULL_SAFE_EQUAL:
            reaches_down = operand.may(_LOW, ComparisonOperator.LESS_OR_EQUAL, literal)
            if _is_nan(literal):
                return reaches_down
            return reaches_down & operand.may(_HIGH, ComparisonOperator.GREATER_OR_EQUAL, literal)
        case ComparisonOperator.LESS | ComparisonOperator.LESS_OR_EQUAL:
            return operand.may(_LOW, operator, literal)
        case ComparisonOperator.GREATER | ComparisonOperator.GREATER_OR_EQUAL:
            return operand.may_reach_up(operator, literal)


def _may_be_false(operator: ComparisonOperator, operand: _Operand, literal: Literal) -> Flags:
    match operator:
        case ComparisonOperator.EQUAL | ComparisonOperator.NULL_SAFE_EQUAL:
            # Bounds that both are the constant leave room for no other value.
            below = operand.may(_LOW, ComparisonOperator.LESS, literal)
            return below | operand.may_reach_up(ComparisonOperator.GREATER, literal)
        case ComparisonOperator.LESS:
            return operand.may_reach_up(ComparisonOperator.GREATER_OR_EQUAL, literal)
        case ComparisonOperator.LESS_OR_EQUAL:
            return operand.may_reach_up(ComparisonOperator.GREATER, literal)
        case ComparisonOperator.GREATER:
            return operand.may(_LOW, ComparisonOperator.LESS_OR_EQUAL, literal)
        case ComparisonOperator.GREATER_OR_EQUAL:
            return operand.may(_LOW, ComparisonOperator.LESS, literal)


def _is_nan(literal: Literal) -> bool:
    return isinstance(literal.value, float) and np.isnan(literal.value).item()


def _both(left: _Outcome, right: _Outcome) -> _Outcome:
    return _Outcome(left.may_be_true & right.may_be_true, left.may_be_false | right.may_be_false)


def _swapped(outcome: _Outcome) -> _Outcome:
    return _Outcome(outcome.may_be_false, outcome.may_be_true)


def _with_column(expression: Expression, column: Column) -> Expression:
    """The expression with another column in the place of its only one."""
    return transform(expression, lambda node: column if isinstance(node, Column) else node)


def _flags(found: Values) -> Flags:
    """Where a condition holds or is unknown."""
    flags: Flags = pc.fill_null(found, True).to_numpy(zero_copy_only=False)  # noqa: FBT003
    return flags


def _numbers(counts: Values) -> npt.NDArray[np.int64]:
    """Counts, -1 where unknown."""
    numbers: npt.NDArray[np.int64] = pc.fill_null(counts, -1).to_numpy(zero_copy_only=False)
    return numbers
