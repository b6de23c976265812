"""How does an expression read as SQL, in messages and in `explain`?"""

import numpy as np

from lakebed.format.arrow.atoms import timestamp_unit
from lakebed.format.predicate.expressions import (
    And,
    Arithmetic,
    Cast,
    Column,
    Comparison,
    Expression,
    InList,
    IsNull,
    Like,
    Literal,
    Negation,
    Not,
    Or,
)
from lakebed.format.types import AtomicType, DataType, TypeRoot

__all__ = ["format_expression", "type_name"]

_TEMPORAL = (TypeRoot.DATE, TypeRoot.TIME, TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ)


def type_name(kind: DataType) -> str:
    """A type as the text of an expression names it."""
    if not isinstance(kind, AtomicType):
        return type(kind).__name__.removesuffix("Type").upper()
    match kind.root:
        case TypeRoot.DECIMAL:
            return f"DECIMAL({kind.precision}, {kind.scale})"
        case TypeRoot.TIMESTAMP:
            return "TIMESTAMP_NTZ"
        case TypeRoot.TIMESTAMP_LTZ:
            return "TIMESTAMP_LTZ"
        case TypeRoot.CHAR:
            return f"CHAR({kind.length})"
        case TypeRoot.VARCHAR:
            return "STRING"
        case TypeRoot.VARBINARY:
            return "BINARY"
        case _:
            return str(kind.root.value)


def format_expression(expression: Expression) -> str:
    """The expression as text, with every nested operation in parentheses."""
    match expression:
        case Column():
            return ".".join(map(_name_text, expression.path))
        case Literal():
            return _literal_text(expression)
        case Not(operand=IsNull(operand=operand)):
            return f"{_part(operand)} IS NOT NULL"
        case Not():
            return f"NOT {_part(expression.operand)}"
        case And() | Or():
            word = " AND " if isinstance(expression, And) else " OR "
            return word.join(map(_part, expression.operands))
        case _:
            return _operation_text(expression)


def _operation_text(expression: Expression) -> str:
    match expression:
        case Comparison() | Arithmetic():
            sign = expression.operator.value
            return f"{_part(expression.left)} {sign} {_part(expression.right)}"
        case InList():
            items = ", ".join(map(_part, expression.items))
            return f"{_part(expression.operand)} IN ({items})"
        case Like():
            pattern = "NULL" if expression.pattern is None else _quoted(expression.pattern)
            escape = "" if expression.escape == "\\" else f" ESCAPE {_quoted(expression.escape)}"
            return f"{_part(expression.operand)} LIKE {pattern}{escape}"
        case IsNull():
            return f"{_part(expression.operand)} IS NULL"
        case Negation():
            return f"- {_part(expression.operand)}"
        case Cast():
            return f"CAST({format_expression(expression.operand)} AS {type_name(expression.type)})"
        case _:
            return format_expression(expression)


def _part(expression: Expression) -> str:
    text = format_expression(expression)
    return text if isinstance(expression, Column | Literal | Cast) else f"({text})"


def _name_text(name: str) -> str:
    is_plain = name.isidentifier() and name.isascii()
    return name if is_plain else "`" + name.replace("`", "``") + "`"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _literal_text(literal: Literal) -> str:
    value, root = literal.value, literal.type.root
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, bytes):
        return f"X'{value.hex().upper()}'"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int) and root in _TEMPORAL:
        return f"{type_name(literal.type)} '{_temporal_text(value, literal.type)}'"
    return str(value)


def _temporal_text(value: int, kind: AtomicType) -> str:
    if kind.root is TypeRoot.DATE:
        return str(np.datetime64(value, "D"))
    if kind.root is TypeRoot.TIME:
        return str(np.datetime64(value, "ms")).partition("T")[2]
    moment = str(np.datetime64(value, timestamp_unit(kind))).replace("T", " ")
    return moment + ("Z" if kind.root is TypeRoot.TIMESTAMP_LTZ else "")
