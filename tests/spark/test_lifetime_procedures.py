"""`CALL sys.expire_partitions` and its kin, as users of the format's own connector call them."""

from collections.abc import Iterator

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.types import BooleanType, StringType, StructField, StructType

pytestmark = pytest.mark.spark

EXPIRED = StructType([StructField("expired_partitions", StringType())])
DONE = StructType([StructField("result", BooleanType())])


@pytest.fixture
def events(spark: SparkSession) -> Iterator[None]:
    spark.sql(
        "CREATE TABLE lake.db.visits (id INT, dt STRING, h INT) USING paimon PARTITIONED BY (dt, h)"
    )
    spark.sql(
        "INSERT INTO lake.db.visits VALUES (1, '2020-01-02', 7), (2, '2020-01-01', 8), "
        "(3, '2999-01-01', 9)"
    )
    yield
    spark.sql("DROP TABLE lake.db.visits")


def call(spark: SparkSession, procedure: str) -> list[object]:
    answer = spark.sql(f"CALL lake.sys.{procedure}")
    assert answer.schema == (EXPIRED if "expire" in procedure else DONE)
    return [row[0] for row in answer.collect()]


@pytest.mark.parametrize(
    ("arguments", "expired"),
    [
        ("expiration_time => '1 d'", ["dt=2020-01-01, h=8", "dt=2020-01-02, h=7"]),
        ("'1 d', max_expires => 1", ["dt=2020-01-01, h=8"]),
        ("'1 d', 'yyyy-MM-dd H', '$dt $h', 'values-time', 1", ["dt=2020-01-01, h=8"]),
        ("'1 d', expire_strategy => 'update-time'", ["No expired partitions."]),
        (
            "options => 'partition.expiration-time=1 d,partition.expiration-max-num=1'",
            ["dt=2020-01-01, h=8"],
        ),
    ],
)
@pytest.mark.usefixtures("events")
def test_expire_partitions_says_what_went(
    spark: SparkSession, arguments: str, expired: list[str]
) -> None:
    assert call(spark, f"expire_partitions('db.visits', {arguments})") == expired
    gone = sum(text.startswith("dt=") for text in expired)
    assert spark.table("lake.db.visits").count() == 3 - gone


@pytest.mark.usefixtures("events")
def test_what_cannot_expire_is_an_error(spark: SparkSession) -> None:
    with pytest.raises(AnalysisException, match=r"partition\.expiration-time"):
        spark.sql("CALL lake.sys.expire_partitions(table => 'db.visits')")


@pytest.mark.usefixtures("events")
def test_partitions_are_marked_and_consumers_reset(spark: SparkSession) -> None:
    assert call(spark, "mark_partition_done('db.visits', 'dt=2020-01-01,h=8')") == [True]
    consumers = "SELECT consumer_id, next_snapshot_id FROM lake.db.`visits$consumers`"
    reset = "reset_consumer(table => 'db.visits', consumerId => 'job', nextSnapshotId => 1)"
    assert call(spark, reset) == [True]
    assert [tuple(row) for row in spark.sql(consumers).collect()] == [("job", 1)]
    cleared = "clear_consumers(table => 'db.visits', excludingConsumers => 'j.*')"
    assert call(spark, cleared) == [True]
    assert spark.sql(consumers).count() == 1
    assert call(spark, "reset_consumer('db.visits', 'job')") == [True]
    assert spark.sql(consumers).count() == 0


def test_a_frame_is_refused_where_a_partition_names_no_time(spark: SparkSession) -> None:
    spark.sql(
        "CREATE TABLE lake.db.strict (id INT, dt STRING) USING paimon PARTITIONED BY (dt) "
        "TBLPROPERTIES ('partition.timestamp-format.strict' = 'true', "
        "'partition.timestamp-formatter' = 'yyyyMMdd', "
        "'partition.expiration-time' = '1 d', 'partition.end-input-to-done' = 'true')"
    )
    spark.sql("INSERT INTO lake.db.strict VALUES (1, '29990101'), (2, '20200101')")
    assert [row.id for row in spark.table("lake.db.strict").collect()] == [1]
    with pytest.raises(AnalysisException, match="names no time"):
        spark.sql("INSERT INTO lake.db.strict VALUES (3, '29990102'), (4, 'soon')")
    assert spark.table("lake.db.strict").count() == 1
    spark.sql("DROP TABLE lake.db.strict")
