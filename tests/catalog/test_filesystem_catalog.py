from pathlib import Path

import pyarrow as pa
import pytest

from contracts.catalog_contract import ROWS, SCHEMA, CatalogContract
from lakebed.catalog.catalog import Catalog
from lakebed.errors import AlreadyExistsError, InvalidTableError, StorageError
from lakebed.storage.file_io import FileIO, PutResult
from lakebed.storage.local import LocalFileIO
from lakebed.storage.memory import MemoryFileIO
from support.effects import open_catalog
from support.faulty_file_io import FaultyFileIO
from support.store_listing import list_files


class TestInMemory(CatalogContract):
    @pytest.fixture
    def catalog(self) -> Catalog:
        return open_catalog(MemoryFileIO())


class TestOnDisk(CatalogContract):
    @pytest.fixture
    def catalog(self, tmp_path: Path) -> Catalog:
        return open_catalog(LocalFileIO(), warehouse=str(tmp_path / "lake"))


def test_directories_are_laid_out_as_the_format_says() -> None:
    store = MemoryFileIO()
    catalog = open_catalog(store)
    catalog.create_database("db")
    table = catalog.create_table("db.t", schema=SCHEMA)
    assert table.location == "memory:/lake/db.db/t"
    assert list(list_files(store, "memory:/")) == ["memory:/lake/db.db/t/schema/schema-0"]


def test_what_is_no_database_and_no_table_is_not_listed() -> None:
    store = MemoryFileIO()
    catalog = open_catalog(store)
    catalog.create_database("db")
    store.write("memory:/lake/notes.db", b"a file")
    store.make_directory("memory:/lake/plain")
    store.make_directory("memory:/lake/db.db/empty/schema")
    store.write("memory:/lake/db.db/file", b"x")
    store.write("memory:/lake/db.db/t/schema/schema-x", b"x")
    assert catalog.list_databases() == ["db"]
    assert catalog.list_tables("db") == []


def test_table_defaults_of_the_catalog_are_stored_and_the_call_wins() -> None:
    options = {"table-default.target-file-size": "1 mb", "table-default.bucket": "2"}
    catalog = open_catalog(MemoryFileIO(), options=options)
    catalog.create_database("db")
    table = catalog.create_table("db.t", schema=SCHEMA, primary_key=["id"], options={"bucket": "3"})
    assert dict(table.options) == {"target-file-size": "1 mb", "bucket": "3"}


def test_an_invalid_table_leaves_no_file() -> None:
    store = MemoryFileIO()
    catalog = open_catalog(store)
    catalog.create_database("db")
    with pytest.raises(InvalidTableError):
        catalog.create_table("db.t", schema=SCHEMA, options={"bucket": 0})
    assert list(list_files(store, "memory:/")) == []
    catalog.create_table("db.t", schema=SCHEMA)


def test_only_one_of_two_makers_of_a_table_makes_it() -> None:
    store = MemoryFileIO()
    ours, theirs = open_catalog(Meanwhile(store)), open_catalog(store)
    theirs.create_database("db")
    with pytest.raises(AlreadyExistsError):
        ours.create_table("db.t", schema=pa.schema([("x", pa.int8())]))
    assert theirs.load_table("db.t").schema.names == ["id", "v"]
    found = ours.create_table("db.t", schema=pa.schema([("x", pa.int8())]), ignore_if_exists=True)
    assert found.schema.names == ["id", "v"]


class Meanwhile(FaultyFileIO):
    """Lets another process make the table first."""

    def __init__(self, inner: FileIO) -> None:
        super().__init__(inner, 0)
        self.has_acted = False

    def put_if_absent(self, path: str, data: bytes) -> PutResult:
        if not self.has_acted:
            self.has_acted = True
            open_catalog(self._inner).create_table("db.t", schema=SCHEMA)
        return super().put_if_absent(path, data)


@pytest.mark.parametrize("mode", ["after", "unknown"])
def test_a_store_that_does_not_answer_is_no_made_table(mode: str) -> None:
    store = MemoryFileIO()
    open_catalog(store).create_database("db")
    faulty = FaultyFileIO(store, 1, "after" if mode == "after" else "unknown")
    with pytest.raises(StorageError, match="did not say whether the table was made"):
        open_catalog(faulty).create_table("db.t", schema=SCHEMA)
    assert open_catalog(store).list_tables("db") == (["t"] if mode == "after" else [])


def test_two_catalogs_of_one_warehouse_see_each_other(tmp_path: Path) -> None:
    one = open_catalog(LocalFileIO(), warehouse=str(tmp_path))
    two = open_catalog(LocalFileIO(), warehouse=f"file://{tmp_path}", seed=2)
    one.create_database("db")
    one.create_table("db.t", schema=SCHEMA).append(ROWS)
    two.load_table("db.t").append(ROWS)
    assert one.load_table("db.t").scan().count() == 4
