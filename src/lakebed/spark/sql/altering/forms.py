"""How is ALTER TABLE read?"""

from lakebed.spark.sql.altering.column_forms import (
    add_columns,
    alter_columns,
    change_columns,
    drop_columns,
    rename_column,
)
from lakebed.spark.sql.altering.statements import (
    AlterDatabase,
    CommentOnTable,
    DropPartitions,
    RenameTable,
    SetProperties,
    UnsetProperties,
)
from lakebed.spark.sql.clauses import properties, static_partition
from lakebed.spark.sql.cursor import Cursor
from lakebed.spark.sql.forms import Actions, Forms
from lakebed.spark.sql.statements import Name, Statement, Unsupported
from lakebed.spark.sql.tagging import forms as tagging
from lakebed.spark.sql.tokens import TokenKind


def _alter_table(cursor: Cursor) -> Statement:
    name = cursor.names()
    for words, parse in _ACTIONS:
        if cursor.accept(*words):
            return parse(cursor, name)
    token = cursor.peek()
    operation = f"ALTER TABLE {token.text.upper()}" if token is not None else "ALTER TABLE"
    return Unsupported(operation=operation, target=name)


def _set_properties(cursor: Cursor, name: Name) -> Statement:
    found = properties(cursor)
    cursor.expect_end()
    return SetProperties(name=name, properties=found)


def _unset_properties(cursor: Cursor, name: Name) -> Statement:
    if_exists = cursor.accept("IF", "EXISTS")
    inner = Cursor(cursor.parenthesized())
    cursor.expect_end()
    keys = [_property_key(inner)]
    while inner.accept_symbol(","):
        keys.append(_property_key(inner))
    inner.expect_end()
    return UnsetProperties(name=name, keys=tuple(keys), if_exists=if_exists)


def _property_key(cursor: Cursor) -> str:
    token = cursor.peek()
    if token is not None and token.kind is TokenKind.STRING:
        return cursor.string()
    return ".".join(cursor.names())


def _rename_table(cursor: Cursor, name: Name) -> Statement:
    new_name = cursor.names()
    cursor.expect_end()
    return RenameTable(name=name, new_name=new_name)


def _drop_partitions(cursor: Cursor, name: Name) -> Statement:
    return _partitions_dropped(cursor, name, if_exists=False)


def _drop_partitions_if_exist(cursor: Cursor, name: Name) -> Statement:
    return _partitions_dropped(cursor, name, if_exists=True)


def _partitions_dropped(cursor: Cursor, name: Name, *, if_exists: bool) -> Statement:
    partitions = [static_partition(cursor)]
    while cursor.accept_symbol(","):
        cursor.expect("PARTITION")
        partitions.append(static_partition(cursor))
    if cursor.accept("PURGE"):
        return Unsupported(operation="DROP PARTITION ... PURGE", target=name)
    cursor.expect_end()
    return DropPartitions(name=name, partitions=tuple(partitions), if_exists=if_exists)


def _comment_on_table(cursor: Cursor) -> Statement:
    name = cursor.names()
    cursor.expect("IS")
    comment = None if cursor.accept("NULL") else cursor.string()
    cursor.expect_end()
    return CommentOnTable(name=name, comment=comment)


def _alter_database(cursor: Cursor) -> Statement:
    return AlterDatabase(name=cursor.names())


_ACTIONS: Actions = (
    *tagging.ACTIONS,
    (("SET", "TBLPROPERTIES"), _set_properties),
    (("UNSET", "TBLPROPERTIES"), _unset_properties),
    (("RENAME", "TO"), _rename_table),
    (("RENAME", "COLUMN"), rename_column),
    (("ADD", "COLUMN"), add_columns),
    (("ADD", "COLUMNS"), add_columns),
    (("DROP", "COLUMN"), drop_columns),
    (("DROP", "COLUMNS"), drop_columns),
    (("DROP", "PARTITION"), _drop_partitions),
    (("DROP", "IF", "EXISTS", "PARTITION"), _drop_partitions_if_exist),
    (("ALTER", "COLUMN"), alter_columns),
    (("ALTER",), alter_columns),
    (("CHANGE", "COLUMN"), change_columns),
    (("CHANGE",), change_columns),
)
FORMS: Forms = (
    (("ALTER", "TABLE"), _alter_table),
    *((("ALTER", word), _alter_database) for word in ("DATABASE", "SCHEMA", "NAMESPACE")),
    (("COMMENT", "ON", "TABLE"), _comment_on_table),
)
