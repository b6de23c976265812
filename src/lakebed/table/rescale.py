"""How partitions get another bucket count: their rows are read and written anew.

A commit takes the old files away and brings the new ones, so a reader sees either. The old files
must be those that were read: whoever else writes to the partition meanwhile makes the commit fail.
Rows that wait for their bucket in `bucket-postpone` stay there.
"""

from dataclasses import replace

import numpy as np
import pyarrow as pa

from lakebed.errors import InvalidArgumentError, UnsupportedError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import python_values
from lakebed.format.paths import POSTPONE_BUCKET
from lakebed.format.predicate.expressions import Expression
from lakebed.format.snapshot import Operation, Snapshot
from lakebed.table.committing import commit, is_unaware
from lakebed.table.metadata.partitions import PartitionsAmong
from lakebed.table.partition_choice import Partitions, chosen_partitions
from lakebed.table.parts import TableParts
from lakebed.table.planning.visibility import Visibility
from lakebed.table.reading.scan_source import SnapshotSource
from lakebed.table.routers import rows_writer
from lakebed.table.writing.changes import (
    OverwriteChanges,
    SeenFiles,
    index_files_of,
    replaced_entries,
)
from lakebed.table.writing.commit_message import CommitMessage


def rescale(
    parts: TableParts,
    *,
    bucket_num: int | None,
    partitions: Partitions,
    where: str | Expression | None,
) -> Snapshot | None:
    """Writes partitions anew with another bucket count; those that have it are left alone.

    Args:
        parts: The table.
        bucket_num: The bucket count; None for the table's option.
        partitions: Values of partition columns, or their text; None for all partitions.
        where: A condition on partition columns instead.

    Returns:
        The snapshot; None where there is nothing to do.

    Raises:
        CommitConflictError: Another writer changed the partitions meanwhile.
        InvalidArgumentError: No bucket count that can be, a table without fixed buckets, or no such
            choice of partitions.
        UnsupportedError: Rows wait for a compaction.
    """
    count = _bucket_count(parts, bucket_num)
    chosen = chosen_partitions(parts, partitions, where)
    snapshot = parts.snapshots.latest()
    if snapshot is None:
        return None
    live = replaced_entries(parts.manifests, snapshot, chosen, keeps_postponed=True)
    others = pc.unique(
        live.filter(pc.not_equal(live.column("total_buckets"), count)).column("partition")
    )
    rewritten = PartitionsAmong(frozenset(python_values(others)))
    live = parts.manifests.of_partitions(live, rewritten)
    if live.num_rows == 0:
        return None
    index_files = index_files_of(
        parts.manifests.index_columns(snapshot), rewritten, keeps_postponed=True
    )
    target = _with_buckets(parts, count)
    messages = _written(parts, target, live, snapshot=snapshot)
    changes = OverwriteChanges(
        messages=messages,
        manifests=parts.manifests,
        operation=Operation.OVERWRITE,
        partitions=rewritten,
        is_unaware=is_unaware(parts),
        seen=SeenFiles(
            snapshot_id=snapshot.id,
            live=live,
            index_files=frozenset(python_values(index_files["file_name"])),
        ),
        keeps_postponed=True,
    )
    return commit(parts, changes, messages)


def _bucket_count(parts: TableParts, bucket_num: int | None) -> int:
    option = parts.options.bucket
    if option <= 0 and option != POSTPONE_BUCKET:
        raise InvalidArgumentError(
            f"{parts.paths.location} has no fixed buckets to rescale: its option bucket is {option}"
        )
    count = option if bucket_num is None else bucket_num
    if count < 1:
        raise InvalidArgumentError(
            f"bucket_num is {count}; give the bucket count that the partitions shall have"
        )
    return count


def _with_buckets(parts: TableParts, count: int) -> TableParts:
    """The same table, written with another bucket count."""
    schema = replace(parts.schema, options={**parts.schema.options, "bucket": str(count)})
    return TableParts.of(
        schema,
        paths=parts.paths,
        file_io=parts.file_io,
        session=parts.session,
        scan_options={},
    )


def _written(
    parts: TableParts, target: TableParts, live: pa.Table, *, snapshot: Snapshot
) -> list[CommitMessage]:
    """The rows of live files as files of `target`."""
    base = target.write_base().for_overwrite()
    scan = parts.scan(SnapshotSource(snapshot=snapshot))
    planner = scan.planner
    levels = live.column("level").to_numpy()
    if planner.layout.skips_level_0 and not np.all(levels > 0):
        raise UnsupportedError(
            f"{parts.paths.location} has rows that wait for a compaction, which reads leave out. "
            "Compact the table first, then rescale it"
        )
    entries = planner.with_deletion_vectors(live, snapshot)
    splits, _ = planner.plan_entries(entries, None, visibility=Visibility.BATCH)
    with rows_writer(target, base) as rows:
        for split in splits:
            for batch in scan.reader.read(split):
                rows.add_aligned(pa.Table.from_batches([batch]), None)
        return rows.finish()
