"""Tables whose files are changed behind their back, so that just one thing of them is wrong.

Whatever an edit does not mean to break is made right again: sizes, counts, bounds of manifests.
"""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from lakebed.format.data_file_meta import FileKind, ManifestEntry
from lakebed.format.index_manifest import IndexManifestEntry, index_entries_to_columns
from lakebed.format.manifest import ManifestFileMeta
from lakebed.format.manifest_file import (
    read_entries,
    read_manifest_list,
    write_index_manifest,
    write_manifest,
    write_manifest_list,
)
from lakebed.format.snapshot import Snapshot
from lakebed.storage.file_io import FileIO
from lakebed.table.metadata.manifest_writing import manifest_meta, told_columns
from lakebed.table.parts import TableParts
from lakebed.table.table import Table

EditEntries = Callable[[list[ManifestEntry]], Sequence[ManifestEntry]]
EditMeta = Callable[[ManifestFileMeta], ManifestFileMeta]


@dataclass(frozen=True, slots=True)
class Damager:
    """Changes files of a table."""

    table: Table

    @property
    def parts(self) -> TableParts:
        return self.table.parts()

    @property
    def file_io(self) -> FileIO:
        return self.table.file_io

    @property
    def newest(self) -> Snapshot:
        snapshot = self.table.latest_snapshot()
        assert snapshot is not None
        return snapshot

    def put(self, path: str, data: bytes) -> None:
        """Gives a file other bytes."""
        self.file_io.write(path, data)

    def change(self, snapshot: Snapshot, **members: object) -> None:
        """Gives a snapshot other members."""
        changed = msgspec.structs.replace(snapshot, **members)
        self.put(self.parts.paths.snapshot(snapshot.id), changed.to_json())

    def entries(self) -> list[ManifestEntry]:
        """What the newest snapshot changed."""
        (meta,) = self.parts.manifests.delta_files(self.newest)
        return read_entries(self.file_io, self.parts.paths.manifest(meta.file_name))

    def data_path(self, entry: ManifestEntry) -> str:
        """Where a data file lies."""
        directory = self.parts.split_files.bucket_directory(entry.partition, entry.bucket)
        return f"{directory}/{entry.file.file_name}"

    def edit_entries(self, edit: EditEntries) -> None:
        """Has the newest snapshot say other changes."""
        snapshot, paths = self.newest, self.parts.paths
        (meta,) = self.parts.manifests.delta_files(snapshot)
        before = self.entries()
        after = edit(before)
        path = paths.manifest(meta.file_name)
        self.file_io.delete(path)
        size = write_manifest(self.file_io, path, after)
        fields = self.parts.schema.partition_type.fields
        told = told_columns(after)
        self.edit_metas(
            lambda _: manifest_meta(meta.file_name, size, told, partition_fields=fields)
        )
        more = _rows(after) - _rows(before)
        self.change(
            self.newest,
            delta_record_count=snapshot.delta_record_count + more,
            total_record_count=snapshot.total_record_count + more,
        )

    def edit_metas(self, edit: EditMeta) -> None:
        """Has the newest delta list say something else of its manifest."""
        snapshot = self.newest
        path = self.parts.paths.manifest(snapshot.delta_manifest_list)
        metas = [edit(meta) for meta in read_manifest_list(self.file_io, path)]
        self.file_io.delete(path)
        size = write_manifest_list(self.file_io, path, metas)
        self.change(snapshot, delta_manifest_list_size=size)

    def edit_file(self, **members: object) -> None:
        """Has the newest snapshot say something else of the first file that it added."""
        self.edit_entries(lambda entries: [with_file(entries[0], **members), *entries[1:]])

    def move(self, **place: object) -> None:
        """Puts the first file that was added into another place, and says so."""
        entries = self.entries()
        moved = replace(entries[0], **place)  # type: ignore[arg-type]
        self.put(self.data_path(moved), self.file_io.read(self.data_path(entries[0])))
        self.edit_entries(lambda _: [moved, *entries[1:]])

    def rewrite_rows(self, edit: Callable[[pa.Table], pa.Table]) -> None:
        """Gives the first file that was added other rows; only its size is told anew."""
        entry = self.entries()[0]
        path = self.data_path(entry)
        rows = edit(pq.read_table(io.BytesIO(self.file_io.read(path)), partitioning=None))
        sink = io.BytesIO()
        pq.write_table(rows, sink)
        self.put(path, sink.getvalue())
        self.edit_file(file_size=len(sink.getvalue()))

    def edit_indexes(
        self, edit: Callable[[list[IndexManifestEntry]], Sequence[IndexManifestEntry]]
    ) -> None:
        """Has the newest snapshot list other index files."""
        name = self.newest.index_manifest
        assert name is not None
        listed = self.parts.manifests.index_files(self.newest)
        path = self.parts.paths.manifest(name)
        self.file_io.delete(path)
        write_index_manifest(self.file_io, path, index_entries_to_columns(edit(listed)))


def with_file(entry: ManifestEntry, **members: object) -> ManifestEntry:
    """An entry that says something else of its file."""
    return replace(entry, file=replace(entry.file, **members))  # type: ignore[arg-type]


def _rows(entries: Sequence[ManifestEntry]) -> int:
    return sum(
        each.file.row_count if each.kind is FileKind.ADD else -each.file.row_count
        for each in entries
    )
