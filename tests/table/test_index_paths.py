"""An index file has one path, whether it is asked for by its entry, by columns, or before it is."""

import msgspec
import pyarrow as pa
import pytest

from lakebed.format.paths import TablePaths
from lakebed.table.metadata.index_paths import IndexPaths
from support.index_files import index_entry
from support.table_builder import Shape, build_table

ENTRIES = [
    index_entry("i", partition=b"p", bucket=3),
    index_entry("j", partition=b"q", bucket=3),
    msgspec.structs.replace(index_entry("k", partition=b"p"), external_path="s3://x/elsewhere"),
]


def _bucket_directory(partition: bytes, bucket: int) -> str:
    return f"/w/t/{partition.decode()}/bucket-{bucket}"


@pytest.mark.parametrize(
    ("paths", "inside"),
    [
        (IndexPaths(TablePaths("/w/t")), ["/w/t/index/i", "/w/t/index/j"]),
        (
            IndexPaths(TablePaths("/w/t"), _bucket_directory),
            ["/w/t/p/bucket-3/i", "/w/t/q/bucket-3/j"],
        ),
    ],
    ids=["own directory", "beside data files"],
)
def test_the_path_of_an_index_file_is_one(paths: IndexPaths, inside: list[str]) -> None:
    wanted = [*inside, "s3://x/elsewhere"]
    assert [paths.of(entry) for entry in ENTRIES] == wanted
    new = [paths.new(each.partition, each.bucket, each.file_name) for each in ENTRIES[:2]]
    assert new == inside
    rows = pa.table(
        {
            "partition": pa.array([each.partition for each in ENTRIES], pa.binary()),
            "bucket": [each.bucket for each in ENTRIES],
            "index_file_name": [each.file_name for each in ENTRIES],
            "external_path": [each.external_path for each in ENTRIES],
        }
    )
    assert paths.of_columns(rows).to_pylist() == wanted
    assert paths.of_columns(rows.slice(0, 0)).to_pylist() == []


@pytest.mark.parametrize(
    ("value", "directory"), [("true", "/bucket-3"), ("false", "/index"), (None, "/index")]
)
def test_the_option_says_where_they_lie(value: str | None, directory: str) -> None:
    options = {} if value is None else {"index-file-in-data-file-dir": value}
    parts = build_table(Shape(has_primary_key=False, buckets=-1)).table.parts(options)
    path = parts.index_paths.of(index_entry("i", bucket=3))
    assert path == f"{parts.paths.location}{directory}/i"
