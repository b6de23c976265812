"""Which files lack the indexes that the table's options ask for, and what gives these to them?"""

from collections.abc import Iterator, Sequence

from lakebed.format.data_file_meta import DataFileMeta
from lakebed.format.file_index.building import FileIndexes
from lakebed.lsm.compaction.append import AppendPick
from lakebed.table.compaction.buckets import bucket_files
from lakebed.table.compaction.indexed import IndexRewrite, WantedIndexes
from lakebed.table.compaction.job import CompactionJob
from lakebed.table.metadata.partitions import PartitionFilter
from lakebed.table.parts import TableParts
from lakebed.table.reading.scan_source import SnapshotSource
from lakebed.table.spreading import threads

_WHY = "these files have not the indexes that file-index.* asks for"
# What the files of one task take, about.
_TASK_BYTES = 256 << 20


def index_rewrite(parts: TableParts, partitions: PartitionFilter) -> CompactionJob:
    """What gives the files of some partitions the indexes that the options ask for.

    Args:
        parts: The table.
        partitions: The partitions.

    Raises:
        InvalidTableError: An index that cannot be.
        UnsupportedError: The table is one that Lakebed does not write, or an index is.
    """
    base = parts.rewrite_base()
    if base.snapshot is None:
        return CompactionJob(parts=parts, base=base, compactions=[])
    wanted = WantedIndexes(
        indexes=FileIndexes.of(parts.schema, parts.texts),
        reader=parts.scan(SnapshotSource(snapshot=base.snapshot)).reader,
    )
    buckets = bucket_files(parts, base.snapshot, partitions)
    files = [file for stored in buckets for file in stored.files.values()]
    with threads(parts) as spread:
        flags = list(spread(wanted.are_there, files))
    lacking = {
        file.meta.file_name for file, is_there in zip(files, flags, strict=True) if not is_there
    }
    rewrites = [
        IndexRewrite(
            stored=stored,
            directory=parts.split_files.bucket_directory(stored.partition, stored.bucket),
            pick=AppendPick(files=group, why=_WHY),
            wanted=wanted,
            uuid_source=parts.session.effects.fresh_uuid,
        )
        for stored in buckets
        for group in _groups([meta for meta in stored.metas if meta.file_name in lacking])
    ]
    return CompactionJob(parts=parts, base=base, compactions=rewrites)


def _groups(files: Sequence[DataFileMeta]) -> Iterator[tuple[DataFileMeta, ...]]:
    """The files in groups of about what a task takes."""
    group: list[DataFileMeta] = []
    size = 0
    for file in files:
        group.append(file)
        size += file.file_size
        if size >= _TASK_BYTES:
            yield tuple(group)
            group, size = [], 0
    if group:
        yield tuple(group)
