"""Which rows of the table can a merge be about? Those between what its source has least and most.

A merge into a table of many partitions mostly brings rows of few. Asked of the source, which is
held, two values a column let whole partitions, files and groups of rows go unread.
"""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know
from pyspark.sql.types import (
    ByteType,
    DataType,
    DateType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
)

from lakebed.spark.names import quoted
from lakebed.spark.types import to_spark_schema
from lakebed.table.table import Table

_NUMBERS = (ByteType(), ShortType(), IntegerType(), LongType())
_OTHERS = (DateType(), StringType())
_TEXT_MAX = 200


@dataclass(frozen=True, slots=True)
class Reach:
    """What is known of the rows of a table that a source can be about.

    Attributes:
        condition: SQL that is true of each.
        row_count: How many rows the source has.
    """

    condition: str
    row_count: int


def reach_of(source: DataFrame, table: Table, pairs: Mapping[str, str]) -> Reach | None:
    """What every row of the table meets which a row of the source can equal.

    Args:
        source: The rows of the source; they are read once.
        table: The table.
        pairs: Columns of the source by those of the table that must equal them, in lower case.

    Returns:
        None where nothing is known.
    """
    kinds = {field.name: field.dataType for field in to_spark_schema(table.schema.fields).fields}
    given = {field.name: field.dataType for field in source.schema.fields}
    chosen = [
        (own, theirs)
        for own, kind in kinds.items()
        for theirs, other in given.items()
        if pairs.get(own.lower()) == theirs.lower() and _are_comparable(kind, other)
    ]
    # Names that differ in nothing but their case are left to Spark.
    if not chosen or len({own.lower() for own, _ in chosen}) < len(chosen):
        return None
    ends = [end(F.col(quoted((theirs,)))) for _, theirs in chosen for end in (F.min, F.max)]
    row_count, *values = source.select(F.count("*"), *ends).collect()[0]
    found = list(map(_literal, values))
    ranges = [
        f"{quoted((own,))} BETWEEN {least} AND {most}"
        for (own, _), least, most in zip(chosen, found[::2], found[1::2], strict=True)
        if least is not None and most is not None
    ]
    return Reach(" AND ".join(ranges), row_count) if ranges else None


def _are_comparable(kind: DataType, other: DataType) -> bool:
    return (kind in _NUMBERS and other in _NUMBERS) or (kind == other and kind in _OTHERS)


def _literal(value: object) -> str | None:
    match value:
        case int():
            return str(value)
        case dt.date():
            return f"DATE '{value.isoformat()}'"
        case str() if len(value) <= _TEXT_MAX and value.isprintable():
            is_plain = not {"'", "\\"} & set(value)
            return f"'{value}'" if is_plain else None
        case _:
            return None
