"""Rows of a table with dynamic buckets: each key in the bucket that its hash index says.

The HASH index of a partition says which hashes are in which bucket (`format.hash_index`). It is
read when the first row of the partition comes. A bucket that took new keys gets a new
index file with all of its hashes, which goes into the commit with the rows.

One writer at a time: a commit whose partitions got another index since its writer began fails
(`metadata.index_files`), since the same new key may be in another bucket there.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from lakebed.errors import CorruptTableError
from lakebed.format.binary_row.codec import encode_rows
from lakebed.format.binary_row.layout import ARITY_BYTES
from lakebed.format.bucket import hash_rows
from lakebed.format.hash_index import (
    BUCKET_MAX,
    HASH_INDEX,
    Hashes,
    decode_hashes,
    encode_hashes,
)
from lakebed.format.index_manifest import IndexManifestEntry
from lakebed.format.paths import FileNames, TablePaths
from lakebed.format.schema import TableSchema
from lakebed.lsm.merge import Kinds
from lakebed.storage.file_io import FileIO
from lakebed.table.writing.bucket_room import BucketGrowth
from lakebed.table.writing.commit_message import CommitMessage
from lakebed.table.writing.key_buckets import KeyBuckets
from lakebed.table.writing.routing import NOT_FIXED, PartitionedRows, RoutedRows, by_bucket


@dataclass(frozen=True, slots=True, kw_only=True)
class HashIndexes:
    """The hash indexes of one snapshot.

    Attributes:
        file_io: The store.
        paths: Names on disk.
        names: Fresh names.
        stored: The index file of each bucket of each partition.
    """

    file_io: FileIO
    paths: TablePaths
    names: FileNames
    stored: Mapping[bytes, Mapping[int, IndexManifestEntry]]

    @classmethod
    def of(
        cls,
        entries: Iterable[IndexManifestEntry],
        *,
        file_io: FileIO,
        paths: TablePaths,
        names: FileNames,
    ) -> "HashIndexes":
        """Those among the index files of a snapshot.

        Raises:
            CorruptTableError: A bucket has two, or a number that no bucket has.
        """
        stored: dict[bytes, dict[int, IndexManifestEntry]] = {}
        for entry in entries:
            if entry.index_type != HASH_INDEX:
                continue
            buckets = stored.setdefault(entry.partition, {})
            if entry.bucket in buckets or not 0 <= entry.bucket <= BUCKET_MAX:
                problem = "has two hash indexes" if entry.bucket in buckets else "cannot be"
                raise CorruptTableError(
                    paths.index(entry.file_name), f"bucket {entry.bucket} {problem}"
                )
            buckets[entry.bucket] = entry
        return cls(file_io=file_io, paths=paths, names=names, stored=stored)

    def read(self, entry: IndexManifestEntry) -> Hashes:
        """The hashes of a bucket.

        Raises:
            CorruptTableError: The file holds another number of hashes than its entry says.
            NotFoundError: It is gone.
        """
        path = self._path(entry)
        hashes = decode_hashes(self.file_io.read(path), path)
        if len(hashes) != entry.row_count:
            raise CorruptTableError(
                path, f"holds {len(hashes)} hashes; its manifest says {entry.row_count}"
            )
        return hashes

    def write(self, partition: bytes, bucket: int, hashes: Hashes) -> IndexManifestEntry:
        """Writes the hashes of a bucket."""
        name, data = self.names.index(), encode_hashes(hashes)
        self.file_io.write(self.paths.index(name), data)
        return IndexManifestEntry(
            partition=partition,
            bucket=bucket,
            index_type=HASH_INDEX,
            file_name=name,
            file_size=len(data),
            row_count=len(hashes),
        )

    def delete(self, entry: IndexManifestEntry) -> None:
        """Deletes a file that `write` made."""
        self.file_io.delete(self._path(entry))

    def _path(self, entry: IndexManifestEntry) -> str:
        return entry.external_path or self.paths.index(entry.file_name)


@dataclass(slots=True, kw_only=True)
class DynamicBuckets:
    """Assigns keys to buckets that grow in number (`bucket` = -1 with a primary key).

    Memory: 8 bytes for each key of the partitions that rows came for.

    Attributes:
        table_schema: The schema that is written.
        growth: When a bucket is full.
        indexes: The hash indexes that rows are added to; without entries, of an overwrite.
    """

    table_schema: TableSchema
    growth: BucketGrowth
    indexes: HashIndexes
    _keys: dict[bytes, KeyBuckets] = field(default_factory=dict, init=False)

    def route(self, rows: pa.Table, kinds: Kinds | None) -> Iterator[RoutedRows]:
        """The rows by bucket.

        Raises:
            CorruptTableError: An index cannot be read.
            InvalidTableError: A partition would have more buckets than the format knows.
        """
        places = PartitionedRows.of(rows, self.table_schema)
        hashes = _key_hashes(rows, self.table_schema)
        buckets = np.empty(rows.num_rows, np.int32)
        for code, positions in places.each():
            keys = self._keys_of(places.partitions[code])
            buckets[positions] = keys.assign(hashes[positions])
        yield from by_bucket(rows, kinds, places=places, buckets=buckets, total_buckets=NOT_FIXED)

    def held_back(self) -> Iterator[RoutedRows]:
        """Nothing."""
        return iter(())

    def finish(self) -> list[CommitMessage]:
        """Writes the indexes of buckets that took new keys; on an error, leaves none."""
        messages: list[CommitMessage] = []
        try:
            for partition, keys in self._keys.items():
                stored = self.indexes.stored.get(partition, {})
                for bucket, hashes in keys.changed():
                    old = stored.get(bucket)
                    message = CommitMessage(
                        partition=partition,
                        bucket=bucket,
                        total_buckets=NOT_FIXED,
                        new_files=(),
                        new_index_files=(self.indexes.write(partition, bucket, hashes),),
                        deleted_index_files=() if old is None else (old,),
                    )
                    messages.append(message)
        except BaseException:
            for message in messages:
                self.indexes.delete(message.new_index_files[0])
            raise
        return messages

    def close(self) -> None:
        """Forgets the keys."""
        self._keys.clear()

    def _keys_of(self, partition: bytes) -> KeyBuckets:
        keys = self._keys.get(partition)
        if keys is None:
            stored = self.indexes.stored.get(partition, {})
            self._keys[partition] = keys = KeyBuckets(
                ((bucket, self.indexes.read(entry)) for bucket, entry in stored.items()),
                self.growth,
                partition_hash=_partition_hash(partition),
            )
        return keys


def _key_hashes(rows: pa.Table, schema: TableSchema) -> Hashes:
    names = schema.trimmed_primary_keys
    columns = [rows.column(name) for name in names]
    types = [schema.field(name).type for name in names]
    return hash_rows(encode_rows(columns, types, with_arity=False))


def _partition_hash(partition: bytes) -> int:
    return int(hash_rows(pa.array([partition[ARITY_BYTES:]], pa.binary()))[0])
