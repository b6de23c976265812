"""What a query needs of a table is never too little."""

from zoneinfo import ZoneInfo

import pytest

from lakebed.format.predicate.expressions import Expression, columns_of
from lakebed.format.predicate.parser import parse_predicate
from lakebed.format.predicate.text import format_expression
from lakebed.format.types import MAX_LENGTH, AtomicType, DataField, RowType, TypeRoot
from lakebed.spark.sql.conditions import scan_predicate
from lakebed.spark.sql.pruning import Need, needed
from lakebed.spark.sql.references import analyse

COLUMNS = ("id", "a", "b", "c")
ALL = None
ROW = RowType(
    fields=(
        DataField(id=0, name="id", type=AtomicType(root=TypeRoot.BIGINT)),
        DataField(id=1, name="a", type=AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH)),
        DataField(id=2, name="b", type=AtomicType(root=TypeRoot.DATE)),
        DataField(id=3, name="c", type=AtomicType(root=TypeRoot.DOUBLE)),
    )
)


def need(text: str) -> Need:
    query = analyse(text, catalogs={"lake"})
    reference = next(each for each in query.references if each.parts == ("lake", "db", "t"))
    return needed(query, reference, COLUMNS)


def test_columns_under_other_names_are_not_taken_for_those_of_the_table() -> None:
    assert conditions("SELECT b FROM lake.db.t AS x(b, id, a, c) WHERE id = 1") == []


def conditions(text: str) -> list[str]:
    return [conjunct.sql() for conjunct in need(text).conjuncts]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("SELECT a FROM lake.db.t", ("a",)),
        ("SELECT A + 1 FROM lake.db.t x WHERE x.`b` > 1 ORDER BY C", ("a", "b", "c")),
        ("SELECT count(*) FROM lake.db.t", ()),
        ("SELECT * FROM lake.db.t", ALL),
        ("SELECT t.* FROM lake.db.t", ALL),
        ("SELECT u.*, t.a FROM lake.db.t JOIN u", ("a",)),
        ("SELECT * FROM (SELECT a FROM lake.db.t)", ("a",)),
        ("SELECT struct(*) FROM lake.db.t", ALL),
        ("SELECT a FROM lake.db.t NATURAL JOIN u", ALL),
        ("SELECT a FROM lake.db.t PIVOT (sum(a) FOR b IN (1))", ALL),
        ("SELECT IDENTIFIER(:name) FROM lake.db.t", ALL),
        ("SELECT `(a|b)` FROM lake.db.t", ALL),
        ("FROM lake.db.t |> SELECT a", ALL),
        ("SELECT a AS b, b FROM lake.db.t", ("a", "b")),
        ("SELECT 1 FROM u WHERE EXISTS (SELECT * FROM lake.db.t WHERE t.a = u.z)", ("a",)),
        ("SELECT 1 FROM u WHERE EXISTS (SELECT * FROM lake.db.t UNION SELECT 1)", ALL),
        ("SELECT 1 FROM u WHERE EXISTS (SELECT struct(*) = u.z FROM lake.db.t)", ALL),
        ("SELECT x FROM lake.db.t AS y(x, a, b, c) WHERE a = 1", ALL),
        ("SELECT ) x FROM lake.db.t y(x, a, b, c)", ALL),
        ("SELECT ) a FROM lake.db.t", ("a",)),
        ("SELECT ) a * 2 FROM lake.db.t", ALL),
        ("SELECT q FROM lake.db.t AS x (p, q, r, s)", ALL),
        ("SELECT q FROM (lake.db.t) x (p, q, r, s)", ALL),
        ("SELECT q FROM lake.db.t TABLESAMPLE (3 ROWS) `x`(p, q, r, s)", ALL),
    ],
)
def test_columns_that_a_query_needs(text: str, columns: tuple[str, ...] | None) -> None:
    assert need(text).columns == columns


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "SELECT a FROM lake.db.t, u WHERE (id = z AND id = 1 AND a = 'x') OR (id = 2)",
            ["id = 1 AND a = 'x' OR (id = 2)"],
        ),
        ("SELECT a FROM lake.db.t, u WHERE (id = 1 AND z = 1) OR z = 2", []),
        ("SELECT a FROM lake.db.t, u WHERE NOT (id = 1 AND z = 1)", []),
        (
            "SELECT a FROM lake.db.t WHERE id = 1 AND (a = 'x' OR b = c)",
            ["id = 1", "a = 'x' OR b = c"],
        ),
        ("SELECT a FROM lake.db.t JOIN u ON t.id = u.id WHERE a = 'x' AND u.z = 1", ["a = 'x'"]),
        ("SELECT a FROM lake.db.t LEFT JOIN u ON t.id = 1 WHERE a = 'x'", ["a = 'x'"]),
        ("SELECT a FROM u LEFT JOIN lake.db.t ON t.id = 1 WHERE a IS NULL", ["t.id = 1"]),
        ("SELECT a FROM lake.db.t RIGHT JOIN u ON t.id = 1 WHERE a IS NULL", []),
        ("SELECT a FROM u RIGHT JOIN lake.db.t ON t.id = 1 WHERE a = 'x'", ["a = 'x'"]),
        ("SELECT a FROM lake.db.t FULL JOIN u ON t.id = 1 WHERE a = 'x'", []),
        ("SELECT a FROM u LEFT ANTI JOIN lake.db.t ON t.id = 1 WHERE a = 'x'", ["t.id = 1"]),
        ("SELECT a FROM u, lake.db.t LEFT JOIN v ON true WHERE id = 1", ["id = 1"]),
        ("SELECT a FROM lake.db.t TABLESAMPLE (3 ROWS) WHERE id = 1", []),
        ("SELECT a FROM lake.db.t WHERE id IN (SELECT id FROM u)", []),
        ("SELECT a FROM lake.db.t WHERE id = outer_id", []),
        ("SELECT a FROM lake.db.t GROUP BY a HAVING a = 'x'", []),
        ("SELECT a FROM (SELECT * FROM lake.db.t) x WHERE id = 1", []),
        ("SELECT a FROM lake.db.t x (b, a, c, id) WHERE id = 1", []),
        ("SELECT a FROM u x, lake.db.t c WHERE x.c.id = 1 AND c.a = 'x'", ["c.a = 'x'"]),
        (
            "SELECT a FROM lake.db.t WHERE lake.db.t.id = 1 AND DB.T.b = 2 AND t.c = 3",
            ["lake.db.t.id = 1", "DB.T.b = 2", "t.c = 3"],
        ),
        ("SELECT a FROM u db, lake.db.t x WHERE db.t.id = 1", []),
    ],
)
def test_conditions_that_every_row_must_meet(text: str, expected: list[str]) -> None:
    assert conditions(text) == expected


@pytest.mark.parametrize(
    ("condition", "columns"),
    [
        ("ID = 1", {"id"}),
        ("id = :id", {"id"}),
        ("a LIKE 'x%' OR a IS NULL", {"a"}),
        ("NOT (id IN (1, -2) OR c BETWEEN 1.5 AND 2)", {"id", "c"}),
        ("b >= DATE '2026-01-01'", {"b"}),
        ("a NOT LIKE 'x%'", {"a"}),
        ("b < DATE '2026-01-31' + INTERVAL '1' MONTH", {"b"}),
        ("c BETWEEN 0.06 - 0.01 AND 0.06 + 0.01", {"c"}),
        ("id BETWEEN SYMMETRIC 2 AND 1", None),
        ("b < DATE '2026-01-31' + INTERVAL '1-2' YEAR TO MONTH", None),
        ("c < c + 1", None),
        ("upper(a) = 'X'", None),
        ("a = 'it''s'", None),
        ("a = 1", None),
        ("rand() > c", None),
        ("id = :unknown", None),
    ],
)
def test_conditions_that_a_scan_can_apply(condition: str, columns: set[str] | None) -> None:
    found = scan_predicate(
        need(f"SELECT a FROM lake.db.t WHERE {condition}").conjuncts,
        ROW,
        time_zone=ZoneInfo("UTC"),
        arguments={"id": 7},
    )
    assert (columns_of(found) if found is not None else None) == columns


def predicate(condition: str) -> Expression | None:
    conjuncts = need(f"SELECT a FROM lake.db.t WHERE {condition}").conjuncts
    return scan_predicate(conjuncts, ROW, time_zone=ZoneInfo("UTC"), arguments={})


def written(condition: str) -> Expression:
    return parse_predicate(condition, ROW, time_zone=ZoneInfo("UTC"))


def test_not_like_is_not_like() -> None:
    assert predicate("a NOT LIKE 'x%z'") == written("NOT (a LIKE 'x%z')")
    assert predicate("a NOT LIKE 'x%z'") != predicate("a LIKE 'x%z'")


@pytest.mark.parametrize(
    ("shifted", "expected"),
    [
        ("DATE '1994-01-01' + INTERVAL '1' YEAR", "1995-01-01"),
        ("DATE '1998-12-01' - INTERVAL '90' DAY", "1998-09-02"),
        ("DATE '2024-01-31' + INTERVAL 1 MONTH", "2024-02-29"),
        ("DATE '2024-02-29' - INTERVAL '1' YEARS", "2023-02-28"),
        ("DATE '2024-01-31' - INTERVAL '-3' MONTHS", "2024-04-30"),
        ("DATE '1995-03-15'- INTERVAL '15' MONTH", "1993-12-15"),
    ],
)
def test_a_date_shifted_by_an_interval_is_a_date(shifted: str, expected: str) -> None:
    assert predicate(f"b < {shifted}") == written(f"b < DATE '{expected}'")


@pytest.mark.parametrize(
    "shifted",
    [
        "DATE '9999-12-31' + INTERVAL '1' DAY",
        "DATE '2024-01-01' + INTERVAL '1' HOUR",
        "DATE '2024-13-01' + INTERVAL '1' DAY",
        "DATE '2024-01-01' + INTERVAL '1.5' DAY",
        "DATE '2024-01-01' + INTERVAL c DAY",
        "DATE '20240101' + INTERVAL '1' DAY",
    ],
)
def test_a_date_that_only_spark_knows_is_left_to_it(shifted: str) -> None:
    assert predicate(f"b < {shifted}") is None


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("a NOT LIKE 'x%'", "NOT (a LIKE 'x%')"),
        ("NOT a NOT LIKE 'x%'", "NOT (NOT (a LIKE 'x%'))"),
        ("id NOT IN (1) AND id IS NOT NULL", "(NOT (id IN (1))) AND (id IS NOT NULL)"),
        ("id BETWEEN SYMMETRIC 3 AND 1", None),
    ],
)
def test_a_condition_keeps_its_negation(condition: str, words: str | None) -> None:
    found = scan_predicate(
        need(f"SELECT a FROM lake.db.t WHERE {condition}").conjuncts,
        ROW,
        time_zone=ZoneInfo("UTC"),
        arguments={},
    )
    assert (format_expression(found) if found is not None else None) == words


def test_names_that_differ_in_case_only_are_left_to_spark() -> None:
    twins = RowType(fields=(*ROW.fields, DataField(id=9, name="ID", type=ROW.fields[0].type)))
    conjuncts = need("SELECT a FROM lake.db.t WHERE id = 1").conjuncts
    assert scan_predicate(conjuncts, twins, time_zone=ZoneInfo("UTC"), arguments={}) is None
