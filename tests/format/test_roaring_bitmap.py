"""Bitmaps of every kind of container, as the reference implementation writes them."""

import numpy as np
import pytest
from pyroaring import BitMap

from lakebed.errors import CorruptTableError
from lakebed.format.roaring_bitmap import bitmap_length, bitmap_positions

SPARSE, DENSE, RUNS = "sparse", "dense", "runs"


def numbers(kinds: tuple[str, ...]) -> list[int]:
    """Numbers that fill a container of each kind, with a gap between containers."""
    found: list[int] = []
    for place, kind in enumerate(kinds):
        start = 3 * place * 65_536
        if kind == SPARSE:
            found += range(start, start + 5_000, 7)
        elif kind == DENSE:
            found += range(start, start + 60_000, 3)
        else:
            found += [*range(start + 10, start + 9_000), *range(start + 20_000, start + 65_536)]
    return found


CASES = [
    (),
    (SPARSE,),
    (DENSE,),
    (RUNS,),
    (SPARSE, DENSE),
    (RUNS, SPARSE, DENSE),
    (SPARSE, RUNS, DENSE, SPARSE),
    (DENSE, SPARSE, RUNS, RUNS, SPARSE, DENSE, RUNS, SPARSE, DENSE, RUNS),
]


@pytest.mark.parametrize("kinds", CASES, ids=["-".join(kinds) or "empty" for kinds in CASES])
def test_numbers_and_end_of_a_bitmap_are_found(kinds: tuple[str, ...]) -> None:
    wanted = numbers(kinds)
    bitmap = BitMap(wanted)
    bitmap.run_optimize()
    data = bitmap.serialize()
    assert bitmap_length(data, "x") == len(data)
    assert bitmap_length(data + b"more", "x") == len(data)
    assert bitmap_positions(memoryview(data + b"more"), "x").tolist() == wanted
    for length in range(0, len(data), max(len(data) // 50, 1)):
        with pytest.raises(CorruptTableError, match=r"^x: "):
            bitmap_positions(data[:length], "x")


@pytest.mark.parametrize("data", [b"\0" * 20, b"\xff" * 40, np.arange(9, dtype="<u4").tobytes()])
def test_other_bytes_are_no_bitmap(data: bytes) -> None:
    with pytest.raises(CorruptTableError, match=r"^x: a Roaring bitmap"):
        bitmap_positions(data, "x")
