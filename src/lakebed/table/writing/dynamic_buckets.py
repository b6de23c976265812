"""Rows of a table with dynamic buckets: each key in the bucket that its hash index says.

The HASH index of a partition says which hashes are in which bucket (`format.hash_index`). It is
read when the first row of the partition comes. A bucket that took new keys gets a new
index file with all of its hashes, which goes into the commit with the rows.

One writer at a time: a commit whose partitions got another index since its writer began fails
(`metadata.index_files`), since the same new key may be in another bucket there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pyarrow as pa

from lakebed.errors import CorruptTableError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import encode_dictionary, joined, python_values
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
from lakebed.format.index_manifest import IndexManifestEntry, index_entries_from_columns
from lakebed.format.paths import FileNames
from lakebed.format.schema import TableSchema
from lakebed.lsm.merge import Kinds
from lakebed.storage.file_io import FileIO
from lakebed.table.metadata.index_paths import IndexPaths
from lakebed.table.writing.bucket_room import BucketGrowth, Share, assigners_of
from lakebed.table.writing.commit_message import CommitMessage
from lakebed.table.writing.key_buckets import KeyBuckets
from lakebed.table.writing.routing import NOT_FIXED, PartitionedRows, RoutedRows, by_bucket


@dataclass(frozen=True, slots=True, kw_only=True)
class HashIndexes:
    """The hash indexes of one snapshot.

    Attributes:
        file_io: The store.
        paths: Where index files lie.
        names: Fresh names.
        stored: The index files of all buckets, as `INDEX_COLUMNS`, partition by partition.
        places: The first of each partition, and behind the last.
    """

    file_io: FileIO
    paths: IndexPaths
    names: FileNames
    stored: pa.Table
    places: Mapping[bytes, tuple[int, int]]

    @classmethod
    def of(
        cls,
        index_files: pa.Table,
        *,
        file_io: FileIO,
        paths: IndexPaths,
        names: FileNames,
    ) -> "HashIndexes":
        """Those among the index files of a snapshot, which are `INDEX_COLUMNS`."""
        found = index_files.filter(pc.equal(index_files["index_type"], HASH_INDEX))
        encoded = encode_dictionary(joined(found["partition"]))
        codes = encoded.indices.to_numpy()
        order = np.argsort(codes, kind="stable")
        ends = np.cumsum(np.bincount(codes, minlength=len(encoded.dictionary))).tolist()
        places = zip(python_values(encoded.dictionary), pairwise([0, *ends]), strict=True)
        return cls(
            file_io=file_io,
            paths=paths,
            names=names,
            stored=found.take(order),
            places=dict(places),
        )

    def of_partition(self, partition: bytes) -> dict[int, IndexManifestEntry]:
        """The index file of each bucket of a partition.

        Raises:
            CorruptTableError: A bucket has two, or a number that no bucket has.
        """
        first, last = self.places.get(partition, (0, 0))
        buckets: dict[int, IndexManifestEntry] = {}
        for entry in index_entries_from_columns(self.stored.slice(first, last - first)):
            if entry.bucket in buckets or not 0 <= entry.bucket <= BUCKET_MAX:
                problem = "has two hash indexes" if entry.bucket in buckets else "cannot be"
                raise CorruptTableError(self.paths.of(entry), f"bucket {entry.bucket} {problem}")
            buckets[entry.bucket] = entry
        return buckets

    def read(self, entry: IndexManifestEntry) -> Hashes:
        """The hashes of a bucket.

        Raises:
            CorruptTableError: The file holds another number of hashes than its entry says.
            NotFoundError: It is gone.
        """
        path = self.paths.of(entry)
        hashes = decode_hashes(self.file_io.read(path), path)
        if len(hashes) != entry.row_count:
            raise CorruptTableError(
                path, f"holds {len(hashes)} hashes; its manifest says {entry.row_count}"
            )
        return hashes

    def write(self, partition: bytes, bucket: int, hashes: Hashes) -> IndexManifestEntry:
        """Writes the hashes of a bucket."""
        name, data = self.names.index(), encode_hashes(hashes)
        self.file_io.write(self.paths.new(partition, bucket, name), data)
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
        self.file_io.delete(self.paths.of(entry))


@dataclass(slots=True, kw_only=True)
class DynamicBuckets:
    """Assigns keys to buckets that grow in number (`bucket` = -1 with a primary key).

    Memory: 8 bytes for each key of the partitions that rows came for; one of several tasks holds
    the keys of its share only.

    Attributes:
        table_schema: The schema that is written.
        growth: When a bucket is full.
        indexes: The hash indexes that rows are added to; without entries, of an overwrite.
        tasks: How many tasks write at once, each the keys of its share.
    """

    table_schema: TableSchema
    growth: BucketGrowth
    indexes: HashIndexes
    tasks: int = 1
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
            mine = hashes[positions]
            buckets[positions] = self._keys_of(places.partitions[code], mine).assign(mine)
        yield from by_bucket(rows, kinds, places=places, buckets=buckets, total_buckets=NOT_FIXED)

    def held_back(self) -> Iterator[RoutedRows]:
        """Nothing."""
        return iter(())

    def finish(self) -> list[CommitMessage]:
        """Writes the indexes of buckets that took new keys; on an error, leaves none."""
        messages: list[CommitMessage] = []
        try:
            for partition, keys in self._keys.items():
                stored = self.indexes.of_partition(partition)
                for bucket, hashes in keys.added():
                    old = stored.get(bucket)
                    known = () if old is None else (self.indexes.read(old),)
                    all_hashes = np.concatenate((*known, hashes))
                    message = CommitMessage(
                        partition=partition,
                        bucket=bucket,
                        total_buckets=NOT_FIXED,
                        new_files=(),
                        new_index_files=(self.indexes.write(partition, bucket, all_hashes),),
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

    def _keys_of(self, partition: bytes, hashes: Hashes) -> KeyBuckets:
        """What is known of the keys of a partition; hashes of its first rows say whose keys."""
        keys = self._keys.get(partition)
        if keys is None:
            partition_hash = _partition_hash(partition)
            owners = assigners_of(hashes, partition_hash, self.growth.assigners)
            stored = self.indexes.of_partition(partition)
            self._keys[partition] = keys = KeyBuckets(
                ((bucket, self.indexes.read(entry)) for bucket, entry in stored.items()),
                self.growth,
                partition_hash=partition_hash,
                share=Share.of(owners, tasks=self.tasks),
            )
        return keys


def _key_hashes(rows: pa.Table, schema: TableSchema) -> Hashes:
    names = schema.trimmed_primary_keys
    columns = [rows.column(name) for name in names]
    types = [schema.field(name).type for name in names]
    return hash_rows(encode_rows(columns, types, with_arity=False))


def _partition_hash(partition: bytes) -> int:
    return int(hash_rows(pa.array([partition[ARITY_BYTES:]], pa.binary()))[0])
