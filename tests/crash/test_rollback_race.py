"""Threads append while another one rolls back: what is left is one whole history."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

import lakebed
from lakebed.errors import CommitConflictError, CommitUnknownError, NotFoundError
from lakebed.format.arrow.typing import python_values
from lakebed.table.table import Table
from support.needed_files import lacking_and_unneeded

pytestmark = pytest.mark.long

WRITERS = 3
COMMITS = 10
ROLLBACKS = 8
TIMEOUT_SECONDS = 300

Pair = tuple[int, int]


def append(table: Table, writer: int, number: int) -> Pair:
    rows = pa.table({"writer": [writer], "number": [number]}, schema=table.scan().schema)
    while True:
        try:
            assert table.append(rows) is not None
        except CommitConflictError as error:
            if not error.was_visible:
                raise
            # A rollback took it away: the rows are written again.
        except CommitUnknownError:
            # Rolled back before it was seen to stand; written again, the rows may be there twice.
            assert number < COMMITS, "nobody rolls back any more"
            return writer, number
        else:
            return writer, number


def append_all(table: Table, writer: int, *, is_over: threading.Event) -> list[Pair]:
    """The last row is appended when nobody rolls back any more."""
    written = [append(table, writer, number) for number in range(COMMITS)]
    assert is_over.wait(TIMEOUT_SECONDS)
    return [*written, append(table, writer, COMMITS)]


def roll_back(table: Table, *, is_over: threading.Event) -> int:
    """How often it could."""
    count = 0
    try:
        for _ in range(ROLLBACKS):
            latest = table.latest_snapshot()
            if latest is not None and latest.id > 2:
                try:
                    table.rollback(snapshot=latest.id - 2)
                    count += 1
                except (CommitConflictError, NotFoundError):
                    continue
    finally:
        is_over.set()
    return count


@pytest.mark.parametrize("is_keyed", [True, False], ids=["primary key", "append"])
def test_appends_and_rollbacks_leave_one_whole_history(tmp_path: Path, *, is_keyed: bool) -> None:
    catalog = lakebed.load_catalog(warehouse=str(tmp_path))
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        schema=lakebed.schema([("writer", "INT"), ("number", "INT")]),
        primary_key=["writer", "number"] if is_keyed else [],
        options={"bucket": 1 if is_keyed else -1, "commit.max-retries": 1000},
    )
    for number in range(4):
        append(table, -1, number)
    is_over = threading.Event()
    with ThreadPoolExecutor(WRITERS + 1) as pool:
        writers = [pool.submit(append_all, table, each, is_over=is_over) for each in range(WRITERS)]
        assert pool.submit(roll_back, table, is_over=is_over).result() > 0
        written = {pair for each in writers for pair in each.result()}

    snapshots = table.snapshots()
    assert [each.id for each in snapshots] == list(range(1, len(snapshots) + 1))
    assert lacking_and_unneeded(table)[0] == set()
    written |= {(-1, number) for number in range(4)}
    found: Counter[Pair] = Counter()
    for snapshot in snapshots:
        rows = table.scan(snapshot_id=snapshot.id).to_arrow()
        found = Counter(
            zip(*(python_values(rows[each]) for each in ("writer", "number")), strict=True)
        )
        assert max(found.values()) == 1
        assert found.keys() <= written
    assert {(each, COMMITS) for each in range(WRITERS)} <= found.keys()
