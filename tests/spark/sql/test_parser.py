"""Texts become statements, with every clause or not at all."""

from dataclasses import replace
from typing import Any

import pytest
from pyspark.errors import ParseException

from lakebed.spark.sql.caching.statements import CacheTable, ClearCache, UncacheTable
from lakebed.spark.sql.creating.statements import CreateTable, Making
from lakebed.spark.sql.parser import parse_statement
from lakebed.spark.sql.row_changes.statements import Assignment, DeleteClause, Merge, Update
from lakebed.spark.sql.statements import (
    Call,
    CallArgument,
    CreateDatabase,
    CreateTemporaryView,
    Delete,
    Describe,
    DropDatabase,
    DropTable,
    DropView,
    Insert,
    Query,
    ShowDatabases,
    ShowTables,
    Statement,
    Unsupported,
    Use,
)
from lakebed.spark.sql.unstored.statements import (
    CreateFunction,
    CreateView,
    DropFunction,
    RefreshFunction,
)

T = ("l", "d", "t")


def insert(query: str, **given: object) -> Insert:
    parts: dict[str, object] = {
        "name": T,
        "is_overwrite": False,
        "columns": None,
        "is_by_name": False,
        "partition": {},
        "query": query,
    }
    return Insert(**{**parts, **given})  # type: ignore[arg-type]  # the fields above


def update() -> Update:
    return Update(name=T, alias=None, assignments=[Assignment(("a",), "1")], condition=None)


def merge(**parts: Any) -> Merge:  # noqa: ANN401 - the fields of a Merge
    """A merge of `s` that deletes what it finds."""
    usual = Merge(
        name=T,
        alias=None,
        with_clause="",
        source="s",
        source_alias=None,
        source_columns=(),
        source_name=(),
        condition="l.d.t.a = s.a",
        matched=[DeleteClause(condition=None)],
        not_matched=[],
        not_matched_by_source=[],
    )
    return replace(usual, **parts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CREATE DATABASE l.d;", CreateDatabase(name=("l", "d"), if_not_exists=False)),
        (
            "create schema if not exists `l`.`d` comment 'x'",
            CreateDatabase(name=("l", "d"), if_not_exists=True),
        ),
        (
            "DROP NAMESPACE IF EXISTS l.d CASCADE",
            DropDatabase(name=("l", "d"), if_exists=True, cascade=True),
        ),
        ("SHOW SCHEMAS FROM l LIKE 'a*'", ShowDatabases(catalog=("l",), pattern="a*")),
        ("SHOW TABLES", ShowTables(database=(), pattern=None)),
        ("SHOW TABLES IN l.d 'a|b'", ShowTables(database=("l", "d"), pattern="a|b")),
        ("USE DATABASE d", Use(name=("d",))),
        ("USE l.d", Use(name=("l", "d"))),
        ("SET CATALOG 'l'", Use(name=("l",), is_catalog=True)),
        ("DROP TABLE IF EXISTS l.d.t PURGE", DropTable(name=T, if_exists=True)),
        ("DESC FORMATTED l.d.t", Describe(name=T, is_extended=True)),
        ("DELETE FROM l.d.t", Delete(name=T, alias=None, condition=None)),
        ("DELETE FROM l.d.t x WHERE x.a = ';';", Delete(name=T, alias="x", condition="x.a = ';'")),
        (
            """CREATE TABLE l.d.t (a INT COMMENT 'it''s (', b STRING) USING paimon PARTITIONED BY
            (b, c DECIMAL(3, 1)) COMMENT 'x' TBLPROPERTIES ('k' = 'v', a.b = 3, c = true)""",
            CreateTable(
                name=T,
                columns="a INT COMMENT 'it''s (', b STRING",
                provider="paimon",
                partitions=(("b", ""), ("c", "DECIMAL(3, 1)")),
                comment="x",
                properties={"k": "v", "a.b": "3", "c": "true"},
            ),
        ),
        ("CREATE TABLE l.d.t AS (SELECT 1)", CreateTable(name=T, query="(SELECT 1)")),
        (
            "CREATE TABLE IF NOT EXISTS l.d.t USING paimon SELECT 1",
            CreateTable(
                name=T,
                making=Making.CREATE_IF_NOT_EXISTS,
                provider="paimon",
                query="SELECT 1",
            ),
        ),
        (
            "REPLACE TABLE l.d.t (a INT)",
            CreateTable(name=T, making=Making.REPLACE, columns="a INT"),
        ),
        (
            "CREATE OR REPLACE TABLE l.d.t AS SELECT 1",
            CreateTable(name=T, making=Making.CREATE_OR_REPLACE, query="SELECT 1"),
        ),
        ("INSERT INTO l.d.t VALUES (1) -- end", insert("VALUES (1)")),
        ("INSERT INTO TABLE l.d.t (a, `b`) SELECT 1, 2", insert("SELECT 1, 2", columns=("a", "b"))),
        ("INSERT INTO l.d.t (SELECT 1)", insert("(SELECT 1)")),
        ("INSERT INTO l.d.t BY NAME SELECT 1 a", insert("SELECT 1 a", is_by_name=True)),
        (
            "INSERT INTO l.d.t REPLACE WHERE a IS DISTINCT FROM (SELECT 1) AND b = 'x' VALUES (1)",
            insert("VALUES (1)", replaced="a IS DISTINCT FROM (SELECT 1) AND b = 'x'"),
        ),
        (
            "WITH w AS (SELECT 1 a) INSERT INTO l.d.t BY NAME REPLACE WHERE a = 1 FROM w",
            insert("WITH w AS (SELECT 1 a) FROM w", replaced="a = 1", is_by_name=True),
        ),
        (
            "INSERT INTO l.d.t REPLACE USING (a) SELECT 1",
            Unsupported(operation="INSERT INTO ... REPLACE ON and USING", target=T),
        ),
        (
            "INSERT WITH SCHEMA EVOLUTION INTO TABLE l.d.t BY NAME SELECT 1 a",
            insert("SELECT 1 a", is_by_name=True, evolves=True),
        ),
        (
            "INSERT OVERWRITE l.d.t PARTITION (a = 'x', b) TABLE u",
            insert("TABLE u", is_overwrite=True, partition={"a": "'x'", "b": None}),
        ),
        (
            "WITH w AS (SELECT 1) INSERT INTO l.d.t SELECT * FROM w",
            insert("WITH w AS (SELECT 1) SELECT * FROM w"),
        ),
        (
            "CREATE OR REPLACE TEMP VIEW v AS SELECT 1",
            CreateTemporaryView(name=("v",), query="SELECT 1", is_replace=True),
        ),
        (
            "CACHE LAZY TABLE v AS SELECT 1",
            CreateTemporaryView(name=("v",), query="SELECT 1", is_cached=True, is_lazy=True),
        ),
        (
            "CACHE TABLE v OPTIONS ('a' = 'b') SELECT 1",
            CreateTemporaryView(
                name=("v",), query="SELECT 1", is_cached=True, cache_options="'a' = 'b'"
            ),
        ),
        (
            "CACHE LAZY TABLE l.d.t OPTIONS (storageLevel = 'DISK_ONLY')",
            CacheTable(name=T, is_lazy=True, options={"storageLevel": "DISK_ONLY"}),
        ),
        ("UNCACHE TABLE IF EXISTS l.d.t", UncacheTable(name=T, if_exists=True)),
        ("CLEAR CACHE", ClearCache()),
        (
            "UPDATE l.d.t x SET x.a = CASE WHEN b THEN 1 ELSE 2 END, c = f(1, 2) WHERE a IN (1, 2)",
            Update(
                name=T,
                alias="x",
                assignments=[
                    Assignment(("x", "a"), "CASE WHEN b THEN 1 ELSE 2 END"),
                    Assignment(("c",), "f(1, 2)"),
                ],
                condition="a IN (1, 2)",
            ),
        ),
        ("UPDATE l.d.t SET a = 1", update()),
        (
            "MERGE INTO l.d.t USING s ON l.d.t.a = s.a WHEN MATCHED THEN DELETE",
            merge(source_name=("s",)),
        ),
        (
            "MERGE INTO l.d.t USING a.b AS s ON l.d.t.a = s.a WHEN MATCHED THEN DELETE",
            merge(source="a.b", source_name=("a", "b"), source_alias="s"),
        ),
        (
            "MERGE INTO l.d.t USING (SELECT 1) s(a) ON l.d.t.a = s.a WHEN MATCHED THEN DELETE",
            merge(source="(SELECT 1)", source_alias="s", source_columns=("a",)),
        ),
        (
            "MERGE INTO l.d.t USING range(5) ON l.d.t.a = s.a WHEN MATCHED THEN DELETE",
            merge(source="range(5)", source_name=("range",)),
        ),
        (
            "MERGE INTO l.d.t USING s VERSION AS OF 3 ON l.d.t.a = s.a WHEN MATCHED THEN DELETE",
            merge(source="s VERSION AS OF 3", source_name=("s",)),
        ),
        ("ALTER TABLE l.d.t SET LOCATION '/x'", Unsupported(operation="ALTER TABLE SET", target=T)),
        ("ALTER TABLE l.d.t", Unsupported(operation="ALTER TABLE", target=T)),
        ("CREATE VIEW v AS SELECT 1", CreateView(name=("v",))),
        ("CREATE OR REPLACE VIEW IF NOT EXISTS l.d.v AS TABLE u", CreateView(name=("l", "d", "v"))),
        ("CREATE FUNCTION f(x INT) RETURNS INT RETURN x", CreateFunction(name=("f",))),
        ("CREATE OR REPLACE FUNCTION d.f AS 'c'", CreateFunction(name=("d", "f"))),
        ("CREATE TEMPORARY FUNCTION f AS 'c'", Query()),
        ("DROP FUNCTION IF EXISTS f", DropFunction(name=("f",), if_exists=True)),
        ("REFRESH FUNCTION l.d.f", RefreshFunction(name=("l", "d", "f"))),
        ("DROP VIEW v", DropView(name=("v",), if_exists=False)),
        ("DROP VIEW IF EXISTS l.d.v;", DropView(name=("l", "d", "v"), if_exists=True)),
        (
            "CREATE TABLE l.d.t (a INT) LOCATION '/x'",
            Unsupported(operation="CREATE TABLE with LOCATION", target=T),
        ),
        (
            "CALL l.sys.compact('a, b', x => map('k', 'v'), `y` => -1.5)",
            Call(
                name=("l", "sys", "compact"),
                arguments=(
                    CallArgument(value="'a, b'"),
                    CallArgument(name="x", value="map('k', 'v')"),
                    CallArgument(name="y", value="-1.5"),
                ),
            ),
        ),
        ("CALL l.sys.compact_database();", Call(name=("l", "sys", "compact_database"))),
        ("SELECT 'INSERT INTO l.d.t'", Query()),
        ("WITH w AS (SELECT 1) SELECT * FROM w", Query()),
        ("SET x = 1", Query()),
        ("", Query()),
    ],
)
def test_texts_become_statements(text: str, expected: Statement) -> None:
    assert parse_statement(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE l.d.t (a INT",
        "CREATE TABLE l.d.t (a INT) STORED AS ORC",
        "CREATE TABLE l.d.t (a INT) PARTITIONED BY (days(a))",
        "CREATE TABLE l.d.t TBLPROPERTIES ('a' = 1, 'a' = 2)",
        "DROP DATABASE l.d WHATEVER",
        "INSERT INTO",
        "INSERT INTO l.d.t REPLACE WHERE a = 1",
        "DELETE FROM l.d.t WHERE",
        "CALL l.sys.compact",
        "CALL l.sys.compact(x = 1)",
        "CALL l.sys.compact('x', , 'y')",
        "CALL l.sys.compact('x',)",
        "CALL l.sys.compact('x') y",
    ],
)
def test_texts_that_go_on_wrongly_are_refused(text: str) -> None:
    with pytest.raises(ParseException) as caught:
        parse_statement(text)
    assert caught.value.getCondition() == "PARSE_SYNTAX_ERROR"
