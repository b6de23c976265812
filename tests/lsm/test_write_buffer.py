from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from lakebed.lsm.engines import Picking
from lakebed.lsm.merge import (
    DELETE,
    INSERT,
    UPDATE_AFTER,
    Pick,
    deduplicate,
    deduplicate_adds,
    first_row,
)
from lakebed.lsm.section_plan import RowOrder
from lakebed.lsm.write_buffer import FlushedRows, WriteBuffer

Row = tuple[int, str, int, int]
Arrivals = list[list[tuple[int, str, int]]]

arrivals_of_any_kind = st.lists(
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from("xyz"), st.sampled_from([0, 2, 3]))),
    max_size=5,
)


def buffer(
    first_sequence: int = 0,
    *,
    order: RowOrder | None = None,
    pick: Pick = deduplicate,
    with_ordered: bool = False,
) -> WriteBuffer:
    return WriteBuffer(
        ("v", "k"),
        merging=Picking(order=order or RowOrder(key_names=("k",)), pick=pick),
        first_sequence=first_sequence,
        with_ordered=with_ordered,
    )


def table(keys: list[int], values: list[str]) -> pa.Table:
    return pa.table({"v": pa.array(values, pa.string()), "k": pa.array(keys, pa.int64())})


def kinds(*codes: int) -> npt.NDArray[np.int8]:
    return np.array(codes, np.int8)


def content(parts: Iterable[pa.Table] | None) -> list[Row]:
    """Key, value, sequence number and kind of each row."""
    assert parts is not None
    tables = list(parts)
    if not tables:
        return []
    rows = pa.concat_tables(tables)
    assert rows.schema.types == [pa.string(), pa.int64(), pa.int64(), pa.int8()]
    return list(zip(*(rows.column(name).to_pylist() for name in _COLUMNS), strict=True))


_COLUMNS = ("k", "v", "_SEQUENCE_NUMBER", "_VALUE_KIND")


def filled(rows: WriteBuffer, arrivals: Arrivals) -> FlushedRows | None:
    for batch in arrivals:
        rows.add(
            table([k for k, _, _ in batch], [v for _, v, _ in batch]),
            kinds(*[c for *_, c in batch]),
        )
    return rows.flush()


@given(arrivals_of_any_kind, st.integers(0, 2**40))
def test_a_run_is_what_a_dict_of_the_arrivals_holds(
    arrivals: Arrivals, first_sequence: int
) -> None:
    model: dict[int, Row] = {}
    rows = [row for batch in arrivals for row in batch]
    for number, (key, value, kind) in enumerate(rows, first_sequence):
        model[key] = (key, value, number, kind)
    flushed = filled(buffer(first_sequence), arrivals)
    assert (flushed is None) == (not rows)
    if flushed is not None:
        assert flushed.ordered is None
        assert content(flushed.run) == [model[key] for key in sorted(model)]


@given(arrivals_of_any_kind)
def test_asked_for_the_rows_as_they_came_are_given_by_key(arrivals: Arrivals) -> None:
    rows = [row for batch in arrivals for row in batch]
    expected = [(key, value, number, kind) for number, (key, value, kind) in enumerate(rows)]
    flushed = filled(buffer(with_ordered=True), arrivals)
    if flushed is not None:
        assert content(flushed.ordered) == sorted(expected, key=lambda row: (row[0], row[2]))


def test_deletes_stay_for_they_end_keys_of_older_files() -> None:
    rows = buffer(7)
    rows.add(table([2, 1, 2], ["a", "b", "c"]), kinds(INSERT, UPDATE_AFTER, DELETE))
    flushed = rows.flush()
    assert flushed is not None
    assert content(flushed.run) == [(1, "b", 8, UPDATE_AFTER), (2, "c", 9, DELETE)]


def test_numbers_go_on_after_a_flush_and_leave_gaps() -> None:
    rows = buffer(7)
    rows.add(table([1, 1, 1], ["a", "b", "c"]))
    first = rows.flush()
    assert first is not None
    assert content(first.run) == [(1, "c", 9, 0)]
    assert rows.flush() is None
    rows.add(table([1], ["d"]), kinds(2))
    second = rows.flush()
    assert second is not None
    assert content(second.run) == [(1, "d", 10, 2)]


def test_a_key_of_two_columns_orders_by_the_first_named() -> None:
    rows = buffer(order=RowOrder(key_names=("v", "k")))
    rows.add(table([1, 9, 1], ["b", "a", "a"]))
    flushed = rows.flush()
    assert flushed is not None
    assert content(flushed.run) == [(1, "a", 2, 0), (9, "a", 1, 0), (1, "b", 0, 0)]


def test_a_sequence_field_goes_before_arrival_and_arrival_decides_ties() -> None:
    order = RowOrder(key_names=("k",), sequence_fields=("v",))
    rows = buffer(order=order)
    rows.add(table([1, 1, 1, 2, 2], ["b", "a", "b", "z", "y"]))
    flushed = rows.flush()
    assert flushed is not None
    assert content(flushed.run) == [(1, "b", 2, 0), (2, "z", 3, 0)]


def test_descending_the_smallest_sequence_field_is_the_newest() -> None:
    order = RowOrder(key_names=("k",), sequence_fields=("v",), descending=True)
    rows = buffer(order=order)
    rows.add(table([1, 1, 1], ["b", "a", "c"]))
    flushed = rows.flush()
    assert flushed is not None
    assert content(flushed.run) == [(1, "a", 1, 0)]


def test_the_first_row_stays_where_the_engine_says_so() -> None:
    rows = buffer(pick=first_row)
    rows.add(table([1, 2, 1], ["a", "b", "c"]))
    flushed = rows.flush()
    assert flushed is not None
    assert content(flushed.run) == [(1, "a", 0, 0), (2, "b", 1, 0)]


def test_a_run_may_come_to_nothing() -> None:
    rows = buffer(pick=deduplicate_adds)
    rows.add(table([1], ["a"]), kinds(DELETE))
    flushed = rows.flush()
    assert flushed is not None
    assert content(flushed.run) == []
