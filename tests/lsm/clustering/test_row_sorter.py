"""Sorted rows are all rows in the order of Spark's ORDER BY, however little memory there is."""

import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.errors import StorageError
from lakebed.lsm.clustering.order_keys import Ordering, order_keys
from lakebed.lsm.clustering.row_sorter import RowOrdering, RowSorter

NO_MEMORY = 1
MUCH_MEMORY = 1 << 30
TYPES: tuple[pa.DataType, ...] = (pa.int32(), pa.string(), pa.float64(), pa.int64())
NAMES = ("a", "s", "f", "row")
EMPTY = pa.schema(list(zip(NAMES, TYPES, strict=True))).empty_table()
Row = tuple[int | None, str | None, float | None]

batches = st.lists(
    st.lists(
        st.tuples(
            st.none() | st.integers(-2, 2),
            st.none() | st.text("aé\0", max_size=2),
            st.none() | st.sampled_from([-math.inf, -1.5, 0.0, 1.5, math.inf, math.nan]),
        ),
        max_size=9,
    ),
    max_size=5,
)


def tables_of(drawn: list[list[Row]]) -> list[pa.Table]:
    """Tables of the rows, which are numbered as they come."""
    tables, start = [], 0
    for batch in drawn:
        rows = [(*row, start + index) for index, row in enumerate(batch)]
        columns = list(zip(*rows, strict=True)) or [()] * len(NAMES)
        arrays = [pa.array(list(c), kind) for c, kind in zip(columns, TYPES, strict=True)]
        tables.append(pa.table(dict(zip(NAMES, arrays, strict=True))))
        start += len(rows)
    return tables


def in_sql_order(row: Row) -> tuple[Any, ...]:
    """Nulls first, texts by their bytes, NaN last."""
    number, text, real = row
    return (
        (number is not None, number or 0),
        (text is not None, (text or "").encode()),
        (real is not None, real is not None and math.isnan(real), real or 0.0),
    )


def sorted_by(tables: list[pa.Table], ordering: RowOrdering, *, budget_bytes: int) -> pa.Table:
    with RowSorter(EMPTY.schema, ordering, budget_bytes=budget_bytes) as sorter:
        for table in tables:
            sorter.add(table)
        return pa.Table.from_batches(
            [batch for part in sorter.finish() for batch in part.to_batches()], EMPTY.schema
        )


@pytest.mark.parametrize("budget_bytes", [NO_MEMORY, MUCH_MEMORY])
@given(drawn=batches)
def test_plain_order_is_that_of_sql_and_rows_alike_stay_as_they_came(
    drawn: list[list[Row]], budget_bytes: int
) -> None:
    ordering = RowOrdering(columns=("a", "s", "f"), strategy=Ordering.ORDER)
    found = sorted_by(tables_of(drawn), ordering, budget_bytes=budget_bytes)
    rows = [row for batch in drawn for row in batch]
    assert found["row"].to_pylist() == sorted(
        range(len(rows)), key=lambda place: (*in_sql_order(rows[place]), place)
    )


@pytest.mark.parametrize("strategy", [Ordering.ZORDER, Ordering.HILBERT])
@pytest.mark.parametrize("budget_bytes", [NO_MEMORY, MUCH_MEMORY])
@given(drawn=batches)
def test_rows_are_sorted_by_their_place_on_a_curve_and_no_key_comes_out(
    drawn: list[list[Row]], budget_bytes: int, strategy: Ordering
) -> None:
    tables = [EMPTY, *tables_of(drawn)]
    ordering = RowOrdering(columns=("f", "a"), strategy=strategy).fitted(pa.concat_tables(tables))
    found = sorted_by(tables, ordering, budget_bytes=budget_bytes)
    assert found.column_names == list(NAMES)
    row_count = sum(table.num_rows for table in tables)
    assert sorted(found["row"].to_numpy()) == list(range(row_count))
    keys = order_keys(found, ordering.columns, strategy, bounds=ordering.bounds)
    places = list(zip(*(key.to_pylist() for key in keys), found["row"].to_pylist(), strict=True))
    assert places == sorted(places)


def test_one_key_that_all_rows_have_is_merged_within_the_budget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    budget_bytes = 4 << 20
    rows = pa.table({"a": np.zeros(100_000, np.int64), "v": np.arange(100_000)})
    ordering = RowOrdering(columns=("a",), strategy=Ordering.ORDER)
    parts: list[int] = []
    with RowSorter(rows.schema, ordering, budget_bytes=budget_bytes) as sorter:
        for start in range(20):
            sorter.add(rows.set_column(1, "v", pa.array(np.arange(100_000) + start * 100_000)))
        monkeypatch.setattr("lakebed.lsm.write_buffer._PART_ROWS", 1 << 30)
        for part in sorter.finish():
            assert part["v"].to_numpy()[0] == sum(parts)
            parts.append(part.num_rows)
    assert sum(parts) == 2_000_000
    assert max(parts) * 16 < budget_bytes


def test_nothing_is_left_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ordering = RowOrdering(columns=("a",), strategy=Ordering.ORDER)
    rows = pa.table({"a": [3, 1, 2]})
    with RowSorter(rows.schema, ordering, budget_bytes=NO_MEMORY) as sorter:
        sorter.add(rows)
        assert list(tmp_path.rglob("*.arrow"))
        list(sorter.finish())
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_said_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/proc/no-such-directory")
    ordering = RowOrdering(columns=("a",), strategy=Ordering.ORDER)
    rows = pa.table({"a": [3, 1, 2]})
    with (
        RowSorter(rows.schema, ordering, budget_bytes=NO_MEMORY) as sorter,
        pytest.raises(StorageError, match=r"TMPDIR.*lakebed\.merge\.memory"),
    ):
        sorter.add(rows)
