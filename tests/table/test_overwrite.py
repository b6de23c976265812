"""Which rows, files and indexes an overwrite takes away, and what it makes of bucket counts."""

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pytest

import lakebed
from lakebed.errors import InvalidArgumentError, InvalidDataError
from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.snapshot import CommitKind
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.table import Table
from support.effects import open_catalog, reopen
from support.index_files import unnamed_files, write_with_indexes
from support.scripted_file_io import ScriptedFileIO, meanwhile
from support.table_builder import Shape, build_table, sorted_rows

Rows = list[tuple[str | None, int, int]]

START: Rows = [("a", 1, 0), ("a", 2, 0), ("b", 1, 0), ("b", 2, 0), (None, 1, 0)]


def table_of(options: Mapping[str, str] | None = None, rows: Rows = START) -> Table:
    """Rows of (dt, hour, v), partitioned by the first two."""
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        schema=lakebed.schema([("dt", "STRING"), ("hour", "INT"), ("v", "INT")]),
        partition_by=["dt", "hour"],
        options={"bucket": "-1", **(options or {})},
    )
    table.append(arrow(table, rows))
    return table


def arrow(table: Table, rows: Rows) -> pa.Table:
    names = table.schema.names
    return pa.Table.from_pylist(
        [dict(zip(names, row, strict=True)) for row in rows],
        schema=to_arrow_schema(table.schema.fields),
    )


def rows_of(table: Table) -> list[tuple[object, ...]]:
    found = table.scan().to_arrow().to_pylist()
    return sorted((tuple(row.values()) for row in found), key=repr)


def but(*gone: int, new: Rows | None = None) -> list[tuple[object, ...]]:
    """The first rows, less those at some positions, and new ones."""
    kept = [row for at, row in enumerate(START) if at not in gone]
    return sorted([*kept, *(new or [])], key=repr)


NEW: Rows = [("a", 1, 9)]
YES, NO = {"dynamic-partition-overwrite": "true"}, {"dynamic-partition-overwrite": "false"}


@pytest.mark.parametrize(
    ("partition", "options", "gone"),
    [
        (None, None, (0, 1, 2, 3, 4)),
        (None, NO, (0, 1, 2, 3, 4)),
        (None, YES, (0,)),
        ("dynamic", None, (0,)),
        ("dynamic", NO, (0,)),
        ({"dt": "a"}, None, (0, 1)),
        ({"dt": "a"}, NO, (0, 1)),
        ({"dt": "a"}, YES, (0,)),
        ({"hour": 1}, None, (0, 2, 4)),
        ({"hour": "1", "dt": "a"}, None, (0,)),
    ],
    ids=str,
)
def test_an_overwrite_replaces_the_partitions_it_names_or_finds(
    partition: Mapping[str, object] | None,
    options: Mapping[str, str] | None,
    gone: Sequence[int],
) -> None:
    table = table_of(options)
    snapshot = table.overwrite(arrow(table, NEW), partition)
    assert rows_of(table) == but(*gone, new=NEW)
    assert snapshot is not None
    assert (snapshot.commit_kind, snapshot.operation) == (CommitKind.OVERWRITE, "OVERWRITE")
    assert snapshot.delta_record_count == 1 - len(gone)


@pytest.mark.parametrize("options", [None, YES], ids=str)
def test_rows_outside_the_partition_leave_nothing(options: Mapping[str, str] | None) -> None:
    table = table_of(options)
    with pytest.raises(InvalidDataError, match="outside the partition"):
        table.overwrite(arrow(table, [*NEW, ("b", 1, 9)]), {"dt": "a"})
    assert rows_of(table) == but()
    assert unnamed_files(table, table.file_io) == set()


@pytest.mark.parametrize(
    ("specs", "gone"),
    [
        ([{"dt": "a"}], (0, 1)),
        ([{"dt": None}], (4,)),
        ([{"hour": 2}], (1, 3)),
        ([{"dt": "a", "hour": 1}, {"dt": "b", "hour": "2"}], (0, 3)),
        ([{"dt": "a"}, {"hour": 2}, {"dt": "no", "hour": 7}], (0, 1, 3)),
    ],
    ids=str,
)
def test_partitions_are_dropped_in_one_commit(
    specs: Sequence[Mapping[str, object]], gone: Sequence[int]
) -> None:
    table = table_of()
    snapshot = table.drop_partitions(specs)
    assert rows_of(table) == but(*gone)
    assert snapshot is not None
    assert snapshot.id == 2
    assert (snapshot.commit_kind, snapshot.operation) == (CommitKind.OVERWRITE, "TRUNCATE")
    assert snapshot.delta_record_count == -len(gone)


def test_a_partition_that_is_not_there_is_dropped_without_a_snapshot() -> None:
    table = table_of()
    assert table.drop_partitions([{"dt": "no"}, {"dt": "a", "hour": 9}]) is None
    assert table.truncate({"dt": "no"}) is None
    assert len(table.snapshots()) == 1


@pytest.mark.parametrize(
    ("specs", "message"),
    [
        ([], "named by values of partition columns"),
        ([{"dt": "a"}, {}], "truncate deletes all rows"),
        ([{"v": 1}], "'v' is no partition column; the partition columns are: dt, hour"),
        ([{"hour": "noon"}], "partition column 'hour': 'noon' is no int32"),
    ],
)
def test_partitions_that_cannot_be_are_refused_before_anything(
    specs: Sequence[Mapping[str, object]], message: str
) -> None:
    table = table_of()
    with pytest.raises(InvalidArgumentError, match=message):
        table.drop_partitions(specs)
    assert rows_of(table) == but()


def test_truncate_takes_a_partition_or_all() -> None:
    table = table_of()
    table.truncate({"hour": 2})
    assert rows_of(table) == but(1, 3)
    table.truncate()
    assert rows_of(table) == []


@pytest.mark.parametrize("act", ["overwrite", "drop", "truncate"])
def test_an_overwrite_takes_the_index_files_of_its_partitions_and_no_others(act: str) -> None:
    built = build_table(Shape(buckets=2, is_partitioned=True))
    table = built.table
    first = built.arrow([built.shape.row(number, 0) for number in range(9)])
    write_with_indexes(table, first)
    parts = table.parts()
    dt = built.shape.row(0, 0)["dt"]

    def places() -> set[tuple[bytes, int]]:
        snapshot = table.latest_snapshot()
        entries = parts.manifests.index_files(snapshot)
        return {(entry.partition, entry.bucket) for entry in entries}

    before = places()
    match act:
        case "overwrite":
            table.overwrite(built.arrow([built.shape.row(3, 1)]), "dynamic")
        case "drop":
            table.drop_partitions([{"dt": dt}])
        case _:
            table.truncate()
    gone = before - places()
    if act == "truncate":
        assert gone == before
        return
    assert len({partition for partition, _ in gone}) == 1
    assert {partition for partition, _ in gone}.isdisjoint(p for p, _ in places())
    kept = [row for row in first.to_pylist() if row["dt"] != dt]
    new = [built.shape.row(3, 1)] if act == "overwrite" else []
    assert sorted_rows(table.scan().to_arrow()) == sorted_rows([*kept, *new])


def test_an_overwrite_also_takes_index_files_that_came_while_it_ran() -> None:
    built = build_table(Shape(buckets=1))
    write_with_indexes(built.table, built.arrow([built.shape.row(1, 0)]))
    others = [
        meanwhile(lambda: write_with_indexes(built.table, built.arrow([built.shape.row(2, 0)])))
    ]
    table = reopen(built.table, ScriptedFileIO(built.file_io, others), seed=7)
    table.overwrite(built.arrow([built.shape.row(3, 0)]))
    parts = built.table.parts()
    assert parts.manifests.index_files(built.table.latest_snapshot()) == []
    assert built.table.scan().to_arrow().to_pylist() == [built.shape.row(3, 0)]
    assert unnamed_files(built.table, built.file_io) == set()


def test_an_overwrite_commits_no_changelog_and_leaves_no_changelog_file() -> None:
    built = build_table(Shape(buckets=2).with_options({"changelog-producer": "input"}))
    rows = built.arrow([built.shape.row(number, 0) for number in range(4)])
    built.table.append(rows)
    snapshot = built.table.overwrite(rows)
    first = built.table.snapshots()[0]
    assert first.changelog_record_count == 4
    assert snapshot is not None
    assert snapshot.changelog_manifest_list is None
    assert unnamed_files(built.table, built.file_io) == set()
