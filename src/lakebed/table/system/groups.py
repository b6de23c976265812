"""Files summed up: `$partitions`, `$buckets`, and the partitions of a table for `sys.partitions`.

The sums are those of all ADD entries less those of all DELETE entries that the manifests hold, so
nothing needs netting. The time of the last update is that of the youngest file ever named in them,
deleted ones included: a partition that lost its youngest file was updated no earlier.
"""

from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa

from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowChunks, python_values
from lakebed.format.data_file_meta import FileKind
from lakebed.format.partition_path import format_partition, parse_partition
from lakebed.format.paths import POSTPONE_BUCKET
from lakebed.options.values import parse_boolean
from lakebed.table.metadata.partitions import partition_table
from lakebed.table.system.kind import MetadataView, SystemTableKind, system_schema, table_of
from lakebed.table.system.tree import index_entries
from lakebed.table.system.value_text import cast_texts, row_texts

_DELETION_VECTORS = "DELETION_VECTORS"
_GROUP_COLUMNS = frozenset(
    {"kind", "partition", "bucket", "total_buckets", "row_count", "file_size", "creation_time"}
)
_ENABLED_KEY = "deletion-vectors.enabled"

_PARTITION_SCHEMA = system_schema(
    {
        "partition": "STRING",
        "record_count": "BIGINT NOT NULL",
        "file_size_in_bytes": "BIGINT NOT NULL",
        "file_count": "BIGINT NOT NULL",
        "last_update_time": "TIMESTAMP(3)",
        "created_at": "TIMESTAMP(3)",
        "created_by": "STRING",
        "updated_by": "STRING",
        "options": "STRING",
        "total_buckets": "INT NOT NULL",
        "done": "BOOLEAN NOT NULL",
        "deleted_record_count": "BIGINT",
    },
    key=["partition"],
)
# What only a catalog with partitions of its own knows.
_UNKNOWN = ("created_at", "created_by", "updated_by", "options")


def _partition_rows(view: MetadataView, wanted: Collection[str]) -> pa.Table:
    groups = partition_groups(view)
    count = groups.num_rows
    columns: dict[str, object] = {
        **_sums(view, groups),
        "partition": partition_names(view, groups.column("partition"), cast=True),
        "total_buckets": groups.column("total_buckets"),
        "done": [False] * count,
        **{name: [None] * count for name in _UNKNOWN},
    }
    if "deleted_record_count" in wanted:
        columns["deleted_record_count"] = _deleted_counts(view, groups.column("partition"))
    return table_of(_PARTITION_SCHEMA.fields, columns).sort_by("partition")


PARTITIONS = SystemTableKind(name="partitions", schema=_PARTITION_SCHEMA, rows=_partition_rows)

_BUCKET_SCHEMA = system_schema(
    {
        "partition": "STRING",
        "bucket": "INT NOT NULL",
        "record_count": "BIGINT NOT NULL",
        "file_size_in_bytes": "BIGINT NOT NULL",
        "file_count": "BIGINT NOT NULL",
        "last_update_time": "TIMESTAMP(3)",
    },
    key=["partition", "bucket"],
)


def _bucket_rows(view: MetadataView, _: Collection[str]) -> pa.Table:
    groups = _grouped(view, view.all_entries(_GROUP_COLUMNS), by=["partition", "bucket"])
    columns: dict[str, object] = {
        **_sums(view, groups),
        "partition": row_texts(
            groups.column("partition"),
            view.parts.schema.partition_type.fields,
            time_zone=view.parts.session.time_zone,
        ),
        "bucket": groups.column("bucket"),
    }
    rows = table_of(_BUCKET_SCHEMA.fields, columns)
    return rows.sort_by([("partition", "ascending"), ("bucket", "ascending")])


BUCKETS = SystemTableKind(name="buckets", schema=_BUCKET_SCHEMA, rows=_bucket_rows)


def partition_groups(view: MetadataView) -> pa.Table:
    """One row a partition that has files: `partition` as serialized, and the sums over its files.

    Sums are `record_count`, `file_size_in_bytes`, `file_count`; `last_millis` is the youngest
    file's time in epoch milliseconds; `total_buckets` is that of the newest entry.
    """
    return _grouped(
        view, readable_entries(view, view.all_entries(_GROUP_COLUMNS)), by=["partition"]
    )


def readable_entries(view: MetadataView, entries: pa.Table) -> pa.Table:
    """The entries of buckets that a batch scan may see: of a postponed table just the real ones."""
    if view.parts.options.bucket != POSTPONE_BUCKET:
        return entries
    return entries.filter(pc.greater_equal(entries.column("bucket"), 0))


def partition_names(view: MetadataView, partitions: ArrowChunks, *, cast: bool) -> list[str]:
    """`dt=2024-01-31/hh=7` of serialized partition rows; the default name for null and blanks.

    Args:
        view: The table.
        partitions: Distinct rows.
        cast: Whether values are written as a cast to text does it, or as in the directory's name.
    """
    options, schema = view.parts.options, view.parts.schema
    fields, zone = schema.partition_type.fields, view.parts.session.time_zone
    if not fields:
        return [""] * len(partitions)
    table = partition_table(partitions.combine_chunks(), fields)
    names = []
    for values in zip(*map(python_values, table.columns), strict=True):
        path = format_partition(
            values,
            fields,
            default_name=options.partition_default_name,
            legacy=options.partition_legacy_name,
            time_zone=zone,
        )
        stored = parse_partition(path, default_name=options.partition_default_name)
        shown = cast_texts(values, fields, time_zone=zone) if cast else stored.values()
        names.append(
            "/".join(
                f"{key}={options.partition_default_name if stored[key] is None else text}"
                for key, text in zip(stored, shown, strict=True)
            )
        )
    return names


def _grouped(view: MetadataView, entries: pa.Table, *, by: Sequence[str]) -> pa.Table:
    sign = pa.array(np.where(entries.column("kind").to_numpy() == FileKind.ADD, 1, -1))
    rows = pa.table(
        {
            **{name: entries.column(name) for name in by},
            "record_count": pc.multiply(entries.column("row_count"), sign),
            "file_size_in_bytes": pc.multiply(entries.column("file_size"), sign),
            "file_count": sign,
            "last_millis": view.epoch_millis(entries.column("creation_time")),
            "total_buckets": entries.column("total_buckets"),
        }
    )
    sums = ("record_count", "file_size_in_bytes", "file_count")
    # The last of a group is the newest only where one thread goes through the rows in their order.
    groups = rows.group_by(list(by), use_threads=False).aggregate(
        [*((name, "sum") for name in sums), ("last_millis", "max"), ("total_buckets", "last")]
    )
    groups = groups.rename_columns(
        {
            **{f"{name}_sum": name for name in sums},
            "last_millis_max": "last_millis",
            "total_buckets_last": "total_buckets",
        }
    )
    return groups.filter(pc.greater(groups.column("file_count"), 0))


def _sums(view: MetadataView, groups: pa.Table) -> dict[str, object]:
    return {
        "record_count": groups.column("record_count"),
        "file_size_in_bytes": groups.column("file_size_in_bytes"),
        "file_count": groups.column("file_count"),
        "last_update_time": view.local_times(groups.column("last_millis")),
    }


def _deleted_counts(view: MetadataView, partitions: ArrowChunks) -> list[int | None]:
    """Rows that deletion vectors delete; None where a writer did not count them."""
    counts: dict[bytes, int | None] = {}
    enabled = parse_boolean(view.parts.schema.options.get(_ENABLED_KEY, "false"), _ENABLED_KEY)
    for entry in index_entries(view) if enabled else ():
        if entry.index_type != _DELETION_VECTORS:
            continue
        for each in entry.deletion_vectors_ranges or ():
            known = counts.get(entry.partition, 0)
            is_known = known is not None and each.cardinality is not None
            counts[entry.partition] = (known or 0) + (each.cardinality or 0) if is_known else None
    return [counts.get(partition, 0) for partition in python_values(partitions)]
