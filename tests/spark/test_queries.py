"""Queries over Lakebed tables answer as Spark does over the same rows."""

import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession) -> None:
    """`o` has rows that need a merge, `p` has none; `so` and `sp` are Spark's copies of them."""
    spark.sql("""CREATE TABLE lake.db.o (id BIGINT, total DOUBLE, dt STRING, tags ARRAY<STRING>)
        TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '2')""")
    spark.sql("INSERT INTO lake.db.o SELECT id, id, 'old', array('x') FROM range(20)")
    spark.sql("""INSERT INTO lake.db.o
        SELECT id, id * 2, if(id % 4 = 0, null, 'new'), array('y', 'z') FROM range(0, 20, 2)""")
    spark.sql("CREATE TABLE lake.db.p AS SELECT id, concat('n', id) AS name FROM range(5, 25)")
    spark.sql("SELECT * FROM lake.db.o").createOrReplaceTempView("so")
    spark.sql("SELECT * FROM lake.db.p").createOrReplaceTempView("sp")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM {o}",
        "SELECT count(*) FROM {o}",
        "SELECT sum(total) FROM {o} WHERE dt = 'new' AND id BETWEEN 3 AND 11",
        "SELECT id FROM {o} WHERE dt IS NULL OR NOT (id > 3)",
        "SELECT o.id, p.name FROM {o} o JOIN {p} AS p ON o.id = p.id AND p.name <> 'n6'",
        "SELECT o.id, p.name FROM {o} o LEFT JOIN {p} p ON o.id = p.id WHERE p.name IS NULL",
        "SELECT o.id, p.name FROM {o} o RIGHT JOIN {p} p USING (id) WHERE o.id IS NULL",
        "SELECT * FROM {o} o FULL JOIN {p} p ON o.id = p.id AND o.id > 7 WHERE p.id < 9",
        "SELECT id FROM {o} o LEFT SEMI JOIN {p} p ON o.id = p.id",
        "SELECT id FROM {o} o LEFT ANTI JOIN {p} p ON o.id = p.id AND p.name = 'n7'",
        "SELECT id, name FROM {o} NATURAL JOIN {p}",
        "SELECT * FROM {p} PIVOT (count(name) FOR id IN (5, 6))",
        "WITH c AS (SELECT * FROM {o} WHERE id > 3) SELECT c.id, d.id FROM c JOIN c d USING (id)",
        "SELECT id FROM {o} WHERE id IN (SELECT id FROM {p} WHERE name LIKE 'n1%')",
        "SELECT id FROM {o} o WHERE EXISTS (SELECT 1 FROM {p} p WHERE p.id = o.id)",
        "SELECT id FROM {o} o WHERE EXISTS (SELECT * FROM {p} p WHERE p.id = o.id)",
        "SELECT id FROM {p} p WHERE NOT EXISTS (SELECT * FROM {o} o WHERE p.id = o.id)",
        "SELECT id FROM {o} WHERE dt NOT LIKE 'n%'",
        "SELECT o.id FROM {o} o, {p} p WHERE (o.id = p.id AND o.id < 7) OR (o.id = 3 AND p.id = 9)",
        "SELECT (SELECT max(name) FROM {p}) AS m, id FROM {o} LIMIT 20",
        "SELECT id, tag FROM {o} LATERAL VIEW explode(tags) e AS tag",
        "SELECT id, rank() OVER (PARTITION BY dt ORDER BY total) AS r FROM {o}",
        "SELECT id FROM {o} UNION ALL SELECT id FROM {p} EXCEPT SELECT 7",
        "SELECT id AS total, total + 1 AS more FROM {o}",
        "FROM {o} SELECT id",
        "TABLE {p}",
        "SELECT '{{' || dt || '}}' FROM {o} /* {o} */ -- {p}",
        "SELECT /*+ BROADCAST(p) */ o.id FROM {o} o, {p} p WHERE o.id = p.id",
        "FROM {o} |> WHERE id > 3 |> SELECT id, dt",
        "SELECT struct(*) FROM {p}",
        "SELECT id FROM {p} WHERE name NOT LIKE 'x%' AND name NOT LIKE 'n_'",
        "SELECT id FROM {o} GROUP BY ALL HAVING count(*) > 0",
    ],
)
def test_answers_are_those_over_spark_copies(spark: SparkSession, query: str) -> None:
    over_lake = query.format(o="lake.db.o", p="lake.db.p")
    over_spark = query.format(o="so", p="sp")
    found = sorted(map(repr, spark.sql(over_lake).collect()))
    assert found == sorted(map(repr, spark.sql(over_spark).collect()))
    assert found


def test_columns_may_be_written_with_the_whole_name(spark: SparkSession) -> None:
    query = "SELECT lake.db.o.id, db.o.total, o.dt FROM lake.db.o WHERE lake.db.o.id = 3"
    assert [tuple(row) for row in spark.sql(query).collect()] == [(3, 3.0, "old")]


@pytest.mark.parametrize(
    "query",
    [
        "WITH o AS (SELECT * FROM o WHERE id < 4) SELECT id, total FROM o",
        "WITH c AS (SELECT name FROM p), p AS (SELECT 1 AS one) SELECT * FROM c, p",
        "SELECT lake.db.o.id, DB.O.total, o.dt FROM o WHERE db.o.id = 3",
        "SELECT x.first FROM o AS x (first, second, third, fourth) WHERE second > 3",
        "SELECT first FROM (o) x (first, second, third, fourth)",
        "SELECT second FROM o AS x (total, second, dt, tags) WHERE total = 3",
        "SELECT lake.db.p.* FROM p JOIN db.o ON lake.db.o.id = lake.db.p.id",
        "TABLE p",
        "SELECT id FROM o UNION ALL (TABLE plain)",
        "FROM o, p x |> WHERE o.id = x.id |> SELECT name",
        "SELECT x.id FROM o x JOIN (VALUES (1), (2)) TABLESAMPLE (9 ROWS) v ON x.id = v.col1, p",
        "SELECT id /* of /* FROM nowhere */ JOIN lake.db.nowhere */ FROM o",
    ],
)
def test_short_names_are_found_as_spark_finds_them(spark: SparkSession, query: str) -> None:
    spark.range(2).createOrReplaceTempView("plain")
    spark.sql("CREATE DATABASE IF NOT EXISTS spark_catalog.db")
    for name in ("o", "p"):
        frame = spark.sql(f"SELECT * FROM lake.db.{name}")
        frame.write.mode("overwrite").saveAsTable(f"spark_catalog.db.{name}")
    found = {}
    for catalog in ("spark_catalog", "lake"):
        spark.sql(f"USE {catalog}.db")
        text = query.replace("lake.db", f"{catalog}.db")
        found[catalog] = sorted(map(repr, spark.sql(text).collect()))
    spark.sql("USE spark_catalog.default")
    assert found["lake"] == found["spark_catalog"]
    assert found["lake"]


def test_arguments_and_fields_reach_spark(spark: SparkSession) -> None:
    named = spark.sql("SELECT id FROM lake.db.o WHERE id = :id", args={"id": 3})
    assert [tuple(row) for row in named.collect()] == [(3,)]
    listed = spark.sql("SELECT id FROM lake.db.o WHERE id = ?", args=[4])
    assert [tuple(row) for row in listed.collect()] == [(4,)]
    fields = spark.sql(
        "SELECT {column} FROM lake.db.o JOIN {frame} USING (id) WHERE dt = {text}",
        column=F.col("total"),
        frame=spark.range(3, 6),
        text="old",
    )
    assert sorted(tuple(row) for row in fields.collect()) == [(3.0,), (5.0,)]


def test_a_temporary_view_over_a_table_can_be_queried_later(spark: SparkSession) -> None:
    spark.sql("CREATE OR REPLACE TEMP VIEW seen AS SELECT id FROM lake.db.o WHERE id < 3")
    assert spark.sql("SELECT count(*) FROM seen").collect()[0][0] == 3
    assert spark.table("seen").count() == 3


def test_only_named_columns_and_matching_rows_leave_the_merge(spark: SparkSession) -> None:
    query = "EXPLAIN SELECT total FROM lake.db.o WHERE id = 3"
    plan = spark.sql(query).collect()[0][0]
    merged = next(line for line in plan.splitlines() if "MapInArrow" in line)
    outputs = merged.partition(")")[2]
    assert "total" in outputs
    assert "dt" not in outputs
    assert "tags" not in outputs


def test_spark_takes_a_merged_table_for_its_columns_share_of_its_files(spark: SparkSession) -> None:
    spark.sql("""CREATE TABLE lake.db.large (id BIGINT, name STRING, note STRING)
        TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '2', 'write-only' = 'true')""")
    for _ in range(2):
        spark.sql("INSERT INTO lake.db.large SELECT id, uuid(), uuid() FROM range(400000)")
    files = spark.sql("SELECT sum(file_size_in_bytes) FROM lake.db.`large$files`").collect()[0][0]
    for columns, share in (("*", 1.0), ("id", (8 + 8) / (8 + 8 + 20 + 20))):
        plan = spark.sql(f"EXPLAIN COST SELECT {columns} FROM lake.db.large").collect()[0][0]
        size = re.search(r"MapInArrow.*sizeInBytes=([\d.]+) MiB", plan)
        assert size is not None, plan
        # Half of it is near enough.
        assert 0.5 < float(size[1]) * 2**20 / (files * share) < 1.1
    joined = "SELECT large.name, other.* FROM lake.db.large JOIN lake.db.{} AS other USING (id)"
    assert "BroadcastHashJoin" in explained(spark, joined.format("o"))
    assert "SortMergeJoin" in explained(spark, joined.format("large"))
    spark.sql("DROP TABLE lake.db.large")


def test_spark_takes_a_table_that_it_reads_itself_for_its_columns_share(
    spark: SparkSession,
) -> None:
    spark.sql("CREATE TABLE lake.db.wide (id BIGINT, name STRING, note STRING)")
    spark.sql("INSERT INTO lake.db.wide SELECT id, uuid(), uuid() FROM range(100000)")
    sizes = []
    for columns in ("*", "id"):
        plan = spark.sql(f"EXPLAIN COST SELECT {columns} FROM lake.db.wide").collect()[0][0]
        size = re.search(r"Project \[.*sizeInBytes=([\d.]+) (KiB|MiB)", plan)
        found = re.search(r"sizeInBytes=([\d.]+) (KiB|MiB)", plan) if size is None else size
        assert found is not None, plan
        sizes.append(float(found[1]) * (2**20 if found[2] == "MiB" else 2**10))
    assert sizes[1] / sizes[0] == pytest.approx((8 + 8) / (8 + 8 + 20 + 20), rel=0.05)
    spark.sql("DROP TABLE lake.db.wide")


def test_views_are_looked_up_by_their_own_names(spark: SparkSession) -> None:
    spark.sql("USE lake.db")
    try:
        spark.range(3).createOrReplaceTempView("P")
        found = spark.sql("SELECT count(*), count(o.id) FROM p LEFT JOIN o USING (id)").collect()
        assert tuple(found[0]) == (3, 3)
        spark.sql("DROP VIEW P")
        found = spark.sql("SELECT count(*), count(o.id) FROM p LEFT JOIN o USING (id)").collect()
        assert tuple(found[0]) == (20, 15)
    finally:
        spark.sql("USE spark_catalog.default")


def explained(spark: SparkSession, query: str) -> str:
    plan: str = spark.sql(f"EXPLAIN {query}").collect()[0][0]
    return plan


def test_rows_that_need_no_merge_are_read_by_spark_itself(spark: SparkSession) -> None:
    plan = spark.sql("EXPLAIN SELECT name FROM lake.db.p WHERE id = 7").collect()[0][0]
    assert "FileScan parquet" in plan
    assert "MapInArrow" not in plan
    assert "ReadSchema: struct<id:bigint,name:string>" in plan


def test_a_column_added_since_the_newest_snapshot_is_seen_by_a_join_with_itself(
    spark: SparkSession,
) -> None:
    spark.sql("CREATE TABLE lake.db.grown AS SELECT id FROM range(3)")
    location = spark.sql("DESCRIBE EXTENDED lake.db.grown").where("col_name = 'Location'")
    first = Path(urlsplit(location.collect()[0][1]).path) / "schema" / "schema-0"
    schema = json.loads(first.read_text(encoding="utf-8"))
    schema["id"], schema["highestFieldId"] = 1, 1
    schema["fields"].append({"id": 1, "name": "more", "type": "INT"})
    first.with_name("schema-1").write_text(json.dumps(schema), encoding="utf-8")
    query = "SELECT a.more, b.id FROM lake.db.grown a JOIN lake.db.grown b USING (id)"
    assert sorted(tuple(row) for row in spark.sql(query).collect()) == [
        (None, 0),
        (None, 1),
        (None, 2),
    ]


def test_queries_that_name_no_lakebed_table_are_sparks(spark: SparkSession) -> None:
    spark.sql("CREATE OR REPLACE TEMP VIEW plain AS SELECT '{x}' AS brace")
    assert spark.sql("SELECT brace FROM plain").collect()[0][0] == "{x}"


@pytest.mark.parametrize(
    "kind", ["files", "snapshots", "schemas", "partitions", "options", "tags", "manifests"]
)
def test_a_system_table_of_an_empty_table_can_be_queried(spark: SparkSession, kind: str) -> None:
    spark.sql("CREATE TABLE IF NOT EXISTS lake.db.empty (id INT) USING paimon")
    frame = spark.table(f"lake.db.`empty${kind}`")
    assert frame.count() == (1 if kind == "schemas" else 0)
    assert frame.columns


def test_a_table_whose_name_is_a_word_of_sql_can_be_queried(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.full (id INT) USING paimon")
    spark.sql("INSERT INTO lake.db.full VALUES (1)")
    assert spark.sql("SELECT id FROM lake.db.full WHERE full.id = 1").collect()[0]["id"] == 1


def test_explain_tells_what_is_read_of_each_table(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.parts (id BIGINT, v STRING, dt STRING) PARTITIONED BY (dt)")
    spark.sql("INSERT INTO lake.db.parts VALUES (1, 'a', 'x'), (2, 'b', 'y'), (3, 'c', 'z')")

    def told(query: str) -> str:
        text = spark.sql(f"EXPLAIN {query}").collect()[0][0]
        assert isinstance(text, str)
        return text.split("== Lakebed ==")[1]

    plain = told("SELECT id FROM lake.db.parts WHERE dt = 'x'")
    assert "Read `lake`.`db`.`parts`\ncolumns      id, dt\nwhere        dt = 'x'" in plain
    assert "partitions   kept 1 of 3" in plain
    greatest = told("SELECT id FROM lake.db.parts WHERE dt = lake.sys.max_pt('db.parts')")
    assert "where        dt = 'z'" in greatest
    assert "partitions   kept 1 of 3" in greatest
    joined = told(
        "SELECT p.id, i.v, i.__paimon_bucket FROM lake.db.parts p"
        " JOIN paimon_incremental_query('lake.db.parts', 0, 1) i ON p.id = i.id AND i.dt = 'y'"
    )
    assert joined.count("Read `lake`.`db`.`parts`") == 2
    assert joined.count("where        dt = 'y'") == 1
    assert "columns      id, v, dt, __paimon_bucket" in joined
    assert "of the table's metadata" in told("SELECT * FROM lake.db.`parts$files`")
    assert "== Lakebed ==" not in spark.sql("EXPLAIN SELECT 'lake.db'").collect()[0][0]


def test_frames_are_taken_for_frames_in_a_current_catalog(spark: SparkSession) -> None:
    try:
        spark.sql("USE lake.db")
        found = spark.sql("SELECT count(*) FROM {rows} JOIN o USING (id)", rows=spark.range(3))
        assert found.collect()[0][0] == 3
    finally:
        spark.catalog.setCurrentCatalog("spark_catalog")
