"""CHAR and VARCHAR hold texts of their length, at any depth, as in Spark's own tables."""

from collections.abc import Iterator

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

COLUMNS = """
    v VARCHAR(3), c CHAR(3), s STRUCT<v: VARCHAR(3), n: INT, c: CHAR(3)>, a ARRAY<CHAR(3)>,
    m MAP<VARCHAR(3), ARRAY<STRUCT<c: CHAR(3)>>>
"""
NULLS = "NULL, NULL, NULL, NULL, NULL"


@pytest.fixture
def tables(spark: SparkSession) -> Iterator[tuple[str, str]]:
    """Names of a table of Lakebed's, and of one of Spark's own."""
    spark.sql(f"CREATE TABLE lake.db.lengths ({COLUMNS})")
    spark.sql(f"CREATE TABLE lengths ({COLUMNS}) USING parquet")
    yield "lake.db.lengths", "lengths"
    spark.sql("DROP TABLE lengths")
    spark.sql("DROP TABLE lake.db.lengths")


def test_texts_are_cut_padded_or_refused_as_their_column_says(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.plain (v VARCHAR(3), c CHAR(3))")
    spark.sql("INSERT INTO lake.db.plain SELECT 'abc  ', 'a' FROM range(1)")
    spark.sql("INSERT INTO lake.db.plain VALUES ('a ', 'abc '), (NULL, NULL)")
    kept = sorted(map(tuple, spark.table("lake.db.plain").collect()), key=str)
    assert kept == [("a ", "abc"), ("abc", "a  "), (None, None)]
    spark.sql("INSERT OVERWRITE lake.db.plain SELECT 'äöü', 'äö' FROM range(3)")
    kept = [tuple(row) for row in spark.table("lake.db.plain").collect()]
    assert kept == [("äöü", "äö ")] * 3
    for values in ("'abcd', 'a'", "'a', 'abcd'"):
        with pytest.raises(PySparkException, match="type length limitation: 3"):
            spark.sql(f"INSERT INTO lake.db.plain SELECT {values} FROM range(1)")
    assert spark.table("lake.db.plain").count() == 3


def test_texts_inside_other_types_are_cut_and_padded_as_in_sparks_tables(
    spark: SparkSession, tables: tuple[str, str]
) -> None:
    structs = "array(named_struct('c', 'x'), named_struct('c', NULL), NULL)"
    for table in tables:
        spark.sql(
            f"INSERT INTO {table} SELECT 'abc ', 'é', named_struct('v', 'abc  ', 'n', 1, 'c', 'é'),"
            f" array('a', NULL, 'abc '), map('ab ', {structs}, 'abc ', NULL)"
        )
        spark.sql(f"INSERT INTO {table} SELECT {NULLS}")
        spark.sql(
            f"INSERT INTO {table} SELECT NULL, NULL, named_struct('v', NULL, 'n', 1, 'c', NULL),"
            " array(), map()"
        )
    ours, sparks = (sorted(spark.table(table).collect(), key=str) for table in tables)
    assert ours == sparks
    assert ours[0].s.c == "é  "


@pytest.mark.parametrize(
    ("column", "value", "at"),
    [
        ("v", "'abcd'", "v"),
        ("c", "'abcd'", "c"),
        ("s", "named_struct('v', 'a', 'n', 1, 'c', 'abcd')", "s.c"),
        ("a", "array('a', 'abcd')", "a.element"),
        ("m", "map('abcd', NULL)", "m.key"),
        ("m", "map('a', array(named_struct('c', 'abcd')))", "m.value.element.c"),
    ],
)
def test_a_text_that_is_too_long_is_refused_as_in_sparks_tables(
    *, spark: SparkSession, tables: tuple[str, str], column: str, value: str, at: str
) -> None:
    found = []
    for table in tables:
        with pytest.raises(PySparkException, match="type length limitation: 3") as caught:
            spark.sql(f"INSERT INTO {table} ({column}) SELECT {value} FROM range(1)")
        error = caught.value
        found.append(
            (error.getCondition(), error.getSqlState(), dict(error.getMessageParameters() or {}))
        )
        assert spark.table(table).isEmpty()
        if table.startswith("lake"):
            assert f"Column: {at}." in str(error)
    assert found[0] == found[1]
    assert found[0][0] == "EXCEED_LIMIT_LENGTH"


def test_keys_that_become_one_are_refused(spark: SparkSession, tables: tuple[str, str]) -> None:
    for table in tables:
        with pytest.raises(PySparkException, match="Duplicate map key abc") as caught:
            spark.sql(f"INSERT INTO {table} (m) SELECT map('abc', NULL, 'abc ', NULL)")
        assert caught.value.getCondition() == "DUPLICATED_MAP_KEY"


@pytest.mark.parametrize("option", ["'file.format' = 'parquet'", "'file.format' = 'orc'"])
def test_the_column_is_said_by_spark_and_by_tasks(spark: SparkSession, option: str) -> None:
    spark.sql("DROP TABLE IF EXISTS lake.db.said")
    spark.sql(f"CREATE TABLE lake.db.said (v VARCHAR(3)) TBLPROPERTIES ({option})")
    rows = spark.range(0, 9, 1, 3).selectExpr("if(id = 8, 'abcd', 'a') AS v")
    with pytest.raises(PySparkException, match=r"limitation: 3\. Column: v\.") as caught:
        rows.writeTo("lake.db.said").append()
    assert caught.value.getCondition() == "EXCEED_LIMIT_LENGTH"
    assert spark.table("lake.db.said").isEmpty()
