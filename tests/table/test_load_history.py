"""Which files a table knows as loaded, and what is made of loads that died."""

import json

import pyarrow as pa
import pytest

from lakebed.errors import CommitUnknownError, CorruptTableError
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.branches import branch_table
from lakebed.table.load_history import KnownFile, LoadHistory
from lakebed.table.table import Table
from support.effects import open_catalog

ROWS = pa.table({"id": [1, 2, 3]})
FILE = KnownFile(path="file:/in/a.csv", size_bytes=9, modified_ms=1000)
# As Paimon's Spark connector writes it, under the name that it gives it.
RECORD = (
    b'{"filePath":"file:/in/a.csv","fileSize":9,"lastModified":1000,"loadedAt":1767225600123,'
    b'"snapshotId":7,"rowsLoaded":3}'
)
RECORD_NAME = "load-43468cde5335fbea-1767225600123"


class Killed(BaseException):
    """The process is gone."""


@pytest.fixture
def table() -> Table:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    return catalog.create_table("db.t", schema=ROWS.schema, options={"bucket": -1})


def load(table: Table, *, dies: str = "") -> None:
    with LoadHistory(table.parts()).loading([(FILE, 3)]) as going:
        if dies == "before":
            raise Killed
        with table.writer(user=going.user) as writer:
            writer.append(ROWS)
        if dies == "after":
            raise Killed
        going.snapshot = writer.snapshot


def names(table: Table, directory: str) -> list[str]:
    return [each.name for each in table.file_io.list(f"{table.location}/copy-into/{directory}")]


def test_a_record_of_the_real_connector_is_known_and_ours_is_the_same(table: Table) -> None:
    path = f"{table.location}/copy-into/history/{RECORD_NAME}"
    table.file_io.write(path, RECORD)
    assert LoadHistory(table.parts()).loaded([FILE]) == {FILE.path}
    table.file_io.delete(path)
    load(table)
    (name,) = names(table, "history")
    data = table.file_io.read(f"{table.location}/copy-into/history/{name}")
    members = json.loads(data)
    loaded_at = members["loadedAt"]
    assert name == RECORD_NAME.replace("1767225600123", str(loaded_at))
    wanted = RECORD.replace(b"1767225600123", str(loaded_at).encode())
    assert data == wanted.replace(b'"snapshotId":7', b'"snapshotId":1')


def test_a_file_that_was_changed_is_another(table: Table) -> None:
    load(table)
    other_size = KnownFile(path=FILE.path, size_bytes=10, modified_ms=1000)
    other_time = KnownFile(path=FILE.path, size_bytes=9, modified_ms=1001)
    other_path = KnownFile(path="file:/in/b.csv", size_bytes=9, modified_ms=1000)
    history = LoadHistory(table.parts())
    assert history.loaded([other_size, other_time, other_path]) == set()


@pytest.mark.parametrize(("dies", "rows"), [("before", 0), ("after", 3)])
def test_a_load_that_died_is_loaded_just_where_its_rows_are(
    table: Table, dies: str, rows: int
) -> None:
    with pytest.raises(Killed):
        load(table, dies=dies)
    assert names(table, "history") == []
    history = LoadHistory(table.parts())
    history.settle()
    assert table.scan().count() == rows
    assert history.loaded([FILE]) == ({FILE.path} if rows else set())
    assert names(table, "lakebed-pending") == []


@pytest.mark.parametrize("is_wrapped", [False, True])
def test_a_load_whose_commit_nobody_knows_of_is_looked_for_by_the_next(
    table: Table, *, is_wrapped: bool
) -> None:
    history = LoadHistory(table.parts())
    unknown, other = CommitUnknownError("no answer"), ValueError()
    raised, cause = (other, unknown) if is_wrapped else (unknown, other)
    with pytest.raises(type(raised)), history.loading([(FILE, 3)]) as going:
        raise raised from cause
    with table.writer(user=going.user) as writer:
        writer.append(ROWS)
    history.settle()
    assert history.loaded([FILE]) == {FILE.path}


def test_the_rows_of_one_load_are_not_taken_for_those_of_another_that_died(table: Table) -> None:
    with pytest.raises(Killed):
        load(table, dies="before")
    other = KnownFile(path="file:/in/b.csv", size_bytes=9, modified_ms=1000)
    history = LoadHistory(table.parts())
    with history.loading([(other, 3)]) as going, table.writer(user=going.user) as writer:
        writer.append(ROWS)
    history.settle()
    assert history.loaded([FILE, other]) == {other.path}


def test_a_load_that_failed_before_its_commit_leaves_nothing(table: Table) -> None:
    history = LoadHistory(table.parts())
    with pytest.raises(ValueError, match="bad"), history.loading([(FILE, 3)]):
        raise ValueError("bad")
    assert (names(table, "history"), names(table, "lakebed-pending")) == ([], [])


def test_a_load_that_died_is_looked_for_in_the_branch_that_it_went_to(table: Table) -> None:
    table.append(ROWS)
    table.create_branch("b")
    with pytest.raises(Killed):
        load(branch_table(table, "b"), dies="after")
    LoadHistory(table.parts()).settle()
    assert LoadHistory(table.parts()).loaded([FILE]) == {FILE.path}


def test_a_load_that_died_before_its_snapshot_expired_is_an_error_that_names_it(
    table: Table,
) -> None:
    with pytest.raises(Killed):
        load(table, dies="after")
    for _ in range(3):
        table.append(ROWS)
    table.expire_snapshots(retain_max=1, retain_min=1, older_than=2**62)
    (pending,) = names(table, "lakebed-pending")
    with pytest.raises(CommitUnknownError, match=f"{pending}.*1 files, file:/in/a.csv"):
        LoadHistory(table.parts()).settle()


def test_a_record_that_says_nothing_is_an_error_that_names_it(table: Table) -> None:
    path = f"{table.location}/copy-into/history/{RECORD_NAME}"
    table.file_io.write(path, b'{"filePath":"file:/in/a.csv"}')
    with pytest.raises(CorruptTableError, match=RECORD_NAME):
        LoadHistory(table.parts()).loaded([FILE])
