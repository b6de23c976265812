"""Which distinct values has a column of one file, and which of them stands in which row?

The rows come in parts. Of each part its distinct values are kept and one small number a row; the
values of all parts are joined when the last has come.
"""

from dataclasses import dataclass, field
from typing import cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.arrow.atoms import arrow_value_type
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowArray, ArrowColumn, EncodedArray, encode_dictionary
from lakebed.format.binary_row.layout import numbers_in
from lakebed.format.file_index.stored_values import (
    STORED_NUMBERS,
    TEXT_ROOTS,
    ordered_integers,
    to_stored,
)
from lakebed.format.scatter import Bytes, Positions, places_of, put_numbers, put_texts
from lakebed.format.types import AtomicType

__all__ = ["DistinctValues", "RankedValues", "chunks_of", "valid_flags"]

_LENGTH_BYTES = 4
NULL_RANK = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedValues:
    """The distinct values of a column in their order.

    Attributes:
        stored: The values as an index holds them, one after the other; text with its length.
        starts: Where each value begins in `stored`, and where the last one ends.
        ranks: The place of each row's value among them; -1 where the row is null.
    """

    stored: Bytes
    starts: Positions
    ranks: npt.NDArray[np.int32]

    @property
    def count(self) -> int:
        """How many values there are."""
        return len(self.starts) - 1

    def value(self, rank: int) -> bytes:
        """One of the values as an index holds it."""
        return self.stored[self.starts[rank] : self.starts[rank + 1]].tobytes()


@dataclass(slots=True)
class DistinctValues:
    """Gathers the values of a column.

    Attributes:
        kind: An indexable type.
    """

    kind: AtomicType
    _encoded: list[EncodedArray] = field(default_factory=list, init=False)
    _valid: list[npt.NDArray[np.bool_]] = field(default_factory=list, init=False)

    def add(self, column: ArrowColumn) -> None:
        """Takes the values of the next rows."""
        for chunk in chunks_of(column, self.kind):
            self._valid.append(valid_flags(chunk))
            self._encoded.append(encode_dictionary(_keys(chunk.drop_null(), self.kind)))

    def ranked(self) -> RankedValues:
        """All values so far, in their order."""
        valid = np.concatenate([np.empty(0, dtype=np.bool_), *self._valid])
        ranks = np.full(len(valid), NULL_RANK, dtype=np.int32)
        none = _keys(pa.array([], arrow_value_type(self.kind)), self.kind)
        apart = pa.chunked_array([encode_dictionary(none), *self._encoded])
        parts = cast("list[EncodedArray]", apart.unify_dictionaries().chunks)
        keys: ArrowArray = parts[-1].dictionary
        order = pc.sort_indices(keys).to_numpy()
        rank_of = np.empty(len(order), dtype=np.int32)
        rank_of[order] = np.arange(len(order), dtype=np.int32)
        places = [part.indices.to_numpy() for part in parts]
        ranks[valid] = rank_of[np.concatenate(places)]
        stored, starts = _stored(keys.take(pa.array(order)), self.kind)
        return RankedValues(stored=stored, starts=starts, ranks=ranks)


def chunks_of(column: ArrowColumn, kind: AtomicType) -> list[ArrowArray]:
    """The parts of a column, of the type that `arrow_value_type` says."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return [chunk.cast(arrow_value_type(kind)) for chunk in chunks]


def valid_flags(values: ArrowArray) -> npt.NDArray[np.bool_]:
    """Which values are not null."""
    if not values.null_count:
        return np.ones(len(values), dtype=np.bool_)
    flags: npt.NDArray[np.bool_] = values.is_valid().to_numpy(zero_copy_only=False)
    return flags


def _keys(values: ArrowArray, kind: AtomicType) -> ArrowArray:
    """Values without nulls as what stands for them in order: bytes, or whole numbers."""
    if kind.root in TEXT_ROOTS:
        return values.cast(pa.binary())
    keys: ArrowArray = pa.array(ordered_integers(values, kind))
    return keys


def _stored(keys: ArrowArray, kind: AtomicType) -> tuple[Bytes, Positions]:
    if kind.root not in TEXT_ROOTS:
        width = STORED_NUMBERS[kind.root].itemsize
        numbers = to_stored(keys.to_numpy(), kind)
        return numbers.view(np.uint8), np.arange(len(keys) + 1, dtype=np.int64) * width
    offsets_buffer, data_buffer = keys.buffers()[1:3]
    offsets = numbers_in(offsets_buffer, np.int32)[keys.offset : keys.offset + len(keys) + 1]
    bounds = offsets.astype(np.int64) if len(keys) else np.zeros(1, dtype=np.int64)
    sizes = np.diff(bounds)
    starts = places_of(sizes + _LENGTH_BYTES)
    stored = np.empty(starts[-1], dtype=np.uint8)
    put_numbers(stored, starts[:-1], sizes, width=_LENGTH_BYTES)
    texts = numbers_in(data_buffer, np.uint8)
    put_texts(stored, starts[:-1] + _LENGTH_BYTES, texts, starts=bounds)
    return stored, starts
