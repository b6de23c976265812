"""From the Arrow columns of live entries to the files and groups that splits are made of."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.arrow.typing import ArrowArray, encode_dictionary, python_values
from lakebed.format.paths import TablePaths, format_partition
from lakebed.format.schema import TableSchema
from lakebed.table.metadata.partitions import partition_table
from lakebed.table.planning.deletion_vectors import DV_COLUMNS
from lakebed.table.planning.split import SplitFile
from lakebed.table.planning.split_columns import FILE_COLUMNS, files_of


def positions(rows: npt.NDArray[np.integer]) -> ArrowArray:
    """Rows to take, as Arrow takes them."""
    array: ArrowArray = pa.array(rows)
    return array


@dataclass(frozen=True, slots=True)
class BucketGroup:
    """The entries of one bucket.

    Attributes:
        partition: Values of the partition columns.
        bucket: The bucket.
        rows: Positions of its entries.
    """

    partition: tuple[object, ...]
    bucket: int
    rows: list[int]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Places:
    """In which bucket each of many entries is.

    Attributes:
        codes: The bucket of each entry, as a position in the others.
        partitions: Values of the partition columns.
        buckets: The buckets.
        directories: Where their files lie.
    """

    codes: npt.NDArray[np.int64]
    partitions: list[tuple[object, ...]]
    buckets: list[int]
    directories: ArrowArray


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitFiles:
    """Resolves entries of one table.

    Attributes:
        table_schema: The current schema.
        paths: Names on disk.
        default_name: `partition.default-name`.
        legacy_name: `partition.legacy-name`.
    """

    table_schema: TableSchema
    paths: TablePaths
    default_name: str
    legacy_name: bool

    def files(self, entries: pa.Table) -> list[SplitFile]:
        """One file an entry; for few entries."""
        places = self.places(entries)
        given = {
            "directory": places.directories.take(positions(places.codes)),
            "ordinal": pa.array(np.arange(entries.num_rows)),
        }
        names = [*FILE_COLUMNS, *(n for n in DV_COLUMNS.names if n in entries.column_names)]
        columns = [
            given[name] if name in given else entries.column(name).combine_chunks()
            for name in names
        ]
        return files_of(pa.RecordBatch.from_arrays(columns, names=names))

    def places(self, entries: pa.Table) -> Places:
        """The buckets of entries, numbered by first sight of the partition and by bucket."""
        encoded = encode_dictionary(entries.column("partition").combine_chunks())
        buckets = entries.column("bucket").to_numpy().astype(np.int64)
        low = int(buckets.min(initial=0))
        span = int(buckets.max(initial=0)) - low + 1
        pairs = encoded.indices.to_numpy().astype(np.int64) * span + (buckets - low)
        distinct, codes = np.unique(pairs, return_inverse=True)
        values = self._partition_values(encoded.dictionary)
        paths = [self.partition_path(value) for value in values]
        partition_codes: list[int] = (distinct // span).tolist()
        of_code: list[int] = (distinct % span + low).tolist()
        directories = [
            self.paths.bucket(paths[code], bucket)
            for code, bucket in zip(partition_codes, of_code, strict=True)
        ]
        return Places(
            codes=codes.reshape(-1),
            partitions=[values[code] for code in partition_codes],
            buckets=of_code,
            directories=pa.array(directories, pa.string()),
        )

    def groups(self, entries: pa.Table) -> list[BucketGroup]:
        """The entries by bucket, each bucket's in the order given."""
        places = self.places(entries)
        order = np.argsort(places.codes, kind="stable")
        cuts = np.flatnonzero(np.diff(places.codes[order])) + 1
        return [
            BucketGroup(places.partitions[code], places.buckets[code], rows.tolist())
            for code, rows in enumerate(np.split(order, cuts) if len(order) else [])
        ]

    def bucket_directory(self, partition: bytes, bucket: int) -> str:
        """The directory of a bucket of a serialized partition row."""
        return self.paths.bucket(self.path_of(partition), bucket)

    def path_of(self, partition: bytes) -> str:
        """The directory below the table of a serialized partition row."""
        return self.partition_path(self._partition_values(pa.array([partition], pa.binary()))[0])

    def partition_path(self, values: tuple[object, ...]) -> str:
        """The directory of a partition below the table."""
        return format_partition(
            values,
            self.table_schema.partition_type.fields,
            default_name=self.default_name,
            legacy=self.legacy_name,
        )

    def _partition_values(self, partitions: ArrowArray) -> list[tuple[object, ...]]:
        fields = self.table_schema.partition_type.fields
        if not fields:
            return [()] * len(partitions)
        columns = partition_table(partitions, fields).columns
        return list(zip(*map(python_values, columns), strict=True))
