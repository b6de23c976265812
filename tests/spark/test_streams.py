"""Structured Streaming from tables and into them."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyspark
import pytest
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import lakebed
from lakebed.spark import StreamHealth, register, write_batch
from support.stream_queries import KEYED, copy, load, rows, run

pytestmark = pytest.mark.spark


def test_a_table_flows_into_another_and_each_change_once(
    spark: SparkSession, tables: tuple[str, str], tmp_path: Path
) -> None:
    source, target = tables
    spark.sql(f"CREATE TABLE {source} (k INT NOT NULL, v STRING) {KEYED}")
    spark.sql(f"CREATE TABLE {target} (k INT NOT NULL, v STRING) {KEYED}")
    spark.sql(f"INSERT INTO {source} VALUES (1, 'a'), (2, 'b')")
    copy(spark, tables, tmp_path / "checkpoint")
    spark.sql(f"INSERT INTO {source} VALUES (2, 'b2'), (3, 'c')")
    spark.sql(f"INSERT INTO {source} VALUES (3, 'c3')")
    copy(spark, tables, tmp_path / "checkpoint")
    assert rows(spark, target) == rows(spark, source) == [(1, "a"), (2, "b2"), (3, "c3")]
    commits = [
        (each.commit_user, each.commit_identifier) for each in load(spark, target).snapshots()
    ]
    identity = json.loads((tmp_path / "checkpoint" / "metadata").read_text())["id"]
    assert commits == [(f"lakebed-{identity}", 0), (f"lakebed-{identity}", 1)]


def test_the_changelog_flows_with_its_kinds(
    spark: SparkSession, tables: tuple[str, str], tmp_path: Path
) -> None:
    source, target = tables
    spark.sql(
        f"CREATE TABLE {source} (k INT NOT NULL, v STRING) TBLPROPERTIES "
        "('primary-key' = 'k', 'bucket' = '1', 'changelog-producer' = 'input')"
    )
    spark.sql(f"INSERT INTO {source} VALUES (1, 'a')")
    spark.sql(f"DELETE FROM {source} WHERE k = 1")
    reader = spark.readStream.option("scan.snapshot-id", "1")
    frames = (
        reader.option("read.changelog", "true").table(source),
        spark.readStream.option("scan.snapshot-id", "1").table(f"{source}$audit_log"),
    )
    for number, frame in enumerate(frames):
        assert frame.columns == ["rowkind", "k", "v"]
        # A table cannot have a column of that name.
        writer = frame.withColumnRenamed("rowkind", "kind").writeStream
        writer = writer.option("checkpointLocation", str(tmp_path / f"checkpoint-{number}"))
        run(writer.trigger(availableNow=True).toTable(f"{target}_{number}"))
        assert rows(spark, f"{target}_{number}") == [("+I", 1, "a"), ("-D", 1, "a")]
    batch = spark.read.option("read.changelog", "true").table(source)
    assert batch.columns == ["rowkind", "k", "v"]


def test_row_kinds_travel_into_a_table(
    spark: SparkSession, tables: tuple[str, str], tmp_path: Path
) -> None:
    source, target = tables
    spark.sql(f"CREATE TABLE {source} (k INT, v STRING, _kind STRING)")
    spark.sql(f"CREATE TABLE {target} (k INT NOT NULL, v STRING) {KEYED}")
    for kind, value in (("+I", "a"), ("+U", "b"), ("-D", "b")):
        spark.sql(f"INSERT INTO {source} VALUES (1, '{value}', '{kind}'), (2, '{value}', '+I')")
        frame = spark.readStream.table(source).withColumnRenamed("_kind", "_row_kind")
        writer = frame.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
        run(writer.outputMode("update").trigger(availableNow=True).toTable(target))
    assert rows(spark, target) == [(2, "b")]


def test_complete_replaces_what_was_there(
    spark: SparkSession, tables: tuple[str, str], tmp_path: Path
) -> None:
    source, target = tables
    spark.sql(f"CREATE TABLE {source} (k INT, v STRING)")
    for value in ("a", "b"):
        spark.sql(f"INSERT INTO {source} VALUES (1, '{value}'), (2, '{value}')")
        counts = spark.readStream.table(source).groupBy("k").count()
        writer = counts.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
        run(writer.outputMode("complete").trigger(availableNow=True).toTable(target))
    assert rows(spark, target) == [(1, 2), (2, 2)]


LIMITS = {
    ("read.stream.maxRowsPerTrigger", "4"): [4, 4, 2],
    ("read.stream.maxRowsPerTrigger", "1"): [2, 2, 2, 2, 2],
    ("read.stream.maxFilesPerTrigger", "3"): [6, 4],
    ("read.stream.maxBytesPerTrigger", "1"): [2, 2, 2, 2, 2],
}


@pytest.mark.skipif(
    pyspark.__version__ < "4.2", reason="before 4.2 a Python source cannot limit a micro-batch"
)
@pytest.mark.parametrize("limit", LIMITS, ids=" = ".join)
def test_a_micro_batch_takes_no_more_than_its_limits(
    spark: SparkSession, tmp_path: Path, limit: tuple[str, str]
) -> None:
    (key, value), place = limit, list(LIMITS).index(limit)
    source, target = tables = f"lake.db.limited_{place}", f"lake.db.taken_{place}"
    spark.sql(f"CREATE TABLE {source} (k INT, v STRING)")
    for number in range(5):
        spark.sql(f"INSERT INTO {source} VALUES ({number}, 'x'), ({number}, 'y')")
    options = {key: value, "scan.snapshot-id": "1"}
    assert copy(spark, tables, tmp_path / "checkpoint", **options) == LIMITS[limit]
    assert len(rows(spark, target)) == 10


def test_tables_are_read_and_written_by_path(spark: SparkSession, tmp_path: Path) -> None:
    source, target = (tmp_path / "db.db" / name for name in ("s", "t"))
    spark.range(3).write.format("paimon").mode("append").save(str(source))
    frame = spark.readStream.format("paimon").load(str(source))
    writer = frame.writeStream.format("paimon").partitionBy("id")
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
    run(writer.trigger(availableNow=True).start(str(target)))
    written = spark.read.format("paimon").load(str(target))
    assert sorted(row.id for row in written.collect()) == [0, 1, 2]
    assert (target / "id=2").is_dir()


def test_a_schema_grows_with_the_rows_where_that_is_asked_for(
    spark: SparkSession, tables: tuple[str, str], tmp_path: Path
) -> None:
    source, target = tables
    spark.sql(f"CREATE TABLE {source} (k INT, v STRING)")
    spark.sql(f"CREATE TABLE {target} (k INT)")
    spark.sql(f"INSERT INTO {source} VALUES (1, 'a')")
    writer = spark.readStream.table(source).writeStream.option("write.merge-schema", "true")
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
    run(writer.trigger(availableNow=True).toTable(target))
    assert rows(spark, target) == [(1, "a")]


def test_a_function_for_each_batch_writes_each_once(
    spark: SparkSession, tables: tuple[str, str], tmp_path: Path
) -> None:
    source, target = tables
    spark.sql(f"CREATE TABLE {source} (k INT, v STRING)")
    spark.sql(f"CREATE TABLE {target} (k INT NOT NULL, v STRING) {KEYED}")
    spark.sql(f"INSERT INTO {source} VALUES (1, 'a')")
    table = load(spark, target)

    def write(frame: DataFrame, batch_id: int) -> None:
        for _ in range(2):
            write_batch(frame, batch_id, table, user="copier")

    writer = spark.readStream.table(source).writeStream.foreachBatch(write)
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
    run(writer.trigger(availableNow=True).start())
    spark.sql(f"INSERT INTO {target} VALUES (2, 'b')")
    assert rows(spark, target) == [(1, "a"), (2, "b")]
    assert next(each.commit_user for each in table.snapshots()) == "copier"
    assert len(table.snapshots()) == 2


def test_a_query_that_runs_takes_what_comes(
    spark: SparkSession, tables: tuple[str, str], tmp_path: Path
) -> None:
    source, target = tables
    spark.sql(f"CREATE TABLE {source} (k INT, v STRING)")
    spark.sql(f"CREATE TABLE {target} (k INT, v STRING)")
    writer = spark.readStream.table(source).writeStream
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
    query = writer.trigger(processingTime="0 seconds").toTable(target)
    try:
        for number in range(3):
            spark.sql(f"INSERT INTO {source} VALUES ({number}, 'x')")
            query.processAllAvailable()
            assert len(rows(spark, target)) == number + 1
    finally:
        query.stop()


def test_a_snapshot_that_expired_under_a_query_ends_it_with_the_reason(
    spark: SparkSession, tables: tuple[str, str], tmp_path: Path
) -> None:
    source, _ = tables
    spark.sql(f"CREATE TABLE {source} (k INT, v STRING)")
    spark.sql(f"INSERT INTO {source} VALUES (1, 'x')")
    copy(spark, tables, tmp_path / "checkpoint")
    for number in range(3):
        spark.sql(f"INSERT INTO {source} VALUES ({number}, 'x')")
    load(spark, source).expire_snapshots(retain_max=1, retain_min=1)
    with pytest.raises(StreamingQueryException, match="has expired: the oldest is 4"):
        copy(spark, tables, tmp_path / "checkpoint")


def test_a_consumer_keeps_what_a_query_has_not_read(
    spark: SparkSession, tables: tuple[str, str], tmp_path: Path
) -> None:
    source, target = tables
    spark.sql(f"CREATE TABLE {source} (k INT, v STRING)")
    spark.sql(f"INSERT INTO {source} VALUES (1, 'x')")
    options = {"consumer-id": "me"}
    copy(spark, tables, tmp_path / "one", **options)
    spark.sql(f"INSERT INTO {source} VALUES (2, 'x')")
    copy(spark, tables, tmp_path / "one", **options)
    for number in (3, 4):
        spark.sql(f"INSERT INTO {source} VALUES ({number}, 'x')")
    table = load(spark, source)
    table.expire_snapshots(retain_max=1, retain_min=1)
    assert next(each.id for each in table.snapshots()) <= 3
    copy(spark, (source, f"{target}_other"), tmp_path / "other", **options)
    assert {k for k, _ in rows(spark, f"{target}_other")} >= {3, 4}
    assert 1 not in {k for k, _ in rows(spark, f"{target}_other")}


def test_a_listener_tells_how_far_behind_a_query_is(
    spark: SparkSession, tables: tuple[str, str], tmp_path: Path
) -> None:
    source, target = tables
    spark.sql(f"CREATE TABLE {source} (k INT, v STRING)")
    for number in range(3):
        spark.sql(f"INSERT INTO {source} VALUES ({number}, 'x')")
    health = StreamHealth()
    spark.streams.addListener(health)
    try:
        frame = spark.readStream.option("scan.snapshot-id", "1").table(source)
        writer = frame.writeStream.queryName("copier").trigger(availableNow=True)
        query = writer.option("checkpointLocation", str(tmp_path)).toTable(target)
        query.awaitTermination()
        deadline = time.monotonic() + 60
        while not (told := health.streams()) or told[0].is_running:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        spark.streams.removeListener(health)
    (state,) = told
    assert (state.name, state.read_snapshot, state.rows, state.error) == ("copier", 3, 3, None)
    assert state.snapshots_behind == 0
    metrics = health.prometheus().splitlines()
    assert f'lakebed_stream_rows{{query="copier",id="{state.query_id}"}} 3' in metrics
    assert f'lakebed_stream_running{{query="copier",id="{state.query_id}"}} 0' in metrics


def refused(action: Callable[[], object], problem: str) -> None:
    with pytest.raises(AnalysisException, match=problem):
        action()


def test_what_cannot_be_is_refused_before_a_query_starts(
    spark: SparkSession, tables: tuple[str, str], tmp_path: Path
) -> None:
    source, target = tables
    spark.sql(f"CREATE TABLE {source} (k INT, v STRING)")
    reader = spark.readStream
    refused(lambda: reader.option("no.such", "1").table(source), "no.such")
    refused(lambda: spark.readStream.table(f"{source}$snapshots"), "cannot be read as a stream")
    refused(lambda: spark.readStream.table("lake.db.nothing"), "TABLE_OR_VIEW_NOT_FOUND")
    frame = spark.readStream.table(source)
    refused(lambda: frame.writeStream.toTable(target), "needs a checkpoint")
    writer = frame.writeStream.option("checkpointLocation", str(tmp_path))
    refused(lambda: writer.outputMode("update").toTable(source), "has no primary key")
    options = {"bucket": "7"}
    other = frame.writeStream.option("checkpointLocation", str(tmp_path)).options(**options)
    refused(lambda: other.toTable(source), "would not be heeded")
    refused(lambda: spark.read.option("consumer-id", "c").table(source), "option of a stream")


def test_a_limit_of_one_kind_needs_the_other(spark: SparkSession, tables: tuple[str, str]) -> None:
    source, _ = tables
    spark.sql(f"CREATE TABLE {source} (k INT, v STRING)")
    reader = spark.readStream.option("read.stream.minRowsPerTrigger", "5")
    problem = "need each other" if spark.version >= "4.2" else "needs PySpark 4.2"
    refused(lambda: reader.table(source), problem)


def test_the_plain_source_streams_without_attached_catalogs(
    bare: SparkSession, tmp_path: Path
) -> None:
    register(bare)
    catalog = lakebed.load_catalog(warehouse=tmp_path.as_uri())
    catalog.create_database("db")
    source, target = (
        catalog.create_table(f"db.{name}", schema=lakebed.schema([("k", "BIGINT")]))
        for name in ("s", "t")
    )
    checkpoint = tmp_path / "checkpoint"
    for number in range(2):
        source.append(pa.table({"k": [number]}))
        for _ in range(2):
            frame = bare.readStream.format("paimon").load(source.location)
            writer = frame.writeStream.format("paimon").trigger(availableNow=True)
            writer = writer.option("checkpointLocation", str(checkpoint))
            run(writer.start(target.location))
            # As if the query had been killed before it wrote down that the batch was done.
            for path in (checkpoint / "commits").glob(f"*{number}*"):
                path.unlink()
    assert sorted(row["k"] for row in target.scan().to_arrow().to_pylist()) == [0, 1]
    assert len(target.snapshots()) == 2
