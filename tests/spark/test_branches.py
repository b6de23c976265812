"""Branches and rollbacks in Spark, as users of the format's own connector call them."""

from collections.abc import Iterator

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.types import BooleanType, LongType, StructField, StructType

pytestmark = pytest.mark.spark

RESULT = StructType([StructField("result", BooleanType())])
SNAPSHOTS = StructType(
    [
        StructField("previous_snapshot_id", LongType(), nullable=False),
        StructField("current_snapshot_id", LongType(), nullable=False),
    ]
)


@pytest.fixture
def events(spark: SparkSession) -> Iterator[None]:
    spark.sql("CREATE TABLE lake.db.events (id INT) USING paimon")
    for number in range(4):
        spark.sql(f"INSERT INTO lake.db.events VALUES ({number})")
    yield
    spark.sql("DROP TABLE lake.db.events")


def call(spark: SparkSession, text: str, schema: StructType = RESULT) -> tuple[object, ...]:
    answer = spark.sql(f"CALL lake.sys.{text}")
    assert answer.schema == schema
    (row,) = answer.collect()
    return tuple(row)


def ids(spark: SparkSession, name: str = "events") -> list[int]:
    return sorted(row.id for row in spark.table(f"lake.db.`{name}`").collect())


@pytest.mark.usefixtures("events")
def test_a_branch_is_made_written_and_fast_forwarded_to(spark: SparkSession) -> None:
    assert call(spark, "create_branch('db.events', 'dev')") == (True,)
    assert call(spark, "create_branch('db.events', 'dev', ignoreIfExists => true)") == (True,)
    assert ids(spark, "events$branch_dev") == []
    spark.sql("INSERT INTO lake.db.`events$branch_dev` VALUES (7), (8)")
    spark.createDataFrame([(9,)], "id INT").writeTo("lake.db.`events$branch_dev`").append()
    assert ids(spark, "events$branch_dev") == [7, 8, 9]
    assert ids(spark) == [0, 1, 2, 3]

    call(spark, "rename_branch('db.events', 'dev', 'new')")
    assert ids(spark, "events$branch_new") == [7, 8, 9]
    assert call(spark, "fast_forward(table => 'db.events', branch => 'new')") == (True,)
    assert ids(spark) == [7, 8, 9]
    assert call(spark, "delete_branch('db.events', 'new')") == (True,)
    with pytest.raises(AnalysisException, match="The table has no branch"):
        spark.sql("SELECT * FROM lake.db.`events$branch_new`")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rollback(table => 'db.events', version => '2')", [0, 1]),
        ("rollback(table => 'db.events', snapshot => 3)", [0, 1, 2]),
    ],
)
@pytest.mark.usefixtures("events")
def test_a_rollback_tells_the_newest_snapshots_before_and_after(
    spark: SparkSession, text: str, expected: list[int]
) -> None:
    assert call(spark, text, SNAPSHOTS) == (4, len(expected))
    assert ids(spark) == expected
    spark.sql("INSERT INTO lake.db.events VALUES (50)")
    assert ids(spark) == [*expected, 50]


@pytest.mark.usefixtures("events")
def test_a_rollback_to_a_time_takes_epoch_milliseconds(spark: SparkSession) -> None:
    times = spark.sql("SELECT commit_time FROM lake.db.`events$snapshots` WHERE snapshot_id = 2")
    second = times.selectExpr("unix_millis(CAST(commit_time AS TIMESTAMP)) AS t").collect()[0].t
    text = f"rollback_to_timestamp(table => 'db.events', timestamp => {second})"
    assert call(spark, text, SNAPSHOTS) == (4, 2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rollback(table => 'db.events')", "one of version, snapshot and tag"),
        ("rollback(table => 'db.events', version => '9')", "snapshot '9' does not exist"),
        ("rollback(table => 'db.events', tag => 'none')", "tag 'none' does not exist"),
        ("rollback_to_timestamp('db.events', 5)", "Every snapshot is younger"),
        ("rollback_to_watermark('db.events', 5)", "Every snapshot is younger"),
        ("rollback_to_watermark('db.events', 'x')", "requires the BIGINT type"),
        ("create_branch('db.events', 'main')", "is the main branch"),
        ("create_branch('db.events', 'b', 'none')", "tag 'none' does not exist"),
        ("delete_branch('db.events', 'none')", "branch 'none' does not exist"),
        ("rename_branch('db.events', 'none', 'b')", "branch 'none' does not exist"),
        ("fast_forward('db.events', 'none')", "branch 'none' does not exist"),
    ],
)
@pytest.mark.usefixtures("events")
def test_what_cannot_be_is_refused(spark: SparkSession, text: str, words: str) -> None:
    with pytest.raises(AnalysisException, match=words):
        spark.sql(f"CALL lake.sys.{text}")
    assert ids(spark) == [0, 1, 2, 3]
