"""Columns that say where a row stands are there when they are named, true, and meant by no star."""

from urllib.parse import urlsplit

import pyarrow.parquet as pq
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

pytestmark = pytest.mark.spark

PLACE = "__paimon_file_path, __paimon_row_index"


def rows(frame: DataFrame) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in frame.collect())


def stored(path: object, index: object, column: str) -> object:
    """What stands at a place of a file."""
    assert isinstance(path, str)
    assert isinstance(index, int)
    return pq.read_table(urlsplit(path).path, columns=[column]).column(column)[index].as_py()


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession) -> None:
    """`p` is partitioned, `k` has a key and must be merged, `d` has deletion vectors."""
    spark.sql("CREATE TABLE lake.db.p (id BIGINT, v STRING, dt DATE, h INT) PARTITIONED BY (dt, h)")
    spark.sql("""INSERT INTO lake.db.p SELECT id, concat('v', id),
        if(id < 6, DATE'2026-01-01', DATE'2026-01-02'), cast(id % 2 AS INT) FROM range(10)""")
    spark.sql("""CREATE TABLE lake.db.k (id BIGINT, v STRING)
        TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '2', 'write-only' = 'true')""")
    spark.sql("INSERT INTO lake.db.k SELECT id, concat('v', id) FROM range(8)")
    spark.sql("INSERT INTO lake.db.k VALUES (3, 'w3')")
    spark.sql("""CREATE TABLE lake.db.d (id BIGINT, v STRING)
        TBLPROPERTIES ('bucket' = '2', 'bucket-key' = 'id', 'deletion-vectors.enabled' = 'true')""")
    spark.sql("INSERT INTO lake.db.d SELECT id, concat('v', id) FROM range(20)")
    spark.sql("DELETE FROM lake.db.d WHERE id % 3 = 0")
    spark.sql("""CREATE TABLE lake.db.r (id BIGINT, v STRING)
        TBLPROPERTIES ('row-tracking.enabled' = 'true')""")
    spark.sql("INSERT INTO lake.db.r SELECT id, concat('v', id) FROM range(0, 4, 1, 1)")
    spark.sql("INSERT INTO lake.db.r VALUES (9, 'v9')")


@pytest.mark.parametrize("table", ["p", "d"])
def test_the_place_is_that_of_the_row(spark: SparkSession, table: str) -> None:
    found = spark.sql(f"SELECT id, {PLACE} FROM lake.db.{table} WHERE id > 4").collect()
    assert len(found) == spark.sql(f"SELECT id FROM lake.db.{table} WHERE id > 4").count() > 0
    assert all(stored(path, index, "id") == id_ for id_, path, index in found)


def test_partition_and_bucket_are_those_of_the_row(spark: SparkSession) -> None:
    found = spark.sql("SELECT dt, h, __paimon_partition, __paimon_bucket FROM lake.db.p")
    assert all(tuple(row[2]) == (row[0], row[1]) and row[3] == 0 for row in found.collect())
    query = """SELECT __paimon_partition.h, count(*) FROM lake.db.p
        WHERE __paimon_partition.dt = '2026-01-02' GROUP BY 1"""
    assert rows(spark.sql(query)) == [(0, 2), (1, 2)]
    buckets = spark.sql("SELECT bucket, record_count FROM lake.db.`k$buckets`").collect()
    assert {row[0] for row in buckets} == {
        row[0] for row in spark.sql("SELECT __paimon_bucket FROM lake.db.k").collect()
    }
    unpartitioned = spark.sql("SELECT DISTINCT __paimon_partition FROM lake.db.k")
    assert [tuple(row[0]) for row in unpartitioned.collect()] == [()]


def test_rows_that_are_merged_have_no_place(spark: SparkSession) -> None:
    assert rows(spark.sql("SELECT v, __paimon_bucket < 2 FROM lake.db.k WHERE id = 3")) == [
        ("w3", True)
    ]
    with pytest.raises(AnalysisException, match="compact the table fully") as info:
        spark.sql("SELECT v, __paimon_row_index FROM lake.db.k")
    assert info.value.getCondition() == "LAKEBED_UNSUPPORTED"


def test_rows_of_a_compacted_table_have_a_place_again(spark: SparkSession) -> None:
    spark.sql("""CREATE TABLE lake.db.compacted (id BIGINT, v STRING)
        TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1', 'write-only' = 'true')""")
    spark.sql("INSERT INTO lake.db.compacted VALUES (1, 'a'), (2, 'b')")
    spark.sql("INSERT INTO lake.db.compacted VALUES (1, 'A')")
    spark.sql("CALL lake.sys.compact(table => 'db.compacted')")
    found = spark.sql(f"SELECT v, {PLACE} FROM lake.db.compacted").collect()
    assert sorted(row[0] for row in found) == ["A", "b"]
    assert all(stored(path, index, "v") == value for value, path, index in found)


def test_rows_that_are_tracked_have_an_id_and_an_age(spark: SparkSession) -> None:
    found = spark.sql("SELECT id, _ROW_ID, _SEQUENCE_NUMBER FROM lake.db.r WHERE v <> 'v1'")
    assert rows(found) == [(0, 0, 1), (2, 2, 1), (3, 3, 1), (9, 4, 2)]
    both = spark.sql(f"SELECT _row_id, id, {PLACE} FROM lake.db.r WHERE _row_id >= 3").collect()
    assert [(row[0], row[1]) for row in sorted(both)] == [(3, 3), (4, 9)]
    assert all(stored(row[2], row[3], "id") == row[1] for row in both)
    with pytest.raises(AnalysisException) as info:
        spark.sql("SELECT _ROW_ID FROM lake.db.p")
    assert info.value.getCondition() == "UNRESOLVED_COLUMN.WITH_SUGGESTION"


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("SELECT * FROM lake.db.d WHERE __paimon_bucket = 0", ["id", "v"]),
        ("SELECT *, __paimon_bucket FROM lake.db.d", ["id", "v", "__paimon_bucket"]),
        ("SELECT d.*, __paimon_bucket AS b FROM lake.db.d", ["id", "v", "b"]),
        ("SELECT * EXCEPT (v), __paimon_bucket FROM lake.db.d x", ["id", "__paimon_bucket"]),
        (
            (
                "SELECT x.*, y.* FROM lake.db.d x JOIN lake.db.p y USING (id)"
                " WHERE x.__paimon_bucket = y.__paimon_bucket"
            ),
            ["id", "v", "id", "v", "dt", "h"],
        ),
        (
            "SELECT * FROM lake.db.d x, lake.db.p y WHERE x.__paimon_bucket = y.id",
            ["id", "v", "id", "v", "dt", "h"],
        ),
        (
            "SELECT * FROM (SELECT *, __paimon_bucket b FROM lake.db.d) WHERE b = 1",
            ["id", "v", "b"],
        ),
        (
            (
                "SELECT * FROM lake.db.p WHERE EXISTS"
                " (SELECT * FROM lake.db.d WHERE __paimon_bucket = p.__paimon_bucket)"
            ),
            ["id", "v", "dt", "h"],
        ),
        ("SELECT id FROM lake.db.d ORDER BY __paimon_row_index", ["id"]),
        (
            "SELECT count(*), max(__paimon_row_index) FROM lake.db.d",
            ["count(1)", "max(__paimon_row_index)"],
        ),
        ("SELECT lake.db.d.__paimon_bucket FROM lake.db.d", ["__paimon_bucket"]),
        (
            (
                "SELECT id * 2 AS n, __paimon_bucket AS b"
                " FROM paimon_incremental_query('lake.db.d', 1, 1)"
            ),
            ["n", "b"],
        ),
        ("SELECT id, __paimon_bucket AS b FROM lake.db.d VERSION AS OF 1", ["id", "b"]),
    ],
)
def test_no_star_means_them(spark: SparkSession, query: str, columns: list[str]) -> None:
    found = spark.sql(query)
    assert found.columns == columns
    assert found.collect() or "incremental" in query


@pytest.mark.parametrize(
    "query",
    [
        "FROM lake.db.d SELECT __paimon_bucket",
        "FROM lake.db.d |> SELECT __paimon_bucket",
        "SELECT __paimon_bucket FROM lake.db.d NATURAL JOIN lake.db.p",
        "SELECT id, _ROW_ID FROM paimon_incremental_query('lake.db.r', 1, 2)",
    ],
)
def test_forms_in_which_they_would_mean_something_else_are_refused(
    spark: SparkSession, query: str
) -> None:
    with pytest.raises(AnalysisException) as info:
        spark.sql(query)
    assert info.value.getCondition() == "LAKEBED_UNSUPPORTED"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT __paimon_bucket FROM (SELECT * FROM lake.db.d)",
        "WITH c AS (SELECT id FROM lake.db.d) SELECT __paimon_bucket FROM c",
        "SELECT __paimon_bucket FROM lake.db.`d$files`",
    ],
)
def test_they_are_not_seen_through_a_subquery_nor_in_system_tables(
    spark: SparkSession, query: str
) -> None:
    with pytest.raises(AnalysisException) as info:
        spark.sql(query)
    assert (info.value.getCondition() or "").startswith("UNRESOLVED_COLUMN")


def test_a_column_of_the_tables_own_goes_first(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.own AS SELECT 7 AS __paimon_bucket, 'x' AS v")
    query = "SELECT *, __paimon_bucket AS b FROM lake.db.own"
    assert rows(spark.sql(query)) == [(7, "x", 7)]
    assert rows(spark.sql("SELECT __paimon_bucket, __paimon_row_index FROM lake.db.own")) == [
        (7, 0)
    ]


def test_frames_of_tables_give_them_when_they_are_named(spark: SparkSession) -> None:
    table = spark.table("lake.db.d")
    assert table.columns == ["id", "v"]
    chosen = table.select("*", "__paimon_bucket", F.col("__paimon_row_index").alias("n"))
    assert chosen.columns == ["id", "v", "__paimon_bucket", "n"]
    expected = rows(spark.sql("SELECT id, __paimon_bucket FROM lake.db.d WHERE id > 4"))
    assert rows(table.where("id > 4").select("id", "__paimon_bucket")) == expected
    assert rows(table.filter("id > 4").selectExpr("id", "0 + __paimon_bucket")) == expected
    aliased = table.alias("t").where(F.col("t.id") > 4)
    assert rows(aliased.select("t.id", "t.__paimon_bucket")) == expected
    added = table.withColumn("b", table.metadataColumn("__paimon_bucket"))
    assert added.columns == ["id", "v", "b"]
    path = spark.sql("SELECT max(__paimon_file_path) FROM lake.db.d").collect()[0][0]
    there = table.where(F.col("__paimon_file_path") == path)
    assert there.columns == ["id", "v"]
    assert 0 < there.count() < table.count()
    assert {row[0] for row in there.select("__paimon_file_path").collect()} == {path}
    read = spark.read.table("lake.db.d").select("id", "__paimon_bucket")
    joined = read.join(table.select("id", "__paimon_bucket"), ["id", "__paimon_bucket"])
    assert joined.count() == table.count()
    first = spark.read.option("scan.snapshot-id", "1").table("lake.db.d")
    assert first.select("__paimon_row_index").count() == 20
    with pytest.raises(AnalysisException):
        spark.range(3).select("__paimon_bucket").collect()
