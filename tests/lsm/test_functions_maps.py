"""`merge_map` and `merge_map_with_keytime`."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.errors import InvalidTableError
from lakebed.format.arrow.types import to_arrow_type
from lakebed.format.type_text import parse_type
from lakebed.format.types import DataField, DataType, MapType, RowType
from lakebed.lsm.functions.groups import Aggregate, FieldOptions
from lakebed.lsm.functions.registry import COMPOSITE_FUNCTIONS
from support import folds
from support.folds import Row, folded

INT, STRING, TEXT_KEY = parse_type("INT"), parse_type("STRING"), parse_type("STRING NOT NULL")
TIMED = RowType(
    fields=(DataField(id=1, name="v", type=INT), DataField(id=2, name="t", type=STRING))
)
NUMBERS, TIMES = MapType(key=TEXT_KEY, value=INT), MapType(key=TEXT_KEY, value=TIMED)

keys = st.sampled_from(["", "a", "b"])
# The last two are the other way round in UTF-8 and in UTF-16.
times = st.none() | st.sampled_from(["", "1", "2", "20", "\U0001f600", "\uff21"])
timed_rows = st.none() | st.fixed_dictionaries({"v": st.integers(0, 9), "t": times})


def segments_of(
    value: st.SearchStrategy[Any], *, retract: bool
) -> st.SearchStrategy[list[list[Row]]]:
    entries = st.none() | st.dictionaries(keys, value).map(lambda map_: list(map_.items()))
    row = st.tuples(entries, st.booleans() if retract else st.just(value=False))
    return st.lists(st.lists(row, min_size=1, max_size=5), max_size=4)


def made(name: str, kind: DataType, options: FieldOptions | None = None) -> Aggregate:
    field = DataField(id=0, name="c", type=kind)
    return COMPOSITE_FUNCTIONS[name].make(field, options or FieldOptions())


def as_dicts(maps: list[Any]) -> list[Any]:
    assert all(len(dict(entries)) == len(entries) for entries in maps if entries is not None)
    return [None if entries is None else dict(entries) for entries in maps]


@given(segments_of(st.none() | st.integers(0, 9), retract=True))
def test_merge_map_is_the_fold(segments: list[list[Row]]) -> None:
    add, take_back = folds.merge_map()
    results = folded(made("merge_map", NUMBERS), segments, to_arrow_type(NUMBERS))
    assert as_dicts(results) == as_dicts([folds.fold(rows, add, take_back) for rows in segments])


@given(segments_of(timed_rows, retract=False))
def test_merge_map_with_keytime_is_the_fold(segments: list[list[Row]]) -> None:
    merge = made("merge_map_with_keytime", TIMES, FieldOptions(ts_field="t"))
    results = folded(merge, segments, to_arrow_type(TIMES))
    add = folds.merge_map_with_keytime("t")
    assert as_dicts(results) == as_dicts([folds.fold(rows, add) for rows in segments])


def test_the_oldest_of_equal_times_stays_and_a_null_removes_what_came_before() -> None:
    first, second, late = {"v": 1, "t": "5"}, {"v": 2, "t": "5"}, {"v": 3, "t": "1"}
    rows: list[Row] = [([("a", first), ("b", first)], False), ([("a", second), ("b", None)], False)]
    rows.append(([("b", late)], False))
    merge = made("merge_map_with_keytime", TIMES)
    results = folded(merge, [rows], to_arrow_type(TIMES))
    assert as_dicts(results) == [{"a": first, "b": late}]


def test_the_oldest_map_keeps_its_nulls() -> None:
    untimed = {"v": 1, "t": None}
    rows: list[Row] = [([("a", None), ("b", untimed)], False), ([("c", None)], False)]
    merge = made("merge_map_with_keytime", TIMES)
    results = folded(merge, [rows], to_arrow_type(TIMES))
    assert as_dicts(results) == [{"a": None, "b": untimed}]


@pytest.mark.parametrize(
    ("name", "kind", "options", "says"),
    [
        ("merge_map", INT, FieldOptions(), "takes a MAP, not INT"),
        ("merge_map_with_keytime", NUMBERS, FieldOptions(), "takes a MAP to ROW of two fields"),
        ("merge_map_with_keytime", TIMES, FieldOptions(ts_field="x"), "'x', but the ROW has v, t"),
        ("merge_map_with_keytime", TIMES, FieldOptions(ts_field="v"), "as text, but 'v' is INT"),
    ],
)
def test_columns_that_do_not_fit_are_refused(
    name: str, kind: DataType, options: FieldOptions, *, says: str
) -> None:
    with pytest.raises(InvalidTableError, match=f"'c'.*{says}"):
        made(name, kind, options)
