"""ANALYZE TABLE, beside what the real connector wrote of a golden table."""

import json
import shutil
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from lakebed.spark import attach
from tools.provenance import ROOT

pytestmark = pytest.mark.spark

TABLE = "lake.db.analyzed"
STATISTICS = "lake.db.`analyzed$statistics`"
ROWS = [
    (
        1,
        1.5,
        "a",
        date(2026, 1, 1),
        datetime(2026, 3, 29, 0, 30, tzinfo=UTC),
        Decimal("1.10"),
        True,
    ),
    (2, None, "abc", date(2026, 1, 3), datetime(2026, 3, 29, 1, tzinfo=UTC), Decimal(2), None),
    (2, 2.5, None, None, None, None, False),
]


@pytest.fixture
def table(spark: SparkSession) -> str:
    spark.sql(f"DROP TABLE IF EXISTS {TABLE}")
    spark.sql(f"""
        CREATE TABLE {TABLE} (id INT, x DOUBLE, s STRING, d DATE, ts TIMESTAMP, n DECIMAL(5, 2),
        b BOOLEAN) TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1', 'write-only' = 'true')
    """)
    return TABLE


def fill(spark: SparkSession, table: str) -> None:
    schema = spark.table(table).schema
    for row in ROWS:
        spark.createDataFrame([row], schema, verifySchema=False).writeTo(table).append()


def columns(spark: SparkSession) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(spark.table(STATISTICS).collect()[0].colstat)
    return found


def test_rows_and_all_columns_are_counted_as_they_are_read(spark: SparkSession, table: str) -> None:
    fill(spark, table)
    spark.sql(f"ANALYZE TABLE {table} COMPUTE STATISTICS FOR ALL COLUMNS")
    row = spark.table(STATISTICS).collect()[0]
    assert (row.snapshot_id, row.schema_id, row.mergedRecordCount) == (3, 0, 2)
    files = spark.table("lake.db.`analyzed$files`").agg({"file_size_in_bytes": "sum"})
    assert row.mergedRecordSize == files.collect()[0][0] * 2 // 3
    counts = {"nullCount": 1, "distinctCount": 1}
    assert columns(spark) == {
        "id": column(0, ("1", "2"), 4, distinctCount=2, nullCount=0),
        "x": column(1, ("1.5", "2.5"), 8, distinctCount=2, nullCount=0),
        "s": {"colId": 2, **counts, "avgLen": 1, "maxLen": 1},
        "d": column(3, ("20454", "20454"), 4, **counts),
        "ts": column(4, ("2026-03-29 00:30:00", "2026-03-29 00:30:00"), 8, **counts),
        "n": column(5, ("1.10", "1.10"), 8, **counts),
        "b": column(6, ("false", "true"), 1, distinctCount=2, nullCount=0),
    }
    kinds = spark.sql("SELECT commit_kind FROM lake.db.`analyzed$snapshots`").collect()
    assert [each.commit_kind for each in kinds][-1] == "ANALYZE"
    assert spark.table(table).count() == 2


def column(number: int, ends: tuple[str, str], size: int, **counts: int) -> dict[str, Any]:
    return {
        "colId": number,
        "min": ends[0],
        "max": ends[1],
        "avgLen": size,
        "maxLen": size,
        **counts,
    }


def test_times_are_told_in_utc_where_clocks_are_put_forward(
    spark: SparkSession, table: str
) -> None:
    spark.conf.set("spark.sql.session.timeZone", "Europe/Paris")
    try:
        spark.sql(f"INSERT INTO {table} (id, ts) VALUES (1, TIMESTAMP'2026-03-29 04:30:00.000001')")
        spark.sql(f"ANALYZE TABLE {table} COMPUTE STATISTICS FOR COLUMNS TS")
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert columns(spark)["ts"]["min"] == "2026-03-29 02:30:00.000001"


def test_statistics_stay_named_by_later_snapshots_until_the_schema_changes(
    spark: SparkSession, table: str
) -> None:
    fill(spark, table)
    spark.sql(f"ANALYZE TABLE {table} COMPUTE STATISTICS")
    assert columns(spark) == {}
    spark.sql(f"INSERT INTO {table} (id) VALUES (9)")
    assert spark.table(STATISTICS).collect()[0].snapshot_id == 3
    spark.sql(f"ALTER TABLE {table} ADD COLUMN more INT")
    spark.sql(f"INSERT INTO {table} (id) VALUES (10)")
    assert spark.table(STATISTICS).collect() == []
    spark.sql(f"ANALYZE TABLE {table} COMPUTE STATISTICS FOR COLUMNS more, id")
    found = columns(spark)
    assert found["more"] == {
        "colId": 7,
        "distinctCount": 0,
        "nullCount": 4,
        "avgLen": 4,
        "maxLen": 4,
    }
    assert found["id"]["max"] == "10"


def test_a_golden_table_is_told_of_as_by_the_real_connector(
    spark: SparkSession, tmp_path: Path
) -> None:
    source = ROOT / "tests/golden/warehouse/db.db/defaults_comments"
    shutil.copytree(source, tmp_path / "db.db" / "t")
    attach(spark, "copied", warehouse=tmp_path.as_uri())
    statistics = "copied.db.`t$statistics`"
    before = spark.table(statistics).collect()[0]
    spark.sql("ANALYZE TABLE copied.db.t COMPUTE STATISTICS FOR ALL COLUMNS")
    after = spark.table(statistics).collect()[0]
    assert json.loads(after.colstat) == json.loads(before.colstat)
    assert after.mergedRecordSize == before.mergedRecordSize
    assert (after.snapshot_id, after.mergedRecordCount) == (4, before.mergedRecordCount)


@pytest.mark.parametrize(
    ("rest", "condition"),
    [
        ("COMPUTE STATISTICS FOR COLUMNS nothing", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ("COMPUTE STATISTICS FOR COLUMNS m", "UNSUPPORTED_FEATURE.ANALYZE_UNSUPPORTED_COLUMN_TYPE"),
        ("COMPUTE STATISTICS FOR ALL COLUMNS", "ANALYZE_UNSUPPORTED_COLUMN_TYPE"),
        ("COMPUTE STATISTICS NOSCAN", "UNSUPPORTED_FEATURE.TABLE_OPERATION"),
        ("PARTITION (a = 1) COMPUTE STATISTICS", "UNSUPPORTED_FEATURE.TABLE_OPERATION"),
        ("COMPUTE STATISTICS FOR", "PARSE_SYNTAX_ERROR"),
    ],
)
def test_what_cannot_be_analyzed_is_said_and_nothing_committed(
    spark: SparkSession, *, rest: str, condition: str
) -> None:
    spark.sql("CREATE OR REPLACE TABLE lake.db.analyzed_not (id INT, m MAP<STRING, INT>)")
    spark.sql("INSERT INTO lake.db.analyzed_not VALUES (1, map('a', 1))")
    before = spark.table("lake.db.`analyzed_not$snapshots`").count()
    with pytest.raises(AnalysisException, match=condition):
        spark.sql(f"ANALYZE TABLE lake.db.analyzed_not {rest}")
    assert spark.table("lake.db.`analyzed_not$snapshots`").count() == before


def test_an_empty_table_has_no_statistics(spark: SparkSession, table: str) -> None:
    spark.sql(f"ANALYZE TABLE {table} COMPUTE STATISTICS")
    assert spark.table(STATISTICS).collect() == []
