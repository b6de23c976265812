"""MERGE, UPDATE and DELETE as users of Paimon's connector write them."""

import random
from pathlib import Path
from urllib.parse import urlparse

import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from lakebed.format.snapshot import Operation
from lakebed.spark.changed_table import ChangedTable
from lakebed.spark.lake import find_lake
from support.merge_targets import KINDS, make_target, rows

pytestmark = pytest.mark.spark


@pytest.fixture(params=KINDS)
def target(request: pytest.FixtureRequest, spark: SparkSession) -> str:
    """A table of some kind with four rows, written in two commits."""
    return make_target(spark, request.node.name, request.param)


@pytest.fixture(scope="module", autouse=True)
def changes(spark: SparkSession) -> None:
    """A source: one row that changes, one that stays as it is, one that is new."""
    spark.sql("""
        CREATE OR REPLACE TEMPORARY VIEW changes AS
        SELECT * FROM VALUES (2, 200, 'B'), (3, 30, 'c'), (7, 70, 'g') AS (id, total, note)
    """)


def data_files(spark: SparkSession, name: str) -> set[str]:
    """Of the table, needed or not."""
    location = spark.sql(f"SHOW TBLPROPERTIES {name} ('path')").collect()[0].value
    return {str(path) for path in Path(urlparse(location).path).glob("bucket-*/data-*")}


def newest(spark: SparkSession, name: str) -> object:
    snapshots = f"{name}$snapshots".replace(".", "`.`")
    return spark.sql(f"SELECT max(snapshot_id) FROM `{snapshots}`").first()


def test_a_merge_of_stars_upserts(spark: SparkSession, target: str) -> None:
    answer = spark.sql(f"""
        MERGE INTO {target} t USING changes s ON t.id = s.id
        WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *
    """)
    assert answer.collect() == []
    assert rows(spark, target) == [
        (1, 10, "a"),
        (2, 200, "B"),
        (3, 30, "c"),
        (4, 40, "d"),
        (7, 70, "g"),
    ]


def test_each_clause_takes_the_rows_that_meet_it_first(spark: SparkSession, target: str) -> None:
    spark.sql(f"""
        MERGE INTO {target} AS t USING (SELECT id, total + 1 AS more, note AS text FROM changes) s
        ON t.id = s.id
        WHEN MATCHED AND CASE WHEN s.more > 100 THEN true ELSE false END
            THEN UPDATE SET t.total = t.total + more, note = concat(t.note, '-', text)
        WHEN MATCHED THEN DELETE
        WHEN NOT MATCHED AND more > 1000 THEN INSERT (id) VALUES (more)
        WHEN NOT MATCHED THEN INSERT (id, note) VALUES (s.id * 10, 'new')
        WHEN NOT MATCHED BY SOURCE AND t.id = 1 THEN UPDATE SET note = 'gone?'
        WHEN NOT MATCHED BY SOURCE THEN DELETE
    """)
    assert rows(spark, target) == [(1, 10, "gone?"), (2, 221, "b-B"), (70, None, "new")]


def test_a_merge_that_only_inserts_leaves_what_is_there(spark: SparkSession, target: str) -> None:
    spark.sql(f"""
        MERGE INTO {target} USING changes ON {target}.id = changes.id
        WHEN NOT MATCHED THEN INSERT *
    """)
    assert rows(spark, target) == [
        (1, 10, "a"),
        (2, 20, "b"),
        (3, 30, "c"),
        (4, 40, "d"),
        (7, 70, "g"),
    ]


def test_a_merge_that_only_deletes(spark: SparkSession, target: str) -> None:
    spark.sql(f"""
        MERGE INTO {target} t USING changes s ON t.id = s.id AND s.total = t.total
        WHEN MATCHED THEN DELETE
    """)
    assert rows(spark, target) == [(1, 10, "a"), (2, 20, "b"), (4, 40, "d")]


def test_a_merge_without_matches_commits_nothing(spark: SparkSession, target: str) -> None:
    before = newest(spark, target)
    spark.sql(f"""
        MERGE INTO {target} t USING (SELECT * FROM changes WHERE id > 100) s ON t.id = s.id
        WHEN MATCHED THEN UPDATE SET note = 'x'
    """)
    assert newest(spark, target) == before


def test_two_rows_of_the_source_for_one_of_the_table_are_refused(
    spark: SparkSession, target: str
) -> None:
    before, files = rows(spark, target), data_files(spark, target)
    assert files
    with pytest.raises(PySparkException) as caught:
        spark.sql(f"""
            MERGE INTO {target} t USING (SELECT * FROM changes UNION ALL SELECT * FROM changes) s
            ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *
        """)
    assert caught.value.getCondition() == "MERGE_CARDINALITY_VIOLATION"
    assert rows(spark, target) == before
    assert data_files(spark, target) == files


def test_two_rows_of_the_source_that_are_both_new_are_inserted(
    spark: SparkSession, target: str
) -> None:
    source = "(SELECT * FROM VALUES (8, 1, 'x'), (8, 1, 'x'), (1, 0, 'y') AS (id, total, note))"
    spark.sql(f"""
        MERGE INTO {target} t USING {source} s ON t.id = s.id
        WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *
    """)
    found = rows(spark, target)
    assert found[0] == (1, 0, "y")
    assert set(found[4:]) == {(8, 1, "x")}


def test_a_merge_takes_a_with_clause_and_parameters(spark: SparkSession, target: str) -> None:
    spark.sql(
        f"""
        WITH big AS (SELECT id, total FROM changes WHERE total >= :least)
        MERGE INTO {target} t USING big ON t.id = big.id
        WHEN MATCHED THEN UPDATE SET total = big.total + :more
        """,
        args={"least": 70, "more": 5},
    )
    assert rows(spark, target) == [(1, 10, "a"), (2, 205, "b"), (3, 30, "c"), (4, 40, "d")]


def test_an_update_computes_from_the_row_as_it_was(spark: SparkSession, target: str) -> None:
    spark.sql(
        f"UPDATE {target} SET total = total * 2, note = upper(concat(note, total)) WHERE id % 2 = 0"
    )
    assert rows(spark, target) == [(1, 10, "a"), (2, 40, "B20"), (3, 30, "c"), (4, 80, "D40")]


def test_an_update_may_ask_other_tables(spark: SparkSession, target: str) -> None:
    spark.sql(
        f"""
        UPDATE {target} t SET t.total = (SELECT max(total) FROM changes), note = DEFAULT_NOTE
        WHERE t.id IN (SELECT id FROM changes)
    """.replace("DEFAULT_NOTE", "'seen'")
    )
    assert rows(spark, target) == [
        (1, 10, "a"),
        (2, 200, "seen"),
        (3, 200, "seen"),
        (4, 40, "d"),
    ]


def test_an_update_of_all_rows(spark: SparkSession, target: str) -> None:
    spark.sql(f"UPDATE {target} SET note = NULL, total = id")
    assert rows(spark, target) == [(1, 1, None), (2, 2, None), (3, 3, None), (4, 4, None)]


def test_a_delete_may_ask_other_tables(spark: SparkSession, target: str) -> None:
    spark.sql(f"DELETE FROM {target} WHERE id IN (SELECT id FROM changes WHERE total < 100)")
    assert rows(spark, target) == [(1, 10, "a"), (2, 20, "b"), (4, 40, "d")]


def test_a_delete_by_a_function_of_sparks(spark: SparkSession, target: str) -> None:
    spark.sql(f"DELETE FROM {target} AS x WHERE soundex(x.note) = soundex('b') OR x.id = 4")
    assert rows(spark, target) == [(1, 10, "a"), (3, 30, "c")]


def test_rows_of_other_types_are_refused_before_anything_is_written(
    spark: SparkSession, target: str
) -> None:
    before = rows(spark, target)
    for statement in (
        f"UPDATE {target} SET total = array(1)",
        (
            f"MERGE INTO {target} t USING changes s ON t.id = s.id WHEN MATCHED THEN"
            " UPDATE SET total = array(1)"
        ),
    ):
        with pytest.raises(AnalysisException) as caught:
            spark.sql(statement)
        condition = caught.value.getCondition()
        assert condition == "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST"
    assert rows(spark, target) == before


@pytest.mark.parametrize(
    ("statement", "condition"),
    [
        ("UPDATE lake.db.nowhere SET a = 1", "TABLE_OR_VIEW_NOT_FOUND"),
        ("UPDATE {t} SET other = 1", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ("UPDATE {t} SET total = other", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ("UPDATE {t} SET total =", "PARSE_SYNTAX_ERROR"),
        ("UPDATE {t} SET total = 1, total = 2", "LAKEBED_INVALID_ARGUMENT"),
        ("MERGE INTO {t} USING changes ON true", "PARSE_SYNTAX_ERROR"),
        (
            "MERGE INTO {t} t USING changes s ON t.id = s.id WHEN MATCHED THEN INSERT *",
            "PARSE_SYNTAX_ERROR",
        ),
        (
            "MERGE INTO {t} t USING changes s ON t.id = s.id WHEN MATCHED THEN UPDATE SET x = 1",
            "UNRESOLVED_COLUMN.WITH_SUGGESTION",
        ),
        (
            (
                "MERGE INTO {t} t USING changes s ON t.id = s.id WHEN NOT MATCHED THEN"
                " INSERT (id, total) VALUES (1)"
            ),
            "PARSE_SYNTAX_ERROR",
        ),
        (
            (
                "MERGE INTO {t} t USING changes s ON t.id = s.id WHEN MATCHED THEN DELETE"
                " WHEN MATCHED THEN UPDATE SET *"
            ),
            "NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION",
        ),
    ],
)
def test_mistakes_are_told_in_sparks_words(
    spark: SparkSession, statement: str, condition: str
) -> None:
    spark.sql(
        "CREATE TABLE IF NOT EXISTS lake.db.mistakes (id INT, total INT, note STRING) USING paimon"
    )
    with pytest.raises(PySparkException) as caught:
        spark.sql(statement.format(t="lake.db.mistakes"))
    assert caught.value.getCondition() == condition
    assert "__lakebed" not in str(caught.value)


def test_a_key_column_is_not_updated(spark: SparkSession) -> None:
    spark.sql(
        "CREATE TABLE lake.db.keys (id INT NOT NULL, v INT) USING paimon"
        " TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1')"
    )
    for statement in (
        "UPDATE lake.db.keys SET id = 1",
        (
            "MERGE INTO lake.db.keys t USING changes s ON t.v = s.id"
            " WHEN MATCHED THEN UPDATE SET id = 1"
        ),
    ):
        with pytest.raises(AnalysisException, match="part of the primary key"):
            spark.sql(statement)


def test_a_merge_with_an_open_transaction_of_others_is_refused_and_loses_nothing(
    spark: SparkSession,
) -> None:
    """Files that another commit took away while the merge was computed."""
    spark.sql("CREATE TABLE lake.db.raced (id INT, v INT) USING paimon")
    spark.sql("INSERT INTO lake.db.raced VALUES (1, 1), (2, 2)")
    lake = find_lake(spark)
    assert lake is not None
    name = lake.resolve(("lake", "db", "raced"))
    assert name is not None
    changed = ChangedTable.of(lake, lake.load(name))
    found = changed.frame(["id", "v"]).where("id = 1")
    spark.sql("DELETE FROM lake.db.raced WHERE id = 1")
    with pytest.raises(AnalysisException) as caught:
        changed.commit(None, [found], operation=Operation.DELETE)
    assert caught.value.getCondition() == "LAKEBED_COMMIT_CONFLICT"
    assert rows(spark, "lake.db.raced") == [(2, 2)]


def test_a_source_whose_rows_differ_each_time_is_computed_once(spark: SparkSession) -> None:
    spark.sql("DROP TABLE IF EXISTS lake.db.drawn")
    spark.sql(
        "CREATE TABLE lake.db.drawn (id INT NOT NULL, total INT) USING paimon"
        " TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1')"
    )
    spark.sql("INSERT INTO lake.db.drawn SELECT CAST(id AS INT), 0 FROM range(2000)")
    drawn = F.udf(lambda: random.randrange(2), "int").asNondeterministic()
    source = spark.range(1000).select((F.col("id").cast("int") + 1000 * drawn()).alias("id"))
    source.createOrReplaceTempView("drawn_ids")
    spark.sql("""
        MERGE INTO lake.db.drawn t USING drawn_ids s ON t.id = s.id
        WHEN MATCHED THEN UPDATE SET total = t.total + 1
        WHEN NOT MATCHED THEN INSERT (id, total) VALUES (s.id, 100)
    """)
    found = spark.sql("SELECT total, count(*) FROM lake.db.drawn GROUP BY total").collect()
    assert sorted(map(tuple, found)) == [(0, 1000), (1, 1000)]


_PUTS = "INSERT (id, note, total) VALUES (s.id, s.text, s.more)"


@pytest.mark.parametrize(
    ("update", "insert", "is_upsert"),
    [
        ("t.total = s.more, note = s.text", _PUTS, True),
        ("t.id = s.id, total = s.more, t.note = s.`text`", _PUTS, True),
        ("total = s.more", _PUTS, False),
        ("total = s.more + 0, note = s.text", _PUTS, False),
        ("total = s.more, note = t.note", _PUTS, False),
        ("total = s.more, note = s.text", "INSERT (id, total) VALUES (s.id, s.more)", False),
        ("total = s.more, note = s.text", _PUTS.replace("s.more", "s.id"), False),
    ],
)
def test_a_merge_that_names_all_columns_puts_rows_without_reading_the_table(
    spark: SparkSession, update: str, insert: str, *, is_upsert: bool
) -> None:
    spark.sql("DROP TABLE IF EXISTS lake.db.put")
    spark.sql(
        "CREATE TABLE lake.db.put (id INT NOT NULL, total INT, note STRING) USING paimon"
        " TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1', 'write-only' = 'true')"
    )
    spark.sql("INSERT INTO lake.db.put VALUES (1, 10, 'a'), (2, 20, 'b')")
    hidden = [Path(path) for path in data_files(spark, "lake.db.put")]
    merge = f"""
        MERGE INTO lake.db.put t USING (SELECT 2 AS id, 5 AS more, 'x' AS text) s ON s.id = t.id
        WHEN MATCHED THEN UPDATE SET {update} WHEN NOT MATCHED THEN {insert}
    """
    for path in hidden:
        path.rename(path.with_suffix(".hidden"))
    if is_upsert:
        spark.sql(merge)
    else:
        with pytest.raises(Exception, match="parquet"):
            spark.sql(merge)
    for path in hidden:
        path.with_suffix(".hidden").rename(path)
    expected = [(1, 10, "a"), (2, 5, "x") if is_upsert else (2, 20, "b")]
    assert rows(spark, "lake.db.put") == expected


@pytest.mark.parametrize("updates", [True, False])
def test_of_the_table_only_what_the_source_can_meet_is_read(
    spark: SparkSession, *, updates: bool
) -> None:
    spark.sql("DROP TABLE IF EXISTS lake.db.by_day")
    spark.sql(
        "CREATE TABLE lake.db.by_day (id INT NOT NULL, total INT, day STRING NOT NULL) USING paimon"
        " PARTITIONED BY (day) TBLPROPERTIES ('primary-key' = 'id,day', 'bucket' = '1')"
    )
    for day in ("d1", "d2", "d3"):
        spark.sql(f"INSERT INTO lake.db.by_day VALUES (1, 10, '{day}'), (2, 20, '{day}')")
    location = spark.sql("SHOW TBLPROPERTIES lake.db.by_day ('path')").collect()[0].value
    for day in ("d1", "d3"):
        for path in Path(urlparse(location).path).glob(f"day={day}/bucket-0/*.parquet"):
            path.rename(path.with_suffix(".hidden"))
    spark.sql(f"""
        MERGE INTO lake.db.by_day t
        USING (SELECT * FROM VALUES (2, 'd2'), (3, 'd2') AS (id, day)) s
        ON t.id = s.id AND t.day = s.day
        {"WHEN MATCHED THEN UPDATE SET total = t.total + 1" if updates else ""}
        WHEN NOT MATCHED THEN INSERT (id, total, day) VALUES (s.id, 0, s.day)
    """)
    assert rows(spark, "lake.db.by_day WHERE day = 'd2'") == [
        (1, 10, "d2"),
        (2, 21 if updates else 20, "d2"),
        (3, 0, "d2"),
    ]
