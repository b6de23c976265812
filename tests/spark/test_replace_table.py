"""REPLACE TABLE and CREATE OR REPLACE TABLE, and what `writeTo` makes of them."""

from collections.abc import Callable

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

Rows = list[tuple[object, ...]]
TABLE = "lake.db.replaced"
OPERATIONS = f"SELECT operation FROM lake.db.`{TABLE.rpartition('.')[2]}$snapshots`"


@pytest.fixture
def table(spark: SparkSession) -> str:
    """A keyed table with two rows in its first snapshot."""
    spark.sql(f"DROP TABLE IF EXISTS {TABLE}")
    spark.sql(f"""
        CREATE TABLE {TABLE} (id BIGINT, item BIGINT, kind STRING)
        TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '2')
    """)
    spark.sql(f"INSERT INTO {TABLE} VALUES (1, 10, 'pv'), (2, 20, 'buy')")
    return TABLE


def rows(frame: DataFrame) -> Rows:
    return sorted(tuple(row) for row in frame.collect())


def test_a_replaced_table_is_empty_and_its_snapshots_are_kept(
    spark: SparkSession, table: str
) -> None:
    answer = spark.sql(f"""
        REPLACE TABLE {table} (id BIGINT, category STRING NOT NULL COMMENT 'c') COMMENT 'new'
        TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '4')
    """)
    assert answer.collect() == []
    assert spark.table(table).count() == 0
    assert rows(spark.sql(f"SELECT * FROM {table} VERSION AS OF 1")) == [
        (1, 10, "pv"),
        (2, 20, "buy"),
    ]
    shown = spark.sql(f"SHOW CREATE TABLE {table}").collect()[0].createtab_stmt
    assert "category STRING NOT NULL COMMENT 'c'" in shown
    assert "COMMENT 'new'" in shown
    assert "'bucket' = '4'" in shown
    spark.sql(f"INSERT INTO {table} VALUES (3, 'x'), (3, 'y')")
    assert rows(spark.table(table)) == [(3, "y")]


def test_a_table_may_be_replaced_by_what_is_asked_of_itself(
    spark: SparkSession, table: str
) -> None:
    spark.sql(f"""
        CREATE OR REPLACE TABLE {table} TBLPROPERTIES ('bucket' = '-1')
        AS SELECT item * 2 AS twice, kind FROM {table} WHERE id = 2
    """)
    assert rows(spark.table(table)) == [(40, "buy")]
    assert [row.operation for row in spark.sql(OPERATIONS).collect()] == [
        "WRITE",
        "TRUNCATE",
        "CREATE_OR_REPLACE_TABLE_AS_SELECT",
    ]
    spark.sql(f"REPLACE TABLE {table} AS SELECT :n AS n", args={"n": 7})
    assert rows(spark.table(table)) == [(7,)]
    assert spark.sql(OPERATIONS).collect()[-1].operation == "REPLACE_TABLE_AS_SELECT"
    assert rows(spark.sql(f"SELECT * FROM {table} VERSION AS OF 3")) == [(40, "buy")]


def test_create_or_replace_makes_a_table_that_is_not_there(spark: SparkSession) -> None:
    spark.sql(f"DROP TABLE IF EXISTS {TABLE}")
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        spark.sql(f"REPLACE TABLE {TABLE} (a INT)")
    spark.sql(f"CREATE OR REPLACE TABLE {TABLE} AS SELECT 1 AS a")
    assert rows(spark.table(TABLE)) == [(1,)]
    spark.sql(f"CREATE OR REPLACE TABLE {TABLE} (b STRING)")
    assert spark.table(TABLE).columns == ["b"]
    spark.sql(f"CREATE TABLE IF NOT EXISTS {TABLE} AS SELECT 5 AS other")
    assert rows(spark.table(TABLE)) == []


@pytest.mark.parametrize(
    ("statement", "condition"),
    [
        ("REPLACE TABLE {t} (id BIGINT) PARTITIONED BY (dt STRING)", "LAKEBED_INVALID_TABLE"),
        ("REPLACE TABLE {t} (id BIGINT) TBLPROPERTIES ('bucket' = 'x')", "LAKEBED_"),
        ("REPLACE TABLE {t} (id BIGINT) USING csv", "UNSUPPORTED_FEATURE.TABLE_OPERATION"),
        ("REPLACE TABLE {t} (id BIGINT) LOCATION '/x'", "UNSUPPORTED_FEATURE.TABLE_OPERATION"),
        ("REPLACE TABLE {t} AS SELECT * FROM nowhere", "TABLE_OR_VIEW_NOT_FOUND"),
        (
            "CREATE OR REPLACE TABLE {t} AS SELECT CAST(raise_error('stop here') AS INT) AS e",
            "stop here",
        ),
        ("REPLACE TABLE lake.db.`replaced$files` (a INT)", "LAKEBED_INVALID_ARGUMENT"),
    ],
)
def test_a_statement_that_fails_replaces_nothing(
    spark: SparkSession, table: str, *, statement: str, condition: str
) -> None:
    with pytest.raises(Exception, match=condition):
        spark.sql(statement.format(t=table))
    assert rows(spark.table(table)) == [(1, 10, "pv"), (2, 20, "buy")]
    assert spark.sql(OPERATIONS).count() == 1


@pytest.mark.parametrize("act", ["replace", "createOrReplace"])
def test_a_frame_replaces_a_table(spark: SparkSession, table: str, act: str) -> None:
    frame = spark.createDataFrame([(1, "a"), (1, "b")], "k INT, v STRING")
    writer = frame.coalesce(1).writeTo(table).using("paimon").tableProperty("primary-key", "k")
    do: Callable[[], None] = getattr(writer, act)
    do()
    assert rows(spark.table(table)) == [(1, "b")]
    assert spark.sql(OPERATIONS).collect()[-1].operation == "REPLACE_TABLE_AS_SELECT"


def test_a_frame_makes_or_replaces_a_table_and_replaces_only_one_that_is_there(
    spark: SparkSession,
) -> None:
    spark.sql(f"DROP TABLE IF EXISTS {TABLE}")
    frame = spark.range(3)
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        frame.writeTo(TABLE).replace()
    frame.writeTo(TABLE).createOrReplace()
    assert spark.table(TABLE).count() == 3
