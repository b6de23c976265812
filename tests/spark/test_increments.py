"""The functions that read increments answer wherever a table may stand."""

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from lakebed.spark.lake import find_lake
from lakebed.spark.names import TableName
from lakebed.table.table import Table

pytestmark = pytest.mark.spark


def table_of(spark: SparkSession, name: str) -> Table:
    lake = find_lake(spark)
    assert lake is not None
    return lake.load(TableName("lake", "db", name))


def rows(frame: DataFrame) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in frame.collect())


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession) -> None:
    """`t` has three snapshots and a tag of each, `1` is the name of the tag of the third."""
    spark.sql("""CREATE TABLE lake.db.t (id BIGINT, v STRING)
        TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1', 'write-only' = 'true')""")
    for number, values in enumerate(["(1, 'a'), (2, 'b')", "(2, 'B'), (3, 'c')", "(4, 'd')"]):
        spark.sql(f"INSERT INTO lake.db.t VALUES {values}")
        spark.sql(f"ALTER TABLE lake.db.t CREATE TAG `v{number + 1}`")
    spark.sql("CREATE TABLE lake.db.names AS SELECT id, concat('n', id) AS name FROM range(5)")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("paimon_incremental_query('lake.db.t', 1, 2)", [(2, "B"), (3, "c")]),
        ("paimon_incremental_query('lake.db.t', '1', '3')", [(2, "B"), (3, "c"), (4, "d")]),
        ("paimon_incremental_query('lake.db.t', 'v1', 'v2')", [(2, "B"), (3, "c")]),
        ("PAIMON_INCREMENTAL_QUERY(\"`lake`.db.t\", 0 + 1, int('3') - 1)", [(2, "B"), (3, "c")]),
        ("paimon_incremental_query(lake.db.t, 2, 3)", [(4, "d")]),
        ("paimon_incremental_query('lake.db.t', 3, 3)", []),
        ("paimon_incremental_to_auto_tag('lake.db.t', '2024-12-04')", []),
    ],
)
def test_a_call_gives_what_came_after_the_start(
    spark: SparkSession, call: str, expected: list[tuple[object, ...]]
) -> None:
    assert rows(spark.sql(f"SELECT * FROM {call}")) == expected


def test_times_are_milliseconds_or_texts_of_the_sessions_zone(spark: SparkSession) -> None:
    first, second, _ = table_of(spark, "t").snapshots()
    function = "paimon_incremental_between_timestamp"
    millis = f"{function}('lake.db.t', {first.time_millis}, '{second.time_millis}')"
    assert rows(spark.sql(f"SELECT * FROM {millis}")) == [(2, "B"), (3, "c")]
    spark.conf.set("spark.sql.session.timeZone", "Asia/Kathmandu")
    try:
        shown = [
            spark.sql(f"SELECT cast(timestamp_millis({each.time_millis}) AS STRING)").first()[0]  # type: ignore[index]  # there is a row
            for each in (first, second)
        ]
        texts = f"{function}('lake.db.t', '{shown[0]}', '{shown[1]}')"
        assert rows(spark.sql(f"SELECT * FROM {texts}")) == [(2, "B"), (3, "c")]
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            "SELECT i.id, n.name FROM {i} AS i JOIN lake.db.names n USING (id)",
            [(2, "n2"), (3, "n3")],
        ),
        ("SELECT id FROM lake.db.names WHERE id IN (SELECT id FROM {i})", [(2,), (3,)]),
        ("SELECT count(*) FROM {i}", [(2,)]),
        ("SELECT v FROM {i} WHERE id > 2", [("c",)]),
        ("SELECT a.v, b.v FROM {i} a, {i} b WHERE a.id < b.id", [("B", "c")]),
        ("WITH c AS (SELECT * FROM {i}) SELECT max(id) FROM c", [(3,)]),
        ("FROM {i} |> WHERE id = 2 |> SELECT v", [("B",)]),
        ("SELECT x, y FROM {i} AS i(x, y) WHERE x = 3", [(3, "c")]),
        ("SELECT t.id, i.id FROM lake.db.t RIGHT JOIN {i} i ON t.id = i.id", [(2, 2), (3, 3)]),
    ],
)
def test_a_call_stands_wherever_a_table_may(
    spark: SparkSession, query: str, expected: list[tuple[object, ...]]
) -> None:
    call = "paimon_incremental_query('lake.db.t', 1, 2)"
    assert rows(spark.sql(query.format(i=call))) == expected


def test_calls_feed_views_and_writes_and_take_parameters(spark: SparkSession) -> None:
    query = "SELECT * FROM paimon_incremental_query(:name, :start, 3)"
    found = spark.sql(query, args={"name": "lake.db.t", "start": 2})
    assert rows(found) == [(4, "d")]
    spark.sql(
        "CREATE OR REPLACE TEMPORARY VIEW changed AS"
        " SELECT * FROM paimon_incremental_query('lake.db.t', 2, 3)"
    )
    assert rows(spark.table("changed")) == [(4, "d")]
    spark.sql("CREATE TABLE lake.db.copied (id BIGINT, v STRING)")
    spark.sql(
        "INSERT INTO lake.db.copied SELECT * FROM paimon_incremental_query('lake.db.t', 1, 2)"
    )
    assert rows(spark.table("lake.db.copied")) == [(2, "B"), (3, "c")]


def test_a_short_name_is_of_the_current_catalog_and_no_views(spark: SparkSession) -> None:
    spark.range(1).createOrReplaceTempView("t")
    try:
        with pytest.raises(AnalysisException) as info:
            spark.sql("SELECT * FROM paimon_incremental_query('db.t', 1, 2) -- of lake")
        assert info.value.getCondition() == "TABLE_OR_VIEW_NOT_FOUND"
        spark.sql("USE lake.db")
        assert rows(spark.sql("SELECT id FROM paimon_incremental_query('t', 2, 3)")) == [(4,)]
        assert rows(spark.sql("SELECT id FROM paimon_incremental_query('db.t', 2, 3)")) == [(4,)]
    finally:
        spark.catalog.setCurrentCatalog("spark_catalog")
        spark.catalog.dropTempView("t")


def test_the_mode_that_the_table_says_is_honoured(spark: SparkSession) -> None:
    spark.sql(
        "CREATE TABLE lake.db.moded (id BIGINT, v STRING) TBLPROPERTIES"
        " ('primary-key' = 'id', 'bucket' = '1', 'write-only' = 'true')"
    )
    for value in "abc":
        spark.sql(f"INSERT INTO lake.db.moded VALUES (1, '{value}')")
    query = "SELECT * FROM paimon_incremental_query('lake.db.moded', 1, 3)"
    assert rows(spark.sql(query)) == [(1, "b"), (1, "c")]
    spark.sql(
        "ALTER TABLE lake.db.moded SET TBLPROPERTIES ('incremental-between-scan-mode' = 'diff')"
    )
    assert rows(spark.sql(query)) == [(1, "c")]


def test_calls_read_system_tables(spark: SparkSession) -> None:
    found = spark.sql(
        "SELECT rowkind, id FROM paimon_incremental_query('lake.db.t$audit_log', 2, 3)"
    )
    assert rows(found) == [("+I", 4)]


@pytest.mark.parametrize(
    ("call", "condition"),
    [
        ("paimon_incremental_query('lake.db.t', 1)", "WRONG_NUM_ARGS.WITHOUT_SUGGESTION"),
        ("paimon_incremental_query()", "WRONG_NUM_ARGS.WITHOUT_SUGGESTION"),
        ("paimon_incremental_to_auto_tag('lake.db.t')", "WRONG_NUM_ARGS.WITHOUT_SUGGESTION"),
        (
            "paimon_incremental_query('lake.db.t', start => 1, end => 2)",
            "NAMED_PARAMETERS_NOT_SUPPORTED",
        ),
        ("paimon_incremental_query('lake.db.none', 1, 2)", "TABLE_OR_VIEW_NOT_FOUND"),
        ("paimon_incremental_query('lake.db.t', 1, 9)", "LAKEBED_NOT_FOUND"),
        ("paimon_incremental_query('lake.db.t', 1, 'gone')", "LAKEBED_NOT_FOUND"),
        ("paimon_incremental_query('lake.db.t', 1.5, 2)", "LAKEBED_INVALID_ARGUMENT"),
        (
            "paimon_incremental_between_timestamp('lake.db.t', 'no', 'time')",
            "LAKEBED_INVALID_ARGUMENT",
        ),
        (
            "paimon_incremental_between_timestamp('lake.db.t', current_timestamp(), 5)",
            "LAKEBED_INVALID_ARGUMENT",
        ),
    ],
)
def test_arguments_that_cannot_be_are_refused(
    spark: SparkSession, call: str, condition: str
) -> None:
    with pytest.raises(AnalysisException) as info:
        spark.sql(f"SELECT * FROM {call}")
    assert info.value.getCondition() == condition


def test_a_parameter_without_a_name_is_refused(spark: SparkSession) -> None:
    with pytest.raises(AnalysisException, match="cannot be a parameter"):
        spark.sql("SELECT * FROM paimon_incremental_query('lake.db.t', ?, 2)", args=[1])
