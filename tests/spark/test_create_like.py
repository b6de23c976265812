"""CREATE TABLE ... LIKE, which the tests of Paimon's Spark connector have too (`DDLTestBase`)."""

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

import lakebed

pytestmark = pytest.mark.spark


@pytest.fixture
def source(spark: SparkSession) -> str:
    """A table with a row."""
    spark.sql("DROP TABLE IF EXISTS lake.db.source")
    spark.sql("""
        CREATE TABLE lake.db.source (id INT, name STRING COMMENT 'name column', pt STRING)
        COMMENT 'source comment' PARTITIONED BY (pt)
        TBLPROPERTIES ('primary-key' = 'id,pt', 'bucket' = '5', 'target-file-size' = '128 mb')
    """)
    spark.sql("INSERT INTO lake.db.source VALUES (1, 'a', 'p')")
    return "lake.db.source"


def definition(spark: SparkSession, table: str) -> str:
    return str(spark.sql(f"SHOW CREATE TABLE {table}").collect()[0].createtab_stmt)


def test_a_table_is_like_another_in_all_but_rows(spark: SparkSession, source: str) -> None:
    answer = spark.sql(f"CREATE TABLE lake.db.alike LIKE {source} TBLPROPERTIES ('bucket' = '8')")
    assert answer.collect() == []
    expected = definition(spark, source).replace("source (", "alike (").replace("'5'", "'8'")
    assert definition(spark, "lake.db.alike") == expected
    assert "COMMENT 'source comment'" in expected
    assert spark.table("lake.db.alike").count() == 0


def test_a_table_that_is_there_stays_where_that_is_fine(spark: SparkSession, source: str) -> None:
    spark.sql("CREATE TABLE lake.db.former (id BIGINT)")
    before = definition(spark, "lake.db.former")
    spark.sql(f"CREATE TABLE IF NOT EXISTS lake.db.former LIKE {source} USING paimon")
    assert definition(spark, "lake.db.former") == before


def test_a_table_is_like_a_branch(spark: SparkSession, source: str) -> None:
    spark.sql("CALL lake.sys.create_branch(table => 'db.source', branch => 'dev')")
    spark.sql("CREATE TABLE lake.db.of_branch LIKE lake.db.`source$branch_dev`")
    expected = definition(spark, source).replace("source (", "of_branch (")
    assert definition(spark, "lake.db.of_branch") == expected


def test_properties_may_give_another_key_and_comment(spark: SparkSession, source: str) -> None:
    given = "'primary-key' = 'pt, id, name', 'comment' = 'other'"
    spark.sql(f"CREATE TABLE lake.db.keyed LIKE {source} TBLPROPERTIES ({given})")
    text = definition(spark, "lake.db.keyed")
    assert "'primary-key' = 'pt,id,name'" in text
    assert "COMMENT 'other'\n" in text


def test_types_that_spark_lacks_are_kept(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.seed (id INT)")
    path = spark.sql("SHOW TBLPROPERTIES lake.db.seed ('path')").collect()[0].value
    catalog = lakebed.load_catalog(warehouse=path.removesuffix("/db.db/seed"))
    schema = lakebed.schema(
        [("id", "INT"), ("t", "TIME(3)"), ("s", "TIMESTAMP(3)", {"default": "2024-01-01"})]
    )
    exact = catalog.create_table("db.exact", schema=schema)
    spark.sql("CREATE TABLE lake.db.exact2 LIKE lake.db.exact")
    assert catalog.load_table("db.exact2").schema.fields == exact.schema.fields
    information = spark.sql("SHOW TABLE EXTENDED IN lake.db LIKE 'exact2'").collect()[0][3]
    assert " |-- t: time(3) (nullable = true)" in information


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("CREATE TABLE {t} LIKE {t}", "TABLE_OR_VIEW_ALREADY_EXISTS"),
        ("CREATE TABLE lake.db.new LIKE lake.db.nope", "TABLE_OR_VIEW_NOT_FOUND"),
        ("CREATE TABLE lake.db.new LIKE {t} USING csv", "UNSUPPORTED_FEATURE.TABLE_OPERATION"),
        ("CREATE TABLE lake.db.new LIKE {t} LOCATION 'x'", "UNSUPPORTED_FEATURE.TABLE_OPERATION"),
        (
            "CREATE TABLE lake.db.new LIKE spark_catalog.default.x",
            "UNSUPPORTED_FEATURE.TABLE_OPERATION",
        ),
        (
            "CREATE TABLE spark_catalog.default.new LIKE {t}",
            "UNSUPPORTED_FEATURE.TABLE_OPERATION",
        ),
    ],
)
def test_mistakes_make_no_table(
    spark: SparkSession, source: str, *, statement: str, expected: str
) -> None:
    with pytest.raises(AnalysisException) as caught:
        spark.sql(statement.format(t=source))
    assert caught.value.getCondition() == expected
    assert not spark.catalog.tableExists("lake.db.new")
