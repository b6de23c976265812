"""`partial-update` and `aggregation` against the same rules written for one row at a time."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.errors import InvalidDataError, InvalidTableError
from lakebed.format.schema_builder import build_schema
from lakebed.format.schema_definition import schema
from lakebed.lsm.engines import Folding, merging_of
from lakebed.lsm.folding import folded_rows
from lakebed.lsm.merge import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE
from support.merge_oracle import (
    FIRST_NON_NULL_VALUE,
    FIRST_VALUE,
    LAST_NON_NULL_VALUE,
    LAST_VALUE,
    SUM,
    AggregationOracle,
    GroupOracle,
    PartialUpdateOracle,
)
from support.section_in_memory import FileInMemory, KeyValue, oldest_first

AMPLE = 1 << 30
KINDS = (INSERT, UPDATE_AFTER, UPDATE_BEFORE, DELETE)
ADDS = (INSERT, UPDATE_AFTER)
TYPES = {name: pa.int64() for name in ("a", "b", "g", "h", "n")}
COLUMNS = tuple(TYPES)
TABLE = build_schema(
    schema([("k", "BIGINT NOT NULL"), *((name, "BIGINT") for name in COLUMNS)]).fields,
    primary_keys=["k"],
    options={"bucket": "1"},
    time_millis=0,
)


def merged(
    files: Sequence[FileInMemory],
    options: Mapping[str, str],
    *,
    wanted: Sequence[str] = ("k", *COLUMNS),
    budget_bytes: int = AMPLE,
) -> list[dict[str, Any]]:
    merging = merging_of(TABLE, options)
    assert isinstance(merging, Folding)
    tables = folded_rows(
        files,
        order=merging.order,
        engine=merging.engine,
        wanted=wanted,
        budget_bytes=budget_bytes,
        with_lookup=merging.with_lookup,
    )
    return [row for table in tables for row in table.to_pylist()]


def expected(
    files: Sequence[FileInMemory], oracle: PartialUpdateOracle | AggregationOracle
) -> list[dict[str, Any]]:
    results = {key: oracle.merge(rows) for key, rows in oldest_first(files).items()}
    return [{"k": key, **values} for key, values in results.items() if values is not None]


@st.composite
def sections(draw: st.DrawFn, *, kinds: Sequence[int] = KINDS) -> list[FileInMemory]:
    """A few runs with keys in common; sequence numbers are apart or overlap."""
    apart = draw(st.booleans())
    number = st.none() | st.integers(0, 3)
    files = []
    for run in range(draw(st.integers(2, 5))):
        keys = sorted(draw(st.sets(st.integers(0, 4), min_size=1)))
        rows = tuple(
            KeyValue(
                key,
                draw(st.integers(0, 9)) + (10 * run if apart else 0),
                draw(st.sampled_from(kinds)),
                {name: draw(number) for name in COLUMNS},
            )
            for key in keys
        )
        files.append(FileInMemory(rows, run, TYPES, rows_a_batch=draw(st.integers(1, 3))))
    return files


PARTIAL = {"merge-engine": "partial-update"}
GROUPED = PARTIAL | {"fields.g.sequence-group": "a,b"}
IGNORING = {"fields.a.ignore-retract": "true"}
CASES = [
    ("plain", PARTIAL, PartialUpdateOracle(COLUMNS), ADDS),
    (
        "ignore-delete",
        PARTIAL | {"ignore-delete": "true"},
        PartialUpdateOracle(COLUMNS, ignore_delete=True),
        KINDS,
    ),
    (
        "remove-record-on-delete",
        PARTIAL | {"partial-update.remove-record-on-delete": "true"},
        PartialUpdateOracle(COLUMNS, remove_record_on_delete=True),
        KINDS,
    ),
    (
        "one group",
        GROUPED,
        PartialUpdateOracle(COLUMNS, (GroupOracle(("g",), ("a", "b")),)),
        KINDS,
    ),
    (
        "one group, ignore-delete",
        GROUPED | {"ignore-delete": "true"},
        PartialUpdateOracle(COLUMNS, (GroupOracle(("g",), ("a", "b")),), ignore_delete=True),
        KINDS,
    ),
    (
        "two groups",
        PARTIAL | {"fields.g.sequence-group": "a", "fields.h.sequence-group": "b"},
        PartialUpdateOracle(COLUMNS, (GroupOracle(("g",), ("a",)), GroupOracle(("h",), ("b",)))),
        KINDS,
    ),
    (
        "group of two fields",
        PARTIAL | {"fields.g,h.sequence-group": "a,b"},
        PartialUpdateOracle(COLUMNS, (GroupOracle(("g", "h"), ("a", "b")),)),
        KINDS,
    ),
    (
        "group that aggregates",
        GROUPED | {"fields.a.aggregate-function": "sum"},
        PartialUpdateOracle(COLUMNS, (GroupOracle(("g",), ("a", "b")),), {"a": SUM}),
        KINDS,
    ),
    (
        "group that keeps the last value",
        GROUPED | {"fields.a.aggregate-function": "last_value"},
        PartialUpdateOracle(COLUMNS, (GroupOracle(("g",), ("a", "b")),), {"a": LAST_VALUE}),
        KINDS,
    ),
    (
        "remove-record-on-sequence-group",
        PARTIAL
        | {
            "fields.g.sequence-group": "a",
            "fields.h.sequence-group": "b",
            "fields.b.aggregate-function": "sum",
            "partial-update.remove-record-on-sequence-group": "g",
        },
        PartialUpdateOracle(
            COLUMNS,
            (GroupOracle(("g",), ("a",), removes=True), GroupOracle(("h",), ("b",))),
            {"b": SUM},
        ),
        KINDS,
    ),
    (
        "two groups that remove",
        PARTIAL
        | {
            "fields.g.sequence-group": "a",
            "fields.h.sequence-group": "b",
            "partial-update.remove-record-on-sequence-group": "g,h",
        },
        PartialUpdateOracle(
            COLUMNS,
            (GroupOracle(("g",), ("a",), removes=True), GroupOracle(("h",), ("b",), removes=True)),
        ),
        KINDS,
    ),
    (
        "group that keeps the first value",
        GROUPED | {"fields.a.aggregate-function": "first_value"} | IGNORING,
        PartialUpdateOracle(COLUMNS, (GroupOracle(("g",), ("a", "b")),), {"a": FIRST_VALUE}),
        KINDS,
    ),
    (
        "groups that keep the first value that is not null, one of which removes",
        PARTIAL
        | {
            "fields.g.sequence-group": "a",
            "fields.h.sequence-group": "b",
            "fields.a.aggregate-function": "first_non_null_value",
            "partial-update.remove-record-on-sequence-group": "h",
        }
        | IGNORING,
        PartialUpdateOracle(
            COLUMNS,
            (GroupOracle(("g",), ("a",)), GroupOracle(("h",), ("b",), removes=True)),
            {"a": FIRST_NON_NULL_VALUE},
        ),
        KINDS,
    ),
    (
        "aggregation of first values, remove-record-on-delete",
        {
            "merge-engine": "aggregation",
            "fields.a.aggregate-function": "first_value",
            "fields.b.aggregate-function": "first_non_null_value",
            "fields.b.ignore-retract": "true",
            "aggregation.remove-record-on-delete": "true",
        }
        | IGNORING,
        AggregationOracle(
            {"a": FIRST_VALUE, "b": FIRST_NON_NULL_VALUE}
            | dict.fromkeys(("g", "h", "n"), LAST_NON_NULL_VALUE),
            remove_record_on_delete=True,
        ),
        KINDS,
    ),
    (
        "aggregation",
        {"merge-engine": "aggregation", "fields.a.aggregate-function": "sum"},
        AggregationOracle({"a": SUM} | dict.fromkeys(("b", "g", "h", "n"), LAST_NON_NULL_VALUE)),
        KINDS,
    ),
    (
        "aggregation, default function, remove-record-on-delete",
        {
            "merge-engine": "aggregation",
            "fields.default-aggregate-function": "sum",
            "fields.b.aggregate-function": "last_value",
            "aggregation.remove-record-on-delete": "true",
        },
        AggregationOracle(
            dict.fromkeys(COLUMNS, SUM) | {"b": LAST_VALUE}, remove_record_on_delete=True
        ),
        KINDS,
    ),
]


@pytest.mark.parametrize("case", [case[1:] for case in CASES], ids=[case[0] for case in CASES])
@given(data=st.data())
def test_a_section_folds_as_its_rows_do_one_after_the_other(
    data: st.DataObject,
    case: tuple[dict[str, str], PartialUpdateOracle | AggregationOracle, Sequence[int]],
) -> None:
    options, oracle, kinds = case
    files = data.draw(sections(kinds=kinds))
    budget = data.draw(st.sampled_from([1, AMPLE]))
    assert merged(files, options, budget_bytes=budget) == expected(files, oracle)
    some = merged(files, options, wanted=["a"], budget_bytes=budget)
    assert some == [{"a": row["a"]} for row in expected(files, oracle)]


def run(level: int, number: int, **values: int | None) -> FileInMemory:
    row = KeyValue(1, number, INSERT, dict.fromkeys(COLUMNS) | values)
    return FileInMemory((row,), run=number, types=TYPES, level=level)


@pytest.mark.parametrize("producer", ["lookup", "none"])
def test_a_row_above_level_0_holds_those_below_it_where_compaction_looks_up(producer: str) -> None:
    files = [run(5, 0, a=1), run(2, 1, a=11), run(0, 2, a=100), run(0, 3, a=1000)]
    options = {
        "merge-engine": "aggregation",
        "fields.a.aggregate-function": "sum",
        "changelog-producer": producer,
    }
    expected = 11 + 100 + 1000 + (1 if producer == "none" else 0)
    assert merged(files, options, wanted=["a"]) == [{"a": expected}]


def test_a_lone_row_keeps_its_kind_and_a_merged_one_is_an_insert() -> None:
    lone = FileInMemory((KeyValue(1, 0, UPDATE_AFTER, {"a": 1}),), 0, TYPES)
    others = [
        FileInMemory((KeyValue(2, number, UPDATE_AFTER, {"a": 1}),), number, TYPES)
        for number in (1, 2)
    ]
    assert merged([lone, *others], PARTIAL, wanted=["k", "_VALUE_KIND"]) == [
        {"k": 1, "_VALUE_KIND": UPDATE_AFTER},
        {"k": 2, "_VALUE_KIND": INSERT},
    ]


def test_sequence_fields_may_reach_both_ends_of_their_type() -> None:
    files = [run(0, 0, g=2**63 - 1, a=1), run(0, 1, g=-(2**63), a=2)]
    assert merged(files, GROUPED, wanted=["a"]) == [{"a": 1}]


def test_deletes_without_an_option_that_says_what_they_mean_are_an_error() -> None:
    rows = [FileInMemory((KeyValue(1, n, DELETE, {}),), n, TYPES) for n in (0, 1)]
    with pytest.raises(InvalidDataError, match="partial-update takes no -U and -D rows"):
        merged(rows, PARTIAL)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"fields.g.sequence-group": "a,zz"}, "names 'zz'; there are a, b"),
        ({"fields.g.sequence-group": "a", "fields.h.sequence-group": "a"}, "in another group"),
        ({"fields.a.aggregate-function": "sum"}, "'a': aggregate-function=sum needs a sequence"),
        (
            {"partial-update.remove-record-on-delete": "true", "fields.g.sequence-group": "a"},
            "contradicts a sequence group",
        ),
    ],
)
def test_options_that_contradict_each_other_are_refused(options: dict[str, str], says: str) -> None:
    with pytest.raises(InvalidTableError, match=says):
        merging_of(TABLE, PARTIAL | options)


def test_a_late_map_gives_keys_that_have_no_value_also_those_that_were_taken_back() -> None:
    table = build_schema(
        schema([("k", "BIGINT NOT NULL"), ("m", "MAP<STRING, INT>"), ("g", "BIGINT")]).fields,
        primary_keys=["k"],
        options={"bucket": "1"},
        time_millis=0,
    )
    options = {
        **PARTIAL,
        "fields.g.sequence-group": "m",
        "fields.m.aggregate-function": "merge_map",
    }
    types = {"m": pa.map_(pa.string(), pa.int32()), "g": pa.int64()}
    steps = [
        (INSERT, 5, [("a", 0), ("b", 0)]),
        (DELETE, 9, [("a", 1)]),
        (INSERT, 7, [("a", 2), ("b", 2), ("c", 2)]),
        (INSERT, 8, [("a", 3), ("c", 3)]),
        (INSERT, 9, [("c", 4)]),
    ]
    files = [
        FileInMemory((KeyValue(1, n, kind, {"m": entries, "g": g}),), n, types)
        for n, (kind, g, entries) in enumerate(steps)
    ]

    def merge(given: Mapping[str, str]) -> list[dict[str, Any]]:
        merging = merging_of(table, given)
        assert isinstance(merging, Folding)
        wanted = ("k", "m", "g")
        tables = folded_rows(
            files, order=merging.order, engine=merging.engine, wanted=wanted, budget_bytes=AMPLE
        )
        return [row for part in tables for row in part.to_pylist()]

    assert merge(options) == [{"k": 1, "m": [("b", 0), ("a", 2), ("c", 4)], "g": 9}]
    assert merge(options | {"fields.m.ignore-retract": "true"}) == [
        {"k": 1, "m": [("a", 0), ("b", 0), ("c", 4)], "g": 9}
    ]
