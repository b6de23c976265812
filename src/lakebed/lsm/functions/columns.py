"""One column's function with its options, applied to rows as they lie in memory."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lakebed.errors import InvalidDataError, InvalidTableError
from lakebed.format.arrow.typing import ArrowArray, taken
from lakebed.format.type_text import format_type
from lakebed.format.types import AtomicType, DataField, TypeRoot
from lakebed.lsm.functions.first_values import (
    Events,
    HistorySelector,
    first_non_null_value_of,
    first_value_of,
)
from lakebed.lsm.functions.groups import Aggregate, FieldOptions, Mask, Positions, Segments
from lakebed.lsm.functions.numbers import all_true, any_true, product, total
from lakebed.lsm.functions.registry import COMPOSITE_FUNCTIONS
from lakebed.lsm.functions.selection import (
    NOWHERE,
    Selector,
    first_non_null_value,
    first_value,
    greatest,
    last_non_null_value,
    last_value,
    smallest,
    take_or_null,
    valid_rows,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFunction:
    """The function that folds a column.

    Attributes:
        column: Name of the column.
        function: Name of the function.
        fold: The function: over rows, or over values.
        takes_retract: Whether it can take something back.
        ignore_retract: Whether rows that take back are skipped (`fields.<f>.ignore-retract`).
        history: The function over the past of a record, if it remembers any (`first_values`).
    """

    column: str
    function: str
    fold: "Selecting | Computing"
    takes_retract: bool
    ignore_retract: bool = False
    history: HistorySelector | None = None

    def apply(
        self, column: ArrowArray, order: Positions, segments: Segments, *, raw: Mask
    ) -> ArrowArray:
        """One result a segment.

        Args:
            column: The values as they lie.
            order: Places of the rows in `column`, segment by segment, old to new.
            segments: The segments of `order`.
            raw: Segments of one row whose value is the result as it is.

        Raises:
            InvalidDataError: A row takes back, which the function cannot.
        """
        self.check_retracts(segments)
        if segments.retract is not None and self.ignore_retract:
            kept = segments.keeping(~segments.retract)
            adding = Segments(kept.segments.starts, kept.segments.row_count)
            results = self.fold.results(column, order[kept.rows], adding, raw=raw[kept.owners])
            return kept.spread(results)
        return self.fold.results(column, order, segments, raw=raw)

    def apply_history(
        self, column: ArrowArray, order: Positions, segments: Segments, *, events: Events
    ) -> ArrowArray:
        """One result a segment, of a function that has a `history`.

        Args:
            column: The values as they lie.
            order: Places of the rows that take nothing back, segment by segment, as they came.
            segments: The segments of `order`.
            events: What each row does.

        Raises:
            TypeError: The function has none.
        """
        if self.history is None:
            raise TypeError(f"{self.function} has no history")
        valid = valid_rows(column)
        rows = self.history(valid if valid is None else valid[order], segments, events)
        found = np.where(rows == NOWHERE, NOWHERE, order[rows]) if len(order) else rows
        return take_or_null(column, found)

    def check_retracts(self, segments: Segments) -> None:
        """Looks whether rows that take back are welcome, or skipped.

        Raises:
            InvalidDataError: They are not, and there are some.
        """
        if segments.retract is not None and not (self.takes_retract or self.ignore_retract):
            raise InvalidDataError(
                f"column {self.column!r}: aggregate-function={self.function} cannot take back -U "
                f"and -D rows, and there are some; fields.{self.column}.ignore-retract=true skips "
                "them"
            )


@dataclass(frozen=True, slots=True)
class Selecting:
    """A function that chooses a row; of one row, that row."""

    select: Selector

    def results(
        self, column: ArrowArray, order: Positions, segments: Segments, *, raw: Mask
    ) -> ArrowArray:
        """One result a segment."""
        valid = valid_rows(column)
        rows = self.select(valid if valid is None else valid[order], segments)
        if raw.any() and segments.retract is not None:
            rows = np.where(raw, segments.starts, rows)
        nowhere = rows == NOWHERE
        if not len(order):
            return take_or_null(column, rows)
        return take_or_null(column, np.where(nowhere, NOWHERE, order[rows]))


@dataclass(frozen=True, slots=True)
class Computing:
    """A function that makes a new value.

    Attributes:
        compute: The function.
        keeps_one: Whether the result of one row that adds is its value.
    """

    compute: Aggregate
    keeps_one: bool = False

    def results(
        self, column: ArrowArray, order: Positions, segments: Segments, *, raw: Mask
    ) -> ArrowArray:
        """One result a segment."""
        if self.keeps_one or not raw.any():
            return self.compute(taken(column, order), segments)
        kept = segments.keeping(np.repeat(~raw, segments.lengths))
        computed = self.compute(taken(column, order[kept.rows]), kept.segments)
        alone = taken(column, order[segments.starts[raw]])
        places = np.empty(segments.count, np.intp)
        places[~raw] = np.arange(len(computed))
        places[raw] = len(computed) + np.arange(len(alone))
        joined = pa.concat_arrays([computed, alone.cast(computed.type)])
        return taken(joined, places)


def column_function(name: str, field: DataField, options: FieldOptions) -> ColumnFunction:
    """The function of a column, by its name in the options.

    Raises:
        InvalidTableError: No such function, or it does not fit the type of the column.
        UnsupportedError: A library that it needs is missing.
    """
    history: HistorySelector | None = None
    if name in COMPOSITE_FUNCTIONS:
        composite = COMPOSITE_FUNCTIONS[name]
        fold: Selecting | Computing = Computing(composite.make(field, options))
        takes_retract = composite.takes_retract
    elif name in _SIMPLE:
        simple = _SIMPLE[name]
        root = field.type.root if isinstance(field.type, AtomicType) else None
        if simple.roots is not None and root not in simple.roots:
            raise InvalidTableError(
                f"column {field.name!r}: aggregate-function={name} does not take the type "
                f"{format_type(field.type)}"
            )
        fold, takes_retract, history = simple.fold, simple.takes_retract, simple.history
    else:
        known = ", ".join(sorted({*_SIMPLE, *COMPOSITE_FUNCTIONS}))
        raise InvalidTableError(
            f"column {field.name!r}: there is no aggregate-function={name}; there are {known}"
        )
    return ColumnFunction(
        column=field.name,
        function=name,
        fold=fold,
        takes_retract=takes_retract,
        ignore_retract=options.ignore_retract,
        history=history,
    )


@dataclass(frozen=True, slots=True)
class _Simple:
    fold: Selecting | Computing
    takes_retract: bool = False
    history: HistorySelector | None = None
    roots: frozenset[TypeRoot] | None = None


_NUMERIC = frozenset(
    {
        TypeRoot.TINYINT,
        TypeRoot.SMALLINT,
        TypeRoot.INT,
        TypeRoot.BIGINT,
        TypeRoot.FLOAT,
        TypeRoot.DOUBLE,
        TypeRoot.DECIMAL,
    }
)
_BOOLEAN = frozenset({TypeRoot.BOOLEAN})

_FIRST_NON_NULL = _Simple(Selecting(first_non_null_value), history=first_non_null_value_of)

_SIMPLE = {
    "last_value": _Simple(Selecting(last_value), takes_retract=True),
    "last_non_null_value": _Simple(Selecting(last_non_null_value), takes_retract=True),
    "first_value": _Simple(Selecting(first_value), history=first_value_of),
    "first_non_null_value": _FIRST_NON_NULL,
    "first_not_null_value": _FIRST_NON_NULL,
    "max": _Simple(Computing(greatest, keeps_one=True)),
    "min": _Simple(Computing(smallest, keeps_one=True)),
    "sum": _Simple(Computing(total, keeps_one=True), takes_retract=True, roots=_NUMERIC),
    "product": _Simple(Computing(product, keeps_one=True), takes_retract=True, roots=_NUMERIC),
    "bool_and": _Simple(Computing(all_true, keeps_one=True), roots=_BOOLEAN),
    "bool_or": _Simple(Computing(any_true, keeps_one=True), roots=_BOOLEAN),
}
