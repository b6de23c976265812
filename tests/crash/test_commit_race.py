"""Several processes commit to one table on disk: nothing acknowledged is lost or doubled."""

import multiprocessing
from collections import Counter
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pytest

import lakebed
from lakebed.format.arrow.typing import python_values
from lakebed.format.snapshot import CommitKind
from support.store_listing import data_files, orphans

pytestmark = pytest.mark.long

PROCESSES = 4
COMMITS = 10
TIMEOUT_SECONDS = 120

Results: TypeAlias = "Queue[list[tuple[int, int, int]]]"


def commit_many(location: str, process: int, *, barrier: Barrier, results: Results) -> None:
    """Appends a row a commit, and says which of them were acknowledged."""
    table = lakebed.load_table(location)
    acknowledged = []
    barrier.wait(TIMEOUT_SECONDS)
    for number in range(COMMITS):
        row = {"process": [process], "number": [number]}
        snapshot = table.append(pa.table(row, schema=table.scan().schema))
        assert snapshot is not None
        acknowledged.append((process, number, snapshot.id))
    results.put(acknowledged)


@pytest.mark.parametrize("is_keyed", [True, False], ids=["primary key", "append"])
def test_every_acknowledged_commit_of_every_process_is_there_once(
    tmp_path: Path, *, is_keyed: bool
) -> None:
    catalog = lakebed.load_catalog(warehouse=str(tmp_path))
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        schema=lakebed.schema([("process", "INT"), ("number", "INT")]),
        primary_key=["process", "number"] if is_keyed else [],
        options={"bucket": 1 if is_keyed else -1, "commit.max-retries": 1000},
    )
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(PROCESSES), context.Queue()
    processes = [
        context.Process(
            target=commit_many,
            args=(table.location, number),
            kwargs={"barrier": barrier, "results": results},
            daemon=True,
        )
        for number in range(PROCESSES)
    ]
    for process in processes:
        process.start()
    acknowledged = [each for _ in processes for each in results.get(timeout=TIMEOUT_SECONDS)]
    for process in processes:
        process.join(TIMEOUT_SECONDS)
        assert process.exitcode == 0

    count = PROCESSES * COMMITS
    assert len(acknowledged) == count
    snapshots = list(table.snapshots())
    assert [each.id for each in snapshots] == list(range(1, len(snapshots) + 1))
    # Compactions of the processes stand between their commits.
    of_rows = [each.id for each in snapshots if each.commit_kind is not CommitKind.COMPACT]
    assert sorted(snapshot_id for _, _, snapshot_id in acknowledged) == of_rows
    rows = table.scan().to_arrow()
    found = Counter(zip(rows["process"].to_pylist(), rows["number"].to_pylist(), strict=True))
    assert found == Counter((process, number) for process, number, _ in acknowledged)
    for process, number, snapshot_id in acknowledged[:: count // 6]:
        then = table.scan(snapshot_id=snapshot_id, where=f"process = {process}").to_arrow()
        assert sorted(python_values(then["number"])) == list(range(number + 1))
        assert table.scan(snapshot_id=snapshot_id).count() == of_rows.index(snapshot_id) + 1
    assert orphans(table, table.file_io) == set()
    written = sum(each.commit_kind is CommitKind.COMPACT for each in snapshots) + count
    assert len(data_files(table.file_io, table.location)) == written
