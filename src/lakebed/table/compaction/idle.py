"""Which partitions were left alone for a while?"""

from datetime import timedelta

import pyarrow as pa

from lakebed.errors import InvalidArgumentError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import python_values
from lakebed.options.values import parse_duration
from lakebed.table.metadata.partition_changes import partition_changes
from lakebed.table.metadata.partitions import PartitionFilter, PartitionsAmong
from lakebed.table.parts import TableParts

_IDLE_TIME = "partition_idle_time"
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
    changes = partition_changes(parts.manifests, snapshot)
    # Both are times on the wall.
    until = parts.session.wall_clock_ms() - round(idle_time / _MILLISECOND)
    is_idle = pc.less_equal(pc.fill_null(changes["changed"], fill_value=0), until)
    idle = changes["partition"].filter(is_idle)
    kept = idle.filter(pa.array(partitions.keep(idle.combine_chunks())))
    return PartitionsAmong(frozenset(python_values(kept)))
