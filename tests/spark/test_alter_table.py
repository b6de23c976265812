"""Tables changed by SQL, as users of Paimon's connector write it."""

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from lakebed.errors import LakebedError

pytestmark = pytest.mark.spark

CREATE = """
CREATE TABLE IF NOT EXISTS lake.db.{name} (id BIGINT NOT NULL, v INT, s STRING,
r STRUCT<a: INT, b: STRING>, xs ARRAY<STRUCT<x: INT>>, m MAP<STRING, INT>, n INT NOT NULL,
dt STRING) USING paimon PARTITIONED BY (dt) TBLPROPERTIES ('primary-key' = 'id,dt', 'bucket' = '1')
"""
ROW = (
    "(1, 7, 's', named_struct('a', 1, 'b', 'x'), array(named_struct('x', 1)), map('k', 1), 3, 'd')"
)


def make(spark: SparkSession, name: str) -> str:
    spark.sql(CREATE.format(name=name))
    spark.sql(f"INSERT INTO lake.db.{name} VALUES {ROW}")
    return f"lake.db.{name}"


def described(spark: SparkSession, table: str) -> dict[str, str]:
    rows = spark.sql(f"DESCRIBE {table}").collect()
    return {row.col_name: row.data_type for row in rows}


def properties(spark: SparkSession, table: str) -> str:
    rows = spark.sql(f"DESCRIBE EXTENDED {table}").collect()
    return next(str(row.data_type) for row in rows if row.col_name == "Table Properties")


def comment(spark: SparkSession, table: str) -> list[str]:
    rows = spark.sql(f"DESCRIBE EXTENDED {table}").collect()
    return [row.data_type for row in rows if row.col_name == "Comment"]


def one(spark: SparkSession, query: str) -> tuple[object, ...]:
    (row,) = spark.sql(query).collect()
    return tuple(row)


def test_columns_are_added_renamed_moved_and_dropped_and_old_rows_stay(spark: SparkSession) -> None:
    t = make(spark, "columns")
    spark.sql(f"ALTER TABLE {t} ADD COLUMNS (c1 INT COMMENT 'first' FIRST, c2 STRING AFTER C1)")
    spark.sql(f"ALTER TABLE {t} ADD COLUMN r.c DOUBLE AFTER a")
    spark.sql(f"ALTER TABLE {t} ADD COLUMN xs.element.y STRING")
    spark.sql(f"ALTER TABLE {t} RENAME COLUMN v TO w")
    spark.sql(f"ALTER TABLE {t} RENAME COLUMN r.b TO z")
    spark.sql(f"ALTER TABLE {t} DROP COLUMNS (s, m)")
    spark.sql(f"ALTER TABLE {t} DROP COLUMN IF EXISTS nope, n")
    spark.sql(f"ALTER TABLE {t} ALTER COLUMN dt AFTER id")
    assert list(described(spark, t).items())[:7] == [
        ("c1", "int"),
        ("c2", "string"),
        ("id", "bigint"),
        ("dt", "string"),
        ("w", "int"),
        ("r", "struct<a:int,c:double,z:string>"),
        ("xs", "array<struct<x:int,y:string>>"),
    ]
    spark.sql(
        f"INSERT INTO {t} VALUES (5, 'c', 2, 'd', 8, named_struct('a', 2, 'c', 0.5D, 'z', 'q'),"
        " array(named_struct('x', 2, 'y', 'yy')))"
    )
    found = spark.sql(f"SELECT c1, id, w, r.a, r.c, r.z, xs[0].x, xs[0].y FROM {t} ORDER BY id")
    assert [tuple(row) for row in found.collect()] == [
        (None, 1, 7, 1, None, "x", 1, None),
        (5, 2, 8, 2, 0.5, "q", 2, "yy"),
    ]
    assert one(spark, f"SELECT v, s FROM {t} VERSION AS OF 1") == (7, "s")


def test_types_comments_and_nullability_change(spark: SparkSession) -> None:
    t = make(spark, "types")
    spark.sql(f"ALTER TABLE {t} ALTER COLUMN v TYPE BIGINT")
    spark.sql(f"ALTER TABLE {t} ALTER COLUMN r.a TYPE DOUBLE, xs.element.x COMMENT 'of elements'")
    spark.sql(f"ALTER TABLE {t} ALTER COLUMN m.value TYPE BIGINT")
    spark.sql(f"ALTER TABLE {t} CHANGE COLUMN V V STRING COMMENT 'once a number' FIRST")
    spark.sql(f"ALTER TABLE {t} ALTER COLUMN n DROP NOT NULL")
    spark.sql(f"INSERT INTO {t} BY NAME SELECT 2L AS id, 'd' AS dt, CAST(NULL AS INT) AS n")
    columns = described(spark, t)
    assert next(iter(columns.items())) == ("v", "string")
    assert (columns["r"], columns["m"]) == ("struct<a:double,b:string>", "map<string,bigint>")
    assert one(spark, f"SELECT v, r.a, m, n FROM {t} WHERE id = 1") == ("7", 1.0, {"k": 1}, 3)
    assert one(spark, f"SELECT v, n FROM {t} WHERE id = 2") == (None, None)


def test_a_default_fills_rows_to_come(spark: SparkSession) -> None:
    t = make(spark, "defaults")
    spark.sql(f"ALTER TABLE {t} ALTER COLUMN v SET DEFAULT -5")
    spark.sql(f"ALTER TABLE {t} ALTER COLUMN s SET DEFAULT 'it''s'")
    spark.sql(f"INSERT INTO {t} (id, n, dt) VALUES (2, 0, 'd')")
    spark.sql(f"ALTER TABLE {t} ALTER COLUMN v DROP DEFAULT")
    spark.sql(f"INSERT INTO {t} (id, n, dt) VALUES (3, 0, 'd')")
    found = spark.sql(f"SELECT id, v, s FROM {t} ORDER BY id").collect()
    assert [tuple(row) for row in found] == [(1, 7, "s"), (2, -5, "it's"), (3, None, "it's")]


def test_properties_and_comments_are_set_and_taken_back(spark: SparkSession) -> None:
    t = make(spark, "properties")
    answer = spark.sql(
        f"ALTER TABLE {t} SET TBLPROPERTIES ('snapshot.num-retained.min' = '3', 'comment' = 'one')"
    )
    assert (answer.columns, answer.collect()) == ([], [])
    assert "snapshot.num-retained.min=3" in properties(spark, t)
    assert comment(spark, t) == ["one"]
    spark.sql(f"COMMENT ON TABLE {t} IS 'two'")
    assert comment(spark, t) == ["two"]
    spark.sql(f"COMMENT ON TABLE {t} IS NULL")
    assert comment(spark, t) == []
    spark.sql(f"ALTER TABLE {t} SET TBLPROPERTIES ('comment' = 'three')")
    spark.sql(f"ALTER TABLE {t} UNSET TBLPROPERTIES ('snapshot.num-retained.min', 'comment')")
    assert "snapshot.num-retained.min" not in properties(spark, t)
    assert comment(spark, t) == []
    spark.sql(f"ALTER TABLE {t} UNSET TBLPROPERTIES IF EXISTS ('nope', 'write-buffer-size')")


def test_partitions_are_dropped_together_or_not_at_all(spark: SparkSession) -> None:
    t = make(spark, "partitions")
    for day in ("e", "f"):
        spark.sql(f"INSERT INTO {t} (id, n, dt) VALUES (1, 0, '{day}')")
    with pytest.raises(AnalysisException) as caught:
        spark.sql(f"ALTER TABLE {t} DROP PARTITION (dt = 'd'), PARTITION (dt = 'x')")
    assert caught.value.getCondition() == "PARTITIONS_NOT_FOUND"
    assert one(spark, f"SELECT count(*) FROM {t}") == (3,)
    spark.sql(f"ALTER TABLE {t} DROP IF EXISTS PARTITION (DT = 'd'), PARTITION (dt = 'x')")
    spark.sql(f"ALTER TABLE {t} DROP PARTITION (dt = concat('', 'e'))")
    assert one(spark, f"SELECT dt FROM {t}") == ("f",)


def test_a_table_gets_another_name(spark: SparkSession) -> None:
    make(spark, "before")
    spark.sql("CREATE DATABASE lake.other")
    spark.sql("ALTER TABLE lake.db.before RENAME TO between")
    spark.sql("ALTER TABLE lake.db.between RENAME TO other.between")
    spark.sql("ALTER TABLE lake.other.between RENAME TO lake.db.`after all`")
    assert one(spark, "SELECT v FROM lake.db.`after all`") == (7,)
    spark.sql("USE lake.db")
    try:
        spark.sql("ALTER TABLE `after all` ADD COLUMN q INT")
        assert one(spark, "SELECT q FROM `after all`") == (None,)
    finally:
        spark.sql("USE spark_catalog.default")


def test_names_match_as_the_session_says(spark: SparkSession) -> None:
    t = make(spark, "cases")
    spark.sql(f"ALTER TABLE {t} ALTER COLUMN R.A TYPE BIGINT")
    assert described(spark, t)["r"] == "struct<a:bigint,b:string>"
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        spark.sql(f"ALTER TABLE {t} ADD COLUMN V STRING")
        with pytest.raises(AnalysisException, match="cannot be resolved"):
            spark.sql(f"ALTER TABLE {t} ALTER COLUMN S TYPE STRING")
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
    spark.sql(f"ALTER TABLE {t} DROP COLUMN V")
    assert "v" in described(spark, t)


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("ADD COLUMN V INT", "FIELD_ALREADY_EXISTS"),
        ("ADD COLUMN r.a INT", "FIELD_ALREADY_EXISTS"),
        ("ADD COLUMNS (x INT, X INT)", "COLUMN_ALREADY_EXISTS"),
        ("ADD COLUMN x INT AFTER nope", "FIELD_NOT_FOUND"),
        ("ADD COLUMN nope.x INT", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ("ADD COLUMN v.x INT", "INVALID_FIELD_NAME"),
        ("ADD COLUMN x INT NOT NULL", "LAKEBED_INVALID_TABLE"),
        ("ADD COLUMN x INT DEFAULT 5", "UNSUPPORTED_FEATURE.TABLE_OPERATION"),
        ("ADD COLUMN x INTERVAL DAY", "LAKEBED_UNSUPPORTED"),
        ("DROP COLUMN nope", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ("DROP COLUMN id", "LAKEBED_INVALID_TABLE"),
        ("DROP COLUMN r.nope", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ("RENAME COLUMN v TO S", "FIELD_ALREADY_EXISTS"),
        ("RENAME COLUMN v TO V", "FIELD_ALREADY_EXISTS"),
        ("RENAME COLUMN dt TO day", "LAKEBED_INVALID_TABLE"),
        ("RENAME COLUMN nope TO x", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ("ALTER COLUMN nope TYPE BIGINT", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ("ALTER COLUMN v TYPE TINYINT", "NOT_SUPPORTED_CHANGE_COLUMN"),
        ("ALTER COLUMN s TYPE INT", "NOT_SUPPORTED_CHANGE_COLUMN"),
        ("ALTER COLUMN r TYPE STRUCT<a: BIGINT>", "CANNOT_UPDATE_FIELD.STRUCT_TYPE"),
        ("ALTER COLUMN xs TYPE ARRAY<INT>", "CANNOT_UPDATE_FIELD.ARRAY_TYPE"),
        ("ALTER COLUMN m TYPE MAP<STRING, BIGINT>", "CANNOT_UPDATE_FIELD.MAP_TYPE"),
        ("ALTER COLUMN id TYPE STRING", "LAKEBED_INVALID_TABLE"),
        ("ALTER COLUMN v SET NOT NULL", "LAKEBED_INVALID_TABLE"),
        ("ALTER COLUMN id DROP NOT NULL", "LAKEBED_INVALID_TABLE"),
        ("ALTER COLUMN v AFTER nope", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ("ALTER COLUMN v AFTER v", "LAKEBED_INVALID_TABLE"),
        ("ALTER COLUMN v SET DEFAULT 'x'", "INVALID_DEFAULT_VALUE.DATA_TYPE"),
        ("ALTER COLUMN v SET DEFAULT 1 + 1", "INVALID_DEFAULT_VALUE.NOT_CONSTANT"),
        ("ALTER COLUMN r.a SET DEFAULT 1", "LAKEBED_INVALID_TABLE"),
        ("CHANGE COLUMN v w BIGINT", "UNSUPPORTED_FEATURE.TABLE_OPERATION"),
        ("REPLACE COLUMNS (a INT)", "UNSUPPORTED_FEATURE.TABLE_OPERATION"),
        ("SET LOCATION '/x'", "UNSUPPORTED_FEATURE.TABLE_OPERATION"),
        ("SET TBLPROPERTIES ('write-buffr-size' = '1')", "LAKEBED_INVALID_TABLE"),
        ("SET TBLPROPERTIES ('bucket' = '-1')", "LAKEBED_INVALID_TABLE"),
        ("SET TBLPROPERTIES ('merge-engine' = 'aggregation')", "LAKEBED_INVALID_TABLE"),
        ("SET TBLPROPERTIES ('primary-key' = 'v')", "LAKEBED_INVALID_TABLE"),
        ("SET TBLPROPERTIES ('provider' = 'x')", "UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY"),
        ("SET TBLPROPERTIES ('query-auth.enabled' = 'true')", "LAKEBED_UNSUPPORTED"),
        ("UNSET TBLPROPERTIES ('nope')", "LAKEBED_INVALID_TABLE"),
        ("UNSET TBLPROPERTIES ('bucket')", "LAKEBED_INVALID_TABLE"),
        ("DROP PARTITION (dt = 'x')", "PARTITIONS_NOT_FOUND"),
        ("DROP PARTITION (v = 1)", "PARTITIONS_NOT_FOUND"),
        ("DROP PARTITION (dt)", "INVALID_PARTITION_SPEC"),
        ("RENAME TO mistaken", "TABLE_OR_VIEW_ALREADY_EXISTS"),
        ("RENAME TO nope.t", "SCHEMA_NOT_FOUND"),
        ("RENAME TO spark_catalog.default.t", "UNSUPPORTED_FEATURE.TABLE_OPERATION"),
    ],
)
def test_mistakes_have_the_conditions_of_spark(
    spark: SparkSession, action: str, expected: str
) -> None:
    spark.sql(CREATE.format(name="mistaken"))
    if not spark.table("lake.db.mistaken").count():
        spark.sql(f"INSERT INTO lake.db.mistaken VALUES {ROW}")
    before = described(spark, "lake.db.mistaken"), properties(spark, "lake.db.mistaken")
    with pytest.raises(AnalysisException) as caught:
        spark.sql(f"ALTER TABLE lake.db.mistaken {action}")
    assert caught.value.getCondition() == expected
    if expected.startswith("LAKEBED"):
        assert isinstance(caught.value.__cause__, LakebedError)
    after = described(spark, "lake.db.mistaken"), properties(spark, "lake.db.mistaken")
    assert after == before


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("ALTER TABLE lake.db.nope ADD COLUMN x INT", "TABLE_OR_VIEW_NOT_FOUND"),
        ("ALTER TABLE lake.db.nope SET TBLPROPERTIES ('bucket' = '2')", "TABLE_OR_VIEW_NOT_FOUND"),
        ("ALTER TABLE lake.db.nope RENAME TO x", "TABLE_OR_VIEW_NOT_FOUND"),
        ("ALTER TABLE lake.db.nope DROP PARTITION (a = 1)", "TABLE_OR_VIEW_NOT_FOUND"),
        ("COMMENT ON TABLE lake.db.nope IS 'x'", "TABLE_OR_VIEW_NOT_FOUND"),
        ("ALTER DATABASE lake.db SET DBPROPERTIES ('a' = 'b')", "LAKEBED_UNSUPPORTED"),
        ("ALTER SCHEMA lake.db SET LOCATION '/x'", "LAKEBED_UNSUPPORTED"),
    ],
)
def test_what_is_not_there_is_said(spark: SparkSession, statement: str, expected: str) -> None:
    with pytest.raises(AnalysisException) as caught:
        spark.sql(statement)
    assert caught.value.getCondition() == expected


def test_a_table_of_spark_is_altered_by_spark(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE spark_catalog.default.own (a INT) USING parquet")
    try:
        spark.sql("ALTER TABLE spark_catalog.default.own ADD COLUMN lake INT")
        spark.sql("COMMENT ON TABLE spark_catalog.default.own IS 'lake'")
        assert spark.table("spark_catalog.default.own").columns == ["a", "lake"]
    finally:
        spark.sql("DROP TABLE spark_catalog.default.own")
