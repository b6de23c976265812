"""How does the format lay out JSON files (format.md 3, 4)?

Two blanks an object level, `"key" : value`, arrays on the line of their key, `[ ]` and `{ }` when
empty. Arrays add no indentation of their own, which is why the objects of an array stand one level
deeper than the key, not two. Readers take any JSON; writers print this, so that files of the same
content are the same bytes whoever wrote them.
"""

import json
import re
from collections.abc import Mapping, Sequence

from lakebed.errors import CorruptTableError

_INDENT = "  "
_ESCAPE = re.compile(r"\\(u....|.)")


def format_json(value: object) -> str:
    """The text of a JSON value made of mappings, sequences, strings, numbers, bools and None."""
    return _format_value(value, 0)


def format_flat_json(value: object) -> str:
    """The text of a JSON value on one line without blanks."""
    return _escaped(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=dict))


def parse_json_object(data: bytes, path: str) -> dict[str, object]:
    """The object that a JSON file holds.

    Raises:
        CorruptTableError: The file is no JSON, holds something else than an object, or a whole
            number of more than 64 bits.
    """
    try:
        value = json.loads(data, parse_int=_parse_long)
    except (ValueError, RecursionError) as error:
        raise CorruptTableError(path, f"not a JSON file: {error}") from error
    if not isinstance(value, dict):
        raise CorruptTableError(path, f"holds a JSON {type(value).__name__} instead of an object")
    return value


def _parse_long(digits: str) -> int:
    # Wider than any number of the format, and than what Arrow columns and other stores take.
    value = int(digits)
    if not -(2**63) <= value < 2**63:
        raise ValueError(f"{digits} has more than 64 bits")
    return value


def _format_value(value: object, level: int) -> str:
    if isinstance(value, Mapping):
        return _format_object(value, level)
    if isinstance(value, Sequence) and not isinstance(value, str):
        items = [_format_value(item, level) for item in value]
        return f"[ {', '.join(items)} ]" if items else "[ ]"
    if isinstance(value, str):
        return _format_text(value)
    return json.dumps(value)


def _format_object(value: Mapping[str, object], level: int) -> str:
    if not value:
        return "{ }"
    indent = "\n" + _INDENT * (level + 1)
    members = [
        f"{indent}{_format_text(key)} : {_format_value(member, level + 1)}"
        for key, member in value.items()
    ]
    return "{" + ",".join(members) + "\n" + _INDENT * level + "}"


def _format_text(value: str) -> str:
    return _escaped(json.dumps(value, ensure_ascii=False))


def _escaped(text: str) -> str:
    # The hexadecimal digits of control characters are upper case.
    return _ESCAPE.sub(_with_upper_digits, text)


def _with_upper_digits(escape: re.Match[str]) -> str:
    code = escape[1]
    return f"\\u{code[1:].upper()}" if code.startswith("u") else escape[0]
