"""Snapshots with watermarks, which Flink writes."""

from msgspec.structs import replace

from lakebed.format.snapshot import Snapshot
from lakebed.table.table import Table


def put_watermark(table: Table, snapshot: Snapshot, watermark: int | None) -> None:
    """Gives a snapshot of a table a watermark, or none."""
    path = table.parts().paths.snapshot(snapshot.id)
    table.file_io.write(path, replace(snapshot, watermark=watermark).to_json())
