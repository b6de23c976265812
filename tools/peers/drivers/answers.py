"""What a statement answers, as text that two Sparks of different versions can be compared by.

It runs in Lakebed's own environment and in those of peers, so it needs nothing but PySpark. Values
are told by their types: a TIMESTAMP in UTC, whatever zone the process is in.
"""

import ast
from datetime import UTC, datetime
from typing import Any

from pyspark.sql.types import ArrayType, DataType, MapType, StructType, TimestampType

Answer = dict[str, Any]
Session = Any
"""A session of classic Spark or of Spark Connect, of any version."""
Value = Any
"""What Spark gives: a frame, or a value of a column."""


def answer(session: Session, text: str, *, is_python: bool) -> Answer:
    """Carries a statement out.

    Returns:
        Its columns and rows, or the condition of its error, which is the name of the error's class
        where it has none.
    """
    try:
        value = _value_of(session, text) if is_python else session.sql(text)
        return _told(value)
    except Exception as error:  # noqa: BLE001 - any error is an answer
        return {"error": _condition(error), "message": str(error)}


def _told(value: Value) -> Answer:
    """The columns and rows of a frame; of another value a column, and of None nothing."""
    if value is None:
        return {"columns": [], "rows": []}
    if not hasattr(value, "collect"):
        return {"columns": ["value"], "rows": [[str(value)]]}
    types = [field.dataType for field in value.schema.fields]
    shown = [[_shown(*pair) for pair in zip(row, types, strict=True)] for row in value.collect()]
    return {"columns": list(value.columns), "rows": shown}


def _value_of(session: Session, text: str) -> Value:
    """The value of the last line of a Python program, which is told of `spark`."""
    tree = ast.parse(text)
    names = {"spark": session}
    last = tree.body.pop()
    if not isinstance(last, ast.Expr):
        raise TypeError(f"the last line has no value: {text}")
    exec(compile(tree, "statement", "exec"), names)
    return eval(compile(ast.Expression(last.value), "statement", "eval"), names)


def _condition(error: Exception) -> str:
    for name in ("getCondition", "getErrorClass"):
        condition = getattr(error, name, lambda: None)()
        if condition:
            return str(condition)
    java = getattr(error, "java_exception", None)
    return type(error).__name__ if java is None else str(java.getClass().getName())


def _shown(value: Value, data_type: DataType) -> str:
    match value, data_type:
        case None, _:
            return "NULL"
        case _, ArrayType():
            return f"[{', '.join(_shown(item, data_type.elementType) for item in value)}]"
        case _, MapType():
            pairs = (
                f"{_shown(key, data_type.keyType)}: {_shown(item, data_type.valueType)}"
                for key, item in value.items()
            )
            return f"{{{', '.join(sorted(pairs))}}}"
        case _, StructType():
            types = (field.dataType for field in data_type.fields)
            return f"({', '.join(_shown(*pair) for pair in zip(value, types, strict=True))})"
        case datetime(), TimestampType():
            return str(value.astimezone(UTC).replace(tzinfo=None))
        case bool(), _:
            return str(value).lower()
        case ((bytes() | bytearray()), _):
            return f"x'{value.hex()}'"
        case _:
            return str(value).replace("\n", "\\n")
