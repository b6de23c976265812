"""How does Spark's JVM compute the bucket of a row?

As a temporary function of SQL, so that no row visits Python for it: the bytes of the key's
BinaryRow are put together and hashed by Spark's own `hash`, which is the format's murmur3
(format.md 9). Types whose bytes SQL cannot give go through a function over Arrow.

The bucket here only brings rows of a bucket into one task; the writer there computes it again.

The surprising thing: `cast(bigint as binary)` is refused in ANSI mode, but a function whose body
was analysed outside of ANSI mode keeps working in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know
from pyspark.sql.pandas.functions import arrow_udf

from lakebed.format.bucket import assign_buckets
from lakebed.format.types import AtomicType, DataField, DataType, TypeRoot
from lakebed.spark.session_functions import made_functions, note_function
from lakebed.spark.types import to_spark_type

_ANSI = "spark.sql.ansi.enabled"
_HEADER_BYTES = 8
_SLOT_BYTES = 8
# Null bits start behind the byte of the row kind; a longer key would need a second word of them.
_COLUMNS_MAX = 56
_INLINE_BYTES_MAX = 7
_ZEROS = "X'0000000000000000'"
_NUMBERS = {
    TypeRoot.BOOLEAN,
    TypeRoot.TINYINT,
    TypeRoot.SMALLINT,
    TypeRoot.INT,
    TypeRoot.DATE,
    TypeRoot.BIGINT,
}
_TEXT = {TypeRoot.CHAR, TypeRoot.VARCHAR}


def bucket_column(
    spark: SparkSession,
    fields: Sequence[DataField],
    *,
    total_buckets: int,
    function: str,
) -> Column:
    """The bucket of each row of a frame that has these columns.

    Args:
        spark: The session.
        fields: Columns of the bucket key, in its order.
        total_buckets: How many buckets there are.
        function: Value of `bucket-function.type`.
    """
    columns = [F.col(f"`{field.name.replace('`', '``')}`") for field in fields]
    roots = _roots(fields)
    if function == "mod" and len(roots) == 1 and roots[0] in {TypeRoot.INT, TypeRoot.BIGINT}:
        return F.pmod(columns[0], F.lit(total_buckets)).cast("int")
    if function == "default" and is_hashed_in_sql(fields):
        hashed = F.call_function(_hash_function(spark, fields), *columns)
        return F.abs(hashed % F.lit(total_buckets)).cast("int")
    buckets = BucketsOf(tuple(field.type for field in fields), total_buckets, function)
    # The stubs want the kind of function; PySpark infers it, and warns where it is given.
    assign = arrow_udf(buckets, "int")  # type: ignore[call-overload]  # see above
    found: Column = assign(*columns)
    return found


def is_hashed_in_sql(fields: Sequence[DataField]) -> bool:
    """Whether SQL gives the bytes of rows of these columns."""
    known = [root for root in _roots(fields) if root in _NUMBERS or root in _TEXT]
    return len(known) == len(fields) <= _COLUMNS_MAX


def _roots(fields: Sequence[DataField]) -> list[TypeRoot | None]:
    return [each.type.root if isinstance(each.type, AtomicType) else None for each in fields]


@dataclass(frozen=True, slots=True)
class BucketsOf:
    """The bucket function over Arrow arrays, for key types that SQL cannot spell as bytes."""

    types: tuple[DataType, ...]
    total_buckets: int
    function: str

    # PySpark looks at these annotations when it runs, where Arrow's classes take no parameters.
    def __call__(self, *columns: pa.Array) -> pa.Array:  # type: ignore[type-arg]  # see above
        """The bucket of each row."""
        ids = assign_buckets(
            columns, self.types, total_buckets=self.total_buckets, function=self.function
        )
        return pa.array(ids, pa.int32())


def _hash_function(spark: SparkSession, fields: Sequence[DataField]) -> str:
    """The name of the temporary function for keys of these types, made at first use."""
    kinds = [field.type for field in fields if isinstance(field.type, AtomicType)]
    texts = [
        to_spark_type(field.type, column=field.name).simpleString()
        for field in fields
        if isinstance(field.type, AtomicType)
    ]
    marks = [
        text + ("_null" if kind.nullable else "") for text, kind in zip(texts, kinds, strict=True)
    ]
    name = "__lakebed_bucket_" + "_".join(marks)
    if name not in made_functions(spark):
        parameters = ", ".join(f"c{index} {text}" for index, text in enumerate(texts))
        was_ansi = spark.conf.get(_ANSI, None)
        spark.conf.set(_ANSI, "false")
        try:
            spark.sql(
                f"CREATE OR REPLACE TEMPORARY FUNCTION {name}({parameters}) RETURNS INT"
                f" RETURN {hash_expression(kinds)}"
            )
        finally:
            if was_ansi is None:
                spark.conf.unset(_ANSI)
            else:
                spark.conf.set(_ANSI, was_ansi)
        note_function(spark, name)
    return name


def hash_expression(kinds: Sequence[AtomicType]) -> str:
    """SQL of the hash of a row of columns c0, c1, ... of these types (format.md 9)."""
    slots: list[str] = []
    tails: list[str] = []
    offset = str(_HEADER_BYTES + _SLOT_BYTES * len(kinds))
    for index, kind in enumerate(kinds):
        column = f"c{index}"
        if kind.root in _TEXT:
            length = f"octet_length({column})"
            inline = (
                f"concat(rpad(cast({column} AS BINARY), {_INLINE_BYTES_MAX}, X'00'),"
                f" cast(cast({length} - 128 AS TINYINT) AS BINARY))"
            )
            pointer = f"concat({_little_int(length)}, {_little_int(offset)})"
            is_long = f"{length} > {_INLINE_BYTES_MAX}"
            slot = f"if({is_long}, {pointer}, {inline})"
            padded = f"(({length} + 7) DIV 8) * 8"
            tail = f"rpad(cast({column} AS BINARY), cast({padded} AS INT), X'00')"
            tails.append(f"coalesce(if({is_long}, {tail}, X''), X'')")
            offset = f"cast({offset} + coalesce(if({is_long}, {padded}, 0), 0) AS INT)"
        else:
            slot = _number_slot(column, kind.root)
        slots.append(f"if({column} IS NULL, {_ZEROS}, {slot})" if kind.nullable else slot)
    return f"hash(concat({', '.join([_header(kinds), *slots, *tails])}))"


def _header(kinds: Sequence[AtomicType]) -> str:
    """The byte of the row kind, then a bit for each column that is null."""
    nullable = [index for index, kind in enumerate(kinds) if kind.nullable]
    if not nullable:
        return _ZEROS
    parts = ["X'00'"]
    for first in range(0, _COLUMNS_MAX, 8):
        bits = [
            f"if(c{index} IS NULL, {1 << (index - first)}, 0)"
            for index in nullable
            if first <= index < first + 8
        ]
        parts.append(f"cast(cast({' + '.join(bits)} AS TINYINT) AS BINARY)" if bits else "X'00'")
    is_any_null = " OR ".join(f"c{index} IS NULL" for index in nullable)
    return f"if({is_any_null}, concat({', '.join(parts)}), {_ZEROS})"


def _number_slot(column: str, root: TypeRoot) -> str:
    """The bytes of a number, lowest first, where the cast to BINARY gives the highest first."""
    match root:
        case TypeRoot.BIGINT:
            return _little_bigint(column)
        case TypeRoot.INT:
            return f"concat({_little_int(column)}, X'00000000')"
        case TypeRoot.DATE:
            return f"concat({_little_int(f'unix_date({column})')}, X'00000000')"
        case TypeRoot.SMALLINT:
            swapped = f"shiftleft({column} & 255, 8) | (shiftright({column}, 8) & 255)"
            return f"concat(cast(cast({swapped} AS SMALLINT) AS BINARY), X'000000000000')"
        case _:
            return f"concat(cast(cast({column} AS TINYINT) AS BINARY), X'00000000000000')"


def _little_int(number: str) -> str:
    """Bytes change places in pairs, then pairs do."""
    pairs = f"((shiftleft({number}, 8) & -16711936) | (shiftrightunsigned({number}, 8) & 16711935))"
    return f"cast(shiftleft({pairs}, 16) | shiftrightunsigned({pairs}, 16) AS BINARY)"


def _little_bigint(number: str) -> str:
    """Bytes change places in pairs, then pairs do, then halves."""
    pairs = (
        f"((shiftleft({number}, 8) & -71777214294589696L)"
        f" | (shiftrightunsigned({number}, 8) & 71777214294589695L))"
    )
    halves = (
        f"((shiftleft({pairs}, 16) & -281470681808896L)"
        f" | (shiftrightunsigned({pairs}, 16) & 281470681808895L))"
    )
    return f"cast(shiftleft({halves}, 32) | shiftrightunsigned({halves}, 32) AS BINARY)"
