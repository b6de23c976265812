"""How are Arrow's arrays named in annotations, and made where the stubs know too few types?

The classes have parameters in the stubs only, so the names stand for the plain classes at run time.
The functions are Arrow's own, typed for values of any type.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import UnsupportedError
from lakebed.format.arrow.compute import compute

__all__ = [
    "ArrowArray",
    "ArrowChunks",
    "ArrowColumn",
    "ArrowScalar",
    "EncodedArray",
    "chunked",
    "encode_dictionary",
    "joined",
    "nulls",
    "python_values",
    "repeated",
    "rows_without_columns",
    "scalar_of",
    "taken",
]

if TYPE_CHECKING:
    ArrowArray: TypeAlias = pa.Array[Any]
    ArrowChunks: TypeAlias = pa.ChunkedArray[Any]
    ArrowColumn: TypeAlias = pa.Array[Any] | pa.ChunkedArray[Any]
    ArrowScalar: TypeAlias = pa.Scalar[Any]
    EncodedArray: TypeAlias = pa.DictionaryArray[Any, Any]
else:
    ArrowArray = pa.Array
    ArrowChunks = pa.ChunkedArray
    ArrowColumn = pa.Array | pa.ChunkedArray
    ArrowScalar = pa.Scalar
    EncodedArray = pa.DictionaryArray

# pyarrow as the stubs would have it if they typed "of any type"; `compute` is the same for kernels.
_arrow: Any = pa


def nulls(count: int, kind: pa.DataType) -> ArrowArray:
    """That many nulls of a type."""
    if pa.types.is_struct(kind) and kind.num_fields:
        # Arrow's own have nulls inside, also where the type forbids them.
        return taken(_arrow.array([None], kind), np.zeros(count, np.int64))
    array: ArrowArray = _arrow.nulls(count, kind)
    return array


def repeated(value: ArrowScalar, count: int) -> ArrowArray:
    """A value, that many times."""
    if not value.is_valid:
        return nulls(count, value.type)
    array: ArrowArray = _arrow.repeat(value, count)
    return array


def rows_without_columns(count: int) -> pa.RecordBatch:
    """That many rows of nothing, which a table would forget."""
    batch: pa.RecordBatch = _arrow.RecordBatch.from_struct_array(nulls(count, pa.struct([])))
    return batch


def scalar_of(value: object, kind: pa.DataType | None = None) -> ArrowScalar:
    """A Python value as Arrow holds it, of the type given or else inferred."""
    scalar: ArrowScalar = _arrow.scalar(value, kind)
    return scalar


def chunked(chunks: Sequence[ArrowArray], kind: pa.DataType) -> ArrowChunks:
    """The chunks as one column."""
    column: ArrowChunks = _arrow.chunked_array(chunks, kind)
    return column


def joined(column: ArrowChunks) -> ArrowArray:
    """The chunks of a column as one array."""
    if column.num_chunks == 0:
        return nulls(0, column.type)
    chunks: list[ArrowArray] = column.chunks
    array: ArrowArray = chunks[0] if len(chunks) == 1 else _arrow.concat_arrays(chunks)
    return array


def taken(
    values: ArrowArray, rows: npt.NDArray[np.integer], nowhere: npt.NDArray[np.bool_] | None = None
) -> ArrowArray:
    """The values at some places, null where `nowhere` says so."""
    result: ArrowArray = compute.take(values, _arrow.array(rows, mask=nowhere))
    return result


def encode_dictionary(array: ArrowArray, *, null_encoding: str = "mask") -> EncodedArray:
    """An array as a dictionary and indices into it."""
    result: EncodedArray = compute.dictionary_encode(array, null_encoding=null_encoding)
    return result


def python_values(column: ArrowColumn) -> list[Any]:
    """The values as Python has them, of a column that holds no null or whose nulls are welcome.

    Raises:
        UnsupportedError: A date or time outside of the years 1 to 9999, which Python lacks.
    """
    try:
        return column.to_pylist()
    except (OverflowError, ValueError) as error:
        raise UnsupportedError(f"Python has no such {column.type}: {error}") from error
