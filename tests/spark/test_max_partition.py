"""`sys.max_pt` is the greatest partition that has data; conditions on it leave out the others."""

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession) -> None:
    """Texts are compared as texts, numbers as numbers; `text` lost its greatest partition."""
    spark.sql("CREATE TABLE lake.db.text (id INT, dt STRING) PARTITIONED BY (dt)")
    spark.sql(
        "INSERT INTO lake.db.text VALUES (1, 'a'), (2, 'aa'), (3, 'b''{}\\\\'), (4, 'z'), (5, NULL)"
    )
    spark.sql("ALTER TABLE lake.db.text DROP PARTITION (dt = 'z')")
    spark.sql("CREATE TABLE lake.db.num (id INT, n INT, dt DATE) PARTITIONED BY (n, dt)")
    spark.sql("INSERT INTO lake.db.num VALUES (1, 9, DATE'2026-01-01'), (2, 10, DATE'2025-01-01')")
    spark.sql("CREATE TABLE lake.db.times (id INT, at TIMESTAMP) PARTITIONED BY (at)")
    spark.sql(
        "INSERT INTO lake.db.times VALUES (1, TIMESTAMP'2026-01-01 10:00:00'),"
        " (2, TIMESTAMP'2026-01-01 12:30:00')"
    )
    spark.sql("CREATE TABLE lake.db.plain (id INT)")
    spark.sql("CREATE TABLE lake.db.empty (id INT, dt STRING) PARTITIONED BY (dt)")


def one(spark: SparkSession, query: str, **arguments: object) -> object:
    return spark.sql(query, **arguments).collect()[0][0]  # type: ignore[arg-type]  # any


def test_the_value_is_the_greatest_that_has_data_as_a_text(spark: SparkSession) -> None:
    assert one(spark, "SELECT lake.sys.max_pt('lake.db.text')") == "b'{}\\"
    assert one(spark, "SELECT sys.max_pt('lake.db.num')") == "10"
    assert one(spark, "SELECT `lake`.SYS.Max_PT ( 'db.times' ) AS m") == "2026-01-01 12:30:00"
    assert one(spark, "SELECT lake.sys.max_pt(:t)", args={"t": "db.num"}) == "10"
    assert one(spark, "SELECT {c} || lake.sys.max_pt('db.text')", c="<") == "<b'{}\\"
    assert one(spark, "SELECT 'sys.max_pt(1)' -- lake.sys.max_pt(1)") == "sys.max_pt(1)"


def test_a_short_name_is_of_the_current_catalog(spark: SparkSession) -> None:
    try:
        spark.sql("USE lake.db")
        assert one(spark, "SELECT sys.max_pt('num')") == "10"
        assert one(spark, "SELECT id FROM num WHERE n = sys.max_pt('db.num')") == 2
    finally:
        spark.catalog.setCurrentCatalog("spark_catalog")


def test_conditions_on_it_read_one_partition(spark: SparkSession) -> None:
    found = spark.sql("SELECT id FROM lake.db.text WHERE dt = lake.sys.max_pt('db.text')")
    assert [row.id for row in found.collect()] == [3]
    spark.sql("CREATE TABLE lake.db.days (id INT, dt STRING) PARTITIONED BY (dt)")
    spark.sql("INSERT INTO lake.db.days VALUES (1, '2026-01-01'), (2, '2026-01-02')")
    days = spark.sql("SELECT id FROM lake.db.days WHERE dt = lake.sys.max_pt('db.days')")
    assert [row.id for row in days.collect()] == [2]
    assert len(days.inputFiles()) == 1
    numbers = spark.sql("SELECT id FROM lake.db.num WHERE n = lake.sys.max_pt('db.num')")
    assert [row.id for row in numbers.collect()] == [2]
    assert len(numbers.inputFiles()) == 1


def test_it_stands_in_other_statements_too(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.changed (id INT, dt STRING) PARTITIONED BY (dt)")
    spark.sql("INSERT INTO lake.db.changed VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    spark.sql("DELETE FROM lake.db.changed WHERE dt = lake.sys.max_pt('db.changed')")
    spark.sql("INSERT INTO lake.db.changed SELECT 9, lake.sys.max_pt('db.changed')")
    found = spark.sql("SELECT id, dt FROM lake.db.changed ORDER BY id").collect()
    assert [tuple(row) for row in found] == [(1, "a"), (2, "b"), (9, "b")]


@pytest.mark.parametrize(
    ("call", "condition"),
    [
        ("lake.sys.max_pt('db.none')", "TABLE_OR_VIEW_NOT_FOUND"),
        ("lake.sys.max_pt('db.plain')", "INVALID_PARTITION_OPERATION.PARTITION_SCHEMA_IS_EMPTY"),
        ("lake.sys.max_pt('db.empty')", "LAKEBED_INVALID_ARGUMENT"),
        ("lake.sys.max_pt(1)", "LAKEBED_INVALID_ARGUMENT"),
        ("lake.sys.max_pt()", "LAKEBED_INVALID_ARGUMENT"),
        ("lake.sys.max_pt('db.num', 'x')", "LAKEBED_INVALID_ARGUMENT"),
        ("lake.sys.max_pt('num')", "TABLE_OR_VIEW_NOT_FOUND"),
    ],
)
def test_what_has_no_greatest_partition_is_refused(
    spark: SparkSession, call: str, condition: str
) -> None:
    with pytest.raises(AnalysisException) as info:
        spark.sql(f"SELECT {call}")
    assert info.value.getCondition() == condition


def test_functions_of_that_name_elsewhere_are_left_to_spark(spark: SparkSession) -> None:
    with pytest.raises(AnalysisException) as info:
        spark.sql("SELECT sys.max_pt('db.num'), 'lake'").collect()
    assert info.value.getCondition() == "UNRESOLVED_ROUTINE"
