"""A seed of the query fuzz is one query, for Lakebed and for Spark, and differences are told."""

import functools
import re

import pytest

from query_fuzz.comparison import Answer
from query_fuzz.queries import make_query
from query_fuzz.tables import LAKE_CATALOG, PLAIN_CATALOG

SEEDS = range(1, 401)
ROWS = Answer(columns=(("id", "int"),), rows=("Row(id=1)", "Row(id=2)"))


@functools.cache
def texts() -> list[str]:
    return [make_query(seed, catalog=LAKE_CATALOG).text for seed in range(1, 1_501)]


def unversioned(text: str) -> str:
    """With names of copies in the place of versions, and one catalog, and no quotes."""
    text = re.sub(r"(?i)\s+(for )?(system_)?version as of (\d)", r"_v\3", text)
    text = text.replace("$", "_of_").replace("`", "").lower()
    return text.replace(PLAIN_CATALOG, LAKE_CATALOG)


def test_a_query_differs_between_the_catalogs_in_names_of_copies_alone() -> None:
    for seed in SEEDS:
        lake = make_query(seed, catalog=LAKE_CATALOG)
        plain = make_query(seed, catalog=PLAIN_CATALOG)
        assert unversioned(lake.text) == unversioned(plain.text)
        assert lake == make_query(seed, catalog=LAKE_CATALOG)


@pytest.mark.parametrize(
    "words",
    [
        *("WITH ", "WITH RECURSIVE", "UNION", "INTERSECT", "EXCEPT (", "EXCEPT ALL", "MINUS"),
        *("LEFT JOIN", "RIGHT JOIN", "FULL OUTER JOIN", "SEMI JOIN", "ANTI JOIN", "CROSS JOIN"),
        *("NATURAL", "USING (", "JOIN LATERAL", "LATERAL VIEW", "LATERAL VIEW OUTER", " , "),
        *("PIVOT (", "UNPIVOT", "TABLESAMPLE", "VERSION AS OF", "orders$snapshots", "|> WHERE"),
        *("|> EXTEND", "|> AGGREGATE", "GROUPING SETS", "ROLLUP", "CUBE", "GROUP BY ALL"),
        *("OVER (", "WINDOW win", "FILTER (", "WITHIN GROUP", "HAVING", "ORDER BY ALL LIMIT"),
        *("EXISTS (SELECT", "NOT IN (SELECT", "(SELECT max(", ":number", ":text", "threshold"),
        *("/*+ ", "/* a /*", "-- SELECT", "r'", "it''s", "NOT LIKE", "TABLE ", "VALUES", "range("),
        *(
            "`a b`",
            "`select`",
            "lake.db.orders.id",
            "db.info.",
            ".* EXCEPT",
            "FROM lake.db.nowhere",
        ),
    ],
)
def test_every_shape_of_a_query_is_met(words: str) -> None:
    assert any(words in text for text in texts())


@pytest.mark.parametrize(
    ("found", "difference"),
    [
        (ROWS, None),
        (Answer(columns=(("ID", "int"),), rows=ROWS.rows), "columns of Spark"),
        (Answer(columns=(("id", "bigint"),), rows=ROWS.rows), "columns of Spark"),
        (Answer(columns=ROWS.columns, rows=ROWS.rows[:1]), "missing, for instance, ['Row(id=2)']"),
        (Answer(columns=ROWS.columns, rows=(*ROWS.rows, "Row(id=2)")), "3 of Lakebed"),
        (Answer(error="DIVIDE_BY_ZERO"), "Spark: 2 rows; Lakebed: DIVIDE_BY_ZERO"),
    ],
)
def test_what_lakebed_answers_otherwise_is_told(found: Answer, difference: str | None) -> None:
    told = ROWS.difference(found)
    assert told == difference or (difference is not None and difference in str(told))


def test_what_both_refuse_alike_is_no_difference() -> None:
    refused = Answer(error="AMBIGUOUS_REFERENCE", message="of Spark")
    assert refused.difference(Answer(error="AMBIGUOUS_REFERENCE", message="of Lakebed")) is None
    assert refused.difference(Answer(error="UNRESOLVED_COLUMN")) is not None
    assert refused.difference(ROWS) is not None
