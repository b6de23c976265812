import pytest

from lakebed.errors import InvalidArgumentError
from lakebed.format.type_json import field_to_json, fields_from_json, type_from_json, type_to_json
from lakebed.format.type_text import parse_type


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("DECIMAL(10, 2) NOT NULL", "DECIMAL(10, 2) NOT NULL"),
        ("ARRAY<INT NOT NULL>", {"type": "ARRAY", "element": "INT NOT NULL"}),
        ("ARRAY<INT> NOT NULL", {"type": "ARRAY NOT NULL", "element": "INT"}),
        ("MULTISET<STRING>", {"type": "MULTISET", "element": "STRING"}),
        ("MAP<INT, BYTES>", {"type": "MAP", "key": "INT", "value": "BYTES"}),
        ("VECTOR<FLOAT, 3>", {"type": "VECTOR", "element": "FLOAT", "length": 3}),
        (
            "ROW<`a` INT, `b` STRING 'c'> NOT NULL",
            {
                "type": "ROW NOT NULL",
                "fields": [
                    {"id": 0, "name": "a", "type": "INT"},
                    {"id": 1, "name": "b", "type": "STRING", "description": "c"},
                ],
            },
        ),
    ],
)
def test_types_go_to_json_and_back(text: str, value: object) -> None:
    kind = parse_type(text)
    assert type_to_json(kind) == value
    assert type_from_json(value) == kind


def test_defaults_and_comments_survive() -> None:
    member = {"id": 3, "name": "a", "type": "INT", "description": "", "defaultValue": "'x'"}
    (field,) = fields_from_json([member])
    assert (field.description, field.default_value) == ("", "'x'")
    assert field_to_json(field) == member


@pytest.mark.parametrize(
    "value",
    [
        None,
        3,
        "FOO",
        {},
        {"type": "ARRAY"},
        {"type": "LIST", "element": "INT"},
        {"type": "ARRAYS", "element": "INT"},
        {"type": "MAP", "key": "INT"},
        {"type": "VECTOR", "element": "INT", "length": "3"},
        {"type": "ROW", "fields": {}},
        {"type": "ROW", "fields": [3]},
        {"type": "ROW", "fields": [{"id": True, "name": "a", "type": "INT"}]},
        {"type": "ROW", "fields": [{"id": 0, "type": "INT"}]},
        {"type": "ROW", "fields": [{"id": 0, "name": "a", "type": "INT", "description": 3}]},
    ],
)
def test_what_says_no_type_is_refused(value: object) -> None:
    with pytest.raises(InvalidArgumentError):
        type_from_json(value)
