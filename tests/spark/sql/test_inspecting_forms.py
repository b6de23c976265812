"""Statements that tell what is there, that empty a table or make one like another, are read."""

import pytest
from pyspark.errors import ParseException

from lakebed.spark.sql.creating.statements import CreateTableLike
from lakebed.spark.sql.inspecting.statements import (
    DescribeColumn,
    DescribeDatabase,
    DescribePartition,
    RefreshTable,
    ShowCatalogs,
    ShowColumns,
    ShowCreateTable,
    ShowCurrentNamespace,
    ShowPartitions,
    ShowProperties,
    ShowTablesExtended,
    ShowViews,
)
from lakebed.spark.sql.parser import parse_statement
from lakebed.spark.sql.statements import Describe, Query, Statement, Truncate, Unsupported

T = ("l", "d", "t")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SHOW TBLPROPERTIES l.d.t", ShowProperties(name=T)),
        ("SHOW TBLPROPERTIES l.d.t ('a.b')", ShowProperties(name=T, key="a.b")),
        ("SHOW TBLPROPERTIES l.d.t (a.b)", ShowProperties(name=T, key="a.b")),
        ("SHOW CREATE TABLE l.d.t;", ShowCreateTable(name=T)),
        (
            "SHOW CREATE TABLE l.d.t AS SERDE",
            Unsupported(operation="SHOW CREATE TABLE AS SERDE", target=T),
        ),
        ("SHOW COLUMNS IN t FROM l.d", ShowColumns(name=("t",), database=("l", "d"))),
        ("SHOW COLUMNS FROM l.d.t", ShowColumns(name=T)),
        ("SHOW PARTITIONS l.d.t", ShowPartitions(name=T)),
        (
            "SHOW PARTITIONS l.d.t PARTITION (dt = 'x', hh = 1)",
            ShowPartitions(name=T, partition={"dt": "'x'", "hh": "1"}),
        ),
        ("SHOW TABLE EXTENDED LIKE 'a*'", ShowTablesExtended(database=(), pattern="a*")),
        (
            "SHOW TABLE EXTENDED IN l.d LIKE 't' PARTITION (hh = 1)",
            ShowTablesExtended(database=("l", "d"), pattern="t", partition={"hh": "1"}),
        ),
        ("SHOW VIEWS", ShowViews(database=())),
        ("SHOW VIEWS FROM l.d LIKE 'v*'", ShowViews(database=("l", "d"), pattern="v*")),
        ("SHOW CATALOGS 'l*'", ShowCatalogs(pattern="l*")),
        ("SHOW CURRENT NAMESPACE", ShowCurrentNamespace()),
        ("REFRESH TABLE l.d.t", RefreshTable(name=T)),
        ("DESC l.d.t", Describe(name=T, is_extended=False)),
        ("DESCRIBE EXTENDED l.d.t a.`b c`", DescribeColumn(name=T, column=("a", "b c"))),
        (
            "DESCRIBE TABLE FORMATTED l.d.t PARTITION (hh = 1)",
            DescribePartition(name=T, partition={"hh": "1"}, is_extended=True),
        ),
        (
            "DESCRIBE l.d.t PARTITION (hh = 1) a",
            Unsupported(operation="DESCRIBE of a column of a partition", target=T),
        ),
        (
            "DESCRIBE EXTENDED l.d.t AS JSON",
            Unsupported(operation="DESCRIBE ... AS JSON", target=T),
        ),
        (
            "DESCRIBE FUNCTION EXTENDED f",
            Unsupported(operation="DESCRIBE FUNCTION", target=("f",), is_explicit_only=True),
        ),
        ("DESCRIBE SCHEMA EXTENDED l.d", DescribeDatabase(name=("l", "d"), is_extended=True)),
        ("DESCRIBE QUERY SELECT 1", Query()),
        ("DESCRIBE SELECT 1", Query()),
        ("TRUNCATE TABLE l.d.t", Truncate(name=T)),
        (
            "TRUNCATE TABLE l.d.t PARTITION (dt = date '2024-01-01')",
            Truncate(name=T, partition={"dt": "date '2024-01-01'"}),
        ),
        (
            "CREATE TABLE IF NOT EXISTS l.d.t LIKE u TBLPROPERTIES (k = 'v') USING Paimon",
            CreateTableLike(
                name=T,
                source=("u",),
                if_not_exists=True,
                provider="paimon",
                properties={"k": "v"},
            ),
        ),
        (
            "CREATE TABLE l.d.t LIKE u STORED AS ORC",
            Unsupported(operation="CREATE TABLE LIKE with STORED AS", target=T),
        ),
    ],
)
def test_texts_become_statements(text: str, expected: Statement) -> None:
    assert parse_statement(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "SHOW TBLPROPERTIES l.d.t ('a', 'b')",
        "SHOW CREATE TABLE l.d.t x",
        "SHOW COLUMNS IN l.d.t LIKE 'a'",
        "SHOW PARTITIONS l.d.t PARTITION ()",
        "SHOW PARTITIONS l.d.t PARTITION (a = 1, a = 2)",
        "SHOW TABLE EXTENDED IN l.d",
        "SHOW CURRENT NAMESPACE x",
        "REFRESH TABLE l.d.t x",
        "DESCRIBE l.d.t a b",
        "DESCRIBE DATABASE l.d x",
        "TRUNCATE TABLE l.d.t WHERE a = 1",
        "CREATE TABLE l.d.t LIKE u COMMENT 'x'",
        "CREATE TABLE l.d.t LIKE u USING paimon USING paimon",
    ],
)
def test_texts_that_go_on_wrongly_are_refused(text: str) -> None:
    with pytest.raises(ParseException) as caught:
        parse_statement(text)
    assert caught.value.getCondition() == "PARSE_SYNTAX_ERROR"


def test_a_partition_column_without_a_value_has_a_condition_of_its_own() -> None:
    with pytest.raises(ParseException) as caught:
        parse_statement("SHOW PARTITIONS l.d.t PARTITION (dt)")
    assert caught.value.getCondition() == "INVALID_SQL_SYNTAX.EMPTY_PARTITION_VALUE"
