import io
from pathlib import Path

import fastavro
import pytest

from lakebed.errors import AlreadyExistsError, CorruptTableError, NotFoundError, UnsupportedError
from lakebed.format.data_file_meta import EMPTY_STATS
from lakebed.format.manifest import ENTRY_COLUMNS, ManifestFileMeta
from lakebed.format.manifest_file import (
    read_entries,
    read_index_manifest,
    read_manifest,
    read_manifest_list,
    write_index_manifest,
    write_manifest,
    write_manifest_list,
)
from lakebed.storage.memory import MemoryFileIO

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "warehouse"
META = ManifestFileMeta(
    file_name="manifest-a-0",
    file_size=10,
    num_added_files=1,
    num_deleted_files=0,
    partition_stats=EMPTY_STATS,
    schema_id=0,
)


def decode(data: bytes) -> tuple[str, str, list[object]]:
    """The writer's schema text, the codec and the records, by a reader that is not ours."""
    reader = fastavro.reader(io.BytesIO(data))
    return reader.metadata["avro.schema"], reader.metadata["avro.codec"], list(reader)


def rewritten(path: Path) -> bytes:
    """A golden file read and written by Lakebed."""
    store = MemoryFileIO()
    store.write("/real", path.read_bytes())
    if path.name.startswith("manifest-list-"):
        size = write_manifest_list(store, "/ours", read_manifest_list(store, "/real"))
    elif path.name.startswith("index-manifest-"):
        size = write_index_manifest(store, "/ours", read_index_manifest(store, "/real"))
    else:
        size = write_manifest(store, "/ours", read_entries(store, "/real"))
    data = store.read("/ours")
    assert size == len(data)
    return data


@pytest.mark.parametrize(
    ("pattern", "count"),
    [("manifest-list-*", 435), ("index-manifest-*", 8), ("manifest-[!l]*", 244)],
)
def test_golden_files_are_written_with_equal_schema_and_records(pattern: str, count: int) -> None:
    paths = sorted(GOLDEN.rglob(f"manifest/{pattern}"))
    assert len(paths) == count
    for path in paths:
        assert decode(rewritten(path)) == decode(path.read_bytes()), path


def test_an_empty_manifest_list_is_a_file_without_records() -> None:
    store = MemoryFileIO()
    write_manifest_list(store, "/l", [])
    assert read_manifest_list(store, "/l") == []
    assert decode(store.read("/l"))[2] == []


def test_a_manifest_without_entries_has_its_columns() -> None:
    store = MemoryFileIO()
    write_manifest(store, "/m", [])
    assert read_manifest(store, "/m").schema == ENTRY_COLUMNS
    assert read_entries(store, "/m") == []


def test_the_compression_is_the_one_asked_for() -> None:
    store = MemoryFileIO()
    write_manifest_list(store, "/l", [META], compression="null")
    assert decode(store.read("/l"))[1] == "null"
    with pytest.raises(UnsupportedError, match="'lz4'"):
        write_manifest_list(store, "/l2", [META], compression="lz4")
    assert not store.exists("/l2")


def test_a_file_is_never_replaced() -> None:
    store = MemoryFileIO()
    write_manifest_list(store, "/l", [])
    with pytest.raises(AlreadyExistsError):
        write_manifest_list(store, "/l", [META])
    assert read_manifest_list(store, "/l") == []


def test_a_missing_file_is_named() -> None:
    with pytest.raises(NotFoundError, match="/nope"):
        read_manifest(MemoryFileIO(), "/nope")


def test_a_file_of_another_kind_is_corrupt() -> None:
    store = MemoryFileIO()
    write_manifest_list(store, "/l", [META])
    for read in (read_manifest, read_index_manifest):
        with pytest.raises((CorruptTableError, UnsupportedError), match="/l"):
            read(store, "/l")


def test_a_file_cut_between_its_blocks_is_told_by_its_size() -> None:
    store = MemoryFileIO()
    write_manifest_list(store, "/l", [])
    size = write_manifest_list(store, "/whole", [META])
    assert read_manifest_list(store, "/whole", size=size) == [META]
    for read in (read_manifest, read_manifest_list):
        with pytest.raises(CorruptTableError, match=f"/l: has .* bytes, {size} were written"):
            read(store, "/l", size=size)
