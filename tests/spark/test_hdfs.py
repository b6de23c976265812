"""Tables on HDFS through Spark: its workers are forked from one that may have used HDFS before."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

import lakebed
from lakebed.spark import attach, detach
from tools.services.hdfs import Hdfs

pytestmark = [pytest.mark.stores, pytest.mark.spark, pytest.mark.variants]


@pytest.fixture(scope="module")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hdfs]:
    with Hdfs(tmp_path_factory.mktemp("hdfs")) as cluster:
        yield cluster


@pytest.fixture
def spark(bare: SparkSession, hdfs: Hdfs) -> Iterator[SparkSession]:
    attach(bare, "lake", warehouse=f"{hdfs.url}/warehouse")
    bare.sql("CREATE DATABASE IF NOT EXISTS lake.db")
    yield bare
    detach(bare)


def test_a_keyed_table_is_written_merged_compacted_and_read(
    spark: SparkSession, hdfs: Hdfs
) -> None:
    spark.sql(
        "CREATE TABLE lake.db.t (id BIGINT NOT NULL, name STRING) "
        "TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '2', 'write-only' = 'true')"
    )
    spark.range(1000).selectExpr("id", "'old' AS name").writeTo("lake.db.t").append()
    spark.sql("INSERT INTO lake.db.t SELECT id, 'new' FROM range(500, 1500)")
    spark.sql("DELETE FROM lake.db.t WHERE id >= 1400")
    counts = "SELECT name, count(*) FROM lake.db.t GROUP BY name ORDER BY name"
    expected = [("new", 900), ("old", 500)]
    assert [tuple(row) for row in spark.sql(counts).collect()] == expected
    spark.sql("CALL lake.sys.compact(table => 'db.t')")
    assert [tuple(row) for row in spark.sql(counts).collect()] == expected
    at_first = spark.sql("SELECT count(*) FROM lake.db.t VERSION AS OF 1").collect()
    assert at_first[0][0] == 1000
    assert lakebed.load_table(f"{hdfs.url}/warehouse/db.db/t").scan().count() == 1400


def test_an_append_table_is_written_and_filtered(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.a (id BIGINT, half DOUBLE)")
    spark.range(1000).selectExpr("id", "id / 2 AS half").writeTo("lake.db.a").append()
    spark.sql("DELETE FROM lake.db.a WHERE id < 10")
    found = spark.sql("SELECT count(*), sum(half) FROM lake.db.a WHERE id < 20").collect()
    assert tuple(found[0]) == (10, sum(number / 2 for number in range(10, 20)))
