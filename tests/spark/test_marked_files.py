"""Rows that deletion vectors mark are left out by Spark's own reader, with pruning and filters."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from lakebed.errors import CorruptTableError
from lakebed.spark.marked_files import to_words
from lakebed.spark.registry import make_registry
from support.marked_tables import marked

pytestmark = pytest.mark.spark

COLUMNS = "id BIGINT, v INT, `a.b` STRING, _metadata STRING, tags ARRAY<STRING>"
VECTORS = "'deletion-vectors.enabled' = 'true'"
TABLES = {
    "unbucketed": f"'bucket' = '-1', {VECTORS}",
    "wide": f"'bucket' = '-1', {VECTORS}, 'deletion-vectors.bitmap64' = 'true'",
    "bucketed": f"'bucket' = '2', 'bucket-key' = 'id', {VECTORS}",
    "keyed": f"'bucket' = '2', 'primary-key' = 'id', {VECTORS}",
    "keyed_wide": (
        f"'bucket' = '2', 'primary-key' = 'id', {VECTORS}, 'deletion-vectors.bitmap64' = 'true'"
    ),
}
ROWS = "SELECT id, cast(id % 10 AS INT), concat('n', id), if(id % 2 = 0, null, 'm'), array('x')"


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession) -> None:
    """Files with marked rows and files without; the same rows, as Python reads them, as views."""
    for name, options in TABLES.items():
        spark.sql(f"CREATE TABLE lake.db.{name} ({COLUMNS}) USING paimon TBLPROPERTIES ({options})")
        spark.sql(f"INSERT INTO lake.db.{name} {ROWS} FROM range(0, 3000, 1, 2)")
        spark.sql(f"INSERT INTO lake.db.{name} {ROWS} FROM range(5000, 5100, 1, 1)")
        if "key" in name:
            spark.sql(f"INSERT INTO lake.db.{name} {ROWS} FROM range(0, 3000, 7)")
        spark.sql(f"DELETE FROM lake.db.{name} WHERE id IN (0, 1, 63, 64, 65, 999, 2999)")
        spark.sql(f"DELETE FROM lake.db.{name} WHERE id BETWEEN 1100 AND 1300")
        table = make_registry(spark).catalog("lake").load_table(f"db.{name}")
        assert marked(table)
        spark.createDataFrame(table.scan().to_arrow()).createOrReplaceTempView(f"{name}_copy")


def plan_of(frame: DataFrame) -> str:
    view = "planned"
    frame.createOrReplaceTempView(view)
    return str(frame.sparkSession.sql(f"EXPLAIN SELECT * FROM {view}").collect()[0][0])


def answers(frame: DataFrame) -> list[str]:
    return sorted(map(repr, frame.collect()))


QUERIES = {
    "all": "SELECT * FROM {t}",
    "by value": "SELECT id, v, `a.b` FROM {t} WHERE v = 3 AND id > 900",
    "by null": "SELECT id, tags, _metadata FROM {t} WHERE _metadata IS NULL",
    "one column": "SELECT id FROM {t}",
    "no column": "SELECT count(*) FROM {t}",
    "grouped": "SELECT v, count(`a.b`), max(_metadata), sum(id) FROM {t} GROUP BY v",
    "with itself": "SELECT a.id, b.v, b.tags, a.v FROM {t} a JOIN {t} b ON a.id = b.id + 1",
    "anti": "SELECT id FROM range(3000) r WHERE NOT EXISTS (SELECT * FROM {t} t WHERE t.id = r.id)",
}


@pytest.mark.parametrize(
    ("name", "query"),
    [
        *((name, QUERIES["all"]) for name in TABLES),
        *(("unbucketed", query) for query in QUERIES.values()),
        ("keyed", QUERIES["by value"]),
    ],
)
def test_answers_are_those_without_marked_rows(
    spark: SparkSession, *, name: str, query: str
) -> None:
    found = answers(spark.sql(query.format(t=f"lake.db.{name}")))
    assert found == answers(spark.sql(query.format(t=f"{name}_copy")))
    assert found


@pytest.mark.parametrize("name", ["unbucketed", "keyed"])
def test_spark_reads_only_the_columns_and_row_groups_that_a_frame_needs(
    spark: SparkSession, name: str
) -> None:
    frame = spark.table(f"lake.db.{name}").where("v = 3").select("id")
    plan = plan_of(frame)
    assert "MapInArrow" not in plan
    assert "PushedFilters: [IsNotNull(v), EqualTo(v,3)]" in plan
    assert "ReadSchema: struct<id:bigint,v:int,_tmp_metadata_row_index:bigint>" in plan
    assert answers(frame) == answers(spark.sql(f"SELECT id FROM {name}_copy WHERE v = 3"))


@pytest.mark.parametrize(
    ("query", "through_python"),
    [
        ("SELECT * FROM lake.db.unbucketed", False),
        ("SELECT * FROM lake.db.unbucketed WHERE id = 70", True),
        ("SELECT id, v, tags, _metadata FROM lake.db.unbucketed", True),
    ],
)
def test_few_columns_and_filtered_rows_go_through_python(
    spark: SparkSession, *, query: str, through_python: bool
) -> None:
    assert ("MapInArrow" in plan_of(spark.sql(query))) == through_python


@pytest.fixture
def older_reader_is_off(spark: SparkSession) -> Iterator[None]:
    key = "spark.sql.sources.useV1SourceList"
    before = spark.conf.get(key) or ""
    spark.conf.set(key, "avro,csv")
    yield
    spark.conf.set(key, before)


@pytest.mark.usefixtures("older_reader_is_off")
def test_where_spark_cannot_tell_rows_apart_they_go_through_python(spark: SparkSession) -> None:
    plan = plan_of(spark.table("lake.db.unbucketed"))
    assert "MapInArrow" in plan
    assert "_tmp_metadata_row_index" not in plan
    assert spark.table("lake.db.unbucketed").count() == spark.table("unbucketed_copy").count()


def test_a_vector_that_is_gone_is_an_error_and_no_row_comes_back(spark: SparkSession) -> None:
    spark.sql(f"CREATE TABLE lake.db.lame ({COLUMNS}) USING paimon TBLPROPERTIES ({VECTORS})")
    spark.sql(f"INSERT INTO lake.db.lame {ROWS} FROM range(10)")
    spark.sql("DELETE FROM lake.db.lame WHERE id = 1")
    table = make_registry(spark).catalog("lake").load_table("db.lame")
    split = table.scan().plan().splits[0]
    vector = split.files[0].deletion_vector
    assert vector is not None
    Path(urlsplit(vector.path).path).write_bytes(b"\1" * 60)
    with pytest.raises(AnalysisException) as caught:
        spark.table("lake.db.lame")
    assert isinstance(caught.value.__cause__, CorruptTableError)


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 1000])
def test_each_row_has_its_bit(rows: int) -> None:
    marks = np.random.default_rng(rows).random(rows) < 0.3
    words = to_words(marks)
    places = np.arange(rows)
    assert (((words[places >> 6] >> (places & 63)) & 1) == marks).all()
    assert len(words) == -(-rows // 64)
