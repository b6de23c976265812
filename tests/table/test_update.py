"""UPDATE: which values rows get, how they are written, and what is refused."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from lakebed.errors import (
    CommitConflictError,
    InvalidArgumentError,
    InvalidDataError,
    UnsupportedError,
)
from lakebed.format.schema_definition import schema
from lakebed.format.snapshot import CommitKind, Operation, Snapshot
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.table import Table
from support.effects import open_catalog, reopen
from support.index_files import unnamed_files
from support.marked_tables import live_files, marked
from support.scripted_file_io import ScriptedFileIO, meanwhile

Rows = list[dict[str, Any]]

COLUMNS = [
    ("id", "BIGINT NOT NULL"),
    ("p", "STRING"),
    ("v", "INT"),
    ("c", "VARCHAR(3)"),
]
VECTORS = {"deletion-vectors.enabled": "true"}
APPEND = {
    "unaware": {},
    "bucketed": {"bucket": "2", "bucket-key": "id"},
    "marked": VECTORS,
    "marked and bucketed": VECTORS | {"bucket": "2", "bucket-key": "id"},
}
KEYED = {
    "deduplicate": {"bucket": "2"},
    "partial-update": {"bucket": "2", "merge-engine": "partial-update"},
    "deletion vectors": {"bucket": "2", **VECTORS},
    "dynamic buckets": {},
}
TYPED: dict[str, tuple[str, object, object]] = {
    "bool": ("BOOLEAN", True, True),
    "tiny": ("TINYINT", 3, 3),
    "float": ("FLOAT", 1, 1.0),
    "double of a decimal": ("DOUBLE", Decimal("1.5"), 1.5),
    "decimal": ("DECIMAL(6, 2)", Decimal("12.345"), Decimal("12.35")),
    "decimal of a sum": ("DECIMAL(6, 2)", "id + 0.5", Decimal("1.50")),
    "integer cut": ("INT", "7 / 2", 3),
    "date": ("DATE", dt.date(2026, 1, 2), dt.date(2026, 1, 2)),
    "date of text": ("DATE", "DATE '2026-01-02'", dt.date(2026, 1, 2)),
    "time": ("TIME", dt.time(1, 2, 3), dt.time(1, 2, 3)),
    "timestamp": (
        "TIMESTAMP(3)",
        dt.datetime(2026, 1, 2, 3),  # noqa: DTZ001 - TIMESTAMP has no zone
        dt.datetime(2026, 1, 2, 3),  # noqa: DTZ001
    ),
    "instant of a local time": (
        "TIMESTAMP_LTZ(6)",
        dt.datetime(2026, 1, 2, 3),  # noqa: DTZ001
        dt.datetime(2026, 1, 2, 3, tzinfo=dt.UTC),
    ),
    "bytes": ("BYTES", b"ab", b"ab"),
    "text of a number": ("STRING", 5, "5"),
    "padded": ("CHAR(4)", "'ab'", "ab  "),
    "without blanks": ("VARCHAR(2)", "'ab   '", "ab"),
    "list": ("ARRAY<INT>", [1, None], [1, None]),
    "map": ("MAP<STRING, INT>", {"a": 1}, [("a", 1)]),
    "struct": ("ROW<x INT, y STRING>", {"x": 1, "y": "q"}, {"x": 1, "y": "q"}),
    "null": ("INT", None, None),
    "null of a struct": ("ROW<x INT>", "NULL", None),
    "null of a struct without nulls": ("ROW<x INT NOT NULL>", None, None),
    "null of a variant": ("VARIANT", "NULL", None),
}


def table_of(
    options: Mapping[str, str],
    *,
    columns: Sequence[tuple[str, str]] = COLUMNS,
    key: Sequence[str] = (),
    partition: Sequence[str] = (),
) -> tuple[Table, MemoryFileIO]:
    store = MemoryFileIO()
    catalog = open_catalog(store)
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        schema=schema(columns),
        primary_key=list(key),
        partition_by=list(partition),
        options=dict(options),
    )
    return table, store


def rows(count: int) -> pa.Table:
    ids = range(count)
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "p": [f"p{number % 2}" for number in ids],
            "v": pa.array([None if number % 5 == 4 else 10 * number for number in ids], pa.int32()),
            "c": ["abc"] * count,
        }
    )


def rows_in(table: Table) -> Rows:
    return sorted(table.scan().to_arrow().to_pylist(), key=lambda row: (row["id"], row["p"]))


def made(snapshot: Snapshot | None) -> Snapshot:
    assert snapshot is not None
    assert snapshot.operation is Operation.UPDATE
    return snapshot


@pytest.mark.parametrize("options", APPEND.values(), ids=APPEND)
def test_rows_of_an_append_table_change_in_one_commit(options: dict[str, str]) -> None:
    table, store = table_of(options, partition=["p"])
    for start in (0, 6):
        table.append(rows(6).set_column(0, "id", pa.array(range(start, start + 6), pa.int64())))
    expected = rows_in(table)
    for row in expected:
        if row["id"] in {2, 3, 4}:
            row["v"] = None if row["v"] is None else row["v"] + row["id"]
            row["c"] = row["p"]
    snapshot = made(table.update({"v": "v + id", "c": "p"}, where="id > 1 AND id < 5"))
    assert snapshot.commit_kind is CommitKind.OVERWRITE
    assert snapshot.id == 3
    assert rows_in(table) == expected
    assert unnamed_files(table, store) == set()


def test_files_without_a_matching_row_stay() -> None:
    table, _ = table_of({})
    table.append(rows(4))
    before = live_files(table)
    table.append(rows(9).slice(5))
    table.update({"v": 1}, where="id > 6")
    assert before.keys() < live_files(table).keys()


def test_rows_of_a_rewritten_file_stay_in_their_order() -> None:
    table, _ = table_of({})
    table.append(rows(9))
    table.update({"v": -1}, where="id = 3 OR id = 7")
    assert table.scan().to_arrow()["id"].to_pylist() == list(range(9))


def test_files_stay_where_deletion_vectors_mark_rows() -> None:
    table, _ = table_of(VECTORS)
    table.append(rows(8))
    before = live_files(table)
    table.update({"v": 1}, where="id > 5")
    after = live_files(table)
    assert before.keys() < after.keys()
    assert marked(table) == dict.fromkeys(before, 2)
    table.update({"v": 2}, where="id <= 5")
    assert before.keys().isdisjoint(live_files(table))


@pytest.mark.parametrize("options", APPEND.values(), ids=APPEND)
def test_rows_move_to_the_partition_and_the_bucket_of_their_new_values(
    options: dict[str, str],
) -> None:
    table, store = table_of(options, partition=["p"])
    table.append(rows(6))
    expected = rows_in(table)
    for row in expected[::2]:
        row["id"], row["p"] = row["id"] + 100, "new"
    made(table.update({"p": "'new'", "id": "id + 100"}, where="p = 'p0'"))
    expected.sort(key=lambda row: row["id"])
    assert rows_in(table) == expected
    assert table.scan(where="p = 'new'").count() == 3
    assert [row["id"] for row in rows_in(table) if row["p"] == "p0"] == []
    for row in expected:
        assert table.scan(where=f"id = {row['id']} AND p = '{row['p']}'").count() == 1
    assert unnamed_files(table, store) == set()


def test_a_partition_keeps_its_bucket_count_when_its_rows_stay() -> None:
    table, _ = table_of(APPEND["bucketed"], partition=["p"])
    table.append(rows(6))
    rescaled = replace(
        table, schema=replace(table.schema, options={**table.options, "bucket": "5"})
    )
    made(rescaled.update({"v": 1}, where="id > 1"))
    assert [row["v"] for row in rows_in(table)] == [0, 10, 1, 1, 1, 1]
    with pytest.raises(CommitConflictError, match="2"):
        rescaled.update({"id": 9}, where="id > 1")


@pytest.mark.parametrize("options", KEYED.values(), ids=KEYED)
def test_rows_of_keys_are_upserted(options: dict[str, str]) -> None:
    table, store = table_of(options, key=["id", "p"], partition=["p"])
    table.upsert(rows(8))
    expected = rows_in(table)
    for row in expected:
        if row["v"] is not None and row["v"] >= 30:
            row["v"], row["c"] = row["v"] - 1, "new"
    snapshot = made(table.update({"v": "v - 1", "c": "'new'"}, where="v >= 30"))
    assert snapshot.commit_kind is CommitKind.APPEND
    assert snapshot.delta_record_count == 4
    assert rows_in(table) == expected
    assert unnamed_files(table, store) == set()


def test_changelog_of_the_input_tells_an_update() -> None:
    table, _ = table_of({"bucket": "1", "changelog-producer": "input"}, key=["id"])
    table.upsert(rows(2))
    made(table.update({"v": 7}, where="id = 1"))
    changes = table.scan(incremental=(1, 2), incremental_mode="changelog").to_arrow()
    assert changes.select(["id", "v"]).to_pylist() == [{"id": 1, "v": 7}]


def test_an_update_sees_rows_that_wait_for_a_compaction() -> None:
    options = {"bucket": "1", "write-only": "true", **VECTORS}
    table, _ = table_of(options, key=["id"])
    table.upsert(rows(3))
    table.compact()
    table.upsert(rows(2).set_column(3, "c", pa.array(["wai", "ts"])))
    made(table.update({"v": 7}, where="c = 'ts'"))
    assert table.update({"v": 8}, where="c = 'abc' AND id < 2") is None
    table.compact()
    assert [(row["v"], row["c"]) for row in rows_in(table)] == [(0, "wai"), (7, "ts"), (20, "abc")]


def test_a_key_moves_to_another_partition() -> None:
    table, _ = table_of({}, key=["id"], partition=["p"])
    table.upsert(rows(4))
    made(table.update({"p": "'new'"}, where="id >= 2"))
    assert [row["p"] for row in rows_in(table)] == ["p0", "p1", "new", "new"]


@pytest.mark.parametrize(("kind", "value", "stored"), TYPED.values(), ids=TYPED)
def test_a_value_is_stored_as_its_column_asks(kind: str, value: object, stored: object) -> None:
    table, _ = table_of({}, columns=[("id", "BIGINT NOT NULL"), ("p", "STRING"), ("x", kind)])
    table.append(pa.table({"id": pa.array([1, 2], pa.int64())}))
    table.update({"x": value}, where="id = 1")
    assert [row["x"] for row in rows_in(table)] == [stored, None]


def test_every_value_is_of_the_row_as_it_was() -> None:
    columns = [("id", "BIGINT NOT NULL"), ("p", "STRING"), ("q", "STRING")]
    table, _ = table_of({}, columns=columns)
    table.append(pa.table({"id": [1], "p": ["a"], "q": ["b"]}))
    table.update({"p": "q", "q": "p", "id": "id + 1"})
    assert rows_in(table) == [{"id": 2, "p": "b", "q": "a"}]


def test_a_failing_value_of_a_row_that_does_not_match_is_not_asked_for() -> None:
    table, _ = table_of({})
    table.append(rows(3))
    table.update({"v": "CAST(60 / id AS INT)"}, where="id > 0")
    assert [row["v"] for row in rows_in(table)] == [0, 60, 30]


@pytest.mark.parametrize("options", [*APPEND.values(), {"bucket": "1"}])
def test_no_matching_row_makes_no_snapshot(options: dict[str, str]) -> None:
    is_keyed = options == {"bucket": "1"}
    table, store = table_of(options, key=["id"] if is_keyed else [])
    assert table.update({"v": 1}) is None
    with pytest.raises(InvalidArgumentError, match="'z'"):
        table.update({"v": 1}, where="z = 1")
    table.append(rows(3))
    assert table.update({"v": 1}, where="id = 99") is None
    assert table.update({"v": 1}, where="v IS NULL") is None
    assert len(table.snapshots()) == 1
    assert unnamed_files(table, store) == set()


BAD: dict[str, tuple[Mapping[str, object], str, type[Exception]]] = {
    "nothing": ({}, "update takes new values by column", InvalidArgumentError),
    "an unknown column": ({"x": 1}, "no column 'x'", InvalidArgumentError),
    "another case": ({"V": 1}, "no column 'V'", InvalidArgumentError),
    "no expression": ({"v": "1 +"}, "column 'v'.*line 1, column 4", InvalidArgumentError),
    "an unknown name": ({"v": "z + 1"}, "column 'v'.*'z'", InvalidArgumentError),
    "text for a number": ({"v": "'5'"}, "STRING cannot be stored as INT", InvalidArgumentError),
    "a number for a boolean": ({"v": True}, "cannot be stored as INT", InvalidArgumentError),
    "overflow": ({"v": "v * 1000000000"}, "column 'v'", InvalidArgumentError),
    "a constant too great": ({"v": 1 << 40}, "column 'v'", InvalidArgumentError),
    "a list": ({"v": [1]}, "column 'v'", InvalidArgumentError),
    "no value at all": ({"v": object()}, "column 'v'", InvalidArgumentError),
    "division by zero": ({"v": "CAST(1 / (id - 1) AS INT)"}, "column 'v'", InvalidArgumentError),
    "null": ({"id": None}, "'id' is NOT NULL", InvalidDataError),
    "a null expression": ({"id": "v"}, "'id' is NOT NULL", InvalidDataError),
    "a long text": ({"c": "'long'"}, r"longer than VARCHAR\(3\)", InvalidDataError),
}


@pytest.mark.parametrize("options", [APPEND["unaware"], APPEND["marked"]], ids=["files", "marks"])
@pytest.mark.parametrize(("assigned", "message", "kind"), BAD.values(), ids=BAD)
def test_a_value_that_cannot_be_is_refused_and_nothing_written(
    *,
    assigned: Mapping[str, object],
    message: str,
    kind: type[Exception],
    options: dict[str, str],
) -> None:
    table, store = table_of(options)
    table.append(rows(6))
    with pytest.raises(kind, match=message):
        table.update(assigned)
    assert rows_in(table) == rows(6).to_pylist()
    assert unnamed_files(table, store) == set()


FIXED: dict[str, tuple[dict[str, str], Mapping[str, object], str]] = {
    "a key": ({"bucket": "1"}, {"id": 7}, "'id' is part of the primary key"),
    "first-row": ({"bucket": "1", "merge-engine": "first-row"}, {"v": 7}, "merge-engine=first-row"),
    "aggregation": (
        {"bucket": "1", "merge-engine": "aggregation"},
        {"v": 7},
        "merge-engine=aggregation",
    ),
    "a row kind": ({"bucket": "1", "rowkind.field": "c"}, {"c": "'-D'"}, "says the kinds of rows"),
    "postponed rows": (
        {"bucket": "-2", "postpone.batch-write-fixed-bucket": "false"},
        {"v": 7},
        "wait for their bucket",
    ),
}


@pytest.mark.parametrize(("options", "assigned", "message"), FIXED.values(), ids=FIXED)
def test_what_a_table_with_a_key_would_not_do_is_refused(
    options: dict[str, str], assigned: Mapping[str, object], message: str
) -> None:
    table, _ = table_of(options, key=["id"])
    data = rows(2)
    table.upsert(data.set_column(3, "c", pa.array(["+I", "+I"])))
    with pytest.raises((InvalidArgumentError, UnsupportedError), match=message):
        table.update(assigned)
    assert len(table.snapshots()) == 1 or options.get("merge-engine") == "first-row"


def test_a_partition_column_that_keys_would_not_follow_is_refused() -> None:
    table, _ = table_of({"merge-engine": "partial-update"}, key=["id"], partition=["p"])
    table.upsert(rows(2))
    with pytest.raises(UnsupportedError, match="rows stay in the partition"):
        table.update({"p": "'new'"})


def test_a_value_that_the_merge_engine_would_not_keep_is_refused() -> None:
    table, store = table_of({"bucket": "1", "sequence.field": "v"}, key=["id"])
    table.upsert(rows(4))
    made(table.update({"c": "'new'", "v": "v + 1"}, where="id < 3"))
    with pytest.raises(InvalidDataError, match=r"'v' of the row \{'id': 1\} would be 11.*not 10"):
        table.update({"v": "v - 1"}, where="id > 0")
    assert [row["v"] for row in rows_in(table)] == [1, 11, 21, 30]
    assert unnamed_files(table, store) == set()


def test_null_becomes_the_default_only_where_it_is_assigned() -> None:
    table, _ = table_of({})
    table.append(rows(5))
    fields = [
        replace(field, default_value="7") if field.name == "v" else field
        for field in table.schema.fields
    ]
    changed = replace(table, schema=replace(table.schema, fields=tuple(fields)))
    made(changed.update({"v": None}, where="id = 1"))
    made(changed.update({"c": "'x'"}, where="id >= 3"))
    assert [row["v"] for row in rows_in(table)] == [0, 7, 20, 30, None]


@pytest.mark.parametrize("options", APPEND.values(), ids=APPEND)
def test_of_two_updates_in_one_file_the_second_conflicts(options: dict[str, str]) -> None:
    table, store = table_of(options)
    table.append(rows(1))
    rival = ScriptedFileIO(store, [meanwhile(lambda: table.update({"v": 7}))])
    with pytest.raises(CommitConflictError):
        reopen(table, rival, seed=7).update({"v": 8})
    assert [row["v"] for row in rows_in(table)] == [7]
    assert unnamed_files(table, store) == set()
