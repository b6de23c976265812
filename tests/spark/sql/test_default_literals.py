"""A table keeps the text of a literal as a default, as engines with SQL write it."""

import pytest

from lakebed.spark.sql.default_literals import NoLiteralError, default_text
from lakebed.spark.sql.tokens import tokenize


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", "5"),
        ("-1.5", "-1.5"),
        ("+ 2", "2"),
        ("5L", "5"),
        ("99.99D", "99.99"),
        ("true", "true"),
        ("'x'", "'x'"),
        ('"x"', "'x'"),
        ("'it''s'", "'it's'"),
        ("'\\'x\\''", "''x''"),
        ("DATE '2026-01-01'", "'2026-01-01'"),
        ("NULL", None),
        ("array()", "ARRAY()"),
        ("Array('it\\'s', NULL, -1)", "ARRAY('it\\'s', null, -1)"),
        ("MAP(1, STRUCT('a, b', TRUE), 2, null)", "MAP(1, STRUCT('a, b', true), 2, null)"),
    ],
)
def test_a_default_is_the_text_of_a_literal(text: str, value: str | None) -> None:
    assert default_text(tokenize(text)) == value


@pytest.mark.parametrize(
    "text",
    ["1 + 1", "current_date()", "x", "-x", "X'00'", "- 'x'", "", "ARRAY(1 + 1)", "ARRAY(,)", "MAP"],
)
def test_a_default_that_is_no_literal_is_refused(text: str) -> None:
    with pytest.raises(NoLiteralError):
        default_text(tokenize(text))
