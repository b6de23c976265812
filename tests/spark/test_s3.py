"""Tables on S3 through Spark: its workers read and write the objects themselves."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

import lakebed
from lakebed.spark import attach, detach
from tools.services.s3 import s3, s3_options

pytestmark = [pytest.mark.stores, pytest.mark.spark, pytest.mark.variants]

WAREHOUSE = "s3://lake/warehouse"


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with s3(tmp_path_factory.mktemp("s3"), buckets=("lake",)) as endpoint:
        yield s3_options(endpoint)


@pytest.fixture
def spark(bare: SparkSession, options: dict[str, str]) -> Iterator[SparkSession]:
    attach(bare, "lake", options, warehouse=WAREHOUSE)
    bare.sql("CREATE DATABASE IF NOT EXISTS lake.db")
    yield bare
    detach(bare)


def test_a_keyed_table_is_written_merged_compacted_and_read(
    spark: SparkSession, options: dict[str, str]
) -> None:
    spark.sql(
        "CREATE TABLE lake.db.t (id BIGINT NOT NULL, name STRING, dt STRING NOT NULL) "
        "PARTITIONED BY (dt) TBLPROPERTIES ('primary-key' = 'id,dt', 'bucket' = '2', "
        "'write-only' = 'true')"
    )
    rows = spark.range(1000).selectExpr("id", "'old' AS name", "concat('d', id % 2) AS dt")
    rows.writeTo("lake.db.t").append()
    spark.sql("INSERT INTO lake.db.t SELECT id, 'new', concat('d', id % 2) FROM range(500, 1500)")
    spark.sql("DELETE FROM lake.db.t WHERE id >= 1400")
    counts = "SELECT name, count(*) FROM lake.db.t GROUP BY name ORDER BY name"
    expected = [("new", 900), ("old", 500)]
    assert [tuple(row) for row in spark.sql(counts).collect()] == expected
    spark.sql("CALL lake.sys.compact(table => 'db.t')")
    assert [tuple(row) for row in spark.sql(counts).collect()] == expected
    at_first = spark.sql("SELECT count(*) FROM lake.db.t VERSION AS OF 1").collect()
    assert at_first[0][0] == 1000
    table = lakebed.load_table(f"{WAREHOUSE}/db.db/t", options)
    assert table.scan().count() == 1400


def test_an_append_table_is_written_and_filtered(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.a (id BIGINT, half DOUBLE)")
    spark.range(1000).selectExpr("id", "id / 2 AS half").writeTo("lake.db.a").append()
    spark.sql("DELETE FROM lake.db.a WHERE id < 10")
    found = spark.sql("SELECT count(*), sum(half) FROM lake.db.a WHERE id < 20").collect()
    assert tuple(found[0]) == (10, sum(number / 2 for number in range(10, 20)))
