"""How do several tasks write a table that gives buckets to keys, not to rows?

Each task is sent all rows of the keys of its share, and is alone with these keys: it knows what is
stored of them, and no other task gives one of them a bucket (`table.writing.bucket_room.Share`).

- Dynamic buckets: a share is a class of key hashes, as every engine forms them.
- Keys that move between partitions: the keys that the table has are read by a job of its own, and
  come to the tasks among the rows (`table.stored_keys`).
- Postponed rows: any share of the keys will do. Where new partitions get as many buckets as their
  rows need, the rows are counted before, so that all tasks agree.

A share costs a bucket, so there are as few as the rows allow that the plan expects. Keys that are
not hashed in SQL as in the table are written by one task.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know
from pyspark.sql.types import IntegerType

from lakebed.format.paths import POSTPONE_BUCKET
from lakebed.format.types import DataField
from lakebed.spark.bucketing import bucket_column, is_hashed_in_sql
from lakebed.spark.expected_rows import ExpectedRows
from lakebed.spark.names import quoted
from lakebed.spark.reader import split_frame
from lakebed.spark.registry import Registry
from lakebed.spark.types import to_spark_schema
from lakebed.table.parts import TableParts, WriteBase
from lakebed.table.routers import moves_keys
from lakebed.table.stored_keys import BUCKET_COLUMN, KeyPlaces, key_columns, key_plan
from lakebed.table.writing.bucket_room import BucketGrowth
from lakebed.table.writing.postpone import PostponedSize
from lakebed.table.writing.routing import PartitionedRows
from lakebed.table.writing.row_stage import staged_bytes

_PLACE = "__lakebed_share"
SHARE_BYTES = 128 << 20
"""What one task may as well write alone."""
SHARE_KEYS = 4_000_000
"""As many keys of the table as one task may as well look up alone."""

_SAMPLE_ROWS = 20_000


@dataclass(frozen=True, slots=True)
class SharedRows:
    """Rows of a table with a primary key in partitions, one a share.

    Attributes:
        frame: The rows; where keys move between partitions and there are several shares, with the
            keys of the table among them.
        base: What the tasks start from.
    """

    frame: DataFrame
    base: WriteBase


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedWrite:
    """A write into a table with a primary key and without a fixed number of buckets.

    Attributes:
        frame: Aligned rows.
        parts: The table.
        registry: The session's registry.
        base: The table's state when writing began.
    """

    frame: DataFrame
    parts: TableParts
    registry: Registry
    base: WriteBase

    def shared(self) -> SharedRows:
        """The rows in partitions, all rows of a key in one of them."""
        frame, base, tasks = self.frame, self.base, self._tasks()
        if self._is_postponed:
            # Powers of two, as are the bucket counts: one of them is a multiple of the other.
            tasks = 1 << (tasks.bit_length() - 1)
            classes = tasks
        else:
            classes = BucketGrowth.of(self.parts.options, tasks=tasks).assigners
            tasks = min(tasks, classes)
        if tasks == 1:
            return SharedRows(frame.repartition(1), base)
        if self._is_postponed:
            base = replace(base, counts={**self._new_counts(), **base.counts})
        elif moves_keys(self.parts):
            frame = self._among_keys()
        share = F.pmod(self._key_class(classes), F.lit(tasks)).cast("int")
        dealt = frame.withColumn(_PLACE, share).repartitionById(tasks, F.col(_PLACE)).drop(_PLACE)
        return SharedRows(dealt, replace(base, tasks=tasks))

    @property
    def _is_postponed(self) -> bool:
        return self.parts.options.bucket == POSTPONE_BUCKET

    @property
    def _key_fields(self) -> list[DataField]:
        return [self.parts.schema.field(name) for name in key_columns(self.parts.schema)]

    def _tasks(self) -> int:
        """How many tasks have enough to do, and may share the keys."""
        fields = self._key_fields
        is_given = {field.name for field in fields} <= set(self.frame.columns)
        # A default takes the place of null in the task, where the key's hash is another one then.
        has_default = any(field.default_value is not None for field in fields)
        if not is_given or has_default or not is_hashed_in_sql(fields):
            return 1
        stored, snapshot = 0, self.base.snapshot
        if snapshot is not None and moves_keys(self.parts):
            stored = snapshot.total_record_count
        # Rows that Spark knows no size of are many.
        size = ExpectedRows.of(self.frame).size_bytes
        wanted = math.ceil(max(size / SHARE_BYTES, stored / SHARE_KEYS))
        return max(1, min(wanted, self.registry.parallelism(self.frame.sparkSession)))

    def _key_class(self, classes: int) -> Column:
        """The number below `classes` of the class of each row's key."""
        schema, options = self.parts.schema, self.parts.options
        if self._is_postponed:
            return self._hashed(schema.bucket_keys, classes, options.bucket_function_type.value)
        if moves_keys(self.parts):
            return self._hashed(schema.primary_keys, classes)
        of_key = self._hashed(schema.trimmed_primary_keys, classes)
        if not schema.partition_keys:
            return of_key
        return F.pmod(of_key + self._hashed(schema.partition_keys, classes), F.lit(classes))

    def _hashed(self, names: Sequence[str], classes: int, function: str = "default") -> Column:
        return bucket_column(
            self.frame.sparkSession,
            [self.parts.schema.field(name) for name in names],
            total_buckets=classes,
            function=function,
        )

    def _among_keys(self) -> DataFrame:
        """The rows, and the keys of the table with their buckets."""
        rows = self.frame.withColumn(BUCKET_COLUMN, F.lit(None).cast("int"))
        plan = key_plan(self.parts, self.base)
        if plan is None or not plan.splits:
            return rows
        keys = split_frame(
            self.frame.sparkSession,
            self.registry,
            plan.splits,
            reader=KeyPlaces(plan.reader),
            schema=to_spark_schema(self._key_fields).add(
                BUCKET_COLUMN, IntegerType(), nullable=False
            ),
        )
        return rows.unionByName(keys, allowMissingColumns=True)

    def _new_counts(self) -> dict[bytes, int]:
        """Bucket counts of partitions whose rows say how many they need."""
        size = PostponedSize.of(self.parts.options)
        names = self.parts.schema.partition_keys
        is_measured = self.parts.options.postpone_batch_write_fixed_bucket and size.fixed is None
        if not is_measured or (self.base.counts and not names):
            return {}
        told = self.frame.groupBy(*(F.col(quoted((name,))) for name in names)).count().toArrow()
        places = PartitionedRows.of(told, self.parts.schema)
        row_counts = told.column(told.num_columns - 1).to_numpy()[np.argsort(places.codes)]
        row_bytes = 0.0
        if size.target_rows is None:
            sample = self.frame.limit(_SAMPLE_ROWS).toArrow()
            row_bytes = staged_bytes(sample) / max(sample.num_rows, 1)
        return {
            partition: size.buckets(row_count=count, size_bytes=round(count * row_bytes))
            for partition, count in zip(places.partitions, row_counts.tolist(), strict=True)
        }
