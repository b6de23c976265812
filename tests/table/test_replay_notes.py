"""A stream's commit is made once, also where its snapshot has expired since."""

import pyarrow as pa
import pytest

from lakebed.errors import CommitUnknownError, CorruptTableError, StorageError
from lakebed.format.paths import TablePaths
from lakebed.format.schema_definition import schema
from lakebed.format.snapshot import Snapshot
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.compaction import after_write
from lakebed.table.metadata.replay_notes import ReplayNotes
from lakebed.table.table import Table
from support.effects import open_catalog, reopen
from support.faulty_file_io import FaultyFileIO
from support.store_listing import data_files


@pytest.fixture
def table() -> Table:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    return catalog.create_table("db.t", schema=schema([("k", "INT")]))


def notes(table: Table) -> ReplayNotes:
    return ReplayNotes(table.file_io, TablePaths(table.location), "lakebed-a/b")


def others_commit(table: Table) -> None:
    """Others commit so much that everything before expires."""
    for _ in range(3):
        table.append(pa.table({"k": pa.array([1], pa.int32())}))
    table.expire_snapshots(retain_max=1, retain_min=1)


def test_what_was_never_tried_was_not_made(table: Table) -> None:
    others_commit(table)
    assert not notes(table).has_committed(0)
    notes(table).begin(0)
    notes(table).end(0)
    assert not notes(table).has_committed(1)


def test_what_was_done_is_known_after_its_snapshot_expired(table: Table) -> None:
    notes(table).begin(7)
    others_commit(table)
    notes(table).end(7)
    others_commit(table)
    assert notes(table).has_committed(7)
    assert notes(table).has_committed(6)


def test_what_was_tried_was_not_made_where_every_snapshot_since_is_there(table: Table) -> None:
    others_commit(table)
    notes(table).begin(7)
    table.append(pa.table({"k": pa.array([1], pa.int32())}))
    assert not notes(table).has_committed(7)


def test_what_was_tried_is_unknown_where_snapshots_since_have_expired(table: Table) -> None:
    notes(table).begin(7)
    others_commit(table)
    with pytest.raises(CommitUnknownError, match="commit 7 of lakebed-a/b was tried after"):
        notes(table).has_committed(7)


def test_notes_survive_orphan_cleaning_and_disturb_no_check(table: Table) -> None:
    notes(table).begin(7)
    notes(table).end(7)
    others_commit(table)
    table.remove_orphan_files(older_than=table.session.effects.clock())
    assert notes(table).has_committed(7)
    assert table.check().is_clean


def test_a_note_that_is_none_is_named(table: Table) -> None:
    notes(table).begin(7)
    (path,) = [
        status.path
        for status in table.file_io.list(f"{table.location}/snapshot")
        if status.name.startswith(".lakebed-stream-")
    ]
    table.file_io.write(path, b'{"identifier": "x"}')
    with pytest.raises(CorruptTableError, match="is no note of a commit"):
        notes(table).has_committed(7)


def test_a_replay_compacts_what_a_writer_left_that_died_after_its_commit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        schema=schema([("k", "INT NOT NULL")]),
        primary_key=["k"],
        options={"bucket": 1, "changelog-producer": "lookup"},
    )

    def write() -> None:
        with table.writer(user="job", identifier=1) as writer:
            writer.upsert(pa.table({"k": pa.array([1], pa.int32())}))

    with monkeypatch.context() as patched:
        patched.setattr(after_write, "compact_written", lambda *_args: None)
        write()
    assert list(table.stream(from_snapshot=1, until="latest")) == []
    write()
    (batch,) = table.stream(from_snapshot=1, until="latest")
    assert batch.to_pylist() == [{"k": 1, "_row_kind": "+I"}]


def write(table: Table, identifier: int) -> Snapshot | None:
    with table.writer(user="job", identifier=identifier) as writer:
        writer.append(pa.table({"k": pa.array([10 * identifier], pa.int32())}))
    return writer.snapshot


def test_a_writer_that_is_run_again_after_its_snapshot_expired_writes_nothing(table: Table) -> None:
    assert write(table, 1) is not None
    others_commit(table)
    before = data_files(table.file_io, table.location)
    assert write(table, 1) is None
    assert data_files(table.file_io, table.location) == before
    assert write(table, 2) is not None
    assert table.scan().to_arrow().sort_by("k")["k"].to_pylist() == [1, 1, 1, 10, 20]


def test_a_writer_of_which_nobody_knows_whether_it_committed_says_so_and_leaves_no_file(
    table: Table,
) -> None:
    ReplayNotes(table.file_io, TablePaths(table.location), "job").begin(1)
    others_commit(table)
    before = data_files(table.file_io, table.location)
    with pytest.raises(CommitUnknownError, match="nobody knows"):
        write(table, 1)
    assert data_files(table.file_io, table.location) == before


def test_a_writer_whose_commit_cannot_be_noted_has_committed_all_the_same(table: Table) -> None:
    class Forgetful(FaultyFileIO):
        def write(self, path: str, data: bytes) -> None:
            if ".lakebed-stream-" in path and b"done" in data:
                raise StorageError(path, "cannot write", retryable=True)
            super().write(path, data)

    forgetful = reopen(table, Forgetful(table.file_io, 0), seed=3)
    assert write(forgetful, 1) is not None
    assert write(table, 1) is None
    assert table.scan().to_arrow()["k"].to_pylist() == [10]
