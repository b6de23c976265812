"""The metadata tree of a snapshot: manifest lists, manifests, entries (format.md 6, 7)."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lakebed.errors import StorageError
from lakebed.format.avro.codec import RowChoice
from lakebed.format.data_file_meta import FileKind, ManifestEntry
from lakebed.format.index_manifest import (
    INDEX_COLUMNS,
    IndexManifestEntry,
    index_entries_from_columns,
)
from lakebed.format.manifest import (
    ENTRY_COLUMNS,
    ManifestFileMeta,
    entries_from_columns,
)
from lakebed.format.manifest_file import (
    read_index_manifest,
    read_manifest,
    read_manifest_list,
    write_index_manifest,
    write_manifest,
    write_manifest_list,
)
from lakebed.format.paths import FileNames, TablePaths
from lakebed.format.predicate.expressions import Expression
from lakebed.format.predicate.pruning import may_match
from lakebed.format.snapshot import Snapshot
from lakebed.format.statistics.stored import StatsColumns, bounds_from_stats
from lakebed.format.types import DataField
from lakebed.storage.file_io import FileIO
from lakebed.table.metadata.entries import net_entries
from lakebed.table.metadata.live_files import LiveScan
from lakebed.table.metadata.manifest_merge import MergePolicy
from lakebed.table.metadata.manifest_rewrite import ManifestRewrite
from lakebed.table.metadata.manifest_writing import (
    ManifestSettings,
    ManifestWriter,
    manifest_meta,
    told_columns,
)
from lakebed.table.metadata.netting import IDENTITY_COLUMNS
from lakebed.table.metadata.partitions import PartitionFilter, entries_of_partitions
from lakebed.table.metadata.plan_step import EntryStep, PlanStep


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenLists:
    """What a try to commit wrote.

    Attributes:
        base_list: File name of the base manifest list.
        base_list_size: Its bytes.
        delta_list: File name of the delta manifest list.
        delta_list_size: Its bytes.
        changelog_list: File name of the changelog manifest list; None without changelog files.
        changelog_list_size: Its bytes.
        index_manifest: File name of the index manifest of the snapshot to come, if there is one.
        unshared_paths: Every file written, all useless if the try loses.
    """

    base_list: str
    base_list_size: int
    delta_list: str
    delta_list_size: int
    changelog_list: str | None
    changelog_list_size: int | None
    index_manifest: str | None
    unshared_paths: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifests:
    """Reads and writes the manifests of one table.

    Attributes:
        file_io: The store.
        paths: Names on disk.
        partition_fields: The partition columns, in order.
        compression: `manifest.compression`.
        zstd_level: `file.compression.zstd-level`.
        merge_policy: When a commit merges manifests.
        threads: How many manifests are decoded at once.
    """

    file_io: FileIO
    paths: TablePaths
    partition_fields: tuple[DataField, ...]
    compression: str
    zstd_level: int
    merge_policy: MergePolicy
    threads: int = 1

    def files(self, snapshot: Snapshot) -> list[ManifestFileMeta]:
        """The manifests that together say what is live."""
        return [*self.base_files(snapshot), *self.delta_files(snapshot)]

    def base_files(self, snapshot: Snapshot) -> list[ManifestFileMeta]:
        """The manifests of what was live before a snapshot."""
        return self._list(snapshot.base_manifest_list, snapshot.base_manifest_list_size)

    def delta_files(self, snapshot: Snapshot) -> list[ManifestFileMeta]:
        """The manifests of what a snapshot changed."""
        return self._list(snapshot.delta_manifest_list, snapshot.delta_manifest_list_size)

    def changelog_files(self, snapshot: Snapshot) -> list[ManifestFileMeta]:
        """The manifests of a snapshot's changelog; none where it brought no changelog."""
        if snapshot.changelog_manifest_list is None:
            return []
        return self._list(snapshot.changelog_manifest_list, snapshot.changelog_manifest_list_size)

    def _list(self, name: str, size: int | None) -> list[ManifestFileMeta]:
        return read_manifest_list(self.file_io, self.paths.manifest(name), size=size)

    def prune(
        self, metas: Sequence[ManifestFileMeta], predicate: Expression | None
    ) -> list[ManifestFileMeta]:
        """Those that may hold a partition for which a predicate on partition columns is true."""
        if predicate is None or not metas:
            return list(metas)
        stats = StatsColumns(
            pa.chunked_array([[m.partition_stats.min_values for m in metas]], pa.binary()),
            pa.chunked_array([[m.partition_stats.max_values for m in metas]], pa.binary()),
            pa.chunked_array(
                [pa.array([m.partition_stats.null_counts for m in metas], pa.list_(pa.int64()))]
            ),
        )
        bounds = bounds_from_stats(stats, self.partition_fields, source=self.paths.location)
        counts = np.array([m.num_added_files + m.num_deleted_files for m in metas], np.int64)
        mask = may_match(predicate, bounds, counts)
        return [meta for meta, kept in zip(metas, mask.tolist(), strict=True) if kept]

    def entries(self, metas: Sequence[ManifestFileMeta]) -> pa.Table:
        """All entries of some manifests, as `ENTRY_COLUMNS`."""
        tables = [self._read(meta) for meta in metas]
        return pa.concat_tables(tables) if tables else ENTRY_COLUMNS.empty_table()

    def _read(
        self,
        meta: ManifestFileMeta,
        columns: frozenset[str] | None = None,
        choice: RowChoice | None = None,
    ) -> pa.Table:
        path = self.paths.manifest(meta.file_name)
        return read_manifest(
            self.file_io, path, size=meta.file_size, columns=columns, choice=choice
        )

    def of_partitions(self, entries: pa.Table, partitions: PartitionFilter) -> pa.Table:
        """The entries of the partitions that a filter keeps."""
        kept = entries_of_partitions(entries, partitions)
        return entries if kept.all() else entries.filter(pa.array(kept))

    def live_files(
        self, metas: Sequence[ManifestFileMeta], scan: LiveScan
    ) -> tuple[pa.Table, list[PlanStep]]:
        """The live ones among the entries of manifests, with little memory beside the result.

        Raises:
            CorruptTableError: A manifest is damaged, or a file was added twice.
        """
        return scan.live_files(
            metas, read=self._read, threads=self.threads, source=self.paths.location
        )

    def live(self, snapshot: Snapshot, *, partitions: PartitionFilter) -> pa.Table:
        """The live entries of some partitions at a snapshot."""
        step = EntryStep("partitions", lambda entries: entries_of_partitions(entries, partitions))
        return self.live_files(self.files(snapshot), LiveScan(steps=(step,)))[0]

    def live_places(self, metas: Sequence[ManifestFileMeta]) -> pa.Table:
        """Where the live files of manifests stand: `partition`, `manifest` and `row`.

        Raises:
            CorruptTableError: A manifest is damaged, or a file was added twice.
        """
        numbers = {meta.file_name: number for number, meta in enumerate(metas)}

        def read(
            meta: ManifestFileMeta, columns: frozenset[str] | None, choice: RowChoice | None
        ) -> pa.Table:
            entries = self._read(meta, columns, choice)
            count = entries.num_rows
            return entries.append_column(
                "manifest", pa.array(np.full(count, numbers[meta.file_name]))
            ).append_column("row", pa.array(np.arange(count)))

        wanted = ["file_name", "partition", "manifest", "row"]
        scan = LiveScan(
            columns=frozenset(IDENTITY_COLUMNS), shrink=lambda adds: adds.select(wanted)
        )
        return scan.live_files(metas, read=read, threads=self.threads, source=self.paths.location)[
            0
        ]

    def delete_entries(self, live: pa.Table) -> list[ManifestEntry]:
        """DELETE entries for live ones, repeating all that the ADD said (format.md 7)."""
        kind = pa.array(np.full(live.num_rows, FileKind.DELETE), ENTRY_COLUMNS.field("kind").type)
        index = ENTRY_COLUMNS.get_field_index("kind")
        return entries_from_columns(live.set_column(index, ENTRY_COLUMNS.field("kind"), kind))

    def index_columns(self, snapshot: Snapshot | None) -> pa.Table:
        """The index files that a snapshot lists, as `INDEX_COLUMNS`; none where there is none.

        Raises:
            CorruptTableError: Its index manifest cannot be read.
            NotFoundError: It is gone with the snapshot.
        """
        if snapshot is None or snapshot.index_manifest is None:
            return INDEX_COLUMNS.empty_table()
        return read_index_manifest(self.file_io, self.paths.manifest(snapshot.index_manifest))

    def index_files(self, snapshot: Snapshot | None) -> list[IndexManifestEntry]:
        """The same as entries; for few index files."""
        return index_entries_from_columns(self.index_columns(snapshot))

    def write(
        self,
        entries: Sequence[ManifestEntry],
        latest: Snapshot | None,
        *,
        names: FileNames,
        changelog: Sequence[ManifestEntry] = (),
        index_files: pa.Table | None = None,
        rewrite: ManifestRewrite | None = None,
    ) -> WrittenLists:
        """Writes the manifests and lists of the snapshot to come; on an error, leaves none.

        Args:
            entries: What changes.
            latest: The snapshot before.
            names: Fresh file names.
            changelog: ADD entries of changelog files.
            index_files: Every index file of the snapshot to come, as `INDEX_COLUMNS`; None for
                those of `latest`.
            rewrite: How the manifests of `latest` are written anew; None where few are merged, as
                with every commit.
        """
        written: list[str] = []
        try:
            delta = self._write_manifests(entries, names, written)
            if rewrite is not None:
                base = self._rewritten(rewrite, names, written)
            else:
                base = self._merged(self.files(latest) if latest else [], names, written)
            base_list, base_size = self._write_list(base, names, written)
            delta_list, delta_size = self._write_list(delta, names, written)
            changelog_list, changelog_size = None, None
            if changelog:
                metas = self._write_manifests(changelog, names, written)
                changelog_list, changelog_size = self._write_list(metas, names, written)
            index_manifest = latest.index_manifest if latest else None
            if index_files is not None:
                index_manifest = self._write_index_manifest(index_files, names, written)
        except Exception:
            self.discard(written)
            raise
        return WrittenLists(
            base_list=base_list,
            base_list_size=base_size,
            delta_list=delta_list,
            delta_list_size=delta_size,
            changelog_list=changelog_list,
            changelog_list_size=changelog_size,
            index_manifest=index_manifest,
            unshared_paths=tuple(written),
        )

    def discard(self, paths: Sequence[str]) -> None:
        """Deletes files that no snapshot names, as far as the store lets us."""
        for path in paths:
            with contextlib.suppress(StorageError):
                self.file_io.delete(path)

    def _write_index_manifest(
        self, index_files: pa.Table, names: FileNames, written: list[str]
    ) -> str:
        name = names.index_manifest()
        path = self.paths.manifest(name)
        written.append(path)
        write_index_manifest(
            self.file_io,
            path,
            index_files,
            compression=self.compression,
            level=self.zstd_level,
        )
        return name

    def _write_list(
        self, metas: Sequence[ManifestFileMeta], names: FileNames, written: list[str]
    ) -> tuple[str, int]:
        name = names.manifest_list()
        path = self.paths.manifest(name)
        written.append(path)
        size = write_manifest_list(
            self.file_io, path, metas, compression=self.compression, level=self.zstd_level
        )
        return name, size

    def _merged(
        self, metas: Sequence[ManifestFileMeta], names: FileNames, written: list[str]
    ) -> list[ManifestFileMeta]:
        merged: list[ManifestFileMeta] = []
        for group in self.merge_policy.pick(metas):
            if len(group) == 1:
                merged += group
                continue
            writer = self._writer(names, written)
            writer.write(net_entries(self.entries(group), source=self.paths.location))
            merged += writer.finish()
        return merged

    def _rewritten(
        self, rewrite: ManifestRewrite, names: FileNames, written: list[str]
    ) -> list[ManifestFileMeta]:
        return rewrite.write(self._read, lambda: self._writer(names, written))

    def _writer(self, names: FileNames, written: list[str]) -> ManifestWriter:
        def put(data: bytes) -> str:
            name = names.manifest()
            path = self.paths.manifest(name)
            written.append(path)
            with self.file_io.open_output(path) as output:
                output.write(data)
            return name

        return ManifestWriter(
            ManifestSettings(
                put=put,
                partition_fields=self.partition_fields,
                target_size_bytes=self.merge_policy.target_size_bytes,
                compression=self.compression,
                zstd_level=self.zstd_level,
            )
        )

    def _write_manifests(
        self, entries: Sequence[ManifestEntry], names: FileNames, written: list[str]
    ) -> list[ManifestFileMeta]:
        """One manifest, or several where one would grow far beyond the target size."""
        metas = []
        # An entry takes a few hundred bytes compressed; the target need only be met roughly.
        step = max(self.merge_policy.target_size_bytes // 256, 1)
        for start in range(0, len(entries), step):
            part = entries[start : start + step]
            name = names.manifest()
            path = self.paths.manifest(name)
            written.append(path)
            size = write_manifest(
                self.file_io, path, part, compression=self.compression, level=self.zstd_level
            )
            fields = self.partition_fields
            metas.append(manifest_meta(name, size, told_columns(part), partition_fields=fields))
        return metas
