"""Tables with deletion vectors, and what their newest snapshot says of files and marks."""

from lakebed.format.arrow.typing import python_values
from lakebed.format.index_manifest import IndexManifestEntry
from lakebed.format.snapshot import Snapshot
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.table import Table
from support.table_builder import Shape

VECTORS = {"deletion-vectors.enabled": "true"}
UNAWARE = Shape(has_primary_key=False, buckets=-1).with_options(VECTORS)
BUCKETED = Shape(has_primary_key=False, buckets=1).with_options(VECTORS)
KEYED = Shape(buckets=1).with_options(VECTORS | {"num-levels": "3"})
WRITE_ONLY = {"write-only": "true"}


def newest(table: Table) -> Snapshot:
    """The newest snapshot."""
    snapshot = table.latest_snapshot()
    assert snapshot is not None
    return snapshot


def index_files(table: Table) -> list[IndexManifestEntry]:
    """The index files that it lists."""
    return table.parts().manifests.index_files(newest(table))


def marked(table: Table) -> dict[str, int]:
    """How many rows of each data file are marked deleted."""
    return {
        each.data_file_name: each.cardinality or 0
        for entry in index_files(table)
        for each in entry.deletion_vectors_ranges or ()
    }


def live_files(table: Table) -> dict[str, int]:
    """The level of each live file."""
    live = table.parts().manifests.live(newest(table), partitions=EveryPartition())
    columns = (python_values(live[name]) for name in ("file_name", "level"))
    return dict(zip(*columns, strict=True))
