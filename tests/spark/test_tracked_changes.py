"""UPDATE, DELETE and MERGE by Spark of tables whose rows have ids: who stays keeps its id."""

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

pytestmark = pytest.mark.spark

NAME = "lake.db.tracked"
KINDS = {
    "rewritten": "'row-tracking.enabled' = 'true'",
    "marked": "'row-tracking.enabled' = 'true', 'deletion-vectors.enabled' = 'true'",
}
Rows = list[tuple[object, ...]]
# The rows (id, v, p), then the id of the row and the snapshot that wrote it last.
START: Rows = [(1, "a", "x", 0, 1), (2, "b", "x", 1, 1), (3, "c", "y", 2, 1), (4, "d", "y", 3, 2)]


@pytest.fixture(params=KINDS)
def table(request: pytest.FixtureRequest, spark: SparkSession) -> str:
    """A table of some kind with the rows of `START`, written in two commits."""
    spark.sql(f"DROP TABLE IF EXISTS {NAME}")
    spark.sql(
        f"CREATE TABLE {NAME} (id INT, v STRING, p STRING) PARTITIONED BY (p)"
        f" TBLPROPERTIES ({KINDS[request.param]})"
    )
    spark.sql(f"INSERT INTO {NAME} VALUES (1, 'a', 'x'), (2, 'b', 'x'), (3, 'c', 'y')")
    spark.sql(f"INSERT INTO {NAME} VALUES (4, 'd', 'y')")
    assert tracked(spark) == START
    return NAME


def tracked(spark: SparkSession) -> Rows:
    query = "SELECT id, v, p, _ROW_ID, _SEQUENCE_NUMBER FROM lake.db.`tracked$row_tracking`"
    return sorted(tuple(row) for row in spark.sql(query).collect())


def test_an_update_that_only_spark_can_tell_keeps_ids_and_says_when(
    spark: SparkSession, table: str
) -> None:
    spark.sql(f"""UPDATE {table} SET v = concat(v, '!'), p = 'z'
        WHERE id IN (SELECT max(id) - 2 FROM {table})""")
    assert tracked(spark) == [START[0], (2, "b!", "z", 1, 3), *START[2:]]
    spark.sql(f"UPDATE {table} SET v = upper(v) WHERE id >= 2")
    assert tracked(spark) == [
        START[0],
        (2, "B!", "z", 1, 4),
        (3, "C", "y", 2, 4),
        (4, "D", "y", 3, 4),
    ]


def test_a_delete_by_a_subquery_leaves_the_ids_of_the_others(
    spark: SparkSession, table: str
) -> None:
    spark.sql(f"DELETE FROM {table} WHERE id = (SELECT min(id) FROM {table})")
    assert tracked(spark) == START[1:]
    spark.sql(f"INSERT INTO {table} VALUES (5, 'e', 'x')")
    assert tracked(spark) == [*START[1:], (5, "e", "x", 4, 4)]


def test_a_merge_gives_new_rows_new_ids_and_the_others_keep_theirs(
    spark: SparkSession, table: str
) -> None:
    spark.sql(f"""
        MERGE INTO {table} t
        USING (SELECT * FROM VALUES (2, 'B', 'x'), (3, 'C', 'y'), (7, 'g', 'y') AS (id, v, p)) s
        ON t.id = s.id
        WHEN MATCHED AND s.id = 3 THEN DELETE
        WHEN MATCHED THEN UPDATE SET *
        WHEN NOT MATCHED THEN INSERT *
        WHEN NOT MATCHED BY SOURCE AND t.id = 4 THEN UPDATE SET v = 'left'
    """)
    assert tracked(spark) == [
        START[0],
        (2, "B", "x", 1, 3),
        (4, "left", "y", 3, 3),
        (7, "g", "y", 4, 3),
    ]
    spark.sql(f"UPDATE {table} SET v = concat(v, v)")
    assert [row[3:] for row in tracked(spark)] == [(0, 4), (1, 4), (3, 4), (4, 4)]
    assert spark.sql("CALL lake.sys.check('db.tracked')").collect() == []


def test_a_merge_of_a_frame_keeps_ids_as_one_in_sql_does(spark: SparkSession, table: str) -> None:
    source = spark.createDataFrame([(4, "D"), (8, "h")], "id INT, v STRING").alias("s")
    merge = source.mergeInto(table, F.col("tracked.id") == F.col("s.id"))
    merge = merge.whenMatched().update({"v": F.col("s.v")})
    merge.whenNotMatched().insert({"id": F.col("id"), "v": F.col("v"), "p": F.lit("x")}).merge()
    assert tracked(spark) == [*START[:3], (4, "D", "y", 3, 3), (8, "h", "x", 4, 3)]
