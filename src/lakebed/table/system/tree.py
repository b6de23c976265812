"""What a snapshot's tree is made of: `$manifests`, `$table_indexes`, `$statistics`."""

from collections.abc import Collection

import pyarrow as pa

from lakebed.errors import CorruptTableError
from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.index_manifest import GlobalIndexMeta, IndexManifestEntry
from lakebed.format.json_text import format_json, parse_json_object
from lakebed.format.manifest import ManifestFileMeta
from lakebed.format.types import RowType
from lakebed.table.system.kind import (
    MetadataView,
    SystemTableKind,
    system_schema,
    table_of,
    table_of_rows,
)
from lakebed.table.system.value_text import row_texts

_MANIFEST_SCHEMA = system_schema(
    {
        "file_name": "STRING NOT NULL",
        "file_size": "BIGINT NOT NULL",
        "num_added_files": "BIGINT NOT NULL",
        "num_deleted_files": "BIGINT NOT NULL",
        "schema_id": "BIGINT NOT NULL",
        "min_partition_stats": "STRING",
        "max_partition_stats": "STRING",
        "min_row_id": "BIGINT",
        "max_row_id": "BIGINT",
    },
    key=["file_name"],
)


def _manifest_rows(view: MetadataView, _: Collection[str]) -> pa.Table:
    metas = _all_manifests(view)
    columns: dict[str, object] = {
        name: [getattr(each, name, None) for each in metas] for name in _MANIFEST_SCHEMA.names
    }
    columns["min_partition_stats"] = partition_texts(
        view, [each.partition_stats.min_values for each in metas]
    )
    columns["max_partition_stats"] = partition_texts(
        view, [each.partition_stats.max_values for each in metas]
    )
    return table_of(_MANIFEST_SCHEMA.fields, columns)


def _all_manifests(view: MetadataView) -> list[ManifestFileMeta]:
    """Those of the data and those of the changelog."""
    manifests, snapshot = view.parts.manifests, view.snapshot
    if snapshot is None:
        return []
    return [*manifests.files(snapshot), *manifests.changelog_files(snapshot)]


MANIFESTS = SystemTableKind(name="manifests", schema=_MANIFEST_SCHEMA, rows=_manifest_rows)


def partition_texts(view: MetadataView, partitions: list[bytes]) -> ArrowArray:
    """`{p1, p2}` of serialized partition rows."""
    return row_texts(
        pa.array(partitions, pa.binary()),
        view.parts.schema.partition_type.fields,
        time_zone=view.parts.session.time_zone,
    )


_INDEX_SCHEMA = system_schema(
    {
        "partition": "STRING",
        "bucket": "INT NOT NULL",
        "index_type": "STRING NOT NULL",
        "file_name": "STRING NOT NULL",
        "file_size": "BIGINT NOT NULL",
        "row_count": "BIGINT NOT NULL",
        "dv_ranges": (
            "ARRAY<ROW<f0 STRING NOT NULL, f1 INT NOT NULL, f2 INT NOT NULL, _CARDINALITY BIGINT>>"
        ),
        "row_range_start": "BIGINT",
        "row_range_end": "BIGINT",
        "index_field_id": "INT",
        "index_field_name": "STRING",
    },
    key=["file_name"],
)


def _index_rows(view: MetadataView, _: Collection[str]) -> pa.Table:
    entries = index_entries(view)
    metas = [each.global_index for each in entries]
    columns: dict[str, object] = {
        "partition": partition_texts(view, [each.partition for each in entries]),
        "bucket": [each.bucket for each in entries],
        "index_type": [each.index_type for each in entries],
        "file_name": [each.file_name for each in entries],
        "file_size": [each.file_size for each in entries],
        "row_count": [each.row_count for each in entries],
        "dv_ranges": [_ranges(each) for each in entries],
        "row_range_start": [None if meta is None else meta.row_range_start for meta in metas],
        "row_range_end": [None if meta is None else meta.row_range_end for meta in metas],
        "index_field_id": [None if meta is None else meta.index_field_id for meta in metas],
        "index_field_name": [_field_names(meta, view.parts.schema.row_type) for meta in metas],
    }
    return table_of(_INDEX_SCHEMA.fields, columns)


TABLE_INDEXES = SystemTableKind(name="table_indexes", schema=_INDEX_SCHEMA, rows=_index_rows)


def index_entries(view: MetadataView) -> list[IndexManifestEntry]:
    """The index files of the snapshot."""
    return view.parts.manifests.index_files(view.snapshot)


def _ranges(entry: IndexManifestEntry) -> list[dict[str, object]] | None:
    if entry.deletion_vectors_ranges is None:
        return None
    return [
        {
            "f0": each.data_file_name,
            "f1": each.offset,
            "f2": each.length,
            "_CARDINALITY": each.cardinality,
        }
        for each in entry.deletion_vectors_ranges
    ]


def _field_names(meta: GlobalIndexMeta | None, row_type: RowType) -> str | None:
    """The indexed columns under their present names; None when one of them was dropped."""
    if meta is None:
        return None
    names = {field.id: field.name for field in row_type}
    ids = (meta.index_field_id, *(meta.extra_field_ids or ()))
    return ",".join(names[each] for each in ids) if all(each in names for each in ids) else None


_STATISTIC_SCHEMA = system_schema(
    {
        "snapshot_id": "BIGINT NOT NULL",
        "schema_id": "BIGINT NOT NULL",
        "mergedRecordCount": "BIGINT",
        "mergedRecordSize": "BIGINT",
        "colstat": "STRING",
    },
    key=["snapshot_id"],
)


def _statistic_rows(view: MetadataView, _: Collection[str]) -> pa.Table:
    rows = []
    if view.snapshot is not None and view.snapshot.statistics is not None:
        path = view.parts.paths.statistics(view.snapshot.statistics)
        members = parse_json_object(view.parts.file_io.read(path), path)
        numbers = [
            _number(members, name, path)
            for name in ("snapshotId", "schemaId", "mergedRecordCount", "mergedRecordSize")
        ]
        if None in numbers[:2]:
            raise CorruptTableError(path, "statistics without snapshotId or schemaId")
        rows.append((*numbers, format_json(members.get("colStats") or {})))
    return table_of_rows(_STATISTIC_SCHEMA.fields, rows)


STATISTICS = SystemTableKind(name="statistics", schema=_STATISTIC_SCHEMA, rows=_statistic_rows)


def _number(members: dict[str, object], name: str, path: str) -> int | None:
    value = members.get(name)
    if value is not None and not isinstance(value, int):
        raise CorruptTableError(path, f"{name} is {value!r}, not a whole number")
    return value
