"""How do texts become those that CHAR and VARCHAR hold, also inside other types?

As in Spark's own tables: spaces at the end that are too many are dropped, CHAR is padded, and what
is still too long is refused when it is written.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import PySparkException
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from lakebed.format.types import (
    MAX_LENGTH,
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    VectorType,
)
from lakebed.spark.conditions import runtime_error

_TOO_LONG = re.compile(
    r"Exceeds char/varchar type length limitation: (\d+)\. Column: .*?\.(?= SQLSTATE|\n|$)"
)


def within_lengths(column: Column, kind: DataType, *, at: str) -> Column:
    """The column with every text in it as its type says.

    Args:
        column: The column, in Spark's type for the table's.
        kind: The table's type.
        at: The column's name, for the error of a text that is too long.
    """
    if not _has_lengths(kind):
        return column
    match kind:
        case AtomicType():
            return _text(column, kind, at)
        case ArrayType():
            return F.transform(
                column, lambda each: within_lengths(each, kind.element, at=f"{at}.element")
            )
        case MapType():
            keyed = F.transform_keys(
                column, lambda key, _: within_lengths(key, kind.key, at=f"{at}.key")
            )
            return F.transform_values(
                keyed, lambda _, each: within_lengths(each, kind.value, at=f"{at}.value")
            )
        case MultisetType():
            return F.transform_keys(
                column, lambda key, _: within_lengths(key, kind.element, at=f"{at}.element")
            )
        case RowType():
            fields = (
                within_lengths(
                    column.getField(field.name), field.type, at=f"{at}.{field.name}"
                ).alias(field.name)
                for field in kind.fields
            )
            return F.when(column.isNotNull(), F.struct(*fields))
        case VectorType():
            return column


def too_long(column: Column, kind: DataType) -> Column | None:
    """Whether a text is too long for a column itself; None where none can be."""
    if not isinstance(kind, AtomicType) or not _has_lengths(kind):
        return None
    return F.char_length(F.rtrim(column)) > (kind.length or 0)


@contextmanager
def length_errors() -> Iterator[None]:
    """Gives the error of a text that is too long the condition that Spark has for it."""
    try:
        yield
    except PySparkException as error:
        found = _TOO_LONG.search(str(error))
        if found is None:
            raise
        raise runtime_error("EXCEED_LIMIT_LENGTH", found[0], {"limit": found[1]}) from error


def _has_lengths(kind: DataType) -> bool:
    match kind:
        case AtomicType():
            is_text = kind.root in {TypeRoot.CHAR, TypeRoot.VARCHAR}
            return is_text and kind.length not in {None, MAX_LENGTH}
        case ArrayType() | MultisetType():
            return _has_lengths(kind.element)
        case MapType():
            return _has_lengths(kind.key) or _has_lengths(kind.value)
        case RowType():
            return any(_has_lengths(field.type) for field in kind.fields)
        case VectorType():
            return False


def _text(column: Column, kind: AtomicType, at: str) -> Column:
    limit = kind.length or 0
    too_long = F.raise_error(f"Exceeds char/varchar type length limitation: {limit}. Column: {at}.")
    fitting = F.rpad(column, limit, " ") if kind.root is TypeRoot.CHAR else column
    return (
        F.when(column.isNull() | (F.char_length(column) <= limit), fitting)
        .when(F.char_length(F.rtrim(column)) <= limit, F.substring(column, 1, limit))
        .otherwise(too_long)
    )
