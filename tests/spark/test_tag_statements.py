"""Tags by ALTER TABLE and SHOW TAGS.

What is expected is what Paimon's own tests of its Spark connector expect (`PaimonTagDdlTestBase`,
snapshot of 2026), but where a test says otherwise.
"""

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def tags(spark: SparkSession) -> str:
    """A table with the snapshots 1, 2 and 3, without a tag."""
    spark.sql("DROP TABLE IF EXISTS lake.db.tagged")
    spark.sql("CREATE TABLE lake.db.tagged (id INT, name STRING)")
    for each in (1, 2, 3):
        spark.sql(f"INSERT INTO lake.db.tagged VALUES ({each}, 'a')")
    return "lake.db.tagged"


def system(table: str, kind: str) -> str:
    head, _, name = table.rpartition(".")
    return f"{head}.`{name}${kind}`"


def shown(spark: SparkSession, table: str) -> list[str]:
    return [row.tag for row in spark.sql(f"SHOW TAGS {table}").collect()]


def known(spark: SparkSession, table: str) -> dict[str, tuple[int, str | None]]:
    found = spark.sql(f"SELECT tag_name, snapshot_id, time_retained FROM {system(table, 'tags')}")
    return {row.tag_name: (row.snapshot_id, row.time_retained) for row in found.collect()}


def condition(spark: SparkSession, statement: str) -> str | None:
    with pytest.raises(AnalysisException) as caught:
        spark.sql(statement)
    return caught.value.getCondition()


def test_show_tags_lists_names_in_order(spark: SparkSession, tags: str) -> None:
    assert shown(spark, tags) == []
    for day in (12, 11, 13):
        spark.sql(f"ALTER TABLE {tags} CREATE TAG `2024-10-{day}`")
    answer = spark.sql(f"SHOW TAGS {tags}")
    assert answer.columns == ["tag"]
    assert [row.tag for row in answer.collect()] == ["2024-10-11", "2024-10-12", "2024-10-13"]


def test_create_tag_names_a_snapshot_for_a_time(spark: SparkSession, tags: str) -> None:
    answer = spark.sql(f"ALTER TABLE {tags} CREATE TAG `tag-1`")
    assert answer.collect() == []
    spark.sql(f"ALTER TABLE {tags} CREATE TAG `tag-2` RETAIN 2 DAYS")
    spark.sql(f"ALTER TABLE {tags} CREATE TAG `tag-3` AS OF VERSION 1")
    spark.sql(f"ALTER TABLE {tags} CREATE TAG `tag-4` AS OF VERSION 2 RETAIN 30 MINUTES")
    expected = {
        "tag-1": (3, None),
        "tag-2": (3, "PT48H"),
        "tag-3": (1, None),
        "tag-4": (2, "PT30M"),
    }
    assert known(spark, tags) == expected
    spark.sql(f"ALTER TABLE {tags} CREATE TAG IF NOT EXISTS `tag-1` RETAIN 10 HOURS")
    assert known(spark, tags) == expected
    assert spark.sql(f"SELECT id FROM {tags} VERSION AS OF 'tag-3'").collect()[0].id == 1


def test_replace_tag_changes_snapshot_and_time_or_makes_the_tag(
    spark: SparkSession, tags: str
) -> None:
    spark.sql(f"ALTER TABLE {tags} CREATE TAG a AS OF VERSION 1")
    spark.sql(f"ALTER TABLE {tags} REPLACE TAG a AS OF VERSION 2 RETAIN 1 HOURS")
    assert known(spark, tags) == {"a": (2, "PT1H")}
    spark.sql(f"ALTER TABLE {tags} CREATE OR REPLACE TAG b AS OF VERSION 1")
    spark.sql(f"ALTER TABLE {tags} CREATE OR REPLACE TAG b AS OF VERSION 2 RETAIN 1 HOURS")
    # Neither Paimon's code nor ours asks for CREATE here.
    spark.sql(f"ALTER TABLE {tags} REPLACE TAG c AS OF VERSION 3")
    assert known(spark, tags) == {"a": (2, "PT1H"), "b": (2, "PT1H"), "c": (3, None)}


def test_delete_tag_takes_several_and_passes_over_names_of_none(
    spark: SparkSession, tags: str
) -> None:
    for name in ("a", "b", "c", "d", "e"):
        spark.sql(f"ALTER TABLE {tags} CREATE TAG {name}")
    spark.sql(f"ALTER TABLE {tags} DELETE TAG a")
    spark.sql(f"ALTER TABLE {tags} DELETE TAG `b, c`")
    assert shown(spark, tags) == ["d", "e"]
    spark.sql(f"ALTER TABLE {tags} DELETE TAG IF EXISTS a, d")
    spark.sql(f"ALTER TABLE {tags} DELETE TAG a")
    assert shown(spark, tags) == ["e"]


def test_rename_tag_gives_another_name(spark: SparkSession, tags: str) -> None:
    spark.sql(f"ALTER TABLE {tags} CREATE TAG a AS OF VERSION 2")
    spark.sql(f"ALTER TABLE {tags} RENAME TAG a TO b")
    assert known(spark, tags) == {"b": (2, None)}
    spark.sql(f"ALTER TABLE {tags} RENAME TAG IF EXISTS a TO c")
    assert known(spark, tags) == {"b": (2, None)}


def test_tags_of_a_branch_are_its_own(spark: SparkSession, tags: str) -> None:
    spark.sql(f"ALTER TABLE {tags} CREATE TAG a AS OF VERSION 2")
    spark.sql("CALL lake.sys.create_branch(table => 'db.tagged', branch => 'dev', tag => 'a')")
    branch = system(tags, "branch_dev")
    spark.sql(f"ALTER TABLE {branch} CREATE TAG only_here")
    assert "only_here" in shown(spark, branch)
    assert shown(spark, tags) == ["a"]


def test_a_current_catalog_needs_no_longer_name(spark: SparkSession, tags: str) -> None:
    spark.sql("USE lake.db")
    try:
        spark.sql("ALTER TABLE tagged CREATE TAG short")
        assert shown(spark, "tagged") == ["short"]
    finally:
        spark.sql("USE spark_catalog.default")
    assert shown(spark, tags) == ["short"]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("ALTER TABLE {t} CREATE TAG a", "LAKEBED_ALREADY_EXISTS"),
        ("ALTER TABLE {t} CREATE TAG b AS OF VERSION 99", "LAKEBED_NOT_FOUND"),
        ("ALTER TABLE {t} CREATE TAG `a/b`", "LAKEBED_INVALID_ARGUMENT"),
        ("ALTER TABLE {t} CREATE TAG b RETAIN 99999999999 DAYS", "LAKEBED_INVALID_ARGUMENT"),
        ("ALTER TABLE {t} REPLACE TAG a AS OF VERSION 99", "LAKEBED_NOT_FOUND"),
        ("ALTER TABLE {t} RENAME TAG b TO c", "LAKEBED_NOT_FOUND"),
        ("ALTER TABLE {t} DELETE TAG ` `", "LAKEBED_INVALID_ARGUMENT"),
        ("ALTER TABLE {t$files} CREATE TAG b", "LAKEBED_UNSUPPORTED"),
        ("SHOW TAGS {t$files}", "LAKEBED_UNSUPPORTED"),
        ("ALTER TABLE lake.db.nope CREATE TAG a", "TABLE_OR_VIEW_NOT_FOUND"),
        ("SHOW TAGS lake.db.nope", "TABLE_OR_VIEW_NOT_FOUND"),
        ("SHOW TAGS lake.db.nope x", "PARSE_SYNTAX_ERROR"),
    ],
)
def test_mistakes_change_no_tag(
    spark: SparkSession, tags: str, *, statement: str, expected: str
) -> None:
    spark.sql(f"ALTER TABLE {tags} CREATE TAG a AS OF VERSION 1")
    assert (
        condition(spark, statement.format_map({"t": tags, "t$files": system(tags, "files")}))
        == expected
    )
    assert known(spark, tags) == {"a": (1, None)}


def test_statements_about_tables_of_spark_are_for_spark(spark: SparkSession) -> None:
    spark.sql("USE lake.db")
    try:
        spark.sql("CREATE TABLE spark_catalog.default.untagged (a INT) USING parquet")
        statement = "ALTER TABLE spark_catalog.default.untagged CREATE TAG a"
        assert condition(spark, statement) == "PARSE_SYNTAX_ERROR"
    finally:
        spark.sql("DROP TABLE IF EXISTS spark_catalog.default.untagged")
        spark.sql("USE spark_catalog.default")
