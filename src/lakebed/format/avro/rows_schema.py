"""How is the schema of an Avro data file rewritten, so that a columnar decoder reads its bytes?

Pure functions over the parsed JSON of a schema. Two encodings coincide, which is all it takes:

* a map is encoded as an array of records of a string key and a value would be;
* a nullable record on top is encoded as a record with one nullable field would be.

So the decoder, which knows records, arrays, nullables and primitives, is given those. Names are
resolved and logical types left out; `AvroNode` keeps what the latter said (format.md 5).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from lakebed.errors import UnsupportedError

_PRIMITIVES: Mapping[str, object] = {
    "boolean": True,
    "int": 1481511375,
    "long": 1481511375,
    "float": 0.5,
    "double": 0.5,
    "bytes": b"sentinel",
    "string": "sentinel",
}
_MAX_DEPTH = 64
TOP = "row"
"""Name of the one field of a decoded record that holds the whole row, where rows may be null."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AvroNode:
    """A type of the file, names resolved.

    Attributes:
        kind: `record`, `array`, `map` or the name of a primitive.
        nullable: Whether it is a union with null.
        null_first: Whether null is the union's first branch.
        logical: The logical type, or None.
        scale: Of a decimal.
        precision: Of a decimal.
        fields: Of a record, by name and in order; of an array `element`; of a map `key` and
            `value`.
    """

    kind: str
    nullable: bool = False
    null_first: bool = True
    logical: str | None = None
    scale: int = 0
    precision: int = 0
    fields: "tuple[tuple[str, AvroNode], ...]" = ()

    def field(self, name: str) -> "AvroNode":
        """The part of that name."""
        return dict(self.fields)[name]


def parse_schema(schema: object) -> AvroNode:
    """The type of a file's records, from the JSON of its schema.

    Raises:
        UnsupportedError: The schema has types that no writer of the format uses.
        KeyError: It is no Avro schema.
        TypeError: Likewise.
        ValueError: Likewise.
    """
    return _Parser().parse(schema, depth=0)


def decoder_schema(row: AvroNode) -> dict[str, object]:
    """The Avro schema, for the decoder, of the same bytes."""
    names = iter(range(1 << 30))

    def render(node: AvroNode) -> object:
        if node.kind in {"record", "map"}:
            fields = [{"name": name, "type": render(part)} for name, part in node.fields]
            plain: object = {"type": "record", "name": f"r{next(names)}", "fields": fields}
            if node.kind == "map":
                plain = {"type": "array", "items": plain}
        elif node.kind == "array":
            plain = {"type": "array", "items": render(node.field("element"))}
        else:
            plain = node.kind
        if not node.nullable:
            return plain
        return ["null", plain] if node.null_first else [plain, "null"]

    top = row if not row.nullable else AvroNode(kind="record", fields=((TOP, row),))
    rendered = render(top)
    if not isinstance(rendered, dict):
        raise TypeError("the schema on top is not that of a record")
    return rendered


def sentinel(row: AvroNode) -> dict[str, object]:
    """A record of `decoder_schema` that no writer would leave by accident, and nowhere null."""
    record = _sentinel(row)
    if not isinstance(record, dict):
        raise TypeError("the schema on top is not that of a record")
    return {TOP: record} if row.nullable else record


def _sentinel(node: AvroNode) -> object:
    if node.kind == "record":
        return {name: _sentinel(part) for name, part in node.fields}
    return [] if node.kind in {"array", "map"} else _PRIMITIVES[node.kind]


class _Parser:
    """Resolves the names of one schema, in the order of its text."""

    def __init__(self) -> None:
        self._named: dict[str, AvroNode] = {}

    def parse(self, schema: object, *, depth: int) -> AvroNode:
        if depth > _MAX_DEPTH:
            raise UnsupportedError("its Avro schema is nested too deeply")
        if isinstance(schema, list):
            return self._union(schema, depth)
        if isinstance(schema, str):
            return self._named_type(schema)
        if not isinstance(schema, dict):
            raise TypeError(f"{schema!r} is no Avro schema")
        kind = schema["type"]
        if kind == "record":
            return self._record(schema, depth)
        if kind == "array":
            element = self.parse(schema["items"], depth=depth + 1)
            return AvroNode(kind="array", fields=(("element", element),))
        if kind == "map":
            key, value = AvroNode(kind="string"), self.parse(schema["values"], depth=depth + 1)
            return AvroNode(kind="map", fields=(("key", key), ("value", value)))
        if isinstance(kind, str) and kind in _PRIMITIVES:
            return _primitive(kind, schema)
        return self.parse(kind, depth=depth + 1)

    def _record(self, schema: Mapping[str, object], depth: int) -> AvroNode:
        fields = schema["fields"]
        if not isinstance(fields, list):
            raise TypeError("a record of the schema has no list of fields")
        parts = tuple(
            (str(field["name"]), self.parse(field["type"], depth=depth + 1)) for field in fields
        )
        if not parts:
            raise UnsupportedError("its Avro schema has a record without fields")
        node = AvroNode(kind="record", fields=parts)
        self._named[_short(schema["name"])] = node
        return node

    def _union(self, branches: list[object], depth: int) -> AvroNode:
        others = [branch for branch in branches if branch != "null"]
        if len(branches) != 2 or len(others) != 1:
            raise UnsupportedError(
                f"its Avro schema has the union {branches}, which is not of null and one type"
            )
        plain = self.parse(others[0], depth=depth + 1)
        return AvroNode(
            kind=plain.kind,
            nullable=True,
            null_first=branches[0] == "null",
            logical=plain.logical,
            scale=plain.scale,
            precision=plain.precision,
            fields=plain.fields,
        )

    def _named_type(self, name: str) -> AvroNode:
        if name in _PRIMITIVES:
            return AvroNode(kind=name)
        found = self._named.get(_short(name))
        if found is None:
            raise UnsupportedError(f"its Avro schema has the type {name!r}")
        return found


def _primitive(kind: str, schema: Mapping[str, object]) -> AvroNode:
    logical = schema.get("logicalType")
    if not isinstance(logical, str):
        return AvroNode(kind=kind)
    if logical != "decimal":
        return AvroNode(kind=kind, logical=logical)
    precision, scale = schema["precision"], schema.get("scale", 0)
    if not isinstance(precision, int) or not isinstance(scale, int):
        raise TypeError("a decimal of the schema has no number as its precision and scale")
    return AvroNode(kind=kind, logical=logical, precision=precision, scale=scale)


def _short(name: object) -> str:
    return str(name).rsplit(".", 1)[-1]
