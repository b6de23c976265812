"""How do rows come together by bucket, in as many tasks as there is work for?

Spark measures what a shuffle moved, and then reads several small partitions in one task. So rows
are dealt to more partitions than there will be tasks, a bucket's beside the next one's: a small
write ends in one task, a large one in as many as the cluster runs at once, and no task is started
for next to nothing.

A bucket of a table with a primary key may be dealt to several partitions, each key to one of them:
the order of rows matters within a key only, and so a bucket that has most of the rows is written by
several tasks at once. Each makes a sorted run of its own, so this is done only where the plan
expects more than `SLICE_BYTES`.

The surprising thing: Spark chooses a partition by the hash of an expression, and takes no number
for it where it is to put partitions together. So the number is looked up in an array of values of
which it is known where their hashes lead.
"""

import math
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from lakebed.format.bucket import hash_rows
from lakebed.spark.bucketing import bucket_column
from lakebed.spark.names import quoted
from lakebed.spark.registry import Registry
from lakebed.table.parts import TableParts

_PLACE = "__lakebed_place"
# More tasks than this a core only cost; a task writes several buckets.
_TASKS_A_CORE = 4
SLICE_BYTES = 512 << 20
_SLICES_MAX = 16
# Spark gives rows that it knows nothing of a size beyond all sizes.
_KNOWN_BYTES_MAX = 1 << 50
_SIZE = re.compile(r"sizeInBytes=([0-9.]+(?:E[+-]?[0-9]+)?) ([KMGTPE]?i?B)")
_UNITS = {"B": 0, "KiB": 1, "MiB": 2, "GiB": 3, "TiB": 4, "PiB": 5, "EiB": 6}
_OPERATOR = re.compile(r"[ :+|-]*([A-Za-z]+)")
_PHYSICAL = "== Physical Plan =="
_SMALL_BYTES = 4 << 20
# Those whose rows Spark knows the number of, and that are quickly made.
_EXACT_OPERATORS = frozenset(
    {"Filter", "GlobalLimit", "LocalLimit", "LocalRelation", "OneRowRelation", "Project", "Range"}
)
_CANDIDATES = 16  # numbers tried for each partition, so that all partitions are found


def by_bucket(
    frame: DataFrame, parts: TableParts, registry: Registry, *, slice_bytes: int = SLICE_BYTES
) -> DataFrame:
    """The rows in partitions, each of which holds all rows of its keys.

    Args:
        frame: Aligned rows.
        parts: A table with a fixed number of buckets.
        registry: The session's registry.
        slice_bytes: Of how many bytes of all rows on a bucket is dealt to several partitions.
    """
    spark, schema = frame.sparkSession, parts.schema
    given = set(frame.columns)
    keys = [schema.field(name) for name in schema.bucket_keys]
    if any(field.name not in given for field in keys):
        # The writer says which column is missing.
        return frame.repartition(1)
    expected = _Expected.of(frame)
    if expected.is_small:
        return frame.coalesce(1)
    buckets = parts.options.bucket
    bucket = bucket_column(
        spark,
        registry,
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
    if schema.primary_keys and expected.size_bytes < _KNOWN_BYTES_MAX:
        wanted = expected.size_bytes // slice_bytes
        slices = max(min(wanted, _SLICES_MAX, places // buckets), 1)
    place = bucket * slices
    if slices > 1:
        place += F.pmod(F.hash(*_columns(schema.primary_keys)), F.lit(slices))
    if partitions:
        place += F.hash(*partitions).cast("bigint")
    known = F.array(*(F.lit(number) for number in _numbers(places)))
    number = F.element_at(known, F.pmod(place, F.lit(places)).cast("int") + 1)
    return frame.withColumn(_PLACE, number).repartition(F.col(_PLACE)).drop(_PLACE)


@dataclass(frozen=True, slots=True)
class _Expected:
    """What Spark expects of rows before anything ran.

    Attributes:
        size_bytes: What they take in memory.
        operators: What makes them.
    """

    size_bytes: int
    operators: frozenset[str]

    @classmethod
    def of(cls, frame: DataFrame) -> "_Expected":
        """Read from what Spark explains."""
        text = frame.sparkSession.sql("EXPLAIN COST SELECT * FROM {rows}", rows=frame).collect()[0][
            0
        ]
        plan = text.split(_PHYSICAL, 1)[0].splitlines()
        found = _SIZE.search(text)
        size = float(found[1]) * 1024 ** _UNITS[found[2]] if found else math.inf
        operators = (_OPERATOR.match(line) for line in plan if not line.startswith("=="))
        return cls(
            size_bytes=int(min(size, sys.maxsize)),
            operators=frozenset(each[1] for each in operators if each is not None),
        )

    @property
    def is_small(self) -> bool:
        """Whether one task makes and writes them in no time; no guess is made of other sources."""
        return self.size_bytes <= _SMALL_BYTES and self.operators <= _EXACT_OPERATORS


def _measured_places(spark: SparkSession) -> int | None:
    """How many partitions a shuffle makes that Spark then puts together; None where it does not."""
    settings = ("spark.sql.adaptive.enabled", "spark.sql.adaptive.coalescePartitions.enabled")
    if any(spark.conf.get(key) != "true" for key in settings):
        return None
    initial = spark.conf.get("spark.sql.adaptive.coalescePartitions.initialPartitionNum", None)
    return int(initial or spark.conf.get("spark.sql.shuffle.partitions") or 0) or None


@cache
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
