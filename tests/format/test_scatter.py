"""Numbers and texts that are put into one buffer together."""

import numpy as np

from lakebed.format.scatter import places_of, put_numbers, put_texts


def test_parts_follow_one_another() -> None:
    assert places_of(np.array([3, 0, 2])).tolist() == [0, 3, 3, 5]
    assert places_of(np.array([], dtype=np.int64)).tolist() == [0]


def test_numbers_are_put_at_their_places_in_either_order_of_bytes() -> None:
    target = np.zeros(8, dtype=np.uint8)
    put_numbers(target, np.array([5, 0]), np.array([-2, 0x0102]), width=3)
    assert target.tobytes().hex() == "0001020000fffffe"
    put_numbers(target, np.array([2]), np.array([0x0304]), width=2, big_endian=False)
    assert target.tobytes().hex() == "0001040300fffffe"


def test_texts_are_put_at_their_places_however_large_they_are() -> None:
    sizes = [2, 0, 1 << 20, 5, 300_000, 1]
    texts = np.random.default_rng(3).integers(1, 255, 4 + sum(sizes)).astype(np.uint8)
    starts = 4 + places_of(np.array(sizes))
    places = places_of(np.array(sizes) + 2)[:-1]
    target = np.zeros(sum(sizes) + 2 * len(sizes), dtype=np.uint8)
    put_texts(target, places, texts, starts=starts)
    parts = [texts[start : start + size] for start, size in zip(starts, sizes, strict=False)]
    assert target.tobytes() == b"".join(part.tobytes() + b"\0\0" for part in parts)
