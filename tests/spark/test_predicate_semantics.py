"""Lakebed's expressions mean what Spark's do: the same rows, the same text, the same values."""

import math
from collections.abc import Iterator
from decimal import Decimal
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakebed.errors import InvalidArgumentError
from lakebed.format.evaluation import evaluate
from lakebed.format.predicate_parser import parse_expression
from lakebed.format.types import MAX_LENGTH, AtomicType, DataField, RowType, TypeRoot

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

TYPES = {
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
    fields=tuple(DataField(id=i, name=name, type=kind) for i, (name, kind) in enumerate(TYPES.items()))
)

EXPRESSIONS = r"""
i = 1
i == 1L
i != 1
i <> 1
i <=> NULL
i <=> 1
i < 2 OR i > 1000
NOT i = 1
! (i = 1)
NOT NOT b
i = 1 AND NULL
i = 1 OR NULL
b
b = true
b <> false
b = 'yes'
b > false
i IN (1, 2)
i NOT IN (1, NULL)
i IN (1, '2')
i8 IN (1, 127, 1000)
i BETWEEN 1 AND 2
i NOT BETWEEN 1 AND 2
i = 1 = true
i = 1 IS NULL
i IS NULL OR l IS NOT NULL
d = d
d = CAST('NaN' AS DOUBLE)
f = 1.5
f = d
f < d
d > 1e300
d <= 0.0
d >= -0.0D
d IN (0.0, 1.5)
d = 'NaN'
d < 'Infinity'
d = '1.5'
dec = 1.5
dec = 1.500
dec > 1
dec IN (1.5, -2.25, 3)
dec = '1.50'
dec < d
big = 1
big > 12345678901234567890
big < 0.00000000001
l = 1099511627776
l = '0'
l < 1.5
i8 < i16
i8 = 127
i16 = i
i = 1.0
s = 'a'
s < 'a'
s > 'B'
s <> 'B%'
s = 'A'
s LIKE 'a'
s LIKE 'B\%'
s LIKE '%\\%'
s LIKE 'B$%' ESCAPE '$'
s LIKE '2024-%'
s LIKE '_'
s NOT LIKE '%0%'
s LIKE ''
s LIKE NULL
i LIKE '1%'
dt LIKE '2024%'
s = 'it''s'
'it''s'
'a' 'b'
"double"
'tab\tnew\nquote\' back\\ \u0041 \101 \q'
r'raw\n'
s IN ('a', 'B%', NULL)
bin = X'FF'
bin > X'60'
bin = 'ab'
bin < X'61'
X'F'
dt = '2024-01-01'
dt = DATE '2024-01-01'
dt > DATE '1970-01-01'
dt <= '2024-3-10'
dt < '1970'
dt = TIMESTAMP '2024-01-01 00:00:00'
dt < TIMESTAMP_NTZ '2024-01-01 00:00:01'
dt IN ('2024-01-01', DATE '1969-12-31')
ts = TIMESTAMP '2024-01-01 00:00:00'
ts = TIMESTAMP '2024-01-01 05:00:00Z'
ts >= '2024-01-01'
ts >= '2024-01-01T00:00:00+05:45'
ts = TIMESTAMP '2024-01-01 00:00:00 Europe/Paris'
ts = TIMESTAMP_LTZ '2024-11-03 01:30:00'
ts = tn
ts < tn
ts > dt
tn = TIMESTAMP_NTZ '2024-01-01 00:00:00'
tn < '2024-03-10 02:30:01'
tn BETWEEN '2024-01-01' AND TIMESTAMP_NTZ '2024-12-31 23:59:59.999999'
tn = TIMESTAMP '2024-03-10 03:30:00'
st.x = 1
st.x IS NULL
st IS NULL
`st`.`x` > 1
i8 + 0Y
i16 + i8
l - 1L + 10
i * 2L
i / 2
i / 2L
dec + 1
dec + 1.5
dec - 10000000000L
dec * 2
dec * 1.05
dec * dec
dec / 3
dec / 7.001
big / 3
big * 3
big + 0.5
big * 0.123456789012345678
dec + d
f + 1
f * 2.5F
f + i
f / 2
d / 3
d - 0.1
-dec
-d
-f
+i16
- 5
-9223372036854775808
1 + 2 * 3 - 4 / 2
'5' + 1
'5' * 1.5
i8 + NULL
2 - -3
1.5BD
1e3
1.5E-2
.5
5.
3000000000
99999999999999999999
7F
7D
7S
7Y
CAST('12' AS INT)
CAST(' 12 ' AS BIGINT)
CAST('+12' AS SMALLINT)
CAST('1.5' AS DOUBLE)
CAST('1e3' AS FLOAT)
CAST('-Infinity' AS DOUBLE)
CAST('1.555' AS DECIMAL(10, 2))
CAST('1e2' AS DECIMAL(10, 2))
CAST('T' AS BOOLEAN)
CAST('no' AS BOOLEAN)
CAST(b AS INT)
CAST(b AS STRING)
CAST(b AS DECIMAL(3, 1))
CAST(i AS BOOLEAN)
CAST(i AS STRING)
CAST(l AS DOUBLE)
CAST(l AS FLOAT)
CAST(i AS DECIMAL(12, 2))
CAST(f AS DOUBLE)
CAST(f AS STRING)
CAST(d AS STRING)
CAST(1e7 AS STRING)
CAST(1.0E-3D AS STRING)
CAST(123456.789D AS STRING)
CAST(0.00012D AS STRING)
CAST(2.675D AS DECIMAL(10, 2))
CAST(-1.9D AS INT)
CAST(dec AS INT)
CAST(dec AS DOUBLE)
CAST(dec AS STRING)
CAST(dec AS DECIMAL(9, 1))
CAST(big AS STRING)
CAST(CAST(0.0000001 AS DECIMAL(10, 8)) AS STRING)
CAST(1.25 AS DECIMAL(2, 1))
CAST(-1.25 AS DECIMAL(2, 1))
CAST(bin AS BINARY)
CAST('ab' AS BINARY)
CAST(X'6162' AS STRING)
CAST(s AS VARCHAR(3))
CAST(dt AS STRING)
CAST(dt AS TIMESTAMP)
CAST(dt AS TIMESTAMP_NTZ)
CAST(ts AS DATE)
CAST(tn AS DATE)
CAST(ts AS STRING)
CAST(tn AS STRING)
CAST(ts AS TIMESTAMP_NTZ)
CAST(tn AS TIMESTAMP)
CAST(ts AS BIGINT)
CAST(i16 AS TIMESTAMP)
CAST('2024-02-29' AS DATE)
CAST('2024-2-9 12:00' AS DATE)
CAST('2024-11-03 01:30' AS TIMESTAMP)
CAST('2024-01-01 1:2:3.1234567' AS TIMESTAMP_NTZ)
CAST('2024-01-01T10:00:00Z' AS TIMESTAMP_NTZ)
CAST('2024' AS TIMESTAMP)
CAST('2024-01-01 10' AS TIMESTAMP_NTZ)
CAST(NULL AS INT)
i <> 0 AND 10 / i > 1
i = 0 OR 10 / i > 1
l <> 0 AND d > 0 AND 1 / l > 0
"""

FAILURES = r"""
i / 0
l / (i - 1)
1.5 / (dec - dec)
i + 2147483647
i8 + 1Y
-l
l * 10
CAST('abc' AS INT)
CAST('1.5' AS INT)
CAST('' AS DOUBLE)
CAST('maybe' AS BOOLEAN)
CAST(300 AS TINYINT)
CAST(1e10 AS INT)
CAST(CAST('NaN' AS DOUBLE) AS INT)
CAST(123.45 AS DECIMAL(4, 2))
CAST('2024-13-01' AS DATE)
CAST('2023-02-29' AS DATE)
CAST('yesterday' AS TIMESTAMP)
CAST('0x1F' AS INT)
s = 1
s > DATE '2024-01-01'
big * 100000000000000000000.0
128Y
40000S
9223372036854775808L
DATE '2024-02-30'
TIMESTAMP '12'
X'GG'
s LIKE 'a\\b'
s LIKE 'a\\'
i = true
b = 1
dt = 1
dt < 5.5
ts = 5
bin = 1
b + 1
st = 1
CAST(dt AS INT)
CAST(b AS DATE)
i = 
i IN ()
= 1
i = 1 AND
NOT
nope = 1
st.nope = 1
i.x = 1
i BETWEEN 1
s LIKE 'a' ESCAPE 'bc'
'open
CAST(i AS NOTYPE)
i AND b
NOT i
i IS NOT
CAST(1 AS DECIMAL(40, 2))
1e39BD
"""


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


def lines(text: str) -> list[str]:
    return [line for line in text.strip("\n").split("\n") if line]


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


@pytest.mark.parametrize("text", lines(EXPRESSIONS))
def test_value_is_sparks(session: SparkSession, rows: pa.Table, text: str) -> None:
    in_spark = session.sql(f"SELECT {text} AS v FROM t ORDER BY n").toArrow()

    assert values_in_process(text, rows) == comparable(in_spark.column("v").to_pylist())


@pytest.mark.parametrize("text", lines(FAILURES))
def test_what_spark_refuses_is_refused(session: SparkSession, rows: pa.Table, text: str) -> None:
    with pytest.raises(PySparkException):
        session.sql(f"SELECT {text} AS v FROM t").toArrow()

    with pytest.raises(InvalidArgumentError):
        values_in_process(text, rows)
