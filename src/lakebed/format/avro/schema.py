"""How is the schema of an Avro file rewritten, so that its bytes decode into flat columns?

Pure functions over the parsed JSON of a schema; `avro` explains why this is sound.
"""

from collections.abc import Mapping

_PRIMITIVES = frozenset({"boolean", "int", "long", "float", "double", "bytes", "string"})
_MAX_DEPTH = 32
_SENTINELS: dict[object, object] = {
    "boolean": True,
    "int": 1481511375,
    "long": 1481511375,
    "float": 0.5,
    "double": 0.5,
    "bytes": b"sentinel",
    "string": "sentinel",
}


class _NotFlatError(Exception):
    """The schema has a type that the columnar reader lacks."""


def flatten_schema(schema: object) -> dict[str, object] | None:
    """The schema of the same bytes with records unfolded and logical types dropped.

    None where the columnar reader cannot follow: no record on top, a map, an enum, a fixed type, a
    union of other than null and one type, a recursive record.
    """
    try:
        fields = _flat_fields(schema, prefix="", named={})
    except (_NotFlatError, KeyError, TypeError):
        return None
    return {"type": "record", "name": "flat", "fields": fields} if fields else None


def flatten_record(record: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """A decoded record with its records unfolded, named as `flatten_schema` does."""
    flat: dict[str, object] = {}
    for name, value in record.items():
        if isinstance(value, Mapping):
            flat.update(flatten_record(value, f"{prefix}{name}."))
        else:
            flat[prefix + name] = value
    return flat


def sentinel(flat_schema: Mapping[str, object]) -> dict[str, object]:
    """A record of a flat schema that no writer would leave by accident."""
    fields = flat_schema["fields"]
    if not isinstance(fields, list):
        raise TypeError("a flat schema has a list of fields")
    return {field["name"]: _sentinel_value(field["type"]) for field in fields}


def without_logical_types(schema: object) -> object:
    """The schema with every value as it is stored."""
    if isinstance(schema, list):
        return [without_logical_types(branch) for branch in schema]
    if isinstance(schema, dict):
        return {
            key: without_logical_types(member) if key in {"type", "items", "fields"} else member
            for key, member in schema.items()
            if key != "logicalType"
        }
    return schema


def _flat_fields(
    record: object, *, prefix: str, named: dict[str, dict[str, object]]
) -> list[dict[str, object]]:
    if not isinstance(record, dict) or record.get("type") != "record":
        raise _NotFlatError
    if prefix.count(".") > _MAX_DEPTH:
        raise _NotFlatError
    flat: list[dict[str, object]] = []
    for field in record["fields"]:
        kind = _resolve(field["type"], named)
        name = prefix + field["name"]
        if isinstance(kind, dict) and kind.get("type") == "record":
            flat += _flat_fields(kind, prefix=f"{name}.", named=named)
        else:
            flat.append({"name": name, "type": _plain_type(kind, named)})
    if "name" in record:
        named[str(record["name"]).rsplit(".", 1)[-1]] = record
    return flat


def _plain_type(kind: object, named: dict[str, dict[str, object]]) -> object:
    kind = _resolve(kind, named)
    if isinstance(kind, list):
        if len(kind) != 2 or "null" not in kind:
            raise _NotFlatError
        return [branch if branch == "null" else _plain_type(branch, named) for branch in kind]
    if not isinstance(kind, dict):
        if kind not in _PRIMITIVES:
            raise _NotFlatError
        return kind
    if kind["type"] == "array":
        return {"type": "array", "items": _plain_type(kind["items"], named)}
    if kind["type"] == "record":
        members = [
            {"name": field["name"], "type": _plain_type(field["type"], named)}
            for field in kind["fields"]
        ]
        named[str(kind["name"]).rsplit(".", 1)[-1]] = kind
        # A definition is repeated wherever its name stood, under a name of its own each time.
        unique = f"record{len(named)}"
        named[unique] = kind
        return {"type": "record", "name": unique, "fields": members}
    return _plain_type(kind["type"], named)


def _resolve(kind: object, named: dict[str, dict[str, object]]) -> object:
    """The definition behind a name that an earlier record got; everything else as it is."""
    return named.get(kind.rsplit(".", 1)[-1], kind) if isinstance(kind, str) else kind


def _sentinel_value(kind: object) -> object:
    if isinstance(kind, list):
        return None
    if isinstance(kind, dict):
        return []
    return _SENTINELS[kind]
