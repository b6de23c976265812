"""What does each change of a column make of a schema, and when is it refused?

Columns keep their ids, by which files of older schemas are read; a new one gets an id that no
column ever had. Partition columns stay as they are, for directories are named by them; so do the
types of key and bucket key columns, by which rows are ordered and find their bucket.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from lakebed.errors import AlreadyExistsError, InvalidTableError
from lakebed.format.altering.changes import (
    AddColumn,
    After,
    Before,
    ChangeColumnComment,
    ChangeColumnDefault,
    ChangeColumnNullability,
    ChangeColumnPosition,
    ChangeColumnType,
    DropColumn,
    First,
    Position,
    RenameColumn,
)
from lakebed.format.altering.column_paths import (
    Fields,
    Path,
    change_fields,
    change_type,
    path_of,
    place_of,
    shown,
)
from lakebed.format.altering.named_columns import key_indexed_columns, rename_in_options
from lakebed.format.altering.retyping import retyped
from lakebed.format.schema import TableSchema
from lakebed.format.schema_builder import FieldIds, assign_ids
from lakebed.format.type_text import parse_type
from lakebed.format.types import (
    AtomicType,
    DataField,
    DataType,
    RowType,
    TypeRoot,
    with_nullability,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the table's options and its history say of changes.

    Attributes:
        has_snapshots: Whether the table was ever written.
        allows_not_null: Whether a nullable column may become NOT NULL.
        allows_loss: Whether a type may change to one that does not hold every value.
        adds_before_partition: Whether a new column comes before the partition columns.
    """

    has_snapshots: bool
    allows_not_null: bool
    allows_loss: bool
    adds_before_partition: bool


def add_column(schema: TableSchema, change: AddColumn, rules: Rules) -> TableSchema:
    """A schema with one more column.

    Raises:
        AlreadyExistsError: There is one of that name.
        InvalidTableError: It is NOT NULL.
        NotFoundError: There is no ROW to add it to, or no column to put it next to.
    """
    path = path_of(change.name)
    kind = _type_of(change.type)
    if not kind.nullable:
        raise InvalidTableError(
            f"column {shown(path)} cannot be NOT NULL: the rows that are there have no value for it"
        )
    if change.default is not None:
        _check_top_level(path)
    ids = FieldIds(schema.highest_field_id)
    field_id = ids.next()
    field = DataField(
        id=field_id,
        name=path[-1],
        type=assign_ids(kind, ids),
        description=change.comment,
        default_value=change.default,
    )
    position = change.position
    if position is None and rules.adds_before_partition and len(path) == 1:
        position = _before_partition(schema)

    def add(fields: Fields, name: str) -> Fields:
        _check_free(fields, name, path=path)
        return _placed(fields, field, position, path=path)

    fields = change_fields(schema.fields, path, add)
    return replace(schema, fields=fields, highest_field_id=ids.highest)


def rename_column(schema: TableSchema, change: RenameColumn, _: Rules) -> TableSchema:
    """A schema in which a column has another name, in its keys and options too.

    Raises:
        AlreadyExistsError: The new name is taken.
        InvalidTableError: A partition column.
        NotFoundError: There is no such column.
    """
    path, new_name = path_of(change.name), change.new_name
    deed = "be renamed"
    _check_not_among(schema.partition_keys, path, what="a partition column", deed=deed)
    _check_not_among(key_indexed_columns(schema.options), path, what="indexed by key", deed=deed)
    _check_not_among(_blobs(schema), path, what="a BLOB, in files of its name,", deed=deed)

    def rename(field: DataField, siblings: Fields) -> DataField:
        _check_free(siblings, new_name, path=(*path[:-1], new_name))
        return replace(field, name=new_name)

    renamed = _with_field(schema, path, rename)
    if len(path) > 1:
        return renamed
    keys = tuple(new_name if key == path[0] else key for key in schema.primary_keys)
    options = rename_in_options(schema.options, path[0], new_name)
    return replace(renamed, primary_keys=keys, options=options)


def drop_column(schema: TableSchema, change: DropColumn, _: Rules) -> TableSchema:
    """A schema without a column.

    Raises:
        InvalidTableError: A key or partition column, or the only one there is.
        NotFoundError: There is no such column.
    """
    path = path_of(change.name)
    deed = "be dropped"
    _check_not_among(schema.partition_keys, path, what="a partition column", deed=deed)
    _check_not_among(schema.primary_keys, path, what="in the primary key", deed=deed)

    def drop(fields: Fields, name: str) -> Fields:
        place = place_of(fields, name, path=path)
        if len(fields) == 1:
            where = f"the ROW {shown(path[:-1])}" if len(path) > 1 else "the table"
            raise InvalidTableError(f"{shown(path)} cannot be dropped: {where} would have nothing")
        return fields[:place] + fields[place + 1 :]

    return replace(schema, fields=change_fields(schema.fields, path, drop))


def change_column_type(schema: TableSchema, change: ChangeColumnType, rules: Rules) -> TableSchema:
    """A schema in which a column has another type.

    Raises:
        InvalidTableError: A key, partition or bucket key column; a type that values cannot become.
        NotFoundError: There is no such column.
    """
    path, target = path_of(change.name), _type_of(change.type)
    deed = "change its type"
    _check_not_among(schema.partition_keys, path, what="a partition column", deed=deed)
    _check_not_among(schema.primary_keys, path, what="in the primary key", deed=deed)
    _check_not_among(schema.bucket_keys, path, what="in the bucket key", deed=deed)
    _check_not_among(key_indexed_columns(schema.options), path, what="indexed by key", deed=deed)

    def retype(kind: DataType) -> DataType:
        if kind.nullable and not target.nullable:
            raise InvalidTableError(
                f"column {shown(path)} keeps being nullable when its type changes; make it NOT NULL"
                " by a change of its own"
            )
        return retyped(kind, target, column=shown(path), allows_loss=rules.allows_loss)

    return _with_type(schema, path, retype)


def change_column_nullability(
    schema: TableSchema, change: ChangeColumnNullability, rules: Rules
) -> TableSchema:
    """A schema in which a column is nullable, or is not.

    Raises:
        InvalidTableError: A key column would be nullable, or a nullable one NOT NULL.
        NotFoundError: There is no such column.
    """
    path = path_of(change.name)
    if change.nullable:
        _check_not_among(schema.primary_keys, path, what="in the primary key", deed="be nullable")

    def set_nullability(kind: DataType) -> DataType:
        if kind.nullable and not change.nullable and not rules.allows_not_null:
            raise InvalidTableError(
                f"column {shown(path)} cannot become NOT NULL: rows that are there may have null."
                " Set 'alter-column-null-to-not-null.disabled' = false first if none has"
            )
        return with_nullability(kind, nullable=change.nullable)

    return _with_type(schema, path, set_nullability)


def change_column_comment(
    schema: TableSchema, change: ChangeColumnComment, _: Rules
) -> TableSchema:
    """A schema in which a column has another comment, or none.

    Raises:
        NotFoundError: There is no such column.
    """
    path = path_of(change.name)
    return _with_field(schema, path, lambda field, _: replace(field, description=change.comment))


def change_column_default(
    schema: TableSchema, change: ChangeColumnDefault, _: Rules
) -> TableSchema:
    """A schema in which a column has another default, or none; whether it fits is not looked at.

    Raises:
        InvalidTableError: A field of a ROW.
        NotFoundError: There is no such column.
    """
    path = path_of(change.name)
    _check_top_level(path)
    return _with_field(schema, path, lambda field, _: replace(field, default_value=change.default))


def change_column_position(
    schema: TableSchema, change: ChangeColumnPosition, _: Rules
) -> TableSchema:
    """A schema in which a column comes elsewhere.

    Raises:
        InvalidTableError: Next to itself.
        NotFoundError: There is no such column, or none to put it next to.
    """
    path = path_of(change.name)

    def move(fields: Fields, name: str) -> Fields:
        place = place_of(fields, name, path=path)
        match change.position:
            case After(column) | Before(column) if column == name:
                raise InvalidTableError(f"column {shown(path)} cannot come next to itself")
            case _:
                others = fields[:place] + fields[place + 1 :]
                return _placed(others, fields[place], change.position, path=path)

    return replace(schema, fields=change_fields(schema.fields, path, move))


def _type_of(kind: DataType | str) -> DataType:
    return parse_type(kind) if isinstance(kind, str) else kind


def _with_field(
    schema: TableSchema, path: Path, change: Callable[[DataField, Fields], DataField]
) -> TableSchema:
    """A schema with one field changed, which `change` gets with those around it."""

    def change_one(fields: Fields, name: str) -> Fields:
        place = place_of(fields, name, path=path)
        return (*fields[:place], change(fields[place], fields), *fields[place + 1 :])

    return replace(schema, fields=change_fields(schema.fields, path, change_one))


def _with_type(
    schema: TableSchema, path: Path, change: Callable[[DataType], DataType]
) -> TableSchema:
    changed = change_type(schema.row_type, path, change)
    if not isinstance(changed, RowType):
        raise TypeError(changed)
    return replace(schema, fields=changed.fields)


def _placed(fields: Fields, field: DataField, position: Position | None, *, path: Path) -> Fields:
    match position:
        case First():
            place = 0
        case After(column):
            place = place_of(fields, column, path=(*path[:-1], column)) + 1
        case Before(column):
            place = place_of(fields, column, path=(*path[:-1], column))
        case _:
            place = len(fields)
    return (*fields[:place], field, *fields[place:])


def _before_partition(schema: TableSchema) -> Position | None:
    names = [name for name in schema.names if name in schema.partition_keys]
    return Before(names[0]) if names else None


def _check_free(fields: Fields, name: str, *, path: Path) -> None:
    if any(field.name == name for field in fields):
        raise AlreadyExistsError("column", ".".join(path))


def _check_not_among(names: tuple[str, ...], path: Path, *, what: str, deed: str) -> None:
    if len(path) == 1 and path[0] in names:
        raise InvalidTableError(f"column {shown(path)} is {what} and cannot {deed}")


def _blobs(schema: TableSchema) -> tuple[str, ...]:
    return tuple(
        field.name
        for field in schema.fields
        if isinstance(field.type, AtomicType) and field.type.root is TypeRoot.BLOB
    )


def _check_top_level(path: Path) -> None:
    if len(path) > 1:
        raise InvalidTableError(
            f"{shown(path)} cannot have a default: only whole columns have one, not their parts"
        )
