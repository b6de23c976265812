"""Which Avro schema do the data files of some columns have (format.md 5, 11)?

A nullable type is the union of null, first, and itself. A map with text as keys is Avro's own; any
other is an array of records of a key and a value, which the format's readers do not read as a
MULTISET. Records are named after the path that leads to them, as names in a schema must differ.
"""

import json
import re
from collections.abc import Sequence

from lakebed.errors import UnsupportedError
from lakebed.format.type_text import format_type
from lakebed.format.types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
)

__all__ = ["COUNT_TYPE", "avro_schema_text", "has_text_keys"]

COUNT_TYPE = AtomicType(root=TypeRoot.INT)
"""The type of the counts of a MULTISET."""

_NAMESPACE = "org.apache.paimon.avro.generated"
_RECORD = "record"
_NAME = re.compile(r"[^\W\d]\w*")
_MAX_TIME_DIGITS = 3
_MAX_TIMESTAMP_DIGITS = 6
_TEXTS = frozenset({TypeRoot.CHAR, TypeRoot.VARCHAR})
_PRIMITIVES = {
    TypeRoot.BOOLEAN: "boolean",
    TypeRoot.TINYINT: "int",
    TypeRoot.SMALLINT: "int",
    TypeRoot.INT: "int",
    TypeRoot.BIGINT: "long",
    TypeRoot.FLOAT: "float",
    TypeRoot.DOUBLE: "double",
    TypeRoot.CHAR: "string",
    TypeRoot.VARCHAR: "string",
    TypeRoot.BINARY: "bytes",
    TypeRoot.VARBINARY: "bytes",
}
_TIMESTAMPS = {
    TypeRoot.TIMESTAMP: "timestamp",
    # The format's writers have the names the wrong way round, and so do its readers.
    TypeRoot.TIMESTAMP_LTZ: "local-timestamp",
}


def avro_schema_text(fields: Sequence[DataField]) -> str:
    """The schema of files with these columns, as it stands in their headers.

    Raises:
        UnsupportedError: A type or a name that Avro files of the format cannot have; it names the
            column and what to do.
    """
    records: set[str] = set()
    members = []
    for field in fields:
        try:
            members.append(_Schema(records).member(field, _RECORD))
        except _UnwritableError as error:
            raise UnsupportedError(f"column {field.name!r}: {error}") from error
    top = {"type": "record", "name": _RECORD, "namespace": _NAMESPACE, "fields": members}
    return json.dumps(top, separators=(",", ":"), ensure_ascii=False)


def has_text_keys(key: DataType) -> bool:
    """Whether a map with such keys is Avro's own."""
    return isinstance(key, AtomicType) and key.root in _TEXTS


class _UnwritableError(Exception):
    """Says what is wrong with a column."""


class _Schema:
    """Makes the JSON of types, and sees to it that the names of records differ."""

    def __init__(self, records: set[str]) -> None:
        self._records = records

    def member(self, field: DataField, record: str) -> dict[str, object]:
        if not _NAME.fullmatch(field.name):
            raise _UnwritableError(
                f"the name {field.name!r} cannot stand in an Avro file, which takes letters, "
                "digits and underscores; rename it or use file.format=parquet"
            )
        member = {"name": field.name, "type": self.type(field.type, f"{record}_{field.name}")}
        return member | {"default": None} if field.type.nullable else member

    def type(self, kind: DataType, name: str) -> object:
        plain = self._plain(kind, name)
        return ["null", plain] if kind.nullable else plain

    def _plain(self, kind: DataType, name: str) -> object:
        match kind:
            case AtomicType():
                return _atomic(kind)
            case RowType(fields=fields):
                return {"type": "record", "name": name, "fields": self._members(fields, name)}
            case ArrayType(element=element):
                return {"type": "array", "items": self.type(element, name)}
            case MapType(key=key, value=value):
                return self._map(key, value, name)
            case MultisetType(element=element) if has_text_keys(element):
                return self._map(element, COUNT_TYPE, name)
            case _:
                raise _unwritable(kind)

    def _map(self, key: DataType, value: DataType, name: str) -> object:
        if has_text_keys(key):
            return {"type": "map", "values": self.type(value, name)}
        entry = (DataField(id=0, name="key", type=key), DataField(id=1, name="value", type=value))
        members = self._members(entry, name)
        # A key has no default even where its type is nullable.
        members[0].pop("default", None)
        items = {"type": "record", "name": name, "fields": members}
        return {"type": "array", "items": items, "logicalType": "map"}

    def _members(self, fields: Sequence[DataField], name: str) -> list[dict[str, object]]:
        if not fields:
            raise _UnwritableError("a ROW without fields cannot be written to Avro")
        if name in self._records:
            raise _UnwritableError(
                f"two ROWs of the table would both be called {name!r} in an Avro file; rename a "
                "field or use file.format=parquet"
            )
        self._records.add(name)
        return [self.member(field, name) for field in fields]


def _atomic(kind: AtomicType) -> object:
    digits = kind.precision or 0
    match kind.root:
        case TypeRoot.DECIMAL:
            decimal = {"logicalType": "decimal", "precision": kind.precision, "scale": kind.scale}
            return {"type": "bytes", **decimal}
        case TypeRoot.DATE:
            return {"type": "int", "logicalType": "date"}
        case TypeRoot.TIME if digits <= _MAX_TIME_DIGITS:
            return {"type": "int", "logicalType": "time-millis"}
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ if digits <= _MAX_TIMESTAMP_DIGITS:
            unit = "millis" if digits <= _MAX_TIME_DIGITS else "micros"
            return {"type": "long", "logicalType": f"{_TIMESTAMPS[kind.root]}-{unit}"}
        case root if root in _PRIMITIVES:
            return _PRIMITIVES[root]
        case _:
            raise _unwritable(kind)


def _unwritable(kind: DataType) -> _UnwritableError:
    return _UnwritableError(
        f"{format_type(kind)} cannot be written to Avro; use another type or file.format=parquet"
    )
