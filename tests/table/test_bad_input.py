"""Each thing that a user or a broken store can do wrong: a clear error, and the table as before."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

from lakebed.errors import (
    AlreadyExistsError,
    CorruptTableError,
    InvalidArgumentError,
    InvalidDataError,
    InvalidTableError,
    LakebedError,
    NotFoundError,
    StorageError,
    UnsupportedError,
)
from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.schema_definition import schema
from lakebed.storage.local import LocalFileIO
from support.effects import open_catalog, reopen
from support.faulty_file_io import FaultyFileIO
from support.store_listing import read_store
from support.table_builder import HISTORIES, BuiltTable, Shape, build_table, sorted_rows

KEYED = Shape(buckets=1)
UNAWARE = Shape(has_primary_key=False, buckets=-1)
COLUMNS = schema([("id", "INT NOT NULL"), ("v", "STRING"), ("w", "DOUBLE NOT NULL")])


@pytest.fixture
def built() -> BuiltTable:
    return build_table(KEYED, HISTORIES["overlapping"])


@contextmanager
def refused(
    built: BuiltTable, error: type[LakebedError], *parts: str, root: str = "memory:/"
) -> Iterator[None]:
    """The block raises that error, its message has those parts, and no byte changes."""
    before = read_store(built.file_io, root)
    with pytest.raises(error) as caught:
        yield
    assert [part for part in parts if part not in str(caught.value)] == [], str(caught.value)
    assert read_store(built.file_io, root) == before


ROWS: dict[str, tuple[dict[str, ArrowArray], tuple[str, ...]]] = {
    "unknown column": (
        {"id": pa.array([1]), "amnt": pa.array([1.0])},
        ("no column 'amnt'", "id, amount, note", "Drop or rename"),
    ),
    "wrong type": (
        {"id": pa.array(["one"])},
        ("column 'id' is int64", "have string", "cast it before writing"),
    ),
    "wrong type of a value column": (
        {"id": pa.array([1]), "amount": pa.array(["much"])},
        ("column 'amount' is double", "have string"),
    ),
    "null in the key": (
        {"id": pa.array([1, None, None])},
        ("column 'id' is NOT NULL", "2 of the rows", "row 1 first", "nothing was written"),
    ),
    "missing key column": ({"amount": pa.array([1.0])}, ("lack the key column 'id'", "add it")),
    "type that the format lacks": (
        {"id": pa.array([1], pa.uint64())},
        ("column 'id' is int64", "the rows have uint64", "cast it"),
    ),
}


@pytest.mark.parametrize("what", ROWS)
@pytest.mark.parametrize("way", ["append", "upsert", "overwrite"])
def test_rows_that_the_schema_forbids(built: BuiltTable, what: str, way: str) -> None:
    columns, parts = ROWS[what]
    write: Callable[[pa.Table], object] = getattr(built.table, way)
    with refused(built, InvalidDataError, *parts):
        write(pa.table(columns))


def test_bad_rows_after_good_ones_take_the_good_ones_back(built: BuiltTable) -> None:
    def write() -> None:
        with built.table.writer() as writer:
            writer.upsert(built.arrow(built.rows))
            writer.upsert(pa.table({"nothing": [1]}))

    with refused(built, InvalidDataError, "no column 'nothing'"):
        write()


def test_null_in_a_not_null_column() -> None:
    built = build_table(UNAWARE)
    catalog = open_catalog(built.file_io)
    table = catalog.create_table("db.u", schema=COLUMNS)
    with refused(built, InvalidDataError, "column 'w' is NOT NULL", "1 of the rows", "row 0 first"):
        table.append(pa.table({"id": pa.array([1], pa.int32()), "w": pa.nulls(1, pa.float64())}))
    with refused(built, InvalidDataError, "lack the NOT NULL column 'w'", "add it"):
        table.append(pa.table({"id": pa.array([1], pa.int32())}))


CREATIONS: dict[str, tuple[type[LakebedError], dict[str, object], tuple[str, ...]]] = {
    "zero buckets": (
        InvalidTableError,
        {"options": {"bucket": 0}},
        ("'bucket' is 0", "from 1, -1"),
    ),
    "minus three buckets": (InvalidTableError, {"options": {"bucket": -3}}, ("'bucket' is -3",)),
    "postponed buckets without a key": (
        InvalidTableError,
        {"options": {"bucket": -2}},
        ("'bucket' is -2", "with a primary key"),
    ),
    "buckets that are no number": (
        InvalidTableError,
        {"options": {"bucket": "many"}},
        ("'bucket' is 'many'", "give a number"),
    ),
    "buckets without a bucket key": (
        InvalidTableError,
        {"options": {"bucket": 3}},
        ("needs 'bucket-key'", "set it or remove 'bucket'"),
    ),
    "unknown option": (
        InvalidTableError,
        {"options": {"target-file-sizes": "1 mb"}},
        ("'target-file-sizes' is no option of a table", "'target-file-size'"),
    ),
    "unsupported option": (
        UnsupportedError,
        {"options": {"snapshot.clean-empty-directories": "true"}},
        ("'snapshot.clean-empty-directories' = 'true'", "not supported yet", "write-only=true"),
    ),
    "a value that is none of its option": (
        InvalidArgumentError,
        {"options": {"target-file-size": "big"}},
        ("target-file-size", "big"),
    ),
    "a session option": (
        InvalidTableError,
        {"options": {"lakebed.merge.memory": "1 mb"}},
        ("'lakebed.merge.memory' is never stored in a table", "catalog or the session"),
    ),
    "a key that is no column": (
        InvalidTableError,
        {"primary_key": ["key"], "options": {"bucket": 1}},
        ("primary key column 'key' is no column", "id, v, w"),
    ),
    "a partition that is no column": (
        InvalidTableError,
        {"partition_by": ["dt"]},
        ("partition column 'dt' is no column",),
    ),
    "a table that is there": (AlreadyExistsError, {"name": "db.t"}, ("table 'db.t' already",)),
    "a database that is missing": (
        NotFoundError,
        {"name": "dbb.u"},
        ("database 'dbb' does not exist", "There is db"),
    ),
    "no database": (
        InvalidArgumentError,
        {"name": "u"},
        ("'u' is no table name", "database.table"),
    ),
}


@pytest.mark.parametrize("what", CREATIONS)
def test_a_table_that_cannot_be_is_not_made(built: BuiltTable, what: str) -> None:
    error, arguments, parts = CREATIONS[what]
    catalog = open_catalog(built.file_io)
    given: dict[str, object] = {"name": "db.u", "schema": COLUMNS, **arguments}
    name = given.pop("name")
    assert isinstance(name, str)
    with refused(built, error, *parts):
        catalog.create_table(name, **given)  # type: ignore[arg-type]  # arguments by name
    assert catalog.list_tables("db") == ["t"]


def test_a_table_or_database_that_is_missing(built: BuiltTable) -> None:
    catalog = open_catalog(built.file_io)
    catalog.create_table("db.orders", schema=COLUMNS)
    with refused(built, NotFoundError, "table 'db.order' does not exist", "There is orders"):
        catalog.load_table("db.order")
    with refused(built, NotFoundError, "database 'dbx' does not exist", "There is db"):
        catalog.load_table("dbx.orders")
    with refused(built, NotFoundError, "table 'db.x'"):
        catalog.drop_table("db.x")


@pytest.mark.parametrize(
    ("option", "error", "parts"),
    [
        (
            {"scan.snapshot-idd": 1},
            InvalidArgumentError,
            ("'scan.snapshot-idd'", "scan.snapshot-id"),
        ),
        ({"bucket": 3}, InvalidArgumentError, ("'bucket' is no option of a scan",)),
        ({"scan.snapshot-id": "x"}, InvalidArgumentError, ("scan.snapshot-id", "x")),
        ({"scan.bucket": "1"}, UnsupportedError, ("scan.bucket", "not supported yet")),
    ],
)
def test_an_option_that_a_scan_cannot_have(
    built: BuiltTable,
    *,
    option: dict[str, str],
    error: type[LakebedError],
    parts: tuple[str, ...],
) -> None:
    with refused(built, error, *parts):
        built.table.scan(options=option)


def test_a_table_of_another_engine_is_refused_for_the_use_that_would_go_wrong(
    built: BuiltTable,
) -> None:
    path = f"{built.table.location}/schema/schema-0"
    text = built.file_io.read(path).decode()
    marked = text.replace('"options" : {', '"options" : {\n    "file.compression" : "lzo",')
    assert marked != text
    built.file_io.write(path, marked.encode())
    table = open_catalog(built.file_io).load_table("db.t")
    assert sorted_rows(table.scan().to_arrow()) == sorted_rows(built.rows)
    with refused(built, UnsupportedError, "'file.compression' = 'lzo'", "files written"):
        table.upsert(built.arrow(built.rows))
    ordered = text.replace(
        '"options" : {', '"options" : {\n    "sequence.snapshot-ordering" : "true",'
    )
    built.file_io.write(path, ordered.encode())
    table = open_catalog(built.file_io).load_table("db.t")
    with refused(built, UnsupportedError, "'sequence.snapshot-ordering' = 'true'", "rows read"):
        table.scan()


def metadata_paths(built: BuiltTable) -> dict[str, str]:
    """One file of each kind, that a read of the newest snapshot needs."""
    snapshot = built.table.latest_snapshot()
    assert snapshot is not None
    manifests = f"{built.table.location}/manifest"
    manifest = built.table.parts().manifests.files(snapshot)[0].file_name
    return {
        "data": built.table.scan().plan().splits[0].file_paths[0],
        "manifest": f"{manifests}/{manifest}",
        "base manifest list": f"{manifests}/{snapshot.base_manifest_list}",
        "delta manifest list": f"{manifests}/{snapshot.delta_manifest_list}",
        "snapshot": f"{built.table.location}/snapshot/snapshot-{snapshot.id}",
        "schema": f"{built.table.location}/schema/schema-0",
    }


KINDS = ["data", "manifest", "base manifest list", "delta manifest list", "snapshot", "schema"]
DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "half": lambda data: data[: len(data) // 2],
    "without its end": lambda data: data[:-5],
    "other bytes": lambda data: b"\x00\xffnot this\n" * (len(data) // 10 + 1),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_corrupt_and_named(built: BuiltTable, kind: str, damage: str) -> None:
    path = metadata_paths(built)[kind]
    built.file_io.write(path, DAMAGES[damage](built.file_io.read(path)))
    with refused(built, CorruptTableError, path):
        open_catalog(built.file_io).load_table("db.t").scan().to_arrow()


@pytest.mark.parametrize("kind", KINDS[:-1])
def test_a_missing_file_is_named(built: BuiltTable, kind: str) -> None:
    path = metadata_paths(built)[kind]
    if kind == "snapshot":
        path = path.replace("snapshot-3", "snapshot-2")
    built.file_io.delete(path)
    with refused(built, NotFoundError, "does not exist"):
        table = open_catalog(built.file_io).load_table("db.t")
        table.scan(snapshot_id=2 if kind == "snapshot" else None).to_arrow()


@pytest.mark.parametrize("kind", ["manifest", "base manifest list", "delta manifest list"])
def test_a_commit_onto_a_damaged_table_is_refused_and_leaves_it(
    built: BuiltTable, kind: str
) -> None:
    path = metadata_paths(built)[kind]
    built.file_io.write(path, b"")
    with refused(built, CorruptTableError, path):
        built.table.upsert(built.arrow(built.rows))


@pytest.mark.parametrize(("kind", "newest"), [("snapshot", 3), ("schema", 3)])
def test_a_newer_format_version_is_refused(built: BuiltTable, kind: str, newest: int) -> None:
    path = metadata_paths(built)[kind]
    text = built.file_io.read(path).decode()
    newer = text.replace(f'"version" : {newest}', f'"version" : {newest + 1}')
    assert newer != text
    built.file_io.write(path, newer.encode())
    with refused(built, UnsupportedError, path, f"version {newest + 1}", "newer release"):
        open_catalog(built.file_io).load_table("db.t").scan().to_arrow()
    with refused(built, UnsupportedError, path):
        open_catalog(built.file_io).load_table("db.t").append(built.arrow(built.rows))


def test_a_store_that_cannot_be_written(built: BuiltTable) -> None:
    broken = reopen(built.table, FaultyFileIO(built.file_io, 1, stays_down=True))
    with refused(built, StorageError, "cannot open_output"):
        broken.append(built.arrow(built.rows))


@pytest.mark.parametrize("fail_at", range(1, 12))
def test_a_store_that_cannot_be_read(built: BuiltTable, fail_at: int) -> None:
    broken = reopen(built.table, FaultyFileIO(built.file_io, fail_at, counts_reads=True))
    with refused(built, StorageError, "fault injected"):
        broken.scan().to_arrow()


@pytest.fixture
def on_disk(tmp_path: Path) -> BuiltTable:
    return build_table(
        KEYED, HISTORIES["one-commit"], file_io=LocalFileIO(), warehouse=str(tmp_path)
    )


as_user = pytest.mark.skipif(
    os.geteuid() == 0, reason="root may read and write whatever the permissions say"
)


@as_user
@pytest.mark.parametrize("kind", ["data", "manifest", "snapshot", "schema"])
def test_a_file_without_permission(on_disk: BuiltTable, kind: str, tmp_path: Path) -> None:
    path = Path(metadata_paths(on_disk)[kind])
    path.chmod(0)
    try:
        with pytest.raises(StorageError, match=path.name):
            open_catalog(LocalFileIO(), warehouse=str(tmp_path)).load_table(
                "db.t"
            ).scan().to_arrow()
    finally:
        path.chmod(0o600)


@as_user
def test_a_directory_without_permission(on_disk: BuiltTable, tmp_path: Path) -> None:
    directory = Path(on_disk.table.location) / "bucket-0"
    directory.chmod(0o500)
    try:
        with refused(on_disk, StorageError, str(directory), root=str(tmp_path)):
            on_disk.table.append(on_disk.arrow(on_disk.rows))
    finally:
        directory.chmod(0o700)


def test_a_file_where_the_bucket_should_be(on_disk: BuiltTable, tmp_path: Path) -> None:
    on_disk.table.truncate()
    bucket = Path(on_disk.table.location) / "bucket-0"
    bucket.rename(bucket.with_name("elsewhere"))
    bucket.write_text("in the way")
    with refused(on_disk, StorageError, str(bucket), root=str(tmp_path)):
        on_disk.table.append(on_disk.arrow(on_disk.rows))


def test_a_damaged_data_file_on_disk(on_disk: BuiltTable, tmp_path: Path) -> None:
    path = Path(metadata_paths(on_disk)["data"])
    path.write_bytes(path.read_bytes()[:-9])
    with refused(on_disk, CorruptTableError, str(path), root=str(tmp_path)):
        on_disk.table.scan().to_arrow()
