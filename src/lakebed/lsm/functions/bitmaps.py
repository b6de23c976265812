"""`rbm32` and `rbm64`: the union of Roaring bitmaps, serialised as the format has them."""

from collections.abc import Sequence

from pyroaring import BitMap

from lakebed.format.roaring_tree import format_bitmap64, parse_bitmap64
from lakebed.format.types import DataField
from lakebed.lsm.functions.blobs import make_union
from lakebed.lsm.functions.groups import Aggregate, FieldOptions


def make_rbm32(field: DataField, options: FieldOptions) -> Aggregate:
    """The function `rbm32` of a column: 32-bit bitmaps in the portable form.

    Raises:
        InvalidTableError: The column is no VARBINARY.
    """
    del options
    return make_union(field, function="rbm32", union=_union_32)


def make_rbm64(field: DataField, options: FieldOptions) -> Aggregate:
    """The function `rbm64` of a column: 64-bit bitmaps (`format.roaring_tree`).

    Raises:
        InvalidTableError: The column is no VARBINARY.
    """
    del options
    return make_union(field, function="rbm64", union=_union_64)


def _union_32(values: Sequence[bytes]) -> bytes:
    if not all(values):
        raise ValueError("there are no bytes")
    united = BitMap.union(*(BitMap.deserialize(value) for value in values))
    united.run_optimize()
    return bytes(united.serialize())


def _union_64(values: Sequence[bytes]) -> bytes:
    united = parse_bitmap64(values[0])
    for value in values[1:]:
        united.update(parse_bitmap64(value))
    return format_bitmap64(united)
