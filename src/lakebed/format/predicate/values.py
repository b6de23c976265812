"""Which values can columns have in rows for which a predicate is true, when they are finitely many?

Equalities, IN lists and IS NULL say so; the buckets of the values are then the only ones to read.

The surprising thing: a FLOAT or DOUBLE that equals zero is never finite here, for 0.0 and -0.0 are
equal and yet lie in different buckets; nor is NaN, which has many bit patterns.
"""

import itertools
import math
from collections.abc import Sequence

import pyarrow as pa

from lakebed.errors import InvalidArgumentError
from lakebed.format.predicate.evaluation import fold
from lakebed.format.predicate.evaluation_casts import value_arrow_type
from lakebed.format.predicate.expressions import (
    Cast,
    Column,
    Comparison,
    ComparisonOperator,
    Expression,
    InList,
    IsNull,
    Literal,
    LiteralValue,
    Or,
    conjuncts,
)
from lakebed.format.types import AtomicType, TypeRoot

__all__ = ["equality_values"]

_EQUALITIES = (ComparisonOperator.EQUAL, ComparisonOperator.NULL_SAFE_EQUAL)
_INTEGERS = (TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT)
_EXACT_DOUBLE_MAX = 2**53

_Found = tuple[Column, frozenset[LiteralValue]]
"""A column, and all values of it that leave a condition TRUE."""


def equality_values(
    predicate: Expression, names: Sequence[str], *, limit: int = 1000
) -> pa.Table | None:
    """All combinations of values that columns may have where a predicate is TRUE.

    Args:
        predicate: Over columns of the table.
        names: Top-level columns.
        limit: How many combinations are still worth listing.

    Returns:
        A column for each name, of its Arrow type, and a row for each combination; some of the rows
        may match nothing. None when the combinations are not known to be that few.
    """
    found: dict[str, _Found] = {}
    for part in conjuncts(predicate):
        values = _values_of(part)
        if values is None:
            continue
        name = values[0].path[0]
        known = found.get(name)
        both = values[1] if known is None else values[1] & known[1]
        found[name] = (values[0], both)
    if not names or any(name not in found for name in names):
        return None
    choices = [found[name] for name in names]
    if math.prod(len(values) for _, values in choices) > limit:
        return None
    rows = list(itertools.product(*(values for _, values in choices)))
    arrays = [
        pa.array([row[index] for row in rows], value_arrow_type(_atomic(column)))
        for index, (column, _) in enumerate(choices)
    ]
    return pa.table(arrays, names=list(names))


def _values_of(condition: Expression) -> _Found | None:
    match condition:
        case Comparison(operator=operator) if operator in _EQUALITIES:
            left, right = condition.left, condition.right
            operand, other = (right, left) if isinstance(left, Literal) else (left, right)
            is_null_safe = operator is ComparisonOperator.NULL_SAFE_EQUAL
            return _equal_to(operand, [other], is_null_safe=is_null_safe)
        case InList():
            return _equal_to(condition.operand, condition.items)
        case IsNull(operand=Column() as column) if _is_plain(column):
            return column, frozenset([None])
        case Or():
            return _union([_values_of(part) for part in condition.operands])
        case _:
            return None


def _union(parts: Sequence[_Found | None]) -> _Found | None:
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or len({column.path for column, _ in known}) != 1:
        return None
    return known[0][0], frozenset().union(*(values for _, values in known))


def _equal_to(
    operand: Expression, items: Sequence[Expression], *, is_null_safe: bool = False
) -> _Found | None:
    casts: list[Cast] = []
    while isinstance(operand, Cast):
        casts.append(operand)
        operand = operand.operand
    if not isinstance(operand, Column) or not _is_plain(operand):
        return None
    values: set[LiteralValue] = set()
    for item in items:
        if not isinstance(item, Literal):
            return None
        if item.value is None:
            values.update([None] if is_null_safe else [])
            continue
        before = _uncast(item, casts)
        if before is None:
            return None
        values.update(literal.value for literal in before)
    return operand, frozenset(values)


def _uncast(literal: Literal, casts: Sequence[Cast]) -> list[Literal] | None:
    """The values, at most one, that casts turn into a constant; None when they may be many."""
    for cast in casts:
        if not _is_one_to_one(cast, literal):
            return None
        try:
            before = fold(Cast(literal, _atomic(cast.operand), cast.time_zone))
            again = fold(Cast(before, cast.type, cast.time_zone))
        except InvalidArgumentError:
            return []
        same = fold(Comparison(ComparisonOperator.EQUAL, again, literal))
        is_same = isinstance(same, Literal) and same.value is True
        if not isinstance(before, Literal) or not is_same:
            return []
        literal = before
    return None if _has_twins(literal) else [literal]


def _has_twins(literal: Literal) -> bool:
    """Whether other bits are the same value."""
    value = literal.value
    return isinstance(value, float) and (value == 0.0 or math.isnan(value))


def _is_one_to_one(cast: Cast, literal: Literal) -> bool:
    source, target = _atomic(cast.operand), cast.type
    match source.root, target.root:
        case (TypeRoot.DECIMAL, TypeRoot.DECIMAL):
            return (target.scale or 0) >= (source.scale or 0)
        case (TypeRoot.FLOAT, TypeRoot.DOUBLE) | (TypeRoot.DATE, TypeRoot.TIMESTAMP):
            return True
        case (TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ as one, other) if one is other:
            return (target.precision or 0) >= (source.precision or 0)
        case (one, TypeRoot.DOUBLE) if one in _INTEGERS:
            return isinstance(literal.value, float) and abs(literal.value) < _EXACT_DOUBLE_MAX
        case (one, other) if one in _INTEGERS:
            return other in _INTEGERS or other is TypeRoot.DECIMAL
        case _:
            return False


def _is_plain(column: Column) -> bool:
    return len(column.path) == 1 and isinstance(column.type, AtomicType)


def _atomic(expression: Expression) -> AtomicType:
    kind = expression.type
    assert isinstance(kind, AtomicType)
    return kind
