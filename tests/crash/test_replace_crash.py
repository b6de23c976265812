"""A store that fails at the n-th call of the replacement of a table.

What must hold whatever fails: the table is the old one, or empty, or the new one; its first
snapshot reads as ever; and the replacement again ends well.
"""

from collections.abc import Iterator
from typing import get_args

import pyarrow as pa
import pytest

import lakebed
from lakebed.catalog.catalog import Catalog
from lakebed.errors import CommitConflictError, CommitUnknownError, StorageError
from lakebed.storage.memory import MemoryFileIO
from support.effects import open_catalog
from support.faulty_file_io import FaultMode, FaultyFileIO, calls_to_fail
from support.store_listing import read_store

OLD = pa.table({"id": [1, 2], "v": ["a", "b"]})
NEW = lakebed.schema([("id", "INT"), ("w", "STRING")])


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    file_io = MemoryFileIO()
    catalog = open_catalog(file_io)
    catalog.create_database("db")
    catalog.create_table("db.t", schema=OLD.schema, options={"bucket": -1}).append(OLD)
    return read_store(file_io, "memory:/")


def replace_table(catalog: Catalog) -> None:
    catalog.replace_table("db.t", schema=NEW, primary_key=["id"], options={"bucket": 1})


def runs(
    files: dict[str, bytes], *, mode: FaultMode, stays_down: bool
) -> Iterator[tuple[Catalog, Exception | None, str]]:
    for fail_at in calls_to_fail():
        store = MemoryFileIO()
        for path, data in files.items():
            store.write(path, data)
        faulty = FaultyFileIO(store, fail_at, mode, counts_reads=True, stays_down=stays_down)
        error: Exception | None = None
        try:
            replace_table(open_catalog(faulty, seed=1))
        except (StorageError, CommitConflictError, CommitUnknownError) as raised:
            error = raised
        if not faulty.has_failed:
            assert error is None
            return
        told = f"failed at {faulty.failed_call}, raised {error!r}"
        yield open_catalog(store, seed=2), error, told
    raise AssertionError("the replacement never came to its end")


@pytest.mark.parametrize("mode", get_args(FaultMode))
@pytest.mark.parametrize("stays_down", [False, True])
def test_a_replacement_that_breaks_off_leaves_a_whole_table(
    files: dict[str, bytes], *, mode: FaultMode, stays_down: bool
) -> None:
    for catalog, error, told in runs(files, mode=mode, stays_down=stays_down):
        table = catalog.load_table("db.t")
        rows = table.scan().to_arrow()
        if table.schema.id == 1:
            assert rows.num_rows == 0, told
        else:
            assert error is not None, told
            assert rows.to_pylist() in ([], OLD.to_pylist()), told
        assert table.scan(snapshot_id=1).to_arrow().to_pylist() == OLD.to_pylist(), told
        assert table.check().is_clean, told
        if table.schema.id == 0:
            replace_table(catalog)
        replaced = catalog.load_table("db.t")
        assert (replaced.scan().count(), replaced.primary_keys) == (0, ["id"]), told
