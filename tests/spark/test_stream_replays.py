"""Micro-batches that are run again, by queries that were killed, moved or started anew."""

from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from lakebed.spark import writer as spark_writer
from support.stream_queries import copy, load, rows, run

pytestmark = pytest.mark.spark


def test_a_micro_batch_that_is_run_again_is_not_committed_again(
    spark: SparkSession, tables: tuple[str, str], tmp_path: Path
) -> None:
    source, target = tables
    spark.sql(f"CREATE TABLE {source} (k INT, v STRING)")
    spark.sql(f"CREATE TABLE {target} (k INT, v STRING)")
    checkpoint = tmp_path / "checkpoint"
    for number in range(3):
        spark.sql(f"INSERT INTO {source} VALUES ({number}, 'x')")
        copy(spark, tables, checkpoint)
        # As if the query had been killed before it wrote down that the batch was done.
        for path in (checkpoint / "commits").glob(f"*{number}*"):
            path.unlink()
        copy(spark, tables, checkpoint)
    assert rows(spark, target) == [(0, "x"), (1, "x"), (2, "x")]
    assert len(load(spark, target).snapshots()) == 3


def test_a_micro_batch_that_is_run_again_tells_the_changelog_that_a_killed_query_left_untold(
    spark: SparkSession,
    tables: tuple[str, str],
    *,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source, target = tables
    spark.sql(f"CREATE TABLE {source} (k INT NOT NULL)")
    spark.sql(
        f"CREATE TABLE {target} (k INT NOT NULL) TBLPROPERTIES ('primary-key' = 'k',"
        " 'bucket' = '1', 'changelog-producer' = 'lookup')"
    )
    spark.sql(f"INSERT INTO {source} VALUES (1)")
    with monkeypatch.context() as patched:
        # As if it had been killed between the commit and the compaction; not so on a server.
        patched.setattr(spark_writer, "compact_written", lambda *_args, **_options: None)
        copy(spark, tables, tmp_path)
    for path in (tmp_path / "commits").glob("*0*"):
        path.unlink()
    copy(spark, tables, tmp_path)
    table = load(spark, target)
    told = [row for each in table.stream(1, until="latest") for row in each.to_pylist()]
    assert told == [{"k": 1, "_row_kind": "+I"}]


def test_a_query_that_died_in_its_first_micro_batch_loses_nothing_of_it(
    spark: SparkSession, tables: tuple[str, str], tmp_path: Path
) -> None:
    source, target = tables

    def fail(_frame: DataFrame, _number: int) -> None:
        raise RuntimeError("as if it were killed")

    spark.sql(f"CREATE TABLE {source} (k INT)")
    spark.sql(f"CREATE TABLE {target} (k INT)")
    spark.sql(f"INSERT INTO {source} VALUES (1)")
    writer = spark.readStream.table(source).writeStream
    writer = writer.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True)
    query = writer.foreachBatch(fail).start()
    with pytest.raises(StreamingQueryException, match="as if it were killed"):
        query.awaitTermination()
    # By now a new query would begin with another snapshot.
    spark.sql(f"INSERT INTO {source} VALUES (2)")
    copy(spark, tables, tmp_path)
    assert rows(spark, target) == [(1,), (2,)]


def test_a_query_finds_its_checkpoint_by_its_name_below_the_session_s_directory(
    spark: SparkSession, tables: tuple[str, str], tmp_path: Path
) -> None:
    source, target = tables
    spark.sql(f"CREATE TABLE {source} (k INT)")
    spark.sql(f"CREATE TABLE {target} (k INT)")
    spark.conf.set("spark.sql.streaming.checkpointLocation", str(tmp_path))
    try:
        for number in range(2):
            spark.sql(f"INSERT INTO {source} VALUES ({number})")
            writer = spark.readStream.table(source).writeStream.queryName(f"copies_{target[-8:]}")
            assert run(writer.trigger(availableNow=True).toTable(target)) == [1]
    finally:
        spark.conf.unset("spark.sql.streaming.checkpointLocation")
    assert [path.name for path in tmp_path.iterdir()] == [f"copies_{target[-8:]}"]
    assert rows(spark, target) == [(0,), (1,)]


def test_a_checkpoint_that_was_moved_is_the_same_query(
    spark: SparkSession, tables: tuple[str, str], tmp_path: Path
) -> None:
    source, target = tables
    spark.sql(f"CREATE TABLE {source} (k INT, v STRING)")
    spark.sql(f"INSERT INTO {source} VALUES (1, 'x')")
    copy(spark, tables, tmp_path / "here")
    (tmp_path / "here").rename(tmp_path / "there")
    for path in (tmp_path / "there" / "commits").glob("*0*"):
        path.unlink()
    copy(spark, tables, tmp_path / "there")
    assert rows(spark, target) == [(1, "x")]


def test_a_query_that_counts_goes_on_counting_after_a_micro_batch_that_is_run_again(
    spark: SparkSession, tables: tuple[str, str], tmp_path: Path
) -> None:
    source, target = tables
    spark.sql(f"CREATE TABLE {source} (k INT, v INT)")
    spark.sql(
        f"CREATE TABLE {target} (k INT NOT NULL, rows BIGINT) TBLPROPERTIES ('primary-key' = 'k',"
        " 'bucket' = '1')"
    )

    def count() -> None:
        counted = spark.readStream.table(source).groupBy("k").agg(F.count("*").alias("rows"))
        writer = counted.writeStream.outputMode("update").trigger(availableNow=True)
        run(writer.option("checkpointLocation", str(tmp_path)).toTable(target))

    for number in range(3):
        spark.sql(f"INSERT INTO {source} VALUES (1, {number}), (2, {number})")
        count()
        for path in (tmp_path / "commits").glob(f"*{number}*"):
            path.unlink()
        count()
    assert rows(spark, target) == [(1, 3), (2, 3)]
    assert len(load(spark, target).snapshots()) == 3
