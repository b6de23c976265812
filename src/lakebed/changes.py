"""What can be changed in the schema of a table, for `Catalog.alter_table`.

from lakebed import changes

catalog.alter_table("shop.orders", [changes.AddColumn("note", "STRING")])
"""

from lakebed.format.altering.changes import (
    AddColumn,
    After,
    Before,
    ChangeColumnComment,
    ChangeColumnDefault,
    ChangeColumnNullability,
    ChangeColumnPosition,
    ChangeColumnType,
    ColumnName,
    DropColumn,
    First,
    Last,
    Position,
    RemoveOption,
    RenameColumn,
    SchemaChange,
    SetComment,
    SetOption,
)

__all__ = [
    "AddColumn",
    "After",
    "Before",
    "ChangeColumnComment",
    "ChangeColumnDefault",
    "ChangeColumnNullability",
    "ChangeColumnPosition",
    "ChangeColumnType",
    "ColumnName",
    "DropColumn",
    "First",
    "Last",
    "Position",
    "RemoveOption",
    "RenameColumn",
    "SchemaChange",
    "SetComment",
    "SetOption",
]
