"""How are the values inside of lists, maps and structs given as another type?

Nesting, names, nullability and field ids stay; only the types without parts change.
"""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from lakebed.format.arrow.nested import (
    entries_of,
    part_of,
    values_of,
    with_entries,
    with_parts,
    with_values,
)
from lakebed.format.arrow.types import FIELD_ID_KEY, ArrowField
from lakebed.format.arrow.typing import ArrowArray

__all__ = ["with_leaf_types", "with_leaves"]

# The stubs know only types as the parts of a map; fields carry nullability and ids.
_arrow: Any = pa


def with_leaf_types(
    field: ArrowField,
    leaf_type: Callable[[pa.DataType], pa.DataType],
    *,
    id_key: bytes = FIELD_ID_KEY,
) -> ArrowField:
    """The field with other types inside.

    Args:
        field: A column, or a part of one.
        leaf_type: What becomes of a type that is no list, map or struct.
        id_key: Under which key the metadata have the ids then, here and inside.
    """
    field_id = (field.metadata or {}).get(FIELD_ID_KEY)
    changed = field.with_type(_changed(field.type, leaf_type, id_key))
    return changed if field_id is None else changed.with_metadata({id_key: field_id})


def with_leaves(
    array: ArrowArray, target: pa.DataType, convert: Callable[[ArrowArray, pa.DataType], ArrowArray]
) -> ArrowArray:
    """The array in a type that `with_leaf_types` made of its own.

    Args:
        array: Any array.
        target: Its type with other leaves.
        convert: Gives values of a leaf in another type; not asked where the type stays.
    """
    if array.type == target:
        return array
    match target:
        case pa.ListType():
            values = with_leaves(values_of(array), target.value_type, convert)
            return with_values(array, values, target)
        case pa.MapType():
            keys, items = entries_of(array)
            entries = (
                with_leaves(keys, target.key_type, convert),
                with_leaves(items, target.item_type, convert),
            )
            return with_entries(array, entries, target)
        case pa.StructType():
            parts = {
                part.name: with_leaves(part_of(array, part.name), part.type, convert)
                for part in target
            }
            return with_parts(array, parts, target)
        case _:
            return convert(array, target)


def _changed(
    kind: pa.DataType, leaf_type: Callable[[pa.DataType], pa.DataType], id_key: bytes
) -> pa.DataType:
    def change(part: ArrowField) -> ArrowField:
        return with_leaf_types(part, leaf_type, id_key=id_key)

    match kind:
        case pa.ListType():
            return pa.list_(change(kind.value_field))
        case pa.MapType():
            entries: pa.DataType = _arrow.map_(change(kind.key_field), change(kind.item_field))
            return entries
        case pa.StructType():
            return pa.struct([change(part) for part in kind])
        case _:
            return leaf_type(kind)
