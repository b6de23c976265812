"""What does a table's schema become when rows with other columns are written to it?

Columns that the table lacks come last, in the order of the rows, and are nullable; so do fields of
a ROW, also within arrays and maps. What the rows lack stays. Types change only where that is asked
for: to one that holds every value of the old (`widens`), or to any that the format casts to
(`casts`).

The surprising thing: within arrays and maps no type changes, because the real engine cannot read
old files so.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lakebed.errors import InvalidTableError
from lakebed.format.casts.implicit import is_implicit
from lakebed.format.casts.rules import has_cast
from lakebed.format.schema import TableSchema
from lakebed.format.schema_builder import FieldIds, assign_ids, validate_schema
from lakebed.format.type_text import format_type
from lakebed.format.types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    RowType,
    TypeRoot,
    with_nullability,
)


class TypesDifferError(InvalidTableError):
    """A column of the rows has a type that the table's cannot become."""

    def __init__(self, column: str, *, own: DataType, given: DataType) -> None:
        """Names the column and both types."""
        self.column = column
        self.own = format_type(with_nullability(own, nullable=True))
        self.given = format_type(with_nullability(given, nullable=True))
        super().__init__(
            f"column {column!r} is {self.own} in the table and {self.given} in the rows, and does"
            " not change from one to the other; cast it before writing"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaMerging:
    """How far a write may change the table's schema.

    Attributes:
        widens: Whether types become wider (`write.merge-schema.type-widening`).
        casts: Whether they also become what loses something (`write.merge-schema.explicit-cast`).
        is_case_sensitive: Whether names match exactly.
    """

    widens: bool = False
    casts: bool = False
    is_case_sensitive: bool = False

    def merge(self, schema: TableSchema, given: Sequence[DataField]) -> TableSchema:
        """The schema that also holds the given columns; the same one where it does already.

        Args:
            schema: The table's.
            given: Columns of the rows; their ids mean nothing.

        Raises:
            TypesDifferError: A type that the table's cannot become.
            InvalidTableError: A new column of a name that no column can have.
        """
        ids = FieldIds(schema.highest_field_id)
        fields = self._fields(schema.fields, given, ids, where="")
        if fields == schema.fields:
            return schema
        self._check_keys(schema, fields)
        merged = replace(schema, id=schema.id + 1, fields=fields, highest_field_id=ids.highest)
        validate_schema(merged)
        return merged

    def _fields(
        self,
        own: Sequence[DataField],
        given: Sequence[DataField],
        ids: FieldIds,
        *,
        where: str,
        is_inside: bool = False,
    ) -> tuple[DataField, ...]:
        by_name = {self._key(field.name): field for field in given}
        known = {self._key(field.name) for field in own}
        merged = []
        for field in own:
            other = by_name.get(self._key(field.name))
            if other is not None:
                name = f"{where}{field.name}"
                kind = self._type(field.type, other.type, ids, where=name, is_inside=is_inside)
                field = replace(field, type=kind)  # noqa: PLW2901 - the field as it becomes
            merged.append(field)
        added = [field for field in given if self._key(field.name) not in known]
        return (*merged, *(_new_field(field, ids) for field in added))

    def _type(
        self, own: DataType, given: DataType, ids: FieldIds, *, where: str, is_inside: bool
    ) -> DataType:
        match own, given:
            case RowType(), RowType():
                fields = self._fields(
                    own.fields, given.fields, ids, where=f"{where}.", is_inside=is_inside
                )
                return replace(own, fields=fields)
            case ArrayType(), ArrayType():
                element = self._type(
                    own.element, given.element, ids, where=f"{where}.element", is_inside=True
                )
                return replace(own, element=element)
            case MapType(), MapType():
                value = self._type(
                    own.value, given.value, ids, where=f"{where}.value", is_inside=True
                )
                return replace(own, value=value)
            case _:
                pass
        kind = self._leaf(own, given, where=where)
        if is_inside and kind != own:
            raise TypesDifferError(where, own=own, given=given)
        return kind

    def _leaf(self, own: DataType, given: DataType, *, where: str) -> DataType:
        """The table's type, or that of the rows; the table's says whether it is nullable."""
        becomes = with_nullability(given, nullable=own.nullable)
        if becomes == own or not self.widens:
            return own
        if isinstance(own, AtomicType) and isinstance(given, AtomicType):
            is_decimal = own.root is given.root is TypeRoot.DECIMAL
            if _widens(own, given):
                return becomes
            if self.casts and not is_decimal and has_cast(own, given):
                return becomes
            if _widens(given, own):
                return own
        raise TypesDifferError(where, own=own, given=given)

    def _check_keys(self, schema: TableSchema, fields: Sequence[DataField]) -> None:
        """Buckets, partitions and order of keys are those of the types they were written with."""
        keys = {*schema.primary_keys, *schema.partition_keys, *schema.bucket_keys}
        for before, after in zip(schema.fields, fields, strict=False):
            if before.name in keys and before.type != after.type:
                raise TypesDifferError(before.name, own=before.type, given=after.type)

    def _key(self, name: str) -> str:
        return name if self.is_case_sensitive else name.lower()


def _new_field(field: DataField, ids: FieldIds) -> DataField:
    field_id = ids.next()
    kind = with_nullability(assign_ids(field.type, ids), nullable=True)
    return replace(field, id=field_id, type=kind)


def _widens(before: AtomicType, after: AtomicType) -> bool:
    if before.root is after.root is TypeRoot.DECIMAL:
        return before.scale == after.scale and (before.precision or 0) <= (after.precision or 0)
    if not is_implicit(before.root, after.root):
        return False
    if before.length is not None and after.length is not None:
        return before.length <= after.length
    if before.precision is not None and after.precision is not None:
        return before.root is TypeRoot.DECIMAL or before.precision <= after.precision
    return True
