import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.lsm.merge import (
    DELETE,
    INSERT,
    UPDATE_AFTER,
    UPDATE_BEFORE,
    deduplicate,
    drop_deletes,
    group_by_key,
    ranges_overlap,
)
from lakebed.lsm.sort_keys import sort_words
from support.columns import column_of

rows_of_few_keys = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=20)


@given(rows_of_few_keys)
def test_the_newest_of_each_key_is_the_one_that_a_dict_ends_with(
    rows: list[tuple[int, int]],
) -> None:
    model = {key: position for position, (key, _) in enumerate(rows)}
    words = sort_words([column_of([key for key, _ in rows], pa.int64())])
    groups = group_by_key(words, (), row_count=len(rows))
    assert deduplicate(groups, None).tolist() == [model[key] for key in sorted(model)]


@given(rows_of_few_keys)
def test_age_is_the_sequence_number_and_among_equal_ones_the_place(
    rows: list[tuple[int, int]],
) -> None:
    by_age = sorted(range(len(rows)), key=lambda row: rows[row][1])
    model = {rows[row][0]: row for row in by_age}
    words = sort_words([column_of([key for key, _ in rows], pa.int64())])
    sequence = np.array([number for _, number in rows], np.int64)
    groups = group_by_key(words, (sequence,), row_count=len(rows))
    assert groups.order.tolist() == sorted(by_age, key=lambda row: rows[row][0])
    assert deduplicate(groups, None).tolist() == [model[key] for key in sorted(model)]


@given(st.lists(st.tuples(st.sampled_from(["", "a", "b" * 70]), st.integers(0, 2)), max_size=12))
def test_a_key_of_several_columns_changes_with_any_of_them(keys: list[tuple[str, int]]) -> None:
    model = {key: position for position, key in enumerate(keys)}
    columns = [
        column_of([text for text, _ in keys], pa.string()),
        column_of([number * 2**62 for _, number in keys], pa.decimal128(20, 0)),
    ]
    groups = group_by_key(sort_words(columns), (), row_count=len(keys))
    assert deduplicate(groups, None).tolist() == [model[key] for key in sorted(model)]
    assert [keys[row] for row in groups.order] == sorted(keys)


def test_no_rows_make_no_groups() -> None:
    groups = group_by_key(sort_words([column_of([], pa.string())]), (), row_count=0)
    assert deduplicate(groups, None).tolist() == []


def test_winners_that_end_a_key_are_dropped_in_place() -> None:
    kinds = np.array([INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE], np.int8)
    assert drop_deletes(np.array([3, 2, 1, 0]), kinds).tolist() == [2, 0]


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        ([], False),
        ([(1, 5)], False),
        ([(6, 9), (1, 5)], False),
        ([(5, 9), (1, 5)], True),
        ([(1, 9), (2, 3), (20, 21)], True),
        ([(4, 4), (4, 4)], True),
    ],
)
def test_ranges_overlap_when_any_two_share_a_number(
    ranges: list[tuple[int, int]], *, expected: bool
) -> None:
    assert ranges_overlap(ranges) is expected
