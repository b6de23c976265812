"""Stars are told from products and counts, and belong to the SELECT that they stand in."""

import pytest

from lakebed.spark.sql.hidden_columns import Scopes
from lakebed.spark.sql.references import analyse
from lakebed.spark.sql.splicing import spliced

COLUMNS = ("__paimon_bucket", "_ROW_ID")


def rewritten(text: str) -> str:
    """The text with what is added for the first table of the name `t`."""
    query = analyse(text, catalogs={"lake"})
    reference = next(each for each in query.references if each.parts == ("lake", "db", "t"))
    scopes = Scopes.of(query.tokens)
    named = scopes.named(reference, COLUMNS)
    return spliced(text, scopes.left_out([(reference, named)] if named else []))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "SELECT *, a * 2, __PAIMON_BUCKET FROM lake.db.t",
            "SELECT * EXCEPT (`t`.`__paimon_bucket`), a * 2, __PAIMON_BUCKET FROM lake.db.t",
        ),
        (
            "SELECT x.*, u.*, count(*), f(*) FROM lake.db.t x, u WHERE x._row_id = 1",
            (
                "SELECT x.* EXCEPT (`x`.`_ROW_ID`), u.*, count(*), f(* EXCEPT (`x`.`_ROW_ID`))"
                " FROM lake.db.t x, u WHERE x._row_id = 1"
            ),
        ),
        (
            "SELECT * EXCEPT (a) FROM lake.db.t WHERE _ROW_ID = 1",
            "SELECT * EXCEPT (`t`.`_ROW_ID`, a) FROM lake.db.t WHERE _ROW_ID = 1",
        ),
        (
            "SELECT _ROW_ID, * FROM lake.db.t EXCEPT (SELECT * FROM u)",
            "SELECT _ROW_ID, * EXCEPT (`t`.`_ROW_ID`) FROM lake.db.t EXCEPT (SELECT * FROM u)",
        ),
        (
            "SELECT * FROM u WHERE EXISTS (SELECT * FROM lake.db.t WHERE _ROW_ID = u.a)",
            (
                "SELECT * FROM u WHERE EXISTS"
                " (SELECT * EXCEPT (`t`.`_ROW_ID`) FROM lake.db.t WHERE _ROW_ID = u.a)"
            ),
        ),
        (
            "SELECT * FROM lake.db.t WHERE EXISTS (SELECT * FROM u WHERE t._ROW_ID = u.a)",
            (
                "SELECT * EXCEPT (`t`.`_ROW_ID`) FROM lake.db.t"
                " WHERE EXISTS (SELECT * FROM u WHERE t._ROW_ID = u.a)"
            ),
        ),
        ("SELECT * FROM lake.db.t, u WHERE u._ROW_ID = 1", None),
        ("SELECT _ROW_ID FROM u WHERE a IN (SELECT * FROM lake.db.t)", None),
        ("SELECT * FROM lake.db.t AS x(_ROW_ID)", None),
        ("SELECT '_ROW_ID', * FROM lake.db.t -- _ROW_ID", None),
        ("SELECT * FROM u UNION ALL SELECT a FROM lake.db.t WHERE _ROW_ID = 1", None),
    ],
)
def test_stars_of_the_tables_select_leave_out_what_is_named(
    text: str, expected: str | None
) -> None:
    assert rewritten(text) == (text if expected is None else expected)
