"""Where do the compactions of a table run? As a Spark job, or in the driver where they are small.

A task takes one bucket after the other, the largest first, and hands back commit messages; the
driver alone commits, once. When anything fails nothing is committed, and the files that are known
are deleted.
"""

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark.sql import SparkSession

from lakebed.errors import LakebedError
from lakebed.format.snapshot import Snapshot
from lakebed.lsm.compaction.levels import size_of
from lakebed.spark.reader import grouped
from lakebed.spark.registry import Registry
from lakebed.spark.tasks import run_tasks
from lakebed.spark.worker import RunWork
from lakebed.spark.workers import check_workers
from lakebed.table.compaction.job import CompactionJob
from lakebed.table.compaction.keyed import KeyedCompaction
from lakebed.table.compaction.planning import Compaction
from lakebed.table.writing.commit_message import CommitMessage

SMALL_BYTES = 4 << 20
"""What the driver has compacted before a Spark job has begun."""


def run_job(
    spark: SparkSession,
    registry: Registry,
    job: CompactionJob,
    *,
    small_bytes: int = SMALL_BYTES,
) -> Snapshot | None:
    """Runs the compactions of a job and commits them; None where there are none.

    Args:
        spark: The session.
        registry: The session's registry.
        job: The compactions.
        small_bytes: Up to how many bytes they run in the driver.

    Raises:
        CommitConflictError: Somebody else compacted or deleted the same files; nothing is visible.
        CorruptTableError: A file cannot be read.
        LakebedError: The Spark job failed; nothing is visible.
    """
    if not job.compactions:
        return None
    weighed = [_Weighed(each, _bytes_read(each)) for each in job.compactions]
    if sum(each.size_bytes for each in weighed) <= small_bytes:
        return job.commit(job.run())
    try:
        messages = _run_in_tasks(spark, registry, job, weighed=weighed)
    except LakebedError:
        raise
    except Exception as error:
        # A caller whose rows are committed must be able to tell this from all else.
        raise LakebedError(f"the compaction failed as a Spark job: {error}") from error
    return job.commit(messages)


def _run_in_tasks(
    spark: SparkSession, registry: Registry, job: CompactionJob, *, weighed: Sequence["_Weighed"]
) -> list[CommitMessage]:
    check_workers(spark, registry)
    in_task = replace(job.parts, session=replace(job.parts.session, read_threads=1))
    pieces = tuple(
        pickle.dumps(replace(job, parts=in_task, compactions=[each.compaction for each in group]))
        for group in grouped(weighed, count=registry.parallelism(spark))
    )
    numbers = spark.range(0, len(pieces), 1, len(pieces))
    return run_tasks(numbers, RunWork(pieces), job.parts)


@dataclass(frozen=True, slots=True)
class _Weighed:
    """A compaction and what it takes.

    Attributes:
        compaction: The compaction.
        size_bytes: Bytes that it reads, at most.
    """

    compaction: Compaction
    size_bytes: int


def _bytes_read(compaction: Compaction) -> int:
    if isinstance(compaction, KeyedCompaction) and compaction.rewriting.looks_below:
        # Rows of higher levels are looked up, too.
        return size_of(compaction.stored.metas)
    return compaction.rewritten_bytes
