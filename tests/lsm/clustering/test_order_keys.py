"""Places on a curve against their definition, one row after the other, in plain Python."""

import datetime as dt
from bisect import bisect_left
from decimal import Decimal
from itertools import pairwise, product
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.errors import InvalidArgumentError
from lakebed.lsm.clustering.order_keys import (
    Ordering,
    check_order,
    is_sortable,
    order_keys,
    sampled_bounds,
)

CURVES = (Ordering.ZORDER, Ordering.HILBERT)
T = TypeVar("T", int, bytes)
RANK_BITS = 12
WORDS = st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9)


def places(
    rows: pa.Table, strategy: Ordering, *, text_bytes: int = 8, sample: pa.Table | None = None
) -> list[tuple[int, ...]]:
    """The place of each row: its words, which Python compares as the sort does."""
    names = rows.column_names
    bounds = sampled_bounds(rows if sample is None else sample, names, text_bytes=text_bytes)
    keys = order_keys(rows, names, strategy, bounds=bounds, text_bytes=text_bytes)
    return list(zip(*(key.to_pylist() for key in keys), strict=True))


def place_in_bits(place: tuple[int, ...]) -> str:
    return "".join(f"{word + 2**63:064b}" for word in place)


def table_of(rows: list[tuple[int | None, str]]) -> pa.Table:
    return pa.table(
        {
            "a": pa.array([number for number, _ in rows], pa.int64()),
            "s": pa.array([text for _, text in rows], pa.string()),
        }
    )


def rank_of(value: T, sample: list[T]) -> str:
    """The share of smaller values in bits: of n values each stands for the n-th part of all."""
    smaller, steps = bisect_left(sorted(sample), value), 2**RANK_BITS
    rank = -(-smaller * steps // len(sample)) if sample else 0
    return f"{min(rank, steps - 1):0{RANK_BITS}b}"


ROWS = st.lists(st.tuples(st.none() | WORDS, st.text("aé\0z", max_size=4)), max_size=9)


@given(ROWS, ROWS, st.sampled_from([1, 3, 8, 11]))
def test_a_place_on_the_z_order_curve_has_the_bits_of_the_ranks_in_turn(
    sampled: list[tuple[int | None, str]], rows: list[tuple[int | None, str]], text_bytes: int
) -> None:
    def values(row: tuple[int | None, str]) -> tuple[int, bytes]:
        number = -(2**63) if row[0] is None else row[0]
        return number, row[1].encode()[:text_bytes].ljust(text_bytes, b"\0")

    numbers = [values(row)[0] for row in sampled]
    texts = [values(row)[1] for row in sampled]
    found = places(table_of(rows), Ordering.ZORDER, text_bytes=text_bytes, sample=table_of(sampled))
    for row, place in zip(rows, found, strict=True):
        number, text = values(row)
        pairs = zip(rank_of(number, numbers), rank_of(text, texts), strict=True)
        expected = "".join(bit for pair in pairs for bit in pair)
        assert place_in_bits(place) == expected.ljust(64, "0")


@pytest.mark.parametrize("column_count", [2, 3])
def test_neighbours_on_the_hilbert_curve_differ_by_one_in_one_column(column_count: int) -> None:
    sample = pa.table({f"c{index}": np.arange(2**RANK_BITS) for index in range(column_count)})
    side = 16 if column_count == 2 else 8
    cells = list(product(range(side), repeat=column_count))
    np.random.default_rng(3).shuffle(cells)
    columns = [list(column) for column in zip(*cells, strict=True)]
    table = pa.table({f"c{index}": column for index, column in enumerate(columns)})
    ranked = sorted(zip(places(table, Ordering.HILBERT, sample=sample), cells, strict=True))
    steps = [np.abs(np.subtract(a, b)).sum() for (_, a), (_, b) in pairwise(ranked)]
    assert set(steps) == {1}
    assert tuple(ranked[0][1]) == (0,) * column_count


# Values of each type in ascending order, from null on.
ASCENDING: list[tuple[pa.DataType, list[Any]]] = [
    (pa.bool_(), [None, False, True]),
    (pa.int8(), [None, -128, -1, 0, 127]),
    (pa.int16(), [None, -300, 0, 300]),
    (pa.int32(), [None, -(2**31), -1, 0, 1, 2**31 - 1]),
    (pa.int64(), [None, 1 - 2**63, -1, 0, 1, 2**63 - 1]),
    (pa.float32(), [None, float("-inf"), -1.5, 0.0, 1e-30, 1.5, float("inf"), float("nan")]),
    (pa.float64(), [None, float("-inf"), -1e300, 0.0, 5e-324, 1.5, float("inf"), float("nan")]),
    (pa.decimal128(9, 2), [None, Decimal("-9.99"), Decimal("-0.01"), Decimal(0), Decimal("0.01")]),
    (pa.decimal128(38, 0), [None, Decimal(-(10**37)), Decimal(-1), Decimal(0), Decimal(10**30)]),
    (pa.date32(), [None, dt.date(1, 1, 1), dt.date(1969, 12, 31), dt.date(2026, 1, 1)]),
    (pa.time32("ms"), [None, dt.time(0), dt.time(23, 59)]),
    (pa.timestamp("us"), [None, *(int(1e15) * n for n in (-1, 0, 2))]),
    (
        pa.timestamp("ns", "UTC"),
        [None, *(dt.datetime(y, 1, 1, tzinfo=dt.UTC) for y in (1960, 2026))],
    ),
    (pa.string(), [None, "a", "ab", "b", "é", "𝄞"]),
    (pa.large_string(), [None, "a", "b"]),
    (pa.binary(), [None, b"\1", b"\1\1", b"\xff"]),
    (pa.binary(2), [None, b"\1\0", b"\1\1", b"\xff\0"]),
]


@pytest.mark.parametrize(("kind", "values"), ASCENDING, ids=lambda each: str(each)[:20])
@pytest.mark.parametrize("strategy", CURVES)
def test_places_grow_with_a_column_of_any_type_from_null_on(
    kind: pa.DataType, values: list[Any], strategy: Ordering
) -> None:
    assert is_sortable(kind)
    # Preceded and followed by others, of which slices must tell nothing.
    column = pa.array([values[-1], *values, values[0]], kind).slice(1, len(values))
    alike = pa.array([0] * len(values))
    table = pa.table({"a": column, "b": alike})
    if strategy is Ordering.ZORDER:
        found = places(table, strategy)
        assert found == sorted(set(found))
    # Whatever the curve, rows that differ are told apart.
    assert len(set(places(table, strategy))) == len(values)


def test_both_zeros_are_in_one_place_and_so_is_every_nan() -> None:
    other_nan = np.array([0xFFF8000000000001], "<u8").view("<f8")[0]
    table = pa.table({"a": [0.0, -0.0, float("nan"), other_nan], "b": [1, 1, 1, 1]})
    zero, negative_zero, nan, second_nan = places(table, Ordering.ZORDER)
    assert zero == negative_zero
    assert nan == second_nan


def test_the_keys_of_plain_order_are_the_columns_themselves() -> None:
    table = pa.table({"a": [2, None], "b": ["x", "y"]})
    assert order_keys(table, ["b", "a"], Ordering.ORDER) == [table["b"], table["a"]]


@pytest.mark.parametrize("strategy", CURVES)
def test_places_do_not_depend_on_the_rows_beside(strategy: Ordering) -> None:
    numbers = np.random.default_rng(5).integers(-(2**40), 2**40, (2, 70_000))
    table = pa.table({"a": numbers[0], "b": numbers[1]})
    some = pa.concat_tables([table.slice(69_000, 5), table.slice(12, 3)])
    whole = places(table, strategy)
    assert places(some, strategy, sample=table) == [*whole[69_000:69_005], *whole[12:15]]


@pytest.mark.parametrize("strategy", CURVES)
def test_no_rows_have_no_places(strategy: Ordering) -> None:
    table = pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.string())})
    assert places(table, strategy) == []


@pytest.mark.parametrize(
    ("column_count", "strategy"),
    [(1, Ordering.ORDER), (2, Ordering.ZORDER), (4, Ordering.ZORDER), (5, Ordering.HILBERT)],
)
def test_the_automatic_strategy_goes_by_the_number_of_columns(
    column_count: int, strategy: Ordering
) -> None:
    assert Ordering.automatic(column_count) is strategy


@pytest.mark.parametrize(
    ("columns", "strategy", "problem"),
    [
        ([], Ordering.ORDER, "no column"),
        (["a", "b", "a"], Ordering.ZORDER, "named twice"),
        (["a"], Ordering.HILBERT, "two columns at least"),
    ],
)
def test_columns_that_a_strategy_cannot_work_with_are_refused(
    columns: list[str], strategy: Ordering, problem: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=problem):
        check_order(columns, strategy)


@pytest.mark.parametrize(
    "kind", [pa.list_(pa.int64()), pa.struct([("a", pa.int64())]), pa.map_(pa.string(), pa.int64())]
)
def test_nested_types_cannot_be_sorted_by(kind: pa.DataType) -> None:
    assert not is_sortable(kind)
