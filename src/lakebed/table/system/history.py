"""The points of a table's life: `$snapshots`, `$tags`, `$branches`, `$consumers`."""

from collections.abc import Collection
from datetime import timedelta

import pyarrow as pa

from lakebed.format.paths import branch_name_of
from lakebed.table.metadata.consumers import Consumers
from lakebed.table.metadata.tags import Tags
from lakebed.table.system.kind import (
    MetadataView,
    SystemTableKind,
    system_schema,
    table_of,
    table_of_rows,
)

_SNAPSHOT_SCHEMA = system_schema(
    {
        "snapshot_id": "BIGINT NOT NULL",
        "schema_id": "BIGINT NOT NULL",
        "commit_user": "STRING NOT NULL",
        "commit_identifier": "BIGINT NOT NULL",
        "commit_kind": "STRING NOT NULL",
        "commit_time": "TIMESTAMP(3) NOT NULL",
        "base_manifest_list": "STRING NOT NULL",
        "delta_manifest_list": "STRING NOT NULL",
        "changelog_manifest_list": "STRING",
        "total_record_count": "BIGINT",
        "delta_record_count": "BIGINT",
        "changelog_record_count": "BIGINT",
        "watermark": "BIGINT",
        "next_row_id": "BIGINT",
        "operation": "STRING",
        "writer_version": "STRING",
    },
    key=["snapshot_id"],
)
_SNAPSHOT_FIELDS = {"snapshot_id": "id", "commit_time": "time_millis"}


def _snapshot_rows(view: MetadataView, _: Collection[str]) -> pa.Table:
    snapshots = view.parts.snapshots
    # One that expires meanwhile is no longer of the table.
    found = [each for each in map(snapshots.find, snapshots.list_ids()) if each is not None]
    columns: dict[str, object] = {
        name: [getattr(each, _SNAPSHOT_FIELDS.get(name, name)) for each in found]
        for name in _SNAPSHOT_SCHEMA.names
    }
    columns["commit_time"] = view.local_times([each.time_millis for each in found])
    return table_of(_SNAPSHOT_SCHEMA.fields, columns)


SNAPSHOTS = SystemTableKind(name="snapshots", schema=_SNAPSHOT_SCHEMA, rows=_snapshot_rows)

_TAG_SCHEMA = system_schema(
    {
        "tag_name": "STRING NOT NULL",
        "snapshot_id": "BIGINT NOT NULL",
        "schema_id": "BIGINT NOT NULL",
        "commit_time": "TIMESTAMP(3) NOT NULL",
        "record_count": "BIGINT",
        "create_time": "TIMESTAMP(3)",
        "time_retained": "STRING",
    },
    key=["tag_name"],
)


def _tag_rows(view: MetadataView, _: Collection[str]) -> pa.Table:
    found = Tags(view.parts.file_io, view.parts.paths).load_all()
    snapshots = [tag.snapshot for tag in found]
    columns: dict[str, object] = {
        "tag_name": [tag.name for tag in found],
        "snapshot_id": [each.id for each in snapshots],
        "schema_id": [each.schema_id for each in snapshots],
        "commit_time": view.local_times([each.time_millis for each in snapshots]),
        "record_count": [each.total_record_count for each in snapshots],
        "create_time": [tag.create_time for tag in found],
        "time_retained": [
            None if tag.time_retained is None else duration_text(tag.time_retained) for tag in found
        ],
    }
    return table_of(_TAG_SCHEMA.fields, columns)


TAGS = SystemTableKind(name="tags", schema=_TAG_SCHEMA, rows=_tag_rows)


def duration_text(duration: timedelta) -> str:
    """A duration from 0 on as ISO 8601 in hours, minutes and seconds: `PT24H`, `PT1M0.5S`."""
    micros = duration // timedelta(microseconds=1)
    seconds, fraction = divmod(micros, 1_000_000)
    hours, minutes, seconds = seconds // 3600, seconds // 60 % 60, seconds % 60
    text = "PT" + (f"{hours}H" if hours else "") + (f"{minutes}M" if minutes else "")
    if text != "PT" and not seconds and not fraction:
        return text
    digits = f".{fraction:06d}".rstrip("0") if fraction else ""
    return f"{text}{seconds}{digits}S"


_BRANCH_SCHEMA = system_schema(
    {"branch_name": "STRING NOT NULL", "create_time": "TIMESTAMP(3) NOT NULL"},
    key=["branch_name"],
)


def _branch_rows(view: MetadataView, _: Collection[str]) -> pa.Table:
    parts = view.parts
    found = sorted(
        (name, status.modification_time_ms)
        for status in parts.file_io.list(parts.paths.branch_directory)
        if status.is_directory and (name := branch_name_of(status.name)) is not None
    )
    columns: dict[str, object] = {
        "branch_name": [name for name, _ in found],
        "create_time": view.local_times([time_ms for _, time_ms in found]),
    }
    return table_of(_BRANCH_SCHEMA.fields, columns)


BRANCHES = SystemTableKind(name="branches", schema=_BRANCH_SCHEMA, rows=_branch_rows)

_CONSUMER_SCHEMA = system_schema(
    {"consumer_id": "STRING NOT NULL", "next_snapshot_id": "BIGINT NOT NULL"},
    key=["consumer_id"],
)


def _consumer_rows(view: MetadataView, _: Collection[str]) -> pa.Table:
    consumers = Consumers(view.parts.file_io, view.parts.paths)
    return table_of_rows(_CONSUMER_SCHEMA.fields, list(consumers.next_snapshots().items()))


CONSUMERS = SystemTableKind(name="consumers", schema=_CONSUMER_SCHEMA, rows=_consumer_rows)
