"""Rows that wait in `bucket-postpone` get their buckets (format.md 11).

They are read in the order in which they were written, and go where a writer of the table would put
them: to the buckets that their partition has, or to as many as a new partition needs. One commit
takes the waiting files away and brings the new ones. Then the buckets are as any others.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import pyarrow as pa

from lakebed.format.arrow.compute import compute as pc
from lakebed.format.data_file_meta import ManifestEntry
from lakebed.format.key_value import VALUE_KIND
from lakebed.format.manifest import entries_from_columns
from lakebed.format.paths import POSTPONE_BUCKET
from lakebed.format.snapshot import Snapshot
from lakebed.table.committing import commit
from lakebed.table.metadata.partitions import PartitionFilter
from lakebed.table.parts import TableParts, WriteBase
from lakebed.table.planning.split import Split, SplitFile
from lakebed.table.reading.scan_source import SnapshotSource
from lakebed.table.routers import rows_writer
from lakebed.table.writing.changes import AppendChanges
from lakebed.table.writing.commit_message import CommitMessage


def place_postponed(parts: TableParts, partitions: PartitionFilter) -> Snapshot | None:
    """Gives the rows that wait in some partitions their buckets; None where none wait.

    Args:
        parts: A table.
        partitions: The partitions.

    Raises:
        CommitConflictError: Somebody else took the same files; nothing is visible.
        CorruptTableError: A file cannot be read.
        StorageError: A file cannot be written.
    """
    base = parts.write_base()
    if parts.options.bucket != POSTPONE_BUCKET or base.snapshot is None:
        return None
    waiting = _waiting(parts, base.snapshot, partitions)
    if not waiting:
        return None
    messages = _written(parts, base, waiting)
    changes = AppendChanges(
        messages=[*_taken(waiting), *messages],
        manifests=parts.manifests,
        operation=None,
        based_on=base.snapshot,
        counts=base.counts,
        is_unaware=False,
        is_compaction=True,
    )
    return commit(parts, changes, messages)


@dataclass(frozen=True, slots=True)
class _WaitingFile:
    entry: ManifestEntry
    file: SplitFile


def _waiting(
    parts: TableParts, snapshot: Snapshot, partitions: PartitionFilter
) -> list[_WaitingFile]:
    """The files in the order in which they were written, partition by partition."""
    live = parts.manifests.live(snapshot, partitions=partitions)
    live = live.filter(pc.equal(live.column("bucket"), POSTPONE_BUCKET))
    pairs = zip(entries_from_columns(live), parts.split_files.files(live), strict=True)
    return sorted(
        (_WaitingFile(entry, file) for entry, file in pairs),
        key=lambda each: (
            each.entry.partition,
            each.entry.file.creation_time or 0,
            each.file.ordinal,
        ),
    )


def _written(
    parts: TableParts, base: WriteBase, waiting: Sequence[_WaitingFile]
) -> list[CommitMessage]:
    scan = parts.scan(SnapshotSource(snapshot=base.snapshot))
    names = parts.schema.names
    reader = replace(scan.reader, columns=(*names, VALUE_KIND.name), keep_deletes=True)
    # As a batch is written that goes to buckets at once.
    options = replace(parts.options, postpone_batch_write_fixed_bucket=True)
    with rows_writer(replace(parts, options=options), base) as rows:
        for each in waiting:
            for batch in reader.read(Split.of_file(each.file)):
                table = pa.Table.from_batches([batch])
                kinds = table.column(VALUE_KIND.name).to_numpy()
                rows.add_aligned(table.select(names), kinds)
        return rows.finish()


def _taken(waiting: Sequence[_WaitingFile]) -> list[CommitMessage]:
    """What takes the waiting files away."""
    return [
        CommitMessage(
            partition=partition,
            bucket=POSTPONE_BUCKET,
            total_buckets=POSTPONE_BUCKET,
            new_files=(),
            deleted_files=tuple(each.entry.file for each in files),
        )
        for partition, files in groupby(waiting, key=lambda each: each.entry.partition)
    ]
