"""The text of a default means a value of its column, in each form that engines write."""

import pytest

from lakebed.errors import InvalidDataError
from lakebed.format.default_values import default_of
from lakebed.format.type_text import parse_type
from lakebed.format.types import DataField


def field(kind: str, text: str) -> DataField:
    return DataField(id=0, name="v", type=parse_type(kind), default_value=text)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("INT", "5", 5),
        ("STRING", "x", "x"),
        ("STRING", "'it's'", "it's"),
        ("STRING", "''x''", "'x'"),
        ("ARRAY<STRING>", "ARRAY('a', 'b, c', null, \"d\", e)", ["a", "b, c", None, "d", "e"]),
        ("ARRAY<STRING>", "array('it\\'s')", ["it's"]),
        ("ARRAY<STRING>", "[a, b-c, null]", ["a", "b-c", None]),
        ("ARRAY<INT>", "ARRAY()", []),
        ("ARRAY<INT>", "[]", []),
        ("ARRAY<ARRAY<INT>>", "ARRAY(ARRAY(1, 2), [], null)", [[1, 2], [], None]),
        ("MAP<STRING, INT>", "MAP('a', 1, 'b', null)", [("a", 1), ("b", None)]),
        ("MAP<STRING, INT>", "{a -> 1, b -> 2}", [("a", 1), ("b", 2)]),
        ("MAP<INT, DOUBLE>", "map()", []),
        ("ROW<x INT, y STRING>", "STRUCT(4, 'z')", {"x": 4, "y": "z"}),
        ("ROW<x INT, y STRING>", "{4, z}", {"x": 4, "y": "z"}),
        ("ROW<x INT, y STRING>", "STRUCT()", {"x": None, "y": None}),
        ("ROW<x INT, y ARRAY<STRING>>", "STRUCT(4, ARRAY('z)'))", {"x": 4, "y": ["z)"]}),
        ("ARRAY<INT>", "NULL", None),
    ],
)
def test_a_default_is_read(kind: str, text: str, value: object) -> None:
    assert default_of(field(kind, text)).as_py() == value


@pytest.mark.parametrize(
    ("kind", "text", "problem"),
    [
        ("INT", "x", "'x'"),
        ("ARRAY<INT>", "5", "it is written ARRAY"),
        ("ARRAY<INT>", "MAP(1, 2)", "it is written ARRAY"),
        ("ARRAY<INT>", "ARRAY('x')", "'x'"),
        ("MAP<INT, INT>", "MAP(1, 2, 3)", "has 3 parts"),
        ("MAP<INT, INT>", "MAP(null, 2)", "cannot be used"),
        ("ROW<x INT, y INT>", "STRUCT(1)", "has 1 parts"),
        ("MULTISET<INT>", "{1}", "no defaults of MULTISET"),
        ("TIMESTAMP_LTZ(3)", "2024-01-01", "no cast from text"),
    ],
)
def test_what_is_no_value_of_the_column_is_refused(kind: str, text: str, problem: str) -> None:
    with pytest.raises(InvalidDataError, match=problem):
        default_of(field(kind, text))
