"""What changes of the schema do the clauses about columns ask for?

What Spark checks itself before it asks a table is checked here, with the same conditions; the rules
of the table are its own (`format.altering`).
"""

from collections.abc import Sequence
from dataclasses import replace

from pyspark.errors import AnalysisException
from pyspark.sql.types import StructType

from lakebed.errors import InvalidDataError
from lakebed.format.altering.changes import (
    AddColumn,
    ChangeColumnComment,
    ChangeColumnDefault,
    ChangeColumnNullability,
    ChangeColumnPosition,
    ChangeColumnType,
    DropColumn,
    RenameColumn,
    SchemaChange,
)
from lakebed.format.default_values import default_of
from lakebed.format.type_text import format_type
from lakebed.format.types import ArrayType, DataType, MapType, RowType, with_nullability
from lakebed.spark.conditions import (
    analysis_error,
    spark_errors,
    unknown_column,
    unsupported_operation,
)
from lakebed.spark.names import quoted
from lakebed.spark.sql.altering.names import Columns
from lakebed.spark.sql.altering.statements import (
    AddColumns,
    AlterColumns,
    ColumnAction,
    DropColumns,
    NewColumn,
    RenameColumnTo,
)
from lakebed.spark.sql.altering.widening import is_same_to_spark, is_up_cast
from lakebed.spark.sql.default_literals import NoLiteralError, default_text
from lakebed.spark.sql.statements import Name
from lakebed.spark.sql.tokens import tokenize
from lakebed.spark.types import to_table_schema
from lakebed.table.table import Table

_PARTED: dict[type[DataType], tuple[str, str]] = {
    RowType: ("STRUCT_TYPE", "Update a struct by updating its fields."),
    ArrayType: ("ARRAY_TYPE", "Update the element by updating {column}.element."),
    MapType: ("MAP_TYPE", "Update a map by updating {column}.value."),
}


def columns_added(columns: Columns, statement: AddColumns) -> list[SchemaChange]:
    """ADD COLUMNS.

    Raises:
        AnalysisException: COLUMN_ALREADY_EXISTS, FIELD_ALREADY_EXISTS, FIELD_NOT_FOUND,
            INVALID_FIELD_NAME, UNRESOLVED_COLUMN; a clause that tables lack.
    """
    changes: list[SchemaChange] = []
    added: dict[Name, list[str]] = {}
    for column in statement.columns:
        if column.default is not None:
            raise unsupported_operation(
                "ADD COLUMN with DEFAULT, for rows that are there would lack it (add the column,"
                " then ALTER COLUMN ... SET DEFAULT for rows to come)",
                quoted(statement.name),
            )
        parent, kind = columns.own(column.path[:-1])
        if not isinstance(kind, RowType):
            raise _no_struct(column.path)
        siblings = added.setdefault(parent, [])
        columns.check_new(column.path, kind.names, operation="add")
        if columns.key(column.path[-1]) in map(columns.key, siblings):
            raise _twice(column.path)
        changes.append(_added(column, parent, columns, siblings=[*kind.names, *siblings]))
        siblings.append(column.path[-1])
    return changes


def columns_dropped(columns: Columns, statement: DropColumns) -> list[SchemaChange]:
    """DROP COLUMNS.

    Raises:
        AnalysisException: UNRESOLVED_COLUMN, unless IF EXISTS stands there.
    """
    changes: list[SchemaChange] = []
    for path in statement.columns:
        try:
            own, _ = columns.own(path)
        except AnalysisException as error:
            if statement.if_exists and (error.getCondition() or "").startswith("UNRESOLVED_COLUMN"):
                continue
            raise
        changes.append(DropColumn(own))
    return changes


def column_renamed(columns: Columns, statement: RenameColumnTo) -> list[SchemaChange]:
    """RENAME COLUMN.

    Raises:
        AnalysisException: FIELD_ALREADY_EXISTS, UNRESOLVED_COLUMN.
    """
    own, _ = columns.own(statement.column)
    _, parent = columns.own(own[:-1])
    if isinstance(parent, RowType):
        new_path = (*own[:-1], statement.new_name)
        columns.check_new(new_path, parent.names, operation="rename")
    return [RenameColumn(own, statement.new_name)]


def columns_altered(columns: Columns, statement: AlterColumns) -> list[SchemaChange]:
    """ALTER COLUMN and CHANGE COLUMN.

    Raises:
        AnalysisException: UNRESOLVED_COLUMN, NOT_SUPPORTED_CHANGE_COLUMN, CANNOT_UPDATE_FIELD,
            INVALID_DEFAULT_VALUE.
    """
    return [change for action in statement.columns for change in _altered(columns, action)]


def _added(
    column: NewColumn, parent: Name, columns: Columns, *, siblings: Sequence[str]
) -> SchemaChange:
    position = column.position
    if position is not None:
        position = columns.own_position(
            position, siblings, lambda _: _no_neighbour(column.path, siblings)
        )
    kind = with_nullability(_type_of(column.type), nullable=not column.is_not_null)
    path = (*parent, column.path[-1])
    return AddColumn(path, kind, comment=column.comment, position=position)


def _altered(columns: Columns, action: ColumnAction) -> list[SchemaChange]:
    path, kind = columns.own(action.path)
    changes: list[SchemaChange] = []
    if action.type is not None:
        target = _type_of(action.type)
        _check_type(columns.table, path, kind, target=target)
        if not is_same_to_spark(kind, target):
            changes.append(ChangeColumnType(path, target))
    if action.comment is not None:
        changes.append(ChangeColumnComment(path, action.comment))
    if action.nullable is not None:
        changes.append(ChangeColumnNullability(path, nullable=action.nullable))
    if action.position is not None:
        _, parent = columns.own(path[:-1])
        position = columns.own_position(
            action.position,
            parent.names if isinstance(parent, RowType) else [],
            lambda column: unknown_column((*path[:-1], column), columns.row_type.names),
        )
        changes.append(ChangeColumnPosition(path, position))
    if action.default is not None:
        changes.append(ChangeColumnDefault(path, _default(columns.table, path, action.default)))
    if action.drops_default:
        changes.append(ChangeColumnDefault(path, None))
    return changes


def _type_of(text: str) -> DataType:
    """The type as Spark's own parser reads it."""
    with spark_errors():
        parsed = StructType.fromDDL(f"`type` {text}")
        if not isinstance(parsed, StructType):
            raise TypeError(parsed)
        return to_table_schema(parsed).fields[0].type


def _check_type(table: Table, path: Name, kind: DataType, *, target: DataType) -> None:
    shown, column = quoted(tuple(table.name.split("."))), quoted(path)
    parted = _PARTED.get(type(target))
    if parted is not None:
        reason, advice = parted
        raise analysis_error(
            f"CANNOT_UPDATE_FIELD.{reason}",
            f"Cannot update {shown} field {column} type: {advice.format(column=column)}",
            {"table": shown, "fieldName": column},
        )
    if not (is_same_to_spark(kind, target) or is_up_cast(kind, target)):
        was, becomes = (
            f'"{format_type(with_nullability(each, nullable=True))}"' for each in (kind, target)
        )
        raise analysis_error(
            "NOT_SUPPORTED_CHANGE_COLUMN",
            f"ALTER TABLE ALTER/CHANGE COLUMN is not supported for changing {shown}'s column"
            f" {column} with type {was} to {column} with type {becomes}. Catalog.alter_table with"
            " ChangeColumnType does more.",
            {"table": shown, "originName": column, "originType": was}
            | {"newName": column, "newType": becomes},
        )


def _default(table: Table, path: Name, text: str) -> str | None:
    try:
        value = default_text(tokenize(text))
    except NoLiteralError as error:
        raise analysis_error(
            "INVALID_DEFAULT_VALUE.NOT_CONSTANT",
            f"A table keeps a literal as the DEFAULT of a column, and {text} is none.",
            {"statement": "ALTER TABLE ALTER COLUMN", "colName": "", "defaultValue": text},
        ) from error
    if value is None or len(path) > 1:
        return value
    field = replace(table.schema.field(path[0]), default_value=value)
    try:
        default_of(field)
    except InvalidDataError as error:
        kind = format_type(with_nullability(field.type, nullable=True))
        raise analysis_error(
            "INVALID_DEFAULT_VALUE.DATA_TYPE",
            "Failed to execute ALTER TABLE ALTER COLUMN command because the destination column"
            f' or variable {quoted(path)} has a DEFAULT value {text}, which requires "{kind}"'
            " type, but the statement provided a value of incompatible type.",
            {"colName": quoted(path), "defaultValue": text, "expectedType": f'"{kind}"'},
        ) from error
    return value


def _no_struct(path: Name) -> AnalysisException:
    return analysis_error(
        "INVALID_FIELD_NAME",
        f"Field name {quoted(path)} is invalid: {quoted(path[:-1])} is not a struct.",
        {"fieldName": quoted(path), "path": quoted(path[:-1])},
    )


def _no_neighbour(path: Name, siblings: Sequence[str]) -> AnalysisException:
    names = ", ".join(siblings)
    return analysis_error(
        "FIELD_NOT_FOUND",
        f"No such struct field {quoted(path[-1:])} in {names}: the column behind which it is to"
        " come is not there.",
        {"fieldName": quoted(path[-1:]), "fields": names},
    )


def _twice(path: Name) -> AnalysisException:
    return analysis_error(
        "COLUMN_ALREADY_EXISTS",
        f"The column {quoted(path)} already exists. Choose another name or rename the existing"
        " column.",
        {"columnName": quoted(path)},
    )
