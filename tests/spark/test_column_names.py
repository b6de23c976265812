"""Columns with any names are written, whichever way the rows go to their table."""

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from lakebed.spark import key_shares, native_writes, writer
from lakebed.spark.names import quoted
from lakebed.spark.registry import Registry

pytestmark = pytest.mark.spark

TASKS = 3
ROWS = 120
COLUMNS = "`k``k` BIGINT NOT NULL, `a b,(c)=;` INT, `p.q` STRING NOT NULL"
NESTED = "`s.t` STRUCT<`x.y`: INT, z: ARRAY<STRUCT<`u``v`: STRING>>>"
VALUES = [
    "id AS `k``k`",
    "cast(id AS INT) AS `a b,(c)=;`",
    "concat('p', id % 5) AS `p.q`",
]
NESTED_VALUE = (
    "named_struct('x.y', cast(id AS INT), 'z', array(named_struct('u`v', string(id)))) AS `s.t`"
)
KEYED = {"primary-key": "k`k,p.q"}
TABLES: dict[str, dict[str, str]] = {
    "by Spark": {},
    "by tasks": {"file.format": "orc"},
    "bucketed": {"bucket": "3", "bucket-key": "k`k"},
    "keyed": {**KEYED, "bucket": "3"},
    "merged locally": {**KEYED, "bucket": "3", "local-merge-buffer-size": "1 mb"},
    "dynamic": {**KEYED, "bucket": "-1"},
    "moving": {"primary-key": "k`k", "bucket": "-1"},
    "postponed": {**KEYED, "bucket": "-2"},
}


@pytest.fixture(autouse=True)
def _any_row_is_worth_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_shares, "SHARE_BYTES", 1)
    monkeypatch.setattr(Registry, "parallelism", lambda *_: TASKS)


@pytest.fixture
def natively(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each write, whether Spark's own writer wrote the files."""
    answers: list[bool] = []

    def asking(*given: Any) -> bool:  # noqa: ANN401 - passed on
        answers.append(native_writes.is_native_write(*given))
        return answers[-1]

    monkeypatch.setattr(writer, "is_native_write", asking)
    return answers


def rows(spark: SparkSession, values: list[str], *, first: int = 0) -> DataFrame:
    """Rows in several tasks of which Spark does not know that they are few."""
    ids = spark.range(first, ROWS, 1, TASKS)
    return ids.mapInArrow(lambda batches: batches, ids.schema).selectExpr(*values)


@pytest.mark.parametrize("kind", TABLES)
def test_columns_may_have_names_that_must_be_quoted(
    spark: SparkSession, natively: list[bool], kind: str
) -> None:
    is_native = kind == "by Spark"
    columns = COLUMNS if is_native else f"{COLUMNS}, {NESTED}"
    values = VALUES if is_native else [*VALUES, NESTED_VALUE]
    texts = ", ".join(f"'{key}' = '{text}'" for key, text in TABLES[kind].items())
    properties = f"TBLPROPERTIES ({texts})" if texts else ""
    spark.sql("DROP TABLE IF EXISTS lake.db.quoted")
    spark.sql(f"CREATE TABLE lake.db.quoted ({columns}) PARTITIONED BY (`p.q`) {properties}")
    given, again = rows(spark, values), rows(spark, values, first=ROWS // 2)
    given.writeTo("lake.db.quoted").append()
    again.writeTo("lake.db.quoted").append()
    expected = given if "primary-key" in TABLES[kind] else given.unionAll(again)
    stored = spark.table("lake.db.quoted")
    assert expected.exceptAll(
        stored.select(*(quoted((name,)) for name in expected.columns))
    ).isEmpty()
    assert stored.count() == expected.count()
    assert natively == [is_native, is_native]
