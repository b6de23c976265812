"""`clustering.incremental` on Spark: as users call it, and as a job of tasks."""

from collections.abc import Iterator

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from lakebed.spark.compaction import run_job
from lakebed.spark.registry import make_registry
from lakebed.table.compaction.job import compaction_job
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.table import Table
from support.marked_tables import live_files

pytestmark = pytest.mark.spark

NAME = "lake.db.clustered"
ORDERED = "'clustering.strategy' = 'order'"
BUCKETS = "'bucket' = '2', 'bucket-key' = 'b', 'bucket-append-ordered' = 'false'"
LOCAL = "'clustering.incremental.mode' = 'local-sort', 'source.split.target-size' = '1 b'"
TOP = 5


@pytest.fixture
def dropped(spark: SparkSession) -> Iterator[None]:
    yield
    spark.sql(f"DROP TABLE IF EXISTS {NAME}")


def create(spark: SparkSession, options: str) -> None:
    spark.sql(
        f"CREATE TABLE {NAME} (a INT, b INT, dt STRING) USING paimon PARTITIONED BY (dt) "
        "TBLPROPERTIES ('clustering.incremental' = 'true', 'clustering.columns' = 'a,b', "
        f"'write-only' = 'true', {options})"
    )


def fill(spark: SparkSession, commits: int, *, count: int = 100) -> None:
    for commit in range(commits):
        spark.sql(
            f"INSERT INTO {NAME} SELECT /*+ COALESCE(1) */ cast(id * 37 % {count} AS INT), "
            f"cast({commit} AS INT), 'x' FROM range({count})"
        )


def table_of(spark: SparkSession) -> Table:
    return make_registry(spark).catalog("lake").load_table("db.clustered")


def levels(spark: SparkSession) -> list[int]:
    return sorted(live_files(table_of(spark)).values())


def sums(spark: SparkSession) -> tuple[int, ...]:
    row = spark.sql(f"SELECT count(*), sum(a), sum(b), count(DISTINCT a, b) FROM {NAME}").first()
    assert row is not None
    return tuple(row)


def is_sorted(table: Table) -> list[bool]:
    """Of each file, whether its rows are in the order of both columns."""
    scan = table.scan(["a", "b"])
    found = []
    for split in scan.plan().splits:
        rows = [
            tuple(row.values()) for batch in scan.reader.read(split) for row in batch.to_pylist()
        ]
        found.append(rows == sorted(rows))
    return found


@pytest.mark.usefixtures("dropped")
def test_compact_clusters_what_is_due_and_all_of_it_when_asked(spark: SparkSession) -> None:
    create(spark, ORDERED)
    fill(spark, 4)
    call = "CALL lake.sys.compact(table => 'db.clustered'"
    spark.sql(f"{call})")
    assert levels(spark) == [0] * 4, "minor is the default, and there are few files"
    before = sums(spark)
    spark.sql(f"{call}, compact_strategy => 'full')")
    assert levels(spark) == [TOP]
    assert is_sorted(table_of(spark)) == [True]
    assert sums(spark) == before
    fill(spark, 1)
    spark.sql(f"{call})")
    assert levels(spark) == [0, TOP]
    spark.sql(f"{call}, options => 'num-sorted-run.compaction-trigger=2, num-levels=6')")
    assert levels(spark) == [TOP]
    assert sums(spark)[0] == 500


@pytest.mark.usefixtures("dropped")
def test_a_clustered_table_is_not_sorted_by_other_columns(spark: SparkSession) -> None:
    create(spark, ORDERED)
    fill(spark, 1)
    call = "CALL lake.sys.compact(table => 'db.clustered', {})"
    with pytest.raises(AnalysisException, match=r"contradicts clustering\.incremental"):
        spark.sql(call.format("order_strategy => 'zorder', order_by => 'b,a'"))
    with pytest.raises(AnalysisException, match="names 'x'"):
        spark.sql(call.format("options => 'clustering.columns=x'"))


@pytest.mark.usefixtures("dropped")
@pytest.mark.parametrize(
    ("options", "file_count"),
    [("'target-file-row-num' = '100'", 5), (BUCKETS, 2), (LOCAL, 5)],
    ids=["global", "buckets", "local"],
)
def test_tasks_cluster_for_one_commit(
    spark: SparkSession, *, options: str, file_count: int
) -> None:
    create(spark, f"{ORDERED}, {options}")
    fill(spark, 5)
    before, table = sums(spark), table_of(spark)
    job = compaction_job(table.parts(), "full", EveryPartition())
    snapshot = run_job(spark, make_registry(spark), job, small_bytes=0, one_task_bytes=0)
    assert snapshot is not None
    assert levels(spark) == [TOP] * file_count
    assert is_sorted(table) == [True] * len(is_sorted(table))
    assert sums(spark) == before
    assert compaction_job(table.parts(), "full", EveryPartition()).compactions == []
