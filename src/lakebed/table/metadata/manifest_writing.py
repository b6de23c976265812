"""How do many entries become manifests of about a target size, and what is said of each?

Entries come as columns, in parts, so of all of them only one manifest is held at a time. A manifest
ends once it has reached the target; only the last one is smaller.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import joined
from lakebed.format.avro.write import AvroWriter
from lakebed.format.binary_row.codec import decode_rows, encode_rows
from lakebed.format.data_file_meta import EMPTY_STATS, FileKind, ManifestEntry, SimpleStats
from lakebed.format.data_file_settings import DataFileSettings
from lakebed.format.manifest import ManifestFileMeta, entry_schema
from lakebed.format.manifest_rows import MANIFEST_FIELDS, manifest_rows
from lakebed.format.types import DataField

# How many entries are encoded, at most, before the size of the manifest is looked at again.
_STEP_ENTRIES_MAX = 1000
# What an entry takes compressed, about.
_ENTRY_BYTES = 256

_TOLD_COLUMNS = entry_schema(
    {"kind", "partition", "bucket", "row_count", "schema_id", "level", "first_row_id"}
)
"""Of entries, what their manifest's line in a manifest list tells of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestSettings:
    """How manifests of many entries are made.

    Attributes:
        put: Stores the bytes of a manifest under a fresh name, and gives the name.
        partition_fields: The partition columns, in order.
        target_size_bytes: `manifest.target-file-size`.
        compression: `manifest.compression`.
        zstd_level: `file.compression.zstd-level`.
    """

    put: Callable[[bytes], str]
    partition_fields: tuple[DataField, ...]
    target_size_bytes: int
    compression: str
    zstd_level: int


class ManifestWriter:
    """Writes entries in the order in which they come."""

    def __init__(self, settings: ManifestSettings) -> None:
        """Writes nothing yet."""
        self._settings = settings
        self._metas: list[ManifestFileMeta] = []
        self._begin()

    def _begin(self) -> None:
        settings = DataFileSettings(
            compression=self._settings.compression, zstd_level=self._settings.zstd_level
        )
        self._sink = pa.BufferOutputStream()
        self._writer = AvroWriter(self._sink, MANIFEST_FIELDS, settings)
        self._told: list[pa.Table] = []

    def write(self, entries: pa.Table) -> None:
        """Takes the next entries, as `manifest.ENTRY_COLUMNS`.

        Raises:
            StorageError: A manifest cannot be written.
        """
        step = max(min(self._settings.target_size_bytes // _ENTRY_BYTES, _STEP_ENTRIES_MAX), 1)
        for start in range(0, entries.num_rows, step):
            part = entries.slice(start, step)
            self._writer.write(manifest_rows(part))
            self._told.append(part.select(_TOLD_COLUMNS.names))
            if self._sink.tell() >= self._settings.target_size_bytes:
                self._end()
                self._begin()

    def finish(self) -> list[ManifestFileMeta]:
        """What a manifest list says of the manifests; none where there was no entry.

        Raises:
            StorageError: A manifest cannot be written.
        """
        if self._told:
            self._end()
        return self._metas

    def _end(self) -> None:
        self._writer.close()
        data = self._sink.getvalue().to_pybytes()
        name = self._settings.put(data)
        told = pa.concat_tables(self._told)
        fields = self._settings.partition_fields
        self._metas.append(manifest_meta(name, len(data), told, partition_fields=fields))


def told_columns(entries: Sequence[ManifestEntry]) -> pa.Table:
    """Of few entries what `manifest_meta` goes by."""
    columns = {
        "kind": [int(entry.kind) for entry in entries],
        "partition": [entry.partition for entry in entries],
        "bucket": [entry.bucket for entry in entries],
        "row_count": [entry.file.row_count for entry in entries],
        "schema_id": [entry.file.schema_id for entry in entries],
        "level": [entry.file.level for entry in entries],
        "first_row_id": [entry.file.first_row_id for entry in entries],
    }
    return pa.table({name: columns[name] for name in _TOLD_COLUMNS.names}, schema=_TOLD_COLUMNS)


def manifest_meta(
    name: str, size: int, entries: pa.Table, *, partition_fields: Sequence[DataField]
) -> ManifestFileMeta:
    """What a manifest list says of a manifest (format.md 6).

    Args:
        name: Its file name.
        size: Its bytes.
        entries: Its entries, at least one; of their columns those of `told_columns` matter.
        partition_fields: The partition columns, in order.
    """
    kinds, buckets, levels, schema_ids = (
        entries.column(column).to_numpy() for column in ("kind", "bucket", "level", "schema_id")
    )
    added = int(np.count_nonzero(kinds == FileKind.ADD))
    row_ids = _row_ids(entries)
    return ManifestFileMeta(
        file_name=name,
        file_size=size,
        num_added_files=added,
        num_deleted_files=entries.num_rows - added,
        partition_stats=_partition_stats(entries, partition_fields),
        schema_id=int(schema_ids.max()),
        min_bucket=int(buckets.min()),
        max_bucket=int(buckets.max()),
        min_level=int(levels.min()),
        max_level=int(levels.max()),
        min_row_id=row_ids[0] if row_ids else None,
        max_row_id=row_ids[1] if row_ids else None,
    )


def _row_ids(entries: pa.Table) -> tuple[int, int] | None:
    """Range of row ids, known only when every file has one."""
    firsts = entries.column("first_row_id")
    if firsts.null_count:
        return None
    lows = firsts.to_numpy()
    return int(lows.min()), int((lows + entries.column("row_count").to_numpy()).max()) - 1


def _partition_stats(entries: pa.Table, fields: Sequence[DataField]) -> SimpleStats:
    if not fields:
        return EMPTY_STATS
    types = [field.type for field in fields]
    columns = decode_rows(joined(entries.column("partition")), types, source="partition")
    ends = [pc.min_max(column) for column in columns]
    low, high = (
        encode_rows(
            [
                pa.array([bound[end].as_py()], column.type)
                for bound, column in zip(ends, columns, strict=True)
            ],
            types,
        )[0].as_py()
        for end in ("min", "max")
    )
    return SimpleStats(
        min_values=low,
        max_values=high,
        null_counts=tuple(column.null_count for column in columns),
    )
