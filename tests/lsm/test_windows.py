"""Columns of the rows of a section that are asked for, and of no others."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.lsm.section_plan import RowOrder, SectionPlan
from lakebed.lsm.windows import GroupedRows, grouped_rows
from support.section_in_memory import FileInMemory, KeyValue

ORDER = RowOrder(key_names=("k",))
TYPES: dict[str, pa.DataType] = {"text": pa.string(), "number": pa.int64()}
WANTED = ("number", "_SEQUENCE_NUMBER", "k", "text")


def make_file(run: int, keys: list[int], gone: tuple[int, ...] = ()) -> FileInMemory:
    rows = (KeyValue(key, 10 * run, values=values_of(run, key)) for key in keys)
    return FileInMemory(tuple(rows), run, TYPES, gone=gone)


def values_of(run: int, key: int) -> dict[str, object]:
    return {"text": f"{run}:{key}", "number": None if key % 3 == 0 else run * key}


def grouped_of(files: list[FileInMemory]) -> GroupedRows:
    plan = SectionPlan.of(files, order=ORDER, values=WANTED)
    (grouped,) = grouped_rows(plan, budget_bytes=1 << 30)
    for file in files:
        file.read.clear()
    return grouped


@given(
    keys=st.lists(st.lists(st.integers(0, 9), min_size=1, unique=True), min_size=1, max_size=4),
    data=st.data(),
)
def test_rows_are_those_of_whole_columns(keys: list[list[int]], data: st.DataObject) -> None:
    files = [
        make_file(run, sorted(each), gone=(0,) if run % 2 and len(each) > 1 else ())
        for run, each in enumerate(keys)
    ]
    grouped = grouped_of(files)
    asked = st.lists(st.integers(0, len(grouped.positions) - 1))
    places = np.array(data.draw(asked), np.intp)
    rows = grouped.columns.rows_at(WANTED, places)
    assert rows.column_names == list(WANTED)
    for name in WANTED:
        whole = grouped.columns.column(name)
        assert rows.column(name).to_pylist() == whole.take(places).to_pylist()


@pytest.mark.parametrize(
    ("places", "read"),
    [([3, 2], [[], [2]]), ([3, 1], [[1], [1]]), ([], [[0], []]), ([0, 1, 2, 3], [[2], [2]])],
)
def test_files_without_such_rows_are_not_opened(places: list[int], read: list[list[int]]) -> None:
    files = [make_file(0, [1, 2]), make_file(1, [2, 3])]
    grouped = grouped_of(files)
    grouped.columns.rows_at(["text"], np.array(places, np.intp))
    assert [file.read for file in files] == read
