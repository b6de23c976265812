"""A store that fails at the n-th call of a load of files.

What must hold whatever fails: once the load was tried again, its rows are there once, and its files
are known as loaded.
"""

from collections.abc import Iterator
from typing import get_args

import pyarrow as pa
import pytest

from lakebed.catalog.catalog import Catalog
from lakebed.errors import CommitConflictError, CommitUnknownError, StorageError
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.load_history import KnownFile, LoadHistory
from support.effects import open_catalog
from support.faulty_file_io import FaultMode, FaultyFileIO, calls_to_fail
from support.store_listing import read_store

ROWS = pa.table({"id": [1, 2, 3]})
FILES = [
    KnownFile(path=f"file:/in/{name}.csv", size_bytes=9, modified_ms=1000) for name in ("a", "b")
]


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    file_io = MemoryFileIO()
    catalog = open_catalog(file_io)
    catalog.create_database("db")
    table = catalog.create_table("db.t", schema=ROWS.schema, options={"bucket": -1})
    table.append(ROWS)
    return read_store(file_io, "memory:/")


def load_files(catalog: Catalog) -> None:
    """What COPY INTO does, without Spark."""
    table = catalog.load_table("db.t")
    history = LoadHistory(table.parts())
    history.settle()
    loaded = history.loaded(FILES)
    new = [each for each in FILES if each.path not in loaded]
    if new:
        with history.loading([(each, 3) for each in new]) as load:
            with table.writer(user=load.user) as writer:
                for _ in new:
                    writer.append(ROWS)
            load.snapshot = writer.snapshot


def runs(
    files: dict[str, bytes], *, mode: FaultMode, stays_down: bool
) -> Iterator[tuple[Catalog, str]]:
    for fail_at in calls_to_fail():
        store = MemoryFileIO()
        for path, data in files.items():
            store.write(path, data)
        faulty = FaultyFileIO(store, fail_at, mode, counts_reads=True, stays_down=stays_down)
        error: Exception | None = None
        try:
            load_files(open_catalog(faulty, seed=1))
        except (StorageError, CommitConflictError, CommitUnknownError) as raised:
            error = raised
        if not faulty.has_failed:
            assert error is None
            return
        yield open_catalog(store, seed=2), f"failed at {faulty.failed_call}, raised {error!r}"
    raise AssertionError("the load never came to its end")


@pytest.mark.parametrize("mode", get_args(FaultMode))
@pytest.mark.parametrize("stays_down", [False, True])
def test_a_load_that_breaks_off_is_neither_lost_nor_doubled(
    files: dict[str, bytes], *, mode: FaultMode, stays_down: bool
) -> None:
    for catalog, told in runs(files, mode=mode, stays_down=stays_down):
        load_files(catalog)
        table = catalog.load_table("db.t")
        assert table.scan().count() == ROWS.num_rows * (1 + len(FILES)), told
        assert LoadHistory(table.parts()).loaded(FILES) == {each.path for each in FILES}, told
        assert table.check().is_clean, told
