import pytest

from lakebed.errors import CorruptTableError
from lakebed.format.json_text import format_json, parse_json_object


def test_objects_in_arrays_stand_one_level_deep() -> None:
    text = format_json({"a": [{"b": 1}, {"c": {}}], "d": [], "e": ["x", "y"]})
    assert text == (
        '{\n  "a" : [ {\n    "b" : 1\n  }, {\n    "c" : { }\n  } ],\n'
        '  "d" : [ ],\n  "e" : [ "x", "y" ]\n}'
    )


def test_only_quotes_backslashes_and_control_characters_are_escaped() -> None:
    assert format_json('"\\\n\x1f\x7fé/') == '"\\"\\\\\\n\\u001F\x7fé/"'


def test_a_backslash_before_hexadecimal_letters_stays() -> None:
    assert format_json("\\x1f") == '"\\\\x1f"'
    assert format_json("\\u001f") == '"\\\\u001f"'


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe\xff", b'{"a": }', b"[" * 100_000])
def test_what_is_no_json_is_corrupt_and_names_the_file(data: bytes) -> None:
    with pytest.raises(CorruptTableError) as caught:
        parse_json_object(data, "/t/snapshot/snapshot-1")
    assert caught.value.path == "/t/snapshot/snapshot-1"


def test_an_array_is_no_object() -> None:
    with pytest.raises(CorruptTableError, match="list instead of an object"):
        parse_json_object(b"[]", "x")


@pytest.mark.parametrize("digits", ["9223372036854775808", "-9223372036854775809", "9" * 5000])
def test_a_number_of_more_than_64_bits_is_corrupt(digits: str) -> None:
    with pytest.raises(CorruptTableError, match="not a JSON file"):
        parse_json_object(b'{"a": %s}' % digits.encode(), "x")
    assert parse_json_object(b'{"a": -9223372036854775808}', "x") == {"a": -(2**63)}
