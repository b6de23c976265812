"""How do times of nine digits become Spark's of six?

What is behind the sixth digit is cut, before 1970 as after: a time never gets later.
"""

import pyarrow as pa

from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.nested import (
    entries_of,
    part_of,
    values_of,
    with_entries,
    with_parts,
    with_values,
)
from lakebed.format.arrow.typing import ArrowArray


def has_nanoseconds(kind: pa.DataType) -> bool:
    """Whether values of the type hold times of nine digits, however deep."""
    if isinstance(kind, pa.TimestampType):
        return bool(kind.unit == "ns")
    return any(has_nanoseconds(kind.field(index).type) for index in range(kind.num_fields))


def cut_to_microseconds(array: ArrowArray) -> ArrowArray:
    """The array with microseconds for nanoseconds, however deep."""
    kind = array.type
    if not has_nanoseconds(kind):
        return array
    if isinstance(kind, pa.TimestampType):
        # Arrow's cast cuts towards zero, and flooring an instant would ask for its zone.
        whole = pc.floor_temporal(array.cast(pa.timestamp("ns")), unit="microsecond")
        cut: ArrowArray = whole.cast(pa.timestamp("us")).cast(pa.timestamp("us", kind.tz))
        return cut
    if isinstance(kind, pa.MapType):
        keys, values = entries_of(array)
        return with_entries(array, (cut_to_microseconds(keys), cut_to_microseconds(values)))
    if isinstance(kind, pa.StructType):
        parts = {field.name: cut_to_microseconds(part_of(array, field.name)) for field in kind}
        return with_parts(array, parts)
    return with_values(array, cut_to_microseconds(values_of(array)))
