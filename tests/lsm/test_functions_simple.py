"""The functions of numbers and of choosing a row, against the same rules one row at a time."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.errors import InvalidDataError, InvalidTableError
from lakebed.format.type_text import parse_type
from lakebed.format.types import DataField
from lakebed.lsm.functions.columns import ColumnFunction, column_function
from lakebed.lsm.functions.groups import FieldOptions, Segments

Case = tuple[str, pa.DataType, st.SearchStrategy[Any]]


@dataclass(frozen=True)
class Input:
    """A value that a row adds or takes back."""

    value: Any
    back: bool = False


def function(name: str, kind: str, options: FieldOptions = FieldOptions()) -> ColumnFunction:  # noqa: B008 - a frozen value
    field = DataField(id=0, name="c", type=parse_type(kind))
    return column_function(name, field, options)


def folded(
    applied: ColumnFunction, keys: Sequence[Sequence[Input]], kind: pa.DataType
) -> list[Any]:
    """Results of keys, whose rows lie in memory in an order of their own."""
    inputs = [each for key in keys for each in key]
    places = np.random.default_rng(len(inputs)).permutation(len(inputs))
    in_memory: list[Any] = [None] * len(inputs)
    for place, each in zip(places, inputs, strict=True):
        in_memory[place] = each.value
    lengths = [len(key) for key in keys]
    starts = np.cumsum([0, *lengths])[:-1].astype(np.intp)
    back = np.array([each.back for each in inputs])
    segments = Segments(starts, len(inputs), back if back.any() else None)
    raw = np.array([len(key) == 1 and not key[0].back for key in keys])
    return applied.apply(pa.array(in_memory, kind), places, segments, raw=raw).to_pylist()


def keys_of(
    values: st.SearchStrategy[Any], *, back: bool = False
) -> st.SearchStrategy[list[list[Input]]]:
    """Keys of some rows; in a key of one row, that row adds."""
    rows = st.builds(
        Input, st.none() | values, back=st.booleans() if back else st.just(value=False)
    )
    one = st.builds(lambda value: [Input(value)], st.none() | values)
    return st.lists(one | st.lists(rows, min_size=2, max_size=6), min_size=1, max_size=6)


def fold(keys: Sequence[Sequence[Input]], add: Callable[[Any, Any], Any]) -> list[Any]:
    """What adding the values that are not null gives, one after the other."""
    results = []
    for key in keys:
        result = None
        for each in key:
            if each.value is not None:
                result = each.value if result is None else add(result, each.value)
        results.append(result)
    return results


ORDERED: list[Case] = [
    ("INT", pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    ("BIGINT", pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    ("DOUBLE", pa.float64(), st.floats(allow_nan=False)),
    ("STRING", pa.string(), st.text(max_size=12)),
    ("BYTES", pa.binary(), st.binary(max_size=4)),
    ("DECIMAL(20, 2)", pa.decimal128(20, 2), st.decimals(-(10**17), 10**17, places=2)),
    ("BOOLEAN", pa.bool_(), st.booleans()),
    ("DATE", pa.date32(), st.dates()),
]


@pytest.mark.parametrize("case", ORDERED, ids=[case[0] for case in ORDERED])
@given(data=st.data())
def test_max_and_min_are_the_extremes_of_the_values_that_are_not_null(
    data: st.DataObject, case: Case
) -> None:
    kind, arrow, values = case
    keys = data.draw(keys_of(values))
    encoded: Callable[[Any], Any] = lambda v: v.encode() if isinstance(v, str) else v  # noqa: E731
    greatest = fold(keys, lambda a, b: max(a, b, key=encoded))
    smallest = fold(keys, lambda a, b: min(a, b, key=encoded))
    assert folded(function("max", kind), keys, arrow) == greatest
    assert folded(function("min", kind), keys, arrow) == smallest


def test_nan_is_greater_than_every_number() -> None:
    keys = [[Input(math.nan), Input(math.inf)], [Input(1.0), Input(math.nan)]]
    assert all(math.isnan(each) for each in folded(function("max", "DOUBLE"), keys, pa.float64()))
    assert folded(function("min", "DOUBLE"), keys, pa.float64()) == [math.inf, 1.0]


SUMS: list[Case] = [
    ("TINYINT", pa.int8(), st.integers(-20, 20)),
    ("BIGINT", pa.int64(), st.integers(-(2**60), 2**60)),
    ("DOUBLE", pa.float64(), st.floats(-1e6, 1e6)),
    ("FLOAT", pa.float32(), st.floats(-1e6, 1e6, width=32)),
    ("DECIMAL(10, 2)", pa.decimal128(10, 2), st.decimals(-1000, 1000, places=2)),
    ("DECIMAL(38, 2)", pa.decimal128(38, 2), st.decimals(-(10**30), 10**30, places=2)),
]


@pytest.mark.parametrize("case", SUMS, ids=[case[0] for case in SUMS])
@given(data=st.data())
def test_sum_adds_and_takes_back_in_the_order_of_the_rows(data: st.DataObject, case: Case) -> None:
    kind, arrow, values = case
    keys = data.draw(keys_of(values, back=True))
    narrow = np.float32 if arrow == pa.float32() else (lambda value: value)
    expected = []
    with localcontext(prec=60):
        for key in keys:
            result: Any = None
            for each in key:
                if each.value is not None:
                    value = -each.value if each.back else each.value
                    result = narrow(value) if result is None else narrow(result + narrow(value))
            expected.append(result)
    assert folded(function("sum", kind), keys, arrow) == expected


@given(keys_of(st.integers(-5, 5), back=False))
def test_product_of_integers_multiplies(keys: list[list[Input]]) -> None:
    assert folded(function("product", "INT"), keys, pa.int32()) == fold(keys, lambda a, b: a * b)


@given(keys_of(st.decimals(-9, 9, places=2)))
def test_product_of_decimals_rounds_half_up_at_each_step(keys: list[list[Input]]) -> None:
    def times(a: Decimal, b: Decimal) -> Decimal:
        return (a * b).quantize(Decimal("0.01"), ROUND_HALF_UP)

    assert folded(function("product", "DECIMAL(38, 2)"), keys, pa.decimal128(38, 2)) == fold(
        keys, times
    )


def test_product_divides_by_what_is_taken_back_and_truncates_integers() -> None:
    keys = [[Input(-7), Input(2, back=True)], [Input(2, back=True), Input(9)]]
    assert folded(function("product", "INT"), keys, pa.int32()) == [-3, 9]


def test_product_that_takes_back_zero_is_an_error() -> None:
    with pytest.raises(InvalidDataError, match="divides by zero"):
        folded(function("product", "INT"), [[Input(1), Input(0, back=True)]], pa.int32())


@pytest.mark.parametrize("name", ["sum", "product"])
def test_a_result_that_the_type_cannot_hold_is_an_error(name: str) -> None:
    with pytest.raises(InvalidDataError, match="which the type cannot hold"):
        folded(function(name, "TINYINT"), [[Input(100), Input(100)]], pa.int8())


def test_a_decimal_sum_of_too_many_digits_is_null() -> None:
    keys = [[Input(Decimal("99.9")), Input(Decimal("0.1"))]]
    assert folded(function("sum", "DECIMAL(3, 1)"), keys, pa.decimal128(3, 1)) == [None]


@given(keys_of(st.booleans()))
def test_bool_and_and_bool_or_skip_nulls(keys: list[list[Input]]) -> None:
    assert folded(function("bool_and", "BOOLEAN"), keys, pa.bool_()) == fold(
        keys, lambda a, b: a and b
    )
    assert folded(function("bool_or", "BOOLEAN"), keys, pa.bool_()) == fold(
        keys, lambda a, b: a or b
    )


@given(keys_of(st.integers(0, 9), back=True))
def test_last_values_become_null_where_they_are_taken_back(keys: list[list[Input]]) -> None:
    newest = [None if key[-1].back else key[-1].value for key in keys]
    assert folded(function("last_value", "INT"), keys, pa.int32()) == newest
    known = [[each for each in key if each.value is not None] for key in keys]
    newest = [None if not key or key[-1].back else key[-1].value for key in known]
    assert folded(function("last_non_null_value", "INT"), keys, pa.int32()) == newest


@given(keys_of(st.integers(0, 9)))
def test_first_values_are_the_oldest(keys: list[list[Input]]) -> None:
    assert folded(function("first_value", "INT"), keys, pa.int32()) == [k[0].value for k in keys]
    expected = fold(keys, lambda a, _: a)
    assert folded(function("first_non_null_value", "INT"), keys, pa.int32()) == expected
    assert folded(function("first_not_null_value", "INT"), keys, pa.int32()) == expected


@given(keys_of(st.integers(0, 9), back=True))
def test_ignore_retract_skips_what_is_taken_back(keys: list[list[Input]]) -> None:
    adding = [[each for each in key if not each.back] for key in keys]
    applied = function("max", "INT", FieldOptions(ignore_retract=True))
    assert folded(applied, keys, pa.int32()) == fold(adding, max)


def test_taking_back_from_a_function_that_cannot_names_column_and_option() -> None:
    keys = [[Input(1), Input(1, back=True)]]
    with pytest.raises(InvalidDataError, match=r"column 'c'.*=max.*fields\.c\.ignore-retract"):
        folded(function("max", "INT"), keys, pa.int32())


@pytest.mark.parametrize(
    ("name", "kind", "says"),
    [("sum", "STRING", "does not take the type STRING"), ("summ", "INT", "there are bool_and")],
)
def test_a_function_that_does_not_fit_is_refused(name: str, kind: str, says: str) -> None:
    with pytest.raises(InvalidTableError, match=says):
        function(name, kind)
