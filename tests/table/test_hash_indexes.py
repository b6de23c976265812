"""Among the index files of a snapshot: those that say which bucket of a partition has a key."""

import pytest

from lakebed.errors import CorruptTableError
from lakebed.format.hash_index import BUCKET_MAX
from lakebed.format.index_manifest import IndexManifestEntry, index_entries_to_columns
from lakebed.format.paths import FileNames, TablePaths
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.metadata.index_paths import IndexPaths
from lakebed.table.writing.dynamic_buckets import HashIndexes
from support.index_files import index_entry


def hash_indexes(*entries: IndexManifestEntry) -> HashIndexes:
    return HashIndexes.of(
        index_entries_to_columns(entries),
        file_io=MemoryFileIO(),
        paths=IndexPaths(TablePaths("/w/t")),
        names=FileNames(lambda: "u"),
    )


def test_the_indexes_of_a_partition_are_found_by_bucket_whatever_else_is_listed() -> None:
    indexes = hash_indexes(
        index_entry("a", partition=b"q", bucket=1),
        index_entry("b", partition=b"p", bucket=1),
        index_entry("c", partition=b"q", index_type="DELETION_VECTORS"),
        index_entry("d", partition=b"q", bucket=0),
    )
    found = {
        partition: {
            bucket: entry.file_name for bucket, entry in indexes.of_partition(partition).items()
        }
        for partition in (b"p", b"q", b"r")
    }
    assert found == {b"p": {1: "b"}, b"q": {0: "d", 1: "a"}, b"r": {}}
    assert hash_indexes().of_partition(b"p") == {}


@pytest.mark.parametrize(
    ("buckets", "problem"),
    [
        ((0, 1, 1), "/w/t/index/i2.*bucket 1 has two hash indexes"),
        ((0, -1), "bucket -1 cannot be"),
        ((BUCKET_MAX + 1,), f"bucket {BUCKET_MAX + 1} cannot be"),
    ],
)
def test_indexes_that_contradict_each_other_are_corrupt(
    buckets: tuple[int, ...], problem: str
) -> None:
    entries = [index_entry(f"i{place}", bucket=each) for place, each in enumerate(buckets)]
    indexes = hash_indexes(*entries, index_entry("other", partition=b"p"))
    with pytest.raises(CorruptTableError, match=problem):
        indexes.of_partition(b"")
    assert set(indexes.of_partition(b"p")) == {0}
