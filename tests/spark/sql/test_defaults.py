"""DEFAULT is told apart from the rest of a column's definition."""

import pytest

from lakebed.errors import UnsupportedError
from lakebed.spark.sql.defaults import without_defaults


@pytest.mark.parametrize(
    ("columns", "expected", "defaults"),
    [
        ("a INT, b STRING COMMENT 'DEFAULT 1'", "a INT, b STRING COMMENT 'DEFAULT 1'", {}),
        ("", "", {}),
        ("a INT DEFAULT 5", "a INT ", {"a": "5"}),
        (
            "a INT NOT NULL DEFAULT - 5 COMMENT 'x', `b c` STRING DEFAULT 'it\\'s, ok' NOT NULL",
            "a INT NOT NULL  COMMENT 'x', `b c` STRING  NOT NULL",
            {"a": "-5", "b c": "'it's, ok'"},
        ),
        (
            "s STRUCT<default: INT>, default DECIMAL(3, 1) default 1.5e0, t BOOLEAN DEFAULT True",
            "s STRUCT<default: INT>, default DECIMAL(3, 1) , t BOOLEAN ",
            {"default": "1.5e0", "t": "true"},
        ),
        ("d DATE DEFAULT DATE '2024-02-29'", "d DATE ", {"d": "'2024-02-29'"}),
        (
            "a ARRAY<INT> DEFAULT ARRAY(1, 2), m MAP<INT, STRING> DEFAULT map(1, 'x,y') COMMENT ''",
            "a ARRAY<INT> , m MAP<INT, STRING>  COMMENT ''",
            {"a": "ARRAY(1, 2)", "m": "MAP(1, 'x,y')"},
        ),
        ("a INT DEFAULT NULL", "a INT ", {}),
    ],
)
def test_defaults_are_taken_out_of_the_columns(
    columns: str, expected: str, defaults: dict[str, str]
) -> None:
    assert without_defaults(columns) == (expected, defaults)


@pytest.mark.parametrize(
    "default", ["current_date()", "1 + 1", "x", "X'00'", "", "(5)", "-'a'", "ARRAY(1 + 1)", "f(1)"]
)
def test_what_is_no_literal_is_refused(default: str) -> None:
    with pytest.raises(UnsupportedError, match="cannot be stored"):
        without_defaults(f"a INT, b INT DEFAULT {default} COMMENT 'x'")
