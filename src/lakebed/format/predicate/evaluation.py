"""Which value has an expression in each row of a table, and which rows does a predicate keep?

Logic is three-valued: an unknown comparison is null, and only rows that are TRUE are kept. NaN
equals itself and is greatest, -0.0 equals 0.0, text compares as its bytes. What does not fit or
divides by zero is an error, as in Spark's ANSI mode.

The surprising thing: `b <> 0 AND a / b > 1` fails on no row. When a later operand of AND (or OR)
fails, it is asked again of just the rows that earlier ones leave open.
"""

from collections.abc import Callable
from functools import singledispatch

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import InvalidArgumentError
from lakebed.format.arrow.compute import Values
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.predicate.evaluation_casts import cast_values, value_arrow_type
from lakebed.format.predicate.evaluation_decimals import calculate_decimals
from lakebed.format.predicate.expressions import (
    And,
    Arithmetic,
    ArithmeticOperator,
    Cast,
    Column,
    Comparison,
    ComparisonOperator,
    Expression,
    InList,
    IsNull,
    Like,
    Literal,
    LiteralValue,
    Negation,
    Not,
    Or,
    children,
)
from lakebed.format.predicate.like_pattern import like_regex
from lakebed.format.predicate.text import format_expression
from lakebed.format.types import AtomicType, TypeRoot

__all__ = ["evaluate", "filter_table", "fold", "literal_of"]


# What a constant expression is evaluated on.
_ONE_ROW = pa.record_batch({"": pa.nulls(1)})


def evaluate(expression: Expression, table: pa.Table | pa.RecordBatch) -> Values:
    """The value of an expression in each row.

    Args:
        expression: Over columns of the table, by name.
        table: The rows; a column may also be large, dictionary-encoded or of another unit.

    Returns:
        A ChunkedArray for a table, an Array for a batch, of the Arrow type of `expression.type`.

    Raises:
        InvalidArgumentError: When a number overflows or is divided by zero, text cannot be read as
            the type it is cast to, or the table lacks a column.
    """
    if isinstance(table, pa.RecordBatch):
        return _as_array(_values(expression, table), table.num_rows)
    if not table.num_columns:
        return pa.chunked_array([_as_array(_values(expression, _ONE_ROW), table.num_rows)])
    chunks = [evaluate(expression, batch) for batch in table.to_batches()]
    if not chunks:
        chunks = [evaluate(expression, _empty_batch(table.schema))]
    return pa.chunked_array(chunks)


def filter_table(table: pa.Table, predicate: Expression | None) -> pa.Table:
    """The rows for which a predicate is TRUE; all of them when there is none.

    Raises:
        InvalidArgumentError: As `evaluate` does.
    """
    return table if predicate is None else table.filter(evaluate(predicate, table))


def true_rows(predicate: Expression | None, table: pa.Table) -> npt.NDArray[np.bool_]:
    """For which rows a predicate is TRUE; for all of them when there is none.

    Raises:
        InvalidArgumentError: As `evaluate` does.
    """
    if predicate is None:
        return np.ones(table.num_rows, np.bool_)
    found: npt.NDArray[np.bool_] = pc.fill_null(evaluate(predicate, table), False).to_numpy()  # noqa: FBT003
    return found


def fold(expression: Expression) -> Expression:
    """The constant that an expression over constants is; other expressions as they are.

    Raises:
        InvalidArgumentError: When the constant cannot be computed.
    """
    parts = children(expression)
    kind = expression.type
    if isinstance(expression, Literal | Column) or not isinstance(kind, AtomicType):
        return expression
    if not all(isinstance(part, Literal) for part in parts):
        return expression
    return literal_of(_as_array(_values(expression, _ONE_ROW), 1)[0], kind)


def literal_of(scalar: Values, kind: AtomicType) -> Literal:
    """The constant of a type that is an Arrow value."""
    if not scalar.is_valid:
        return Literal(None, kind)
    value: LiteralValue = scalar.value if pa.types.is_temporal(scalar.type) else scalar.as_py()
    return Literal(value, kind)


def _empty_batch(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)


def _as_array(values: Values, row_count: int) -> Values:
    if isinstance(values, pa.Scalar):
        return pc.fill_null(pa.nulls(row_count, values.type), values)
    return values


@singledispatch
def _values(expression: Expression, batch: pa.RecordBatch) -> Values:
    raise AssertionError(f"no rule for {expression!r} over {batch.num_columns} columns")


@_values.register(Literal)
def _(expression: Literal, batch: pa.RecordBatch) -> Values:  # noqa: ARG001 -- one shape for all nodes
    return pa.scalar(expression.value, value_arrow_type(expression.type))


@_values.register(Column)
def _(expression: Column, batch: pa.RecordBatch) -> Values:
    index = batch.schema.get_field_index(expression.path[0])
    if index < 0:
        raise InvalidArgumentError(
            f"the rows have no column {expression.path[0]!r} to evaluate an expression on; "
            f"they have {batch.schema.names}"
        )
    values = batch.column(index)
    if len(expression.path) > 1:
        values = pc.struct_field(values, list(expression.path[1:]))
    if not isinstance(expression.type, AtomicType) or expression.type.root is TypeRoot.VARIANT:
        return values
    wanted = value_arrow_type(expression.type)
    return values if values.type == wanted else pc.cast(values, wanted)


@_values.register(Comparison)
def _(expression: Comparison, batch: pa.RecordBatch) -> Values:
    left, right = _values(expression.left, batch), _values(expression.right, batch)
    match expression.operator:
        case ComparisonOperator.EQUAL:
            return _equal(left, right)
        case ComparisonOperator.NULL_SAFE_EQUAL:
            both_null = pc.and_(pc.is_null(left), pc.is_null(right))
            return pc.coalesce(_equal(left, right), both_null)
        case ComparisonOperator.LESS:
            return _less(left, right)
        case ComparisonOperator.LESS_OR_EQUAL:
            return pc.invert(_less(right, left))
        case ComparisonOperator.GREATER:
            return _less(right, left)
        case ComparisonOperator.GREATER_OR_EQUAL:
            return pc.invert(_less(left, right))


def _equal(left: Values, right: Values) -> Values:
    same = pc.equal(left, right)
    if not pa.types.is_floating(left.type):
        return same
    return pc.or_(same, pc.and_(pc.is_nan(left), pc.is_nan(right)))


def _less(left: Values, right: Values) -> Values:
    less = pc.less(left, right)
    if not pa.types.is_floating(left.type):
        return less
    return pc.or_(less, pc.and_(pc.invert(pc.is_nan(left)), pc.is_nan(right)))


@_values.register(InList)
def _(expression: InList, batch: pa.RecordBatch) -> Values:
    items = [item for item in expression.items if isinstance(item, Literal)]
    kind = expression.operand.type
    operand = _values(expression.operand, batch)
    if len(items) == len(expression.items) and isinstance(kind, AtomicType):
        return _is_in(operand, items, value_arrow_type(kind))
    equals = [
        Comparison(ComparisonOperator.EQUAL, expression.operand, item) for item in expression.items
    ]
    return _values(Or(tuple(equals)), batch)


def _is_in(operand: Values, items: list[Literal], arrow_type: pa.DataType) -> Values:
    wanted = pa.array([item.value for item in items if item.value is not None], arrow_type)
    if pa.types.is_floating(arrow_type):
        # A hash tells -0.0 from 0.0; a sum with 0.0 does not.
        zero = pa.scalar(0.0, arrow_type)
        operand, wanted = pc.add(operand, zero), pc.add(wanted, zero)
    found = pc.is_in(operand, value_set=wanted)
    has_null = len(wanted) < len(items)
    known = pc.and_(pc.is_valid(operand), found) if has_null else pc.is_valid(operand)
    return pc.if_else(known, found, pa.scalar(None, pa.bool_()))


@_values.register(Like)
def _(expression: Like, batch: pa.RecordBatch) -> Values:
    if expression.pattern is None:
        return pa.scalar(None, pa.bool_())
    pattern = like_regex(expression.pattern, expression.escape)
    return pc.match_substring_regex(_values(expression.operand, batch), pattern)


@_values.register(IsNull)
def _(expression: IsNull, batch: pa.RecordBatch) -> Values:
    return pc.is_null(_values(expression.operand, batch))


@_values.register(Not)
def _(expression: Not, batch: pa.RecordBatch) -> Values:
    return pc.invert(_values(expression.operand, batch))


@_values.register(And)
def _(expression: And, batch: pa.RecordBatch) -> Values:
    return _joined(expression.operands, batch, decisive=False)


@_values.register(Or)
def _(expression: Or, batch: pa.RecordBatch) -> Values:
    return _joined(expression.operands, batch, decisive=True)


def _joined(operands: tuple[Expression, ...], batch: pa.RecordBatch, *, decisive: bool) -> Values:
    join = pc.or_kleene if decisive else pc.and_kleene
    result = _values(operands[0], batch)
    for operand in operands[1:]:
        try:
            values = _values(operand, batch)
        except InvalidArgumentError:
            decided = pc.fill_null(pc.equal(result, decisive), False)  # noqa: FBT003 -- Arrow's own signature
            values = _values_where(operand, batch, _as_array(pc.invert(decided), batch.num_rows))
        result = join(result, values)
    return result


def _values_where(expression: Expression, batch: pa.RecordBatch, mask: Values) -> Values:
    """The values of a condition in the rows of a mask, null in the others."""
    rows = batch.filter(mask)
    values = _as_array(_values(expression, rows), rows.num_rows)
    return pc.replace_with_mask(pa.nulls(batch.num_rows, pa.bool_()), mask, values)


@_values.register(Arithmetic)
def _(expression: Arithmetic, batch: pa.RecordBatch) -> Values:
    left, right = _values(expression.left, batch), _values(expression.right, batch)
    if expression.type.root is TypeRoot.DECIMAL:
        return calculate_decimals(
            expression.operator,
            _as_array(left, batch.num_rows),
            _as_array(right, batch.num_rows),
            result=expression.type,
        )
    if expression.operator is ArithmeticOperator.DIVIDE:
        is_zero = pc.and_(pc.equal(right, 0.0), pc.is_valid(left))
        if pc.any(_as_array(is_zero, batch.num_rows)).as_py():
            raise InvalidArgumentError(
                f"division by zero in {format_expression(expression)}; "
                "exclude such rows by a condition before it"
            )
    try:
        return _ARITHMETIC[expression.operator](left, right)
    except pa.ArrowInvalid as exc:
        raise _overflow(expression) from exc


_ARITHMETIC: dict[ArithmeticOperator, Callable[[Values, Values], Values]] = {
    ArithmeticOperator.ADD: pc.add_checked,
    ArithmeticOperator.SUBTRACT: pc.subtract_checked,
    ArithmeticOperator.MULTIPLY: pc.multiply_checked,
    ArithmeticOperator.DIVIDE: pc.divide,
}


@_values.register(Negation)
def _(expression: Negation, batch: pa.RecordBatch) -> Values:
    values = _values(expression.operand, batch)
    try:
        return pc.negate_checked(values)
    except pa.ArrowInvalid as exc:
        raise _overflow(expression) from exc


def _overflow(expression: Arithmetic | Negation) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"a value of {format_expression(expression)} does not fit into "
        f"{expression.type.root.value}; CAST an operand to a wider type"
    )


@_values.register(Cast)
def _(expression: Cast, batch: pa.RecordBatch) -> Values:
    source = expression.operand.type
    assert isinstance(source, AtomicType)
    values = _as_array(_values(expression.operand, batch), batch.num_rows)
    return cast_values(values, source, expression.type, time_zone=expression.time_zone)
