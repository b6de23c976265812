"""How is a nested array taken apart, and put together again with other parts?

Offsets and nulls of the array given stay; only what is inside is exchanged, and lists and maps come
out in Arrow's plain types, never the large ones.
"""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from lakebed.format.arrow.typing import ArrowArray

__all__ = ["entries_of", "part_of", "values_of", "with_entries", "with_parts", "with_values"]

# The stubs know neither fields nor the parts of an array whose type is found out at run time.
_arrow: Any = pa
_LISTS = (pa.ListArray, pa.LargeListArray)
_ENTRY_PARTS = {"key", "value"}


def values_of(array: ArrowArray) -> ArrowArray:
    """Elements of all lists.

    Raises:
        ArrowInvalid: It is no array of lists.
    """
    if not isinstance(array, _LISTS):
        raise pa.ArrowInvalid(f"{array.type} is no list")
    return array.values


def entries_of(array: ArrowArray) -> tuple[ArrowArray, ArrowArray]:
    """Keys and values of all maps, or of all lists of entries, as which Avro keeps most maps.

    Raises:
        ArrowInvalid: It is no array of either.
    """
    if isinstance(array, pa.MapArray):
        return array.keys, array.items
    if isinstance(array, _LISTS) and pa.types.is_struct(array.type.value_type):
        entries = array.values
        if {field.name for field in entries.type} == _ENTRY_PARTS:
            return part_of(entries, "key"), part_of(entries, "value")
    raise pa.ArrowInvalid(f"{array.type} is no map")


def part_of(array: ArrowArray, name: str) -> ArrowArray:
    """A field of all structs, also where a struct is null.

    Raises:
        ArrowInvalid: It is no array of structs.
        KeyError: There is no such field.
    """
    if not isinstance(array, pa.StructArray):
        raise pa.ArrowInvalid(f"{array.type} is no struct")
    part: ArrowArray = array.field(name)
    return part


def with_values(
    array: ArrowArray, values: ArrowArray, kind: pa.DataType | None = None
) -> ArrowArray:
    """The lists with other elements; of the type given, else of one made from the elements."""
    rebuilt: ArrowArray = _arrow.ListArray.from_arrays(
        _offsets(array), values, type=kind, mask=_null_mask(array)
    )
    return rebuilt


def with_entries(
    array: ArrowArray, entries: tuple[ArrowArray, ArrowArray], kind: pa.DataType | None = None
) -> ArrowArray:
    """The maps, or lists of entries, with other keys and values, as maps."""
    rebuilt: ArrowArray = _arrow.MapArray.from_arrays(
        _offsets(array), *entries, kind, mask=_null_mask(array)
    )
    return rebuilt


def with_parts(
    array: ArrowArray, parts: Mapping[str, ArrowArray], kind: pa.StructType | None = None
) -> ArrowArray:
    """The structs with other fields."""
    made: dict[str, object] = {"names": list(parts)} if kind is None else {"fields": list(kind)}
    rebuilt: ArrowArray = _arrow.StructArray.from_arrays(
        list(parts.values()), **made, mask=_null_mask(array)
    )
    return rebuilt


def _offsets(array: Any) -> ArrowArray:  # noqa: ANN401 - lists and maps, plain or large
    # Through NumPy, for a sliced array of offsets cannot be combined with a mask.
    offsets: ArrowArray = pa.array(array.offsets.cast(pa.int32()).to_numpy())
    return offsets


def _null_mask(array: ArrowArray) -> ArrowArray | None:
    return array.is_null() if array.null_count else None
