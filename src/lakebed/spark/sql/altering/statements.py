"""The statements of this family; types and values are texts as the user wrote them."""

from collections.abc import Mapping
from dataclasses import dataclass

from lakebed.format.altering.changes import Position
from lakebed.spark.sql.statements import Name, Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class SetProperties(Statement):
    """ALTER TABLE ... SET TBLPROPERTIES."""

    name: Name
    properties: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsetProperties(Statement):
    """ALTER TABLE ... UNSET TBLPROPERTIES."""

    name: Name
    keys: tuple[str, ...]
    if_exists: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameTable(Statement):
    """ALTER TABLE ... RENAME TO."""

    name: Name
    new_name: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class NewColumn:
    """A column of ADD COLUMNS.

    Attributes:
        path: Its name; of a field, with the columns that it is in before it.
        type: Text of its type.
        is_not_null: Whether it is NOT NULL.
        default: Text behind DEFAULT.
        comment: Its comment.
        position: Where it comes.
    """

    path: Name
    type: str
    is_not_null: bool = False
    default: str | None = None
    comment: str | None = None
    position: Position | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddColumns(Statement):
    """ALTER TABLE ... ADD COLUMNS."""

    name: Name
    columns: tuple[NewColumn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DropColumns(Statement):
    """ALTER TABLE ... DROP COLUMNS."""

    name: Name
    columns: tuple[Name, ...]
    if_exists: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameColumnTo(Statement):
    """ALTER TABLE ... RENAME COLUMN."""

    name: Name
    column: Name
    new_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnAction:
    """What ALTER COLUMN changes of one column; None for what stays.

    Attributes:
        path: The column.
        type: Text of its type.
        comment: Its comment.
        position: Where it comes.
        nullable: Whether it is nullable.
        default: Text of its default.
        drops_default: Whether it loses its default.
    """

    path: Name
    type: str | None = None
    comment: str | None = None
    position: Position | None = None
    nullable: bool | None = None
    default: str | None = None
    drops_default: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterColumns(Statement):
    """ALTER TABLE ... ALTER COLUMN and CHANGE COLUMN."""

    name: Name
    columns: tuple[ColumnAction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DropPartitions(Statement):
    """ALTER TABLE ... DROP PARTITION.

    Attributes:
        name: The table.
        partitions: Texts of values by name; None where a name stands alone.
        if_exists: Whether a partition that is not there is fine.
    """

    name: Name
    partitions: tuple[Mapping[str, str | None], ...]
    if_exists: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentOnTable(Statement):
    """COMMENT ON TABLE; `comment` is None for NULL."""

    name: Name
    comment: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterDatabase(Statement):
    """ALTER DATABASE; no catalog keeps anything that it could change."""

    name: Name
