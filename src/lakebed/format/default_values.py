"""What does the text of a column's default mean (format.md 4, `defaultValue`)?

It is cast to the column's type. Engines with SQL store a literal as it was written, so that the
text may stand in quotes, of which one pair is taken away. Nested values have two forms each:

    ARRAY   ARRAY('x', 'y')     [x, y]
    MAP     MAP('k', 1)         {k -> 1}
    ROW     STRUCT(4, 'z')      {4, z}
"""

import re
from collections.abc import Iterable
from datetime import UTC
from typing import TypeAlias

import pyarrow as pa

from lakebed.errors import InvalidDataError, InvalidTableError
from lakebed.format.arrow.types import to_arrow_type
from lakebed.format.arrow.typing import ArrowScalar
from lakebed.format.casts.rules import cast_values, has_cast
from lakebed.format.type_text import format_type
from lakebed.format.types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    RowType,
    TypeRoot,
)

__all__ = ["Default", "check_defaults", "default_of", "kinds_of", "parse_default"]

Default: TypeAlias = "str | tuple[Default, ...] | None"
"""The text of a value, or the parts of a nested one: elements, keys and values by turns, fields."""

_TEXT = AtomicType(root=TypeRoot.VARCHAR, length=2**31 - 1)
_PIECE = re.compile(
    r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|->|[\[\](){},]|[^\[\](){},'\"-]+|.", re.DOTALL
)
_NESTED = re.compile(r"\s*(?:(\w+)\s*\((.*)\)|([\[{])(.*)[\]}])\s*", re.DOTALL)
_FORMS: dict[type[DataType], tuple[str, str]] = {
    ArrayType: ("ARRAY", "["),
    MapType: ("MAP", "{"),
    RowType: ("STRUCT", "{"),
}


def default_of(field: DataField) -> ArrowScalar:
    """The value of a column's default.

    Raises:
        InvalidDataError: There is no such value.
    """
    text = field.default_value or ""
    try:
        parsed = parse_default(text, field.type)
        if isinstance(parsed, str):
            return _atomic(parsed, field.type)
        value = _value(parsed, field.type)
        made: ArrowScalar = pa.array([value], to_arrow_type(field.type))[0]
    except (InvalidDataError, pa.ArrowException) as error:
        raise InvalidDataError(
            f"column {field.name!r}: its default {text!r} cannot be used: {error}; "
            "give the column a value"
        ) from error
    return made


def check_defaults(fields: Iterable[DataField]) -> None:
    """Refuses a default that no row could be given.

    Raises:
        InvalidTableError: There is one.
    """
    for field in fields:
        if field.default_value is not None:
            try:
                default_of(field)
            except InvalidDataError as error:
                raise InvalidTableError(str(error)) from error


def parse_default(text: str, kind: DataType) -> Default:
    """The parts of a default.

    Args:
        text: It, as the schema has it.
        kind: The column's type.

    Raises:
        InvalidDataError: It is of another form than its type.
    """
    return _unquoted(text) if isinstance(kind, AtomicType) else _nested(text, kind)


def _nested(text: str, kind: DataType) -> Default:
    if text.strip().upper() == "NULL":
        return None
    if isinstance(kind, AtomicType):
        return _leaf(text.strip())
    form = _FORMS.get(type(kind))
    if form is None:
        raise InvalidDataError(f"there are no defaults of {format_type(kind)}")
    found = _NESTED.fullmatch(text)
    opening = None if found is None else (found[1] or found[3]).upper()
    if found is None or opening not in form:
        raise InvalidDataError(f"{text!r} is no {format_type(kind)}; it is written {form[0]}(…)")
    parts = _split(found[2] or found[4] or "", has_arrows=form[0] == "MAP" and opening == "{")
    if not parts and isinstance(kind, RowType):
        parts = ["NULL"] * len(kind.fields)
    kinds = kinds_of(kind, len(parts))
    if len(kinds) != len(parts):
        raise InvalidDataError(f"{text!r} has {len(parts)} parts, not those of {format_type(kind)}")
    return tuple(map(_nested, parts, kinds))


def kinds_of(kind: DataType, count: int) -> list[DataType]:
    """The types of the parts of a value that has so many."""
    match kind:
        case ArrayType():
            return [kind.element] * count
        case MapType():
            return [kind.key, kind.value] * (-(-count // 2))
        case RowType():
            return [field.type for field in kind.fields]
        case _:
            return []


def _split(text: str, *, has_arrows: bool) -> list[str]:
    """What commas part, and arrows in a map in braces, outside of quotes and parentheses."""
    parts, depth = [""], 0
    for piece in _PIECE.findall(text):
        depth += (piece in "([{") - (piece in ")]}")
        if depth == 0 and (piece == "," or (has_arrows and piece == "->")):
            parts.append("")
        else:
            parts[-1] += piece
    return parts if text.strip() else []


def _leaf(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)
    return text


def _unquoted(text: str) -> str:
    is_quoted = len(text) > 1 and text[0] == text[-1] == "'"
    return text[1:-1] if is_quoted else text


def _value(default: Default, kind: DataType) -> object:
    """The value as Arrow takes it from Python."""
    if default is None:
        return None
    if isinstance(default, str):
        return _atomic(default, kind).as_py()
    values = [_value(*each) for each in zip(default, kinds_of(kind, len(default)), strict=True)]
    match kind:
        case MapType():
            return list(zip(values[::2], values[1::2], strict=True))
        case RowType():
            return dict(zip((field.name for field in kind.fields), values, strict=True))
        case _:
            return values


def _atomic(text: str, kind: DataType) -> ArrowScalar:
    is_zoned = isinstance(kind, AtomicType) and kind.root is TypeRoot.TIMESTAMP_LTZ
    if is_zoned or not has_cast(_TEXT, kind):
        raise InvalidDataError(f"there is no cast from text to {format_type(kind)}")
    text_column = pa.array([text], pa.string())
    value: ArrowScalar = cast_values(text_column, _TEXT, kind, time_zone=UTC)[0]
    return value
