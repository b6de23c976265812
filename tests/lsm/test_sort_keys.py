import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cmp_to_key, partial
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.format.arrow.typing import ArrowArray, ArrowChunks
from lakebed.lsm.sort_keys import SortWords, sort_words
from support.columns import array_of, chunks_of, column_of, sliced_array_of


@dataclass(frozen=True)
class KeyType:
    """A type of key columns, with an order of its values that Python knows."""

    arrow: pa.DataType
    values: st.SearchStrategy[Any]
    order: Callable[[Any], Any] = lambda value: value


def integers(bits: int) -> st.SearchStrategy[int]:
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return st.one_of(st.integers(-3, 3), st.integers(low, high), st.sampled_from([low, high]))


def decimals(precision: int, scale: int) -> st.SearchStrategy[Decimal]:
    greatest = 10**precision - 1
    beyond_64_bits = (2**63, 2**64, 2**65 + 1, -(2**63) - 1)
    unscaled = st.one_of(
        st.integers(-2, 2),
        st.integers(-greatest, greatest),
        st.sampled_from([0, *(n for n in beyond_64_bits if abs(n) <= greatest)]),
    )
    return unscaled.map(lambda n: Decimal((n < 0, tuple(map(int, str(abs(n)))), -scale)))


def float_order(value: float) -> tuple[bool, float, float]:
    """The greatest is NaN, whatever its bits; -0.0 is smaller than 0.0."""
    return (True, 0, 0) if math.isnan(value) else (False, value, math.copysign(1, value))


def floats(width: int) -> st.SearchStrategy[float]:
    other_nan = struct.unpack("<d", struct.pack("<Q", 0xFFF8000000000001))[0]
    special = st.sampled_from([math.nan, other_nan, 0.0, -0.0, math.inf, -math.inf, 1.5])
    found = st.floats(width=32) if width == 32 else st.floats()
    return st.one_of(special, found)


# Few letters, so that values share prefixes and are equal often; NUL and all UTF-8 lengths are in.
TEXTS = st.one_of(
    st.text("ab\0zéłŒ€𝄞", max_size=5),
    st.text("ab", min_size=60, max_size=70),
    st.text(max_size=8),
)
BYTES = st.one_of(
    st.binary(max_size=4),
    st.lists(st.sampled_from([b"\0", b"a", b"\xff", b"ab"]), max_size=4).map(b"".join),
    st.binary(min_size=62, max_size=67),
)

KEY_TYPES = {
    "bool": KeyType(pa.bool_(), st.booleans()),
    "int8": KeyType(pa.int8(), integers(8)),
    "int16": KeyType(pa.int16(), integers(16)),
    "int32": KeyType(pa.int32(), integers(32)),
    "int64": KeyType(pa.int64(), integers(64)),
    "date": KeyType(pa.date32(), integers(32)),
    "time": KeyType(pa.time32("ms"), st.integers(0, 86_399_999)),
    "timestamp-s": KeyType(pa.timestamp("s"), integers(64)),
    "timestamp-us": KeyType(pa.timestamp("us"), integers(64)),
    "timestamp-zoned": KeyType(pa.timestamp("ms", "UTC"), integers(64)),
    "decimal-small": KeyType(pa.decimal128(9, 2), decimals(9, 2)),
    "decimal-19": KeyType(pa.decimal128(19, 0), decimals(19, 0)),
    "decimal-large": KeyType(pa.decimal128(38, 10), decimals(38, 10)),
    "float": KeyType(pa.float32(), floats(32), float_order),
    "double": KeyType(pa.float64(), floats(64), float_order),
    "string": KeyType(pa.string(), TEXTS, lambda text: text.encode()),
    "binary": KeyType(pa.binary(), BYTES),
}
names = st.sampled_from(sorted(KEY_TYPES))


def nulls_first(key_type: KeyType, value: object) -> tuple[Any, ...]:
    return (0,) if value is None else (1, key_type.order(value))


@st.composite
def columns(draw: st.DrawFn, key_type: KeyType, row_count: int) -> tuple[list[Any], ArrowChunks]:
    """Values, and the same as a column of any number of chunks, some of them sliced or empty."""
    strategy = key_type.values
    if draw(st.booleans()):
        strategy = st.none() | strategy
    values = draw(st.lists(strategy, min_size=row_count, max_size=row_count))
    cuts = sorted(draw(st.lists(st.integers(0, row_count), max_size=3)))
    chunks: list[ArrowArray] = []
    for start, stop in zip([0, *cuts], [*cuts, row_count], strict=True):
        part = values[start:stop]
        as_slice = draw(st.booleans())
        make = sliced_array_of if as_slice else array_of
        chunks.append(make(part, key_type.arrow))
    return values, chunks_of(chunks, key_type.arrow)


def compare(words: SortWords, left: int, right: int) -> int:
    for word in words:
        a, b = word[left], word[right]
        if a != b:
            return -1 if a < b else 1
    return 0


def assert_same_order(words: SortWords, keys: list[Any]) -> None:
    """Order and equality of the words are those of the keys, by comparing and by sorting."""
    assert all(len(word) == len(keys) for word in words)
    expected = sorted(range(len(keys)), key=keys.__getitem__)
    for left, right in pairwise(expected):
        wanted = 0 if keys[left] == keys[right] else -1
        assert compare(words, left, right) == wanted, (keys[left], keys[right])
    by_words: Callable[[int], Any] = cmp_to_key(partial(compare, words))
    assert sorted(range(len(keys)), key=by_words) == expected
    assert np.lexsort(words[::-1]).tolist() == expected


@pytest.mark.parametrize("name", KEY_TYPES)
@given(data=st.data(), row_count=st.integers(0, 12))
def test_words_are_ordered_as_values_are(name: str, data: st.DataObject, row_count: int) -> None:
    key_type = KEY_TYPES[name]
    values, column = data.draw(columns(key_type, row_count))
    assert_same_order(sort_words([column]), [nulls_first(key_type, value) for value in values])


@given(data=st.data(), row_count=st.integers(0, 12), chosen=st.lists(names, min_size=2, max_size=4))
def test_words_of_several_columns_are_ordered_as_tuples_are(
    data: st.DataObject, row_count: int, chosen: list[str]
) -> None:
    key_types = [KEY_TYPES[name] for name in chosen]
    drawn = [data.draw(columns(key_type, row_count)) for key_type in key_types]
    keys = [
        tuple(
            nulls_first(kind, values[row])
            for kind, (values, _) in zip(key_types, drawn, strict=True)
        )
        for row in range(row_count)
    ]
    assert_same_order(sort_words([column for _, column in drawn]), keys)


@pytest.mark.parametrize("name", KEY_TYPES)
def test_a_column_of_nulls_alone_is_all_equal(name: str) -> None:
    column = column_of([None, None], KEY_TYPES[name].arrow)
    assert_same_order(sort_words([column]), [(), ()])


@pytest.mark.parametrize("name", KEY_TYPES)
def test_a_column_without_chunks_has_words_without_rows(name: str) -> None:
    words = sort_words([chunks_of([], KEY_TYPES[name].arrow)])
    assert words
    assert all(len(word) == 0 for word in words)


def test_small_integers_of_two_columns_share_one_word() -> None:
    left = column_of([2, 1, 1], pa.int32())
    right = column_of([0, 9 - 2**63, -(2**63)], pa.int64())
    assert len(sort_words([left, left])) == 1
    assert_same_order(sort_words([left, right]), [(2, 0), (1, 9), (1, 0)])


def test_integers_too_wide_for_one_word_stay_apart() -> None:
    left = column_of([1, 0, 0], pa.int8())
    right = column_of([-(2**63), 2**63 - 1, -(2**63)], pa.int64())
    words = sort_words([left, right])
    assert len(words) == 2
    assert_same_order(words, [(1, 0), (0, 1), (0, 0)])


@pytest.mark.parametrize(
    "kind", [pa.int64(), pa.timestamp("us"), pa.float64(), pa.decimal128(38, 0)], ids=str
)
def test_what_lies_in_memory_below_nulls_does_not_matter(kind: pa.DataType) -> None:
    no_row_is_valid = pa.py_buffer(b"\x00")
    garbage = pa.py_buffer(np.array([7, 0, 9, 1], np.int64).tobytes())
    rows = pa.Array.from_buffers(kind, 2, [no_row_is_valid, garbage])
    assert_same_order(sort_words([chunks_of([rows], kind)]), [(), ()])
