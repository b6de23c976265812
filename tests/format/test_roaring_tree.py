import contextlib
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap

from lakebed.format.roaring_tree import Bitmap64, format_bitmap64, parse_bitmap64

number_sets = st.sets(
    st.integers(0, 2**64 - 1)
    | st.integers(0, 200).map(lambda low: low << 16)
    | st.integers(0, 9).map(lambda low: (low << 24) + 65_536),
    max_size=60,
)


def bitmap_of(numbers: list[int]) -> Bitmap64:
    bitmap = Bitmap64()
    for number in numbers:
        bitmap.update(Bitmap64([BitMap([number & 0xFFFF])], {number >> 16: 0}))
    return bitmap


def numbers_of(bitmap: Bitmap64) -> set[int]:
    return {
        (key << 16) | low
        for key, slot in bitmap.slot_of.items()
        for low in bitmap.slots[slot] or ()
    }


@given(number_sets, number_sets)
def test_what_is_written_is_read_and_united(left: set[int], right: set[int]) -> None:
    bitmap = parse_bitmap64(format_bitmap64(bitmap_of(sorted(left))))
    assert numbers_of(bitmap) == left
    bitmap.update(parse_bitmap64(format_bitmap64(bitmap_of(sorted(right)))))
    assert numbers_of(parse_bitmap64(format_bitmap64(bitmap))) == left | right


@pytest.mark.parametrize(
    ("key_count", "digest"),
    [
        (1, "e0c1f1b5e6336e4f"),
        (4, "905c7c61675fc3c0"),
        (5, "9dce824f6d3cb11d"),
        (16, "b00d6092015f2867"),
        (17, "d5404f8351fc313a"),
        (48, "1e67fc84fe185ab9"),
        (49, "5572f194ac1144d1"),
        (256, "48fd2811715912b3"),
        (257, "40beaa8a880b76fe"),
        (3000, "3d5084795371cbde"),
    ],
)
def test_trees_of_any_width_have_the_bytes_that_java_wrote(key_count: int, digest: str) -> None:
    data = format_bitmap64(bitmap_of([key << 16 for key in range(key_count)]))
    assert hashlib.sha256(data).hexdigest()[:16] == digest


def test_containers_of_any_kind_have_the_bytes_that_java_wrote() -> None:
    runs_and_arrays = [*range(8), 1 << 16, 2**64 - 1, *range(1 << 40, (1 << 40) + 20, 2)]
    data = format_bitmap64(bitmap_of(runs_and_arrays))
    assert data == bytes.fromhex(
        "010400000000000000000200000000ff0000020001000000010000020002000000000100040000000000"
        "000000000000000000000000040000000000000000010100000000000000040000000000010000000300"
        "00000000000004000000ffffffffffff020000000000000001000000fe04000000010008000000010000"
        "0007000102010000000000010201000000ffff01020a000000000002000400060008000a000c000e0010"
        "00120004000000000000000000000003000000"
    )
    bits = format_bitmap64(bitmap_of(list(range(0, 20_000, 2))))
    assert hashlib.sha256(bits).hexdigest()[:16] == "88f50513288f3b37"
    assert numbers_of(parse_bitmap64(bits)) == set(range(0, 20_000, 2))


def test_no_cut_and_no_flipped_bit_is_more_than_an_error() -> None:
    data = format_bitmap64(bitmap_of([*range(8), 1 << 16, 1 << 40, 5 << 41]))
    for end in range(len(data)):
        with pytest.raises(ValueError, match="it ends at byte"):
            parse_bitmap64(data[:end])
    for place in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[place // 8] ^= 1 << place % 8
        with contextlib.suppress(ValueError):
            parse_bitmap64(bytes(flipped))
