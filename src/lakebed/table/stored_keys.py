"""Which keys does a table have whose keys may move between partitions, and in which bucket is each?

A scan of the key columns says it. One writer reads it itself. Where several tasks share the keys,
other tasks read it, each some splits (`KeyPlaces`), and a writer is sent the keys of its share
among the rows that it is to write (`RowsAmongKeys`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import numpy as np
import pyarrow as pa

from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import repeated
from lakebed.format.binary_row.codec import encode_row
from lakebed.format.schema import TableSchema
from lakebed.table.parts import TableParts, WriteBase
from lakebed.table.planning.split import Split
from lakebed.table.planning.visibility import Visibility
from lakebed.table.reading.scan_plan import RowReader, ScanPlan
from lakebed.table.reading.scan_source import SnapshotSource
from lakebed.table.writing.commit_message import CommitMessage
from lakebed.table.writing.cross_partition import CrossPartitionBuckets, StoredKeys
from lakebed.table.writing.routing import PartitionedRows
from lakebed.table.writing.row_stage import RowStage
from lakebed.table.writing.rows_writer import RowsWriter

BUCKET_COLUMN = "__lakebed_bucket"
"""The bucket of a key, beside its columns; null for a row that is to be written."""

_STAGED = b""


def key_plan(parts: TableParts, base: WriteBase) -> ScanPlan | None:
    """A plan that reads the columns of keys and partitions; None where there are no keys yet."""
    if base.snapshot is None or base.is_overwrite:
        return None
    ttl = parts.options.cross_partition_upsert_index_ttl
    now = parts.session.wall_clock_ms()
    source = SnapshotSource(
        snapshot=base.snapshot,
        visibility=Visibility.ALL,
        created_from_ms=None if ttl is None else now - round(ttl.total_seconds() * 1000),
    )
    return parts.scan(source, columns=key_columns(parts.schema)).plan()


def key_columns(schema: TableSchema) -> list[str]:
    """The columns of the primary key, then those of the partition that it lacks."""
    return list(dict.fromkeys((*schema.primary_keys, *schema.partition_keys)))


def stored_keys(parts: TableParts, base: WriteBase) -> Iterator[StoredKeys]:
    """Every key of the table; one split's memory at a time."""
    plan = key_plan(parts, base)
    if plan is None:
        return
    types = [field.type for field in parts.schema.partition_type.fields]
    for split in plan.splits:
        partition = encode_row(split.partition, types)
        for batch in plan.reader.read(split):
            count = batch.num_rows
            places = PartitionedRows(np.zeros(count, np.int64), [partition], [split.partition])
            buckets = np.full(count, split.bucket, np.int32)
            yield StoredKeys(places=places, buckets=buckets, keys=pa.Table.from_batches([batch]))


@dataclass(frozen=True, slots=True)
class KeyPlaces:
    """Reads keys with their buckets; travels to tasks.

    Attributes:
        reader: Of a plan of `key_plan`.
    """

    reader: RowReader

    def read(self, split: Split) -> Iterator[pa.RecordBatch]:
        """The columns of `key_columns`, and `BUCKET_COLUMN`."""
        for batch in self.reader.read(split):
            bucket = repeated(pa.scalar(split.bucket, pa.int32()), batch.num_rows)
            yield batch.append_column(BUCKET_COLUMN, bucket)


@dataclass(slots=True)
class RowsAmongKeys:
    """Takes rows to write and keys of the table in any order; the rows wait for the last key.

    Attributes:
        rows: Writes the rows.
        router: Its router.
    """

    rows: RowsWriter
    router: CrossPartitionBuckets
    _stage: RowStage = field(default_factory=lambda: RowStage(advice=_ADVICE), init=False)

    def add(self, data: pa.RecordBatch) -> None:
        """Takes a batch that has `BUCKET_COLUMN`.

        Raises:
            CorruptTableError: The table has a key in two partitions.
            StorageError: Rows cannot be put aside.
        """
        table = pa.Table.from_batches([data])
        is_row = pc.is_null(table.column(BUCKET_COLUMN))
        waiting = table.filter(is_row).drop_columns([BUCKET_COLUMN])
        if waiting.num_rows:
            self._stage.add(_STAGED, waiting, None)
        if waiting.num_rows < data.num_rows:
            self._learn(table.filter(pc.invert(is_row)))

    def finish(self) -> list[CommitMessage]:
        """Writes the rows that waited."""
        if self._stage.partitions:
            for waiting, _ in self._stage.read(_STAGED):
                self.rows.add(waiting)
        return self.rows.finish()

    def _learn(self, keys: pa.Table) -> None:
        schema = self.rows.schema
        self.router.learn(
            StoredKeys(
                places=PartitionedRows.of(keys, schema),
                buckets=keys.column(BUCKET_COLUMN).to_numpy(),
                keys=keys.select(schema.primary_keys),
            )
        )

    def __enter__(self) -> Self:
        """Nothing is opened before the first row."""
        self.rows.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """On an error, deletes every file written."""
        self._stage.close()
        self.rows.__exit__(kind, error, trace)


_ADVICE = "write fewer rows at once"
