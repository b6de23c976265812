"""How is a type written in a schema file (format.md 4)?

An atomic type is its text; a nested one is an object whose `type` is its root, with `NOT NULL`
where it is so.
"""

from collections.abc import Mapping

from lakebed.errors import InvalidArgumentError
from lakebed.format.type_text import format_type, parse_type
from lakebed.format.types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    VectorType,
)

_NOT_NULL = " NOT NULL"


def type_to_json(kind: DataType) -> object:
    """The JSON value of a type."""
    suffix = "" if kind.nullable else _NOT_NULL
    match kind:
        case AtomicType():
            return format_type(kind)
        case ArrayType():
            return {"type": "ARRAY" + suffix, "element": type_to_json(kind.element)}
        case MultisetType():
            return {"type": "MULTISET" + suffix, "element": type_to_json(kind.element)}
        case MapType():
            return {
                "type": "MAP" + suffix,
                "key": type_to_json(kind.key),
                "value": type_to_json(kind.value),
            }
        case VectorType():
            return {
                "type": "VECTOR" + suffix,
                "element": type_to_json(kind.element),
                "length": kind.length,
            }
        case RowType():
            return {"type": "ROW" + suffix, "fields": [field_to_json(field) for field in kind]}


def field_to_json(field: DataField) -> dict[str, object]:
    """The JSON object of a field; comment and default only where there are."""
    members: dict[str, object] = {
        "id": field.id,
        "name": field.name,
        "type": type_to_json(field.type),
    }
    if field.description is not None:
        members["description"] = field.description
    if field.default_value is not None:
        members["defaultValue"] = field.default_value
    return members


def type_from_json(value: object) -> DataType:
    """The type that a JSON value says.

    Raises:
        InvalidArgumentError: It says none.
        UnsupportedError: A type that Lakebed lacks.
    """
    if isinstance(value, str):
        return parse_type(value)
    if not isinstance(value, Mapping):
        raise InvalidArgumentError(f"{value!r} is no type")
    text = _text(value, "type")
    root = text.removesuffix(_NOT_NULL)
    nullable = root == text
    match root:
        case "ARRAY":
            return ArrayType(element=_part(value, "element"), nullable=nullable)
        case "MULTISET":
            return MultisetType(element=_part(value, "element"), nullable=nullable)
        case "MAP":
            return MapType(key=_part(value, "key"), value=_part(value, "value"), nullable=nullable)
        case "VECTOR":
            length = _number(value, "length")
            return VectorType(element=_part(value, "element"), length=length, nullable=nullable)
        case "ROW":
            return RowType(fields=fields_from_json(value.get("fields")), nullable=nullable)
        case _:
            raise InvalidArgumentError(f"{text!r} is no nested type")


def fields_from_json(value: object) -> tuple[DataField, ...]:
    """The fields that a JSON array says. Raises as `type_from_json`."""
    if not isinstance(value, list):
        raise InvalidArgumentError("fields are no array")
    return tuple(_field_from_json(member) for member in value)


def _field_from_json(value: object) -> DataField:
    if not isinstance(value, Mapping):
        raise InvalidArgumentError(f"{value!r} is no field")
    return DataField(
        id=_number(value, "id"),
        name=_text(value, "name"),
        type=_part(value, "type"),
        description=_optional_text(value, "description"),
        default_value=_optional_text(value, "defaultValue"),
    )


def _part(value: Mapping[str, object], name: str) -> DataType:
    if name not in value:
        raise InvalidArgumentError(f"a type lacks {name!r}")
    return type_from_json(value[name])


def _text(value: Mapping[str, object], name: str) -> str:
    text = value.get(name)
    if not isinstance(text, str):
        raise InvalidArgumentError(f"{name!r} should be text, not {text!r}")
    return text


def _optional_text(value: Mapping[str, object], name: str) -> str | None:
    return None if value.get(name) is None else _text(value, name)


def _number(value: Mapping[str, object], name: str) -> int:
    number = value.get(name)
    if not isinstance(number, int) or isinstance(number, bool):
        raise InvalidArgumentError(f"{name!r} should be a number, not {number!r}")
    return number
