"""Which CREATE TABLE makes a table again?"""

import re

from lakebed.format.default_values import Default, kinds_of, parse_default
from lakebed.format.types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    VectorType,
)
from lakebed.spark.names import TableName, literal
from lakebed.spark.types import type_text
from lakebed.table.table import Table

_PLAIN_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_NUMBER = re.compile(r"-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_NUMERIC = frozenset(
    {
        TypeRoot.TINYINT,
        TypeRoot.SMALLINT,
        TypeRoot.INT,
        TypeRoot.BIGINT,
        TypeRoot.FLOAT,
        TypeRoot.DOUBLE,
        TypeRoot.DECIMAL,
    }
)


def definition_text(name: TableName, table: Table, properties: dict[str, str]) -> str:
    """The statement, laid out as Spark does.

    Args:
        name: What the table is called in it.
        table: The table.
        properties: What stands behind TBLPROPERTIES, the primary key included.
    """
    parts = (name.catalog, name.database, name.table)
    shown = ".".join(map(quoted_if_needed, parts))
    text = f"CREATE TABLE {shown} {_listed([_column(each) for each in table.schema.fields])}"
    text += "USING paimon\n"
    if table.partition_keys:
        text += f"PARTITIONED BY ({', '.join(map(quoted_if_needed, table.partition_keys))})\n"
    if table.comment:
        text += f"COMMENT {literal(table.comment)}\n"
    if properties:
        pairs = [f"{literal(key)} = {literal(value)}" for key, value in properties.items()]
        text += f"TBLPROPERTIES {_listed(pairs)}"
    return text


def quoted_if_needed(name: str) -> str:
    """The name, in backticks where it is not of letters, digits and `_` alone."""
    return name if _PLAIN_NAME.fullmatch(name) else f"`{name.replace('`', '``')}`"


def _listed(items: list[str]) -> str:
    inner = ",\n  ".join(items)
    return f"(\n  {inner})\n"


def _column(field: DataField) -> str:
    default = f" DEFAULT {_default(field)}" if field.default_value is not None else ""
    constraint = "" if field.type.nullable else " NOT NULL"
    return (
        f"{quoted_if_needed(field.name)} {_type(field.type)}{constraint}{default}{_comment(field)}"
    )


def _default(field: DataField) -> str:
    return _literal(parse_default(field.default_value or "", field.type), field.type)


def _literal(default: Default, kind: DataType) -> str:
    """A default as CREATE TABLE takes it."""
    if default is None:
        return "NULL"
    if isinstance(default, str):
        root = kind.root if isinstance(kind, AtomicType) else None
        is_number = root in _NUMERIC and _NUMBER.fullmatch(default)
        is_flag = root is TypeRoot.BOOLEAN and default in {"true", "false"}
        return default if is_number or is_flag else literal(default)
    name = {ArrayType: "ARRAY", MapType: "MAP"}.get(type(kind), "STRUCT")
    return f"{name}({', '.join(map(_literal, default, kinds_of(kind, len(default))))})"


def _comment(field: DataField) -> str:
    return "" if field.description is None else f" COMMENT {literal(field.description)}"


def _type(kind: DataType) -> str:
    match kind:
        case ArrayType() | VectorType():
            return f"ARRAY<{_type(kind.element)}>"
        case MapType():
            return f"MAP<{_type(kind.key)}, {_type(kind.value)}>"
        case MultisetType():
            return f"MAP<{_type(kind.element)}, INT>"
        case RowType():
            return f"STRUCT<{', '.join(map(_nested, kind.fields))}>"
        case AtomicType():
            return type_text(kind).upper()


def _nested(field: DataField) -> str:
    constraint = "" if field.type.nullable else " NOT NULL"
    return f"{quoted_if_needed(field.name)}: {_type(field.type)}{constraint}{_comment(field)}"
