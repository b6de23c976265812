"""The types of the format (format.md 4, features.md 10), as values.

A type knows nothing of text, JSON or Arrow: `type_text` prints and parses it, `arrow_types` maps
it. Nullability is part of a type, as in the schema file.
"""

import enum
from collections.abc import Iterator
from dataclasses import dataclass, replace

MAX_LENGTH = 2147483647


class TypeRoot(enum.Enum):
    """The root of an atomic type; the value is its name in a schema file."""

    BOOLEAN = "BOOLEAN"
    TINYINT = "TINYINT"
    SMALLINT = "SMALLINT"
    INT = "INT"
    BIGINT = "BIGINT"
    FLOAT = "FLOAT"
    DOUBLE = "DOUBLE"
    DECIMAL = "DECIMAL"
    CHAR = "CHAR"
    VARCHAR = "VARCHAR"
    BINARY = "BINARY"
    VARBINARY = "VARBINARY"
    DATE = "DATE"
    TIME = "TIME"
    TIMESTAMP = "TIMESTAMP"
    TIMESTAMP_LTZ = "TIMESTAMP WITH LOCAL TIME ZONE"
    VARIANT = "VARIANT"
    BLOB = "BLOB"


@dataclass(frozen=True, slots=True, kw_only=True)
class AtomicType:
    """A type without parts.

    Attributes:
        root: What it is.
        nullable: Whether null is a value of it.
        length: Of CHAR, VARCHAR, BINARY and VARBINARY; STRING and BYTES have `MAX_LENGTH`.
        precision: Of DECIMAL, TIME, TIMESTAMP and TIMESTAMP_LTZ.
        scale: Of DECIMAL.
    """

    root: TypeRoot
    nullable: bool = True
    length: int | None = None
    precision: int | None = None
    scale: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayType:
    """A list of elements."""

    element: "DataType"
    nullable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class MapType:
    """Keys to values."""

    key: "DataType"
    value: "DataType"
    nullable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class MultisetType:
    """Elements with their counts."""

    element: "DataType"
    nullable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorType:
    """A dense vector of fixed length."""

    element: "DataType"
    length: int
    nullable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RowType:
    """Named fields, in order."""

    fields: "tuple[DataField, ...]"
    nullable: bool = True

    def __iter__(self) -> "Iterator[DataField]":
        """The fields in order."""
        return iter(self.fields)

    @property
    def names(self) -> list[str]:
        """The names of the fields in order."""
        return [field.name for field in self.fields]

    def field(self, name: str) -> "DataField | None":
        """The field of that exact name."""
        return next((field for field in self.fields if field.name == name), None)


DataType = AtomicType | ArrayType | MapType | MultisetType | VectorType | RowType


@dataclass(frozen=True, slots=True, kw_only=True)
class DataField:
    """A column, or a field of a ROW.

    Attributes:
        id: Unique in the table over nesting and time; what evolution goes by.
        name: The name at present.
        type: The type, nullability included.
        description: The comment.
        default_value: Text of the default for writes.
    """

    id: int
    name: str
    type: DataType
    description: str | None = None
    default_value: str | None = None


def with_nullability(kind: DataType, *, nullable: bool) -> DataType:
    """The same type, nullable or not."""
    return replace(kind, nullable=nullable)


def leaf_types(kind: DataType) -> Iterator[DataType]:
    """The types inside a type that have no parts of their own, VECTOR and MULTISET among them."""
    match kind:
        case ArrayType(element=element):
            yield from leaf_types(element)
        case MapType(key=key, value=value):
            yield from leaf_types(key)
            yield from leaf_types(value)
        case RowType(fields=fields):
            for field in fields:
                yield from leaf_types(field.type)
        case _:
            yield kind
