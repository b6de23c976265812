"""Roaring bitmaps that Lakebed writes, against the library's reader and Paimon's own bytes."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyroaring import BitMap

from lakebed.format.roaring_bitmap import bitmap_length, bitmap_positions
from lakebed.format.roaring_writing import bitmap_bytes, bitmaps_bytes


def rows_of(*parts: range) -> list[int]:
    return sorted({row for part in parts for row in part})


SETS = {
    "nothing": [],
    "one": [7],
    "three in a row are no run": [0, 1, 2],
    "four in a row are": [0, 1, 2, 3],
    "the most of an array": list(range(0, 8192, 2)),
    "bits": list(range(0, 8194, 2)),
    "a whole container": list(range(65536)),
    "as many runs as make no difference to bits": rows_of(
        *(range(n, n + 16) for n in range(0, 65536, 32))
    ),
    "an array, then a run": rows_of(range(0, 100, 7), range(65536, 70000)),
    "runs in three containers": rows_of(range(10, 190_000)),
    "runs in four containers": rows_of(range(10, 262_144)),
    "runs and bits in nine": rows_of(range(0, 400_000, 3), range(400_001, 600_000)),
    "far": [0, 2**31 - 1],
}


@pytest.mark.parametrize("name", SETS)
def test_a_bitmap_holds_its_rows_and_is_as_short_as_the_librarys(name: str) -> None:
    rows = SETS[name]
    data = bitmap_bytes(np.array(rows, dtype=np.int64))
    assert bitmap_length(data, "a") == len(data)
    assert bitmap_positions(data, "a").tolist() == rows
    best = BitMap(rows)
    best.run_optimize()
    assert len(data) == len(best.serialize())


@pytest.mark.parametrize(
    ("rows", "real"),
    [
        ([], "3a30000000000000"),
        ([0, 1, 2], "3a3000000100000000000200100000000000" + "01000200"),
        ([1], "3a30000001000000000000001000000001" + "00"),
    ],
)
def test_a_bitmap_is_the_one_that_the_real_writer_makes(rows: list[int], real: str) -> None:
    assert bitmap_bytes(np.array(rows, dtype=np.int64)).hex() == real


@settings(deadline=None)
@given(st.lists(st.sampled_from(sorted(SETS)), max_size=8))
def test_many_bitmaps_at_once_are_the_bitmaps_one_by_one(names: list[str]) -> None:
    sets = [np.array(SETS[name], dtype=np.int64) for name in names]
    starts = np.cumsum([0, *map(len, sets)])
    data, places = bitmaps_bytes(np.concatenate([np.empty(0, np.int64), *sets]), starts)
    found = [data[begin:end].tobytes() for begin, end in itertools.pairwise(places)]
    assert found == [bitmap_bytes(rows) for rows in sets]
    assert places[-1] == len(data)


def test_more_rows_than_go_at_once_are_written_in_batches() -> None:
    sets = [np.arange(0, 3_000_000, step) for step in (1, 2, 5, 900_000)]
    data, places = bitmaps_bytes(np.concatenate(sets), np.cumsum([0, *map(len, sets)]))
    for rows, begin, end in zip(sets, places, places[1:], strict=False):
        assert (bitmap_positions(data[begin:end].tobytes(), "a") == rows).all()
