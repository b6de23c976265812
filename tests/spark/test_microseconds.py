"""Times of nine digits are cut, never rounded, however deep they sit."""

import pyarrow as pa
import pytest

from lakebed.spark.microseconds import cut_to_microseconds

NANOSECONDS = [-1_001, -1_000, -1, 0, 1_999, None]
MICROSECONDS = [-2, -1, -1, 0, 1, None]


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_times_never_get_later(zone: str | None) -> None:
    cut = cut_to_microseconds(pa.array(NANOSECONDS, pa.timestamp("ns", zone)))
    assert cut.type == pa.timestamp("us", zone)
    assert cut.cast(pa.int64()).to_pylist() == MICROSECONDS


def test_times_inside_lists_maps_and_structs_are_cut_and_nulls_and_slices_stay() -> None:
    time, cut = pa.timestamp("ns"), pa.timestamp("us")
    rows = [
        {"id": 1, "times": [0], "by_name": [("a", 0)]},
        {"id": 2, "times": [-1, None], "by_name": [("a", 1_999), ("b", None)]},
        {"id": 3, "times": None, "by_name": None},
        None,
    ]

    def kind(inner: pa.DataType) -> pa.StructType:
        return pa.struct(
            [
                ("id", pa.int32()),
                ("times", pa.list_(inner)),
                ("by_name", pa.map_(pa.string(), inner)),
            ]
        )

    found = cut_to_microseconds(pa.array(rows, kind(time)).slice(1))
    wanted = [
        {"id": 2, "times": [-1, None], "by_name": [("a", 1), ("b", None)]},
        {"id": 3, "times": None, "by_name": None},
        None,
    ]
    assert found.equals(pa.array(wanted, kind(cut)))


def test_what_holds_no_such_times_is_left_alone() -> None:
    array = pa.array([[1]], pa.list_(pa.timestamp("us")))
    assert cut_to_microseconds(array) is array
