"""Lakebed's expressions mean what Spark's do: the same rows, the same text, the same values."""

import math
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakebed.errors import InvalidArgumentError
from lakebed.format.predicate.evaluation import evaluate
from lakebed.format.predicate.parser import parse_expression
from lakebed.format.types import MAX_LENGTH, AtomicType, DataField, DataType, RowType, TypeRoot

pytestmark = pytest.mark.spark

ZONE = "America/New_York"

ROWS = """
SELECT * FROM VALUES
  (1, 1Y, 1S, 1, 1L, 1.5F, 1.5D, 1.50BD, 12345678901234567890.1234567890BD, true, 'a', X'FF',
   DATE '2024-01-01', TIMESTAMP '2024-01-01 00:00:00', TIMESTAMP_NTZ '2024-01-01 00:00:00',
   named_struct('x', 1)),
  (2, -128Y, -3S, 2, 1099511627776L, float('nan'), double('nan'), -2.25BD,
   -0.0000000001BD, false, 'B%', X'', DATE '1969-12-31', TIMESTAMP '2024-03-10 03:30:00',
   TIMESTAMP_NTZ '2024-03-10 02:30:00', named_struct('x', null)),
  (3, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null),
  (4, 127Y, 7S, -5, 0L, 0.0F, -0.0D, 99999999.99BD, 0BD, true, '2024-01-01', X'61',
   DATE '2024-03-10', TIMESTAMP '1960-01-01 12:34:56.789',
   TIMESTAMP_NTZ '2024-11-03 01:30:00.5', named_struct('x', 3)),
  (5, 0Y, 0S, 2147483647, -9223372036854775808L, float('inf'), -1.0E300D, 0.05BD,
   1BD, false, ' 42 ', X'6162', DATE '0001-01-01', TIMESTAMP '2024-11-03 01:30:00',
   TIMESTAMP_NTZ '1883-11-18 12:00:00', named_struct('x', 2))
AS t(n, i8, i16, i, l, f, d, dec, big, b, s, bin, dt, ts, tn, st)
"""

TYPES: dict[str, DataType] = {
    "n": AtomicType(root=TypeRoot.INT),
    "i8": AtomicType(root=TypeRoot.TINYINT),
    "i16": AtomicType(root=TypeRoot.SMALLINT),
    "i": AtomicType(root=TypeRoot.INT),
    "l": AtomicType(root=TypeRoot.BIGINT),
    "f": AtomicType(root=TypeRoot.FLOAT),
    "d": AtomicType(root=TypeRoot.DOUBLE),
    "dec": AtomicType(root=TypeRoot.DECIMAL, precision=10, scale=2),
    "big": AtomicType(root=TypeRoot.DECIMAL, precision=30, scale=10),
    "b": AtomicType(root=TypeRoot.BOOLEAN),
    "s": AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH),
    "bin": AtomicType(root=TypeRoot.VARBINARY, length=MAX_LENGTH),
    "dt": AtomicType(root=TypeRoot.DATE),
    "ts": AtomicType(root=TypeRoot.TIMESTAMP_LTZ, precision=6),
    "tn": AtomicType(root=TypeRoot.TIMESTAMP, precision=6),
    "st": RowType(fields=(DataField(id=50, name="x", type=AtomicType(root=TypeRoot.INT)),)),
}
ROW_TYPE = RowType(
    fields=tuple(
        DataField(id=i, name=name, type=kind) for i, (name, kind) in enumerate(TYPES.items())
    )
)


@pytest.fixture(scope="module")
def session() -> Iterator[SparkSession]:
    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", ZONE)
        .config("spark.sql.shuffle.partitions", "1")
        .getOrCreate()
    )
    spark.sql(ROWS).createOrReplaceTempView("t")
    yield spark
    spark.stop()


@pytest.fixture(scope="module")
def rows(session: SparkSession) -> pa.Table:
    table = session.sql("SELECT * FROM t ORDER BY n").toArrow()
    utc = [
        field.with_type(pa.timestamp("us", "UTC")) if field.name == "ts" else field
        for field in table.schema
    ]
    return table.cast(pa.schema(utc))


def lines(file_name: str) -> list[str]:
    text = (Path(__file__).parent / file_name).read_text(encoding="utf-8")
    return [line for line in text.split("\n") if line]


@pytest.fixture(scope="module")
def values_in_spark(session: SparkSession) -> dict[str, list[object]]:
    """The values of every expression, from one query."""
    texts = lines("predicate_expressions.txt")
    columns = [f"{text} AS v{i}" for i, text in enumerate(texts)]
    found = session.sql(f"SELECT {', '.join(columns)} FROM t ORDER BY n").toArrow()
    return {text: comparable(found.column(i).to_pylist()) for i, text in enumerate(texts)}


def values_in_process(text: str, rows: pa.Table) -> list[object]:
    expression = parse_expression(text, ROW_TYPE, time_zone=ZoneInfo(ZONE))
    return comparable(evaluate(expression, rows).to_pylist())


def comparable(values: list[object]) -> list[object]:
    return [_comparable(value) for value in values]


def _comparable(value: object) -> object:
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else (value, math.copysign(1.0, value))
    if isinstance(value, Decimal):
        return value, value.as_tuple().exponent
    return value


@pytest.mark.parametrize("text", lines("predicate_expressions.txt"))
def test_value_is_sparks(
    values_in_spark: dict[str, list[object]], rows: pa.Table, text: str
) -> None:
    assert values_in_process(text, rows) == values_in_spark[text]


@pytest.mark.parametrize("text", lines("predicate_refusals.txt"))
def test_what_spark_refuses_is_refused(session: SparkSession, rows: pa.Table, text: str) -> None:
    with pytest.raises(PySparkException):
        session.sql(f"SELECT {text} AS v FROM t").toArrow()

    with pytest.raises(InvalidArgumentError):
        values_in_process(text, rows)
