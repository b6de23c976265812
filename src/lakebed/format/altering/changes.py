"""What can be changed in the schema of a table? Public as `lakebed.changes`.

A column is named by its name, dots and all. A part of one is named by a tuple, a name for each
step: a field of a ROW by its name, the elements of an ARRAY by `element`, the values of a MAP by
`value`.

    "note"                          the column `note`
    ("address", "zip")              a field of the ROW `address`
    ("lines", "element", "price")   a field of each ROW in the ARRAY `lines`
"""

from dataclasses import KW_ONLY, dataclass
from typing import TypeAlias

from lakebed.format.types import DataType
from lakebed.options.values import OptionValue

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

ColumnName: TypeAlias = str | tuple[str, ...]


class SchemaChange:
    """Any of the changes below."""

    __slots__ = ()


class Position:
    """Where a column comes: any of the four below."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class First(Position):
    """Before all other columns, or fields of the same ROW."""


@dataclass(frozen=True, slots=True)
class Last(Position):
    """Behind all others."""


@dataclass(frozen=True, slots=True)
class After(Position):
    """Right behind another column, or field of the same ROW."""

    column: str


@dataclass(frozen=True, slots=True)
class Before(Position):
    """Right before another."""

    column: str


@dataclass(frozen=True, slots=True)
class SetOption(SchemaChange):
    """Gives an option a value."""

    key: str
    value: OptionValue


@dataclass(frozen=True, slots=True)
class RemoveOption(SchemaChange):
    """Takes an option back; its default holds again."""

    key: str


@dataclass(frozen=True, slots=True)
class SetComment(SchemaChange):
    """Gives the table a comment; None takes it away."""

    comment: str | None


@dataclass(frozen=True, slots=True)
class AddColumn(SchemaChange):
    """Adds a nullable column, which is null in the rows that are there.

    Attributes:
        name: Its name, or the path of a field of a ROW.
        type: A type, or its text in the format's names, such as `DECIMAL(10, 2)`.
        comment: Its comment.
        default: The text of what rows written from now on have in place of null.
        position: Where it comes; None for behind all others.
    """

    name: ColumnName
    type: DataType | str
    _: KW_ONLY
    comment: str | None = None
    default: str | None = None
    position: Position | None = None


@dataclass(frozen=True, slots=True)
class RenameColumn(SchemaChange):
    """Gives a column another name, also in keys and options that name it."""

    name: ColumnName
    new_name: str


@dataclass(frozen=True, slots=True)
class DropColumn(SchemaChange):
    """Takes a column away; a later one of its name has none of its values."""

    name: ColumnName


@dataclass(frozen=True, slots=True)
class ChangeColumnType(SchemaChange):
    """Gives a column another type; whether it is nullable stays.

    Attributes:
        name: The column, a field of a ROW, the elements of an ARRAY or the values of a MAP.
        type: As of `AddColumn`.
    """

    name: ColumnName
    type: DataType | str


@dataclass(frozen=True, slots=True)
class ChangeColumnNullability(SchemaChange):
    """Makes a column nullable, or NOT NULL."""

    name: ColumnName
    _: KW_ONLY
    nullable: bool


@dataclass(frozen=True, slots=True)
class ChangeColumnComment(SchemaChange):
    """Gives a column a comment; None takes it away."""

    name: ColumnName
    comment: str | None


@dataclass(frozen=True, slots=True)
class ChangeColumnPosition(SchemaChange):
    """Puts a column elsewhere among the columns, or a field among those of its ROW."""

    name: ColumnName
    position: Position


@dataclass(frozen=True, slots=True)
class ChangeColumnDefault(SchemaChange):
    """Gives a column a default for rows written from now on; None takes it away."""

    name: ColumnName
    default: str | None
