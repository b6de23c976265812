"""What the clauses of a MERGE make of the rows, each of those that it is about alone."""

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from support.merge_targets import KINDS, make_target, rows

pytestmark = pytest.mark.spark


@pytest.fixture(params=KINDS)
def target(request: pytest.FixtureRequest, spark: SparkSession) -> str:
    """A table of some kind with four rows."""
    return make_target(spark, request.node.name, request.param)


def test_a_value_is_computed_for_the_rows_of_its_clause_alone(
    spark: SparkSession, target: str
) -> None:
    spark.sql(f"""
        MERGE INTO {target} t USING (SELECT * FROM VALUES (1), (2), (6) AS (id)) s ON t.id = s.id
        WHEN MATCHED AND t.id = 1 THEN UPDATE SET total = 100 DIV (t.id - 1 + s.id)
        WHEN MATCHED THEN UPDATE SET total = 100 DIV (t.id - 1)
        WHEN NOT MATCHED AND s.id > 1 THEN INSERT (id, total) VALUES (s.id, 100 DIV (s.id - 1))
    """)
    expected = [(1, 100, "a"), (2, 100, "b"), (3, 30, "c"), (4, 40, "d"), (6, 20, None)]
    assert rows(spark, target) == expected


def test_a_clause_by_chance_changes_rows_and_loses_none(spark: SparkSession, target: str) -> None:
    spark.sql(f"INSERT INTO {target} SELECT id, 0, 'x' FROM range(10, 210)")
    spark.sql(f"""
        MERGE INTO {target} t USING (SELECT id FROM range(10, 210)) s ON t.id = s.id
        WHEN MATCHED AND rand() < 0.5 THEN UPDATE SET total = 1
    """)
    found = [row for row in rows(spark, target) if row[2] == "x"]
    assert [row[0] for row in found] == list(range(10, 210))
    assert 0 < sum(bool(row[1]) for row in found) < 200


def test_a_field_that_a_side_lacks_is_told_with_those_that_it_has(
    spark: SparkSession, target: str
) -> None:
    with pytest.raises(AnalysisException, match="totl") as caught:
        spark.sql(f"""
            MERGE INTO {target} t USING (SELECT 1 AS id, 2 AS total) s ON t.id = s.id
            WHEN MATCHED THEN UPDATE SET total = s.totl
        """)
    assert "`total`" in str(caught.value)
    assert "__lakebed" not in str(caught.value)


def test_a_source_may_have_columns_of_the_same_name_that_no_clause_names(
    spark: SparkSession, target: str
) -> None:
    spark.sql(f"""
        MERGE INTO {target} t USING (SELECT 1 AS id, 'x' AS v, 'y' AS v) s ON t.id = s.id
        WHEN MATCHED THEN UPDATE SET total = t.total + s.id
    """)
    assert rows(spark, target)[0] == (1, 11, "a")
