import numpy as np
import numpy.typing as npt
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from lakebed.lsm.merge import DELETE, INSERT, UPDATE_AFTER, deduplicate
from lakebed.lsm.write_buffer import SortedRows, WriteBuffer

row_lists = st.lists(
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from("xyz"), st.sampled_from([0, 2, 3]))),
    max_size=5,
)


def buffer(first_sequence: int = 0, key_names: tuple[str, ...] = ("k",)) -> WriteBuffer:
    return WriteBuffer(key_names, pick=deduplicate, first_sequence=first_sequence)


def table(keys: list[int], values: list[str]) -> pa.Table:
    return pa.table({"v": pa.array(values, pa.string()), "k": pa.array(keys, pa.int64())})


def kinds(*codes: int) -> npt.NDArray[np.int8]:
    return np.array(codes, np.int8)


def content(run: SortedRows | None) -> list[tuple[int, str, int, int]]:
    """Key, value, sequence number and kind of each row."""
    assert run is not None
    assert run.sequence.dtype == np.int64
    assert run.kinds.dtype == np.int8
    columns = run.rows.to_pydict()
    return list(
        zip(columns["k"], columns["v"], run.sequence.tolist(), run.kinds.tolist(), strict=True)
    )


@given(row_lists, st.integers(0, 2**40))
def test_a_flush_is_what_a_dict_of_the_arrivals_holds(
    arrivals: list[list[tuple[int, str, int]]], first_sequence: int
) -> None:
    rows = buffer(first_sequence)
    model = {}
    arrived = first_sequence
    for batch in arrivals:
        rows.add(
            table([k for k, _, _ in batch], [v for _, v, _ in batch]),
            kinds(*[c for *_, c in batch]),
        )
        for key, value, kind in batch:
            model[key] = (key, value, arrived, kind)
            arrived += 1
    run = rows.flush()
    assert (run is None) == (arrived == first_sequence)
    if run is not None:
        assert content(run) == [model[key] for key in sorted(model)]


def test_deletes_stay_for_they_end_keys_of_older_files() -> None:
    rows = buffer(7)
    rows.add(table([2, 1, 2], ["a", "b", "c"]), kinds(INSERT, UPDATE_AFTER, DELETE))
    assert content(rows.flush()) == [(1, "b", 8, UPDATE_AFTER), (2, "c", 9, DELETE)]


def test_numbers_go_on_after_a_flush_and_leave_gaps() -> None:
    rows = buffer(7)
    rows.add(table([1, 1, 1], ["a", "b", "c"]), kinds(0, 0, 0))
    assert content(rows.flush()) == [(1, "c", 9, 0)]
    assert rows.flush() is None
    rows.add(table([1], ["d"]), kinds(2))
    assert content(rows.flush()) == [(1, "d", 10, 2)]


def test_a_key_of_two_columns_orders_by_the_first_named() -> None:
    rows = buffer(key_names=("v", "k"))
    rows.add(table([1, 9, 1], ["b", "a", "a"]), kinds(0, 0, 0))
    assert content(rows.flush()) == [(1, "a", 2, 0), (9, "a", 1, 0), (1, "b", 0, 0)]


def test_the_size_grows_with_rows_and_a_flush_ends_it() -> None:
    rows = buffer()
    assert rows.size_bytes == 0
    rows.add(table([], []), kinds())
    assert rows.size_bytes == 0
    rows.add(table([1], ["a" * 1000]), kinds(0))
    once = rows.size_bytes
    assert once > 1000
    rows.add(table([1], ["a" * 1000]), kinds(0))
    assert rows.size_bytes == 2 * once
    rows.flush()
    assert rows.size_bytes == 0
