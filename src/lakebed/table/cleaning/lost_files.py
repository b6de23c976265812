"""Which data files of the newest snapshot are lost, and how does a table go on without them?

A file that no listing shows is looked for once more by its path before it counts as lost. The table
goes on by a commit that deletes the files, and their deletion vectors; the rows of theirs are gone.
"""

from collections import defaultdict
from collections.abc import Iterator
from functools import partial

import pyarrow as pa

from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowArray, ArrowColumn, python_values
from lakebed.format.data_file_meta import ManifestEntry
from lakebed.format.manifest import entries_from_columns
from lakebed.format.snapshot import Operation, Snapshot
from lakebed.storage.file_io import FileIO
from lakebed.table.committing import commit, delete_written, is_unaware
from lakebed.table.compaction.buckets import Place, bucket_files, vector_files
from lakebed.table.expiry.file_views import file_paths
from lakebed.table.metadata.partitions import EveryPartition, PartitionsAmong
from lakebed.table.parts import TableParts, WriteBase
from lakebed.table.spreading import Spread
from lakebed.table.writing.changes import AppendChanges
from lakebed.table.writing.commit_message import CommitMessage
from lakebed.table.writing.deletion_vector_files import VectorChanges


def remove_unexisting_files(parts: TableParts, *, dry_run: bool, spread: Spread) -> list[str]:
    """Deletes data files that are not there from the table.

    Args:
        parts: The table, or one of its branches.
        dry_run: Whether it is only said which.
        spread: For many directories and files; what it calls can be pickled.

    Returns:
        Their paths.

    Raises:
        CommitConflictError: Another writer rewrote one of the files meanwhile; nothing is visible.
        StorageError: A directory cannot be listed, or a commit written.
        UnsupportedError: The table is one that Lakebed does not write.
    """
    base = parts.rewrite_base()
    if base.snapshot is None:
        return []
    live = parts.manifests.live(base.snapshot, partitions=EveryPartition())
    # What lies beside data files comes behind them.
    paths = file_paths(parts, live)["path"].slice(0, live.num_rows)
    is_lost = _are_lost(parts.file_io, paths, spread)
    lost = live.filter(is_lost)
    if lost.num_rows and not dry_run:
        _commit_without(parts, base, lost)
    return sorted(python_values(paths.filter(is_lost)))


def _are_lost(file_io: FileIO, paths: ArrowColumn, spread: Spread) -> ArrowColumn:
    directories = pc.unique(pc.replace_substring_regex(paths, pattern="/[^/]*$", replacement=""))
    found = [
        pa.array([], pa.string()),
        *spread(partial(_listed, file_io), python_values(directories)),
    ]
    unseen = paths.filter(pc.invert(pc.is_in(paths, value_set=pa.concat_arrays(found))))
    doubtful = python_values(unseen)
    gone = [
        path
        for path, exists in zip(doubtful, spread(file_io.exists, doubtful), strict=True)
        if not exists
    ]
    are_lost: ArrowColumn = pc.is_in(paths, value_set=pa.array(gone, pa.string()))
    return are_lost


def _listed(file_io: FileIO, directory: str) -> ArrowArray:
    paths: ArrowArray = pa.array([each.path for each in file_io.list(directory)], pa.string())
    return paths


def _commit_without(parts: TableParts, base: WriteBase, lost: pa.Table) -> Snapshot | None:
    messages: list[CommitMessage] = []
    try:
        messages.extend(_deletions(parts, base, lost))
    except BaseException:
        delete_written(parts, messages)
        raise
    changes = AppendChanges(
        messages=messages,
        manifests=parts.manifests,
        operation=Operation.DELETE,
        based_on=base.snapshot,
        counts=base.counts,
        is_unaware=is_unaware(parts),
    )
    return commit(parts, changes, messages)


def _deletions(parts: TableParts, base: WriteBase, lost: pa.Table) -> Iterator[CommitMessage]:
    """What takes files away, and what marks their rows."""
    by_place: dict[Place, list[ManifestEntry]] = defaultdict(list)
    for entry in entries_from_columns(lost):
        by_place[entry.partition, entry.bucket].append(entry)
    partitions = PartitionsAmong(frozenset(partition for partition, _ in by_place))
    names = set(python_values(lost["file_name"]))
    stored = bucket_files(parts, base.snapshot, partitions, names=names) if base.snapshot else []
    vectors = {(each.partition, each.bucket): each.vectors for each in stored}
    files = vector_files(parts)
    for place, entries in by_place.items():
        gone = VectorChanges(gone={entry.file.file_name for entry in entries})
        index = files.change(place, vectors.get(place, ()), gone)
        yield CommitMessage(
            partition=place[0],
            bucket=place[1],
            total_buckets=entries[0].total_buckets,
            new_files=(),
            deleted_files=tuple(entry.file for entry in entries),
            new_index_files=index.added,
            deleted_index_files=index.deleted,
        )
