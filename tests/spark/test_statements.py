"""Statements about Lakebed tables, as users of Paimon's connector write them."""

import datetime as dt

import pytest
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import SparkSession

from lakebed.errors import AlreadyExistsError, InvalidDataError, NotFoundError

pytestmark = pytest.mark.spark

ORDERS = """
CREATE TABLE lake.db.{name} (id BIGINT NOT NULL, total DOUBLE, note STRING COMMENT 'free text',
dt STRING) USING paimon PARTITIONED BY (dt) TBLPROPERTIES ('primary-key' = 'id,dt', 'bucket' = '2')
"""


def rows(spark: SparkSession, query: str) -> list[tuple[object, ...]]:
    return sorted((tuple(row) for row in spark.sql(query).collect()), key=repr)


def condition(spark: SparkSession, statement: str) -> str | None:
    with pytest.raises(AnalysisException) as caught:
        spark.sql(statement)
    return caught.value.getCondition()


def test_upserts_replace_rows_of_their_key(spark: SparkSession) -> None:
    spark.sql(ORDERS.format(name="upserts"))
    spark.sql("INSERT INTO lake.db.upserts VALUES (1, 1.5, 'a', 'x'), (2, 2.5, 'b', 'x')")
    answer = spark.sql("INSERT INTO lake.db.upserts VALUES (1, 10, null, 'x')")
    assert answer.columns == []
    assert answer.collect() == []
    assert rows(spark, "SELECT * FROM lake.db.upserts") == [
        (1, 10.0, None, "x"),
        (2, 2.5, "b", "x"),
    ]
    assert rows(spark, "SELECT id, total FROM lake.db.upserts VERSION AS OF 1") == [
        (1, 1.5),
        (2, 2.5),
    ]
    assert rows(spark, "SELECT total FROM lake.db.upserts FOR SYSTEM_VERSION AS OF 1 t") == [
        (1.5,),
        (2.5,),
    ]


def test_insert_from_a_query_goes_through_tasks(spark: SparkSession) -> None:
    spark.sql(ORDERS.format(name="queried"))
    spark.sql("""
        INSERT INTO lake.db.queried
        SELECT id % 500, cast(id AS INT), cast(id AS STRING), concat('p', id % 2)
        FROM (SELECT DISTINCT id FROM range(1000))
    """)
    assert rows(
        spark, "SELECT dt, count(*), count(DISTINCT id) FROM lake.db.queried GROUP BY dt"
    ) == [
        ("p0", 250, 250),
        ("p1", 250, 250),
    ]


def test_insert_overwrite_replaces_the_table_or_a_partition(spark: SparkSession) -> None:
    spark.sql(ORDERS.format(name="overwritten"))
    spark.sql("INSERT INTO lake.db.overwritten VALUES (1, 1, 'a', 'x'), (2, 2, 'b', 'y')")
    spark.sql("INSERT OVERWRITE lake.db.overwritten PARTITION (dt = 'x') VALUES (3, 3, 'c')")
    assert rows(spark, "SELECT id, dt FROM lake.db.overwritten") == [(2, "y"), (3, "x")]
    spark.sql("INSERT OVERWRITE TABLE lake.db.overwritten SELECT 9L, 9D, 'z', 'z'")
    assert rows(spark, "SELECT id, dt FROM lake.db.overwritten") == [(9, "z")]


def test_insert_overwrite_is_dynamic_where_the_session_says_so(spark: SparkSession) -> None:
    spark.sql(ORDERS.format(name="dynamic"))
    spark.sql("INSERT INTO lake.db.dynamic VALUES (1, 1, 'a', 'x'), (2, 2, 'b', 'y')")
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    try:
        spark.sql("INSERT OVERWRITE lake.db.dynamic VALUES (3, 3, 'c', 'x')")
    finally:
        spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
    assert rows(spark, "SELECT id, dt FROM lake.db.dynamic") == [(2, "y"), (3, "x")]


def test_the_value_of_a_partition_becomes_one_of_its_columns_type(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.fixed (id INT, q INT, day DATE) PARTITIONED BY (q, day)")
    part = "PARTITION (q = '7', day = '2024-02-29')"
    spark.sql(f"INSERT INTO lake.db.fixed {part} SELECT 1 FROM range(1)")
    spark.sql(f"INSERT OVERWRITE lake.db.fixed {part} SELECT 2 FROM range(1)")
    found = [(2, 7, dt.date(2024, 2, 29))]
    assert rows(spark, "SELECT * FROM lake.db.fixed") == found


def test_columns_that_are_not_named_get_their_defaults(spark: SparkSession) -> None:
    spark.sql("""
        CREATE TABLE lake.db.defaults (id INT, n INT DEFAULT -5, s STRING DEFAULT 'it, s' COMMENT
        'x', day DATE DEFAULT DATE '2024-02-29')
    """)
    spark.sql("INSERT INTO lake.db.defaults (id) VALUES (1)")
    spark.sql("INSERT INTO lake.db.defaults VALUES (2, 7, 'y', DATE '2025-01-01')")
    assert rows(spark, "SELECT * FROM lake.db.defaults") == [
        (1, -5, "it, s", dt.date(2024, 2, 29)),
        (2, 7, "y", dt.date(2025, 1, 1)),
    ]


def test_insert_by_column_list_and_by_name_leaves_others_null(spark: SparkSession) -> None:
    spark.sql(ORDERS.format(name="named"))
    spark.sql("INSERT INTO lake.db.named (dt, id) VALUES ('x', 1)")
    spark.sql("INSERT INTO lake.db.named BY NAME SELECT 'y' AS dt, 2 AS id, 'n' AS note")
    spark.sql("WITH w AS (SELECT 3L AS i) INSERT INTO lake.db.named SELECT i, 1D, 'w', 'z' FROM w")
    assert rows(spark, "SELECT * FROM lake.db.named") == [
        (1, None, None, "x"),
        (2, None, "n", "y"),
        (3, 1.0, "w", "z"),
    ]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("INSERT INTO {t} VALUES (1, 2)", "INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS"),
        (
            "INSERT INTO {t} VALUES (1, 2, 'a', 'b', 5)",
            "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS",
        ),
        (
            "INSERT INTO {t} VALUES ('one', 2, 'a', 'b')",
            "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST",
        ),
        (
            "INSERT INTO {t} BY NAME SELECT 1 AS id, 'x' AS dt, 3 AS more",
            "INCOMPATIBLE_DATA_FOR_TABLE.EXTRA_COLUMNS",
        ),
        ("INSERT INTO {t} (id, more) VALUES (1, 2)", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ("SELECT more FROM {t}", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ("INSERT OVERWRITE {t} PARTITION (note = 'x') VALUES (1, 2, 'b')", "NON_PARTITION_COLUMN"),
        ("DELETE FROM {t} WHERE more = 1", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ("ALTER TABLE {t} RECOVER PARTITIONS", "UNSUPPORTED_FEATURE.TABLE_OPERATION"),
        ("ANALYZE TABLE {t} COMPUTE STATISTICS NOSCAN", "UNSUPPORTED_FEATURE.TABLE_OPERATION"),
        ("CREATE TABLE lake.db.csv (id INT) USING csv", "UNSUPPORTED_FEATURE.TABLE_OPERATION"),
        ("CREATE TABLE lake.db.b (id INT) PARTITIONED BY (x)", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ("CREATE TABLE lake.db.b (i INTERVAL DAY)", "LAKEBED_UNSUPPORTED"),
        ("CREATE TABLE lake.db.b (d DATE DEFAULT current_date())", "LAKEBED_UNSUPPORTED"),
        ("CREATE TABLE {t} (id INT)", "TABLE_OR_VIEW_ALREADY_EXISTS"),
        ("CREATE DATABASE lake.db", "SCHEMA_ALREADY_EXISTS"),
        ("DROP DATABASE lake.nope", "SCHEMA_NOT_FOUND"),
        ("DROP DATABASE lake.db", "SCHEMA_NOT_EMPTY"),
        ("USE lake.nope", "SCHEMA_NOT_FOUND"),
        ("SHOW TABLES IN lake.nope", "SCHEMA_NOT_FOUND"),
        ("DROP TABLE lake.db.nope", "TABLE_OR_VIEW_NOT_FOUND"),
        ("SELECT * FROM lake.db.nope", "TABLE_OR_VIEW_NOT_FOUND"),
        ("INSERT INTO lake.db.nope VALUES (1)", "TABLE_OR_VIEW_NOT_FOUND"),
    ],
)
def test_mistakes_have_the_conditions_of_spark(
    spark: SparkSession, statement: str, expected: str
) -> None:
    spark.sql(ORDERS.format(name="mistaken").replace("TABLE lake", "TABLE IF NOT EXISTS lake"))
    assert condition(spark, statement.format(t="lake.db.mistaken")) == expected
    assert rows(spark, "SELECT * FROM lake.db.mistaken") == []


def test_a_clause_that_is_none_is_a_parse_error(spark: SparkSession) -> None:
    with pytest.raises(ParseException, match="NONSENSE"):
        spark.sql("CREATE TABLE lake.db.parsed (id INT) NONSENSE")


@pytest.mark.parametrize("source", ["VALUES (null, 1, 'a', 'x')", "SELECT null, 1D, 'a', 'x'"])
def test_null_in_a_key_is_refused_and_nothing_is_written(spark: SparkSession, source: str) -> None:
    spark.sql(ORDERS.format(name="strict").replace("TABLE lake", "TABLE IF NOT EXISTS lake"))
    with pytest.raises(AnalysisException, match="NOT NULL") as caught:
        spark.sql(f"INSERT INTO lake.db.strict {source}")
    assert isinstance(caught.value.__cause__, InvalidDataError)
    assert rows(spark, "SELECT * FROM lake.db.strict") == []


def test_errors_carry_the_cause_and_the_sql_state(spark: SparkSession) -> None:
    with pytest.raises(AnalysisException, match=r"`lake`\.`db`\.`nope`") as missing:
        spark.sql("SELECT * FROM lake.db.nope")
    assert isinstance(missing.value.__cause__, NotFoundError)
    assert missing.value.getSqlState() == "42P01"
    with pytest.raises(AnalysisException) as taken:
        spark.sql("CREATE DATABASE lake.db")
    assert isinstance(taken.value.__cause__, AlreadyExistsError)


def test_delete_removes_the_rows_that_match(spark: SparkSession) -> None:
    spark.sql(ORDERS.format(name="deleted"))
    spark.sql("INSERT INTO lake.db.deleted VALUES (1, 1, 'a', 'x'), (2, 2, 'b', 'x')")
    spark.sql("DELETE FROM lake.db.deleted AS d WHERE d.id = 1 AND note = 'a'")
    assert rows(spark, "SELECT id FROM lake.db.deleted") == [(2,)]
    spark.sql("DELETE FROM lake.db.deleted")
    assert rows(spark, "SELECT id FROM lake.db.deleted") == []


def test_describe_shows_columns_partitions_and_properties(spark: SparkSession) -> None:
    spark.sql(ORDERS.format(name="described"))
    described = [tuple(row) for row in spark.sql("DESCRIBE lake.db.described").collect()]
    assert described[:4] == [
        ("id", "bigint", None),
        ("total", "double", None),
        ("note", "string", "free text"),
        ("dt", "string", None),
    ]
    assert described[4][0] == "# Partition Information"
    assert described[6] == ("dt", "string", None)
    details = {
        row[0]: row[1] for row in spark.sql("DESC TABLE EXTENDED lake.db.described").collect()
    }
    assert details["Name"] == "lake.db.described"
    assert "primary-key=id,dt" in details["Table Properties"]
    assert "bucket=2" in details["Table Properties"]


def test_databases_and_tables_come_and_go(spark: SparkSession) -> None:
    spark.sql("CREATE SCHEMA IF NOT EXISTS lake.other COMMENT 'second'")
    assert ("other",) in rows(spark, "SHOW DATABASES IN lake")
    assert rows(spark, "SHOW DATABASES IN lake LIKE 'oth*'") == [("other",)]
    spark.sql("CREATE TABLE lake.other.t1 (id INT) COMMENT 'one' TBLPROPERTIES (bucket = -1)")
    spark.sql("CREATE TABLE IF NOT EXISTS lake.other.t1 (id INT)")
    assert rows(spark, "SHOW TABLES IN lake.other") == [("other", "t1", False)]
    spark.sql("DROP TABLE lake.other.t1")
    spark.sql("DROP TABLE IF EXISTS lake.other.t1 PURGE")
    spark.sql("CREATE TABLE lake.other.t2 (id INT) PARTITIONED BY (day DATE)")
    assert [row[0] for row in spark.sql("DESCRIBE lake.other.t2").collect()][:2] == ["id", "day"]
    spark.sql("DROP DATABASE lake.other CASCADE")
    spark.sql("DROP DATABASE IF EXISTS lake.other")
    assert ("other",) not in rows(spark, "SHOW DATABASES IN lake")


def test_create_table_as_select_takes_columns_from_the_query(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.made USING paimon AS SELECT id, 'x' AS s FROM range(3)")
    assert rows(spark, "SELECT * FROM lake.db.made") == [(0, "x"), (1, "x"), (2, "x")]


def test_every_type_comes_back_as_it_went_in(spark: SparkSession) -> None:
    spark.sql("""
        CREATE TABLE lake.db.typed (bo BOOLEAN, ti TINYINT, sm SMALLINT, i INT, bi BIGINT, f FLOAT,
        d DOUBLE, de DECIMAL(20, 3), s STRING, c CHAR(3), v VARCHAR(5), b BINARY, dt DATE,
        ts TIMESTAMP, tn TIMESTAMP_NTZ, a ARRAY<INT>, m MAP<STRING, BIGINT>,
        st STRUCT<x: INT, y: ARRAY<STRING>>)
    """)
    values = """
        true, 1Y, 2S, 3, 4L, 5.5F, 6.5D, 7.125BD, 's', 'abc', 'vwxyz', X'00FF', DATE '2024-02-29',
        TIMESTAMP '2024-02-29 01:02:03.456789', TIMESTAMP_NTZ '1960-01-01 00:00:00.000001',
        array(1, null), map('k', 1L), named_struct('x', 1, 'y', array('a'))
    """
    spark.sql(f"INSERT INTO lake.db.typed VALUES ({values})")
    spark.sql(f"INSERT INTO lake.db.typed SELECT {values}")
    spark.sql("INSERT INTO lake.db.typed (i) VALUES (null)")
    expected = spark.sql(f"SELECT {values}").collect()[0]
    found = spark.sql("SELECT * FROM lake.db.typed WHERE bo").collect()
    assert [tuple(row) for row in found] == [tuple(expected), tuple(expected)]
    assert spark.sql("SELECT * FROM lake.db.typed WHERE bo IS NULL").collect() == [(None,) * 18]


def test_use_makes_names_short_and_temporary_views_win(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.short AS SELECT 1 AS id")
    spark.sql("CREATE TABLE lake.db.hidden AS SELECT 1 AS id")
    spark.sql("CREATE OR REPLACE TEMP VIEW hidden AS SELECT 'view' AS id")
    try:
        spark.sql("USE lake.db")
        assert spark.catalog.currentCatalog() == "lake"
        assert spark.catalog.currentDatabase() == "db"
        assert rows(spark, "SELECT * FROM short") == [(1,)]
        assert rows(spark, "SELECT * FROM db.hidden") == [(1,)]
        assert rows(spark, "SELECT * FROM hidden") == [("view",)]
        assert rows(spark, "WITH short AS (SELECT 2 AS id) SELECT * FROM short") == [(2,)]
        assert ("db", "short", False) in rows(spark, "SHOW TABLES")
        spark.sql("INSERT INTO short VALUES (7)")
        assert spark.table("short").count() == 2
    finally:
        spark.sql("USE spark_catalog.default")
        spark.sql("DROP VIEW hidden")
    assert spark.catalog.currentCatalog() == "spark_catalog"
    assert condition(spark, "SELECT * FROM short") == "TABLE_OR_VIEW_NOT_FOUND"


def test_a_view_that_a_catalog_does_not_keep_is_not_dropped_from_sparks(
    spark: SparkSession,
) -> None:
    spark.sql("CREATE TABLE lake.db.no_view AS SELECT 1 AS id")
    spark.sql("CREATE VIEW default.kept AS SELECT 1 AS id")
    try:
        spark.sql("USE lake.db")
        spark.sql("DROP VIEW IF EXISTS kept")
        assert condition(spark, "DROP VIEW kept") == "TABLE_OR_VIEW_NOT_FOUND"
        assert condition(spark, "DROP VIEW no_view") == "EXPECT_VIEW_NOT_TABLE.NO_ALTERNATIVE"
        spark.sql("CREATE TEMPORARY VIEW no_view AS SELECT 2 AS id")
        spark.sql("DROP VIEW no_view")
        assert rows(spark, "SELECT * FROM no_view") == [(1,)]
    finally:
        spark.sql("USE spark_catalog.default")
        spark.sql("DROP VIEW default.kept")


def test_what_is_sparks_stays_so_while_a_catalog_is_current(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.only AS SELECT 1 AS id")
    try:
        spark.sql("USE lake.db")
        frame = spark.sql("SELECT id FROM {frame} JOIN only USING (id)", frame=spark.range(3))
        assert [tuple(row) for row in frame.collect()] == [(1,)]
        assert rows(spark, "TABLE only") == [(1,)]
        assert ("Function: abs",) in rows(spark, "DESCRIBE FUNCTION abs")
    finally:
        spark.sql("USE spark_catalog.default")


def test_views_and_functions_do_not_go_astray_into_sparks_catalog(spark: SparkSession) -> None:
    lacks = "MISSING_CATALOG_ABILITY"
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW astray AS SELECT 1 AS id")
    spark.sql("CREATE FUNCTION default.kept(x INT) RETURNS INT RETURN x + 1")
    try:
        spark.sql("USE lake.db")
        assert condition(spark, "CREATE VIEW astray AS SELECT 1") == f"{lacks}.VIEWS"
        create = "CREATE FUNCTION astray(x INT) RETURNS INT RETURN x"
        assert condition(spark, create) == f"{lacks}.CREATE_FUNCTION"
        assert condition(spark, "DROP FUNCTION kept") == "ROUTINE_NOT_FOUND"
        spark.sql("DROP FUNCTION IF EXISTS default.kept")
        spark.sql("CREATE TEMPORARY FUNCTION doubled(x INT) RETURNS INT RETURN x * 2")
        assert rows(spark, "SELECT doubled(2)") == [(4,)]
        spark.sql("DROP TEMPORARY FUNCTION doubled")
    finally:
        spark.sql("USE spark_catalog.default")
    assert condition(spark, "CREATE FUNCTION lake.db.f AS 'c'") == f"{lacks}.CREATE_FUNCTION"
    assert condition(spark, "CREATE VIEW lake.db.v AS SELECT 1") == f"{lacks}.VIEWS"
    assert rows(spark, "SELECT default.kept(1)") == [(2,)]
    assert not spark.catalog.functionExists("default.astray")
    spark.sql("DROP FUNCTION default.kept")
