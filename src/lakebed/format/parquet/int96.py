"""Do the timestamps of an INT96 column fit into nanoseconds of 64 bits?

TIMESTAMP(7) to TIMESTAMP(9) are stored as a nanosecond of a day and the day, which reaches far
beyond the years 1677 to 2262 that Arrow's nanoseconds span; decoders wrap around in silence, and
none of their coarser units helps, because the format's own writers count the nanoseconds backwards
before 1970. So the twelve bytes themselves are decoded too, under a footer that says so, and
compared.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lakebed.errors import UnsupportedError
from lakebed.format.arrow.nested import entries_of
from lakebed.format.arrow.typing import ArrowArray, ArrowChunks

__all__ = ["check_nanoseconds", "int96_columns"]

_WIDTH = 12
_JULIAN_DAY_OF_EPOCH = 2440588
_NANOS_A_DAY = 86_400 * 10**9
# Far more than the error of a float, far less than the 2**64 by which a number wraps.
_TOLERANCE = 10.0**15
_NANOS_BYTES = 8
_RAW = pa.binary(_WIDTH)
_STORED_TYPES = (_RAW, pa.timestamp("ns"), pa.timestamp("ns", "UTC"))
_DECODED = np.dtype([("nanos", "<i8"), ("day", "<i4")])


def int96_columns(metadata: pq.FileMetaData, wanted: list[str]) -> list[str]:
    """Which of the columns wanted are INT96 or have such a part."""
    schema = metadata.schema
    found = {
        schema.column(index).path.split(".", 1)[0]
        for index in range(len(schema.names))
        if schema.column(index).physical_type == "INT96"
    }
    return [name for name in wanted if name in found]


def check_nanoseconds(nanos: pa.Table, raw: pa.Table, path: str) -> None:
    """Compares the same INT96 columns, decoded once as nanoseconds and once as they are.

    Raises:
        UnsupportedError: A timestamp does not fit into nanoseconds.
    """
    for name in raw.column_names:
        stored = np.frombuffer(b"".join(map(_bytes, _leaves(raw.column(name)))), _DECODED)
        days = stored["day"].astype(np.float64) - _JULIAN_DAY_OF_EPOCH
        expected = days * _NANOS_A_DAY + stored["nanos"]
        found = np.frombuffer(b"".join(map(_bytes, _leaves(nanos.column(name)))), np.int64)
        if len(found) != len(expected) or (abs(found - expected) > _TOLERANCE).any():
            raise UnsupportedError(
                f"{path}: column {name!r} has timestamps before 1677-09-21 or after 2262-04-11, "
                "which 64 bits of nanoseconds do not hold; make it TIMESTAMP(6)"
            )


def _leaves(column: ArrowChunks | ArrowArray) -> Iterator[ArrowArray]:
    """The values inside that are timestamps or twelve bytes, of every chunk and every part."""
    if isinstance(column, pa.ChunkedArray):
        for chunk in column.chunks:
            yield from _leaves(chunk)
    elif isinstance(column, pa.StructArray):
        for part in column.flatten():
            yield from _leaves(part)
    elif isinstance(column, pa.MapArray):
        keys, items = entries_of(column)
        yield from _leaves(keys)
        yield from _leaves(items)
    elif isinstance(column, (pa.ListArray, pa.LargeListArray)):
        yield from _leaves(column.flatten())
    elif column.type in _STORED_TYPES:
        yield column.drop_null()


def _bytes(leaf: ArrowArray) -> bytes:
    """The bytes of fixed-width values, none of them null."""
    width = _WIDTH if leaf.type == _RAW else _NANOS_BYTES
    data = leaf.buffers()[1]
    return (
        b""
        if data is None
        else memoryview(data)[leaf.offset * width :][: len(leaf) * width].tobytes()
    )
