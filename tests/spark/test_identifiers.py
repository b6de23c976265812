"""IDENTIFIER(...) names tables of attached catalogs, and what else has a name."""

import pytest
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def named(spark: SparkSession) -> SparkSession:
    """A session with a table of (1, 'a') and (2, 'b')."""
    spark.sql("DROP TABLE IF EXISTS IDENTIFIER('lake.db.' || 'named')")
    spark.sql("CREATE TABLE IDENTIFIER('lake.db.named') (id INT, v STRING)")
    insert = "INSERT INTO IDENTIFIER(:name) VALUES (1, :v), (2, 'b')"
    spark.sql(insert, args={"name": "lake.db.named", "v": "a"})
    return spark


@pytest.mark.parametrize(
    ("query", "args", "rows"),
    [
        ("SELECT v FROM IDENTIFIER('lake.db.named') WHERE id = 1", None, [("a",)]),
        ("SELECT v FROM IDENTIFIER(`name`) WHERE id = 2", None, [("b",)]),
        (
            "SELECT IDENTIFIER(:column) FROM IDENTIFIER(:database || '.named') t WHERE t.id = :id",
            {"column": "v", "database": "lake.db", "id": 2},
            [("b",)],
        ),
        (
            "SELECT ?, IDENTIFIER(?) FROM IDENTIFIER(concat(?, ?)) WHERE id = ?",
            ["x", "v", "lake.db.", "named", 1],
            [("x", "a")],
        ),
        ("SELECT IDENTIFIER('max')(id) AS identifier FROM lake.db.named", None, [(2,)]),
        ("SELECT count(*) FROM IDENTIFIER('lake.db.`named$snapshots`')", None, [(1,)]),
    ],
)
def test_a_clause_stands_for_the_name_that_its_value_is(
    named: SparkSession,
    *,
    query: str,
    args: dict[str, object] | list[object] | None,
    rows: list[tuple[object, ...]],
) -> None:
    named.sql("DECLARE OR REPLACE name STRING DEFAULT 'lake.db.named'")
    assert named.sql(query, args).collect() == rows


def test_rows_are_changed_in_tables_and_columns_that_clauses_name(named: SparkSession) -> None:
    table = "IDENTIFIER('lake.db.named')"
    named.sql(f"UPDATE {table} SET IDENTIFIER('v') = 'c' WHERE IDENTIFIER('id') = 1")
    named.sql(f"DELETE FROM {table} WHERE id = 2")
    source = "(SELECT 3 AS id, 'd' AS v)"
    merge = "t.id = s.id WHEN NOT MATCHED THEN INSERT *"
    named.sql(f"MERGE INTO {table} t USING {source} s ON {merge}")
    assert named.sql("SELECT * FROM lake.db.named ORDER BY id").collect() == [(1, "c"), (3, "d")]


@pytest.mark.parametrize(
    ("clause", "error", "message"),
    [
        ("'lake.db.nowhere'", AnalysisException, "`lake`.`db`.`nowhere` cannot be found"),
        ("CAST(NULL AS STRING)", AnalysisException, "NOT_A_CONSTANT_STRING"),
        ("id", AnalysisException, "UNRESOLVED_COLUMN|NOT_A_CONSTANT_STRING"),
        ("'a..b'", ParseException, "PARSE_SYNTAX_ERROR"),
    ],
)
def test_what_is_no_name_of_a_table_is_an_error(
    named: SparkSession, *, clause: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        named.sql(f"SELECT * FROM IDENTIFIER({clause}), lake.db.named")
