"""Overwrites of the partitions that a condition means, of a frame and in SQL."""

from pathlib import Path
from urllib.parse import urlparse

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

pytestmark = pytest.mark.spark

NAME = "lake.db.parted"
START = [(1, "p"), (2, "q"), (3, "r"), (4, None)]
Rows = list[tuple[object, ...]]


@pytest.fixture
def table(spark: SparkSession) -> str:
    """A table with a row in each of the partitions p, q, r and that of null."""
    spark.sql(f"DROP TABLE IF EXISTS {NAME}")
    spark.sql(f"CREATE TABLE {NAME} (a INT, pt STRING) PARTITIONED BY (pt)")
    spark.sql(f"INSERT INTO {NAME} VALUES (1, 'p'), (2, 'q'), (3, 'r'), (4, NULL)")
    return NAME


def frame(spark: SparkSession, *given: tuple[int, str | None]) -> DataFrame:
    return spark.createDataFrame(list(given), "a INT, pt STRING")


def rows(spark: SparkSession) -> Rows:
    return sorted((tuple(row) for row in spark.table(NAME).collect()), key=str)


def data_files(spark: SparkSession) -> set[Path]:
    location = spark.sql(f"SHOW TBLPROPERTIES {NAME} ('path')").collect()[0].value
    return set(Path(urlparse(location).path).glob("pt=*/bucket-*/data-*"))


def test_a_condition_of_a_frame_replaces_the_partitions_that_it_means(
    spark: SparkSession, table: str
) -> None:
    frame(spark, (9, "p")).writeTo(table).overwrite(F.col("pt") == "p")
    assert rows(spark) == [(2, "q"), (3, "r"), (4, None), (9, "p")]
    condition = F.upper(F.col("parted.pt")).isin("Q", "R", "S")
    frame(spark, (5, "s"), (6, "q")).writeTo(table).overwrite(condition)
    assert rows(spark) == [(4, None), (5, "s"), (6, "q"), (9, "p")]
    frame(spark).writeTo(table).overwrite(F.col("pt").isNull())
    assert rows(spark) == [(5, "s"), (6, "q"), (9, "p")]
    frame(spark, (7, "t")).writeTo(table).overwrite(F.lit(True))  # noqa: FBT003 - as a user writes it
    assert rows(spark) == [(7, "t")]


def test_a_row_outside_of_the_partitions_is_an_error_that_leaves_all_as_it_was(
    spark: SparkSession, table: str
) -> None:
    before = data_files(spark)
    with pytest.raises(AnalysisException, match="outside the partition") as caught:
        frame(spark, (9, "p"), (8, "q")).writeTo(table).overwrite(F.col("pt") == "p")
    assert caught.value.getCondition() == "LAKEBED_INVALID_DATA"
    assert rows(spark) == START
    assert data_files(spark) == before


def test_a_condition_on_other_columns_is_refused_by_name(spark: SparkSession, table: str) -> None:
    writer = frame(spark, (9, "p")).writeTo(table)
    with pytest.raises(AnalysisException, match=r"partitioned by \(pt\)") as caught:
        writer.overwrite((F.col("pt") == "p") & (F.col("a") > 0))
    assert caught.value.getCondition() == "UNSUPPORTED_FEATURE.TABLE_OPERATION"
    with pytest.raises(AnalysisException) as caught:
        writer.overwrite(F.col("nothing") == 1)
    assert (caught.value.getCondition() or "").startswith("UNRESOLVED_COLUMN")
    assert rows(spark) == START


def test_replace_where_replaces_the_partitions_that_it_means(
    spark: SparkSession, table: str
) -> None:
    spark.sql(f"INSERT INTO {table} REPLACE WHERE {table}.pt > 'p' SELECT a + 10, 'q' FROM {table}")
    assert rows(spark) == [(1, "p"), (11, "q"), (12, "q"), (13, "q"), (14, "q"), (4, None)]
    spark.sql(f"INSERT INTO {table} REPLACE WHERE pt = :which VALUES (0, 'q')", {"which": "q"})
    assert rows(spark) == [(0, "q"), (1, "p"), (4, None)]
    with pytest.raises(AnalysisException, match=r"some rows are outside the partition pt = 'q'"):
        spark.sql(f"INSERT INTO {table} REPLACE WHERE pt = 'q' VALUES (5, 'p')")
    with pytest.raises(AnalysisException, match=r"partitioned by \(pt\)"):
        spark.sql(f"INSERT INTO {table} REPLACE WHERE a = 1 VALUES (1, 'p')")
    assert rows(spark) == [(0, "q"), (1, "p"), (4, None)]


def test_partitions_of_days_and_numbers_are_compared_as_such(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.days (a INT, day DATE, n BIGINT) PARTITIONED BY (day, n)")
    spark.sql("""INSERT INTO lake.db.days VALUES
        (1, DATE '2026-01-01', 9), (2, DATE '2026-01-02', 10), (3, DATE '2026-01-02', 9)""")
    spark.sql("""INSERT INTO lake.db.days REPLACE WHERE day >= DATE '2026-01-02' AND n < 10
        VALUES (4, DATE '2026-01-02', 8)""")
    found = spark.sql("SELECT a, n FROM lake.db.days ORDER BY a").collect()
    assert [tuple(row) for row in found] == [(1, 9), (2, 10), (4, 8)]


def test_a_table_without_partitions_is_replaced_as_a_whole_or_not_at_all(
    spark: SparkSession,
) -> None:
    spark.sql("CREATE TABLE lake.db.whole (a INT)")
    spark.sql("INSERT INTO lake.db.whole VALUES (1)")
    spark.sql("INSERT INTO lake.db.whole REPLACE WHERE 1 = 1 VALUES (2)")
    assert [row.a for row in spark.table("lake.db.whole").collect()] == [2]
    with pytest.raises(AnalysisException, match="outside the partition 1 = 0"):
        spark.sql("INSERT INTO lake.db.whole REPLACE WHERE 1 = 0 VALUES (3)")
    with pytest.raises(AnalysisException, match=r"partitioned by \(none\)"):
        spark.sql("INSERT INTO lake.db.whole REPLACE WHERE a = 2 VALUES (3)")
    assert [row.a for row in spark.table("lake.db.whole").collect()] == [2]


def test_insert_with_schema_evolution_adds_columns_by_name_alone(
    spark: SparkSession, table: str
) -> None:
    spark.sql(
        f"INSERT WITH SCHEMA EVOLUTION INTO {table} BY NAME SELECT 'p' AS pt, 5L AS more, 7 AS a"
    )
    assert [tuple(row) for row in spark.table(table).where("a > 3 AND pt = 'p'").collect()] == [
        (7, "p", 5)
    ]
    with pytest.raises(AnalysisException, match="write BY NAME") as caught:
        spark.sql(f"INSERT WITH SCHEMA EVOLUTION INTO {table} VALUES (1, 'p', 5, 6)")
    assert caught.value.getCondition() == "UNSUPPORTED_FEATURE.TABLE_OPERATION"
