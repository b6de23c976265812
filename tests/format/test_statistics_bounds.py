"""Bounds of many files at once, dense and full mixed, made up and from real manifests."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

from lakebed.errors import CorruptTableError
from lakebed.format.arrow.typing import ArrowArray, ArrowColumn
from lakebed.format.binary_row.codec import decode_row, encode_row
from lakebed.format.binary_row.layout import one_array
from lakebed.format.statistics.stored import StatsColumns, bounds_from_stats
from lakebed.format.types import MAX_LENGTH, ArrayType, AtomicType, DataField, TypeRoot
from support.golden_manifests import GoldenTable, golden_names

INT = AtomicType(root=TypeRoot.INT)
STRING = AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH)
FIELDS = [
    DataField(id=0, name="a", type=INT),
    DataField(id=1, name="l", type=ArrayType(element=INT)),
    DataField(id=2, name="s", type=STRING),
]


def stats_columns(
    lows: Sequence[bytes],
    highs: Sequence[bytes],
    *,
    counts: Sequence[Sequence[int | None] | None],
    names: Sequence[Sequence[str] | None] | None,
) -> StatsColumns:
    texts: ArrowArray | None = None if names is None else pa.array(names, pa.list_(pa.string()))
    return StatsColumns(
        min_values=pa.array(lows, pa.binary()),
        max_values=pa.array(highs, pa.binary()),
        null_counts=pa.array(counts, pa.list_(pa.int64())),
        names=texts,
    )


MIXED = stats_columns(
    [
        encode_row([1, "x"], [INT, STRING]),
        encode_row([2, None, "f"], [INT, INT, STRING]),
        bytes(12),
        encode_row([None, 7], [STRING, INT]),
        encode_row([3, "y"], [INT, STRING]),
    ],
    [
        encode_row([10, "xx"], [INT, STRING]),
        encode_row([20, None, "ff"], [INT, INT, STRING]),
        bytes(12),
        encode_row([None, 70], [STRING, INT]),
        encode_row([30, "yy"], [INT, STRING]),
    ],
    counts=[[0, 1], [2, None, 3], [], None, [4, 5]],
    names=[["a", "s"], None, [], ["s", "a"], ["a", "s"]],
)


def test_dense_and_full_files_come_out_in_their_order() -> None:
    bounds = bounds_from_stats(MIXED, FIELDS)
    assert list(bounds) == ["a", "l", "s"]
    assert bounds["a"].min.equals(pa.array([1, 2, None, 7, 3], pa.int32()))
    assert bounds["a"].max.equals(pa.array([10, 20, None, 70, 30], pa.int32()))
    assert bounds["a"].null_count.equals(pa.array([0, 2, None, None, 4]))
    assert bounds["a"].known.tolist() == [True, True, False, True, True]
    assert bounds["s"].max.equals(pa.array(["xx", "ff", None, None, "yy"]))
    assert bounds["s"].null_count.equals(pa.array([1, 3, None, None, 5]))
    assert bounds["s"].known.tolist() == [True, True, False, False, True]


def test_nested_column_has_null_counts_at_most() -> None:
    stats = stats_columns(
        [encode_row([1, None, "f"], [INT, INT, STRING])] * 2,
        [encode_row([1, None, "f"], [INT, INT, STRING])] * 2,
        counts=[[0, 6, 0], [0, None, 0]],
        names=None,
    )
    bounds = bounds_from_stats(stats, FIELDS)["l"]
    assert bounds.null_count.equals(pa.array([6, None]))
    assert bounds.min.null_count == 2
    assert not bounds.known.any()


def test_only_wanted_fields_are_decoded() -> None:
    assert list(bounds_from_stats(MIXED, FIELDS, wanted={"s"})) == ["s"]
    broken = encode_row([5, b"\xff"], [INT, AtomicType(root=TypeRoot.VARBINARY)])
    stats = stats_columns([broken], [broken], counts=[[0, 0]], names=[["a", "s"]])
    assert bounds_from_stats(stats, FIELDS, wanted={"a"})["a"].min.to_pylist() == [5]
    with pytest.raises(CorruptTableError, match=r"manifest-1: .*UTF-8"):
        bounds_from_stats(stats, FIELDS, source="manifest-1")


def test_columns_that_the_schema_lacks_are_passed_over() -> None:
    row = encode_row([5, 9], [INT, AtomicType(root=TypeRoot.BIGINT)])
    stats = stats_columns([row], [row], counts=[[0, 0]], names=[["a", "_ROW_ID"]])
    bounds = bounds_from_stats(stats, FIELDS)
    assert bounds["a"].min.to_pylist() == [5]
    assert not bounds["s"].known.any()


def test_no_files_have_no_bounds() -> None:
    layouts: list[list[list[str]] | None] = [None, []]
    for names in layouts:
        bounds = bounds_from_stats(stats_columns([], [], counts=[], names=names), FIELDS)
        assert [len(bounds["a"].min), len(bounds["s"].null_count)] == [0, 0]
        assert bounds["s"].min.type == pa.string()


def in_chunks(column: ArrowColumn, first: int) -> ArrowColumn:
    whole = one_array(column)
    return pa.chunked_array([whole.slice(0, first), whole.slice(first)], whole.type)


def test_chunks_of_many_manifests_are_taken_together() -> None:
    chunked = StatsColumns(
        min_values=in_chunks(MIXED.min_values, 2),
        max_values=in_chunks(MIXED.max_values, 3),
        null_counts=in_chunks(MIXED.null_counts, 1),
        names=None if MIXED.names is None else in_chunks(MIXED.names, 4),
    )
    whole, parts = bounds_from_stats(MIXED, FIELDS), bounds_from_stats(chunked, FIELDS)
    for name, bounds in whole.items():
        assert bounds.min.equals(parts[name].min)
        assert bounds.null_count.equals(parts[name].null_count)


def test_counts_that_do_not_fit_the_columns_are_corrupt() -> None:
    row = encode_row([5, "x"], [INT, STRING])
    stats = stats_columns([row], [row], counts=[[0]], names=[["a", "s"]])
    with pytest.raises(CorruptTableError, match="manifest-1: null counts of other than the 2"):
        bounds_from_stats(stats, FIELDS, source="manifest-1")


def test_rows_that_do_not_fit_the_columns_are_corrupt() -> None:
    row = encode_row([5], [INT])
    stats = stats_columns([row], [row], counts=[[0, 0]], names=[["a", "s"]])
    with pytest.raises(CorruptTableError, match="manifest-1"):
        bounds_from_stats(stats, FIELDS, source="manifest-1")


@pytest.mark.parametrize("name", golden_names())
def test_bounds_of_real_manifests_are_those_of_each_row_alone(name: str) -> None:
    table = GoldenTable(name)
    entries = list(table.entries())
    for schema_id in {entry["_FILE"]["_SCHEMA_ID"] for entry in entries}:
        files = [entry["_FILE"] for entry in entries if entry["_FILE"]["_SCHEMA_ID"] == schema_id]
        stats = [file["_VALUE_STATS"] for file in files]
        fields = table.fields(schema_id)
        names = [
            file["_WRITE_COLS"] if file["_VALUE_STATS_COLS"] is None else file["_VALUE_STATS_COLS"]
            for file in files
        ]
        bounds = bounds_from_stats(
            stats_columns(
                [row["_MIN_VALUES"] for row in stats],
                [row["_MAX_VALUES"] for row in stats],
                counts=[row["_NULL_COUNTS"] for row in stats],
                names=names,
            ),
            fields,
        )
        for place, (columns, row) in enumerate(zip(names, stats, strict=True)):
            listed = [field.name for field in fields] if columns is None else columns
            for field in fields:
                if field.name not in listed or not isinstance(field.type, AtomicType):
                    assert not bounds[field.name].known[place]
                    continue
                types = [INT] * len(listed)
                types[listed.index(field.name)] = field.type
                expected = decode_row(row["_MIN_VALUES"], types)[listed.index(field.name)]
                assert str(decode_one(bounds[field.name].min[place : place + 1])) == str(expected)
                count = row["_NULL_COUNTS"][listed.index(field.name)]
                assert bounds[field.name].null_count[place].as_py() == count


def decode_one(column: ArrowArray) -> object:
    is_nanos = column.type in {pa.timestamp("ns"), pa.timestamp("ns", "UTC")}
    if is_nanos and column.null_count == 0:
        return np.datetime64(column.cast(pa.int64())[0].as_py(), "ns")
    return column[0].as_py()
