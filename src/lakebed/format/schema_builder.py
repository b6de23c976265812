"""How does a table's first schema come to be, and what may it not be?

Field ids are given here, once and for all. The order is the real engine's: a column gets its id
before what it nests, but a field inside a ROW gets its id after what it nests.

    st ROW<a ROW<b INT>, c INT>     st = 0, b = 1, a = 2, c = 3
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lakebed.errors import InvalidTableError
from lakebed.format.schema import KEY_FIELD_PREFIX, TableSchema
from lakebed.format.types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    VectorType,
    with_nullability,
)

PRIMARY_KEY_OPTION = "primary-key"
PARTITION_OPTION = "partition"
BUCKET_OPTION = "bucket"
BUCKET_KEY_OPTION = "bucket-key"
_DYNAMIC_BUCKET = -1
_POSTPONE_BUCKET = -2
_RESERVED_NAMES = frozenset(
    {"_SEQUENCE_NUMBER", "_VALUE_KIND", "_LEVEL", "rowkind", "_row_kind", "_ROW_ID"}
)
_KEYLESS_ROOTS = frozenset({TypeRoot.VARIANT, TypeRoot.BLOB})


@dataclass(slots=True)
class FieldIds:
    """A counter of field ids.

    Attributes:
        highest: The greatest id given so far; that of the table when columns are added.
    """

    highest: int = -1

    def next(self) -> int:
        """A new id."""
        self.highest += 1
        return self.highest


def build_schema(
    fields: Sequence[DataField],
    *,
    options: Mapping[str, str],
    time_millis: int,
    primary_keys: Sequence[str] = (),
    partition_keys: Sequence[str] = (),
    comment: str | None = None,
    before: TableSchema | None = None,
) -> TableSchema:
    """The validated schema of a new table, or of one that takes the place of another.

    Args:
        fields: The columns; their ids are given anew.
        options: The table's options. `primary-key` and `partition`, in which SQL says the keys,
            move to where keys belong.
        time_millis: Now.
        primary_keys: Names of the key columns, which become NOT NULL.
        partition_keys: Names of the partition columns.
        comment: The table's comment.
        before: The schema that it replaces, whose columns keep their ids where name and type are
            the same; no other column gets an id that was in use.

    Raises:
        InvalidTableError: No such table can be.
    """
    rest = dict(options)
    primary = _keys_of(PRIMARY_KEY_OPTION, primary_keys, options=rest)
    partition = _keys_of(PARTITION_OPTION, partition_keys, options=rest)
    ids = FieldIds() if before is None else FieldIds(before.highest_field_id)
    known = {} if before is None else {field.name: field for field in before.fields}
    columns = tuple(
        _column(field, ids, is_key=field.name in primary, known=known.get(field.name))
        for field in fields
    )
    built = TableSchema(
        id=0 if before is None else before.id + 1,
        fields=columns,
        highest_field_id=ids.highest,
        partition_keys=partition,
        primary_keys=primary,
        options=rest,
        comment=comment,
        time_millis=time_millis,
    )
    validate_schema(built)
    return built


def validate_schema(schema: TableSchema) -> None:
    """Refuses what no table can be, whatever its engine; other options are not looked at.

    Raises:
        InvalidTableError: Says the first thing that is wrong.
    """
    if not schema.fields:
        raise InvalidTableError("a table needs at least one column; give the schema one")
    _check_names(schema.names, where="the table")
    for field in schema.fields:
        _check_nested_names(field.type, where=f"column {field.name!r}")
    _check_key(schema, schema.partition_keys, what="partition column")
    _check_key(schema, schema.primary_keys, what="primary key column")
    if schema.primary_keys and not schema.trimmed_primary_keys:
        raise InvalidTableError(
            f"the primary key ({', '.join(schema.primary_keys)}) is only partition columns, so a "
            "partition would hold one row; add a column to the key"
        )
    _check_buckets(schema)


def assign_ids(kind: DataType, ids: FieldIds) -> DataType:
    """The type with ids for the fields of every ROW in it."""
    match kind:
        case AtomicType() | VectorType():
            return kind
        case ArrayType() | MultisetType():
            return replace(kind, element=assign_ids(kind.element, ids))
        case MapType():
            return replace(kind, key=assign_ids(kind.key, ids), value=assign_ids(kind.value, ids))
        case RowType():
            return replace(kind, fields=tuple(_nested_field(field, ids) for field in kind.fields))


def _column(field: DataField, ids: FieldIds, *, is_key: bool, known: DataField | None) -> DataField:
    if known is not None and _is_same(known.type, field.type):
        field_id = known.id
        kind = with_nullability(known.type, nullable=field.type.nullable)
    else:
        field_id = ids.next()
        kind = assign_ids(field.type, ids)
    if is_key:
        kind = with_nullability(kind, nullable=False)
    return replace(field, id=field_id, type=kind)


def _is_same(one: DataType, other: DataType) -> bool:
    """Whether two types differ in ids at most, and in whether null is a value."""
    bare = (assign_ids(with_nullability(each, nullable=True), FieldIds()) for each in (one, other))
    return next(bare) == next(bare)


def _nested_field(field: DataField, ids: FieldIds) -> DataField:
    kind = assign_ids(field.type, ids)
    return replace(field, id=ids.next(), type=kind)


def _keys_of(option: str, given: Sequence[str], *, options: dict[str, str]) -> tuple[str, ...]:
    """The key columns, from the call or from the option, which is taken out."""
    text = options.pop(option, None)
    if text is None:
        return tuple(given)
    if given:
        raise InvalidTableError(
            f"option {option!r} and the statement both say the columns; leave one away"
        )
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _check_names(names: Sequence[str], *, where: str) -> None:
    for index, name in enumerate(names):
        if not name.strip():
            raise InvalidTableError(f"column {index} of {where} has no name; give it one")
        if name in _RESERVED_NAMES or name.startswith(KEY_FIELD_PREFIX):
            raise InvalidTableError(f"column name {name!r} is reserved; choose another")
    _check_distinct(names, what=f"column of {where}")


def _check_distinct(names: Sequence[str], *, what: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InvalidTableError(f"{what} {name!r} is there twice; name it once")


def _check_nested_names(kind: DataType, *, where: str) -> None:
    match kind:
        case AtomicType():
            return
        case ArrayType() | MultisetType() | VectorType():
            _check_nested_names(kind.element, where=where)
        case MapType():
            _check_nested_names(kind.key, where=where)
            _check_nested_names(kind.value, where=where)
        case RowType():
            if not all(name.strip() for name in kind.names):
                raise InvalidTableError(f"a ROW in {where} has a field without name; give it one")
            _check_distinct(kind.names, what=f"field of a ROW in {where},")
            for field in kind.fields:
                _check_nested_names(field.type, where=where)


def _check_key(schema: TableSchema, names: Sequence[str], *, what: str) -> None:
    _check_distinct(names, what=what)
    for name in names:
        field = schema.row_type.field(name)
        if field is None:
            raise InvalidTableError(
                f"{what} {name!r} is no column of the table: {', '.join(schema.names)}"
            )
        if not isinstance(field.type, AtomicType) or field.type.root in _KEYLESS_ROOTS:
            raise InvalidTableError(f"{what} {name!r} is of a type that no key can have")


def _check_buckets(schema: TableSchema) -> None:
    count = _bucket_count(schema.options)
    has_bucket_key = bool(schema.options.get(BUCKET_KEY_OPTION, "").strip())
    if count == _DYNAMIC_BUCKET:
        if has_bucket_key:
            raise InvalidTableError(
                "'bucket-key' needs a number of buckets; set 'bucket' or remove 'bucket-key'"
            )
        return
    if count < 1 and not (count == _POSTPONE_BUCKET and schema.primary_keys):
        raise InvalidTableError(
            f"'bucket' is {count}; give a number from 1, -1 for none, or -2 to postpone bucketing "
            "of a table with a primary key"
        )
    if not schema.bucket_keys:
        raise InvalidTableError(
            "a bucketed table without primary key needs 'bucket-key'; set it or remove 'bucket'"
        )
    if has_bucket_key:
        _check_bucket_key(schema)


def _check_bucket_key(schema: TableSchema) -> None:
    _check_key(schema, schema.bucket_keys, what="bucket key column")
    for name in schema.bucket_keys:
        if name in schema.partition_keys:
            raise InvalidTableError(
                f"bucket key column {name!r} is a partition column; take another"
            )
        if schema.primary_keys and name not in schema.primary_keys:
            raise InvalidTableError(
                f"bucket key column {name!r} is not in the primary key "
                f"({', '.join(schema.primary_keys)}); rows of one key could lie in two buckets"
            )


def _bucket_count(options: Mapping[str, str]) -> int:
    text = options.get(BUCKET_OPTION, str(_DYNAMIC_BUCKET))
    try:
        return int(text)
    except ValueError as error:
        raise InvalidTableError(f"'bucket' is {text!r}; give a number") from error
