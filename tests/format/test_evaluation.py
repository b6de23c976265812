import base64
import json
from collections import Counter
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest

from lakebed.errors import InvalidArgumentError
from lakebed.format.arrow.compute import Values
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.predicate.evaluation import evaluate, filter_table
from lakebed.format.predicate.expressions import columns_of
from lakebed.format.predicate.parser import parse_expression, parse_predicate
from lakebed.format.types import MAX_LENGTH, AtomicType, DataField, DataType, RowType, TypeRoot

GOLDEN = Path(__file__).parents[1] / "golden" / "expected"
KATHMANDU = ZoneInfo("Asia/Kathmandu")
NAN = float("nan")


def local(day: str, clock: str = "00:00") -> datetime:
    """A time without a zone."""
    return datetime.fromisoformat(f"{day} {clock}")


TYPES: dict[str, DataType] = {
    "i": AtomicType(root=TypeRoot.INT),
    "d": AtomicType(root=TypeRoot.DOUBLE),
    "s": AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH),
    "dec": AtomicType(root=TypeRoot.DECIMAL, precision=10, scale=2),
    "c": AtomicType(root=TypeRoot.CHAR, length=3),
    "dt": AtomicType(root=TypeRoot.DATE),
    "ts": AtomicType(root=TypeRoot.TIMESTAMP_LTZ, precision=6),
    "nano": AtomicType(root=TypeRoot.TIMESTAMP, precision=9),
    "time": AtomicType(root=TypeRoot.TIME, precision=3),
    "st": RowType(fields=(DataField(id=9, name="x", type=AtomicType(root=TypeRoot.INT)),)),
}
ROW_TYPE = RowType(
    fields=tuple(DataField(id=i, name=n, type=t) for i, (n, t) in enumerate(TYPES.items()))
)
ROWS = pa.table(
    {
        "i": pa.array([1, 0, None, -5], pa.int32()),
        "d": pa.array([1.5, NAN, None, -0.0]),
        "s": pa.array(["a", "B%", None, "żółw"]),
        "dec": pa.array(
            [Decimal("1.50"), Decimal("-2.25"), None, Decimal("0.05")], pa.decimal128(10, 2)
        ),
        "c": pa.array(["a", "b  ", None, "abc"]),
        "dt": pa.array([date(2024, 1, 1), date(1969, 12, 31), None, date(9999, 12, 31)]),
        "ts": pa.array(
            [datetime(2024, 1, 1, tzinfo=UTC), datetime(1969, 12, 31, tzinfo=UTC), None, None],
            pa.timestamp("us", "UTC"),
        ),
        "nano": pa.array([1, 1_000, None, -1], pa.timestamp("ns")),
        "time": pa.array([0, 43_200_000, None, 1], pa.time32("ms")),
        "st": pa.array([{"x": 1}, None, {"x": None}, {"x": 2}]),
    }
)


def values(text: str) -> list[object]:
    expression = parse_expression(text, ROW_TYPE, time_zone=KATHMANDU)
    found: list[object] = evaluate(expression, ROWS).to_pylist()
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i = 1", [True, False, None, False]),
        ("i <> 1", [False, True, None, True]),
        ("i <=> NULL", [False, False, True, False]),
        ("i = 1 AND NULL", [None, False, None, False]),
        ("i = 1 OR NULL", [True, None, None, None]),
        ("NOT (i > 0 AND d > 0)", [False, True, None, True]),
        ("i IN (1, NULL)", [True, None, None, None]),
        ("i NOT IN (1, 2)", [False, True, None, True]),
        ("i IN (1, -i)", [True, True, None, False]),
        ("i IS NULL", [False, False, True, False]),
        ("d = d", [True, True, None, True]),
        ("d > 1e300", [False, True, None, False]),
        ("d <= 1e300", [True, False, None, True]),
        ("d = 0.0", [False, False, None, True]),
        ("d IN (0.0, 5)", [False, False, None, True]),
        ("d IN ('NaN')", [False, True, None, False]),
        ("d <=> 'NaN'", [False, True, False, False]),
        ("s > 'a'", [False, False, None, True]),
        ("s < 'zz'", [True, True, None, False]),
        ("s LIKE '____'", [False, False, None, True]),
        ("s LIKE '%\\%'", [False, True, None, False]),
        ("s LIKE 'B!%' ESCAPE '!'", [False, True, None, False]),
        ("'a\\nb' LIKE 'a_b'", [True] * 4),
        ("s NOT LIKE '%a%'", [False, True, None, True]),
        ("dec = 1.5", [True, False, None, False]),
        ("dec < 0.0500000000000000000000000000000001", [False, True, None, True]),
        ("dec / 3 = 0.5", [True, False, None, False]),
        ("c = 'a'", [True, False, None, False]),
        ("c IN ('b', 'abc')", [False, True, None, True]),
        ("dt = '2024-01-01'", [True, False, None, False]),
        ("ts = TIMESTAMP '2024-01-01 05:45:00'", [True, False, None, None]),
        ("ts > dt", [True, True, None, None]),
        ("nano < TIMESTAMP_NTZ '1970-01-01 00:00:00.000000002'", [True, False, None, True]),
        ("nano < TIMESTAMP_NTZ '9999-01-01 00:00:00'", [True, True, None, True]),
        ("time = '12:00'", [False, True, None, False]),
        ("st.x = 1", [True, None, None, False]),
        ("st IS NULL", [False, True, False, False]),
        ("i <> 0 AND 10 / i > 1", [True, False, None, False]),
        ("i = 0 OR 10 / i > 1", [True, True, None, False]),
        ("FALSE", [False, False, False, False]),
    ],
)
def test_conditions_are_three_valued_as_in_spark(text: str, expected: list[object]) -> None:
    assert values(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i + 1", [2, 1, None, -4]),
        ("i / 2", [0.5, 0.0, None, -2.5]),
        ("dec * dec", [Decimal("2.2500"), Decimal("5.0625"), None, Decimal("0.0025")]),
        ("dec / 7", [Decimal("0.214286"), Decimal("-0.321429"), None, Decimal("0.007143")]),
        ("CAST(dec AS STRING)", ["1.50", "-2.25", None, "0.05"]),
        ("CAST(dec AS DECIMAL(10, 1))", [Decimal("1.5"), Decimal("-2.3"), None, Decimal("0.1")]),
        ("CAST(d AS STRING)", ["1.5", "NaN", None, "-0.0"]),
        (
            "CAST(dt AS TIMESTAMP_NTZ)",
            [local("2024-01-01"), local("1969-12-31"), None, local("9999-12-31")],
        ),
        ("CAST(ts AS STRING)", ["2024-01-01 05:45:00", "1969-12-31 05:30:00", None, None]),
    ],
)
def test_numbers_and_casts_are_sparks(text: str, expected: list[object]) -> None:
    assert values(text) == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("10 / i", "division by zero in 10.0 / CAST"),
        ("1.5 / (dec - dec)", "division of a DECIMAL by zero"),
        ("i + 2147483647", r"a value of i \+ 2147483647 does not fit into INT"),
        ("CAST(s AS INT)", "the text 'a' is not a whole number"),
        ("CAST(i AS TINYINT) + 127Y", "does not fit into TINYINT"),
        ("CAST(d AS INT)", "nan does not fit into INT"),
        ("CAST(dec * 1000000 AS DECIMAL(3, 0))", "cannot become DECIMAL"),
        ("s LIKE 'a\\\\b'", "has the escape character"),
    ],
)
def test_what_does_not_fit_is_an_error(text: str, problem: str) -> None:
    with pytest.raises(InvalidArgumentError, match=problem):
        values(text)


def test_filter_keeps_rows_that_are_true_over_all_chunks() -> None:
    predicate = parse_predicate("i <> 1", ROW_TYPE, time_zone=KATHMANDU)
    doubled = pa.concat_tables([ROWS, ROWS])

    assert filter_table(doubled, predicate).column("i").to_pylist() == [0, -5, 0, -5]
    assert filter_table(doubled, None) is doubled
    assert filter_table(ROWS.slice(0, 0), predicate).num_rows == 0


def test_sliced_large_and_dictionary_columns_are_taken() -> None:
    predicate = parse_predicate("s = 'a' OR dec * 2 < 0", ROW_TYPE, time_zone=KATHMANDU)
    table = pa.table(
        {
            "s": pc.dictionary_encode(ROWS.column("s").cast(pa.large_string())),
            "dec": ROWS.column("dec"),
        }
    )

    assert evaluate(predicate, table.slice(1)).to_pylist() == [True, None, False]
    assert evaluate(predicate, table.to_batches()[0]).to_pylist() == [True, True, None, False]


def test_a_missing_column_is_named() -> None:
    predicate = parse_predicate("i = 1", ROW_TYPE, time_zone=KATHMANDU)

    with pytest.raises(InvalidArgumentError, match="no column 'i'"):
        evaluate(predicate, ROWS.select(["s"]))


def test_local_times_in_gaps_and_overlaps_are_read_as_java_does() -> None:
    table = pa.table(
        {
            "t": pa.array(
                [local("2024-03-10", "02:30"), local("2024-11-03", "01:30")], pa.timestamp("us")
            )
        }
    )
    row_type = RowType(
        fields=(DataField(id=0, name="t", type=AtomicType(root=TypeRoot.TIMESTAMP, precision=6)),)
    )
    cast = parse_expression(
        "CAST(t AS TIMESTAMP)", row_type, time_zone=ZoneInfo("America/New_York")
    )

    assert evaluate(cast, table).to_pylist() == [
        datetime(2024, 3, 10, 7, 30, tzinfo=UTC),
        datetime(2024, 11, 3, 5, 30, tzinfo=UTC),
    ]


_SPARK_TYPES = {
    "boolean": ("BOOLEAN", None),
    "tinyint": ("TINYINT", None),
    "smallint": ("SMALLINT", None),
    "int": ("INT", None),
    "bigint": ("BIGINT", None),
    "float": ("FLOAT", None),
    "double": ("DOUBLE", None),
    "date": ("DATE", None),
    "timestamp": ("TIMESTAMP_LTZ", 6),
    "timestamp_ntz": ("TIMESTAMP", 6),
}


def _golden_type(text: str) -> AtomicType | None:
    if text == "string":
        return TYPES["s"]  # type: ignore[return-value] # the entry is atomic
    if text == "binary":
        return AtomicType(root=TypeRoot.VARBINARY, length=MAX_LENGTH)
    if text.startswith("decimal"):
        precision, scale = map(int, text[8:-1].split(","))
        return AtomicType(root=TypeRoot.DECIMAL, precision=precision, scale=scale)
    if text not in _SPARK_TYPES:
        return None
    name, precision_ = _SPARK_TYPES[text]
    return AtomicType(root=TypeRoot[name], precision=precision_)


@cache
def _golden_queries(name: str) -> list[Any]:
    queries: list[Any] = json.loads((GOLDEN / f"{name}.json").read_text())["queries"]
    return queries


def _golden_cases() -> list[tuple[str, str]]:
    cases = []
    for path in sorted(GOLDEN.glob("*.json")):
        for query in _golden_queries(path.stem):
            args = query["args"]
            if (
                set(args) == {"filter_sql"}
                and "rows" in query
                and "." not in args["filter_sql"].split()[0]
            ):
                cases.append((path.stem, args["filter_sql"]))
    return cases


@pytest.mark.parametrize(("name", "where"), _golden_cases())
def test_filters_of_the_real_engine_give_its_rows(name: str, where: str) -> None:
    queries = _golden_queries(name)
    latest = next(query for query in queries if query["args"] == {})
    answer = next(query for query in queries if query["args"] == {"filter_sql": where})
    fields = [
        DataField(id=i, name=column, type=kind or ROW_TYPE)
        for i, (column, text) in enumerate(latest["columns"])
        for kind in [_golden_type(text)]
    ]
    predicate = parse_predicate(where, RowType(fields=tuple(fields)), time_zone=ZoneInfo("UTC"))

    table = pa.table(
        {
            column: _golden_column([row[i] for row in latest["rows"]], text)
            for i, (column, text) in enumerate(latest["columns"])
            if column in columns_of(predicate)
        }
    )
    kept = evaluate(predicate, table).to_pylist()

    rows = [row for row, is_true in zip(latest["rows"], kept, strict=True) if is_true]
    assert Counter(map(json.dumps, rows)) == Counter(map(json.dumps, answer["rows"]))


def _golden_column(column: list[object], text: str) -> Values:
    kind = _golden_type(text)
    if kind is None:
        return pa.array([None if value is None else 1 for value in column])
    if text == "binary":
        return pa.array([None if v is None else base64.b64decode(str(v)) for v in column])
    spelled = pa.array(
        [None if v is None else str(v).removesuffix("Z") for v in column], pa.string()
    )
    row_type = RowType(fields=(DataField(id=0, name="v", type=TYPES["s"]),))
    name = {"timestamp": "TIMESTAMP", "timestamp_ntz": "TIMESTAMP_NTZ"}.get(text, text)
    cast = parse_expression(f"CAST(v AS {name})", row_type, time_zone=ZoneInfo("UTC"))
    return evaluate(cast, pa.table({"v": spelled})).combine_chunks()
