from decimal import Decimal
from math import isnan
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakebed.format.arrow.compute import Values
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.predicate.evaluation import evaluate
from lakebed.format.predicate.parser import parse_predicate
from lakebed.format.predicate.pruning import may_match
from lakebed.format.predicate.values import equality_values
from lakebed.format.statistics.bounds import ColumnBounds
from lakebed.format.types import MAX_LENGTH, AtomicType, DataField, DataType, RowType, TypeRoot

UTC = ZoneInfo("UTC")
TYPES: dict[str, DataType] = {
    "i": AtomicType(root=TypeRoot.INT),
    "d": AtomicType(root=TypeRoot.DOUBLE),
    "s": AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH),
    "dec": AtomicType(root=TypeRoot.DECIMAL, precision=6, scale=2),
    "dt": AtomicType(root=TypeRoot.DATE),
    "ok": AtomicType(root=TypeRoot.BOOLEAN),
    "c": AtomicType(root=TypeRoot.CHAR, length=3),
    "f": AtomicType(root=TypeRoot.FLOAT),
    "x": RowType(fields=(DataField(id=20, name="y", type=AtomicType(root=TypeRoot.INT)),)),
}
ROW_TYPE = RowType(
    fields=tuple(DataField(id=i, name=n, type=t) for i, (n, t) in enumerate(TYPES.items()))
)
ARROW = {
    "i": pa.int32(),
    "d": pa.float64(),
    "s": pa.string(),
    "dec": pa.decimal128(6, 2),
    "dt": pa.date32(),
    "ok": pa.bool_(),
}


def bounds(kind: pa.DataType, *files: tuple[object, object, int | None]) -> ColumnBounds:
    low: Values = pa.array([file[0] for file in files], kind)
    high: Values = pa.array([file[1] for file in files], kind)
    nulls: Values = pa.array([file[2] for file in files], pa.int64())
    known = pc.and_(low.is_valid(), high.is_valid()).to_numpy(zero_copy_only=False)
    return ColumnBounds(low, high, nulls, known)


UNKNOWN = (None, None, None)
NULLS = (None, None, 10)

# Four files of ten rows: values, other values, nulls alone, and nothing known.
FILES = {
    "i": bounds(pa.int32(), (1, 10, 0), (20, 20, 3), NULLS, UNKNOWN),
    "d": bounds(pa.float64(), (1.0, 2.0, 0), (-5.0, -1.0, 0), NULLS, UNKNOWN),
    "s": bounds(pa.string(), ("abc", "abe", 0), ("b", "c", 0), NULLS, UNKNOWN),
    "ok": bounds(pa.bool_(), (True, True, 0), (False, True, 0), NULLS, UNKNOWN),
}


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("i = 5", [1, 0, 0, 1]),
        ("i = 20", [0, 1, 0, 1]),
        ("i <> 20", [1, 0, 0, 1]),
        ("NOT (i = 5 OR i = 20)", [1, 0, 0, 1]),
        ("i < 1", [0, 0, 0, 1]),
        ("i <= 1", [1, 0, 0, 1]),
        ("i > 10", [0, 1, 0, 1]),
        ("10 < i", [0, 1, 0, 1]),
        ("NOT i > 10", [1, 0, 0, 1]),
        ("i >= 11L", [0, 1, 0, 1]),
        ("i > 10.5", [0, 1, 0, 1]),
        ("i = '7'", [1, 0, 0, 1]),
        ("i = 99999999999", [0, 0, 0, 1]),
        ("i IN (0, 15, 21)", [0, 0, 0, 1]),
        ("i IN (0, 20)", [0, 1, 0, 1]),
        ("i NOT IN (20, NULL)", [0, 0, 0, 0]),
        ("i BETWEEN 11 AND 19", [0, 0, 0, 1]),
        ("i NOT BETWEEN 0 AND 15", [0, 1, 0, 1]),
        ("i IS NULL", [0, 1, 1, 1]),
        ("i IS NOT NULL", [1, 1, 0, 1]),
        ("i <=> NULL", [0, 1, 1, 1]),
        ("NOT i <=> 20", [1, 1, 1, 1]),
        ("i = NULL", [0, 0, 0, 0]),
        ("i = 5 AND s = 'b'", [0, 0, 0, 1]),
        ("i = 5 OR s = 'b'", [1, 1, 0, 1]),
        ("i + 1 = 6", [1, 1, 1, 1]),
        ("x.y = 1", [1, 1, 1, 1]),
        ("ok", [1, 1, 0, 1]),
        ("NOT ok", [0, 1, 0, 1]),
        ("ok AND FALSE", [0, 0, 0, 0]),
        ("s LIKE 'abd%'", [1, 0, 0, 1]),
        ("s LIKE 'b%'", [0, 1, 0, 1]),
        ("s LIKE 'a%'", [1, 0, 0, 1]),
        ("s LIKE 'abf%'", [0, 0, 0, 1]),
        ("s LIKE '%z'", [1, 1, 0, 1]),
        ("s LIKE 'abd'", [1, 0, 0, 1]),
        ("s NOT LIKE 'a%'", [1, 1, 0, 1]),
        ("d < 0", [0, 1, 0, 1]),
        ("d = 0", [0, 0, 0, 1]),
        ("d <> 1.5", [1, 1, 0, 1]),
    ],
)
def test_only_files_without_a_matching_row_are_left_out(where: str, expected: list[int]) -> None:
    predicate = parse_predicate(where, ROW_TYPE, time_zone=UTC)

    found = may_match(predicate, FILES, np.full(4, 10))

    assert found.tolist() == [bool(flag) for flag in expected]


def test_nan_may_hide_above_every_upper_bound() -> None:
    for where in ("d > 100", "d = 'NaN'", "NOT d < 100", "NOT d <= 100"):
        predicate = parse_predicate(where, ROW_TYPE, time_zone=UTC)
        assert may_match(predicate, FILES, np.full(4, 10)).tolist() == [True, True, False, True]


def test_bounds_of_another_type_or_none_at_all_say_nothing() -> None:
    predicate = parse_predicate("i = 5", ROW_TYPE, time_zone=UTC)
    retyped = {"i": bounds(pa.int64(), (6, 7, 0))}

    assert may_match(predicate, retyped, np.full(1, 10)).tolist() == [True]
    assert may_match(predicate, {}, np.full(1, 10)).tolist() == [True]


TEXTS = st.text(alphabet="ab%\u00e9\uffff\U0001f986", max_size=4)
COLUMNS = {
    "i": st.integers(-3, 3),
    "d": st.sampled_from([float("nan"), -0.0, 0.0, 1.0, -1.0, float("inf"), float("-inf")]),
    "s": TEXTS,
    "dec": st.integers(-300, 300).map(lambda n: Decimal(n).scaleb(-2)),
    "dt": st.integers(-3, 3),
    "ok": st.booleans(),
}


def quoted(text: str) -> str:
    return "'" + text.replace("%", "\\\\%") + "'"


LITERALS = {
    "i": st.one_of(
        st.integers(-3, 3).map(str), st.sampled_from(["1.5", "2L", "1e0", "'1'", "NULL"])
    ),
    "d": st.sampled_from(["CAST('NaN' AS DOUBLE)", "0.0", "-0.0D", "1", "1e300", "'Infinity'"]),
    "s": st.one_of(TEXTS.map(quoted), st.just("NULL")),
    "dec": st.one_of(
        st.integers(-300, 300).map(lambda n: f"{n / 100:.2f}"),
        st.sampled_from(["0.001", "1", "1D"]),
    ),
    "dt": st.integers(1, 5).map(lambda n: f"DATE '1970-01-0{n}'"),
    "ok": st.sampled_from(["TRUE", "FALSE", "NULL"]),
}


@st.composite
def conditions(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from(sorted(COLUMNS)))
    literal = LITERALS[name]
    kind = draw(st.sampled_from(["compare", "in", "null", "between", "like"]))
    negation = draw(st.sampled_from(["", "NOT "]))
    if kind == "in":
        items = ", ".join(draw(st.lists(literal, min_size=1, max_size=3)))
        return f"{name} {negation}IN ({items})"
    if kind == "null":
        return f"{name} IS {negation}NULL"
    if kind == "between":
        return f"{name} {negation}BETWEEN {draw(literal)} AND {draw(literal)}"
    if kind == "like" and name == "s":
        pattern = draw(st.text(alphabet="ab%_\u00e9", max_size=4))
        return f"s {negation}LIKE '{pattern}'"
    operator = draw(st.sampled_from(["=", "<>", "<", "<=", ">", ">=", "<=>"]))
    return f"{negation}{name} {operator} {draw(literal)}"


PREDICATES = st.recursive(
    conditions(),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(lambda t: f"({' '.join(t)})"),
        inner.map(lambda text: f"NOT ({text})"),
    ),
    max_leaves=4,
)
ROWS = st.lists(
    st.fixed_dictionaries({n: st.one_of(st.none(), v) for n, v in COLUMNS.items()}), max_size=4
)


@settings(max_examples=150, deadline=None)
@given(
    files=st.lists(ROWS, min_size=1, max_size=3), where=PREDICATES, kept_length=st.integers(0, 4)
)
def test_a_file_with_a_matching_row_is_never_left_out(
    files: list[list[dict[str, object]]], where: str, kept_length: int
) -> None:
    predicate = parse_predicate(where, ROW_TYPE, time_zone=UTC)
    tables = [
        pa.table({n: pa.array([row[n] for row in rows], ARROW[n]) for n in COLUMNS})
        for rows in files
    ]
    has_match = np.array([any(evaluate(predicate, table).to_pylist()) for table in tables])
    known = {n: computed_bounds([t.column(n) for t in tables], kept_length) for n in COLUMNS}

    found = may_match(predicate, known, np.array([table.num_rows for table in tables]))

    assert not (has_match & ~found).any()


def computed_bounds(columns: list[Values], kept_length: int) -> ColumnBounds:
    """Bounds as a careless writer makes them: no NaN in them, and text cut."""
    files = []
    for column in columns:
        values = [value for value in column.to_pylist() if value is not None]
        values = [value for value in values if not (isinstance(value, float) and isnan(value))]
        low, high = (min(values), max(values)) if values else (None, None)
        # Python orders text by code point, which UTF-8 keeps.
        if isinstance(low, str) and isinstance(high, str):
            low = low[:kept_length]
            high = high if len(high) <= kept_length else high[:kept_length] + "\U0010ffff"
        files.append((low, high, column.null_count))
    return bounds(columns[0].type, *files)


def values(where: str, *names: str) -> list[dict[str, object]] | None:
    found = equality_values(parse_predicate(where, ROW_TYPE, time_zone=UTC), names)
    if found is None:
        return None
    assert found.column_names == list(names)
    return sorted(found.to_pylist(), key=repr)


def test_equalities_and_lists_give_the_values_of_keys() -> None:
    assert values("i = 1", "i") == [{"i": 1}]
    assert values("i IN (1, 2L) AND s = 'a'", "i", "s") == [{"i": 1, "s": "a"}, {"i": 2, "s": "a"}]
    assert values("i IN (1, 2) AND i IN (2, 3)", "i") == [{"i": 2}]
    assert values("i = 1 OR 3 = i", "i") == [{"i": 1}, {"i": 3}]
    assert values("i IS NULL OR i = 1", "i") == [{"i": 1}, {"i": None}]
    assert values("i <=> NULL", "i") == [{"i": None}]
    assert values("i = NULL", "i") == []
    assert values("dec = 1.5 AND d > 0", "dec") == [{"dec": Decimal("1.50")}]


def test_values_that_no_key_can_have_give_none() -> None:
    assert values("i = 1.5", "i") == []
    assert values("i = 99999999999", "i") == []
    assert values("dec = 0.001", "dec") == []
    assert values("f = 0.1", "f") == []
    assert values("f = 0.5", "f") == [{"f": 0.5}]


def test_what_is_not_finite_or_not_one_to_one_is_unknown() -> None:
    for where in ("i > 1", "i = 1 OR s = 'a'", "s = 'a'", "NOT i = 1", "i + 1 = 2"):
        assert values(where, "i") is None
    assert values("d = 0.0", "d") is None
    assert values("d = 'NaN'", "d") is None
    assert values("dec = 1.5D", "dec") is None
    assert values("c = 'a'", "c") is None
    assert values("s = 1", "s") is None


def test_more_combinations_than_the_limit_are_unknown() -> None:
    many = ", ".join(map(str, range(40)))
    predicate = parse_predicate(f"i IN ({many}) AND dec IN ({many})", ROW_TYPE, time_zone=UTC)

    assert equality_values(predicate, ["i", "dec"]) is None
    found = equality_values(predicate, ["i", "dec"], limit=1600)
    assert found is not None
    assert found.num_rows == 1600
    assert found.column("dec").type == pa.decimal128(6, 2)
