"""Statements about tags are read as the extensions of Paimon's Spark connector read them."""

import pytest
from pyspark.errors import ParseException

from lakebed.spark.sql.parser import parse_statement
from lakebed.spark.sql.statements import Statement
from lakebed.spark.sql.tagging.statements import CreateTag, DeleteTags, RenameTag, ShowTags

T = ("l", "d", "t")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ALTER TABLE l.d.t CREATE TAG v1", CreateTag(name=T, tag="v1")),
        (
            "alter table l.d.t create tag if not exists `2024-10-12` as of version 2 retain 7 days",
            CreateTag(
                name=T, tag="2024-10-12", snapshot=2, time_retained="7 d", if_not_exists=True
            ),
        ),
        (
            "ALTER TABLE l.d.t CREATE OR REPLACE TAG a RETAIN 12 HOURS",
            CreateTag(name=T, tag="a", time_retained="12 h", is_replace=True),
        ),
        (
            "ALTER TABLE l.d.t REPLACE TAG a AS OF VERSION 1 RETAIN 5 MINUTES;",
            CreateTag(name=T, tag="a", snapshot=1, time_retained="5 min", is_replace=True),
        ),
        ("ALTER TABLE l.d.t DELETE TAG a", DeleteTags(name=T, tags=("a",))),
        ("ALTER TABLE l.d.t DELETE TAG IF EXISTS a, b", DeleteTags(name=T, tags=("a", "b"))),
        ("ALTER TABLE l.d.t DELETE TAG `a, b`", DeleteTags(name=T, tags=("a", "b"))),
        ("ALTER TABLE l.d.t RENAME TAG a TO b", RenameTag(name=T, tag="a", target="b")),
        (
            "ALTER TABLE l.d.t RENAME TAG IF EXISTS a TO b",
            RenameTag(name=T, tag="a", target="b", if_exists=True),
        ),
        ("SHOW TAGS l.d.t", ShowTags(name=T)),
    ],
)
def test_texts_become_statements_about_tags(text: str, expected: Statement) -> None:
    assert parse_statement(text) == expected


@pytest.mark.parametrize(
    "action",
    [
        "CREATE TAG",
        "CREATE TAG 'a'",
        "CREATE TAG a AS OF VERSION",
        "CREATE TAG a AS OF VERSION v1",
        "CREATE TAG a AS OF VERSION 1.5",
        "CREATE TAG a AS OF VERSION -1",
        "CREATE TAG a RETAIN 7",
        "CREATE TAG a RETAIN 7 WEEKS",
        "CREATE TAG a RETAIN 7 DAYS AS OF VERSION 1",
        "CREATE OR REPLACE TAG IF NOT EXISTS a",
        "DELETE TAG a,",
        "RENAME TAG a",
        "RENAME TAG a TO b, c",
    ],
)
def test_what_is_no_action_on_tags_is_refused(action: str) -> None:
    with pytest.raises(ParseException) as caught:
        parse_statement(f"ALTER TABLE l.d.t {action}")
    assert caught.value.getCondition() == "PARSE_SYNTAX_ERROR"
