"""`collect`, `nested_update` and `nested_partial_update` over arrays."""

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakebed.errors import InvalidDataError, InvalidTableError
from lakebed.format.arrow.types import to_arrow_type
from lakebed.format.type_text import parse_type
from lakebed.format.types import ArrayType, DataField, DataType, RowType
from lakebed.lsm.functions.groups import Aggregate, FieldOptions
from lakebed.lsm.functions.registry import COMPOSITE_FUNCTIONS
from support import folds
from support.folds import Row, folded

INT, STRING, DOUBLE = parse_type("INT"), parse_type("STRING"), parse_type("DOUBLE")
ROW = RowType(
    fields=(
        DataField(id=1, name="k", type=INT),
        DataField(id=2, name="s", type=DOUBLE),
        DataField(id=3, name="v", type=STRING),
    )
)
TABLE = to_arrow_type(ArrayType(element=ROW))

numbers = st.none() | st.integers(0, 2)
nested_rows = st.none() | st.fixed_dictionaries(
    {
        "k": numbers,
        "s": st.none() | st.sampled_from([0.0, 1.0, -2.5]),
        "v": st.none() | st.sampled_from(["", "a", "b"]),
    }
)


def segments_of(
    element: st.SearchStrategy[Any], *, retract: bool = True
) -> st.SearchStrategy[list[list[Row]]]:
    value = st.none() | st.lists(element, max_size=4)
    row = st.tuples(value, st.booleans() if retract else st.just(value=False))
    return st.lists(st.lists(row, min_size=1, max_size=5), max_size=4)


def made(name: str, element: DataType, options: FieldOptions | None = None) -> Aggregate:
    field = DataField(id=0, name="c", type=ArrayType(element=element))
    return COMPOSITE_FUNCTIONS[name].make(field, options or FieldOptions())


def sorted_rows(tables: list[Any]) -> list[Any]:
    return [
        None
        if table is None
        else sorted(table, key=lambda row: [repr(row[name]) for name in "ksv"])
        for table in tables
    ]


ELEMENTS = [
    (INT, numbers),
    (STRING, st.none() | st.sampled_from(["", "a", "b" * 70])),
    (ROW, nested_rows),
    (ArrayType(element=INT), st.none() | st.lists(numbers, max_size=3)),
]


@settings(max_examples=300)
@given(kind=st.sampled_from(ELEMENTS), distinct=st.booleans(), data=st.data())
def test_collect_is_the_fold(
    kind: tuple[DataType, st.SearchStrategy[Any]], *, distinct: bool, data: st.DataObject
) -> None:
    element, values = kind
    segments = data.draw(segments_of(values))
    add, take_back = folds.collect(distinct=distinct)
    collect = made("collect", element, FieldOptions(distinct=distinct))
    arrow = to_arrow_type(ArrayType(element=element))
    assert folded(collect, segments, arrow) == [folds.fold(s, add, take_back) for s in segments]


def test_collect_takes_back_the_oldest_of_equals_and_nothing_that_is_absent() -> None:
    rows: list[Row] = [([9], True), ([1, 2, 1], False), ([1, 7], True), ([2], False)]
    assert folded(made("collect", INT), [rows], pa.list_(pa.int32())) == [[2, 1, 2]]


def test_collect_of_nothing_but_nulls_is_null_and_of_all_taken_back_is_empty() -> None:
    segments: list[list[Row]] = [[(None, False), ([1], True)], [([1], False), ([1], True)]]
    assert folded(made("collect", INT), segments, pa.list_(pa.int32())) == [None, []]


def test_collect_tells_zero_from_its_negative_and_no_nan_from_another() -> None:
    rows: list[Row] = [([0.0, float("nan")], False), ([-0.0, float("nan"), 0.0], False)]
    collect = made("collect", DOUBLE, FieldOptions(distinct=True))
    assert repr(folded(collect, [rows], pa.list_(pa.float64()))) == "[[0.0, nan, -0.0]]"


@settings(max_examples=300)
@given(
    names=st.sampled_from([((), ()), (("k",), ()), (("k", "v"), ("s",)), (("k",), ("s", "v"))]),
    limit=st.sampled_from([0, 1, 3, 2**31 - 1]),
    segments=segments_of(nested_rows),
)
def test_nested_update_is_the_fold(
    names: tuple[tuple[str, ...], tuple[str, ...]], limit: int, segments: list[list[Row]]
) -> None:
    key, sequence = names
    add, take_back = folds.nested_update(key, sequence, limit)
    options = FieldOptions(nested_key=key, nested_sequence_field=sequence, count_limit=limit)
    results = folded(made("nested_update", ROW, options), segments, TABLE)
    expected = [folds.fold(rows, add, take_back) for rows in segments]
    if key:
        assert sorted_rows(results) == sorted_rows(expected)
    else:
        assert results == expected


@given(segments=segments_of(nested_rows, retract=False))
def test_nested_partial_update_is_the_fold(segments: list[list[Row]]) -> None:
    options = FieldOptions(nested_key=("k",))
    results = folded(made("nested_partial_update", ROW, options), segments, TABLE)
    add = folds.nested_partial_update(("k",))
    assert sorted_rows(results) == sorted_rows([folds.fold(rows, add) for rows in segments])


@pytest.mark.parametrize("name", ["nested_update", "nested_partial_update"])
def test_a_null_in_a_nested_key_is_merged_or_ignored_or_refused(name: str) -> None:
    keyless, keyed = {"k": None, "s": None, "v": "a"}, {"k": 1, "s": None, "v": "b"}
    rows: list[Row] = [([keyless], False), ([keyless, keyed], False)]

    def results(strategy: str) -> list[Any]:
        options = FieldOptions(nested_key=("k",), nested_key_null_strategy=strategy)
        return sorted_rows(folded(made(name, ROW, options), [rows], TABLE))

    assert results("merge") == [[keyed, keyless]]
    assert results("ignore") == [[keyed]]
    with pytest.raises(InvalidDataError, match=r"'c'.*nested-key-null-strategy=error"):
        results("error")


def test_what_is_taken_back_before_anything_was_added_is_not_looked_at() -> None:
    keyless, keyed = {"k": None, "s": None, "v": "a"}, {"k": 1, "s": None, "v": "b"}
    rows: list[Row] = [([keyless, keyed], True), ([keyed], False)]
    options = FieldOptions(nested_key=("k",), nested_key_null_strategy="error")
    assert folded(made("nested_update", ROW, options), [rows], TABLE) == [[keyed]]


def test_a_row_that_found_no_place_does_not_come_back_when_one_becomes_free() -> None:
    first, second, third = ({"k": key, "s": None, "v": None} for key in range(3))
    rows: list[Row] = [([first, second], False), ([first], True), ([third, second], False)]
    options = FieldOptions(nested_key=("k",), count_limit=1)
    other: list[Row] = [([second, first], False), ([second], False)]
    results = folded(made("nested_update", ROW, options), [other, rows], TABLE)
    assert results == [[second], [third]]


@pytest.mark.parametrize(
    ("name", "element", "options", "says"),
    [
        ("nested_update", INT, FieldOptions(), "takes an ARRAY of ROW, not ARRAY<INT>"),
        ("nested_update", ROW, FieldOptions(nested_sequence_field=("s",)), "need nested-key"),
        ("nested_update", ROW, FieldOptions(nested_key_null_strategy="error"), "need nested-key"),
        ("nested_update", ROW, FieldOptions(nested_key=("x",)), "'x', but the ROW has k, s, v"),
        ("nested_partial_update", ROW, FieldOptions(), "needs nested-key"),
        (
            "nested_update",
            ROW,
            FieldOptions(nested_key=("k",), nested_key_null_strategy="drop"),
            "one of merge, ignore, error, not 'drop'",
        ),
    ],
)
def test_options_that_do_not_fit_the_column_are_refused(
    name: str, element: DataType, options: FieldOptions, *, says: str
) -> None:
    with pytest.raises(InvalidTableError, match=f"'c'.*{says}"):
        made(name, element, options)


def test_collect_of_what_is_no_array_is_refused() -> None:
    with pytest.raises(InvalidTableError, match="'c': collect takes an ARRAY, not INT"):
        COMPOSITE_FUNCTIONS["collect"].make(DataField(id=0, name="c", type=INT), FieldOptions())
