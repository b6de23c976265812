"""Deletion vectors of golden tables, joined to the files of a snapshot."""

import numpy as np
import pyarrow as pa
import pytest

from lakebed.errors import CorruptTableError, UnsupportedError
from lakebed.format.avro.codec import read_records, write_records
from lakebed.format.deletion_vector import read_deletion_vector
from lakebed.format.index_manifest import (
    DeletionVectorRange,
    IndexManifestEntry,
)
from lakebed.format.manifest import ENTRY_COLUMNS
from lakebed.format.paths import TablePaths
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.metadata.index_paths import IndexPaths
from lakebed.table.planning.deletion_vectors import (
    attach_deletion_vectors,
    deletion_vector_refs,
    read_deletion_vectors,
)
from support.golden_answers import golden_queries
from support.golden_files import FILE_IO, GoldenFiles
from support.index_files import INDEX_MANIFEST_SCHEMA, index_record

PATHS = TablePaths("/w/t")


@pytest.mark.parametrize("name", ["append_dv", "pk_dv"])
def test_rows_left_of_a_golden_table_are_those_that_the_real_engine_reads(name: str) -> None:
    golden = GoldenFiles(name)
    assert golden.snapshot.index_manifest is not None
    vectors = read_deletion_vectors(
        FILE_IO, golden.snapshot.index_manifest, paths=IndexPaths(golden.paths)
    )
    entries = attach_deletion_vectors(golden.entries, vectors)
    refs = deletion_vector_refs(entries)
    assert sum(ref is not None for ref in refs) == vectors.num_rows > 0
    left: list[int] = []
    levels = entries["level"].to_pylist()
    for ref, file_name, level in zip(refs, golden.file_names, levels, strict=True):
        if name == "pk_dv" and level == 0:
            continue  # not compacted yet, so not to be seen
        ids = golden.rows_of(file_name)["id"].to_numpy()
        if ref is not None:
            gone = read_deletion_vector(FILE_IO, ref, data_file=file_name, row_count=len(ids))
            assert gone.sum() == ref.cardinality
            ids = ids[~gone]
        left += ids.tolist()
    answer = next(q for q in golden_queries(name) if q.kind == "latest")
    position = [column for column, _ in answer.columns].index("id")
    assert sorted(left) == sorted(row[position] for row in answer.rows)


def entry(bucket: int, *names: str, external_path: str | None = None) -> IndexManifestEntry:
    return IndexManifestEntry(
        partition=bytes(12),
        bucket=bucket,
        index_type="DELETION_VECTORS",
        file_name=f"index-{bucket}",
        file_size=99,
        row_count=len(names),
        deletion_vectors_ranges=tuple(
            DeletionVectorRange(data_file_name=name, offset=1 + i, length=20, cardinality=i or None)
            for i, name in enumerate(names)
        ),
        external_path=external_path,
    )


HASH = IndexManifestEntry(
    partition=bytes(12),
    bucket=0,
    index_type="HASH",
    file_name="index-hash",
    file_size=8,
    row_count=2,
)


def vectors_of(*entries: IndexManifestEntry, in_buckets: bool = False) -> pa.Table:
    return vectors_in([index_record(entry) for entry in entries], in_buckets=in_buckets)


def vectors_in(records: list[dict[str, object]], *, in_buckets: bool = False) -> pa.Table:
    file_io = MemoryFileIO()
    data = write_records(INDEX_MANIFEST_SCHEMA, records)
    file_io.put_if_absent(PATHS.manifest("index-manifest-0"), data)
    paths = IndexPaths(PATHS, _bucket_directory if in_buckets else None)
    return read_deletion_vectors(file_io, "index-manifest-0", paths=paths)


def _bucket_directory(partition: bytes, bucket: int) -> str:
    return f"/w/t/p{len(partition)}/bucket-{bucket}"


def files(*places: tuple[int, str], partition: bytes = bytes(12)) -> pa.Table:
    rows = pa.table(
        {
            "partition": pa.array([partition] * len(places), pa.binary()),
            "bucket": pa.array([bucket for bucket, _ in places], pa.int32()),
            "file_name": pa.array([name for _, name in places], pa.string()),
        }
    )
    assert all(
        rows.schema.field(name).type == ENTRY_COLUMNS.field(name).type for name in rows.column_names
    )
    return rows


def test_a_file_is_found_by_partition_bucket_and_name() -> None:
    vectors = vectors_of(entry(0, "a", "b"), HASH, entry(1, "a", external_path="s3://x/i"))
    places = ((0, "b"), (1, "a"), (1, "b"), (2, "a"), (1, "other"), (0, "other"))
    attached = attach_deletion_vectors(files(*places), vectors)
    refs = deletion_vector_refs(attached)
    assert [ref and (ref.path, ref.offset, ref.length, ref.cardinality) for ref in refs] == [
        ("/w/t/index/index-0", 2, 20, 1),
        ("s3://x/i", 1, 20, None),
        *[None] * 4,
    ]
    elsewhere = files((0, "a"), partition=bytes(20))
    assert deletion_vector_refs(attach_deletion_vectors(elsewhere, vectors)) == [None]


def test_index_files_may_lie_beside_data_files() -> None:
    vectors = vectors_of(entry(3, "a"), entry(4, "b", external_path="s3://x/i"), in_buckets=True)
    assert vectors["path"].to_pylist() == ["/w/t/p12/bucket-3/index-3", "s3://x/i"]


def test_no_vectors_leave_all_rows() -> None:
    for vectors in (
        vectors_of(),
        vectors_of(HASH),
        vectors_of(entry(0)),
        vectors_of(in_buckets=True),
    ):
        attached = attach_deletion_vectors(files((0, "a")), vectors)
        assert deletion_vector_refs(attached) == [None]
        assert attach_deletion_vectors(files(), vectors).num_rows == 0


def test_two_vectors_of_one_file_are_corrupt() -> None:
    with pytest.raises(CorruptTableError, match=r"index-manifest-0.*data file a has two"):
        vectors_of(entry(0, "b", "a"), entry(0, "a"))


def test_a_record_of_another_version_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="index-manifest-0"):
        vectors_in([{**index_record(entry(0, "a")), "_VERSION": 2}])


def test_old_manifests_without_cardinality_are_read() -> None:
    """Written before the writer told cardinality, external paths or global indexes."""
    fields = INDEX_MANIFEST_SCHEMA["fields"]
    assert isinstance(fields, list)
    old = {**INDEX_MANIFEST_SCHEMA, "fields": [f for f in fields if f["name"] not in _NEW]}
    records = [index_record(entry(0, "a"))]
    data = write_records(old, records)
    assert "_EXTERNAL_PATH" not in read_records(data, "x")[0]
    file_io = MemoryFileIO()
    file_io.put_if_absent(PATHS.manifest("index-manifest-0"), data)
    vectors = read_deletion_vectors(file_io, "index-manifest-0", paths=IndexPaths(PATHS))
    assert vectors["path"].to_pylist() == ["/w/t/index/index-0"]


_NEW = {"_EXTERNAL_PATH", "_GLOBAL_INDEX"}


def test_many_vectors_are_joined_without_an_object_a_file() -> None:
    count = 200_000
    names = [f"data-{i}.parquet" for i in range(count)]
    vectors = pa.table(
        {
            "partition": pa.array([bytes(12)] * count, pa.binary()),
            "bucket": pa.array(np.arange(count) % 7, pa.int32()),
            "data_file_name": names,
            "path": ["/w/t/index/i"] * count,
            "offset": pa.array(np.arange(count)),
            "length": pa.array(np.full(count, 20)),
            "cardinality": pa.array(np.ones(count, np.int64)),
        }
    )
    entries = files(*((i % 7, names[i]) for i in reversed(range(count))))
    attached = attach_deletion_vectors(entries, vectors)
    assert attached["dv_offset"].to_numpy().tolist() == list(reversed(range(count)))
