"""Which Arrow type holds values of which type, and back?

Out, there is one Arrow type for each type, never a large, view or dictionary one. In, those are
taken for their plain ones, and what would lose values (unsigned, float16, duration, null,
microsecond times) is refused by name. Nullability goes both ways.

`parquet_schema` is the same with a field id on every field, nested ones included, in the places
where the Parquet files of the format have them: ids of list elements and map entries are made from
the id of the column and the depth.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import pyarrow as pa

from lakebed.errors import InvalidTableError
from lakebed.format.arrow.atoms import arrow_value_type, unit_digits
from lakebed.format.schema_definition import Schema
from lakebed.format.type_text import MAX_DECIMAL_PRECISION
from lakebed.format.types import (
    MAX_LENGTH,
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

ArrowField: TypeAlias = "pa.Field[pa.DataType]"

FIELD_ID_KEY = b"PARQUET:field_id"
_STRUCTURED_ID_BASE = 536870911
_STRUCTURED_ID_STEP = 1024
_COUNT_TYPE = AtomicType(root=TypeRoot.INT, nullable=False)
_VARIANT_PARTS = ("value", "metadata")


def to_arrow_type(kind: DataType) -> pa.DataType:
    """The Arrow type of a type's values."""
    return _arrow_type(kind, _Ids())


def to_arrow_field(field: DataField) -> ArrowField:
    """The Arrow field of a column."""
    return pa.field(field.name, to_arrow_type(field.type), nullable=field.type.nullable)


def to_arrow_schema(fields: Sequence[DataField]) -> pa.Schema:
    """The Arrow schema of columns."""
    return pa.schema([to_arrow_field(field) for field in fields])


def parquet_schema(fields: Sequence[DataField]) -> pa.Schema:
    """The Arrow schema of columns, with the field ids of a Parquet file in the metadata."""
    return pa.schema([_identified_field(field) for field in fields])


def from_arrow_schema(schema: pa.Schema) -> Schema:
    """The columns that an Arrow schema says.

    Raises:
        InvalidTableError: A type that the format lacks; names the column and what to use.
    """
    return Schema(
        fields=tuple(
            DataField(id=index, name=field.name, type=_field_type(field, field.name))
            for index, field in enumerate(schema)
        )
    )


def from_arrow_type(kind: pa.DataType, *, column: str) -> DataType:
    """The type, nullable, for an Arrow type.

    Raises:
        InvalidTableError: The format lacks it; names `column` and what to use.
    """
    if isinstance(kind, pa.DictionaryType):
        return from_arrow_type(kind.value_type, column=column)
    if isinstance(kind, pa.StructType):
        return _row_type(kind, column)
    if isinstance(kind, pa.MapType):
        return MapType(
            key=_field_type(kind.key_field, f"{column}.key"),
            value=_field_type(kind.item_field, f"{column}.value"),
        )
    if isinstance(kind, _LIST_TYPES):
        return ArrayType(element=_field_type(kind.value_field, f"{column}.element"))
    atomic = _atomic_from_arrow(kind)
    if atomic is None:
        advice = _ADVICE.get(str(kind).partition("[")[0], "cast it to a type of the table format")
        raise InvalidTableError(f"column {column!r} has Arrow type {kind}: {advice}")
    return atomic


@dataclass(frozen=True, slots=True)
class _Ids:
    """Field ids for what a list or map holds, made from the id of the column around it.

    Without a column id there are none.
    """

    column_id: int | None = None
    depth: int = 0

    @property
    def of_element(self) -> int | None:
        """Of a list's element or a map's value."""
        distance = self._distance
        return None if distance is None else _STRUCTURED_ID_BASE + distance

    @property
    def of_key(self) -> int | None:
        """Of a map's key."""
        distance = self._distance
        return None if distance is None else _STRUCTURED_ID_BASE - distance

    def deeper(self) -> "_Ids":
        """One list or map further in."""
        return _Ids(self.column_id, self.depth + 1)

    @property
    def _distance(self) -> int | None:
        return None if self.column_id is None else self.column_id * _STRUCTURED_ID_STEP + self.depth


def _arrow_type(kind: DataType, ids: _Ids) -> pa.DataType:
    inner = ids.deeper()
    match kind:
        case AtomicType():
            return _atomic_type(kind, has_ids=ids.column_id is not None)
        case ArrayType():
            return pa.list_(_part("element", kind.element, inner, field_id=inner.of_element))
        case VectorType():
            element = _part("element", kind.element, inner, field_id=inner.of_element)
            return pa.list_(element, kind.length)
        case MapType():
            return _map_type(kind.key, kind.value, inner)
        case MultisetType():
            return _map_type(kind.element, _COUNT_TYPE, inner)
        case RowType():
            convert = to_arrow_field if ids.column_id is None else _identified_field
            return pa.struct([convert(field) for field in kind.fields])


def _map_type(key: DataType, value: DataType, ids: _Ids) -> pa.DataType:
    entry = (
        _part("key", with_nullability(key, nullable=False), ids, field_id=ids.of_key),
        _part("value", value, ids, field_id=ids.of_element),
    )
    # The stubs know only types here; fields carry nullability and ids.
    return cast("pa.DataType", pa.map_(*cast("tuple[pa.DataType, pa.DataType]", entry)))


def _part(name: str, kind: DataType, ids: _Ids, *, field_id: int | None) -> ArrowField:
    arrow_type = _arrow_type(kind, ids)
    return _field(name, arrow_type, nullable=kind.nullable, field_id=field_id)


def _identified_field(field: DataField) -> ArrowField:
    arrow_type = _arrow_type(field.type, _Ids(field.id))
    return _field(field.name, arrow_type, nullable=field.type.nullable, field_id=field.id)


def _field(name: str, kind: pa.DataType, *, nullable: bool, field_id: int | None) -> ArrowField:
    metadata = None if field_id is None else {FIELD_ID_KEY: str(field_id).encode()}
    return pa.field(name, kind, nullable=nullable, metadata=metadata)


def _atomic_type(kind: AtomicType, *, has_ids: bool) -> pa.DataType:
    if kind.root is not TypeRoot.VARIANT:
        return arrow_value_type(kind)
    return pa.struct(
        [
            _field(name, pa.binary(), nullable=False, field_id=index if has_ids else None)
            for index, name in enumerate(_VARIANT_PARTS)
        ]
    )


def _field_type(field: ArrowField, column: str) -> DataType:
    return with_nullability(from_arrow_type(field.type, column=column), nullable=field.nullable)


def _row_type(kind: pa.StructType, column: str) -> RowType:
    return RowType(
        fields=tuple(
            DataField(id=index, name=field.name, type=_field_type(field, f"{column}.{field.name}"))
            for index, field in enumerate(kind)
        )
    )


def _atomic_from_arrow(kind: pa.DataType) -> AtomicType | None:
    plain = _PLAIN_TYPES.get(kind)
    if plain is not None:
        return plain
    if isinstance(kind, pa.TimestampType):
        root = TypeRoot.TIMESTAMP if kind.tz is None else TypeRoot.TIMESTAMP_LTZ
        return AtomicType(root=root, precision=unit_digits(kind.unit))
    if isinstance(kind, pa.FixedSizeBinaryType) and not isinstance(kind, _DECIMAL_TYPES):
        return AtomicType(root=TypeRoot.BINARY, length=kind.byte_width) if kind.byte_width else None
    if isinstance(kind, _DECIMAL_TYPES):
        return _decimal_from_arrow(kind.precision, kind.scale)
    return None


def _decimal_from_arrow(precision: int, scale: int) -> AtomicType | None:
    if precision > MAX_DECIMAL_PRECISION or not 0 <= scale <= precision:
        return None
    return AtomicType(root=TypeRoot.DECIMAL, precision=precision, scale=scale)


_LIST_TYPES = (
    pa.ListType,
    pa.LargeListType,
    pa.ListViewType,
    pa.LargeListViewType,
    pa.FixedSizeListType,
)
_DECIMAL_TYPES = (pa.Decimal32Type, pa.Decimal64Type, pa.Decimal128Type, pa.Decimal256Type)
_STRING = AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH)
_BYTES = AtomicType(root=TypeRoot.VARBINARY, length=MAX_LENGTH)
_PLAIN_TYPES: Mapping[pa.DataType, AtomicType] = {
    pa.bool_(): AtomicType(root=TypeRoot.BOOLEAN),
    pa.int8(): AtomicType(root=TypeRoot.TINYINT),
    pa.int16(): AtomicType(root=TypeRoot.SMALLINT),
    pa.int32(): AtomicType(root=TypeRoot.INT),
    pa.int64(): AtomicType(root=TypeRoot.BIGINT),
    pa.float32(): AtomicType(root=TypeRoot.FLOAT),
    pa.float64(): AtomicType(root=TypeRoot.DOUBLE),
    pa.date32(): AtomicType(root=TypeRoot.DATE),
    pa.date64(): AtomicType(root=TypeRoot.DATE),
    pa.time32("s"): AtomicType(root=TypeRoot.TIME, precision=0),
    pa.time32("ms"): AtomicType(root=TypeRoot.TIME, precision=3),
    pa.string(): _STRING,
    pa.large_string(): _STRING,
    pa.string_view(): _STRING,
    pa.binary(): _BYTES,
    pa.large_binary(): _BYTES,
    pa.binary_view(): _BYTES,
}
_ADVICE = {
    "uint8": "cast it to int16",
    "uint16": "cast it to int32",
    "uint32": "cast it to int64",
    "uint64": "cast it to decimal128(20, 0), or to int64 if its values fit",
    "halffloat": "cast it to float32",
    "duration": "cast it to int64",
    "null": "cast it to the type that its values will have",
    "time64": "cast it to time32('ms'), the finest time of the format",
}
