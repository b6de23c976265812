"""What does a snapshot name, and which rows does it hold? Read past the code under test."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow.parquet as pq

from lakebed.format.data_file_meta import FileKind, ManifestEntry
from lakebed.format.deletion_vector import DeletionVectorRef, read_deletion_vector
from lakebed.format.index_manifest import IndexManifestEntry
from lakebed.format.manifest_file import read_entries, read_manifest_list
from lakebed.format.snapshot import Snapshot
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.parts import TableParts
from simulation.models import BrokenTableError, Kind, State

_Identity = tuple[bytes, int, int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What a snapshot names.

    Attributes:
        needed: Paths of all files without which it cannot be read.
        state: The rows of the table.
    """

    needed: frozenset[str]
    state: State


@dataclass(slots=True, kw_only=True)
class ContentsReader:
    """Reads snapshots of one table; no file changes, so none is read twice.

    Attributes:
        store: The store, where nothing fails.
        parts: The table in it.
        kind: What kind of table it is.
    """

    store: MemoryFileIO
    parts: TableParts
    kind: Kind
    _lists: dict[str, list[str]] = field(default_factory=dict)
    _entries: dict[str, list[ManifestEntry]] = field(default_factory=dict)
    _rows: dict[str, list[dict[str, int]]] = field(default_factory=dict)
    _directories: dict[tuple[bytes, int], str] = field(default_factory=dict)

    def read(self, snapshot: Snapshot) -> Contents:
        """All that a snapshot names and holds.

        Raises:
            BrokenTableError: It cannot be.
            NotFoundError: A file is not there.
        """
        paths = self.parts.paths
        lists = [
            paths.manifest(snapshot.base_manifest_list),
            paths.manifest(snapshot.delta_manifest_list),
        ]
        manifests = [path for each in lists for path in self._listed(each)]
        live = self._live(manifests)
        files = {self._path(entry): entry for entry in live}
        index_files = self.parts.manifests.index_files(snapshot)
        vectors = self._vectors(index_files, {entry.file.file_name for entry in live})
        if snapshot.index_manifest is not None:
            lists.append(paths.manifest(snapshot.index_manifest))
        for path in files:
            self._read_rows(path)
        rows = (row for path in files for row in self._left(path, vectors))
        beside = (
            f"{path.rpartition('/')[0]}/{name}"
            for path, entry in files.items()
            for name in entry.file.extra_files
        )
        indexes = map(self.parts.index_paths.of, index_files)
        return Contents(
            needed=frozenset([*lists, *manifests, *files, *beside, *indexes]),
            state=self.kind.rows_of(rows),
        )

    def _listed(self, path: str) -> list[str]:
        if path not in self._lists:
            metas = read_manifest_list(self.store, path)
            self._lists[path] = [self.parts.paths.manifest(meta.file_name) for meta in metas]
        return self._lists[path]

    def _live(self, manifests: list[str]) -> list[ManifestEntry]:
        counts: Counter[_Identity] = Counter()
        added: dict[_Identity, ManifestEntry] = {}
        for path in manifests:
            if path not in self._entries:
                self._entries[path] = read_entries(self.store, path)
            for entry in self._entries[path]:
                file = entry.file
                identity = (entry.partition, entry.bucket, file.level, file.file_name)
                is_add = entry.kind is FileKind.ADD
                counts[identity] += 1 if is_add else -1
                if is_add:
                    added[identity] = entry
        for identity, count in counts.items():
            if count not in {0, 1}:
                raise BrokenTableError(
                    f"{identity[3]} at level {identity[2]} is live {count} times"
                )
        return [entry for identity, entry in added.items() if counts[identity]]

    def _path(self, entry: ManifestEntry) -> str:
        place = (entry.partition, entry.bucket)
        if place not in self._directories:
            self._directories[place] = self.parts.split_files.bucket_directory(*place)
        return f"{self._directories[place]}/{entry.file.file_name}"

    def _vectors(
        self, index_files: list[IndexManifestEntry], live: set[str]
    ) -> Mapping[str, DeletionVectorRef]:
        found: dict[str, DeletionVectorRef] = {}
        for entry in index_files:
            for each in entry.deletion_vectors_ranges or ():
                if each.data_file_name not in live:
                    raise BrokenTableError(f"a deletion vector of {each.data_file_name}, not live")
                if each.data_file_name in found:
                    raise BrokenTableError(f"two deletion vectors of {each.data_file_name}")
                found[each.data_file_name] = DeletionVectorRef(
                    path=self.parts.index_paths.of(entry),
                    offset=each.offset,
                    length=each.length,
                    cardinality=each.cardinality,
                )
        return found

    def _read_rows(self, path: str) -> None:
        if path not in self._rows:
            table = pq.read_table(self.store.open_input(path), use_threads=False)
            self._rows[path] = table.to_pylist()

    def _left(
        self, path: str, vectors: Mapping[str, DeletionVectorRef]
    ) -> Iterator[Mapping[str, int]]:
        rows = self._rows[path]
        vector = vectors.get(path.rpartition("/")[2])
        if vector is None:
            return iter(rows)
        flags = read_deletion_vector(self.store, vector, data_file=path, row_count=len(rows))
        return (row for row, is_gone in zip(rows, flags, strict=True) if not is_gone)
