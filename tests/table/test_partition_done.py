"""Partitions are marked as done: where, since when, and what a fault leaves of it."""

import json
from collections.abc import Callable

import pytest

from lakebed.errors import CorruptTableError, InvalidArgumentError, StorageError, UnsupportedError
from lakebed.format.schema_definition import schema
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.table import Table
from support.effects import EPOCH_MS, open_catalog, reopen
from support.faulty_file_io import FaultMode, FaultyFileIO
from support.store_listing import list_files
from support.table_builder import Shape, build_table

COLUMNS = [("id", "BIGINT"), ("dt", "STRING"), ("day", "DATE")]


def partitioned(options: dict[str, str] | None = None) -> Table:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    return catalog.create_table(
        "db.t", schema=schema(COLUMNS), partition_by=["dt", "day"], options=options or {}
    )


def at(moment: int) -> Callable[[], int]:
    return lambda: moment


def marked(table: Table) -> list[str]:
    """The directories that have a mark."""
    return sorted(
        path.removeprefix(f"{table.location}/").removesuffix("/_SUCCESS")
        for path in list_files(table.file_io, table.location)
        if path.endswith("/_SUCCESS")
    )


@pytest.mark.parametrize(
    ("partitions", "paths"),
    [
        ("dt=a", ["dt=a"]),
        ("dt=a;dt=b", ["dt=a", "dt=b"]),
        ([{"dt": "a b/c"}, {"dt": "b"}], ["dt=a b%2Fc", "dt=b"]),
        ({"dt": "a", "day": "1970-01-03"}, ["dt=a/day=2"]),
        ("day=1970-01-03,dt='a='", ["dt=a%3D/day=2"]),
        ("dt=__DEFAULT_PARTITION__", ["dt=__DEFAULT_PARTITION__"]),
    ],
)
def test_the_mark_lies_in_the_directory_of_the_partition(
    partitions: object, paths: list[str]
) -> None:
    table = partitioned()
    table.mark_partition_done(partitions)  # type: ignore[arg-type]
    assert marked(table) == paths


def test_the_mark_says_when_the_partition_was_first_done_and_when_last() -> None:
    table = partitioned()
    for moment in (EPOCH_MS, EPOCH_MS + 5):
        reopen(table, table.file_io, clock=at(moment)).mark_partition_done("dt=a")
    data = table.file_io.read(f"{table.location}/dt=a/_SUCCESS")
    assert json.loads(data) == {"creationTime": EPOCH_MS, "modificationTime": EPOCH_MS + 5}
    assert data.startswith(b'{\n  "creationTime" : ')


@pytest.mark.parametrize(
    ("partitions", "message"),
    [
        ("", "names no partition"),
        ({}, "named by the first of its columns, dt, day, or by all"),
        ({"day": "1970-01-03"}, "named by the first of its columns"),
        ("hour=7", "no partition column"),
        ("dt=a,day=soon", "'soon' is no date32"),
        ("dt=a;b", "'b' is no name=value"),
    ],
)
def test_what_names_no_partition_is_refused_and_nothing_marked(
    partitions: object, message: str
) -> None:
    table = partitioned()
    with pytest.raises(InvalidArgumentError, match=message):
        table.mark_partition_done(partitions)  # type: ignore[arg-type]
    assert marked(table) == []


def test_other_actions_are_refused_when_asked_for_and_left_to_other_engines() -> None:
    wanted = {"partition.mark-done-action": "success-file,mark-event"}
    with pytest.raises(UnsupportedError, match=r"partition\.mark-done-action"):
        partitioned(wanted)
    table = partitioned()
    parts = table.parts()
    foreign = json.loads(table.file_io.read(parts.paths.schema(0)))
    foreign["options"] |= wanted
    table.file_io.write(parts.paths.schema(0), json.dumps(foreign).encode())
    catalog = open_catalog(table.file_io)
    with pytest.raises(UnsupportedError, match="names 'mark-event'"):
        catalog.load_table("db.t").mark_partition_done("dt=a")
    assert marked(table) == []


def test_a_mark_that_cannot_be_read_stays_as_it_is() -> None:
    table = partitioned()
    path = f"{table.location}/dt=a/_SUCCESS"
    table.file_io.write(path, b'{"creationTime": "soon"}')
    with pytest.raises(CorruptTableError, match="'soon', not epoch milliseconds"):
        table.mark_partition_done("dt=a")
    assert table.file_io.read(path) == b'{"creationTime": "soon"}'


@pytest.mark.parametrize("mode", ["before", "after"])
def test_what_a_fault_leaves_is_whole_and_marked_again(mode: FaultMode) -> None:
    texts = "dt=a;dt=b;dt=c"
    ended = False
    for fail_at in range(1, 9):
        table = partitioned()
        table.mark_partition_done("dt=b")
        faulty = FaultyFileIO(table.file_io, fail_at, mode, counts_reads=True, stays_down=True)
        broken = reopen(table, faulty)
        try:
            broken.mark_partition_done(texts)
        except StorageError:
            assert faulty.has_failed
        for path in marked(table):
            times = json.loads(table.file_io.read(f"{table.location}/{path}/_SUCCESS"))
            assert times.keys() == {"creationTime", "modificationTime"}
        table.mark_partition_done(texts)
        assert marked(table) == ["dt=a", "dt=b", "dt=c"]
        ended = not faulty.has_failed
    assert ended


@pytest.mark.parametrize("marks", [True, False])
def test_a_batch_marks_the_partitions_that_it_wrote_where_the_table_says_so(*, marks: bool) -> None:
    shape = Shape(buckets=1, is_partitioned=True)
    options = {"partition.end-input-to-done": str(marks).lower()}
    built = build_table(shape.with_options(options))
    rows = [built.shape.row(number, 0) for number in (0, 1)]
    built.table.append(built.arrow(rows))
    assert marked(built.table) == (sorted({f"dt={row['dt']}" for row in rows}) if marks else [])
    built.table.delete("id = 0")
    built.table.truncate()
    assert len(marked(built.table)) == (2 if marks else 0)
