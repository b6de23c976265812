"""What is the next schema of a table, after some changes at once?

Each change is made to what the ones before it left; the result is written as one schema, or none is
where anything is refused.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lakebed.errors import InvalidArgumentError, InvalidTableError
from lakebed.format.altering import column_rules as columns
from lakebed.format.altering.changes import (
    AddColumn,
    ChangeColumnComment,
    ChangeColumnDefault,
    ChangeColumnNullability,
    ChangeColumnPosition,
    ChangeColumnType,
    DropColumn,
    RemoveOption,
    RenameColumn,
    SchemaChange,
    SetComment,
    SetOption,
)
from lakebed.format.altering.column_rules import Rules
from lakebed.format.altering.named_columns import options_naming
from lakebed.format.altering.option_rules import with_option, without_option
from lakebed.format.schema import SCHEMA_VERSION, TableSchema
from lakebed.format.schema_builder import validate_schema
from lakebed.options.catalogue import TABLE_OPTIONS


def altered(
    schema: TableSchema, changes: Sequence[SchemaChange], *, has_snapshots: bool
) -> TableSchema:
    """The next schema; the same one where the changes change nothing.

    Args:
        schema: The table's newest.
        changes: What to change, in this order.
        has_snapshots: Whether the table was ever written; then some options do not change.

    Raises:
        AlreadyExistsError: A column of that name is there.
        InvalidArgumentError: What is given is no change.
        InvalidTableError: A change that cannot be.
        NotFoundError: There is no such column.
    """
    rules = _rules(schema.options, has_snapshots=has_snapshots)
    found = schema
    for change in changes:
        apply = _APPLY.get(type(change))
        if apply is None:
            raise InvalidArgumentError(f"{change!r} is no schema change; lakebed.changes has them")
        found = apply(found, change, rules)
    if found == schema:
        return schema
    _check_options_name_columns(schema, found)
    found = replace(found, id=schema.id + 1, version=SCHEMA_VERSION)
    validate_schema(found)
    return found


def _rules(options: Mapping[str, str], *, has_snapshots: bool) -> Rules:
    keys = ("alter-column-null-to-not-null.disabled", "disable-explicit-type-casting")
    before_partition = "add-column-before-partition"
    held = TABLE_OPTIONS.held(options, (*keys, before_partition))
    return Rules(
        has_snapshots=has_snapshots,
        allows_not_null=not held[keys[0]],
        allows_loss=not held[keys[1]],
        adds_before_partition=held[before_partition],
    )


def _check_options_name_columns(before: TableSchema, after: TableSchema) -> None:
    """Refuses to drop a column that an option still names: the option would mean nothing."""
    kept = {field.id for field in after.fields}
    for field in before.fields:
        if field.id in kept or field.name in after.names:
            continue
        naming = options_naming(after.options, field.name)
        if naming:
            raise InvalidTableError(
                f"column {field.name!r} cannot be dropped: {', '.join(map(repr, naming))} names it."
                " Change the option too"
            )


def _set_option(schema: TableSchema, change: SetOption, rules: Rules) -> TableSchema:
    options = with_option(
        schema.options, change.key, change.value, has_snapshots=rules.has_snapshots
    )
    return replace(schema, options=options)


def _remove_option(schema: TableSchema, change: RemoveOption, rules: Rules) -> TableSchema:
    options = without_option(schema.options, change.key, has_snapshots=rules.has_snapshots)
    return replace(schema, options=options)


def _set_comment(schema: TableSchema, change: SetComment, _: Rules) -> TableSchema:
    return replace(schema, comment=change.comment)


# Any: each gets the changes of its key alone.
_APPLY: Mapping[type[SchemaChange], Callable[[TableSchema, Any, Rules], TableSchema]] = {
    SetOption: _set_option,
    RemoveOption: _remove_option,
    SetComment: _set_comment,
    AddColumn: columns.add_column,
    RenameColumn: columns.rename_column,
    DropColumn: columns.drop_column,
    ChangeColumnType: columns.change_column_type,
    ChangeColumnNullability: columns.change_column_nullability,
    ChangeColumnComment: columns.change_column_comment,
    ChangeColumnPosition: columns.change_column_position,
    ChangeColumnDefault: columns.change_column_default,
}
