"""Which aggregate functions make values out of lists, maps, texts and bytes, by name?"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lakebed.format.types import DataField
from lakebed.lsm.functions import bitmaps, collect, listagg, maps, nested, sketches
from lakebed.lsm.functions.groups import Aggregate, FieldOptions

Make = Callable[[DataField, FieldOptions], Aggregate]


@dataclass(frozen=True, slots=True)
class Function:
    """An aggregate function.

    Attributes:
        make: Makes it for a column; raises InvalidTableError where the column's type or options
            forbid it, UnsupportedError where a library is missing.
        takes_retract: Whether it can take something back.
    """

    make: Make
    takes_retract: bool = False


COMPOSITE_FUNCTIONS: Mapping[str, Function] = {
    "listagg": Function(listagg.make),
    "collect": Function(collect.make, takes_retract=True),
    "merge_map": Function(maps.make_merge_map, takes_retract=True),
    "merge_map_with_keytime": Function(maps.make_merge_map_with_keytime),
    "nested_update": Function(nested.make_nested_update, takes_retract=True),
    "nested_partial_update": Function(nested.make_nested_partial_update),
    "rbm32": Function(bitmaps.make_rbm32),
    "rbm64": Function(bitmaps.make_rbm64),
    "hll_sketch": Function(sketches.make_hll_sketch),
    "theta_sketch": Function(sketches.make_theta_sketch),
}
