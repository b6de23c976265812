"""Splits are dealt out so that no task has much more to read than another."""

from dataclasses import dataclass

import pytest

from lakebed.spark.reader import grouped


@dataclass(frozen=True, slots=True)
class Piece:
    size_bytes: int


@pytest.mark.parametrize(
    ("megabytes", "count", "expected"),
    [
        ([], 2, []),
        ([5], 2, [[5]]),
        ([1, 9, 5, 5], 2, [[9, 1], [5, 5]]),
        ([1, 1, 1], 8, [[1], [1], [1]]),
        ([200, 200, 200], 2, [[200], [200], [200]]),
    ],
)
def test_groups_are_few_and_even(
    megabytes: list[int], count: int, expected: list[list[int]]
) -> None:
    groups = grouped([Piece(size << 20) for size in megabytes], count=count)
    assert [[piece.size_bytes >> 20 for piece in group] for group in groups] == expected
