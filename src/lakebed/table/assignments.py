"""Which values do the columns get that an UPDATE assigns?

A value that is text is an expression of Spark SQL over the row as it was; anything else is a
constant. Both are stored under Spark's ANSI store assignment.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from lakebed.errors import InvalidArgumentError, InvalidDataError, InvalidTableError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.types import from_arrow_type, to_arrow_type
from lakebed.format.arrow.typing import ArrowChunks, ArrowScalar, chunked, repeated, scalar_of
from lakebed.format.predicate.coercion import Coercion, TypeMismatchError
from lakebed.format.predicate.evaluation import evaluate, literal_of
from lakebed.format.predicate.expressions import Expression
from lakebed.format.predicate.parser import parse_expression
from lakebed.format.type_text import format_type
from lakebed.format.types import MAX_LENGTH, AtomicType, DataField, DataType, TypeRoot
from lakebed.table.parts import TableParts
from lakebed.table.writing.align import align_column

_NULL = "NULL"
_WITHOUT_LITERALS = (TypeRoot.TIME, TypeRoot.VARIANT)
_TEXTS = (TypeRoot.CHAR, TypeRoot.VARCHAR)


_Value = Expression | ArrowScalar
"""An expression in the type of its column, or a constant."""


@dataclass(frozen=True, slots=True)
class Assignments:
    """Columns and what they get.

    Attributes:
        values: By column.
    """

    values: Mapping[DataField, _Value]

    @classmethod
    def of(cls, parts: TableParts, assigned: Mapping[str, object]) -> "Assignments":
        """The assignments that a user gives.

        Raises:
            InvalidArgumentError: No assignment, an unknown column, a text that is no expression, or
                a value that the column does not take.
        """
        if not assigned:
            example = '{"total": "total + 1"}'
            raise InvalidArgumentError(
                f"update takes new values by column, such as {example}, not {assigned!r}"
            )
        fields = {parts.schema.field(name): value for name, value in assigned.items()}
        return cls({field: _value(value, field, parts) for field, value in fields.items()})

    @property
    def names(self) -> frozenset[str]:
        """The columns that are assigned."""
        return frozenset(field.name for field in self.values)

    def applied(self, rows: pa.Table) -> pa.Table:
        """The rows with the new values.

        Raises:
            InvalidArgumentError: A value cannot be computed.
            InvalidDataError: A value that the column forbids.
        """
        changed = rows
        for field, value in self.values.items():
            index = rows.schema.get_field_index(field.name)
            column = _column(value, field, rows)
            changed = changed.set_column(index, rows.schema.field(index), column)
        return changed


def _value(value: object, field: DataField, parts: TableParts) -> _Value:
    coercion = Coercion(parts.session.time_zone)
    try:
        if not isinstance(value, str):
            return _constant(value, field, coercion)
        if value.strip().upper() == _NULL:
            return scalar_of(None, to_arrow_type(field.type))
        return parse_expression(
            value,
            parts.schema.row_type,
            time_zone=coercion.time_zone,
            assigned_to=field.type,
        )
    except (TypeMismatchError, InvalidArgumentError) as error:
        raise InvalidArgumentError(f"column {field.name!r}: {error}") from error


def _constant(value: object, field: DataField, coercion: Coercion) -> _Value:
    wanted = to_arrow_type(field.type)
    try:
        if value is None or not _has_literals(field.type):
            return scalar_of(value, wanted)
        given = scalar_of(value)
        kind = from_arrow_type(given.type, column=field.name)
    except (pa.ArrowException, InvalidTableError, TypeError, ValueError) as error:
        raise InvalidArgumentError(f"{value!r} is no {wanted}: {error}") from error
    if not isinstance(kind, AtomicType):
        raise InvalidArgumentError(f"{value!r} is no {wanted}")
    return coercion.assign(literal_of(given, kind), field.type)


def _has_literals(kind: DataType) -> bool:
    """Whether SQL has constants of a type, or else only Arrow."""
    return isinstance(kind, AtomicType) and kind.root not in _WITHOUT_LITERALS


def _column(value: _Value, field: DataField, rows: pa.Table) -> ArrowChunks:
    if isinstance(value, pa.Scalar):
        column = chunked([repeated(value, rows.num_rows)], value.type)
    else:
        try:
            column = evaluate(value, rows)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"column {field.name!r}: {error}") from error
    return _within_length(align_column(column, field), field)


def _within_length(column: ArrowChunks, field: DataField) -> ArrowChunks:
    """Texts as long as CHAR and VARCHAR let them be: only spaces at their end may be too many."""
    kind = field.type
    if not isinstance(kind, AtomicType) or kind.root not in _TEXTS:
        return column
    if kind.length in (None, MAX_LENGTH):
        return column
    too_long = pc.greater(pc.utf8_length(pc.utf8_rtrim(column, " ")), kind.length)
    if pc.any(too_long).as_py():
        example = column.filter(too_long)[0].as_py()
        raise InvalidDataError(
            f"column {field.name!r}: {example!r} is longer than {format_type(kind)} takes; nothing"
            " was written"
        )
    cut: ArrowChunks = pc.utf8_slice_codeunits(column, 0, kind.length)
    return cut
