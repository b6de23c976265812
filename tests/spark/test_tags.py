"""`CALL sys.create_tag` and its kin, as users of the format's own connector call them."""

from collections.abc import Iterator

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.types import BooleanType, LongType, StringType, StructField, StructType

pytestmark = pytest.mark.spark

RESULT = StructType([StructField("result", BooleanType())])


@pytest.fixture
def events(spark: SparkSession) -> Iterator[None]:
    spark.sql("CREATE TABLE lake.db.events (id INT) USING paimon")
    for number in range(3):
        spark.sql(f"INSERT INTO lake.db.events VALUES ({number})")
    yield
    spark.sql("DROP TABLE lake.db.events")


def call(spark: SparkSession, procedure: str, arguments: str = "") -> list[tuple[object, ...]]:
    more = f", {arguments}" if arguments else ""
    answer = spark.sql(f"CALL lake.sys.{procedure}(table => 'db.events'{more})")
    if answer.schema == RESULT:
        assert [tuple(row) for row in answer.collect()] == [(True,)]
    return [tuple(row) for row in answer.collect()]


def tags_of(spark: SparkSession) -> dict[str, tuple[int, str | None]]:
    found = spark.table("lake.db.events$tags").collect()
    return {row.tag_name: (row.snapshot_id, row.time_retained) for row in found}


@pytest.mark.usefixtures("events")
def test_tags_are_made_changed_and_deleted(spark: SparkSession) -> None:
    call(spark, "create_tag", "tag => 'a'")
    call(spark, "create_tag", "tag => 'b', snapshot => 1, time_retained => '1 d'")
    assert tags_of(spark) == {"a": (3, None), "b": (1, "PT24H")}
    assert spark.sql("SELECT * FROM lake.db.events VERSION AS OF 'b'").count() == 1
    call(spark, "replace_tag", "tag => 'a', snapshot => 2, time_retained => '90 min'")
    call(spark, "rename_tag", "tag => 'a', target_tag => 'c'")
    assert tags_of(spark) == {"b": (1, "PT24H"), "c": (2, "PT1H30M")}
    call(spark, "delete_tag", "tag => 'b,c,missing'")
    assert tags_of(spark) == {}
    call(spark, "trigger_tag_automatic_creation")


@pytest.mark.usefixtures("events")
def test_a_tag_of_a_time_tells_what_it_names(spark: SparkSession) -> None:
    second = spark.sql(
        "SELECT unix_millis(cast(commit_time AS TIMESTAMP)) AS time "
        "FROM lake.db.`events$snapshots` WHERE snapshot_id = 2"
    ).collect()[0]
    answer = spark.sql(
        "CALL lake.sys.create_tag_from_timestamp(table => 'db.events', tag => 't', "
        f"timestamp => {second.time})"
    )
    assert answer.schema == StructType(
        [
            StructField("tagName", StringType()),
            StructField("snapshot", LongType()),
            StructField("commit_time", LongType()),
            StructField("watermark", StringType()),
        ]
    )
    assert [tuple(row) for row in answer.collect()] == [("t", 2, second.time, "null")]


@pytest.mark.usefixtures("events")
def test_tags_expire_on_request(spark: SparkSession) -> None:
    call(spark, "create_tag", "tag => 'old', snapshot => 1, time_retained => '999 d'")
    assert call(spark, "expire_tags") == [("No expired tags.",)]
    assert call(spark, "expire_tags", "older_than => '2100-01-01 00:00:00'") == [("old",)]


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        (("create_tag", "tag => 'a', snapshot => 99"), "snapshot '99' does not exist"),
        (("create_tag", "tag => ' '"), "cannot name a tag"),
        (("create_tag", "tag => 'a', time_retained => 'soon'"), "time_retained"),
        (("replace_tag", "tag => 'a'"), "tag 'a' does not exist"),
        (("rename_tag", "tag => 'a', target_tag => 'b'"), "tag 'a' does not exist"),
        (("delete_tag", "tag => 'a,,b'"), "is blank"),
        (("create_tag_from_timestamp", "tag => 'a'"), "timestamp"),
        (("create_tag_from_timestamp", "tag => 'a', timestamp => 9999999999999"), "are older"),
    ],
)
@pytest.mark.usefixtures("events")
def test_arguments_that_cannot_be_are_refused(
    spark: SparkSession, refused: tuple[str, str], words: str
) -> None:
    with pytest.raises(AnalysisException, match=words):
        call(spark, *refused)
    assert tags_of(spark) == {}
