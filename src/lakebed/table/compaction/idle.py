"""Which partitions were left alone for a while?

A partition was changed when its youngest file was made, among them files that are gone since, as
`$partitions` says it.
"""

from datetime import timedelta

import pyarrow as pa

from lakebed.errors import InvalidArgumentError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import python_values
from lakebed.format.manifest import entry_schema
from lakebed.format.manifest_file import read_manifest
from lakebed.options.values import parse_duration
from lakebed.table.metadata.partitions import PartitionFilter, PartitionsAmong
from lakebed.table.parts import TableParts

_IDLE_TIME = "partition_idle_time"
_COLUMNS = ("partition", "creation_time")
_MILLISECOND = timedelta(milliseconds=1)


def idle_partitions(
    parts: TableParts, partitions: PartitionFilter, idle_time: timedelta | str
) -> PartitionFilter:
    """Those of some partitions that nobody changed for a time.

    Args:
        parts: The table.
        partitions: The partitions.
        idle_time: The time, or a text such as `1 d`.

    Raises:
        InvalidArgumentError: The text is no duration, or the time is less than none.
    """
    if isinstance(idle_time, str):
        idle_time = parse_duration(idle_time, _IDLE_TIME)
    if idle_time < timedelta():
        raise InvalidArgumentError(f"{_IDLE_TIME} is {idle_time}; it cannot be below 0")
    snapshot = parts.snapshots.latest()
    if snapshot is None:
        return PartitionsAmong(frozenset())
    tables = [
        read_manifest(
            parts.file_io,
            parts.paths.manifest(meta.file_name),
            size=meta.file_size,
            columns=_COLUMNS,
        )
        for meta in parts.manifests.files(snapshot)
    ]
    files = pa.concat_tables([entry_schema(_COLUMNS).empty_table(), *tables])
    changed = files.group_by("partition").aggregate([("creation_time", "max")])
    # Both are times on the wall.
    until = parts.session.wall_clock_ms() - round(idle_time / _MILLISECOND)
    millis = pc.cast(pc.cast(changed["creation_time_max"], pa.timestamp("ms")), pa.int64())
    idle = changed["partition"].filter(pc.less_equal(pc.fill_null(millis, 0), until))
    kept = idle.filter(pa.array(partitions.keep(idle.combine_chunks())))
    return PartitionsAmong(frozenset(python_values(kept)))
