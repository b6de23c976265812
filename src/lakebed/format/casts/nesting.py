"""How is a nested column taken into the columns of its parts, and put together again?

What stands below a null list, map or struct is no value, so it is left out of the parts (of lists
and maps) or null (in those of structs): it could be anything, and must not be cast.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from lakebed.format.arrow.compute import Values
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowArray

# The stubs know neither the type nor the mask of maps.
_map_array: Any = pa.MapArray

__all__ = ["arrays_of", "entries_of", "fields_of", "flattened", "lists_like", "maps_of", "rows_of"]


def flattened(lists: Values) -> Values:
    """The elements of all lists."""
    return pc.list_flatten(lists)


def entries_of(maps: Values) -> tuple[Values, Values]:
    """The keys and the values of all maps."""
    entries = pc.list_flatten(_entry_lists(maps))
    keys, items = entries.flatten()
    return keys, items


def fields_of(structs: Values) -> list[Values]:
    """The fields, null where the struct is."""
    return list(structs.flatten())


def lists_like(column: Values, elements: Values) -> Values:
    """Lists of the lengths that the lists or maps of a column have, null where they are."""
    return arrays_of(column, elements, pa.list_(elements.type))


def arrays_of(column: Values, elements: Values, kind: pa.DataType) -> Values:
    """The same of a list type, whose element type that of `elements` is but for nullability."""
    array: ArrowArray = pa.ListArray.from_arrays(
        _offsets(column), elements, type=kind, mask=column.is_null()
    )
    return array


def maps_of(column: Values, entries: tuple[Values, Values], kind: pa.DataType) -> Values:
    """Maps of the lengths that those of a column have, null where they are."""
    keys, items = entries
    mask = column.is_null()
    return _map_array.from_arrays(_offsets(column), keys, items, type=kind, mask=mask)


def rows_of(column: Values, fields: list[Values], kind: pa.StructType) -> Values:
    """Structs of fields, null where those of a column are."""
    return pa.StructArray.from_arrays(fields, fields=list(kind), mask=column.is_null())


def _entry_lists(column: Values) -> Values:
    """Maps as the lists of structs that they are; lists as they are."""
    if not isinstance(column.type, pa.MapType):
        return column
    return column.cast(pa.list_(pa.struct([column.type.key_field, column.type.item_field])))


def _offsets(column: Values) -> Values:
    lengths = pc.fill_null(pc.list_value_length(_entry_lists(column)), 0)
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths.to_numpy(zero_copy_only=False), out=offsets[1:])
    return pa.array(offsets)
