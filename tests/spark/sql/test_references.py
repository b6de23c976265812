"""Names of tables are found where a query reads them, and nowhere else."""

import pytest

from lakebed.spark.sql.references import Reference, analyse

CATALOGS = {"lake"}


def read(text: str) -> tuple[Reference, ...]:
    return analyse(text, catalogs=CATALOGS).references


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("SELECT * FROM lake.db.t", ["lake.db.t"]),
        ("SELECT * FROM lake.db.`t$files` f, `lake`.db.u", ["lake.db.t$files", "lake.db.u"]),
        ("FROM lake.db.t SELECT a", ["lake.db.t"]),
        ("TABLE lake.db.t", ["lake.db.t"]),
        ("TABLE t", ["t"]),
        ("SELECT * FROM (lake.db.t JOIN lake.db.u USING (id))", ["lake.db.t", "lake.db.u"]),
        ("WITH t AS (SELECT * FROM lake.db.t) SELECT * FROM t", ["lake.db.t"]),
        ("SELECT 'lake.db.t' AS s -- FROM lake.db.u", []),
        ("SELECT lake.db.t.a FROM t", ["t"]),
        ("SELECT extract(YEAR FROM d) FROM t", ["t"]),
        ("CREATE TABLE made AS SELECT * FROM lake.db.t", ["lake.db.t"]),
        ("INSERT INTO target SELECT * FROM lake.db.t", ["lake.db.t"]),
        ("MERGE INTO target USING lake.db.t s ON s.a = 1 WHEN MATCHED THEN DELETE", ["lake.db.t"]),
        ("EXPLAIN FORMATTED SELECT * FROM lake.db.t", ["lake.db.t"]),
        ("SELECT /*+ BROADCAST(t) */ * FROM lake.db.t", ["lake.db.t"]),
        ("SELECT * FROM f(TABLE(lake.db.t))", ["lake.db.t"]),
        ("SELECT * FROM range(3) r JOIN lake.db.t", ["lake.db.t"]),
        ("SELECT !! FROM lake.db.t JOIN lake.db.u", ["lake.db.t", "lake.db.u"]),
        ("WITH t AS (SELECT * FROM t) SELECT * FROM t", ["t"]),
        ("WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a, b", ["b"]),
        ("WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT * FROM t", []),
        ("WITH T AS (SELECT 1) SELECT * FROM t, (SELECT * FROM t), db.t", ["db.t"]),
        ("SELECT * FROM (WITH t AS (SELECT 1) SELECT * FROM t) JOIN t", ["t"]),
        ("WITH t AS (SELECT 1) TABLE t", []),
        ("TABLE db.t", ["db.t"]),
        ("SELECT * FROM (TABLE t) UNION TABLE u", ["t", "u"]),
        ("SELECT * FROM a JOIN (TABLE t) n ON a.x = n.y, (TABLE db.u)", ["a", "t", "db.u"]),
        ("SELECT * FROM (table), (table as t) JOIN (!!", ["table", "table"]),
        ("SELECT * FROM (table), (table as t)", ["table", "table"]),
        ("SELECT 1 /* a /* FROM lake.db.u */ , lake.db.u */ FROM lake.db.t", ["lake.db.t"]),
        ("SELECT 1 -- FROM lake.db.u \\\n FROM lake.db.u\nFROM lake.db.t", ["lake.db.t"]),
        ("SELECT /*+ BROADCAST(t) /* */ * FROM lake.db.t", ["lake.db.t"]),
        (
            "FROM t, db.u x |> WHERE a IN (SELECT b FROM v) |> JOIN w ON true",
            ["t", "db.u", "v", "w"],
        ),
        ("WITH t AS (SELECT 1) FROM t |> CROSS JOIN u", ["u"]),
        ("SELECT !! FROM VALUES (1), (2)", []),
        (
            "SELECT !! FROM range(3) r, LATERAL explode(a) e, t LATERAL VIEW explode(b) v AS c, d",
            ["t"],
        ),
        ("SELECT !! FROM (t JOIN (u)) JOIN LATERAL (SELECT a FROM v, w WHERE a)", [*"tuvw"]),
        ("SELECT !! extract(YEAR FROM a), a IS DISTINCT FROM b, t.from FROM t", ["t"]),
    ],
)
def test_tables_that_a_query_reads(text: str, names: list[str]) -> None:
    assert [".".join(found.parts) for found in read(text)] == names


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("SELECT * FROM paimon_incremental_query('t', 1, 2)", ("'t'", "1", "2")),
        (
            "SELECT * FROM PAIMON_incremental_query ( f(1, 2), [3, 4] ,'),')",
            ("f(1, 2)", "[3, 4]", "'),'"),
        ),
        ("SELECT a FROM u, paimon_incremental_to_auto_tag() AS x", ()),
        ("SELECT ) FROM u, paimon_incremental_to_auto_tag('t')", ("'t'",)),
        ("SELECT a FROM paimon_incremental_query", None),
        ("SELECT a FROM x.paimon_incremental_query(1)", None),
        ("SELECT paimon_incremental_query('t', 1, 2) FROM u", None),
    ],
)
def test_calls_in_places_of_tables_are_found_with_their_arguments(
    text: str, arguments: tuple[str, ...] | None
) -> None:
    called = [found.arguments for found in read(text) if found.arguments is not None]
    assert called == ([] if arguments is None else [arguments])


@pytest.mark.parametrize(
    ("clause", "version", "timestamp"),
    [
        ("VERSION AS OF 3", "3", None),
        ("FOR SYSTEM_VERSION AS OF 'v1'", "'v1'", None),
        ("TIMESTAMP AS OF '2026-01-01'", None, "'2026-01-01'"),
        ("FOR SYSTEM_TIME AS OF TIMESTAMP '2026-01-01'", None, "TIMESTAMP '2026-01-01'"),
        (
            "TIMESTAMP AS OF date_sub(current_date(), 1) + INTERVAL '1' HOUR",
            None,
            "date_sub(current_date(), 1) + INTERVAL '1' HOUR",
        ),
    ],
)
@pytest.mark.parametrize("behind", ["", " t", " AS t JOIN x ON true", " WHERE a = 1"])
def test_time_travel_belongs_to_the_name(
    clause: str, version: str | None, timestamp: str | None, *, behind: str
) -> None:
    text = f"SELECT * FROM lake.db.t {clause}{behind}"
    found = read(text)[0]
    assert (found.version, found.timestamp) == (version, timestamp)
    assert text[found.end : found.clauses_end] == f" {clause}"


def test_options_belong_to_the_name() -> None:
    text = "SELECT * FROM lake.db.t WITH ('scan.snapshot-id' = 3, `x.y` = 'z') WHERE a = 1"
    assert read(text)[0].options == {"scan.snapshot-id": "3", "x.y": "z"}


@pytest.mark.parametrize(
    ("text", "behind"),
    [
        ("SELECT * FROM lake.db.t WHERE a = 1", "lake.db.t"),
        ("SELECT * FROM lake.db.t VERSION AS OF 1 JOIN u", "AS OF 1"),
        ("SELECT * FROM lake.db.t TABLESAMPLE (3 ROWS) WHERE a = 1", "(3 ROWS)"),
        ("SELECT * FROM lake.db.t u", None),
        ("SELECT * FROM lake.db.t AS u", None),
        ("TABLE lake.db.t", None),
    ],
)
def test_an_alias_is_put_where_none_is(text: str, behind: str | None) -> None:
    place = read(text)[0].alias_at
    assert place == (None if behind is None else text.index(behind) + len(behind))


def test_fields_that_are_yet_to_be_formatted_keep_their_place() -> None:
    text = "SELECT {column}, '{{' FROM lake.db.t WHERE a = {value}"
    query = analyse(text, catalogs=CATALOGS, has_fields=True)
    assert query.tree is not None
    assert text[query.references[0].start : query.references[0].end] == "lake.db.t"


def test_a_field_in_place_of_a_table_is_no_name() -> None:
    query = analyse("SELECT * FROM {frame} JOIN t", catalogs=CATALOGS, has_fields=True)
    assert [each.parts for each in query.references] == [("t",)]
