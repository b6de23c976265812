import dataclasses
import json
from pathlib import Path

import pyarrow as pa
import pytest

from lakebed.errors import CorruptTableError, UnsupportedError
from lakebed.format.avro.codec import read_columns, read_records, write_records
from lakebed.format.avro.schema import flatten_record
from lakebed.format.avro.write import AvroWriter
from lakebed.format.avro.write_schema import avro_schema_text
from lakebed.format.data_file_meta import (
    EMPTY_STATS,
    DataFileMeta,
    FileKind,
    ManifestEntry,
    SimpleStats,
)
from lakebed.format.data_file_settings import DataFileSettings
from lakebed.format.manifest import (
    ENTRY_COLUMNS,
    MANIFEST_LIST_SCHEMA,
    MANIFEST_SCHEMA,
    ManifestFileMeta,
    entries_from_columns,
    entries_to_columns,
    entry_columns,
    entry_to_record,
    meta_from_record,
    meta_to_record,
)
from lakebed.format.manifest_file import read_manifest
from lakebed.format.manifest_rows import MANIFEST_FIELDS, manifest_rows
from lakebed.storage.memory import MemoryFileIO

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "warehouse"
GOLDEN_MANIFESTS = sorted(GOLDEN.rglob("manifest/manifest-[!l]*"))

PLAIN = DataFileMeta(
    file_name="data-a-0.parquet",
    file_size=3,
    row_count=2,
    min_key=b"\x00",
    max_key=b"\xff",
    key_stats=SimpleStats(min_values=b"k0", max_values=b"k1", null_counts=(0,)),
    value_stats=SimpleStats(min_values=b"v0", max_values=b"v1", null_counts=(0, None, 2)),
    min_sequence_number=5,
    max_sequence_number=6,
    schema_id=1,
    level=4,
)
FULL = dataclasses.replace(
    PLAIN,
    value_stats=SimpleStats(min_values=b"", max_values=b"", null_counts=None),
    extra_files=("a.index", "b.index"),
    creation_time=1795254850200,
    delete_row_count=0,
    embedded_file_index=b"\x00\xff",
    file_source=1,
    value_stats_cols=(),
    external_path="s3://bucket/x",
    first_row_id=0,
    write_cols=("a",),
    write_cols_sequences=(7, 8),
)
ENTRIES = [
    ManifestEntry(kind=kind, partition=bytes(12), bucket=3, total_buckets=-2, file=file)
    for kind, file in ((FileKind.ADD, PLAIN), (FileKind.DELETE, FULL))
]
META = ManifestFileMeta(
    file_name="manifest-a-0",
    file_size=10,
    num_added_files=1,
    num_deleted_files=2,
    partition_stats=EMPTY_STATS,
    schema_id=0,
    min_bucket=0,
    max_bucket=3,
)


def decoded(records: list[dict[str, object]]) -> pa.Table:
    return pa.Table.from_pylist([flatten_record(record) for record in records])


def records() -> list[dict[str, object]]:
    return [entry_to_record(entry) for entry in ENTRIES]


def file_record(**changes: object) -> dict[str, object]:
    record = records()[1]
    file = record["_FILE"]
    assert isinstance(file, dict)
    return {**record, "_FILE": {**file, **changes}}


def test_entries_survive_the_file() -> None:
    data = write_records(MANIFEST_SCHEMA, records())
    columns = entry_columns(read_columns(data, "x"), "x")
    assert columns.schema == ENTRY_COLUMNS
    assert entries_from_columns(columns) == ENTRIES


def test_entries_survive_columns() -> None:
    assert entries_from_columns(entries_to_columns(ENTRIES)) == ENTRIES
    assert entries_to_columns([]).schema == ENTRY_COLUMNS


def test_columns_have_the_names_of_the_records() -> None:
    assert ENTRY_COLUMNS.names == [
        "kind",
        "partition",
        "bucket",
        "total_buckets",
        "file_name",
        "file_size",
        "row_count",
        "min_key",
        "max_key",
        "key_min",
        "key_max",
        "key_null_counts",
        "value_min",
        "value_max",
        "value_null_counts",
        "min_sequence_number",
        "max_sequence_number",
        "schema_id",
        "level",
        "extra_files",
        "creation_time",
        "delete_row_count",
        "embedded_file_index",
        "file_source",
        "value_stats_cols",
        "external_path",
        "first_row_id",
        "write_cols",
        "write_cols_sequences",
    ]


def test_golden_entries_become_the_records_they_were() -> None:
    assert len(GOLDEN_MANIFESTS) == 244
    for path in GOLDEN_MANIFESTS:
        data = path.read_bytes()
        entries = entries_from_columns(entry_columns(read_columns(data, str(path)), str(path)))
        assert [entry_to_record(entry) for entry in entries] == read_records(data, str(path)), path


def test_columns_that_old_writers_lacked_are_null() -> None:
    old = records()
    for record in old:
        file = record["_FILE"]
        assert isinstance(file, dict)
        for name in ("_FILE_SOURCE", "_VALUE_STATS_COLS", "_WRITE_COLS_SEQUENCES"):
            del file[name]
    columns = entry_columns(decoded(old), "x")
    for name in ("file_source", "value_stats_cols", "write_cols_sequences"):
        assert columns[name].null_count == 2
    assert columns.schema == ENTRY_COLUMNS


def test_columns_that_newer_writers_add_are_left_out() -> None:
    columns = entry_columns(decoded([file_record(_NEW=3)]), "x")
    assert columns.schema == ENTRY_COLUMNS


def test_an_empty_manifest_has_no_entries() -> None:
    columns = entry_columns(read_columns(write_records(MANIFEST_SCHEMA, []), "x"), "x")
    assert (columns.num_rows, columns.schema) == (0, ENTRY_COLUMNS)


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ({**records()[0], "_KIND": 2}, "neither ADD"),
        ({**records()[0], "_KIND": -1}, "neither ADD"),
        ({**records()[0], "_BUCKET": None}, "bucket of a manifest entry is null"),
        ({**records()[0], "_BUCKET": "x"}, "bucket of the manifest is no int32"),
        ({**records()[0], "_VERSION": None}, "no _VERSION"),
        ({"_VERSION": 2, "_KIND": 0}, "no field _PARTITION"),
        (file_record(_FILE_NAME=None), "file_name of a manifest entry is null"),
    ],
)
def test_broken_entries_are_corrupt(record: dict[str, object], problem: str) -> None:
    with pytest.raises(CorruptTableError, match=problem) as caught:
        entry_columns(decoded([record]), "/t/manifest/m")
    assert caught.value.path == "/t/manifest/m"


def test_entries_of_another_version_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="version 3"):
        entry_columns(decoded([records()[0], {**records()[0], "_VERSION": 3}]), "x")


def test_a_manifest_list_survives_the_file() -> None:
    data = write_records(MANIFEST_LIST_SCHEMA, [meta_to_record(META)])
    assert [meta_from_record(record, "x") for record in read_records(data, "x")] == [META]


@pytest.mark.parametrize(
    "changes",
    [
        {"_FILE_NAME": None},
        {"_FILE_SIZE": "3"},
        {"_PARTITION_STATS": None},
        {"_PARTITION_STATS": {"_MIN_VALUES": b""}},
        {"_VERSION": None},
    ],
)
def test_broken_manifest_list_records_are_corrupt(changes: dict[str, object]) -> None:
    with pytest.raises(CorruptTableError) as caught:
        meta_from_record({**meta_to_record(META), **changes}, "/t/manifest/l")
    assert caught.value.path == "/t/manifest/l"


def test_manifest_list_records_of_another_version_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="version 1"):
        meta_from_record({**meta_to_record(META), "_VERSION": 1}, "x")


def written_as_columns(entries: pa.Table) -> pa.Table:
    """What a manifest of them gives back."""
    sink = pa.BufferOutputStream()
    writer = AvroWriter(sink, MANIFEST_FIELDS, DataFileSettings(compression="zstd"))
    writer.write(manifest_rows(entries))
    writer.close()
    store = MemoryFileIO()
    store.write("/m", sink.getvalue().to_pybytes())
    return read_manifest(store, "/m")


def test_manifests_of_columns_have_the_avro_schema_of_manifests_of_records() -> None:
    assert json.loads(avro_schema_text(MANIFEST_FIELDS)) == MANIFEST_SCHEMA


def test_every_member_of_an_entry_comes_back_from_a_manifest_of_columns() -> None:
    entries = entries_to_columns(ENTRIES)
    for some in (entries, entries.slice(1), pa.concat_tables([entries.slice(1), entries])):
        assert written_as_columns(some).equals(some)


@pytest.mark.parametrize("path", GOLDEN_MANIFESTS[::9], ids=lambda p: str(p.relative_to(GOLDEN)))
def test_real_manifests_come_back_from_columns(path: Path) -> None:
    store = MemoryFileIO()
    store.write("/real", path.read_bytes())
    entries = read_manifest(store, "/real")
    assert written_as_columns(entries).equals(entries)
