"""How do the deletion vectors of a bucket change: which index files go, and which come?

Index files are never changed. One that holds the vector of a file that loses rows, or goes itself,
is replaced; the other vectors that it holds are written again as they are:

    listed    index-1: a b c      index-2: d e
    change    b loses rows, c goes, f loses its first rows
    after     index-3: a b f      index-2: d e

A bucket has one index file, whatever its size. A partition without buckets has any number, cut at
`deletion-vector.index-file.target-size`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lakebed.errors import CorruptTableError
from lakebed.format.deletion_vector import (
    FILE_VERSION,
    DeletionVectorRef,
    EncodedVector,
    stored_vector,
)
from lakebed.format.deletion_vector_write import encode_deletion_vector, index_file_of
from lakebed.format.index_manifest import DELETION_VECTORS, IndexManifestEntry
from lakebed.format.paths import FileNames
from lakebed.lsm.section_plan import Mask
from lakebed.storage.file_io import FileIO
from lakebed.table.metadata.index_files import Bucket, IndexChanges
from lakebed.table.metadata.index_paths import IndexPaths


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorChanges:
    """What happens to the files of a bucket.

    Attributes:
        vectors: By the name of a data file that loses rows, what marks all its deleted rows.
        gone: Names of the data files that go, with what marked their rows.
    """

    vectors: Mapping[str, EncodedVector] = field(default_factory=dict)
    gone: Collection[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionVectorFiles:
    """Writes deletion vectors; travels to tasks.

    Attributes:
        file_io: The store.
        paths: Where index files lie.
        names: Names of new files.
        target_size: `deletion-vector.index-file.target-size`.
        is_64_bit: `deletion-vectors.bitmap64`.
        is_unaware: Whether the table has no buckets.
    """

    file_io: FileIO
    paths: IndexPaths
    names: FileNames
    target_size: int
    is_64_bit: bool
    is_unaware: bool

    def encode(self, deleted: Mask, *, data_file: str) -> EncodedVector:
        """What marks rows of a data file.

        Args:
            deleted: One flag a row.
            data_file: The data file, for the message.

        Raises:
            UnsupportedError: A row is too far back for the bitmaps that the table asks for.
        """
        rows = np.flatnonzero(deleted)
        return encode_deletion_vector(rows, data_file=data_file, is_64_bit=self.is_64_bit)

    def change(
        self, bucket: Bucket, stored: Sequence[IndexManifestEntry], changes: VectorChanges
    ) -> IndexChanges:
        """Writes the index files of a bucket anew that change; on an error, leaves no file.

        Args:
            bucket: Its partition and number.
            stored: The index files of deletion vectors that it has.
            changes: What happens to its files.

        Raises:
            CorruptTableError: An index file cannot be read.
            StorageError: One cannot be written.
        """
        named = {*changes.vectors, *changes.gone}
        is_single = bool(changes.vectors) and not self.is_unaware
        replaced = tuple(
            entry for entry in stored if is_single or not named.isdisjoint(_owners(entry))
        )
        vectors: dict[str, EncodedVector] = {}
        for entry in replaced:
            vectors.update(self._carried(entry, named))
        vectors.update(changes.vectors)
        return IndexChanges(added=self._written(bucket, vectors), deleted=replaced)

    def _carried(
        self, entry: IndexManifestEntry, named: Collection[str]
    ) -> Iterator[tuple[str, EncodedVector]]:
        """The vectors of an index file that stay as they are."""
        path = self.paths.of(entry)
        stays = [
            each for each in entry.deletion_vectors_ranges or () if each.data_file_name not in named
        ]
        if not stays:
            return
        data = self.file_io.read(path)
        if not data.startswith(FILE_VERSION):
            raise CorruptTableError(path, f"it is no index file of version {FILE_VERSION[0]}")
        for each in stays:
            ref = DeletionVectorRef(
                path=path, offset=each.offset, length=each.length, cardinality=each.cardinality
            )
            yield each.data_file_name, stored_vector(data, ref, data_file=each.data_file_name)

    def _written(
        self, bucket: Bucket, vectors: Mapping[str, EncodedVector]
    ) -> tuple[IndexManifestEntry, ...]:
        names: list[str] = []
        written: list[IndexManifestEntry] = []
        try:
            for held in self._rolled(vectors.items()):
                names.append(self.names.index())
                written.append(self._write(bucket, held, name=names[-1]))
        except BaseException:
            # The last one, too: a store may fail when the file is there.
            for name in names:
                self.file_io.delete(self.paths.new(*bucket, name))
            raise
        return tuple(written)

    def _rolled(
        self, vectors: Iterable[tuple[str, EncodedVector]]
    ) -> Iterator[dict[str, EncodedVector]]:
        """The vectors of each index file."""
        held: dict[str, EncodedVector] = {}
        size = 0
        for name, vector in vectors:
            held[name] = vector
            size += len(vector.data)
            if self.is_unaware and size >= self.target_size:
                yield held
                held, size = {}, 0
        if held:
            yield held

    def _write(
        self, bucket: Bucket, vectors: Mapping[str, EncodedVector], *, name: str
    ) -> IndexManifestEntry:
        data, ranges = index_file_of(vectors)
        with self.file_io.open_output(self.paths.new(*bucket, name)) as output:
            output.write(data)
        return IndexManifestEntry(
            partition=bucket[0],
            bucket=bucket[1],
            index_type=DELETION_VECTORS,
            file_name=name,
            file_size=len(data),
            row_count=len(ranges),
            deletion_vectors_ranges=ranges,
        )


def _owners(entry: IndexManifestEntry) -> set[str]:
    return {each.data_file_name for each in entry.deletion_vectors_ranges or ()}
