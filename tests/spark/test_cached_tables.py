"""CACHE TABLE keeps the rows of a table, and no answer is older than the table."""

import pytest
from pyspark import StorageLevel
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

KEYED = "TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1')"
FROM_CACHE = "InMemoryTableScan"


def made(spark: SparkSession, name: str, properties: str = "") -> str:
    """A table with the rows (1, 'a') and (2, 'b')."""
    spark.sql(f"DROP TABLE IF EXISTS lake.db.{name}")
    spark.sql(f"CREATE TABLE lake.db.{name} (id INT, v STRING) {properties}")
    spark.sql(f"INSERT INTO lake.db.{name} VALUES (1, 'a'), (2, 'b')")
    return f"lake.db.{name}"


def rows(spark: SparkSession, name: str) -> list[tuple[object, ...]]:
    return sorted(map(tuple, spark.sql(f"SELECT * FROM {name}").collect()))


def plan(spark: SparkSession, query: str) -> str:
    return str(spark.sql(f"EXPLAIN {query}").collect()[0][0])


@pytest.mark.parametrize("properties", ["", KEYED], ids=["append", "keyed"])
def test_queries_are_answered_from_the_cache(spark: SparkSession, properties: str) -> None:
    name = made(spark, "cached", properties)
    assert FROM_CACHE not in plan(spark, f"SELECT * FROM {name}")
    spark.sql(f"CACHE TABLE {name}")
    shown = plan(spark, f"SELECT v FROM {name} WHERE id = 2")
    assert FROM_CACHE in shown
    assert "snapshot 1, from the cache" in shown
    assert rows(spark, name) == [(1, "a"), (2, "b")]
    assert spark.sql(f"SELECT v FROM {name} WHERE id = 2").collect() == [("b",)]
    joined = f"SELECT one.v, other.v FROM {name} one JOIN {name} other ON one.id = other.id + 1"
    assert spark.sql(joined).collect() == [("b", "a")]
    table = spark.table(name)
    assert table.alias("one").join(spark.table(name).alias("other"), "id").count() == 2
    spark.sql(f"UNCACHE TABLE {name}")
    assert FROM_CACHE not in plan(spark, f"SELECT * FROM {name}")


def test_what_is_committed_is_seen_at_once_and_kept_from_then_on(spark: SparkSession) -> None:
    name = made(spark, "written", KEYED)
    spark.sql(f"CACHE TABLE {name}")
    spark.sql(f"INSERT INTO {name} VALUES (3, 'c')")
    assert rows(spark, name) == [(1, "a"), (2, "b"), (3, "c")]
    spark.sql(f"UPDATE {name} SET v = concat(v, id) WHERE id > (SELECT min(id) FROM {name})")
    assert rows(spark, name) == [(1, "a"), (2, "b2"), (3, "c3")]
    assert FROM_CACHE in plan(spark, f"SELECT * FROM {name}")
    spark.sql(f"ALTER TABLE {name} ADD COLUMN w INT")
    assert rows(spark, name) == [(1, "a", None), (2, "b2", None), (3, "c3", None)]
    assert FROM_CACHE in plan(spark, f"SELECT w FROM {name}")


@pytest.mark.parametrize("properties", ["", KEYED], ids=["append", "keyed"])
def test_a_frame_that_is_cached_stays_so_beside_queries_of_its_table(
    spark: SparkSession, properties: str
) -> None:
    name = made(spark, "framed", properties)
    frame = spark.table(name).cache()
    try:
        assert spark.sql(f"SELECT id, v FROM {name}").count() == 2
        assert frame.storageLevel.useMemory
    finally:
        frame.unpersist()


def test_other_points_in_time_and_columns_of_places_are_read_from_files(
    spark: SparkSession,
) -> None:
    name = made(spark, "travelled")
    spark.sql(f"INSERT INTO {name} VALUES (3, 'c')")
    spark.sql(f"CACHE TABLE {name}")
    assert spark.sql(f"SELECT count(*) FROM {name} VERSION AS OF 1").collect() == [(2,)]
    placed = f"SELECT count(DISTINCT __paimon_file_path) FROM {name}"
    assert spark.sql(placed).collect() == [(2,)]
    assert FROM_CACHE not in plan(spark, placed)


def test_after_a_rollback_the_older_snapshot_is_read_and_refreshed(spark: SparkSession) -> None:
    name = made(spark, "rolled")
    spark.sql(f"INSERT INTO {name} VALUES (3, 'c')")
    spark.sql(f"CACHE TABLE {name}")
    spark.sql("CALL lake.sys.rollback(table => 'db.rolled', version => '1')")
    assert rows(spark, name) == [(1, "a"), (2, "b")]
    spark.sql(f"REFRESH TABLE {name}")
    assert FROM_CACHE in plan(spark, f"SELECT * FROM {name}")
    spark.sql(f"INSERT INTO {name} VALUES (4, 'd')")
    assert rows(spark, name) == [(1, "a"), (2, "b"), (4, "d")]


def test_the_catalog_of_the_session_caches_too(spark: SparkSession) -> None:
    name = made(spark, "listed")
    assert not spark.catalog.isCached(name)
    spark.catalog.cacheTable(name, StorageLevel.DISK_ONLY)
    assert spark.catalog.isCached(name)
    assert "StorageLevel(disk, 1 replicas)" in plan(spark, f"SELECT * FROM {name}")
    spark.catalog.refreshTable(name)
    assert spark.catalog.isCached(name)
    spark.catalog.uncacheTable(name)
    assert not spark.catalog.isCached(name)
    spark.catalog.cacheTable(name)
    spark.catalog.clearCache()
    assert not spark.catalog.isCached(name)


def test_a_table_that_goes_is_kept_no_more(spark: SparkSession) -> None:
    name = made(spark, "gone")
    spark.sql(f"CACHE LAZY TABLE {name} OPTIONS ('storageLevel' = 'MEMORY_ONLY_SER')")
    spark.sql(f"ALTER TABLE {name} RENAME TO lake.db.gone_since")
    assert not spark.catalog.isCached("lake.db.gone_since")
    spark.sql("CACHE TABLE lake.db.gone_since")
    spark.sql("DROP TABLE lake.db.gone_since")
    assert not spark.catalog.isCached(made(spark, "gone_since"))


def test_a_view_over_tables_is_cached_with_its_options(spark: SparkSession) -> None:
    name = made(spark, "viewed")
    query = f"SELECT v FROM {name}"
    spark.sql(f"CACHE LAZY TABLE cached_view OPTIONS ('storageLevel' = 'DISK_ONLY') AS {query}")
    assert "StorageLevel(disk, 1 replicas)" in plan(spark, "SELECT * FROM cached_view")
    assert sorted(spark.table("cached_view").collect()) == [("a",), ("b",)]
    spark.sql("DROP VIEW cached_view")


@pytest.mark.parametrize(
    ("statement", "condition"),
    [
        ("CACHE TABLE lake.db.refused OPTIONS ('storageLevel' = 'DISC')", "LAKEBED_INVALID"),
        ("CACHE TABLE lake.db.refused OPTIONS ('level' = 'NONE')", "LAKEBED_INVALID_ARGUMENT"),
        ("CACHE TABLE lake.db.`refused$snapshots`", "UNSUPPORTED_FEATURE"),
        ("CACHE TABLE lake.db.nowhere", "TABLE_OR_VIEW_NOT_FOUND"),
        ("UNCACHE TABLE lake.db.nowhere", "TABLE_OR_VIEW_NOT_FOUND"),
    ],
)
def test_what_cannot_be_cached_is_an_error(
    spark: SparkSession, statement: str, condition: str
) -> None:
    made(spark, "refused")
    with pytest.raises(AnalysisException, match=condition):
        spark.sql(statement)
    spark.sql("UNCACHE TABLE IF EXISTS lake.db.nowhere")
