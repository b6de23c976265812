"""What a table of each merge engine holds after random commits, against plain Python."""

from collections.abc import Callable, Mapping
from functools import reduce
from operator import itemgetter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakebed.errors import InvalidDataError, InvalidTableError
from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.data_file_meta import ManifestEntry
from lakebed.format.manifest import entries_from_columns
from lakebed.format.schema_definition import schema
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.planning.visibility import Visibility
from lakebed.table.reading.scan_source import SnapshotSource
from lakebed.table.table import Table
from support.effects import open_catalog
from support.store_listing import orphans

Values = dict[str, Any]
Fold = Callable[[Values, Values], Values]

COLUMNS = [("id", "INT NOT NULL"), ("a", "BIGINT"), ("b", "STRING"), ("g", "BIGINT")]
SPILLING = {"write-buffer-size": "1 b"}
SPLITTING = {"write-buffer-size": "1 b", "write-buffer-spillable": "false"}


def make(options: Mapping[str, str], *, primary_key: tuple[str, ...] = ("id",)) -> Table:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    return catalog.create_table(
        "db.t", schema=schema(COLUMNS), primary_key=primary_key, options={"bucket": "2", **options}
    )


def read_every_level(table: Table) -> list[Values]:
    parts = table.parts()
    source = SnapshotSource(snapshot=parts.snapshots.latest(), visibility=Visibility.ALL)
    return sorted(parts.scan(source).to_arrow().to_pylist(), key=itemgetter("id"))


def last(_: Values, row: Values) -> Values:
    return row


def first(held: Values, _: Values) -> Values:
    return held


def filled_up(held: Values, row: Values) -> Values:
    return {**held, **{name: value for name, value in row.items() if value is not None}}


def newest_by_g(held: Values, row: Values) -> Values:
    def rank(each: Values) -> tuple[bool, int]:
        return each["g"] is not None, each["g"] or 0

    return held if rank(held) > rank(row) else row


def in_groups(held: Values, row: Values) -> Values:
    """A row whose sequence is null says nothing of its group, and an older one neither."""
    decides = row["g"] is not None and (held["g"] is None or held["g"] <= row["g"])
    group = row if decides else held
    return {
        "id": row["id"],
        "a": None if group["g"] is None else group["a"],
        "b": held["b"] if row["b"] is None else row["b"],
        "g": group["g"],
    }


def summed(held: Values, row: Values) -> Values:
    sums = [each["a"] for each in (held, row) if each["a"] is not None]
    texts = [each["b"] for each in (held, row) if each["b"] is not None]
    return {
        "id": row["id"],
        "a": sum(sums) if sums else None,
        "b": max(texts, default=None),
        "g": held["g"] if row["g"] is None else row["g"],
    }


ENGINES: dict[str, tuple[dict[str, str], Fold]] = {
    "deduplicate": ({}, last),
    "sequence.field": ({"sequence.field": "g"}, newest_by_g),
    "first-row": ({"merge-engine": "first-row", "write-only": "true"}, first),
    "partial-update": ({"merge-engine": "partial-update"}, filled_up),
    "sequence group": (
        {"merge-engine": "partial-update", "fields.g.sequence-group": "a"},
        in_groups,
    ),
    "aggregation": (
        {
            "merge-engine": "aggregation",
            "fields.a.aggregate-function": "sum",
            "fields.b.aggregate-function": "max",
        },
        summed,
    ),
}

rows = st.fixed_dictionaries(
    {
        "id": st.integers(0, 4),
        "a": st.none() | st.integers(0, 9),
        "b": st.none() | st.sampled_from("xyz"),
        "g": st.none() | st.integers(0, 3),
    }
)
commits = st.lists(st.lists(st.lists(rows, min_size=1), min_size=1, max_size=3), max_size=3)


@pytest.mark.parametrize("buffer", [{}, SPILLING, SPLITTING], ids=["held", "spilled", "split"])
@pytest.mark.parametrize(("options", "fold"), ENGINES.values(), ids=ENGINES)
@settings(max_examples=8)
@given(commits=commits)
def test_commits_of_calls_of_rows_merge_as_the_engine_says(
    options: dict[str, str],
    fold: Fold,
    *,
    buffer: dict[str, str],
    commits: list[list[list[Values]]],
) -> None:
    table = make(options | buffer)
    model: dict[int, list[Values]] = {}
    arrow = to_arrow_schema(table.schema.fields)
    for calls in commits:
        with table.writer() as writer:
            for call in calls:
                writer.upsert(pa.Table.from_pylist(call, schema=arrow))
                for row in call:
                    model.setdefault(row["id"], []).append(row)
    expected = [reduce(fold, rows) for rows in model.values()]
    assert read_every_level(table) == sorted(expected, key=itemgetter("id"))


def test_spilled_rows_become_one_file_a_bucket() -> None:
    table = make({"bucket": "1", **SPILLING})
    with table.writer() as writer:
        for value in range(5):
            writer.upsert(pa.table({"id": [1, 2 + value], "a": [value, value]}))
    assert table.scan().to_arrow().num_rows == 6
    assert [f.file.row_count for f in live_files(table)] == [6]


def test_without_spilling_each_full_buffer_becomes_a_file() -> None:
    table = make({"bucket": "1", **SPLITTING})
    with table.writer() as writer:
        for value in range(3):
            writer.upsert(pa.table({"id": [1, 2 + value], "a": [value, value]}))
    assert [f.file.row_count for f in live_files(table)] == [2, 2, 2]
    assert table.scan(where="id = 1").to_arrow().column("a").to_pylist() == [2]


def live_files(table: Table) -> list[ManifestEntry]:
    parts = table.parts()
    snapshot = parts.snapshots.latest()
    assert snapshot is not None
    return entries_from_columns(parts.manifests.live(snapshot, partitions=EveryPartition()))


def test_the_column_of_row_kinds_is_one_of_the_table() -> None:
    table = make({"rowkind.field": "b"})
    table.upsert(pa.table({"id": [1, 2], "b": ["+I", "+I"], "a": [1, 2]}))
    table.upsert(pa.table({"id": [1, 2], "b": ["-D", "+U"], "a": [None, 3]}))
    assert table.scan().to_arrow().to_pylist() == [{"id": 2, "a": 3, "b": "+U", "g": None}]


@pytest.mark.parametrize(
    ("given_rows", "says"),
    [
        ({"id": [1]}, "lack the column 'b'.*rowkind.field"),
        ({"id": [1], "b": [None]}, "b has None; a row kind is one of"),
        ({"id": [1], "b": ["x"]}, "b has 'x'"),
        ({"id": [1], "b": ["+I"], "_row_kind": ["+I"]}, "leave _row_kind out"),
    ],
)
def test_a_row_without_its_kind_is_refused_and_nothing_is_left(
    given_rows: dict[str, list[Any]], says: str
) -> None:
    table = make({"rowkind.field": "b"})
    arrow = {
        name: pa.array(values, pa.int32() if name == "id" else pa.string())
        for name, values in given_rows.items()
    }
    with pytest.raises(InvalidDataError, match=says):
        table.upsert(pa.table(arrow))
    assert table.latest_snapshot() is None
    assert orphans(table, table.file_io) == set()


def test_ignored_deletes_are_not_even_written() -> None:
    table = make({"ignore-delete": "true", "bucket": "1"})
    kinds = ["+I", "-D", "-U", "+U"]
    table.upsert(pa.table({"id": [1, 1, 2, 3], "a": [1, 2, 3, 4], "_row_kind": kinds}))
    (entry,) = live_files(table)
    assert (entry.file.row_count, entry.file.delete_row_count) == (2, 0)
    assert table.upsert(pa.table({"id": [1], "_row_kind": ["-D"]})) is None


def test_ignored_updates_before_are_dropped_and_deletes_stay() -> None:
    table = make({"ignore-update-before": "true", "bucket": "1"})
    table.upsert(pa.table({"id": [1, 2], "a": [1, 2], "_row_kind": ["-U", "-D"]}))
    (entry,) = live_files(table)
    assert (entry.file.row_count, entry.file.delete_row_count) == (1, 1)


def test_rows_of_a_first_row_table_are_seen_when_the_write_returns() -> None:
    table = make({"merge-engine": "first-row"})
    table.append(pa.table({"id": [1, 2], "a": [10, 20]}))
    table.append(pa.table({"id": [2, 3], "a": [21, 30]}))
    rows = table.scan(columns=["id", "a"]).to_arrow().sort_by("id").to_pylist()
    assert rows == [{"id": 1, "a": 10}, {"id": 2, "a": 20}, {"id": 3, "a": 30}]


DEFINITIONS: dict[str, tuple[dict[str, str], str]] = {
    "no such column of row kinds": ({"rowkind.field": "kind"}, "names 'kind'; there are id, a"),
    "no such sequence field": ({"sequence.field": "s"}, "sequence.field names 's'"),
    "no such function": (
        {"merge-engine": "aggregation", "fields.a.aggregate-function": "mean"},
        "no aggregate-function=mean",
    ),
    "first-row by sequence": (
        {"merge-engine": "first-row", "write-only": "true", "sequence.field": "g"},
        "contradicts merge-engine=first-row",
    ),
    "first-row with its input as changelog": (
        {"merge-engine": "first-row", "write-only": "true", "changelog-producer": "input"},
        "use none or lookup",
    ),
}


@pytest.mark.parametrize(("options", "says"), DEFINITIONS.values(), ids=DEFINITIONS)
def test_options_that_contradict_the_columns_make_no_table(
    options: dict[str, str], says: str
) -> None:
    with pytest.raises(InvalidTableError, match=says):
        make(options)


def test_a_changelog_needs_a_primary_key() -> None:
    with pytest.raises(InvalidTableError, match="needs a primary key"):
        make({"changelog-producer": "input", "bucket": "-1"}, primary_key=())
