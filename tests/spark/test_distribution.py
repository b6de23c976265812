"""Rows brought together by bucket: how many tasks write them, and which rows meet."""

from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from lakebed.format.bucket import assign_buckets
from lakebed.spark import distribution
from lakebed.spark.registry import make_registry
from lakebed.table.table import Table

pytestmark = pytest.mark.spark

BUCKETS = 4


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> Table:
    spark.sql(
        "CREATE TABLE lake.db.dealt (k BIGINT NOT NULL, b INT NOT NULL, text STRING) TBLPROPERTIES"
        f" ('primary-key' = 'k,b', 'bucket-key' = 'b', 'bucket' = '{BUCKETS}')"
    )
    table = make_registry(spark).catalog("lake").load_table("db.dealt")
    assert isinstance(table, Table)
    return table


def rows(spark: SparkSession, count: int, *, hot: bool = False) -> DataFrame:
    """Rows of which Spark does not know the number beforehand, as behind a real query."""
    ids = spark.range(0, count, 1, 3).withColumn("g", F.col("id")).groupBy("id").agg(F.max("g"))
    bucket_key = F.lit(7) if hot else (F.col("id") % 100).cast("int")
    return ids.select(F.col("id").alias("k"), bucket_key.alias("b"), F.uuid().alias("text"))


def dealt(
    frame: DataFrame, table: Table, *, one_task_bytes: int = distribution.ONE_TASK_BYTES
) -> list[tuple[int, int, int]]:
    """Task, bucket key and count of rows that met."""
    registry = make_registry(frame.sparkSession)
    together = distribution.by_bucket(frame, table.parts(), registry, one_task_bytes=one_task_bytes)
    task = F.spark_partition_id().alias("task")
    counted = together.mapInArrow(lambda batches: batches, together.schema).select(task, "b")
    return [tuple(row) for row in counted.groupBy("task", "b").count().collect()]


def buckets_of(keys: list[int], table: Table) -> list[int]:
    kind = table.schema.field("b").type
    column = pa.array(keys, pa.int32())
    found = assign_buckets([column], [kind], total_buckets=BUCKETS, function="default")
    return [int(bucket) for bucket in found]


def test_a_bucket_is_one_tasks_and_a_small_write_has_one_task(
    spark: SparkSession, table: Table
) -> None:
    found = dealt(rows(spark, 2_000), table)
    assert sum(count for _, _, count in found) == 2_000
    assert {task for task, _, _ in found} == {0}
    without = "spark.sql.adaptive.coalescePartitions.enabled"
    spark.conf.set(without, "false")
    try:
        found = dealt(rows(spark, 2_000), table)
    finally:
        spark.conf.unset(without)
    tasks: dict[int, set[int]] = {}
    for (task, _, _), bucket in zip(
        found, buckets_of([b for _, b, _ in found], table), strict=True
    ):
        tasks.setdefault(bucket, set()).add(task)
    assert {bucket: len(where) for bucket, where in tasks.items()} == dict.fromkeys(range(4), 1)


@pytest.fixture
def apart(spark: SparkSession) -> Iterator[None]:
    """Spark puts none of the partitions of a shuffle together that have rows."""
    adaptive = "spark.sql.adaptive"
    sizes = {
        f"{adaptive}.advisoryPartitionSizeInBytes": "1b",
        f"{adaptive}.coalescePartitions.initialPartitionNum": "64",
        f"{adaptive}.coalescePartitions.minPartitionSize": "1b",
        f"{adaptive}.coalescePartitions.parallelismFirst": "false",
    }
    for key, value in sizes.items():
        spark.conf.set(key, value)
    yield
    for key in sizes:
        spark.conf.unset(key)


@pytest.mark.usefixtures("apart")
def test_a_hot_bucket_of_many_rows_is_several_tasks_and_each_key_one(
    spark: SparkSession, table: Table
) -> None:
    frame = rows(spark, 2_000, hot=True).unionAll(rows(spark, 2_000, hot=True))
    together = distribution.by_bucket(
        frame, table.parts(), make_registry(spark), one_task_bytes=1_000
    )
    task = F.spark_partition_id().alias("task")
    found = together.mapInArrow(lambda batches: batches, together.schema).select(task, "k")
    counted = [tuple(row) for row in found.groupBy("task", "k").count().collect()]
    assert len({task for task, _, _ in counted}) > 1
    assert sorted(key for _, key, _ in counted) == list(range(2_000))
    assert {count for _, _, count in counted} == {2}


@pytest.mark.usefixtures("apart")
@pytest.mark.parametrize(
    ("one_task_bytes", "expected"),
    [(1_000, [0, 0, 1, 1, 2, 2, 3, 3]), (distribution.ONE_TASK_BYTES, [0, 1, 2, 3])],
)
def test_the_partitions_of_a_bucket_lie_beside_each_other_and_few_rows_have_one(
    *, spark: SparkSession, table: Table, one_task_bytes: int, expected: list[int]
) -> None:
    found = sorted(dealt(rows(spark, 2_000), table, one_task_bytes=one_task_bytes))
    buckets = buckets_of([b for _, b, _ in found], table)
    of_task = {(task, bucket) for (task, _, _), bucket in zip(found, buckets, strict=True)}
    assert [bucket for _, bucket in sorted(of_task)] == expected


def test_rows_that_spark_can_count_beforehand_are_not_shuffled(
    spark: SparkSession, table: Table
) -> None:
    known = spark.range(0, 50, 1, 4).selectExpr("id AS k", "cast(id AS INT) AS b", "'x' AS text")
    for frame, shuffles in ((known, False), (rows(spark, 50), True)):
        together = distribution.by_bucket(frame, table.parts(), make_registry(spark))
        plan = spark.sql("EXPLAIN FORMATTED SELECT * FROM {rows}", rows=together).collect()[0][0]
        assert ("REPARTITION" in plan) is shuffles
    assert {task for task, _, _ in dealt(known, table)} == {0}


def test_every_partition_of_a_shuffle_is_reached(spark: SparkSession) -> None:
    for places in (1, 2, 7, 200):
        numbers = distribution._numbers(places)
        frame = spark.createDataFrame([(number,) for number in numbers], "number BIGINT")
        where = frame.selectExpr(f"pmod(hash(number), {places}) AS place").collect()
        assert [row.place for row in where] == list(range(places))


def test_a_bucket_of_each_partition_is_one_tasks(spark: SparkSession) -> None:
    spark.sql(
        "CREATE TABLE lake.db.parted (k BIGINT NOT NULL, v INT, p STRING NOT NULL)"
        " PARTITIONED BY (p) TBLPROPERTIES ('primary-key' = 'k,p', 'bucket' = '3')"
    )
    twice = rows(spark, 600).unionAll(rows(spark, 600))
    given = twice.selectExpr("k", "b AS v", "concat('p', k % 5) AS p")
    given.writeTo("lake.db.parted").append()
    assert spark.table("lake.db.parted").count() == 600
    files = spark.sql("SELECT partition, bucket FROM lake.db.`parted$files`").collect()
    assert len(files) == len({tuple(file) for file in files}) == 15


def test_few_keys_of_growing_buckets_are_assigned_by_one_task(spark: SparkSession) -> None:
    spark.sql(
        "CREATE TABLE lake.db.growing (id BIGINT NOT NULL, v INT) TBLPROPERTIES"
        " ('primary-key' = 'id', 'bucket' = '-1', 'dynamic-bucket.target-row-num' = '10')"
    )
    spark.range(0, 60, 1, 3).selectExpr("id % 30 AS id", "1 AS v").writeTo(
        "lake.db.growing"
    ).append()
    assert spark.table("lake.db.growing").count() == 30
    indexed = "SELECT sum(row_count) FROM lake.db.`growing$table_indexes`"
    assert [row[0] for row in spark.sql(indexed).collect()] == [30]
    spark.sql("INSERT OVERWRITE lake.db.growing SELECT 29L, 2 FROM range(2)")
    assert [row[0] for row in spark.sql(indexed).collect()] == [1]
    spark.sql("INSERT INTO lake.db.growing SELECT 29L, 3 FROM range(2)")
    assert [tuple(row) for row in spark.table("lake.db.growing").collect()] == [(29, 3)]
