"""`hll_sketch` and `theta_sketch`: the union of sketches of Apache DataSketches.

The library comes with the extra `sketches`, and is asked for where a table needs it.
"""

import struct
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from lakebed.errors import UnsupportedError
from lakebed.format.types import DataField
from lakebed.lsm.functions.blobs import make_union
from lakebed.lsm.functions.groups import Aggregate, FieldOptions

_LIBRARY = "datasketches"

# Places in the preamble of a theta sketch, and flags of its sixth byte.
_PREAMBLE_WORDS_MASK = 0x3F
_FLAGS_AT = 5
_SEED_HASH = slice(6, 8)
_SAMPLING = slice(12, 16)
_EMPTY_FLAG = 0x04
_SINGLE_FLAG = 0x20


def make_hll_sketch(field: DataField, options: FieldOptions) -> Aggregate:
    """The function `hll_sketch` of a column.

    Raises:
        InvalidTableError: The column is no VARBINARY.
        UnsupportedError: The library is not there.
    """
    del options
    _require_library("hll_sketch", field)
    return make_union(field, function="hll_sketch", union=_union_hll)


def make_theta_sketch(field: DataField, options: FieldOptions) -> Aggregate:
    """The function `theta_sketch` of a column.

    Raises:
        InvalidTableError: The column is no VARBINARY.
        UnsupportedError: The library is not there.
    """
    del options
    _require_library("theta_sketch", field)
    return make_union(field, function="theta_sketch", union=_union_theta)


def _union_hll(values: Sequence[bytes]) -> bytes:
    """Merged two by two, because the newer one says how fine a result may be."""
    library: Any = import_module(_LIBRARY)
    merged = values[0]
    for value in values[1:]:
        newer = library.hll_sketch.deserialize(value)
        united = library.hll_union(newer.lg_config_k)
        united.update(newer)
        united.update(library.hll_sketch.deserialize(merged))
        merged = bytes(united.get_result(library.tgt_hll_type.HLL_4).serialize_compact())
    return merged


def _union_theta(values: Sequence[bytes]) -> bytes:
    library: Any = import_module(_LIBRARY)
    united = library.theta_union()
    for value in values:
        united.update(library.compact_theta_sketch.deserialize(value))
    return _as_java_writes(bytes(united.get_result().serialize()))


def _as_java_writes(sketch: bytes) -> bytes:
    """A theta sketch with what the library in C++ leaves out and means nothing to it.

    Java marks a sketch of one value, gives an empty one no hash of the seed, and all others the
    sampling probability, which is 1.
    """
    changed = bytearray(sketch)
    if sketch[0] & _PREAMBLE_WORDS_MASK > 1:
        changed[_SAMPLING] = struct.pack("<f", 1.0)
    elif sketch[_FLAGS_AT] & _EMPTY_FLAG:
        changed[_SEED_HASH] = bytes(2)
    else:
        changed[_FLAGS_AT] |= _SINGLE_FLAG
    return bytes(changed)


def _require_library(function: str, field: DataField) -> None:
    if find_spec(_LIBRARY) is None:
        raise UnsupportedError(
            f"column {field.name!r}: {function} needs the package {_LIBRARY}; "
            "install lakebed[sketches]"
        )
