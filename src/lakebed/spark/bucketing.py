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
from lakebed.spark.registry import Registry
from lakebed.spark.types import to_spark_type

_ANSI = "spark.sql.ansi.enabled"
_HEADER_BYTES = 8
_SLOT_BYTES = 8
# Null bits start behind the byte of the row kind; a longer key would need a second word of them.
_COLUMNS_MAX = 56
_INLINE_BYTES_MAX = 7
# How many bytes of a slot a number takes, lowest byte first.
_NUMBER_BYTES = {
    TypeRoot.BOOLEAN: 1,
    TypeRoot.TINYINT: 1,
    TypeRoot.SMALLINT: 2,
    TypeRoot.INT: 4,
    TypeRoot.DATE: 4,
    TypeRoot.BIGINT: 8,
}
_TEXT = {TypeRoot.CHAR, TypeRoot.VARCHAR}


def bucket_column(
    spark: SparkSession,
    registry: Registry,
    fields: Sequence[DataField],
    *,
    total_buckets: int,
    function: str,
) -> Column:
    """The bucket of each row of a frame that has these columns.

    Args:
        spark: The session.
        registry: Its registry, which remembers the functions that were made.
        fields: Columns of the bucket key, in its order.
        total_buckets: How many buckets there are.
        function: Value of `bucket-function.type`.
    """
    columns = [F.col(f"`{field.name.replace('`', '``')}`") for field in fields]
    roots = [field.type.root if isinstance(field.type, AtomicType) else None for field in fields]
    if function == "mod" and len(roots) == 1 and roots[0] in {TypeRoot.INT, TypeRoot.BIGINT}:
        return F.pmod(columns[0], F.lit(total_buckets)).cast("int")
    known = [root for root in roots if root in _NUMBER_BYTES or root in _TEXT]
    if function == "default" and len(known) == len(fields) <= _COLUMNS_MAX:
        hashed = F.call_function(_hash_function(spark, registry, fields), *columns)
        return F.abs(hashed % F.lit(total_buckets)).cast("int")
    buckets = BucketsOf(tuple(field.type for field in fields), total_buckets, function)
    # The stubs want the kind of function; PySpark infers it, and warns where it is given.
    assign = arrow_udf(buckets, "int")  # type: ignore[call-overload]  # see above
    found: Column = assign(*columns)
    return found


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


def _hash_function(spark: SparkSession, registry: Registry, fields: Sequence[DataField]) -> str:
    """The name of the temporary function for keys of these types, made at first use."""
    kinds = [to_spark_type(field.type).simpleString() for field in fields]
    name = "__lakebed_bucket_" + "_".join(kinds)
    if name not in registry.functions:
        parameters = ", ".join(f"c{index} {kind}" for index, kind in enumerate(kinds))
        roots = [field.type.root for field in fields if isinstance(field.type, AtomicType)]
        was_ansi = spark.conf.get(_ANSI, "true")
        spark.conf.set(_ANSI, "false")
        try:
            spark.sql(
                f"CREATE OR REPLACE TEMPORARY FUNCTION {name}({parameters}) RETURNS INT"
                f" RETURN {hash_expression(roots)}"
            )
        finally:
            spark.conf.set(_ANSI, was_ansi or "true")
        registry.functions.add(name)
    return name


def hash_expression(roots: Sequence[TypeRoot]) -> str:
    """SQL of the hash of a row of columns c0, c1, ... of these types (format.md 9)."""
    slots: list[str] = []
    tails: list[str] = []
    offset = str(_HEADER_BYTES + _SLOT_BYTES * len(roots))
    for index, root in enumerate(roots):
        column = f"c{index}"
        if root in _TEXT:
            length = f"octet_length({column})"
            inline = (
                f"concat(rpad(cast({column} AS BINARY), {_INLINE_BYTES_MAX}, X'00'),"
                f" cast(cast({length} - 128 AS TINYINT) AS BINARY))"
            )
            pointer = f"concat({_little(length, 4)}, {_little(offset, 4)})"
            is_long = f"{length} > {_INLINE_BYTES_MAX}"
            slots.append(_or_zeros(column, f"if({is_long}, {pointer}, {inline})"))
            padded = f"(({length} + 7) DIV 8) * 8"
            tail = f"rpad(cast({column} AS BINARY), cast({padded} AS INT), X'00')"
            tails.append(f"coalesce(if({is_long}, {tail}, X''), X'')")
            offset = f"({offset} + coalesce(if({is_long}, {padded}, 0), 0))"
        else:
            width = _NUMBER_BYTES[root]
            number = f"unix_date({column})" if root is TypeRoot.DATE else column
            zeros = "00" * (_SLOT_BYTES - width)
            bytes_ = _little(number, width)
            slot = bytes_ if not zeros else f"concat({bytes_}, X'{zeros}')"
            slots.append(_or_zeros(column, slot))
    return f"hash(concat({', '.join([_header(len(roots)), *slots, *tails])}))"


def _header(count: int) -> str:
    """The byte of the row kind, then a bit for each column that is null."""
    parts = ["X'00'"]
    for first in range(0, _COLUMNS_MAX, 8):
        bits = [
            f"if(c{index} IS NULL, {1 << (index - first)}, 0)"
            for index in range(first, min(first + 8, count))
        ]
        parts.append(f"cast(cast({' + '.join(bits)} AS TINYINT) AS BINARY)" if bits else "X'00'")
    return ", ".join(parts)


def _or_zeros(column: str, slot: str) -> str:
    return f"if({column} IS NULL, X'{'00' * _SLOT_BYTES}', {slot})"


def _little(number: str, width: int) -> str:
    """The bytes of a number, lowest first; the cast to BINARY gives the highest first."""
    kinds = {1: "TINYINT", 2: "SMALLINT", 4: "INT", 8: "BIGINT"}
    if width == 1:
        return f"cast(cast({number} AS TINYINT) AS BINARY)"
    shifted = []
    for byte in range(width):
        mask = 0xFF << (8 * byte)
        to = 8 * (width - 1 - byte) - 8 * byte
        value = f"cast({number} AS BIGINT)"
        signed = mask - (1 << 64) if mask >= 1 << 63 else mask
        masked = f"({value} & {signed}L)"
        shifted.append(
            f"shiftleft({masked}, {to})" if to >= 0 else f"shiftrightunsigned({masked}, {-to})"
        )
    return f"cast(cast({' | '.join(shifted)} AS {kinds[width]}) AS BINARY)"
