"""How rows are deleted: by -D rows where there is a key, by rewriting files where there is none.

In a table without a key but with deletion vectors, files stay, and vectors mark their rows.
"""

from collections import defaultdict
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pyarrow as pa

from lakebed.format.arrow.compute import compute as pc
from lakebed.format.data_file_meta import ManifestEntry
from lakebed.format.manifest import entries_from_columns
from lakebed.format.predicate.evaluation import evaluate
from lakebed.format.predicate.expressions import Expression
from lakebed.format.snapshot import Operation, Snapshot
from lakebed.lsm.merge import DELETE
from lakebed.table.committing import commit
from lakebed.table.compaction.after_write import commit_rows
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.parts import TableParts, WriteBase
from lakebed.table.planning.split import Split
from lakebed.table.reading.read import SplitReader
from lakebed.table.reading.scan_source import SnapshotSource
from lakebed.table.routers import rows_writer
from lakebed.table.row_changes import append_changes
from lakebed.table.row_marks import mark_matching
from lakebed.table.writing.bucket_writer import BucketWriter
from lakebed.table.writing.commit_message import CommitMessage


def delete_rows(parts: TableParts, where: str | Expression) -> Snapshot | None:
    """Deletes the rows for which a condition is true; None when there is none."""
    if parts.schema.primary_keys:
        return _delete_by_key(parts, where)
    if parts.options.deletion_vectors_enabled:
        return _delete_by_marks(parts, where)
    return _delete_by_rewrite(parts, where)


def _delete_by_key(parts: TableParts, where: str | Expression) -> Snapshot | None:
    """Writes a -D row for each matching row; the merge does the rest."""
    base = parts.write_base()
    # The snapshot that the sequence numbers go on from: a row that came later is newer than its -D.
    scan = parts.scan(SnapshotSource(snapshot=base.snapshot), where=where)
    with rows_writer(parts, base) as rows:
        for batch in scan.to_batches():
            kinds = np.full(batch.num_rows, DELETE, np.int8)
            rows.add_aligned(pa.Table.from_batches([batch]), kinds)
        messages = rows.finish()
    changes = append_changes(parts, messages, base=base, operation=Operation.DELETE)
    return commit_rows(parts, changes, messages)


def _delete_by_marks(parts: TableParts, where: str | Expression) -> Snapshot | None:
    """Marks each matching row of an append table in a deletion vector."""
    base = parts.rewrite_base()
    messages = [] if base.snapshot is None else mark_matching(parts, base.snapshot, where)
    changes = append_changes(parts, messages, base=base, operation=Operation.DELETE)
    return commit(parts, changes, messages)


def _delete_by_rewrite(parts: TableParts, where: str | Expression) -> Snapshot | None:
    """Rewrites each append file that holds a matching row, less those rows."""
    base = parts.write_base()
    snapshot = base.snapshot
    scan = parts.scan(SnapshotSource(snapshot=snapshot), where=where)
    predicate = scan.reader.predicate
    if snapshot is None or predicate is None:
        return None
    matched = {
        one.files[0].path: one
        for split in scan.plan().splits
        for one in _one_file_each(split)
        if scan.reader.count(one)
    }
    whole = replace(scan.reader, predicate=None)
    # One stack for the writers of all buckets, so that none leaves files when another fails.
    with ExitStack() as writers:
        messages = [
            _rewritten(
                writers.enter_context(_bucket_writer(parts, entries, base)),
                entries,
                matched,
                reader=whole,
                predicate=predicate,
            )
            for entries in _by_bucket(parts, snapshot, matched)
        ]
    changes = append_changes(parts, messages, base=base, operation=Operation.DELETE)
    return commit(parts, changes, messages)


def _one_file_each(split: Split) -> list[Split]:
    return [replace(split, sections=(section,)) for section in split.sections]


def _by_bucket(
    parts: TableParts, snapshot: Snapshot, matched: dict[str, Split]
) -> list[list[tuple[ManifestEntry, str]]]:
    """The entries of the files to rewrite, with their paths, by bucket."""
    live = parts.manifests.live(snapshot, partitions=EveryPartition())
    names = pa.array([path.rsplit("/", 1)[-1] for path in matched], pa.string())
    chosen = live.filter(pc.is_in(live.column("file_name"), value_set=names))
    paths = [file.path for file in parts.split_files.files(chosen)]
    groups: dict[tuple[bytes, int], list[tuple[ManifestEntry, str]]] = defaultdict(list)
    for entry, path in zip(entries_from_columns(chosen), paths, strict=True):
        if path in matched:
            groups[entry.partition, entry.bucket].append((entry, path))
    return list(groups.values())


def _bucket_writer(
    parts: TableParts, entries: list[tuple[ManifestEntry, str]], base: WriteBase
) -> BucketWriter:
    first = entries[0][0]
    directory = parts.split_files.bucket_directory(first.partition, first.bucket)
    return base.writes.open(first.partition, first.bucket, directory=directory)


def _rewritten(
    writer: BucketWriter,
    entries: list[tuple[ManifestEntry, str]],
    matched: dict[str, Split],
    *,
    reader: SplitReader,
    predicate: Expression,
) -> CommitMessage:
    for _, path in entries:
        for batch in reader.read(matched[path]):
            rows = pa.Table.from_batches([batch])
            gone = pc.fill_null(evaluate(predicate, rows), False)  # noqa: FBT003
            writer.add(rows.filter(pc.invert(gone)))
    message = writer.finish()
    return replace(message, deleted_files=tuple(entry.file for entry, _ in entries))
