"""How are the clauses about columns read?"""

from collections.abc import Mapping

from lakebed.format.altering.changes import After, First, Position
from lakebed.spark.sql.altering.statements import (
    AddColumns,
    AlterColumns,
    ColumnAction,
    DropColumns,
    NewColumn,
    RenameColumnTo,
)
from lakebed.spark.sql.clauses import type_text
from lakebed.spark.sql.cursor import Cursor
from lakebed.spark.sql.statements import Name, Statement, Unsupported

# What may stand behind the type of a column, in any order.
_DESCRIPTORS = ("NOT", "DEFAULT", "COMMENT", "FIRST", "AFTER")
_ACTION_WORDS = ("TYPE", "SET", "DROP", "COMMENT", "FIRST", "AFTER")


def add_columns(cursor: Cursor, name: Name) -> Statement:
    """ADD COLUMNS, in parentheses or without."""
    inner = _listed(cursor)
    columns = [_new_column(inner)]
    while inner.accept_symbol(","):
        columns.append(_new_column(inner))
    inner.expect_end()
    return AddColumns(name=name, columns=tuple(columns))


def drop_columns(cursor: Cursor, name: Name) -> Statement:
    """DROP COLUMNS, in parentheses or without."""
    if_exists = cursor.accept("IF", "EXISTS")
    inner = _listed(cursor)
    columns = [inner.names()]
    while inner.accept_symbol(","):
        columns.append(inner.names())
    inner.expect_end()
    return DropColumns(name=name, columns=tuple(columns), if_exists=if_exists)


def rename_column(cursor: Cursor, name: Name) -> Statement:
    """RENAME COLUMN."""
    column = cursor.names()
    cursor.expect("TO")
    new_name = cursor.name()
    cursor.expect_end()
    return RenameColumnTo(name=name, column=column, new_name=new_name)


def alter_columns(cursor: Cursor, name: Name) -> Statement:
    """ALTER COLUMN: an action a column, or several between commas."""
    actions = [_action(cursor)]
    while cursor.accept_symbol(","):
        actions.append(_action(cursor))
    cursor.expect_end()
    return AlterColumns(name=name, columns=tuple(actions))


def change_columns(cursor: Cursor, name: Name) -> Statement:
    """CHANGE COLUMN: as ALTER COLUMN, or as Hive has it, with the name twice and the type."""
    start = cursor.index
    path = cursor.names()
    token = cursor.peek()
    if token is None or token.is_word(*_ACTION_WORDS):
        cursor.index = start
        return alter_columns(cursor, name)
    new_name = cursor.name()
    kind = type_text(cursor, *_DESCRIPTORS)
    if not kind:
        raise cursor.error()
    found = _descriptors(cursor)
    cursor.expect_end()
    if new_name != path[-1]:
        return Unsupported(
            operation="CHANGE COLUMN with a new name (RENAME COLUMN does that)", target=name
        )
    if not found.keys() <= {"comment", "position"}:
        return Unsupported(operation="CHANGE COLUMN with NOT NULL or DEFAULT", target=name)
    action = ColumnAction(path=path, type=kind, **found)  # type: ignore[arg-type]  # as parsed
    return AlterColumns(name=name, columns=(action,))


def _listed(cursor: Cursor) -> Cursor:
    """What a list in parentheses holds, or the rest of the statement."""
    if not cursor.sees_symbol("("):
        return cursor
    inner = Cursor(cursor.parenthesized())
    cursor.expect_end()
    return inner


def _new_column(cursor: Cursor) -> NewColumn:
    path = cursor.names()
    kind = type_text(cursor, *_DESCRIPTORS)
    if not kind:
        raise cursor.error()
    return NewColumn(path=path, type=kind, **_descriptors(cursor))  # type: ignore[arg-type]  # as parsed


def _descriptors(cursor: Cursor) -> Mapping[str, object]:
    """What stands behind the type of a column, each at most once."""
    found: dict[str, object] = {}
    while not (cursor.at_end or cursor.sees_symbol(",")):
        place = cursor.index
        key, value = _descriptor(cursor)
        if key in found:
            cursor.index = place
            raise cursor.error()
        found[key] = value
    return found


def _descriptor(cursor: Cursor) -> tuple[str, object]:
    if cursor.accept("NOT"):
        cursor.expect("NULL")
        return "is_not_null", True
    if cursor.accept("DEFAULT"):
        return "default", _value(cursor)
    if cursor.accept("COMMENT"):
        return "comment", cursor.string()
    return "position", _position(cursor)


def _position(cursor: Cursor) -> Position:
    if cursor.accept("FIRST"):
        return First()
    cursor.expect("AFTER")
    return After(cursor.name())


def _action(cursor: Cursor) -> ColumnAction:
    path = cursor.names()
    if cursor.accept("TYPE"):
        # Nothing may stand behind the type here; read with it, it would be lost.
        kind = type_text(cursor, *_DESCRIPTORS)
        if not kind:
            raise cursor.error()
        return ColumnAction(path=path, type=kind)
    if cursor.accept("COMMENT"):
        return ColumnAction(path=path, comment=cursor.string())
    for words, nullable in ((("SET", "NOT", "NULL"), False), (("DROP", "NOT", "NULL"), True)):
        if cursor.accept(*words):
            return ColumnAction(path=path, nullable=nullable)
    if cursor.accept("SET", "DEFAULT"):
        return ColumnAction(path=path, default=_value(cursor))
    if cursor.accept("DROP", "DEFAULT"):
        return ColumnAction(path=path, drops_default=True)
    return ColumnAction(path=path, position=_position(cursor))


def _value(cursor: Cursor) -> str:
    text = type_text(cursor, *_DESCRIPTORS)
    if not text:
        raise cursor.error()
    return text
