"""Compaction on Spark: after writes, as a job of tasks, and as users call it in SQL."""

import logging
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import SparkSession

from lakebed.errors import CorruptTableError
from lakebed.format.snapshot import CommitKind
from lakebed.spark.compaction import run_job
from lakebed.spark.registry import make_registry
from lakebed.table.compaction.job import compaction_job
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.table import Table
from support.store_listing import data_files

pytestmark = pytest.mark.spark

PARTS = """
CREATE TABLE lake.db.{name} (id INT NOT NULL, value STRING, dt STRING) USING paimon
PARTITIONED BY (dt) TBLPROPERTIES ('primary-key' = 'id,dt', 'bucket' = '2', 'write-only' = 'true')
"""


def table_of(spark: SparkSession, name: str) -> Table:
    return make_registry(spark).catalog("lake").load_table(f"db.{name}")


def rows(spark: SparkSession, query: str) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in spark.sql(query).collect())


def kinds(spark: SparkSession, name: str) -> list[CommitKind]:
    return [snapshot.commit_kind for snapshot in table_of(spark, name).snapshots()]


def compacted(spark: SparkSession, name: str) -> set[tuple[str, int]]:
    """Partition and bucket of the files that compactions made."""
    query = f"SELECT partition, bucket FROM lake.db.`{name}$files` WHERE file_source = 'COMPACT'"
    return {(row.partition, row.bucket) for row in spark.sql(query).collect()}


def fill(table: Table) -> None:
    """Two partitions with two buckets each, in each of which two files hold the same keys."""
    ids = range(40)
    for value in ("old", "new"):
        columns = {
            "id": pa.array(ids, pa.int32()),
            "value": [value] * 40,
            "dt": [f"d{id_ % 2}" for id_ in ids],
        }
        table.append(pa.table(columns))


@pytest.fixture
def parted(spark: SparkSession) -> Iterator[str]:
    spark.sql(PARTS.format(name="parted"))
    fill(table_of(spark, "parted"))
    yield "parted"
    spark.sql("DROP TABLE lake.db.parted")


@pytest.mark.parametrize(
    ("options", "has_compacted"),
    [
        ("'num-sorted-run.compaction-trigger' = '3'", True),
        ("'num-sorted-run.compaction-trigger' = '3', 'write-only' = 'true'", False),
    ],
)
def test_a_compaction_comes_with_writes_unless_the_table_is_write_only(
    spark: SparkSession, *, options: str, has_compacted: bool
) -> None:
    name = f"written_{has_compacted}"
    spark.sql(
        f"CREATE TABLE lake.db.{name} (id INT NOT NULL, value INT) USING paimon"
        f" TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1', {options})"
    )
    for value in range(4):
        spark.sql(f"INSERT INTO lake.db.{name} SELECT id, {value} FROM range(5)")
    assert (CommitKind.COMPACT in kinds(spark, name)) == has_compacted
    assert rows(spark, f"SELECT * FROM lake.db.{name}") == [(id_, 3) for id_ in range(5)]


def test_rows_of_first_row_and_changes_by_lookup_are_there_right_after_the_write(
    spark: SparkSession,
) -> None:
    for name, option in (
        ("first", "'merge-engine' = 'first-row'"),
        ("told", "'changelog-producer' = 'lookup'"),
    ):
        spark.sql(
            f"CREATE TABLE lake.db.{name} (id INT NOT NULL, value STRING) USING paimon"
            f" TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '2', {option})"
        )
        for value in ("a", "b"):
            spark.sql(f"INSERT INTO lake.db.{name} SELECT id, '{value}' FROM range(3)")
    assert rows(spark, "SELECT * FROM lake.db.first") == [(0, "a"), (1, "a"), (2, "a")]
    changes = table_of(spark, "told").snapshots()[-1]
    assert changes.changelog_record_count == 6
    told = rows(
        spark,
        "SELECT id, rowkind, value FROM lake.db.`told$audit_log`"
        f" WITH ('incremental-between' = '{changes.id - 1},{changes.id}')",
    )
    assert told == [(id_, kind, v) for id_ in range(3) for kind, v in (("+U", "b"), ("-U", "a"))]


def test_tasks_compact_all_buckets_for_one_commit(spark: SparkSession, parted: str) -> None:
    table = table_of(spark, parted)
    job = compaction_job(table.parts(), "full", EveryPartition())
    snapshot = run_job(spark, make_registry(spark), job, small_bytes=0)
    assert kinds(spark, parted)[2:] == [CommitKind.COMPACT]
    assert snapshot is not None
    assert snapshot.total_record_count == 40
    assert len(compacted(spark, parted)) == 4
    assert rows(spark, f"SELECT value, count(*) FROM lake.db.{parted} GROUP BY 1") == [("new", 40)]


def test_a_compaction_that_fails_in_a_task_leaves_nothing(spark: SparkSession, parted: str) -> None:
    table = table_of(spark, parted)
    job = compaction_job(table.parts(), "full", EveryPartition())
    before = data_files(table.file_io, table.location)
    damage(min(before))
    with pytest.raises(CorruptTableError):
        run_job(spark, make_registry(spark), job, small_bytes=0)
    assert data_files(table.file_io, table.location) == before
    assert len(kinds(spark, parted)) == 2


def test_a_compaction_that_fails_after_a_write_leaves_the_rows(
    spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    spark.sql(
        "CREATE TABLE lake.db.lame (id INT NOT NULL, v INT) USING paimon TBLPROPERTIES"
        " ('primary-key' = 'id', 'bucket' = '1', 'num-sorted-run.compaction-trigger' = '2')"
    )
    spark.sql("INSERT INTO lake.db.lame VALUES (1, 1)")
    table = table_of(spark, "lame")
    for path in data_files(table.file_io, table.location):
        damage(path)
    with caplog.at_level(logging.WARNING):
        spark.sql("INSERT INTO lake.db.lame VALUES (2, 2)")
    assert "rows are committed, but not compacted" in caplog.text
    assert kinds(spark, "lame") == [CommitKind.APPEND] * 2


def damage(path: str) -> None:
    file = Path(urlsplit(path).path)
    file.write_bytes(file.read_bytes()[:-20])


ALL = {("{d0}", 0), ("{d0}", 1), ("{d1}", 0), ("{d1}", 1)}
D0 = {("{d0}", 0), ("{d0}", 1)}


@pytest.mark.parametrize(
    ("call", "places"),
    [
        ("lake.sys.compact('db.parted')", ALL),
        ("lake.SYS.Compact(TABLE => 'lake.db.`parted`', options => NULL)", ALL),
        ("lake.sys.compact(table => 'db.parted', partitions => 'dt=d0')", D0),
        ("lake.sys.compact('db.parted', 'dt=d0;dt=d1', 'FULL')", ALL),
        ("lake.sys.compact(where => 'DT < \"d1\"', table => concat('db', '.parted'))", D0),
        ("lake.sys.compact(table => 'db.parted', compact_strategy => 'minor')", set()),
        (
            """lake.sys.compact('db.parted', compact_strategy => 'minor',
            options => 'num-sorted-run.compaction-trigger=2, target-file-size=1 mb')""",
            ALL,
        ),
        (
            "lake.sys.compact(table => 'db.parted', where => 'dt = \"d0\"', buckets => '1')",
            {("{d0}", 1)},
        ),
        ("lake.sys.compact(table => 'db.parted', buckets => '0-1')", ALL),
        ("lake.sys.compact(table => 'db.parted', partition_idle_time => '1 h')", set()),
        ("lake.sys.compact(table => 'db.parted', partition_idle_time => '1 ms')", ALL),
        ("lake.sys.compact(table => 'db.parted', order_strategy => 'none', order_by => ' ')", ALL),
    ],
)
def test_compact_as_users_call_it(
    spark: SparkSession, parted: str, *, call: str, places: set[tuple[str, int]]
) -> None:
    answer = spark.sql(f"CALL {call}")
    assert (answer.columns, answer.collect()) == (["result"], [(True,)])
    assert compacted(spark, parted) == places
    assert rows(spark, f"SELECT value, count(*) FROM lake.db.{parted} GROUP BY 1") == [("new", 40)]


def test_a_procedure_of_the_current_catalog_is_called_without_it(
    spark: SparkSession, parted: str
) -> None:
    spark.sql("USE lake.db")
    try:
        spark.sql("CALL sys.compact(table => :name)", {"name": parted})
    finally:
        spark.catalog.setCurrentCatalog("spark_catalog")
    assert compacted(spark, parted) == ALL


def test_compact_database_goes_through_the_tables_that_patterns_choose(
    spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    spark.sql("CREATE DATABASE lake.many")
    for name in ("one", "two", "other", "broken"):
        spark.sql(PARTS.format(name="x").replace("db.x", f"many.{name}"))
        spark.sql(f"INSERT INTO lake.many.{name} VALUES (1, 'a', 'x')")
    broken = make_registry(spark).catalog("lake").load_table("many.broken")
    spark.sql("INSERT INTO lake.many.broken VALUES (1, 'b', 'x')")
    for path in data_files(broken.file_io, broken.location):
        damage(path)
    with caplog.at_level(logging.ERROR):
        answer = spark.sql(
            "CALL lake.sys.compact_database(including_databases => 'ma.*',"
            " including_tables => 'many.(one|two|broken)', excluding_tables => '.*wo')"
        )
    assert answer.collect() == [("Compact database finished. Success: 1, Failed: 1",)]
    assert "lake.many.broken is not compacted" in caplog.text
    counts = {
        name: len(make_registry(spark).catalog("lake").load_table(f"many.{name}").snapshots())
        for name in ("one", "two", "other", "broken")
    }
    assert counts == {"one": 2, "two": 1, "other": 1, "broken": 2}


@pytest.mark.parametrize(
    ("call", "condition", "message"),
    [
        ("lake.sys.compct('db.parted')", "ROUTINE_NOT_FOUND", r"one of .*`lake`.`sys`.`compact`"),
        ("lake.compact('db.parted')", "ROUTINE_NOT_FOUND", r"`lake`.`sys`.`compact`"),
        ("lake.sys.compact()", "REQUIRED_PARAMETER_NOT_FOUND", "`table` is required"),
        ("lake.sys.compact(table => ' ')", "LAKEBED_INVALID_ARGUMENT", "is no name"),
        (
            "lake.sys.compact(table => 'db.parted', partition => 'dt=d0')",
            "UNRECOGNIZED_PARAMETER_NAME",
            r"Did you mean one of the following\? \[partitions",
        ),
        ("lake.sys.compact(table => 'db.nope')", "TABLE_OR_VIEW_NOT_FOUND", "db"),
        ("lake.sys.compact('pond.db.parted')", "LAKEBED_INVALID_ARGUMENT", "catalog 'lake'"),
        ("lake.sys.compact('db.parted$files')", "LAKEBED_UNSUPPORTED", "system table"),
        (
            "lake.sys.compact(table => 'db.parted', partitions => 'dt=d0', where => 'dt = \"d0\"')",
            "LAKEBED_INVALID_ARGUMENT",
            "cannot be used together",
        ),
        ("lake.sys.compact('db.parted', '', 'most')", "LAKEBED_INVALID_ARGUMENT", "full, minor"),
        (
            "lake.sys.compact(table => 'db.parted', order_strategy => 'zorder', order_by => 'id')",
            "LAKEBED_INVALID_ARGUMENT",
            "tables without a primary key",
        ),
        (
            "lake.sys.compact('db.parted', order_strategy => 'z')",
            "LAKEBED_INVALID_ARGUMENT",
            "zorder",
        ),
        ("lake.sys.compact('db.parted', order_by => 'id')", "LAKEBED_INVALID_ARGUMENT", "sorts"),
        (
            "lake.sys.compact('db.parted', partition_idle_time => 'soon')",
            "LAKEBED_INVALID_ARGUMENT",
            "partition_idle_time.*a duration",
        ),
        ("lake.sys.compact('db.parted', buckets => '1-2')", "LAKEBED_INVALID_ARGUMENT", "0-1"),
        ("lake.sys.compact('db.parted', options => 'x')", "LAKEBED_INVALID_ARGUMENT", "key=value"),
        ("lake.sys.compact('db.parted', options => 'x=1')", "LAKEBED_INVALID_TABLE", "'x'"),
        ("lake.sys.compact('db.parted', options => 'bucket=3')", "LAKEBED_UNSUPPORTED", "fixed"),
        ("lake.sys.compact_database('(')", "LAKEBED_INVALID_ARGUMENT", "regular expression"),
    ],
)
def test_a_call_that_cannot_be_is_refused_and_nothing_is_done(
    spark: SparkSession, parted: str, *, call: str, condition: str, message: str
) -> None:
    with pytest.raises(AnalysisException, match=message) as caught:
        spark.sql(f"CALL {call}")
    assert caught.value.getCondition() == condition
    assert len(kinds(spark, parted)) == 2


def test_a_call_that_is_no_call_is_a_parse_error(spark: SparkSession) -> None:
    for call in ("lake.sys.compact", "lake.sys.compact(table =>)", "lake.sys.compact('a') AS b"):
        with pytest.raises(ParseException):
            spark.sql(f"CALL {call}")
