"""`SET spark.paimon.…` lays options over the tables that it names until RESET, or is an error."""

from collections.abc import Iterator

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession) -> None:
    """`t` and `u` have two snapshots each."""
    for name in "tu":
        spark.sql(f"CREATE TABLE lake.db.{name} (id INT)")
        spark.sql(f"INSERT INTO lake.db.{name} VALUES (1)")
        spark.sql(f"INSERT INTO lake.db.{name} VALUES (2)")


@pytest.fixture(autouse=True)
def unset(spark: SparkSession) -> Iterator[None]:
    yield
    for key in spark.conf.getAll:
        if key.startswith("spark.paimon."):
            spark.conf.unset(key)


def ids(spark: SparkSession, query: str) -> list[int]:
    return sorted(row[0] for row in spark.sql(query).collect())


def test_a_setting_holds_for_every_table_until_it_is_reset(spark: SparkSession) -> None:
    spark.sql("SET spark.paimon.scan.snapshot-id=1")
    assert ids(spark, "SELECT id FROM lake.db.t") == [1]
    assert ids(spark, "SELECT t.id FROM lake.db.t JOIN lake.db.u USING (id)") == [1]
    assert spark.table("lake.db.u").count() == 1
    assert spark.read.table("lake.db.u").count() == 1
    spark.sql("RESET spark.paimon.scan.snapshot-id")
    assert ids(spark, "SELECT id FROM lake.db.t") == [1, 2]


def test_a_setting_of_one_table_goes_before_that_of_all(spark: SparkSession) -> None:
    spark.sql("SET spark.paimon.scan.snapshot-id=1")
    spark.sql("SET spark.paimon.*.db.u.scan.snapshot-id=2")
    assert ids(spark, "SELECT id FROM lake.db.t") == [1]
    assert ids(spark, "SELECT id FROM lake.db.u") == [1, 2]
    spark.sql("SET spark.paimon.lake.db.u.scan.snapshot-id=1")
    assert ids(spark, "SELECT id FROM lake.db.u") == [1]
    spark.sql("RESET spark.paimon.lake.db.u.scan.snapshot-id")
    assert ids(spark, "SELECT id FROM lake.db.u") == [1, 2]


def test_what_a_query_says_goes_first(spark: SparkSession) -> None:
    spark.conf.set("spark.paimon.scan.snapshot-id", "1")
    assert ids(spark, "SELECT id FROM lake.db.t VERSION AS OF 2") == [1, 2]
    assert ids(spark, "SELECT id FROM paimon_incremental_query('lake.db.t', 1, 2)") == [2]
    assert spark.read.option("scan.snapshot-id", "2").table("lake.db.t").count() == 2


def test_increments_are_made_as_the_session_says(spark: SparkSession) -> None:
    spark.sql("""CREATE TABLE lake.db.moded (id INT, v INT)
        TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1', 'write-only' = 'true')""")
    for value in (1, 2, 3):
        spark.sql(f"INSERT INTO lake.db.moded VALUES (1, {value})")
    query = "SELECT v FROM paimon_incremental_query('lake.db.moded', 1, 3)"
    assert ids(spark, query) == [2, 3]
    spark.sql("SET spark.paimon.incremental-between-scan-mode=diff")
    assert ids(spark, query) == [3]
    assert ids(spark, "SELECT id FROM lake.db.t") == [1, 2]


def test_writes_heed_what_is_theirs_and_nothing_is_stored(spark: SparkSession) -> None:
    spark.sql("SET spark.paimon.file.format=orc")
    spark.sql("CREATE TABLE lake.db.w AS SELECT 1 AS id")
    spark.range(2).selectExpr("cast(id AS INT) id").writeTo("lake.db.w").append()
    spark.sql("INSERT INTO lake.db.w VALUES (7)")
    spark.sql("CREATE TABLE lake.db.like_w LIKE lake.db.w")
    spark.sql("RESET spark.paimon.file.format")
    spark.sql("INSERT INTO lake.db.w VALUES (8)")
    files = spark.sql("SELECT file_format, sum(record_count) FROM lake.db.`w$files` GROUP BY 1")
    assert {row[0]: row[1] for row in files.collect()} == {"orc": 4, "parquet": 1}
    assert ids(spark, "SELECT id FROM lake.db.w") == [0, 1, 1, 7, 8]
    for name in ("w", "like_w"):
        stored = spark.sql(f"SHOW TBLPROPERTIES lake.db.{name}").collect()
        assert "file.format" not in {row[0] for row in stored}


def test_a_table_by_its_path_has_what_is_for_every_table(spark: SparkSession) -> None:
    stored = spark.sql("SHOW TBLPROPERTIES lake.db.t ('path')").collect()[0][1]
    spark.sql("SET spark.paimon.scan.snapshot-id=1")
    assert spark.read.format("paimon").load(stored).count() == 1


@pytest.mark.parametrize(
    ("setting", "value", "condition"),
    [
        ("spark.paimon.scan.snapshot-idd", "1", "LAKEBED_INVALID_ARGUMENT"),
        ("spark.paimon.scan.snapshot-id", "one", "LAKEBED_INVALID_ARGUMENT"),
        ("spark.paimon.lake.db.t.no.such.key", "1", "LAKEBED_INVALID_ARGUMENT"),
        ("spark.paimon.read.changelog", "true", "LAKEBED_UNSUPPORTED"),
        ("spark.paimon.bucket", "7", "LAKEBED_INVALID_TABLE"),
        ("spark.paimon.merge-engine", "first-row", "LAKEBED_INVALID_TABLE"),
    ],
)
def test_what_is_not_acted_on_is_refused_by_the_name_of_the_setting(
    spark: SparkSession, setting: str, value: str, *, condition: str
) -> None:
    spark.conf.set(setting, value)
    for statement in ("SELECT * FROM lake.db.t", "INSERT INTO lake.db.t VALUES (1)"):
        with pytest.raises(AnalysisException) as info:
            spark.sql(statement)
        assert info.value.getCondition() == condition
        assert setting in str(info.value)
    with pytest.raises(AnalysisException, match="RESET it"):
        spark.table("lake.db.t")
