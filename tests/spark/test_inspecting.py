"""Statements that tell what is there, on tables of an attached catalog.

Where a test says so, the expected rows are those that Paimon's own connector 0.9.0 on Spark 3.5
printed for the same statements (`tools/peers/paimon_spark.py` runs it), the rest those of Spark 4
for tables of its own.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

import lakebed
from lakebed.errors import InvalidArgumentError

pytestmark = pytest.mark.spark

ORDERS = r"""
CREATE TABLE lake.db.orders (id BIGINT NOT NULL COMMENT 'it\'s key', total DOUBLE,
note STRING COMMENT 'free text', c CHAR(3), v VARCHAR(5), `odd name` DECIMAL(10,2), dt STRING,
hh INT) USING paimon PARTITIONED BY (dt, hh) COMMENT 'orders'
TBLPROPERTIES ('primary-key' = 'id,dt,hh', 'bucket' = '2')
"""
COLUMNS = ["id", "total", "note", "c", "v", "odd name", "dt", "hh"]
DESCRIBED = [
    ("id", "bigint", "it's key"),
    ("total", "double", None),
    ("note", "string", "free text"),
    ("c", "char(3)", None),
    ("v", "varchar(5)", None),
    ("odd name", "decimal(10,2)", None),
    ("dt", "string", None),
    ("hh", "int", None),
    ("# Partition Information", "", ""),
    ("# col_name", "data_type", "comment"),
    ("dt", "string", None),
    ("hh", "int", None),
]
# As Paimon's connector prints it, less its property `path`: with that, a second table would lie
# where the first one does.
DEFINITION = r"""CREATE TABLE lake.db.orders (
  id BIGINT NOT NULL COMMENT 'it\'s key',
  total DOUBLE,
  note STRING COMMENT 'free text',
  c CHAR(3),
  v VARCHAR(5),
  `odd name` DECIMAL(10,2),
  dt STRING NOT NULL,
  hh INT NOT NULL)
USING paimon
PARTITIONED BY (dt, hh)
COMMENT 'orders'
TBLPROPERTIES (
  'bucket' = '2',
  'primary-key' = 'id,dt,hh')
"""


@pytest.fixture
def orders(spark: SparkSession) -> str:
    """A table with three partitions, of a row each."""
    spark.sql("DROP TABLE IF EXISTS lake.db.orders")
    spark.sql(ORDERS)
    spark.sql("""
        INSERT INTO lake.db.orders VALUES (1, 1.5, 'a', 'abc', 'v', 1.0, 'x', 1),
        (2, 2.5, 'b', 'abc', 'v', 1.0, 'x', 2), (3, 2.5, 'b', 'abc', 'v', 1.0, 'y', 1)
    """)
    return "lake.db.orders"


@pytest.fixture
def lake_is_current(spark: SparkSession) -> Iterator[None]:
    """Names of one part mean tables of `lake.db`."""
    spark.sql("USE lake.db")
    yield
    spark.sql("USE spark_catalog.default")


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in frame.collect()]


def partitions(spark: SparkSession, table: str, spec: str = "") -> list[str]:
    return [row.partition for row in spark.sql(f"SHOW PARTITIONS {table} {spec}").collect()]


def condition(spark: SparkSession, statement: str) -> str | None:
    with pytest.raises(AnalysisException) as caught:
        spark.sql(statement)
    return caught.value.getCondition()


def test_show_tblproperties_has_options_key_and_path(spark: SparkSession, orders: str) -> None:
    # The keys are those of Paimon's connector.
    answer = spark.sql(f"SHOW TBLPROPERTIES {orders}")
    assert answer.columns == ["key", "value"]
    found = dict(rows(answer))
    assert str(found.pop("path")).endswith("/db.db/orders")
    assert found == {"bucket": "2", "primary-key": "id,dt,hh"}
    assert rows(spark.sql(f"SHOW TBLPROPERTIES {orders} ('bucket')")) == [("bucket", "2")]
    missing = "Table lake.db.orders does not have property: nope.x"
    assert rows(spark.sql(f"SHOW TBLPROPERTIES {orders} (nope.x)")) == [("nope.x", missing)]


def test_properties_that_spark_takes_for_secrets_cannot_be_read(
    spark: SparkSession, orders: str
) -> None:
    spark.conf.set("spark.sql.redaction.options.regex", "(?i)bucket")
    try:
        found = dict(rows(spark.sql(f"SHOW TBLPROPERTIES {orders}")))
        text = spark.sql(f"SHOW CREATE TABLE {orders}").collect()[0].createtab_stmt
    finally:
        spark.conf.unset("spark.sql.redaction.options.regex")
    assert found["bucket"] == "*********(redacted)"
    assert "'bucket' = '*********(redacted)'" in text


def test_a_pattern_of_secrets_that_python_lacks_shows_nothing(
    spark: SparkSession, orders: str
) -> None:
    spark.conf.set("spark.sql.redaction.options.regex", "url(?i)")
    try:
        with pytest.raises(InvalidArgumentError, match="put flags in front"):
            spark.sql(f"SHOW TBLPROPERTIES {orders}")
    finally:
        spark.conf.unset("spark.sql.redaction.options.regex")


def test_show_create_table_is_laid_out_as_by_spark(spark: SparkSession, orders: str) -> None:
    answer = spark.sql(f"SHOW CREATE TABLE {orders}")
    assert answer.columns == ["createtab_stmt"]
    assert rows(answer) == [(DEFINITION,)]


def test_the_text_of_show_create_table_makes_an_equal_table(spark: SparkSession) -> None:
    spark.sql(r"""
        CREATE TABLE lake.db.`first one` (`a b` INT NOT NULL COMMENT 'it\'s a \\ and\na line',
        `select` STRUCT<x: INT NOT NULL COMMENT 'in', `y z`: ARRAY<VARCHAR(4)>>,
        m MAP<STRING, DECIMAL(5, 1)>, t TIMESTAMP, n TIMESTAMP_NTZ, b BINARY, v VARIANT, `1` DATE,
        d1 INT NOT NULL DEFAULT -5 COMMENT 'five', d2 STRING DEFAULT 'it\'s',
        d3 BOOLEAN DEFAULT TRUE, d4 ARRAY<STRING> DEFAULT ARRAY('a', NULL, 'it\'s'))
        PARTITIONED BY (`1`) COMMENT 'a \'comment\'' TBLPROPERTIES ('target-file-size' = '64 mb')
    """)
    text = spark.sql("SHOW CREATE TABLE lake.db.`first one`").collect()[0][0]
    spark.sql(text.replace("`first one`", "again"))
    path = spark.sql("SHOW TBLPROPERTIES lake.db.again ('path')").collect()[0].value
    first = lakebed.load_table(path.removesuffix("again") + "first one").schema
    again = lakebed.load_table(path).schema
    assert again.fields == first.fields
    assert again.options == first.options
    assert (again.comment, again.partition_keys) == (first.comment, first.partition_keys)


def test_show_columns_names_them_in_order(spark: SparkSession, orders: str) -> None:
    answer = spark.sql(f"SHOW COLUMNS IN {orders}")
    assert answer.columns == ["col_name"]
    assert [row.col_name for row in answer.collect()] == COLUMNS
    for text in ("FROM orders FROM lake.db", f"IN {orders} IN lake.db", f"IN {orders} IN db"):
        assert [row.col_name for row in spark.sql(f"SHOW COLUMNS {text}").collect()] == COLUMNS


def test_show_partitions_lists_those_with_rows(spark: SparkSession, orders: str) -> None:
    # As Paimon's connector prints them; it looks for names in any case, too.
    assert spark.sql(f"SHOW PARTITIONS {orders}").columns == ["partition"]
    assert partitions(spark, orders) == ["dt=x/hh=1", "dt=x/hh=2", "dt=y/hh=1"]
    assert partitions(spark, orders, "PARTITION (dt = 'x')") == ["dt=x/hh=1", "dt=x/hh=2"]
    assert partitions(spark, orders, "PARTITION (HH = 1)") == ["dt=x/hh=1", "dt=y/hh=1"]
    assert partitions(spark, orders, "PARTITION (hh = '2', dt = 'x')") == ["dt=x/hh=2"]
    assert partitions(spark, orders, "PARTITION (dt = 'nope')") == []


def test_show_partitions_escapes_values_and_tells_nulls(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.days (id INT, day DATE, p STRING) PARTITIONED BY (day, p)")
    spark.sql("""
        INSERT INTO lake.db.days VALUES (1, DATE '2024-02-29', 'a/b=c'), (2, null, 'd')
    """)
    assert partitions(spark, "lake.db.days") == ["day=2024-02-29/p=a%2Fb%3Dc", "day=null/p=d"]
    found = partitions(spark, "lake.db.days", "PARTITION (day = DATE '2024-02-29')")
    assert found == ["day=2024-02-29/p=a%2Fb%3Dc"]
    assert partitions(spark, "lake.db.days", "PARTITION (day = null)") == ["day=null/p=d"]
    assert partitions(spark, "lake.db.days", "PARTITION (p = 'a/b=c')") == found


@pytest.mark.usefixtures("orders")
def test_show_table_extended_tells_of_tables(spark: SparkSession) -> None:
    # Paimon's connector 0.9.0 refuses it; these are the lines of Spark 4 for such catalogs.
    answer = spark.sql("SHOW TABLE EXTENDED IN lake.db LIKE 'order*|nope'")
    assert answer.columns == ["namespace", "tableName", "isTemporary", "information"]
    [(namespace, table, is_temporary, information)] = rows(answer)
    assert (namespace, table, is_temporary) == ("db", "orders", False)
    assert re.sub("(?m)^Location: .*/", "Location: ", str(information)).splitlines() == [
        "Catalog: lake",
        "Namespace: db",
        "Table: orders",
        "Type: MANAGED",
        "Comment: orders",
        "Location: orders",
        "Provider: paimon",
        "Table Properties: [bucket=2, primary-key=id,dt,hh]",
        "Partition Provider: Catalog",
        "Partition Columns: [`dt`, `hh`]",
        "Schema: root",
        " |-- id: long (nullable = false)",
        " |-- total: double (nullable = true)",
        " |-- note: string (nullable = true)",
        " |-- c: string (nullable = true)",
        " |-- v: string (nullable = true)",
        " |-- odd name: decimal(10,2) (nullable = true)",
        " |-- dt: string (nullable = false)",
        " |-- hh: integer (nullable = false)",
        "",
    ]


@pytest.mark.usefixtures("orders", "lake_is_current")
def test_show_table_extended_tells_of_a_partition(spark: SparkSession) -> None:
    # The lines of `PaimonShowTablePartitionCommand`, snapshot of 2026.
    shown = "SHOW TABLE EXTENDED LIKE 'orders' PARTITION (dt = 'x', hh = 2)"
    [(namespace, table, _, information)] = rows(spark.sql(shown))
    parameters = "{recordCount=1, fileSizeInBytes=N, fileCount=1, lastFileCreationTime=N}"
    assert (namespace, table) == ("db", "orders")
    assert re.sub("[0-9]{4,}", "N", str(information)).splitlines() == [
        "Partition Values: [dt=x, hh=2]",
        f"Partition Parameters: {parameters}",
        "Partition Statistics: 1 rows, N bytes",
    ]


def test_describe_of_a_column_has_type_and_comment(spark: SparkSession, orders: str) -> None:
    # As Paimon's connector prints them, with EXTENDED or without.
    answer = spark.sql(f"DESCRIBE {orders} NOTE")
    assert answer.columns == ["info_name", "info_value"]
    expected = [("col_name", "note"), ("data_type", "string"), ("comment", "free text")]
    assert rows(answer) == expected
    assert rows(spark.sql(f"DESC EXTENDED {orders} note")) == expected
    assert rows(spark.sql(f"DESC {orders} v"))[1:] == [
        ("data_type", "varchar(5)"),
        ("comment", "NULL"),
    ]


def test_describe_of_a_partition_has_what_is_in_it(spark: SparkSession, orders: str) -> None:
    # The columns are those that Paimon's connector prints of the table.
    assert rows(spark.sql(f"DESCRIBE {orders}")) == DESCRIBED
    assert rows(spark.sql(f"DESCRIBE {orders} PARTITION (dt = 'x', hh = 1)")) == DESCRIBED
    found = rows(spark.sql(f"DESCRIBE EXTENDED {orders} PARTITION (hh = 1, dt = 'x')"))
    details = found[found.index(("# Detailed Partition Information", "", "")) :]
    shown = {name: re.sub("[0-9]{3,}", "N", str(value)) for name, value, _ in details}
    assert re.fullmatch(r"[A-Z]\w\w [A-Z]\w\w \d\d .* UTC N", shown.pop("Created Time"))
    # In the form of `PaimonDescribeTableExec`, snapshot of 2026.
    assert shown == {
        "# Detailed Partition Information": "",
        "Database": "db",
        "Table": "orders",
        "Partition Values": "[dt=x, hh=1]",
        "Partition Parameters": (
            "{fileCount=1, fileSizeInBytes=N, lastFileCreationTime=N, recordCount=1}"
        ),
        "Last Access": "UNKNOWN",
        "Partition Statistics": "N bytes, 1 rows",
        "": "",
    }


def test_describe_database_names_it_and_its_catalog(spark: SparkSession) -> None:
    # As Paimon's connector prints it.
    expected = [("Catalog Name", "lake"), ("Namespace Name", "db")]
    answer = spark.sql("DESCRIBE DATABASE lake.db")
    assert answer.columns == ["info_name", "info_value"]
    assert rows(answer) == expected
    assert rows(spark.sql("DESC SCHEMA EXTENDED lake.db")) == [*expected, ("Properties", "")]


def test_show_catalogs_has_the_attached_ones_too(spark: SparkSession) -> None:
    answer = spark.sql("SHOW CATALOGS")
    assert answer.columns == ["catalog"]
    assert rows(answer) == [("lake",), ("spark_catalog",)]
    assert rows(spark.sql("show catalogs like 'la*'")) == [("lake",)]


def test_show_current_namespace_follows_use(spark: SparkSession) -> None:
    assert rows(spark.sql("SHOW CURRENT NAMESPACE")) == [("spark_catalog", "default")]
    spark.sql("USE lake.db")
    try:
        answer = spark.sql("SHOW CURRENT NAMESPACE")
        assert answer.columns == ["catalog", "namespace"]
        assert rows(answer) == [("lake", "db")]
    finally:
        spark.sql("USE spark_catalog.default")


def test_show_views_finds_none(spark: SparkSession) -> None:
    answer = spark.sql("SHOW VIEWS IN lake.db LIKE '*'")
    assert answer.columns == ["namespace", "viewName", "isTemporary"]
    assert rows(answer) == []


def test_refresh_table_succeeds_for_a_table(spark: SparkSession, orders: str) -> None:
    assert rows(spark.sql(f"REFRESH TABLE {orders}")) == []


def test_truncate_table_empties_it_or_partitions(spark: SparkSession, orders: str) -> None:
    # The same partitions go with Paimon's connector; one that is not there is no error with it.
    spark.sql(f"TRUNCATE TABLE {orders} PARTITION (dt = 'nope', hh = 1)")
    spark.sql(f"TRUNCATE TABLE {orders} PARTITION (dt = 'x', hh = 1)")
    assert partitions(spark, orders) == ["dt=x/hh=2", "dt=y/hh=1"]
    spark.sql(f"TRUNCATE TABLE {orders} PARTITION (DT = 'x')")
    assert partitions(spark, orders) == ["dt=y/hh=1"]
    assert rows(spark.sql(f"TRUNCATE TABLE {orders}")) == []
    assert partitions(spark, orders) == []
    assert spark.table(orders).count() == 0
    assert spark.sql(f"SELECT count(*) FROM {orders} VERSION AS OF 1").collect()[0][0] == 3


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SHOW PARTITIONS {t} PARTITION (note = 'a')", "PARTITIONS_NOT_FOUND"),
        ("SHOW PARTITIONS {t} PARTITION (nope = 1)", "PARTITIONS_NOT_FOUND"),
        ("SHOW PARTITIONS {t} PARTITION (hh = 'z')", "INVALID_PARTITION_VALUE"),
        (
            "SHOW PARTITIONS {t$files}",
            "INVALID_PARTITION_OPERATION.PARTITION_SCHEMA_IS_EMPTY",
        ),
        ("SHOW COLUMNS IN {t} IN other", "SHOW_COLUMNS_WITH_CONFLICT_NAMESPACE"),
        ("SHOW TABLE EXTENDED IN lake.nope LIKE '*'", "SCHEMA_NOT_FOUND"),
        (
            "SHOW TABLE EXTENDED IN lake.db LIKE 'orders' PARTITION (dt = 'x')",
            "_LEGACY_ERROR_TEMP_1232",
        ),
        (
            "SHOW TABLE EXTENDED IN lake.db LIKE 'orders' PARTITION (dt = 'x', hh = 9)",
            "PARTITIONS_NOT_FOUND",
        ),
        (
            "SHOW TABLE EXTENDED IN lake.db LIKE 'other' PARTITION (dt = 'x', hh = 1)",
            "TABLE_OR_VIEW_NOT_FOUND",
        ),
        ("SHOW CREATE TABLE {t} AS SERDE", "UNSUPPORTED_FEATURE.TABLE_OPERATION"),
        ("SHOW VIEWS IN lake.nope", "SCHEMA_NOT_FOUND"),
        ("DESCRIBE {t} nope", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ("DESCRIBE {t} id.x", "UNSUPPORTED_FEATURE.TABLE_OPERATION"),
        ("DESCRIBE {t} PARTITION (dt = 'nope', hh = 1)", "PARTITIONS_NOT_FOUND"),
        ("DESCRIBE {t} PARTITION (dt = 'x')", "_LEGACY_ERROR_TEMP_1232"),
        ("DESCRIBE DATABASE lake.nope", "SCHEMA_NOT_FOUND"),
        ("TRUNCATE TABLE {t} PARTITION (nope = 1)", "PARTITIONS_NOT_FOUND"),
        ("TRUNCATE TABLE {t$files}", "LAKEBED_UNSUPPORTED"),
        *(
            (f"{statement} lake.db.nope", "TABLE_OR_VIEW_NOT_FOUND")
            for statement in (
                "SHOW TBLPROPERTIES",
                "SHOW CREATE TABLE",
                "SHOW COLUMNS IN",
                "SHOW PARTITIONS",
                "REFRESH TABLE",
                "TRUNCATE TABLE",
            )
        ),
    ],
)
def test_mistakes_have_the_conditions_of_spark(
    spark: SparkSession, orders: str, *, statement: str, expected: str
) -> None:
    names = {"t": orders, "t$files": "lake.db.`orders$files`"}
    assert condition(spark, statement.format_map(names)) == expected
    assert len(partitions(spark, orders)) == 3


@pytest.mark.usefixtures("orders", "lake_is_current")
def test_statements_about_tables_of_spark_are_for_spark(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE spark_catalog.default.own (a INT, p INT) USING parquet"
              " PARTITIONED BY (p)")  # fmt: skip
    try:
        spark.sql("INSERT INTO spark_catalog.default.own SELECT CAST(id AS INT), 1 FROM orders")
        name = "spark_catalog.default.own"
        assert rows(spark.sql(f"SHOW COLUMNS FROM {name}")) == [("a",), ("p",)]
        assert rows(spark.sql(f"SHOW PARTITIONS {name}")) == [("p=1",)]
        assert rows(spark.sql(f"DESCRIBE {name} a"))[0] == ("col_name", "a")
        shown = spark.sql("SHOW TABLE EXTENDED IN spark_catalog.default LIKE 'own'")
        assert [row.tableName for row in shown.collect()] == ["own"]
        spark.sql(f"REFRESH TABLE {name}")
        spark.sql(f"TRUNCATE TABLE {name}")
        assert spark.table(name).count() == 0
    finally:
        spark.sql("DROP TABLE IF EXISTS spark_catalog.default.own")
