"""Who writes rows, and which router sends them where? The bucket mode says it (format.md 9)."""

from dataclasses import replace

from lakebed.errors import InvalidTableError
from lakebed.format.paths import POSTPONE_BUCKET, FileNames
from lakebed.table.parts import TableParts, WriteBase
from lakebed.table.stored_keys import stored_keys
from lakebed.table.writing.bucket_room import BucketGrowth
from lakebed.table.writing.bucket_writer import BucketWrites
from lakebed.table.writing.cross_partition import CrossPartitionBuckets
from lakebed.table.writing.dynamic_buckets import DynamicBuckets, HashIndexes
from lakebed.table.writing.postpone import (
    MeasuredBuckets,
    PostponedSize,
    postponed_options,
)
from lakebed.table.writing.routing import NOT_FIXED, FixedBuckets, OneBucket, Router
from lakebed.table.writing.rows_writer import RowsWriter
from lakebed.table.writing.sole_writer import SoleWriter


def rows_writer(parts: TableParts, base: WriteBase) -> RowsWriter:
    """A writer of rows of any bucket.

    Args:
        parts: The table.
        base: What the writers start from.

    Raises:
        CorruptTableError: The hash indexes contradict each other.
        InvalidTableError: An option of buckets out of its range, or against the others.
    """
    return RowsWriter(
        writes=_writes_of(parts, base),
        router=_router_of(parts, base),
        directory_of=lambda values, bucket: parts.paths.bucket(
            parts.split_files.partition_path(values), bucket
        ),
        memory=parts.options.write_buffer_size,
        threads=parts.session.read_threads,
    )


def sole_writer_of(parts: TableParts, base: WriteBase) -> SoleWriter | None:
    """What a commit must check where a writer has to be alone with the table."""
    if not moves_keys(parts):
        return None
    return SoleWriter(snapshots=parts.snapshots, based_on=base.snapshot)


def moves_keys(parts: TableParts) -> bool:
    """Whether a write may move keys between partitions."""
    keys = set(parts.schema.primary_keys)
    is_dynamic = parts.options.bucket == NOT_FIXED
    return is_dynamic and bool(keys) and not keys >= set(parts.schema.partition_keys)


def _router_of(parts: TableParts, base: WriteBase) -> Router:
    schema, options = parts.schema, parts.options
    if options.bucket > 0:
        return FixedBuckets(
            table_schema=schema,
            options=options,
            counts=base.counts,
            base=base.snapshot.id if base.snapshot else 0,
        )
    if options.bucket == POSTPONE_BUCKET:
        return _postponed(parts, base)
    if not schema.primary_keys:
        return OneBucket(table_schema=schema)
    if moves_keys(parts):
        return CrossPartitionBuckets(
            table_schema=schema,
            growth=BucketGrowth.of(options, tasks=base.tasks),
            engine=options.merge_engine,
            stored=lambda: iter(()) if base.tasks > 1 else stored_keys(parts, base),
            location=parts.paths.location,
            tasks=base.tasks,
        )
    return _dynamic_buckets(parts, base)


def _writes_of(parts: TableParts, base: WriteBase) -> BucketWrites:
    """What opens writers for the buckets that the router names."""
    writes = base.writes
    if not _leaves_rows_postponed(parts):
        return writes
    options = postponed_options(writes.options, writer_uuid=writes.uuid_source())
    return replace(writes, options=options)


def _postponed(parts: TableParts, base: WriteBase) -> Router:
    if not parts.schema.primary_keys:
        raise InvalidTableError(
            f"{parts.paths.location}: option 'bucket' = '-2' needs a primary key; set it to -1"
        )
    if _leaves_rows_postponed(parts):
        return OneBucket(
            table_schema=parts.schema, bucket=POSTPONE_BUCKET, total_buckets=POSTPONE_BUCKET
        )
    return MeasuredBuckets(
        table_schema=parts.schema,
        options=parts.options,
        counts=base.counts,
        size=PostponedSize.of(parts.options),
    )


def _leaves_rows_postponed(parts: TableParts) -> bool:
    options = parts.options
    return options.bucket == POSTPONE_BUCKET and not options.postpone_batch_write_fixed_bucket


def _dynamic_buckets(parts: TableParts, base: WriteBase) -> DynamicBuckets:
    known = parts.manifests.index_columns(None if base.is_overwrite else base.snapshot)
    return DynamicBuckets(
        table_schema=parts.schema,
        growth=BucketGrowth.of(parts.options, tasks=base.tasks),
        tasks=base.tasks,
        indexes=HashIndexes.of(
            known,
            file_io=parts.file_io,
            paths=parts.index_paths,
            names=FileNames(parts.session.effects.fresh_uuid),
        ),
    )
