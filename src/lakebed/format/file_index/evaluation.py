"""Can a data file hold a row for which a predicate is true, and in which rows, by its indexes?

Simplest, `color = 'red'`: a bloom filter says that 'red' is not in the file, or it may be. A bitmap
index lists the values of the column, so the condition is evaluated on these as on rows, and its
answer is exact; so is any other condition on that column alone, LIKE and arithmetic among them, and
so NULL, NaN, -0.0 and casts follow the one set of rules that rows follow.

Then:
1. AND, OR and NOT of several columns join what is known of each: by file, and by row where rows are
   known.
2. A condition that joins columns, and one on a column without an index, may hold anywhere.
3. A condition that fails on some value may hold anywhere: reading the rows then says what failed.

The surprising thing: what is known of a condition says nothing of its negation, since one that may
be TRUE may be FALSE as well, or neither where it is unknown. So NOT is pushed down to conditions.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import numpy as np
import pyarrow as pa

from lakebed.errors import InvalidArgumentError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowArray, nulls
from lakebed.format.file_index.bitmap import BITMAP, BitmapIndex, is_bitmap_type
from lakebed.format.file_index.bloom import BLOOM_FILTER, BloomFilter, bloom_hashes
from lakebed.format.file_index.bsi import BSI, BitSlicedIndex, is_bsi_type
from lakebed.format.file_index.container import IndexContainer
from lakebed.format.file_index.range_bitmap import RANGE_BITMAP, RangeBitmap
from lakebed.format.file_index.stored_values import is_indexable
from lakebed.format.file_index.value_index import Flags, ValueIndex
from lakebed.format.predicate.evaluation import evaluate
from lakebed.format.predicate.expressions import And, Column, Expression, Not, Or, walk
from lakebed.format.predicate.values import equality_values
from lakebed.format.types import AtomicType, DataField

__all__ = ["FileIndex"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileIndex:
    """The indexes of one data file.

    Attributes:
        container: Where they are.
        row_count: How many rows the data file has.
        fields: The field of the file's own schema in which the file has a column of a predicate, by
            the name in the predicate; without columns whose type has changed since.
    """

    container: IndexContainer
    row_count: int
    fields: Mapping[str, DataField]
    _parsed: dict[str, tuple[ValueIndex, ...]] = field(default_factory=dict, repr=False)

    def may_match(self, predicate: Expression) -> bool:
        """Whether some row may make a predicate TRUE; False only where none can.

        Raises:
            CorruptTableError: An index is none.
            UnsupportedError: An index is of a newer version.
        """
        if not _joined(predicate, leaf=self._may_be, both=all, either=any):
            return False
        if len(self._columns_with_rows(predicate)) < 2:
            return True
        # Each column alone may match, and yet no row match in all of them.
        rows = self.row_mask(predicate)
        return rows is None or bool(rows.any())

    def row_mask(self, predicate: Expression) -> Flags | None:
        """Which rows may make a predicate TRUE; None where indexes do not tell rows apart.

        Raises:
            CorruptTableError: An index is none.
            UnsupportedError: An index is of a newer version.
        """
        return _joined(predicate, leaf=self._rows, both=_rows_in_all, either=_rows_in_any)

    def _columns_with_rows(self, predicate: Expression) -> list[str]:
        columns = sorted({node.path[0] for node in walk(predicate) if isinstance(node, Column)})
        return [name for name in columns if self._value_indexes(name)]

    def _may_be(self, condition: Expression) -> bool:
        """Whether a condition may be TRUE in some row."""
        name = _only_column(condition)
        if name is None:
            return True
        if not self._passes_bloom_filter(condition, name):
            return False
        return all(_may_hold(index, condition, name) for index in self._value_indexes(name))

    def _passes_bloom_filter(self, condition: Expression, name: str) -> bool:
        kind = self._type(name)
        if kind is None:
            return True
        data = self.container.index_bytes(self.fields[name].name, BLOOM_FILTER)
        wanted = equality_values(condition, [name]) if data is not None else None
        if data is None or wanted is None:
            return True
        values = wanted.column(name).combine_chunks()
        if values.null_count:
            return True
        hashes = bloom_hashes(values, kind)
        if hashes is None:
            return True
        found = BloomFilter.parse(data, self.container.path).may_hold(hashes)
        return bool(found.any())

    def _rows(self, condition: Expression) -> Flags | None:
        """In which rows a condition may be TRUE; None where no index tells."""
        name = _only_column(condition)
        if name is None:
            return None
        found = [_rows_holding(index, condition, name) for index in self._value_indexes(name)]
        return _rows_in_all(found)

    def _type(self, name: str) -> AtomicType | None:
        found = self.fields.get(name)
        return found.type if found is not None and isinstance(found.type, AtomicType) else None

    def _value_indexes(self, name: str) -> tuple[ValueIndex, ...]:
        if name not in self._parsed:
            kind = self._type(name)
            self._parsed[name] = (
                () if kind is None else tuple(self._read_indexes(self.fields[name].name, kind))
            )
        return self._parsed[name]

    def _read_indexes(self, column: str, kind: AtomicType) -> list[ValueIndex]:
        found: list[ValueIndex] = []
        for index_type, parse in _parsers(kind).items():
            data = self.container.index_bytes(column, index_type)
            if data is None:
                continue
            path = self.container.path
            found.append(parse(data, kind, path=path, row_count=self.row_count))
        return found


class _Parser(Protocol):
    def __call__(
        self, data: bytes, kind: AtomicType, *, path: str, row_count: int
    ) -> ValueIndex: ...


def _parsers(kind: AtomicType) -> dict[str, _Parser]:
    """How indexes of each type are read for a column."""
    if not is_indexable(kind):
        return {}
    parsers: dict[str, _Parser] = {RANGE_BITMAP: RangeBitmap.parse}
    if is_bitmap_type(kind):
        parsers[BITMAP] = BitmapIndex.parse
    if is_bsi_type(kind):
        parsers[BSI] = BitSlicedIndex.parse
    return parsers


_Known = TypeVar("_Known")


def _joined(
    predicate: Expression,
    *,
    leaf: Callable[[Expression], _Known],
    both: Callable[[Sequence[_Known]], _Known],
    either: Callable[[Sequence[_Known]], _Known],
) -> _Known:
    """What is known of a predicate being TRUE, from what is known of its conditions."""

    def known(node: Expression, *, value: bool) -> _Known:
        if _only_column(node) is None:
            match node:
                case Not():
                    return known(node.operand, value=not value)
                case And() | Or():
                    parts = [known(part, value=value) for part in node.operands]
                    return (both if isinstance(node, And) is value else either)(parts)
                case _:
                    pass
        return leaf(node if value else Not(node))

    return known(predicate, value=True)


def _only_column(condition: Expression) -> str | None:
    """The one column that a condition is about, if it is a plain one."""
    columns = {node for node in walk(condition) if isinstance(node, Column)}
    names = {column.path[0] for column in columns}
    is_plain = all(len(column.path) == 1 for column in columns)
    return names.pop() if is_plain and len(names) == 1 else None


def _may_hold(index: ValueIndex, condition: Expression, name: str) -> bool:
    """Whether a condition may be TRUE in some row, by an index of its only column."""
    known = _true_values(condition, index.values(_values_wanted(condition, name)), name)
    if known is None or known[:-1].any():
        return True
    return bool(known[-1]) and bool(index.null_rows().any())


def _rows_holding(index: ValueIndex, condition: Expression, name: str) -> Flags | None:
    """In which rows a condition is TRUE, by an index of its only column; None where unknown."""
    wanted = _values_wanted(condition, name)
    known = _true_values(condition, index.values(wanted), name)
    if known is None:
        return None
    rows = index.rows_of(wanted, known[:-1])
    return rows | index.null_rows() if known[-1] else rows


def _values_wanted(condition: Expression, name: str) -> ArrowArray | None:
    """The values, without null, for which alone a condition can be TRUE, if they are few."""
    found = equality_values(condition, [name])
    return None if found is None else found.column(name).combine_chunks().drop_null()


def _true_values(condition: Expression, values: ArrowArray, name: str) -> Flags | None:
    """For which values, and null after them, a condition is TRUE; None where it fails on one."""
    column = pa.chunked_array([values, nulls(1, values.type)]).combine_chunks()
    try:
        found = evaluate(condition, pa.RecordBatch.from_arrays([column], names=[name]))
    except InvalidArgumentError:
        return None
    is_true: Flags = pc.fill_null(found, pa.scalar(value=False)).to_numpy(zero_copy_only=False)
    return is_true


def _rows_in_all(parts: Sequence[Flags | None]) -> Flags | None:
    known = [part for part in parts if part is not None]
    return np.logical_and.reduce(known) if known else None


def _rows_in_any(parts: Sequence[Flags | None]) -> Flags | None:
    known = [part for part in parts if part is not None]
    return np.logical_or.reduce(known) if len(known) == len(parts) else None
