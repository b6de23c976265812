"""Which data files do snapshots read, and which do they add?

Each manifest is read once, however many snapshots name it: what a snapshot reads is counted.

    manifest     1         2          3
    file a     ADD      DELETE                 0: not read
    file b     ADD                             1: read
    file c              ADD, DELETE   ADD      1: read; it rose to another level
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowColumn, joined
from lakebed.format.data_file_meta import FileKind
from lakebed.format.manifest import ManifestFileMeta, entry_schema
from lakebed.format.snapshot import Snapshot
from lakebed.table.expiry.metadata_files import MetadataReader
from lakebed.table.parts import TableParts
from lakebed.table.planning.split_files import positions

FILE_COLUMNS = frozenset(
    {"kind", "partition", "bucket", "file_name", "extra_files", "external_path"}
)

Mask = npt.NDArray[np.bool_]
_Manifest = tuple[str, int]  # its path and size


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mentions:
    """The files that a manifest names.

    Attributes:
        files: Where they are among all files that are asked for.
        signs: 1 where it adds them, -1 where it deletes them.
    """

    files: npt.NDArray[np.intp]
    signs: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileViews:
    """What snapshots show of data files.

    Attributes:
        reader: Reads their metadata.
        whole: The manifests of each snapshot all of whose files count.
        changes: The manifests of what other snapshots changed, whose added files count.
    """

    reader: MetadataReader
    whole: Sequence[Sequence[_Manifest]]
    changes: Sequence[_Manifest]

    @classmethod
    def of(
        cls, reader: MetadataReader, whole: Sequence[Snapshot], changed: Sequence[Snapshot] = ()
    ) -> "FileViews":
        """The views of snapshots.

        Args:
            reader: Reads their metadata.
            whole: Those all of whose files count.
            changed: Those whose added files count.

        Raises:
            CorruptTableError: A list cannot be read.
            NotFoundError: It is gone, and the reader does not leave that out.
        """
        place = partial(_place, reader)
        changes = reader.spread(reader.delta_files, changed)
        return cls(
            reader=reader,
            whole=[[*map(place, each)] for each in reader.spread(reader.all_files, whole)],
            changes=[place(meta) for metas in changes for meta in metas],
        )

    def files(self) -> pa.Table:
        """`path` and `partition` of the files that count, and of what lies beside them.

        Raises:
            CorruptTableError: A manifest cannot be read.
            NotFoundError: It is gone, and the reader does not leave that out.
        """
        manifests = self._manifests()
        tables = list(self.reader.spread(partial(_named_files, self.reader), manifests))
        nothing = file_paths(self.reader.parts, entry_schema(FILE_COLUMNS).empty_table())
        named = pa.concat_tables([nothing, *tables]).group_by("path", use_threads=False)
        every = named.aggregate([("partition", "min")]).select(["path", "partition_min"])
        every = every.rename_columns(["path", "partition"])
        found = [_mentions(each, every["path"]) for each in tables]
        counted = self._counted(dict(zip(manifests, found, strict=True)), every.num_rows)
        return every.filter(pa.array(counted))

    def among(self, files: pa.Table) -> Mask:
        """Which of some files count.

        Args:
            files: Their `path` and `partition`.

        Raises:
            CorruptTableError: A manifest cannot be read.
            NotFoundError: It is gone, and the reader does not leave that out.
        """
        manifests = self._manifests()
        partitions = files["partition"].unique()

        def mentions(manifest: _Manifest) -> _Mentions:
            return _mentions(_named_files(self.reader, manifest, partitions), files["path"])

        found = self.reader.spread(mentions, manifests)
        return self._counted(dict(zip(manifests, found, strict=True)), files.num_rows)

    def _manifests(self) -> list[_Manifest]:
        return sorted({*self.changes, *(each for whole in self.whole for each in whole)})

    def _counted(self, mentions: Mapping[_Manifest, _Mentions], file_count: int) -> Mask:
        counted = np.zeros(file_count, dtype=bool)
        for each in self.changes:
            found = mentions[each]
            counted[found.files[found.signs > 0]] = True
        for manifests in self.whole:
            net = np.zeros(file_count, dtype=np.int64)
            for each in set(manifests):
                np.add.at(net, mentions[each].files, mentions[each].signs)
            counted |= net > 0
        return counted


def file_paths(parts: TableParts, entries: pa.Table) -> pa.Table:
    """The `path` of each file and of each beside it, with `kind` and `partition`."""
    places = parts.split_files.places(entries)
    buckets = places.directories.take(positions(places.codes))
    outside = entries["external_path"]
    path = pc.coalesce(outside, pc.binary_join_element_wise(buckets, entries["file_name"], "/"))
    files = entries.select(["kind", "partition"]).append_column("path", path)
    beside = pc.replace_substring_regex(outside, pattern="/[^/]*$", replacement="")
    directories = pc.coalesce(beside, buckets)
    lists = joined(entries["extra_files"])
    counts = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
    owners = positions(np.repeat(np.arange(len(counts)), counts))
    names = pc.list_flatten(lists)
    extra = pc.binary_join_element_wise(directories.take(owners), names, "/")
    return pa.concat_tables([files, files.take(owners).set_column(2, "path", extra)])


def _place(reader: MetadataReader, meta: ManifestFileMeta) -> _Manifest:
    return reader.parts.paths.manifest(meta.file_name), meta.file_size


def _named_files(
    reader: MetadataReader, manifest: _Manifest, partitions: ArrowColumn | None = None
) -> pa.Table:
    """The files that a manifest names, of some partitions or all."""
    path, size = manifest
    entries = reader.entries(path, FILE_COLUMNS, size=size)
    if partitions is not None:
        entries = entries.filter(pc.is_in(entries["partition"], value_set=partitions))
    return file_paths(reader.parts, entries)


def _mentions(named: pa.Table, paths: ArrowColumn) -> _Mentions:
    found = pc.index_in(named["path"], value_set=paths)
    is_asked = found.is_valid()
    added = pc.equal(named["kind"].filter(is_asked), int(FileKind.ADD))
    return _Mentions(
        files=found.drop_null().to_numpy().astype(np.intp),
        signs=np.where(added.to_numpy(), 1, -1),
    )
