"""`listagg`: the texts of a segment joined with a delimiter.

Blank texts do not count. With `distinct`, the oldest text is taken as it is, and of every later one
those tokens that have not been there, tokens being what the delimiter separates.
"""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pyarrow as pa

from lakebed.errors import InvalidTableError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowArray, taken
from lakebed.format.type_text import format_type
from lakebed.format.types import MAX_LENGTH, AtomicType, DataField, TypeRoot
from lakebed.lsm.functions.groups import Aggregate, FieldOptions, Mask, Positions, Segments
from lakebed.lsm.functions.histories import histories_of
from lakebed.lsm.functions.identities import identities
from lakebed.lsm.functions.rounds import fold_in_rounds

_arrow: Any = pa

_STRING = (TypeRoot.VARCHAR, MAX_LENGTH)

# What Java's Character.isWhitespace says, for it decides which texts are blank: no-break spaces are
# not, control characters up to the separators are.
_WHITESPACE = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006"
    "\u2008\u2009\u200a\u2028\u2029\u205f\u3000"
)


def make(field: DataField, options: FieldOptions) -> Aggregate:
    """The function of a column.

    Raises:
        InvalidTableError: The column is no STRING.
    """
    kind = field.type
    if not isinstance(kind, AtomicType) or (kind.root, kind.length) != _STRING:
        raise InvalidTableError(
            f"column {field.name!r}: listagg takes a STRING, not {format_type(kind)}"
        )
    if not options.distinct:
        return _Join(options.delimiter)
    join = _JoinDistinct(options.delimiter)
    return _InRounds(join) if _may_arise_by_joining(options.delimiter) else join


def _may_arise_by_joining(delimiter: str) -> bool:
    """Whether joined texts may hold the delimiter in other places than where they were joined.

    So it is when the delimiter begins as it ends (`||`), and when tokens are separated by blanks
    for want of a delimiter.
    """
    return any(delimiter.endswith(delimiter[:size]) for size in range(1, len(delimiter))) or (
        delimiter == ""
    )


@dataclass(frozen=True, slots=True)
class _Join:
    delimiter: str

    def __call__(self, values: ArrowArray, segments: Segments) -> ArrowArray:
        rows = np.flatnonzero(_counts(values))
        texts = taken(values, rows)
        counts = np.bincount(segments.of_row[rows], minlength=segments.count)
        return _joined(texts, counts, self.delimiter)


@dataclass(frozen=True, slots=True)
class _JoinDistinct:
    delimiter: str

    def __call__(self, values: ArrowArray, segments: Segments) -> ArrowArray:
        rows = np.flatnonzero(_counts(values))
        texts, segment = taken(values, rows), segments.of_row[rows]
        split = pc.split_pattern(texts, self.delimiter or " ")
        tokens: ArrowArray = split.flatten()
        row = np.repeat(np.arange(len(rows)), pc.list_value_length(split).to_numpy())
        is_oldest = np.append(True, segment[1:] != segment[:-1])[: len(rows)]
        new = _first_of_segment(tokens, segment[row]) & _counts(tokens) & ~is_oldest[row]
        # The oldest text stands in its row's place, before the tokens of the later rows.
        pieces = pa.concat_arrays([texts.filter(pa.array(is_oldest)), tokens.filter(pa.array(new))])
        rows_of_pieces = np.concatenate([np.flatnonzero(is_oldest), row[new]])
        order = np.argsort(rows_of_pieces, kind="stable")
        counts = np.bincount(segment[rows_of_pieces], minlength=segments.count)
        return _joined(taken(pieces, order), counts, self.delimiter)


@dataclass(frozen=True, slots=True)
class _InRounds:
    step: Aggregate

    def __call__(self, values: ArrowArray, segments: Segments) -> ArrowArray:
        every = np.ones(segments.count, np.bool_)
        return fold_in_rounds(self.step, values, segments, chosen=every)


def _counts(texts: ArrowArray) -> Mask:
    """Which texts are neither null nor blank."""
    trimmed = pc.utf8_trim(pc.fill_null(texts, ""), characters=_WHITESPACE)
    mask: Mask = pc.not_equal(trimmed, "").to_numpy(zero_copy_only=False)
    return mask


def _first_of_segment(tokens: ArrowArray, segment: Positions) -> Mask:
    histories = histories_of(segment, identities(tokens))
    first = np.zeros(len(tokens), np.bool_)
    first[histories.order[histories.starts]] = True
    return first


def _joined(texts: ArrowArray, counts: Positions, delimiter: str) -> ArrowArray:
    """So many texts for each segment as one; null for a segment without any."""
    offsets = np.append(0, np.cumsum(counts)).astype(np.int32)
    lists = _arrow.ListArray.from_arrays(offsets, texts)
    return cast(
        "ArrowArray", pc.if_else(pa.array(counts > 0), pc.binary_join(lists, delimiter), None)
    )
