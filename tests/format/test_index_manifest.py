import pytest

from lakebed.errors import CorruptTableError, UnsupportedError
from lakebed.format.avro.codec import read_records, write_records
from lakebed.format.data_file_meta import FileKind
from lakebed.format.index_manifest import (
    INDEX_MANIFEST_SCHEMA,
    DeletionVectorRange,
    GlobalIndexMeta,
    IndexManifestEntry,
    index_entry_from_record,
    index_entry_to_record,
)

HASH = IndexManifestEntry(
    partition=bytes(12),
    bucket=1,
    index_type="HASH",
    file_name="index-a-0",
    file_size=8,
    row_count=2,
)
DELETION_VECTORS = IndexManifestEntry(
    partition=b"\x00\xff",
    bucket=0,
    index_type="DELETION_VECTORS",
    file_name="index-a-1",
    file_size=40,
    row_count=2,
    deletion_vectors_ranges=(
        DeletionVectorRange(data_file_name="data-a", offset=1, length=22, cardinality=3),
        DeletionVectorRange(data_file_name="data-b", offset=31, length=24),
    ),
    external_path="s3://bucket/index-a-1",
)
GLOBAL = IndexManifestEntry(
    kind=FileKind.DELETE,
    partition=bytes(12),
    bucket=0,
    index_type="btree",
    file_name="btree-global-index-a.index",
    file_size=100,
    row_count=10,
    global_index=GlobalIndexMeta(
        row_range_start=0,
        row_range_end=9,
        index_field_id=1,
        extra_field_ids=(2, 3),
        index_meta=b"\xff\x00",
    ),
)


@pytest.mark.parametrize("entry", [HASH, DELETION_VECTORS, GLOBAL])
def test_entries_survive_the_file(entry: IndexManifestEntry) -> None:
    data = write_records(INDEX_MANIFEST_SCHEMA, [index_entry_to_record(entry)])
    assert [index_entry_from_record(record, "x") for record in read_records(data, "x")] == [entry]


def test_entries_of_old_writers_lack_the_last_fields() -> None:
    record = index_entry_to_record(HASH)
    for name in ("_EXTERNAL_PATH", "_GLOBAL_INDEX", "_DELETIONS_VECTORS_RANGES"):
        del record[name]
    assert index_entry_from_record(record, "x") == HASH


@pytest.mark.parametrize(
    "changes",
    [
        {"_FILE_NAME": None},
        {"_BUCKET": "1"},
        {"_KIND": 7},
        {"_DELETIONS_VECTORS_RANGES": [None]},
        {"_DELETIONS_VECTORS_RANGES": [{"f0": "a", "f1": 1}]},
        {"_VERSION": None},
    ],
)
def test_broken_entries_are_corrupt(changes: dict[str, object]) -> None:
    with pytest.raises(CorruptTableError) as caught:
        index_entry_from_record({**index_entry_to_record(HASH), **changes}, "/t/manifest/i")
    assert caught.value.path == "/t/manifest/i"


def test_entries_of_another_version_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="version 2"):
        index_entry_from_record({**index_entry_to_record(HASH), "_VERSION": 2}, "x")
