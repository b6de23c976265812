"""Rows that were merged where they happened to be make the sorted run that all rows make."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.format.schema_definition import schema
from lakebed.lsm.engines import merging_of
from lakebed.lsm.write_buffer import WriteBuffer
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.table import Table
from lakebed.table.writing.align import align
from lakebed.table.writing.local_merge import LocalMerge
from support.effects import open_catalog

COLUMNS = [
    ("id", "INT NOT NULL"),
    ("day", "INT NOT NULL"),
    ("a", "BIGINT"),
    ("b", "STRING"),
    ("g", "BIGINT"),
]
MORE_COLUMNS = [*COLUMNS, ("m", "DECIMAL(5, 2)"), ("kind", "STRING")]
TYPES: dict[str, pa.DataType] = {
    "id": pa.int32(),
    "day": pa.int32(),
    "a": pa.int64(),
    "b": pa.string(),
    "g": pa.int64(),
    "_row_kind": pa.string(),
}
ROWS = pa.schema(TYPES)
IGNORING = {f"fields.{name}.ignore-retract": "true" for name, _ in COLUMNS[1:]}
PARTIAL = {"merge-engine": "partial-update"}
GROUPED = {**PARTIAL, "fields.g.sequence-group": "a"}
AGGREGATED = {"merge-engine": "aggregation"}
SUMMED = {**AGGREGATED, "fields.a.aggregate-function": "sum"}
MERGED: dict[str, Mapping[str, str]] = {
    "deduplicate": {},
    "deduplicate by sequence": {"sequence.field": "g"},
    "deduplicate by sequence, falling": {
        "sequence.field": "g",
        "sequence.field.sort-order": "descending",
    },
    "deduplicate without deletes": {"ignore-delete": "true"},
    "first-row": {"merge-engine": "first-row", "write-only": "true", "ignore-delete": "true"},
    "partial-update": {**PARTIAL, "partial-update.remove-record-on-delete": "true"},
    "partial-update with a group": GROUPED,
    "partial-update with a group that removes": {
        **GROUPED,
        "partial-update.remove-record-on-sequence-group": "g",
    },
    "partial-update with a sum": {**GROUPED, "fields.a.aggregate-function": "sum"},
    "aggregation": {**SUMMED, "fields.b.aggregate-function": "last_value"},
    "aggregation of firsts": {
        **AGGREGATED,
        **IGNORING,
        "fields.default-aggregate-function": "first_non_null_value",
    },
    "aggregation by sequence": {
        **SUMMED,
        **IGNORING,
        "fields.default-aggregate-function": "max",
        "sequence.field": "g",
    },
    "aggregation that removes": {
        **SUMMED,
        **IGNORING,
        "aggregation.remove-record-on-delete": "true",
    },
}
AS_THEY_CAME: dict[str, Mapping[str, str]] = {
    "a changelog has every row": {"changelog-producer": "input"},
    "an older row may come later": {**PARTIAL, "sequence.field": "g"},
    "an older row may have the last value": {**SUMMED, "sequence.field": "g"},
    "a delete may come later": {
        **AGGREGATED,
        "fields.default-aggregate-function": "max",
        "aggregation.remove-record-on-delete": "true",
        "sequence.field": "g",
    },
    "stale rows of a group count first": {
        **GROUPED,
        "fields.a.aggregate-function": "last_non_null_value",
    },
    "a product rounds": {**AGGREGATED, "fields.m.aggregate-function": "product"},
    "a sum of too many digits is null": {**AGGREGATED, "fields.m.aggregate-function": "sum"},
    "a row that is made may have no kind": {**SUMMED, "rowkind.field": "kind"},
}

rows = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.just(7),
        st.none() | st.integers(-5, 5),
        st.none() | st.sampled_from("xyz"),
        st.none() | st.integers(0, 3),
        st.sampled_from(["+I", "+I", "+I", "+U", "-U", "-D"]),
    ),
    max_size=24,
)
cuts = st.lists(st.integers(0, 24), max_size=4).map(lambda places: sorted({0, 24, *places}))


def make(
    options: Mapping[str, str],
    *,
    size: str | None = "1 b",
    columns: Sequence[tuple[str, str]] = COLUMNS,
    primary_key: Sequence[str] = ("id",),
    partition_by: Sequence[str] = (),
) -> Table:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    asked = {} if size is None else {"local-merge-buffer-size": size}
    return catalog.create_table(
        "db.t",
        schema=schema(columns),
        options={"bucket": "2", **asked, **options},
        primary_key=primary_key,
        partition_by=partition_by,
    )


def merge_of(table: Table) -> LocalMerge | None:
    return LocalMerge.of(table.schema, table.parts().options)


def batch(values: list[tuple[Any, ...]]) -> pa.RecordBatch:
    columns = zip(*values, strict=True) if values else [[]] * len(ROWS)
    arrays = [pa.array(c, kind) for c, kind in zip(columns, ROWS.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=ROWS)


def run_of(table: Table, batches: Iterator[pa.RecordBatch]) -> list[dict[str, Any]]:
    """The sorted run that a writer makes of rows, their sequence numbers aside."""
    merging = merging_of(table.schema, table.schema.options)
    buffer = WriteBuffer(table.schema.names, merging=merging, first_sequence=0)
    for each in batches:
        buffer.add(*align(pa.Table.from_batches([each]), table.schema))
    flushed = buffer.flush()
    parts = [] if flushed is None else list(flushed.run)
    return [row for part in parts for row in part.drop_columns(["_SEQUENCE_NUMBER"]).to_pylist()]


def passed_on(
    table: Table, values: list[tuple[Any, ...]], places: list[int]
) -> Iterator[pa.RecordBatch]:
    """What tasks pass on, each of which has the rows between two places, in two batches."""
    merge = merge_of(table)
    assert merge is not None
    for start, stop in pairwise(places):
        merger = merge.open()
        middle = (start + stop) // 2
        for part in (values[start:middle], values[middle:stop]):
            yield from merger.add(batch(part))
        yield from merger.finish()


@cache
def made(engine: str, size: str) -> Table:
    return make(MERGED[engine], size=size)


@pytest.mark.parametrize("size", ["1 b", "300 b", "1 mb"])
@pytest.mark.parametrize("engine", MERGED)
@given(values=rows, places=cuts)
def test_a_run_of_merged_rows_is_that_of_all_rows(
    *, engine: str, size: str, values: list[tuple[Any, ...]], places: list[int]
) -> None:
    table = made(engine, size)
    merged = [each for each in passed_on(table, values, places) if each.num_rows]
    assert run_of(table, iter(merged)) == run_of(table, iter([batch(values)]))


@pytest.mark.parametrize("options", AS_THEY_CAME.values(), ids=AS_THEY_CAME)
def test_rows_whose_merge_depends_on_the_others_go_on_as_they_came(
    options: Mapping[str, str],
) -> None:
    assert merge_of(make(options, columns=MORE_COLUMNS)) is None


def test_what_a_key_is_and_who_asks_decides_too() -> None:
    assert merge_of(make({})) is not None
    assert merge_of(make({"bucket": "-1"}, partition_by=("day",))) is None
    assert merge_of(make({"bucket": "-1"}, primary_key=())) is None
    assert merge_of(make({}, size=None)) is None


def test_a_value_that_a_later_row_must_give_is_waited_for() -> None:
    columns = [(name, kind + " NOT NULL" * (name == "a")) for name, kind in COLUMNS]
    table = make(GROUPED, columns=columns)
    values = [(1, 7, a, None, g, "+I") for a, g in ((5, None), (6, None), (7, 1))]
    merged = list(passed_on(table, values, [0, 2, 3]))
    assert run_of(table, iter(merged)) == run_of(table, iter([batch(values)]))
    assert [row["a"] for row in run_of(table, iter(merged))] == [7]


def test_a_default_does_not_take_the_place_of_a_null_that_was_found() -> None:
    table = make(GROUPED)
    with_default = [
        replace(field, default_value="1") if field.name == "a" else field
        for field in table.schema.fields
    ]
    defaulting = replace(table.schema, fields=tuple(with_default))
    assert LocalMerge.of(table.schema, table.parts().options) is not None
    assert LocalMerge.of(defaulting, table.parts().options) is None


def test_a_key_that_comes_all_the_time_leaves_as_one_row() -> None:
    table = make({}, size="2 kb")
    merge = merge_of(table)
    assert merge is not None
    merger = merge.open()
    came = [
        batch([(1, 7, number * 10 + i, "x", None, "+I") for i in range(10)]) for number in range(50)
    ]
    early = [rows for each in came for rows in merger.add(each)]
    (late,) = merger.finish()
    assert early == []
    assert late.to_pylist() == batch([(1, 7, 499, "x", None, "+I")]).to_pylist()


def test_keys_that_fill_the_buffer_leave_it() -> None:
    table = make({}, size="2 kb")
    merge = merge_of(table)
    assert merge is not None
    merger = merge.open()
    came = [
        batch([(number * 10 + i, 7, 1, "x", None, "+I") for i in range(10)]) for number in range(50)
    ]
    early = [rows.num_rows for each in came for rows in merger.add(each)]
    assert 400 < sum(early) <= 500
    assert sum(early) + sum(rows.num_rows for rows in merger.finish()) == 500


@pytest.mark.parametrize(
    "wrong", [(1, 7, 1, "x", None, "?"), (1, 7, 2**63 - 1, "x", None, "+I")], ids=["kind", "sum"]
)
def test_rows_that_cannot_be_merged_are_left_to_the_writer(wrong: tuple[Any, ...]) -> None:
    table = make(SUMMED, size="1 mb")
    values = [wrong, wrong, (2, 7, 1, "y", None, "+I")]
    assert pa.Table.from_batches(passed_on(table, values, [0, 3])).to_pylist() == (
        pa.Table.from_batches([batch(values)]).to_pylist()
    )
