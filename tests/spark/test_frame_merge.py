"""`DataFrame.mergeInto` on tables of every kind, with columns told in every way."""

from collections.abc import Callable

import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from lakebed import load_table

pytestmark = pytest.mark.spark

KINDS = {
    "keyed": "'primary-key' = 'id', 'bucket' = '2'",
    "append": "'bucket' = '-1'",
    "marked": "'bucket' = '-1', 'deletion-vectors.enabled' = 'true'",
}
Rows = list[tuple[object, ...]]


@pytest.fixture(params=KINDS)
def target(request: pytest.FixtureRequest, spark: SparkSession) -> str:
    """A table of some kind, `stock`, with the ids 1 to 4 in two commits."""
    return made(spark, KINDS[request.param])


def made(spark: SparkSession, properties: str = "'bucket' = '-1'") -> str:
    spark.sql("DROP TABLE IF EXISTS lake.db.stock")
    spark.sql(
        "CREATE TABLE lake.db.stock (id INT NOT NULL, total INT, note STRING) USING paimon"
        f" TBLPROPERTIES ({properties})"
    )
    spark.sql("INSERT INTO lake.db.stock VALUES (1, 10, 'a'), (2, 20, 'b')")
    spark.sql("INSERT INTO lake.db.stock VALUES (3, 30, 'c'), (4, 40, 'd')")
    return "lake.db.stock"


def changes(spark: SparkSession) -> DataFrame:
    """One row that changes, one that stays as it is, one that is new."""
    rows = [(2, 200, "B"), (3, 30, "c"), (7, 70, "g")]
    return spark.createDataFrame(rows, "id INT, total INT, note STRING")


def rows(spark: SparkSession, name: str = "lake.db.stock") -> Rows:
    return sorted(tuple(row) for row in spark.table(name).collect())


def test_all_columns_of_a_frame_upsert(spark: SparkSession, target: str) -> None:
    merge = changes(spark).alias("s").mergeInto(target, F.col("stock.id") == F.col("s.id"))
    merge.whenMatched().updateAll().whenNotMatched().insertAll().merge()
    assert rows(spark) == [(1, 10, "a"), (2, 200, "B"), (3, 30, "c"), (4, 40, "d"), (7, 70, "g")]


def test_each_clause_takes_the_rows_that_meet_it_first(spark: SparkSession, target: str) -> None:
    source = changes(spark).select("id", (F.col("total") + 1).alias("more"), "note").alias("s")
    merge = source.mergeInto(target, F.expr("stock.id = s.id"))
    merge = merge.whenMatched(F.col("more") > 100).update(
        {"total": F.col("total") + F.col("more"), "note": F.concat("stock.note", "s.note")}
    )
    merge = merge.whenMatched().delete()
    # The source alone has columns here, so that names need nothing before them.
    merge = merge.whenNotMatched(F.col("more") > 1000).insert({"id": F.col("more")})
    merge = merge.whenNotMatched().insert({"id": F.col("id") * 10, "note": F.lit("new")})
    merge = merge.whenNotMatchedBySource(F.col("id") == 1).update({"note": F.lit("gone?")})
    merge.whenNotMatchedBySource().delete().merge()
    assert rows(spark) == [(1, 10, "gone?"), (2, 221, "bB"), (70, None, "new")]


@pytest.mark.parametrize("qualifier", ["lake.db.stock", "db.stock", "stock", "LAKE.DB.Stock"])
def test_a_table_is_known_by_its_name_and_the_ends_of_it(
    spark: SparkSession, qualifier: str
) -> None:
    made(spark)
    source = changes(spark)
    merge = source.mergeInto("lake.db.stock", F.col(f"{qualifier}.id") == source["id"])
    merge = merge.whenMatched(F.col(f"{qualifier}.total") < source.total).update(
        {"total": F.col(f"{qualifier}.total") - source.total}
    )
    merge.whenNotMatchedBySource(F.expr(f"{qualifier}.total > 30")).delete().merge()
    assert rows(spark) == [(1, 10, "a"), (2, -180, "b"), (3, 30, "c")]


def test_a_column_of_the_source_may_be_called_as_the_database_is(spark: SparkSession) -> None:
    made(spark)
    source = spark.createDataFrame([(2, "DB")], "id INT, db STRING").alias("s")
    merge = source.mergeInto("lake.db.stock", F.col("lake.db.stock.id") == F.col("s.id"))
    merge.whenMatched(F.col("db") == "DB").update({"note": F.col("db")}).merge()
    assert rows(spark)[1] == (2, 20, "DB")


def test_a_frame_of_the_table_itself_is_merged_into_it(spark: SparkSession, target: str) -> None:
    own = spark.table(target).where("id > 2").withColumn("total", F.col("total") + 1)
    merge = own.mergeInto(target, F.col("stock.id") == own["id"])
    merge.whenMatched().updateAll().whenNotMatchedBySource().delete().merge()
    assert rows(spark) == [(3, 31, "c"), (4, 41, "d")]


def test_rows_that_are_not_matched_alone_are_inserted(spark: SparkSession, target: str) -> None:
    source = changes(spark)
    merge = source.mergeInto(target, F.col("stock.id") == source.id)
    merge.whenNotMatched(source.total > 1).insert({"id": source.id, "note": source.note}).merge()
    assert rows(spark)[2:] == [(3, 30, "c"), (4, 40, "d"), (7, None, "g")]


def test_a_clause_computes_nothing_for_rows_that_are_not_its_own(
    spark: SparkSession, target: str
) -> None:
    source = changes(spark).alias("s")
    failing = F.when(F.col("s.id") == 7, F.col("s.total")).otherwise(F.raise_error(F.lit("no")))
    merge = source.mergeInto(target, F.col("stock.id") == F.col("s.id"))
    merge.whenNotMatched().insert({"id": F.col("id"), "total": failing}).merge()
    assert rows(spark)[-1] == (7, 70, None)


def test_a_row_that_two_of_the_source_would_change_is_an_error(
    spark: SparkSession, target: str
) -> None:
    source = changes(spark).union(changes(spark).where("id = 2")).alias("s")
    merge = source.mergeInto(target, F.col("stock.id") == F.col("s.id"))
    with pytest.raises(PySparkException) as caught:
        merge.whenMatched().updateAll().merge()
    assert caught.value.getCondition() == "MERGE_CARDINALITY_VIOLATION"
    assert rows(spark)[1] == (2, 20, "b")
    source.mergeInto(target, F.col("stock.id") == F.col("s.id")).whenMatched().delete().merge()
    assert [row[0] for row in rows(spark)] == [1, 4]


def test_a_key_may_be_said_again_and_not_be_changed(spark: SparkSession) -> None:
    made(spark, KINDS["keyed"])
    source = changes(spark).alias("s")
    merge = source.mergeInto("lake.db.stock", F.col("stock.id") == F.col("s.id"))
    merge.whenMatched().update({"id": F.col("s.id"), "total": F.col("s.total")}).merge()
    assert rows(spark)[1] == (2, 200, "b")
    merge = source.mergeInto("lake.db.stock", F.col("stock.id") == F.col("s.id"))
    merge = merge.whenMatched().update({"id": F.col("s.id") + 1})
    with pytest.raises(AnalysisException, match="'id' is part of the primary key"):
        merge.merge()
    assert rows(spark)[1] == (2, 200, "b")


def test_columns_that_only_the_source_has_are_added_where_the_schema_evolves(
    spark: SparkSession,
) -> None:
    made(spark, KINDS["keyed"])
    source = changes(spark).select("id", F.lit("new").alias("extra")).alias("s")
    condition = F.col("stock.id") == F.col("s.id")
    with pytest.raises(AnalysisException) as caught:
        source.mergeInto("lake.db.stock", condition).whenMatched().updateAll().merge()
    assert caught.value.getCondition() == "UNRESOLVED_COLUMN.WITH_SUGGESTION"
    merge = source.mergeInto("lake.db.stock", condition).withSchemaEvolution()
    merge.whenMatched().updateAll().whenNotMatched().insertAll().merge()
    assert rows(spark)[1:3] == [(2, 20, "b", "new"), (3, 30, "c", "new")]
    assert rows(spark)[4] == (7, None, None, "new")


def test_a_field_of_a_struct_is_updated_and_the_others_stay(spark: SparkSession) -> None:
    spark.sql("CREATE OR REPLACE TABLE lake.db.nested (id INT, s STRUCT<x: INT, y: STRING>)")
    spark.sql("INSERT INTO lake.db.nested VALUES (1, named_struct('x', 1, 'y', 'a'))")
    source = spark.createDataFrame([(1, 5), (2, 6)], "id INT, x INT").alias("given")
    merge = source.mergeInto("lake.db.nested", F.col("nested.id") == F.col("given.id"))
    merge = merge.whenMatched().update({"s.x": F.col("given.x") + F.col("nested.s.x")})
    merge.merge()
    assert rows(spark, "lake.db.nested") == [(1, (6, "a"))]
    merge = source.mergeInto("lake.db.nested", F.col("nested.id") == F.col("given.id"))
    with pytest.raises(AnalysisException, match="a new row gets whole columns"):
        merge.whenNotMatched().insert({"id": F.col("id"), "s.x": F.col("x")}).merge()


def test_a_merge_is_one_snapshot_that_says_so(spark: SparkSession) -> None:
    made(spark)
    source = changes(spark).alias("s")
    merge = source.mergeInto("lake.db.stock", F.col("stock.id") == F.col("s.id"))
    merge.whenMatched().updateAll().whenNotMatched().insertAll().merge()
    path = spark.sql("SHOW TBLPROPERTIES lake.db.stock ('path')").collect()[0].value
    latest = load_table(path).latest_snapshot()
    assert latest is not None
    assert (latest.id, latest.operation) == (3, "MERGE")


Told = Callable[[DataFrame, Column], object]
REFUSED: dict[str, tuple[Told, str]] = {
    "no clause": (
        lambda source, on: source.mergeInto("lake.db.stock", on).merge(),
        "NO_MERGE_ACTION_SPECIFIED",
    ),
    "all columns where there is no source": (
        lambda source, on: (
            source.mergeInto("lake.db.stock", on).whenNotMatchedBySource().updateAll()
        ),
        "LAKEBED_INVALID_ARGUMENT",
    ),
    "a column of both without a table": (
        lambda source, _: (
            source.mergeInto("lake.db.stock", F.col("id") == 1).whenMatched().delete().merge()
        ),
        "AMBIGUOUS_REFERENCE",
    ),
    "a column that is not there": (
        lambda source, on: (
            source.mergeInto("lake.db.stock", on)
            .whenMatched()
            .update({"nothing": F.lit(1)})
            .merge()
        ),
        "UNRESOLVED_COLUMN.WITH_SUGGESTION",
    ),
    "a table that is not there": (
        lambda source, on: source.mergeInto("lake.db.nowhere", on).whenMatched().delete().merge(),
        "TABLE_OR_VIEW_NOT_FOUND",
    ),
}


@pytest.mark.parametrize("refused", REFUSED)
def test_a_merge_that_cannot_be_is_refused_and_changes_nothing(
    spark: SparkSession, refused: str
) -> None:
    made(spark)
    act, condition = REFUSED[refused]
    source = changes(spark).alias("s")
    with pytest.raises(AnalysisException) as caught:
        act(source, F.col("stock.id") == F.col("s.id"))
    assert caught.value.getCondition() == condition
    assert len(rows(spark)) == 4


def test_a_frame_is_merged_into_a_table_of_sparks_by_spark(spark: SparkSession) -> None:
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW plain AS SELECT 1 AS id")
    with pytest.raises(PySparkException, match="does not support MERGE INTO TABLE"):
        changes(spark).mergeInto("plain", F.expr("true")).whenMatched().delete().merge()
