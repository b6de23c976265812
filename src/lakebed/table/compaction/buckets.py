"""How do the files of the buckets stand that may be compacted?"""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lakebed.format.arrow.compute import compute as pc
from lakebed.format.data_file_meta import DataFileMeta
from lakebed.format.index_manifest import (
    DELETION_VECTORS,
    IndexManifestEntry,
    index_entries_from_columns,
)
from lakebed.format.manifest import entries_from_columns
from lakebed.format.paths import POSTPONE_BUCKET, FileNames
from lakebed.format.snapshot import Snapshot
from lakebed.lsm.compaction.append import DeletedRows
from lakebed.table.committing import is_unaware
from lakebed.table.metadata.partitions import PartitionFilter
from lakebed.table.parts import TableParts
from lakebed.table.planning.deletion_vectors import attach_deletion_vectors, deletion_vectors_of
from lakebed.table.planning.key_ranks import key_ranks
from lakebed.table.planning.split import SplitFile
from lakebed.table.writing.deletion_vector_files import DeletionVectorFiles

Place = tuple[bytes, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A live file of a bucket.

    Attributes:
        meta: What the manifests say of it.
        split_file: The same for readers.
        low: Rank of its smallest key among those of the table's files; 0 in append tables.
        high: Rank of its greatest key.
    """

    meta: DataFileMeta
    split_file: SplitFile
    low: int
    high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketFiles:
    """The live files of a bucket.

    Attributes:
        partition: Serialized row of the partition values.
        bucket: The bucket.
        total_buckets: The partition's bucket count.
        files: The files by name.
        vectors: The index files of their deletion vectors.
    """

    partition: bytes
    bucket: int
    total_buckets: int
    files: dict[str, StoredFile]
    vectors: tuple[IndexManifestEntry, ...] = ()

    @property
    def metas(self) -> list[DataFileMeta]:
        """What the manifests say of the files."""
        return [file.meta for file in self.files.values()]

    @property
    def deleted_rows(self) -> dict[str, DeletedRows]:
        """What is known of the deletion vectors of its files, by file name."""
        return {
            name: DeletedRows(index_file=vector.path, row_count=vector.cardinality)
            for name, file in self.files.items()
            if (vector := file.split_file.deletion_vector) is not None
        }


def bucket_files(
    parts: TableParts,
    snapshot: Snapshot,
    partitions: PartitionFilter,
    *,
    places: frozenset[Place] | None = None,
    names: Collection[str] | None = None,
) -> list[BucketFiles]:
    """The buckets of some partitions; rows that wait for their bucket are in none.

    Args:
        parts: The table.
        snapshot: Where they are looked at.
        partitions: Which partitions.
        places: Which buckets of these; None for all.
        names: Names of the files that are asked for; None for all.
    """
    live = parts.manifests.live(snapshot, partitions=partitions)
    live = live.filter(pc.not_equal(live.column("bucket"), POSTPONE_BUCKET))
    if places is not None:
        live = live.filter(pa.array(_among(live, places)))
    if names is not None:
        wanted = pa.array(list(names), pa.string())
        live = live.filter(pc.is_in(live.column("file_name"), value_set=wanted))
    live, vectors = _with_vectors(parts, snapshot, live)
    lows = highs = [0] * live.num_rows
    if parts.schema.primary_keys and live.num_rows:
        lows, highs = key_ranks(live, parts.schema)
    found: dict[Place, dict[str, StoredFile]] = defaultdict(dict)
    totals: dict[Place, int] = {}
    columns = (entries_from_columns(live), parts.split_files.files(live), lows, highs)
    for entry, split_file, low, high in zip(*columns, strict=True):
        place = (entry.partition, entry.bucket)
        totals[place] = entry.total_buckets
        found[place][entry.file.file_name] = StoredFile(
            meta=entry.file, split_file=split_file, low=low, high=high
        )
    return [
        BucketFiles(
            partition=place[0],
            bucket=place[1],
            total_buckets=totals[place],
            files=files,
            vectors=tuple(vectors[place]),
        )
        for place, files in found.items()
    ]


def vector_files(parts: TableParts) -> DeletionVectorFiles:
    """What writes the deletion vectors of a table."""
    options = parts.options
    return DeletionVectorFiles(
        file_io=parts.file_io,
        paths=parts.index_paths,
        names=FileNames(parts.session.effects.fresh_uuid),
        target_size=options.deletion_vector_index_file_target_size,
        is_64_bit=options.deletion_vectors_bitmap64,
        is_unaware=is_unaware(parts),
    )


def _with_vectors(
    parts: TableParts, snapshot: Snapshot, live: pa.Table
) -> tuple[pa.Table, defaultdict[Place, list[IndexManifestEntry]]]:
    """The entries with their deletion vectors, and the index files that hold these."""
    found: defaultdict[Place, list[IndexManifestEntry]] = defaultdict(list)
    if snapshot.index_manifest is None or not parts.options.deletion_vectors_enabled:
        return live, found
    listed = parts.manifests.index_columns(snapshot)
    listed = listed.filter(pc.equal(listed["index_type"], DELETION_VECTORS))
    for name in ("partition", "bucket"):
        listed = listed.filter(pc.is_in(listed[name], value_set=pc.unique(live.column(name))))
    for entry in index_entries_from_columns(listed):
        found[entry.partition, entry.bucket].append(entry)
    vectors = deletion_vectors_of(
        listed, source=parts.paths.manifest(snapshot.index_manifest), paths=parts.index_paths
    )
    return attach_deletion_vectors(live, vectors), found


def _among(live: pa.Table, places: frozenset[Place]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    pairs = zip(
        live.column("partition").to_pylist(), live.column("bucket").to_pylist(), strict=True
    )
    return np.fromiter((pair in places for pair in pairs), np.bool_, live.num_rows)
