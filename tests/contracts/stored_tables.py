"""What tables must do on every store: a store's tests subclass `StoredTables` and get each test.

class TestTablesOnHdfs(StoredTables):
    @pytest.fixture
    def warehouse(self) -> str: ...
    @pytest.fixture
    def options(self) -> dict[str, str]: ...
"""

import multiprocessing
from collections.abc import Mapping
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from typing import TypeAlias

import pyarrow as pa
import pytest

import lakebed
from lakebed.errors import NotFoundError
from lakebed.format.arrow.typing import python_values
from lakebed.table.table import Table
from support.needed_files import lacking_and_unneeded

PROCESSES = 2
COMMITS = 8
TIMEOUT_SECONDS = 120

Results: TypeAlias = "Queue[list[tuple[int, int]]]"


def rows_of(table: Table, **moment: int) -> list[tuple[int, str]]:
    """The rows of a table with the columns `id` and `note`, by their ids."""
    found = table.scan(**moment).to_arrow()  # type: ignore[arg-type]
    return sorted(zip(python_values(found["id"]), python_values(found["note"]), strict=True))


def frame(table: Table, rows: Mapping[int, str]) -> pa.Table:
    """Rows to write into such a table."""
    columns = {"id": list(rows), "note": list(rows.values())}
    return pa.table(columns, schema=table.scan().schema)


def append_many(
    location: str, options: Mapping[str, str], *, process: int, barrier: Barrier, results: Results
) -> None:
    """Appends a row a commit, and tells which of them were acknowledged."""
    table = lakebed.load_table(location, options)
    acknowledged = []
    barrier.wait(TIMEOUT_SECONDS)
    for number in range(COMMITS):
        identity = process * COMMITS + number
        snapshot = table.append(frame(table, {identity: f"by {process}"}))
        assert snapshot is not None
        acknowledged.append((identity, snapshot.id))
    results.put(acknowledged)


class StoredTables:
    """A table's life, and two processes that commit to one."""

    @pytest.fixture
    def warehouse(self) -> str:
        raise NotImplementedError("the store's test class gives a directory, which may be missing")

    @pytest.fixture
    def options(self) -> dict[str, str]:
        raise NotImplementedError("the store's test class gives the options of a catalog")

    def test_a_table_lives_from_its_creation_to_its_drop(
        self, warehouse: str, options: dict[str, str]
    ) -> None:
        catalog = lakebed.load_catalog(options, warehouse=warehouse)
        catalog.create_database("db")
        table = catalog.create_table(
            "db.t",
            schema=lakebed.schema([("id", "BIGINT NOT NULL"), ("note", "STRING")]),
            primary_key=["id"],
            options={"bucket": 2, "write-only": True},
        )
        table.upsert(frame(table, dict.fromkeys(range(50), "old")))
        table.upsert(frame(table, dict.fromkeys(range(25, 75), "new")))
        table.delete(where="id >= 70")
        expected = [(number, "old") for number in range(25)]
        expected += [(number, "new") for number in range(25, 70)]
        assert rows_of(table) == expected
        assert rows_of(table, snapshot_id=1) == [(number, "old") for number in range(50)]

        table.compact()
        assert table.expire_snapshots(retain_max=1, retain_min=1) == 3
        again = lakebed.load_catalog(options, warehouse=warehouse).load_table("db.t")
        assert rows_of(again) == expected
        assert lacking_and_unneeded(again) == (set(), set())

        catalog.rename_table("db.t", "db.renamed")
        assert rows_of(catalog.load_table("db.renamed")) == expected
        assert catalog.list_tables("db") == ["renamed"]
        catalog.drop_table("db.renamed")
        assert catalog.list_tables("db") == []
        with pytest.raises(NotFoundError):
            catalog.load_table("db.renamed")

    def test_rows_that_two_processes_append_at_once_are_all_there(
        self, warehouse: str, options: dict[str, str]
    ) -> None:
        catalog = lakebed.load_catalog(options, warehouse=warehouse)
        catalog.create_database("db")
        table = catalog.create_table(
            "db.t",
            schema=lakebed.schema([("id", "BIGINT"), ("note", "STRING")]),
            options={"bucket": -1, "commit.max-retries": 1000},
        )
        context = multiprocessing.get_context("spawn")
        barrier, results = context.Barrier(PROCESSES), context.Queue()
        processes = [
            context.Process(
                target=append_many,
                args=(table.location, options),
                kwargs={"process": process, "barrier": barrier, "results": results},
                daemon=True,
            )
            for process in range(PROCESSES)
        ]
        for process in processes:
            process.start()
        acknowledged = [each for _ in processes for each in results.get(timeout=TIMEOUT_SECONDS)]
        for process in processes:
            process.join(TIMEOUT_SECONDS)
            assert process.exitcode == 0
        assert len({snapshot_id for _, snapshot_id in acknowledged}) == PROCESSES * COMMITS
        assert [identity for identity, _ in rows_of(table)] == list(range(PROCESSES * COMMITS))
        for identity, snapshot_id in acknowledged[::5]:
            assert identity in dict(rows_of(table, snapshot_id=snapshot_id))
