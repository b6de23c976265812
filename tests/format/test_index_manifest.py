"""Index files in columns and as entries, from files that are whole, old, damaged or foreign."""

import copy
from typing import Any

import pytest

from lakebed.errors import CorruptTableError, UnsupportedError
from lakebed.format.avro.codec import write_records
from lakebed.format.data_file_meta import FileKind
from lakebed.format.index_manifest import (
    INDEX_COLUMNS,
    DeletionVectorRange,
    GlobalIndexMeta,
    IndexManifestEntry,
    deletion_vector_columns,
    index_entries_from_columns,
    index_entries_to_columns,
)
from lakebed.format.manifest_file import read_index_manifest, write_index_manifest
from lakebed.storage.memory import MemoryFileIO
from support.index_files import INDEX_MANIFEST_SCHEMA, index_record

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
PATH = "/t/manifest/i"


def read(
    records: list[dict[str, object]], schema: dict[str, object] = INDEX_MANIFEST_SCHEMA
) -> list[IndexManifestEntry]:
    store = MemoryFileIO()
    store.write(PATH, write_records(schema, records))
    return index_entries_from_columns(read_index_manifest(store, PATH))


def schema_with(name: str, kind: object, *, inside: str | None = None) -> dict[str, object]:
    """The schema with another type of a field, or of a part of it; None leaves it out."""
    schema: dict[str, Any] = copy.deepcopy(INDEX_MANIFEST_SCHEMA)
    record = schema
    if inside is not None:
        record = next(field for field in schema["fields"] if field["name"] == inside)["type"][1]
        record = record["items"][1] if record["type"] == "array" else record
    fields = [field for field in record["fields"] if field["name"] != name]
    record["fields"] = fields if kind is None else [*fields, {"name": name, "type": kind}]
    return schema


@pytest.mark.parametrize(
    "entries",
    [[HASH], [DELETION_VECTORS], [GLOBAL], [HASH, GLOBAL, DELETION_VECTORS, HASH], [HASH] * 3000],
    ids=["hash", "deletion vectors", "global", "mixed", "several blocks"],
)
def test_entries_survive_the_file(entries: list[IndexManifestEntry]) -> None:
    store = MemoryFileIO()
    size = write_index_manifest(store, PATH, index_entries_to_columns(entries))
    assert size == len(store.read(PATH))
    columns = read_index_manifest(store, PATH)
    assert columns.schema == INDEX_COLUMNS
    assert index_entries_from_columns(columns) == entries
    assert read([index_record(entry) for entry in entries]) == entries


def test_an_index_manifest_without_entries_has_its_columns() -> None:
    store = MemoryFileIO()
    write_index_manifest(store, PATH, index_entries_to_columns([]))
    columns = read_index_manifest(store, PATH)
    assert (columns.schema, columns.num_rows) == (INDEX_COLUMNS, 0)
    assert index_entries_from_columns(columns) == []
    assert deletion_vector_columns(columns).num_rows == 0


def test_columns_that_were_filtered_and_joined_are_written_as_they_are() -> None:
    store = MemoryFileIO()
    columns = index_entries_to_columns([HASH, DELETION_VECTORS, GLOBAL])
    write_index_manifest(store, PATH, columns.slice(1).take([1, 0, 1]))
    assert index_entries_from_columns(read_index_manifest(store, PATH)) == [
        *(GLOBAL, DELETION_VECTORS, GLOBAL)
    ]


@pytest.mark.parametrize(
    ("name", "inside", "entry"),
    [
        ("_EXTERNAL_PATH", None, HASH),
        ("_GLOBAL_INDEX", None, HASH),
        ("_DELETIONS_VECTORS_RANGES", None, HASH),
        ("_CARDINALITY", "_DELETIONS_VECTORS_RANGES", DELETION_VECTORS),
        ("_SOURCE_META", "_GLOBAL_INDEX", GLOBAL),
    ],
)
def test_entries_of_old_writers_lack_the_last_fields(
    name: str, inside: str | None, entry: IndexManifestEntry
) -> None:
    record = index_record(entry)
    found = read([record], schema_with(name, None, inside=inside))
    if name == "_CARDINALITY":
        ranges = found[0].deletion_vectors_ranges
        assert ranges is not None
        assert [each.cardinality for each in ranges] == [None, None]
    else:
        assert found == [entry]


@pytest.mark.parametrize(
    ("name", "kind", "value"),
    [
        ("_FILE_NAME", ["null", "string"], None),
        ("_BUCKET", "string", "one"),
        ("_BUCKET", None, None),
        ("_KIND", "int", 7),
        ("_VERSION", ["null", "int"], None),
        ("_VERSION", None, None),
        ("_DELETIONS_VECTORS_RANGES", "string", "x"),
        ("_DELETIONS_VECTORS_RANGES", {"type": "array", "items": "int"}, [1]),
        ("_GLOBAL_INDEX", "long", 1),
    ],
)
def test_broken_entries_are_corrupt(name: str, kind: object, value: object) -> None:
    record = {**index_record(HASH), name: value}
    with pytest.raises(CorruptTableError) as caught:
        read([record], schema_with(name, kind))
    assert caught.value.path == PATH


@pytest.mark.parametrize(
    ("name", "kind", "inside", "entry"),
    [
        ("f1", ["null", "int"], "_DELETIONS_VECTORS_RANGES", DELETION_VECTORS),
        ("f0", ["null", "string"], "_DELETIONS_VECTORS_RANGES", DELETION_VECTORS),
        ("_ROW_RANGE_END", ["null", "long"], "_GLOBAL_INDEX", GLOBAL),
    ],
)
def test_a_part_that_must_be_there_and_is_not_is_corrupt(
    *, name: str, kind: object, inside: str, entry: IndexManifestEntry
) -> None:
    record = copy.deepcopy(index_record(entry))
    part = record[inside]
    last = part[-1] if isinstance(part, list) else part
    last[name] = None  # type: ignore[index]  # a record
    schema = schema_with(name, kind, inside=inside)
    with pytest.raises(CorruptTableError, match=f"{PATH}.*null inside"):
        read([index_record(HASH), record], schema)
    assert read([index_record(entry)], schema) == [entry]


def test_a_range_that_is_null_is_corrupt() -> None:
    record = {**index_record(DELETION_VECTORS), "_DELETIONS_VECTORS_RANGES": [None]}
    with pytest.raises(CorruptTableError, match=f"{PATH}.*null inside"):
        read([record])


def test_entries_of_another_version_are_refused() -> None:
    with pytest.raises(UnsupportedError, match=f"{PATH}.*version 2"):
        read([{**index_record(HASH), "_VERSION": 2}])


def test_a_global_index_is_not_lost_where_the_schema_has_a_type_without_columns() -> None:
    schema = schema_with("_NEW", {"type": "map", "values": "int"})
    for entries in ([GLOBAL], [HASH, GLOBAL]):
        with pytest.raises(UnsupportedError, match=f"{PATH}.*another release"):
            read([{**index_record(entry), "_NEW": {}} for entry in entries], schema)
