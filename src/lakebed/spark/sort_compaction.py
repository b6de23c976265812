"""How does Spark sort partitions that are too large for one task?

The rows are read in Python workers, which add their place on the curve, and Spark deals ranges of
them to tasks as it does for a global sort: it samples what they are sorted by. A task writes about
one file, so files come out in one order over all tasks.

Partitions that one task sorts soon are not dealt: a task takes one after the other. So are those
with values that Spark would cut, since what is compacted must stay as it is.
"""

import pickle
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know
from pyspark.sql.types import LongType, StructType

from lakebed.errors import UnsupportedError
from lakebed.format.types import DataField
from lakebed.spark.names import quoted
from lakebed.spark.reader import split_frame
from lakebed.spark.registry import Registry
from lakebed.spark.tasks import run_tasks
from lakebed.spark.types import is_native, to_spark_schema
from lakebed.spark.worker import WriteRows
from lakebed.table.committing import delete_written
from lakebed.table.compaction.appended import AppendedCompaction
from lakebed.table.compaction.planning import Compaction
from lakebed.table.compaction.row_sample import SampleReader
from lakebed.table.compaction.sorted_ranges import (
    KeyedReader,
    RangeTarget,
    replacements,
)
from lakebed.table.parts import TableParts, WriteBase
from lakebed.table.writing.commit_message import CommitMessage

ONE_TASK_BYTES = 64 << 20
"""What one task may as well sort alone."""


def shared(
    compactions: Sequence[Compaction], *, one_task_bytes: int = ONE_TASK_BYTES
) -> list[AppendedCompaction]:
    """The compactions whose rows are sorted by several tasks.

    What the tasks write is told apart by partition. So buckets, and tasks of one partition that are
    sorted apart (`clustering.incremental.mode` = `local-sort`), are not shared. Nor are rows with
    ids.

    Args:
        compactions: All compactions.
        one_task_bytes: Up to how many bytes one task sorts alone.
    """
    counts = Counter(each.stored.partition for each in compactions)
    return [
        each
        for each in compactions
        if isinstance(each, AppendedCompaction)
        and each.ordering is not None
        and each.vectors.is_unaware
        and counts[each.stored.partition] == 1
        and each.rewritten_bytes > one_task_bytes
        and not each.is_tracked
        and _keeps_rows(each.reader.table_schema.fields)
    ]


def sort_in_ranges(
    spark: SparkSession,
    registry: Registry,
    parts: TableParts,
    *,
    base: WriteBase,
    compactions: Sequence[AppendedCompaction],
) -> list[CommitMessage]:
    """Sorts partitions in one Spark job; on an error, leaves no file that is known.

    Args:
        spark: The session.
        registry: Its registry.
        parts: The table.
        base: Its state when the compactions were planned.
        compactions: Those that are `shared`, all by the same order.

    Raises:
        LakebedError: A file cannot be read or written.
    """
    (ordering,) = {each.ordering for each in compactions if each.ordering is not None}
    reader, splits = compactions[0].reader, [split for each in compactions for split in each.splits]
    if ordering.takes_sample:
        sampler = SampleReader.of(reader, ordering.columns, splits=splits)
        schema = to_spark_schema([parts.schema.field(name) for name in ordering.columns])
        sample = split_frame(spark, registry, splits, reader=sampler, schema=schema).toArrow()
        ordering = ordering.fitted(sample.cast(sampler.reader.schema))
    keyed = KeyedReader(reader, ordering)
    schema = _with_keys(to_spark_schema(parts.schema.fields), keyed.key_names)
    rows = split_frame(spark, registry, splits, reader=keyed, schema=schema)
    order = [F.col(quoted((name,))) for name in (*parts.schema.partition_keys, *keyed.key_names)]
    bytes_read = sum(each.rewritten_bytes for each in compactions)
    tasks = -(-bytes_read // parts.options.target_file_size)
    ranges = rows.repartitionByRange(tasks, *order).sortWithinPartitions(*order)
    in_task = replace(parts, session=replace(parts.session, read_threads=1))
    write = WriteRows(pickle.dumps(RangeTarget(in_task, base)))
    written = run_tasks(ranges, write, parts)
    made: list[CommitMessage] = []
    try:
        made.extend(replacements(compactions, written))
    except BaseException:
        delete_written(parts, [*written, *made])
        raise
    return made


def _keeps_rows(fields: Sequence[DataField]) -> bool:
    """Whether rows come out of Spark as they went in."""
    try:
        to_spark_schema(fields)
    except UnsupportedError:
        return False
    return all(is_native(field.type) for field in fields)


def _with_keys(schema: StructType, key_names: Iterable[str]) -> StructType:
    for name in key_names:
        if name not in schema.names:
            schema = schema.add(name, LongType())
    return schema
