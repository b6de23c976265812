"""Which router do the rows of a write need? The bucket mode of the table says it (format.md 9)."""

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa

from lakebed.errors import InvalidTableError
from lakebed.format.binary_row.codec import encode_row
from lakebed.format.paths import POSTPONE_BUCKET, FileNames
from lakebed.table.parts import TableParts, WriteBase
from lakebed.table.planning.visibility import Visibility
from lakebed.table.reading.scan_source import SnapshotSource
from lakebed.table.writing.bucket_room import BucketGrowth
from lakebed.table.writing.bucket_writer import BucketWrites
from lakebed.table.writing.cross_partition import CrossPartitionBuckets, StoredKeys
from lakebed.table.writing.dynamic_buckets import DynamicBuckets, HashIndexes
from lakebed.table.writing.postpone import (
    MeasuredBuckets,
    PostponedSize,
    postponed_options,
)
from lakebed.table.writing.routing import NOT_FIXED, FixedBuckets, OneBucket, Router
from lakebed.table.writing.sole_writer import SoleWriter


def router_of(parts: TableParts, base: WriteBase) -> Router:
    """The router for rows of a table.

    Args:
        parts: The table.
        base: What the writers start from.

    Raises:
        CorruptTableError: The hash indexes contradict each other.
        InvalidTableError: An option of buckets out of its range, or against the others.
    """
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
            growth=BucketGrowth.of(options),
            engine=options.merge_engine,
            stored=lambda: _stored_keys(parts, base),
            location=parts.paths.location,
        )
    return _dynamic_buckets(parts, base)


def writes_of(parts: TableParts, base: WriteBase) -> BucketWrites:
    """What opens writers for the buckets that the router names."""
    writes = base.writes
    if not _leaves_rows_postponed(parts):
        return writes
    options = postponed_options(writes.options, writer_uuid=writes.uuid_source())
    return replace(writes, options=options)


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
    known = [] if base.is_overwrite else parts.manifests.index_files(base.snapshot)
    return DynamicBuckets(
        table_schema=parts.schema,
        growth=BucketGrowth.of(parts.options),
        indexes=HashIndexes.of(
            known,
            file_io=parts.file_io,
            paths=parts.paths,
            names=FileNames(parts.session.effects.fresh_uuid),
        ),
    )


def _stored_keys(parts: TableParts, base: WriteBase) -> Iterator[StoredKeys]:
    """Every key of the table, from a scan of the key columns; one split's memory at a time."""
    if base.snapshot is None or base.is_overwrite:
        return
    ttl = parts.options.cross_partition_upsert_index_ttl
    now = parts.session.wall_clock_ms()
    source = SnapshotSource(
        snapshot=base.snapshot,
        visibility=Visibility.ALL,
        created_from_ms=None if ttl is None else now - round(ttl.total_seconds() * 1000),
    )
    scan = parts.scan(source, columns=parts.schema.primary_keys)
    types = [field.type for field in parts.schema.partition_type.fields]
    plan = scan.plan()
    for split in plan.splits:
        partition = encode_row(split.partition, types)
        for batch in plan.reader.read(split):
            yield StoredKeys(
                partition=partition,
                values=split.partition,
                bucket=split.bucket,
                keys=pa.Table.from_batches([batch]),
            )
