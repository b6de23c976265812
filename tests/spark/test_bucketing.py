"""The JVM and the writer agree on the bucket of every row."""

import datetime as dt
from decimal import Decimal

import pytest
from pyspark.sql import SparkSession

from lakebed.format.bucket import assign_buckets
from lakebed.format.types import (
    MAX_LENGTH,
    AtomicType,
    DataField,
    TypeRoot,
    with_nullability,
)
from lakebed.spark.bucketing import bucket_column

pytestmark = pytest.mark.spark

TYPES = {
    "l": AtomicType(root=TypeRoot.BIGINT),
    "i": AtomicType(root=TypeRoot.INT),
    "h": AtomicType(root=TypeRoot.SMALLINT),
    "t": AtomicType(root=TypeRoot.TINYINT),
    "b": AtomicType(root=TypeRoot.BOOLEAN),
    "s": AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH),
    "z": AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH),
    "d": AtomicType(root=TypeRoot.DATE),
    "n": AtomicType(root=TypeRoot.DECIMAL, precision=10, scale=2),
    "m": AtomicType(root=TypeRoot.TIMESTAMP, precision=6),
}
SCHEMA = (
    "l BIGINT, i INT, h SMALLINT, t TINYINT, b BOOLEAN, s STRING, z STRING, d DATE,"
    " n DECIMAL(10, 2), m TIMESTAMP_NTZ"
)
TEXTS = ["", "a", "1234567", "12345678", "ünï", "日本語テキスト", "x" * 40, None]
NUMBERS = [0, 1, -1, 63, -(2**63), 2**63 - 1, 123456789012345, None]


def rows() -> list[tuple[object, ...]]:
    return [
        (
            number,
            None if number is None else number % 2**32 - 2**31,
            None if number is None else number % 2**16 - 2**15,
            None if number is None else number % 2**8 - 2**7,
            None if number is None else number > 0,
            text,
            TEXTS[(index + 3) % len(TEXTS)],
            None if number is None else dt.date(1970, 1, 1) + dt.timedelta(days=index - 4),
            None if number is None else Decimal(index - 4) / 4,
            None if number is None else dt.datetime.fromisoformat(f"2024-01-01T00:00:{index:02}"),
        )
        for index, (number, text) in enumerate(
            [(number, text) for number in NUMBERS for text in TEXTS][:60]
        )
    ]


@pytest.mark.parametrize("key", ["l", "i", "s", "si", "lszih", "tbd", "ns", "m"])
def test_buckets_in_spark_are_those_of_the_format(bare: SparkSession, key: str) -> None:
    frame = bare.createDataFrame(rows(), SCHEMA)
    fields = [DataField(id=index, name=name, type=TYPES[name]) for index, name in enumerate(key)]
    column = bucket_column(bare, fields, total_buckets=7, function="default")
    found = frame.select(*key, column.alias("bucket")).toArrow()
    expected = assign_buckets(
        [found.column(name) for name in key], [TYPES[name] for name in key], total_buckets=7
    )
    assert found.column("bucket").to_pylist() == expected.tolist()
    assert len(set(expected.tolist())) > 1


def test_keys_that_are_never_null_need_no_null_bits(bare: SparkSession) -> None:
    whole = [row for row in rows() if None not in row]
    assert whole
    frame = bare.createDataFrame(whole, SCHEMA)
    kinds = [with_nullability(TYPES[name], nullable=False) for name in "lisd"]
    fields = [DataField(id=0, name=name, type=k) for name, k in zip("lisd", kinds, strict=True)]
    column = bucket_column(bare, fields, total_buckets=7, function="default")
    found = frame.select(*"lisd", column.alias("bucket")).toArrow()
    expected = assign_buckets([found.column(name) for name in "lisd"], kinds, total_buckets=7)
    assert found.column("bucket").to_pylist() == expected.tolist()


def test_mod_buckets_are_floored_remainders(bare: SparkSession) -> None:
    fields = [DataField(id=0, name="id", type=TYPES["l"])]
    column = bucket_column(bare, fields, total_buckets=3, function="mod")
    found = bare.range(-4, 4).select(column.alias("bucket")).collect()
    assert [row.bucket for row in found] == [2, 0, 1, 2, 0, 1, 2, 0]


def test_the_session_stays_in_ansi_mode(bare: SparkSession) -> None:
    fields = [DataField(id=0, name="id", type=TYPES["l"])]
    bucket_column(bare, fields, total_buckets=3, function="default")
    assert bare.conf.get("spark.sql.ansi.enabled") == "true"


def test_keys_of_one_type_with_and_without_nulls_have_their_own_functions(
    bare: SparkSession,
) -> None:
    frame = bare.createDataFrame([(1,), (None,)], "`a``b.c` BIGINT")
    for nullable in (False, True):
        kind = with_nullability(TYPES["l"], nullable=nullable)
        fields = [DataField(id=0, name="a`b.c", type=kind)]
        column = bucket_column(bare, fields, total_buckets=7, function="default")
        rows = frame if nullable else frame.limit(1)
        found = rows.select(column.alias("bucket")).toArrow().column("bucket").to_pylist()
        keys = rows.toArrow().column(0)
        assert found == assign_buckets([keys], [kind], total_buckets=7).tolist()


def test_buckets_of_hive_are_those_of_the_format(bare: SparkSession) -> None:
    fields = [DataField(id=index, name=name, type=TYPES[name]) for index, name in enumerate("sl")]
    column = bucket_column(bare, fields, total_buckets=7, function="hive")
    found = bare.createDataFrame(rows(), SCHEMA).select("s", "l", column.alias("bucket")).toArrow()
    keys, kinds = [found.column(name) for name in "sl"], [TYPES[name] for name in "sl"]
    expected = assign_buckets(keys, kinds, total_buckets=7, function="hive")
    assert found.column("bucket").to_pylist() == expected.tolist()
    assert expected.tolist() != assign_buckets(keys, kinds, total_buckets=7).tolist()
