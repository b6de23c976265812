"""Where the index files of a table lie (format.md 12).

In the index directory, or, where `index-file-in-data-file-dir` is set, beside the data files of
their bucket; unless an entry says another place.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowColumn, python_values
from lakebed.format.index_manifest import IndexManifestEntry
from lakebed.format.paths import TablePaths

INDEX_IN_BUCKET = "index-file-in-data-file-dir"


@dataclass(frozen=True, slots=True)
class IndexPaths:
    """The index files of one table; picklable.

    Attributes:
        paths: Names on disk.
        bucket_directory: From a serialized partition row and a bucket to the directory, where
            index files lie there; None where they have their own directory.
    """

    paths: TablePaths
    bucket_directory: Callable[[bytes, int], str] | None = None

    def of(self, entry: IndexManifestEntry) -> str:
        """The path of a listed file."""
        if entry.external_path is not None:
            return entry.external_path
        return self.new(entry.partition, entry.bucket, entry.file_name)

    def new(self, partition: bytes, bucket: int, name: str) -> str:
        """The path of a file to be written."""
        if self.bucket_directory is None:
            return self.paths.index(name)
        return f"{self.bucket_directory(partition, bucket)}/{name}"

    def of_columns(self, rows: pa.Table) -> ArrowColumn:
        """The paths of many listed files.

        Args:
            rows: With `partition`, `bucket`, `index_file_name` and `external_path`.
        """
        directory = self._directories(rows)
        inside = pc.binary_join_element_wise(directory, rows["index_file_name"], "/")
        paths: ArrowColumn = pc.coalesce(rows["external_path"], inside)
        return paths

    def _directories(self, rows: pa.Table) -> str | ArrowColumn:
        if self.bucket_directory is None:
            return self.paths.index_directory
        partitions, buckets = (python_values(rows[name]) for name in ("partition", "bucket"))
        places = list(zip(partitions, buckets, strict=True))
        found = {place: self.bucket_directory(*place) for place in set(places)}
        column: ArrowColumn = pa.array([found[place] for place in places], pa.string())
        return column
