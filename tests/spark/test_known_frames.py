"""A scan that comes again is not planned again, and what changed is seen at once."""

import pytest
from pyspark.sql import DataFrame, SparkSession

from lakebed.spark.known_frames import KnownFrames
from lakebed.spark.lake import Lake, find_lake
from lakebed.spark.names import TableName
from lakebed.table.reading.scan import Scan

pytestmark = pytest.mark.spark

KEYED = "TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1', 'write-only' = 'true')"
BOTH_KINDS = pytest.mark.parametrize("properties", ["", KEYED], ids=["append", "keyed"])


def made(spark: SparkSession, name: str, properties: str = "") -> str:
    """A table with the row (1, 'a') in one snapshot and (2, 'b') in another, read once."""
    spark.sql(f"DROP TABLE IF EXISTS lake.db.{name}")
    spark.sql(f"CREATE TABLE lake.db.{name} (id INT, v STRING) {properties}")
    spark.sql(f"INSERT INTO lake.db.{name} VALUES (1, 'a')")
    spark.sql(f"INSERT INTO lake.db.{name} VALUES (2, 'b')")
    assert rows(spark, name) == [(1, "a"), (2, "b")]
    return name


def rows(spark: SparkSession, name: str) -> list[tuple[object, ...]]:
    return sorted(map(tuple, spark.sql(f"SELECT * FROM lake.db.{name}").collect()))


def lake_of(spark: SparkSession) -> Lake:
    lake = find_lake(spark)
    assert lake is not None
    return lake


def scan_of(spark: SparkSession, name: str, *columns: str) -> Scan:
    lake = lake_of(spark)
    return lake.scan(lake.load(TableName("lake", "db", name)), columns=columns or None)


def frames_of(spark: SparkSession) -> KnownFrames:
    frames = lake_of(spark).registry.frames
    assert frames is not None
    return frames


@BOTH_KINDS
def test_a_commit_is_seen_at_once(spark: SparkSession, properties: str) -> None:
    name = made(spark, "committed", properties)
    spark.sql(f"INSERT INTO lake.db.{name} VALUES (3, 'c')")
    assert rows(spark, name) == [(1, "a"), (2, "b"), (3, "c")]
    spark.sql(f"DELETE FROM lake.db.{name} WHERE id = 1")
    assert rows(spark, name) == [(2, "b"), (3, "c")]


@BOTH_KINDS
def test_a_snapshot_whose_number_was_another_ones_is_read(
    spark: SparkSession, properties: str
) -> None:
    name = made(spark, "rolled_back", properties)
    spark.sql(f"CALL lake.sys.rollback(table => 'db.{name}', version => '1')")
    assert rows(spark, name) == [(1, "a")]
    spark.sql(f"INSERT INTO lake.db.{name} VALUES (4, 'd')")
    assert rows(spark, name) == [(1, "a"), (4, "d")]
    assert [row.snapshot_id for row in spark.table(f"lake.db.`{name}$snapshots`").collect()] == [
        1,
        2,
    ]


@BOTH_KINDS
def test_a_table_that_was_dropped_and_made_anew_is_read(
    spark: SparkSession, properties: str
) -> None:
    name = made(spark, "anew", properties)
    spark.sql(f"DROP TABLE lake.db.{name}")
    spark.sql(f"CREATE TABLE lake.db.{name} (id INT, v STRING) {properties}")
    assert rows(spark, name) == []
    spark.sql(f"INSERT INTO lake.db.{name} VALUES (8, 'x')")
    spark.sql(f"INSERT INTO lake.db.{name} VALUES (9, 'y')")
    assert rows(spark, name) == [(8, "x"), (9, "y")]


def test_rows_that_were_merged_before_are_merged_as_they_are_now(spark: SparkSession) -> None:
    name = made(spark, "merged", KEYED)
    spark.sql(f"INSERT INTO lake.db.{name} VALUES (1, 'newer'), (3, 'c')")
    for columns in ("v", "id, v", "v", "id"):
        found = spark.sql(f"SELECT {columns} FROM lake.db.{name} WHERE id < 3").collect()
        newest = [{"id": 1, "v": "newer"}, {"id": 2, "v": "b"}]
        expected = [tuple(row[each] for each in columns.split(", ")) for row in newest]
        assert sorted(map(tuple, found)) == sorted(expected)
    spark.sql(f"DELETE FROM lake.db.{name} WHERE id = 2")
    assert rows(spark, name) == [(1, "newer"), (3, "c")]
    spark.sql(f"CALL lake.sys.compact(table => 'db.{name}', compact_strategy => 'full')")
    assert rows(spark, name) == [(1, "newer"), (3, "c")]


def test_a_change_of_columns_alone_is_seen(spark: SparkSession) -> None:
    name = made(spark, "altered")
    spark.sql(f"ALTER TABLE lake.db.{name} RENAME COLUMN v TO w")
    spark.sql(f"ALTER TABLE lake.db.{name} ADD COLUMN v INT")
    assert rows(spark, name) == [(1, "a", None), (2, "b", None)]


def test_an_option_of_the_session_is_heeded(spark: SparkSession) -> None:
    name = made(spark, "with_option")
    assert rows(spark, name) == [(1, "a"), (2, "b")]
    spark.conf.set(f"spark.paimon.lake.db.{name}.scan.snapshot-id", "1")
    try:
        assert rows(spark, name) == [(1, "a")]
    finally:
        spark.conf.unset(f"spark.paimon.lake.db.{name}.scan.snapshot-id")
    assert rows(spark, name) == [(1, "a"), (2, "b")]


@BOTH_KINDS
def test_frames_of_one_query_are_told_apart(spark: SparkSession, properties: str) -> None:
    name = made(spark, "told_apart", properties)
    left, right, third = (spark.sql(f"SELECT * FROM lake.db.{name}") for _ in range(3))
    pairs = left.join(right, left.id < right.id).select(left.v, right.v)
    assert [tuple(row) for row in pairs.collect()] == [("a", "b")]
    assert right.join(third, right.id > third.id).count() == 1


def test_an_equal_scan_is_known_and_another_is_not(spark: SparkSession) -> None:
    name = made(spark, "known")
    frames = frames_of(spark)
    assert frames.find(spark, scan_of(spark, name)) is not None
    assert frames.find(spark, scan_of(spark, name, "v")) is None
    assert frames.find(spark.newSession(), scan_of(spark, name)) is None
    spark.sql(f"INSERT INTO lake.db.{name} VALUES (3, 'c')")
    assert frames.find(spark, scan_of(spark, name)) is None


def test_what_was_not_used_for_longest_goes_first(spark: SparkSession) -> None:
    name = made(spark, "bounded")
    scans = [scan_of(spark, name, *columns) for columns in (("id",), ("v",), ("id", "v"))]
    one, other, third = scans
    frames = KnownFrames(spark, frames_max=2, files_max=10)
    frames.keep(frame(spark, one), one, file_count=1)
    frames.keep(frame(spark, other), other, file_count=1)
    assert frames.find(spark, one) is not None
    frames.keep(frame(spark, third), third, file_count=1)
    assert [frames.find(spark, scan) is not None for scan in scans] == [True, False, True]
    frames.keep(frame(spark, other), other, file_count=9)
    assert [frames.find(spark, scan) is not None for scan in scans] == [False, True, True]
    frames.keep(frame(spark, one), one, file_count=11)
    assert frames.find(spark, one) is None


def frame(spark: SparkSession, scan: Scan) -> DataFrame:
    return spark.range(1).selectExpr(*(f"id AS {name}" for name in scan.reader.columns))
