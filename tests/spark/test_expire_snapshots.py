"""`CALL sys.expire_snapshots`, as users of the format's own connector call it."""

from collections.abc import Iterator

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.types import IntegerType, StructField, StructType

pytestmark = pytest.mark.spark

ANSWER = StructType([StructField("deleted_snapshots_count", IntegerType(), nullable=False)])


@pytest.fixture
def events(spark: SparkSession) -> Iterator[None]:
    spark.sql("CREATE TABLE lake.db.events (id INT) USING paimon")
    for number in range(5):
        spark.sql(f"INSERT INTO lake.db.events VALUES ({number})")
    yield
    spark.sql("DROP TABLE lake.db.events")


def ids(spark: SparkSession) -> list[int]:
    found = spark.sql("SELECT snapshot_id FROM lake.db.`events$snapshots`").collect()
    return sorted(row.snapshot_id for row in found)


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        ("retain_max => 2, retain_min => 1", [4, 5]),
        ("older_than => '2100-01-01 00:00:00', retain_min => 3", [3, 4, 5]),
        ("older_than => '2100-01-01', retain_min => 1, max_deletes => 1", [2, 3, 4, 5]),
        ("older_than => '2000-01-01', retain_min => 1", [1, 2, 3, 4, 5]),
        (
            "options => 'snapshot.num-retained.max=3,snapshot.num-retained.min=1'",
            [3, 4, 5],
        ),
    ],
)
@pytest.mark.usefixtures("events")
def test_the_procedure_expires_what_its_arguments_say(
    spark: SparkSession, arguments: str, left: list[int]
) -> None:
    answer = spark.sql(f"CALL lake.sys.expire_snapshots(table => 'db.events', {arguments})")
    assert answer.schema == ANSWER
    assert [tuple(row) for row in answer.collect()] == [(5 - len(left),)]
    assert ids(spark) == left
    assert spark.table("lake.db.events").count() == 5


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("retain_max => 2, retain_min => 3", "retain_max is 2, less than retain_min"),
        ("retain_min => 0", "retain_min is 0"),
        ("older_than => 'soon'", "'soon' is no time"),
        ("retain_max => 'two'", "requires the BIGINT type"),
        ("options => 'snapshot.expire.execution-mode=async'", "not supported"),
    ],
)
@pytest.mark.usefixtures("events")
def test_arguments_that_cannot_be_are_refused(
    spark: SparkSession, arguments: str, words: str
) -> None:
    with pytest.raises(AnalysisException, match=words):
        spark.sql(f"CALL lake.sys.expire_snapshots(table => 'db.events', {arguments})")
    assert ids(spark) == [1, 2, 3, 4, 5]
