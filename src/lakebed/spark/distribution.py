"""How do rows come together by bucket, in as many tasks as there is work for?

Spark measures what a shuffle moved, and then reads several small partitions in one task. So rows
are dealt to more partitions than there will be tasks, a bucket's beside the next one's: a small
write ends in one task, a large one in as many as the cluster runs at once, and no task is started
for next to nothing.

A bucket of a table with a primary key may be dealt to several partitions, each key to one of them:
the order of rows matters within a key only, and so a bucket that has most of the rows is written by
several tasks at once. Nobody knows before the shuffle which bucket that will be, so each is dealt
to as many partitions as tasks run at once. Those of a bucket with few rows lie beside each other,
and Spark puts them together again, but for a bucket that lies where one task ends and the next
begins: it gets a sorted run from both. So rows that one task writes soon are not dealt like this.

The surprising thing: Spark chooses a partition by the hash of an expression, and takes no number
for it where it is to put partitions together. So the number is looked up in an array of values of
which it is known where their hashes lead.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from lakebed.format.bucket import hash_rows
from lakebed.spark.bucketing import bucket_column
from lakebed.spark.expected_rows import ExpectedRows
from lakebed.spark.names import quoted
from lakebed.spark.registry import Registry
from lakebed.table.parts import TableParts

_PLACE = "__lakebed_place"
# More tasks than this a core only cost; a task writes several buckets.
_TASKS_A_CORE = 4
ONE_TASK_BYTES = 32 << 20
"""What one task may as well write alone."""
_SLICE_BYTES = 512 << 20
_SLICES_MAX = 16
# Spark gives rows that it knows nothing of a size beyond all sizes.
_KNOWN_BYTES_MAX = 1 << 50
_CANDIDATES = 16  # numbers tried for each partition, so that all partitions are found


def by_bucket(
    frame: DataFrame,
    parts: TableParts,
    registry: Registry,
    *,
    one_task_bytes: int = ONE_TASK_BYTES,
) -> DataFrame:
    """The rows in partitions, each of which holds all rows of its keys.

    Args:
        frame: Aligned rows.
        parts: A table with a fixed number of buckets.
        registry: The session's registry.
        one_task_bytes: Up to how many bytes of all rows a bucket is left whole.
    """
    spark, schema = frame.sparkSession, parts.schema
    given = set(frame.columns)
    keys = [schema.field(name) for name in schema.bucket_keys]
    if any(field.name not in given for field in keys):
        # The writer says which column is missing.
        return frame.repartition(1)
    expected = ExpectedRows.of(frame)
    if expected.is_small:
        return frame.coalesce(1)
    buckets = parts.options.bucket
    bucket = bucket_column(
        spark,
        keys,
        total_buckets=buckets,
        function=parts.options.bucket_function_type.value,
    )
    partitions = _columns([name for name in schema.partition_keys if name in given])
    places = _measured_places(spark)
    if places is None:
        tasks = min(buckets, _TASKS_A_CORE * registry.parallelism(spark))
        if partitions:
            tasks = max(tasks, registry.parallelism(spark))
            bucket += F.hash(*partitions).cast("bigint")
        place = F.pmod(bucket, F.lit(tasks)).cast("int")
        return frame.withColumn(_PLACE, place).repartitionById(tasks, F.col(_PLACE)).drop(_PLACE)
    slices = 1
    if schema.primary_keys and expected.size_bytes > one_task_bytes:
        slices = min(_slices(expected, registry.parallelism(spark)), places)
    # Slices of more buckets than there is room for lie over those of the next ones.
    place = bucket * min(slices, max(places // buckets, 1))
    if slices > 1:
        # A column that is missing has one value in all rows.
        own = _columns([name for name in schema.primary_keys if name in given])
        place += F.pmod(F.hash(*own), F.lit(slices))
    if partitions:
        place += F.hash(*partitions).cast("bigint")
    number = F.element_at(F.expr(_known(places)), F.pmod(place, F.lit(places)).cast("int") + 1)
    return frame.withColumn(_PLACE, number).repartition(F.col(_PLACE)).drop(_PLACE)


def _slices(expected: ExpectedRows, parallelism: int) -> int:
    """To how many partitions each bucket is dealt: enough for all tasks, of no more than a size."""
    by_size = expected.size_bytes // _SLICE_BYTES if expected.size_bytes < _KNOWN_BYTES_MAX else 1
    return min(max(by_size, parallelism), _SLICES_MAX)


def _measured_places(spark: SparkSession) -> int | None:
    """How many partitions a shuffle makes that Spark then puts together; None where it does not."""
    settings = ("spark.sql.adaptive.enabled", "spark.sql.adaptive.coalescePartitions.enabled")
    if any(spark.conf.get(key) != "true" for key in settings):
        return None
    initial = spark.conf.get("spark.sql.adaptive.coalescePartitions.initialPartitionNum", None)
    return int(initial or spark.conf.get("spark.sql.shuffle.partitions") or 0) or None


@cache
def _known(places: int) -> str:
    """The numbers as one text, since a column for each would take longer than writing few rows."""
    return f"array({', '.join(f'{number}L' for number in _numbers(places))})"


def _numbers(places: int) -> list[int]:
    """A number for each partition, whose hash leads there."""
    candidates = np.arange(places * _CANDIDATES, dtype="<i8")
    rows = pa.array([each.tobytes() for each in candidates], pa.binary())
    targets = hash_rows(rows).astype(np.int64) % places
    found, first = np.unique(targets, return_index=True)
    if len(found) < places:
        # Some partition has no candidate: a shuffle into so many will not miss it.
        return [int(candidates[first[index % len(found)]]) for index in range(places)]
    return [int(candidates[index]) for index in first]


def _columns(names: Sequence[str]) -> list[Column]:
    return [F.col(quoted((name,))) for name in names]
