"""When was each partition of a table last changed?

It was when its youngest file was made, among them files that are gone since, as `$partitions` says
it.
"""

import numpy as np
import pyarrow as pa

from lakebed.format.arrow.compute import compute as pc
from lakebed.format.data_file_meta import FileKind
from lakebed.format.manifest import entry_schema
from lakebed.format.manifest_file import read_manifest
from lakebed.format.snapshot import Snapshot
from lakebed.table.metadata.manifests import Manifests

_COLUMNS = ("kind", "partition", "creation_time")


def partition_changes(manifests: Manifests, snapshot: Snapshot) -> pa.Table:
    """One row a partition that has files: `partition` as serialized, and `changed`.

    That is milliseconds of the wall's clock, as if that were UTC; null where no file says its time.

    Raises:
        CorruptTableError: A manifest cannot be read.
    """
    tables = [
        read_manifest(
            manifests.file_io,
            manifests.paths.manifest(meta.file_name),
            size=meta.file_size,
            columns=_COLUMNS,
        )
        for meta in manifests.files(snapshot)
    ]
    entries = pa.concat_tables([entry_schema(_COLUMNS).empty_table(), *tables])
    sign = pa.array(np.where(entries["kind"].to_numpy() == FileKind.ADD, 1, -1))
    files = pa.table(
        {
            "partition": entries["partition"],
            "count": sign,
            "changed": pc.cast(pc.cast(entries["creation_time"], pa.timestamp("ms")), pa.int64()),
        }
    )
    groups = files.group_by("partition").aggregate([("count", "sum"), ("changed", "max")])
    groups = groups.filter(pc.greater(groups["count_sum"], 0))
    return groups.select(["partition", "changed_max"]).rename_columns(["partition", "changed"])
