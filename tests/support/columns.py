"""Arrow columns of values of any type, which the stubs of Arrow do not know how to make."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from lakebed.format.arrow.typing import ArrowArray, ArrowChunks

_arrow: Any = pa


def array_of(values: Sequence[object], kind: pa.DataType) -> ArrowArray:
    array: ArrowArray = _arrow.array(values, kind)
    return array


def chunks_of(chunks: Sequence[ArrowArray], kind: pa.DataType) -> ArrowChunks:
    column: ArrowChunks = _arrow.chunked_array(chunks, kind)
    return column


def column_of(values: Sequence[object], kind: pa.DataType) -> ArrowChunks:
    return chunks_of([array_of(values, kind)], kind)


def sliced_array_of(values: Sequence[object], kind: pa.DataType) -> ArrowArray:
    """An array that begins and ends in the middle of its buffers."""
    return array_of([None, *values, None], kind).slice(1, len(values))


def schema_of(**kinds: pa.DataType) -> pa.Schema:
    return pa.schema(kinds)
