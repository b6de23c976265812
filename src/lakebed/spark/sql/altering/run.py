"""How are they run?"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame

from lakebed.errors import UnsupportedError
from lakebed.format.altering.changes import RemoveOption, SchemaChange, SetComment, SetOption
from lakebed.options.catalogue import TABLE_OPTIONS
from lakebed.spark.conditions import analysis_error, spark_errors, unsupported_operation
from lakebed.spark.lake import Lake, database_name
from lakebed.spark.names import TableName
from lakebed.spark.sql.altering.columns import (
    column_renamed,
    columns_added,
    columns_altered,
    columns_dropped,
)
from lakebed.spark.sql.altering.names import Columns
from lakebed.spark.sql.altering.partitions import partitions_to_drop
from lakebed.spark.sql.altering.statements import (
    AddColumns,
    AlterColumns,
    AlterDatabase,
    CommentOnTable,
    DropColumns,
    DropPartitions,
    RenameColumnTo,
    RenameTable,
    SetProperties,
    UnsetProperties,
)
from lakebed.spark.sql.arguments import Arguments
from lakebed.spark.sql.queries import Run
from lakebed.spark.sql.statements import Statement

_COMMENT = "comment"
# Spark keeps these to itself, whatever the table.
_RESERVED: Mapping[str, str] = {
    "provider": "the USING clause of CREATE TABLE says it",
    "location": "a table stays where it is",
    "owner": "it is set to the current user",
    "external": "CREATE EXTERNAL TABLE says it",
    "is_managed_location": "it is set by Spark",
}


def set_properties(lake: Lake, statement: SetProperties, _: Arguments) -> DataFrame | None:
    """SET TBLPROPERTIES; None when the table is Spark's."""
    name = lake.resolve(statement.name)
    if name is None:
        return None
    _check_not_reserved(statement.properties)
    changes = [_property_set(key, value) for key, value in statement.properties.items()]
    return _alter(lake, name, changes)


def unset_properties(lake: Lake, statement: UnsetProperties, _: Arguments) -> DataFrame | None:
    """UNSET TBLPROPERTIES; None when the table is Spark's."""
    name = lake.resolve(statement.name)
    if name is None:
        return None
    _check_not_reserved(statement.keys)
    keys: Sequence[str] = statement.keys
    if statement.if_exists:
        given = TABLE_OPTIONS.with_current_keys(lake.load(name).options)
        keys = [key for key in keys if key == _COMMENT or TABLE_OPTIONS.current_key(key) in given]
    return _alter(lake, name, [_property_unset(key) for key in keys])


def comment_on_table(lake: Lake, statement: CommentOnTable, _: Arguments) -> DataFrame | None:
    """COMMENT ON TABLE; None when the table is Spark's."""
    name = lake.resolve(statement.name)
    return None if name is None else _alter(lake, name, [SetComment(statement.comment)])


def rename_table(lake: Lake, statement: RenameTable, _: Arguments) -> DataFrame | None:
    """RENAME TO; None when the table is Spark's."""
    name = lake.resolve(statement.name)
    if name is None:
        return None
    *place, table = statement.new_name
    if len(place) > 2 or (len(place) == 2 and place[0] != name.catalog):
        raise unsupported_operation("RENAME TO another catalog", str(name))
    database = place[-1] if place else name.database
    with spark_errors(name.catalog):
        lake.catalog(name).rename_table(name.identifier, f"{database}.{table}")
    lake.registry.cached.drop(name)
    return lake.empty()


def drop_partitions(lake: Lake, statement: DropPartitions, _: Arguments) -> DataFrame | None:
    """DROP PARTITION; None when the table is Spark's."""
    name = lake.resolve(statement.name)
    if name is None:
        return None
    table = lake.load(name)
    specs = partitions_to_drop(lake, table, statement, name=name)
    if specs:
        with spark_errors(name.catalog):
            table.drop_partitions(specs)
    return lake.empty()


def alter_database(lake: Lake, statement: AlterDatabase, _: Arguments) -> DataFrame | None:
    """ALTER DATABASE, which nothing can come of; None when the database is Spark's."""
    found = lake.registry.resolve_database(statement.name)
    if found is None:
        return None
    with spark_errors(found[0]):
        raise UnsupportedError(
            f"database {database_name(*found)} cannot be altered: its catalog is directories, which"
            " keep no properties, comment, owner or other location of a database. Leave the"
            " statement out"
        )


def _column_run(
    changes_of: Callable[[Columns, Any], list[SchemaChange]],
) -> Run[Any]:
    """What runs a statement about columns; it answers None when the table is Spark's."""

    def run(lake: Lake, statement: Any, _: Arguments) -> DataFrame | None:  # noqa: ANN401 - of one kind, with a name
        name = lake.resolve(statement.name)
        if name is None:
            return None
        columns = Columns(lake.load(name), lake.is_case_sensitive)
        return _alter(lake, name, changes_of(columns, statement))

    return run


def _alter(lake: Lake, name: TableName, changes: Sequence[SchemaChange]) -> DataFrame:
    with spark_errors(name.catalog):
        lake.catalog(name).alter_table(name.identifier, changes)
    return lake.empty()


def _property_set(key: str, value: str) -> SchemaChange:
    return SetComment(value) if key == _COMMENT else SetOption(key, value)


def _property_unset(key: str) -> SchemaChange:
    return SetComment(None) if key == _COMMENT else RemoveOption(key)


def _check_not_reserved(keys: Sequence[str] | Mapping[str, str]) -> None:
    for key in keys:
        if key in _RESERVED:
            raise analysis_error(
                "UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY",
                f"The feature is not supported: {key} is a reserved table property,"
                f" {_RESERVED[key]}.",
                {"property": key, "msg": _RESERVED[key]},
            )


RUNS: dict[type[Statement], Run[Any]] = {
    SetProperties: set_properties,
    UnsetProperties: unset_properties,
    CommentOnTable: comment_on_table,
    RenameTable: rename_table,
    AddColumns: _column_run(columns_added),
    DropColumns: _column_run(columns_dropped),
    RenameColumnTo: _column_run(column_renamed),
    AlterColumns: _column_run(columns_altered),
    DropPartitions: drop_partitions,
    AlterDatabase: alter_database,
}
