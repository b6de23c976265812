"""Writes that change their table's schema first: `write.merge-schema`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from lakebed.spark.evolution import onto_table
from lakebed.spark.lake import find_lake
from lakebed.spark.names import TableName
from lakebed.storage.file_io import FileIO, PutResult
from support.faulty_file_io import FaultyFileIO

pytestmark = pytest.mark.spark

MERGE = "write.merge-schema"


@contextmanager
def settings(spark: SparkSession, *keys: str) -> Iterator[None]:
    for key in keys:
        spark.conf.set(f"spark.paimon.{key}", "true")
    try:
        yield
    finally:
        for key in keys:
            spark.conf.unset(f"spark.paimon.{key}")


def rows(spark: SparkSession, table: str) -> list[tuple[object, ...]]:
    return sorted(map(tuple, spark.table(f"lake.db.{table}").collect()), key=str)


def test_a_writer_adds_columns_and_fills_those_it_lacks(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.grown (a INT, b STRING)")
    spark.sql("INSERT INTO lake.db.grown VALUES (1, '1')")
    more = spark.sql("SELECT 3 AS A, '3' AS b, 3 AS c")
    with pytest.raises(AnalysisException) as caught:
        more.write.mode("append").saveAsTable("lake.db.grown")
    assert caught.value.getCondition() == "INCOMPATIBLE_DATA_FOR_TABLE.EXTRA_COLUMNS"
    more.write.mode("append").option(MERGE, "true").saveAsTable("lake.db.grown")
    other = spark.sql("SELECT '4' AS d, '4' AS b")
    other.writeTo("lake.db.grown").option("mergeSchema", "true").append()
    assert spark.table("lake.db.grown").columns == ["a", "b", "c", "d"]
    assert rows(spark, "grown") == [
        (1, "1", None, None),
        (3, "3", 3, None),
        (None, "4", None, "4"),
    ]


def test_the_session_or_the_table_says_it_too(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.session (a INT)")
    with settings(spark, MERGE):
        spark.sql("INSERT INTO lake.db.session BY NAME SELECT 1 AS a, 2 AS b")
        with pytest.raises(AnalysisException) as caught:
            spark.sql("INSERT INTO lake.db.session SELECT 1, 2, 3")
    assert caught.value.getCondition() == "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS"
    assert rows(spark, "session") == [(1, 2)]
    spark.sql(f"CREATE TABLE lake.db.own (a INT) TBLPROPERTIES ('{MERGE}' = 'true')")
    spark.sql("SELECT 1 AS a, 2 AS b").writeTo("lake.db.own").append()
    assert rows(spark, "own") == [(1, 2)]


def test_fields_within_columns_meet_by_name(spark: SparkSession) -> None:
    spark.sql(
        "CREATE TABLE lake.db.inside (id INT, s STRUCT<x: STRUCT<p: STRING, q: STRING>>,"
        " l ARRAY<STRUCT<p: STRING, q: STRING>>)"
    )
    named = "named_struct('q', 'Q', 'p', 'P')"
    spark.sql(f"SELECT 1 AS id, named_struct('x', {named}) AS s, array({named}) AS l").writeTo(
        "lake.db.inside"
    ).append()
    assert rows(spark, "inside") == [(1, (("P", "Q"),), [("P", "Q")])]
    more = spark.sql(
        "SELECT 2 AS id, named_struct('x', named_struct('r', 7, 'q', 'Q')) AS s,"
        " array(named_struct('q', 'Q', 'r', 7)) AS l"
    )
    with pytest.raises(AnalysisException) as caught:
        more.writeTo("lake.db.inside").append()
    assert caught.value.getCondition() == "INCOMPATIBLE_DATA_FOR_TABLE.EXTRA_STRUCT_FIELDS"
    with pytest.raises(AnalysisException) as caught:
        spark.sql("SELECT named_struct('x', named_struct('q', 'Q')) AS s").writeTo(
            "lake.db.inside"
        ).append()
    assert caught.value.getCondition() == "INCOMPATIBLE_DATA_FOR_TABLE.STRUCT_MISSING_FIELDS"
    more.writeTo("lake.db.inside").option(MERGE, "true").append()
    assert rows(spark, "inside") == [
        (1, (("P", "Q", None),), [("P", "Q", None)]),
        (2, ((None, "Q", 7),), [(None, "Q", 7)]),
    ]


def test_types_widen_only_where_that_is_asked_for(spark: SparkSession) -> None:
    spark.sql(
        "CREATE TABLE lake.db.widened (id INT NOT NULL, v INT)"
        " TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1')"
    )
    spark.sql("INSERT INTO lake.db.widened VALUES (1, 1)")
    wide = spark.sql("SELECT 2 AS id, 5000000000 AS v")
    narrow = spark.sql("SELECT 3 AS id, 'x' AS v")
    widening = f"{MERGE}.type-widening"
    with settings(spark, MERGE):
        spark.sql("SELECT 2 AS id, 2L AS v").writeTo("lake.db.widened").append()
        assert spark.table("lake.db.widened").schema["v"].dataType.simpleString() == "int"
        wide.writeTo("lake.db.widened").option(widening, "true").append()
        with pytest.raises(AnalysisException) as caught:
            narrow.writeTo("lake.db.widened").option(widening, "true").append()
    assert caught.value.getCondition() == "CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE"
    assert caught.value.getSqlState() == "42825"
    assert spark.table("lake.db.widened").schema["v"].dataType.simpleString() == "bigint"
    assert rows(spark, "widened") == [(1, 1), (2, 5_000_000_000)]


def test_fields_meet_in_any_case_also_in_maps_and_a_null_stays_one(spark: SparkSession) -> None:
    spark.sql(
        "CREATE TABLE lake.db.nulls (id INT, s STRUCT<p: STRING, q: STRING>,"
        " m MAP<STRING, STRUCT<p: STRING, q: STRING>>)"
    )
    named = "named_struct('Q', 'Q', 'P', 'P')"
    spark.sql(
        f"SELECT id, if(id = 0, NULL, {named}) AS s, map('k', {named}) AS m FROM range(2)"
    ).writeTo("lake.db.nulls").append()
    value = {"k": ("P", "Q")}
    assert rows(spark, "nulls") == [(0, None, value), (1, ("P", "Q"), value)]


def test_a_writers_word_goes_before_the_sessions(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.word (a INT)")
    wide = spark.sql("SELECT 1 AS a, 2 AS b")
    with settings(spark, MERGE), pytest.raises(AnalysisException) as caught:
        wide.writeTo("lake.db.word").option(MERGE, "false").append()
    assert caught.value.getCondition() == "INCOMPATIBLE_DATA_FOR_TABLE.EXTRA_COLUMNS"
    assert spark.table("lake.db.word").columns == ["a"]


def test_a_schema_that_another_changed_meanwhile_is_changed_on(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.raced (a INT)")
    lake = find_lake(spark)
    assert lake is not None
    stale = lake.load(TableName("lake", "db", "raced"))
    rival = spark.sql("SELECT 1 AS a, 2 AS b").writeTo("lake.db.raced").option(MERGE, "true")
    rows_of_two = spark.sql("SELECT 3 AS a, 4 AS c")
    store = Rivalled(stale.file_io, rival.append)
    _, table = onto_table(lake, rows_of_two, replace(stale, file_io=store), options={MERGE: "true"})
    assert table.schema.names == ["a", "b", "c"]
    assert spark.table("lake.db.raced").columns == ["a", "b", "c"]
    assert onto_table(lake, rows_of_two, stale, options={MERGE: "true"})[1].schema == table.schema


def test_a_schema_of_which_nobody_knows_whether_it_changed_gets_no_rows(
    spark: SparkSession,
) -> None:
    spark.sql("CREATE TABLE lake.db.unsure (a INT)")
    lake = find_lake(spark)
    assert lake is not None
    table = lake.load(TableName("lake", "db", "unsure"))
    faulty = replace(table, file_io=FaultyFileIO(table.file_io, 1, "unknown"))
    with pytest.raises(AnalysisException, match="did not say whether the schema was changed"):
        onto_table(lake, spark.sql("SELECT 1 AS a, 2 AS b"), faulty, options={MERGE: "true"})


class Rivalled(FaultyFileIO):
    """A store in which another writer is first, once, when something is to be put."""

    def __init__(self, inner: FileIO, rival: Callable[[], None]) -> None:
        super().__init__(inner, 0)
        self._rivals = [rival]

    def put_if_absent(self, path: str, data: bytes) -> PutResult:
        if self._rivals:
            self._rivals.pop()()
        return super().put_if_absent(path, data)
