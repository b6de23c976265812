"""UPDATE and MERGE of fields inside columns, and of columns that only one side has."""

from collections.abc import Iterator

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import Row, SparkSession

pytestmark = pytest.mark.spark

KINDS = {"keyed": "'primary-key' = 'id', 'bucket' = '1'", "append": "'bucket' = '-1'"}
EVOLVES = "spark.paimon.write.merge-schema"
Rows = list[tuple[object, ...]]


@pytest.fixture(params=KINDS)
def target(request: pytest.FixtureRequest, spark: SparkSession) -> str:
    name = f"lake.db.nested_{request.param}"
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    spark.sql(f"""
        CREATE TABLE {name} (id INT NOT NULL, s STRUCT<c1: INT, c2: STRING, d: STRUCT<e: INT>>,
        note STRING DEFAULT 'none') TBLPROPERTIES ({KINDS[request.param]})
    """)
    spark.sql(f"""
        INSERT INTO {name} VALUES
        (1, named_struct('c1', 10, 'c2', 'a', 'd', named_struct('e', 100)), 'one'), (2, NULL, 'two')
    """)
    return name


@pytest.fixture
def evolving(spark: SparkSession) -> Iterator[None]:
    spark.conf.set(EVOLVES, "true")
    yield
    spark.conf.unset(EVOLVES)


def rows(spark: SparkSession, name: str) -> Rows:
    return [tuple(map(plain, row)) for row in spark.table(name).orderBy("id").collect()]


def plain(value: object) -> object:
    return tuple(map(plain, value)) if isinstance(value, Row) else value


def test_fields_are_assigned_and_the_others_stay(spark: SparkSession, target: str) -> None:
    spark.sql(f"UPDATE {target} SET s.c2 = 'new', s.D.e = s.d.e + 1, note = s.c2 WHERE s.c1 = 10")
    assert rows(spark, target)[0] == (1, (10, "new", (101,)), "a")
    spark.sql(f"UPDATE {target} AS t SET t.s.c1 = 7")
    assert rows(spark, target) == [
        (1, (7, "new", (101,)), "a"),
        (2, (7, None, None), "two"),
    ]


def test_a_merge_assigns_fields(spark: SparkSession, target: str) -> None:
    spark.sql(f"""
        MERGE INTO {target} t USING (SELECT 1 AS id, 5 AS n) s ON t.id = s.id
        WHEN MATCHED THEN UPDATE SET s.d.e = s.n, t.note = 'x'
    """)
    assert rows(spark, target)[0] == (1, (10, "a", (5,)), "x")


def test_fields_of_a_new_value_go_by_name(spark: SparkSession, target: str) -> None:
    value = "named_struct('d', named_struct('e', 3L), 'c2', 'b', 'c1', 2)"
    spark.sql(f"UPDATE {target} SET s = {value} WHERE id = 1")
    assert rows(spark, target)[0] == (1, (2, "b", (3,)), "one")
    source = "named_struct('c2', 'c', 'd', named_struct('e', 4), 'c1', 9)"
    spark.sql(f"""
        MERGE INTO {target} t USING (SELECT 3 AS id, {source} AS s, 'three' AS note) n
        ON t.id = n.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *
    """)
    assert rows(spark, target)[2] == (3, (9, "c", (4,)), "three")


@pytest.mark.parametrize(
    ("assignments", "condition"),
    [
        ("s.nothing = 1", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ("note.c1 = 1", r"LAKEBED_INVALID_ARGUMENT.*no STRUCT"),
        ("s.c1 = 1, s.C1 = 2", r"LAKEBED_INVALID_ARGUMENT.*more than once"),
        ("s.c1 = 1, s = NULL", r"LAKEBED_INVALID_ARGUMENT.*more than once"),
        ("s = NULL, s.d.e = 1", r"LAKEBED_INVALID_ARGUMENT.*more than once"),
        ("s.c1 = 'x', s.d = 5", "CANNOT_SAFELY_CAST"),
        ("s = named_struct('c1', 1)", "STRUCT_MISSING_FIELDS"),
    ],
)
def test_assignments_that_cannot_be_change_nothing(
    spark: SparkSession, target: str, *, assignments: str, condition: str
) -> None:
    before = rows(spark, target)
    with pytest.raises(AnalysisException, match=condition):
        spark.sql(f"UPDATE {target} SET {assignments}")
    assert rows(spark, target) == before


SOURCE = """
    (SELECT * FROM VALUES (1, named_struct('c2', 'n', 'f', 1.5D), 'x'),
    (5, named_struct('c2', 'm', 'f', 2.5D), 'y') AS (id, s, extra)) n
"""
STARS = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"


@pytest.mark.parametrize("way", ["statement", "setting"])
def test_a_merge_may_bring_columns_and_leave_out_others(
    spark: SparkSession, target: str, *, way: str
) -> None:
    clause = "WITH SCHEMA EVOLUTION " if way == "statement" else ""
    if way == "setting":
        spark.conf.set(EVOLVES, "true")
    try:
        spark.sql(f"MERGE {clause}INTO {target} t USING {SOURCE} ON t.id = n.id {STARS}")
    finally:
        spark.conf.unset(EVOLVES)
    assert spark.table(target).columns == ["id", "s", "note", "extra"]
    assert rows(spark, target) == [
        (1, (10, "n", (100,), 1.5), "one", "x"),
        (2, None, "two", None),
        (5, (None, "m", None, 2.5), "none", "y"),
    ]


def test_without_leave_a_merge_changes_no_schema(spark: SparkSession, target: str) -> None:
    before = rows(spark, target)
    with pytest.raises(AnalysisException, match=r"UNRESOLVED_COLUMN\.WITH_SUGGESTION.*note"):
        spark.sql(f"MERGE INTO {target} t USING {SOURCE} ON t.id = n.id {STARS}")
    source = "(SELECT 1 AS id, CAST(NULL AS STRUCT<c1: INT>) AS s, 'x' AS note, 0 AS extra) n"
    with pytest.raises(AnalysisException, match="STRUCT_MISSING_FIELDS"):
        spark.sql(f"MERGE INTO {target} t USING {source} ON t.id = n.id {STARS}")
    assert rows(spark, target) == before
    assert spark.table(target).columns == ["id", "s", "note"]


@pytest.mark.usefixtures("evolving")
def test_a_merge_without_stars_changes_no_schema(spark: SparkSession, target: str) -> None:
    spark.sql(f"""
        MERGE INTO {target} t USING {SOURCE} ON t.id = n.id
        WHEN MATCHED THEN UPDATE SET note = extra WHEN NOT MATCHED THEN INSERT (id) VALUES (n.id)
    """)
    assert spark.table(target).columns == ["id", "s", "note"]
    assert [(row[0], row[2]) for row in rows(spark, target)] == [(1, "x"), (2, "two"), (5, "none")]
