"""`CALL sys.rescale`: partitions get another bucket count."""

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def buckets(spark: SparkSession) -> dict[str, set[int]]:
    """The buckets that hold files, by partition."""
    found: dict[str, set[int]] = {}
    for row in spark.sql("SELECT partition, bucket FROM lake.db.`sacks$files`").collect():
        found.setdefault(row.partition, set()).add(row.bucket)
    return found


def test_partitions_that_are_chosen_get_another_bucket_count_and_keep_their_rows(
    spark: SparkSession,
) -> None:
    spark.sql("""CREATE TABLE lake.db.sacks (n INT, p INT) PARTITIONED BY (p)
        TBLPROPERTIES ('bucket' = '1', 'bucket-key' = 'n')""")
    spark.sql("INSERT INTO lake.db.sacks SELECT id, id % 2 FROM range(40)")
    before = sorted(map(tuple, spark.table("lake.db.sacks").collect()))
    answer = spark.sql(
        "CALL lake.sys.rescale(`table` => 'db.sacks', bucket_num => 3, where => 'p = 1')"
    )
    assert [tuple(row) for row in answer.collect()] == [(True,)]
    assert buckets(spark) == {"{0}": {0}, "{1}": {0, 1, 2}}
    spark.sql("CALL lake.sys.rescale(`table` => 'db.sacks', bucket_num => 2, partitions => 'p=0')")
    assert buckets(spark) == {"{0}": {0, 1}, "{1}": {0, 1, 2}}
    spark.sql("CALL lake.sys.rescale('db.sacks')")
    assert buckets(spark) == {"{0}": {0}, "{1}": {0}}
    assert sorted(map(tuple, spark.table("lake.db.sacks").collect())) == before


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("'bucket' = '-1'", "4"), "no fixed buckets to rescale"),
        (("'bucket' = '2', 'bucket-key' = 'n'", "0"), "bucket_num is 0"),
        (("'bucket' = '2', 'bucket-key' = 'n'", "4, where => 'n = 1'"), "partition columns only"),
    ],
)
def test_what_cannot_be_rescaled_is_refused(
    spark: SparkSession, given: tuple[str, str], message: str
) -> None:
    options, arguments = given
    spark.sql(f"CREATE OR REPLACE TABLE lake.db.boxes (n INT) TBLPROPERTIES ({options})")
    spark.sql("INSERT INTO lake.db.boxes VALUES (1)")
    with pytest.raises(AnalysisException, match=message) as caught:
        spark.sql(f"CALL lake.sys.rescale('db.boxes', {arguments})")
    assert caught.value.getCondition() == "LAKEBED_INVALID_ARGUMENT"
