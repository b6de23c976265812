from collections.abc import Mapping

import pytest

from lakebed.errors import InvalidArgumentError, UnsupportedError
from lakebed.format.schema_definition import Column, schema
from lakebed.format.type_text import format_type


def test_columns_have_types_comments_and_defaults() -> None:
    made = schema(
        [
            ("id", "BIGINT NOT NULL"),
            ("name", "char(3)", {"comment": "short", "default": "'abc'"}),
        ]
    )
    assert made.names == ["id", "name"]
    assert [format_type(field.type) for field in made.fields] == ["BIGINT NOT NULL", "CHAR(3)"]
    assert [field.description for field in made.fields] == [None, "short"]
    assert [field.default_value for field in made.fields] == [None, "'abc'"]


def test_a_bad_type_names_the_column() -> None:
    with pytest.raises(InvalidArgumentError, match=r"column 'b': type 'FOO'"):
        schema([("a", "INT"), ("b", "FOO")])


def test_a_type_that_lakebed_lacks_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="GEOMETRY"):
        schema([("g", "GEOMETRY")])


@pytest.mark.parametrize("extras", [{"nullable": "no"}, {"default": 3}, "comment"])
def test_other_extras_are_refused(extras: Mapping[str, str]) -> None:
    with pytest.raises(InvalidArgumentError, match="comment, default"):
        schema([("a", "INT", extras)])


@pytest.mark.parametrize("column", ["a INT", ("a",), ("a", 3), (1, "INT")])
def test_an_entry_of_another_form_is_refused(column: Column) -> None:
    with pytest.raises(InvalidArgumentError, match="column 0 is"):
        schema([column])
