"""A Spark job of compactions in groups: what is committed stays, and it is told how far it is."""

from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from lakebed.errors import CorruptTableError
from lakebed.spark.compaction import run_job
from lakebed.spark.job_description import described
from lakebed.spark.registry import make_registry
from lakebed.table.compaction.job import CompactionJob, compaction_job
from lakebed.table.compaction.progress import CompactionProgress
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.table import Table
from support.store_listing import data_files, orphans

pytestmark = pytest.mark.spark

BUCKETS = 4


def make(spark: SparkSession, name: str) -> Table:
    """A table with two files in each bucket."""
    spark.sql(
        f"CREATE TABLE lake.db.{name} (id INT NOT NULL, v INT) USING paimon TBLPROPERTIES"
        f" ('primary-key' = 'id', 'bucket' = '{BUCKETS}', 'write-only' = 'true')"
    )
    table = make_registry(spark).catalog("lake").load_table(f"db.{name}")
    for value in range(2):
        ids = pa.array(range(64), pa.int32())
        table.append(pa.table({"id": ids, "v": pa.array([value] * 64, pa.int32())}))
    return table


def job_of(table: Table, *, max_commits: int) -> CompactionJob:
    job = compaction_job(table.parts(), "full", EveryPartition())
    return CompactionJob(
        parts=job.parts, base=job.base, compactions=job.compactions, max_commits=max_commits
    )


def rows(table: Table) -> set[tuple[object, ...]]:
    return {tuple(row.values()) for row in table.scan().to_arrow().to_pylist()}


@pytest.mark.parametrize(("max_commits", "groups"), [(1, 1), (2, 2)])
def test_each_group_is_a_job_and_a_commit(
    spark: SparkSession, *, max_commits: int, groups: int
) -> None:
    table = make(spark, f"groups_{max_commits}")
    told: list[CompactionProgress] = []
    job = job_of(table, max_commits=max_commits)
    run_job(spark, make_registry(spark), job, small_bytes=0, progress=told.append)
    assert len(table.snapshots()) == 2 + groups
    assert [each.done for each in told] == [BUCKETS * (n + 1) // groups for n in range(groups)]
    assert told[-1].done_bytes == told[-1].total_bytes > 0
    assert rows(table) == {(id_, 1) for id_ in range(64)}


def test_a_group_that_fails_keeps_those_before_and_leaves_no_file(spark: SparkSession) -> None:
    table = make(spark, "groups_lame")
    job = job_of(table, max_commits=2)
    last = job.compactions[-1].pick.files[0].file_name
    damaged = next(path for path in data_files(table.file_io, table.location) if last in path)
    file = Path(urlsplit(damaged).path)
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    with pytest.raises(CorruptTableError):
        run_job(spark, make_registry(spark), job, small_bytes=0)
    file.write_bytes(whole)
    assert len(table.snapshots()) == 3
    assert orphans(table, table.file_io) == set()
    assert rows(table) == {(id_, 1) for id_ in range(64)}


def test_a_listener_that_fails_leaves_nothing(spark: SparkSession) -> None:
    table = make(spark, "groups_untold")
    before = data_files(table.file_io, table.location)

    def fail(progress: CompactionProgress) -> None:
        raise KeyError(progress.done)

    with pytest.raises(KeyError):
        run_job(
            spark, make_registry(spark), job_of(table, max_commits=1), small_bytes=0, progress=fail
        )
    assert data_files(table.file_io, table.location) == before
    assert len(table.snapshots()) == 2


def test_spark_shows_what_its_jobs_are_for(spark: SparkSession) -> None:
    def descriptions() -> list[str]:
        store = spark._jsparkSession.sparkContext().statusStore()
        jobs = store.jobsList(None)
        found = [jobs.apply(index).description() for index in range(jobs.size())]
        return [each.get() for each in found if each.isDefined()]

    table = make(spark, "groups_shown")
    run_job(spark, make_registry(spark), job_of(table, max_commits=1), small_bytes=0)
    assert f"compact {table.location}: {BUCKETS} buckets" in descriptions()
    with described(spark, "mine"), described(spark, "inner"):
        spark.range(3).count()
    spark.range(3).count()
    assert "inner" in descriptions()
    assert spark.conf.get("spark.job.description", "none") == "none"
