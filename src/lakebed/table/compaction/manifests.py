"""Few manifests instead of many: the metadata of the newest snapshot is written anew, no data."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lakebed.errors import InvalidArgumentError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowChunks, encode_dictionary, joined
from lakebed.format.binary_row.codec import decode_rows
from lakebed.format.snapshot import CommitKind, Snapshot
from lakebed.options.acceptance import check_openable
from lakebed.options.values import OptionValue, format_value, parse_boolean, parse_positive_size
from lakebed.table.committing import commit
from lakebed.table.metadata.manifest_rewrite import (
    LiveFiles,
    ManifestRewrite,
    Numbers,
    may_gain,
    planned_rewrite,
)
from lakebed.table.metadata.manifests import Manifests
from lakebed.table.parts import TableParts
from lakebed.table.writing.changes import Prepared

_ENABLED = "manifest-sort.enabled"
_FIELD = "manifest-sort.partition-field"
_MAX_SIZE = "manifest-sort.max-rewrite-size"
_MAX_SIZE_DEFAULT = "256 mb"
# What the entries of a manifest take in memory, of its bytes, while they are read and sorted.
_DECODE_FACTOR = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestCompaction:
    """A change of no file: the manifests of the newest snapshot become fewer.

    Attributes:
        parts: The table.
        sorted_by: Position of the partition column that manifests are sorted by; None for none.
        batch_bytes: About how many bytes of manifests are read before they are written.
    """

    parts: TableParts
    sorted_by: int | None
    batch_bytes: int

    def carry_out(self) -> Snapshot | None:
        """Commits it; None where nothing would be gained.

        Raises:
            CommitConflictError: Every try to commit lost; nothing is visible.
            CorruptTableError: A manifest is damaged.
        """
        return commit(self.parts, self, (), force=False)

    def prepare(self, latest: Snapshot | None) -> Prepared:
        """The rewrite of the manifests of `latest`, as they are now."""
        rewrite = None if latest is None else self._plan(latest)
        return Prepared(entries=(), kind=CommitKind.COMPACT, operation=None, rewrite=rewrite)

    def table(self) -> pa.Table:
        """What would be done: `PLAN_SCHEMA`, a row a manifest that is written anew."""
        rewrite = self.prepare(self.parts.snapshots.latest()).rewrite
        rows = [
            {
                "file_name": each.meta.file_name,
                "why": each.why,
                "file_size": each.meta.file_size,
                "num_added_files": each.meta.num_added_files,
                "num_deleted_files": each.meta.num_deleted_files,
                "live_files": each.live_files,
            }
            for each in (rewrite.rewritten if rewrite else ())
        ]
        return pa.Table.from_pylist(rows, schema=PLAN_SCHEMA)

    def _plan(self, latest: Snapshot) -> ManifestRewrite | None:
        manifests = self.parts.manifests
        metas = manifests.files(latest)
        target = manifests.merge_policy.target_size_bytes
        if self.sorted_by is None and not may_gain(metas, target_size_bytes=target):
            return None
        places = manifests.live_places(metas)
        live = LiveFiles(
            manifests=metas,
            numbers=places.column("manifest").to_numpy(),
            rows=places.column("row").to_numpy(),
            ranks=self._ranks(places.column("partition"), manifests),
        )
        return planned_rewrite(live, target_size_bytes=target, batch_bytes=self.batch_bytes)

    def _ranks(self, partitions: ArrowChunks, manifests: Manifests) -> Numbers | None:
        """Of each file the place of its partition among the values of the column."""
        if self.sorted_by is None:
            return None
        encoded = encode_dictionary(joined(partitions))
        types = [field.type for field in manifests.partition_fields]
        values = decode_rows(encoded.dictionary, types, source="partition")[self.sorted_by]
        distinct = pc.unique(values)
        order = pc.sort_indices(distinct).to_numpy()
        ranks = np.empty(len(order), np.int64)
        ranks[order] = np.arange(len(order))
        of_partition = ranks[pc.index_in(values, value_set=distinct).to_numpy()]
        ranked: Numbers = of_partition[encoded.indices.to_numpy()]
        return ranked


_PLAN_COLUMNS: dict[str, pa.DataType] = {
    "file_name": pa.string(),
    "why": pa.string(),
    "file_size": pa.int64(),
    "num_added_files": pa.int64(),
    "num_deleted_files": pa.int64(),
    "live_files": pa.int64(),
}
PLAN_SCHEMA = pa.schema(_PLAN_COLUMNS)
"""Columns of a plan that is shown before it runs."""


def manifest_compaction(
    parts: TableParts,
    *,
    manifest_sort_enabled: bool | None,
    manifest_sort_partition_field: str | None,
    manifest_sort_max_rewrite_size: OptionValue | None,
) -> ManifestCompaction:
    """The compaction of manifests that a user asks for; what is None is as the table says.

    Args:
        parts: The table.
        manifest_sort_enabled: Whether manifests are sorted.
        manifest_sort_partition_field: By which partition column; the first one by default.
        manifest_sort_max_rewrite_size: How many bytes of them are sorted at once, at most.

    Raises:
        InvalidArgumentError: No partition column, no size, or one of a sort that is not asked for.
        UnsupportedError: The table is one that Lakebed does not write.
    """
    check_openable(parts.schema.options, use="write")
    is_sorted = manifest_sort_enabled
    if is_sorted is None:
        stored = parse_boolean(parts.texts.get(_ENABLED, "false"), _ENABLED)
        is_sorted = stored and bool(parts.schema.partition_keys)
    size = manifest_sort_max_rewrite_size
    if not is_sorted and (manifest_sort_partition_field is not None or size is not None):
        raise InvalidArgumentError(
            "manifest_sort_partition_field and manifest_sort_max_rewrite_size say how manifests are"
            " sorted; give manifest_sort_enabled => true too, or leave them out"
        )
    text = parts.texts.get(_MAX_SIZE, _MAX_SIZE_DEFAULT) if size is None else format_value(size)
    batch_bytes = max(parts.session.merge_memory // _DECODE_FACTOR, 1)
    if is_sorted:
        batch_bytes = min(batch_bytes, parse_positive_size(text, _MAX_SIZE))
    field = manifest_sort_partition_field or parts.texts.get(_FIELD)
    return ManifestCompaction(
        parts=parts,
        sorted_by=_position(parts, field) if is_sorted else None,
        batch_bytes=batch_bytes,
    )


def _position(parts: TableParts, name: str | None) -> int:
    keys = parts.schema.partition_keys
    if not keys:
        raise InvalidArgumentError(
            f"{parts.paths.location}: the table has no partition column to sort manifests by; leave"
            " manifest_sort_enabled out"
        )
    if name is None:
        return 0
    if name not in keys:
        raise InvalidArgumentError(
            f"manifests cannot be sorted by {name!r}: it is none of the partition columns"
            f" {', '.join(keys)}"
        )
    return list(keys).index(name)
