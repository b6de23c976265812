"""Where do the compactions of a table run? As a Spark job, or in the driver where they are small.

A task takes one bucket after the other, the largest first, and hands back commit messages; the
driver alone commits, once, or once a group of them. When anything fails nothing is committed of
that group, and the files that are known are deleted.
"""

import pickle
from dataclasses import dataclass, replace

from pyspark.sql import SparkSession

from lakebed.errors import LakebedError
from lakebed.format.snapshot import Snapshot
from lakebed.lsm.compaction.levels import size_of
from lakebed.spark.job_description import described
from lakebed.spark.reader import grouped
from lakebed.spark.registry import Registry
from lakebed.spark.sort_compaction import ONE_TASK_BYTES, shared, sort_in_ranges
from lakebed.spark.tasks import run_tasks
from lakebed.spark.worker import RunWork
from lakebed.spark.workers import check_workers
from lakebed.table.committing import delete_written
from lakebed.table.compaction.job import CompactionJob
from lakebed.table.compaction.keyed import KeyedCompaction
from lakebed.table.compaction.planning import Compaction
from lakebed.table.compaction.progress import ProgressListener, ProgressMeter, log_progress
from lakebed.table.writing.commit_message import CommitMessage

SMALL_BYTES = 4 << 20
"""What the driver has compacted before a Spark job has begun."""


def run_job(
    spark: SparkSession,
    registry: Registry,
    job: CompactionJob,
    *,
    small_bytes: int = SMALL_BYTES,
    one_task_bytes: int = ONE_TASK_BYTES,
    progress: ProgressListener = log_progress,
) -> Snapshot | None:
    """Runs the compactions of a job and commits them; None where there are none.

    Args:
        spark: The session.
        registry: The session's registry.
        job: The compactions.
        small_bytes: Up to how many bytes they run in the driver.
        one_task_bytes: Up to how many bytes a partition is sorted by one task.
        progress: Is told how far it is: of what runs in tasks, when a group has ended.

    Raises:
        CommitConflictError: Somebody else compacted or deleted the same files; nothing is visible
            of these buckets.
        CorruptTableError: A file cannot be read. Groups that were committed before stay.
        LakebedError: The Spark job failed; the same.
    """
    if sum(map(_bytes_read, job.compactions)) <= small_bytes:
        return job.carry_out(progress=progress)

    def run(group: CompactionJob, meter: ProgressMeter) -> list[CommitMessage]:
        messages = _run_as_job(spark, registry, group, one_task_bytes=one_task_bytes)
        try:
            meter.advance(group.compactions)
        except BaseException:
            delete_written(group.parts, messages)
            raise
        return messages

    return job.carry_out(run, progress=progress)


def _run_as_job(
    spark: SparkSession, registry: Registry, job: CompactionJob, *, one_task_bytes: int
) -> list[CommitMessage]:
    count = len(job.compactions)
    buckets = "bucket" if count == 1 else "buckets"
    try:
        with described(spark, f"compact {job.parts.paths.location}: {count} {buckets}"):
            return _run_in_tasks(spark, registry, job, one_task_bytes=one_task_bytes)
    except LakebedError:
        raise
    except Exception as error:
        # A caller whose rows are committed must be able to tell this from all else.
        raise LakebedError(f"the compaction failed as a Spark job: {error}") from error


def _run_in_tasks(
    spark: SparkSession, registry: Registry, job: CompactionJob, *, one_task_bytes: int
) -> list[CommitMessage]:
    sorts = shared(job.compactions, one_task_bytes=one_task_bytes)
    alone = [each for each in job.compactions if not any(each is one for one in sorts)]
    messages: list[CommitMessage] = []
    if alone:
        messages = _run_alone(spark, registry, replace(job, compactions=alone))
    if not sorts:
        return messages
    try:
        return [
            *messages,
            *sort_in_ranges(spark, registry, job.parts, base=job.base, compactions=sorts),
        ]
    except BaseException:
        delete_written(job.parts, messages)
        raise


def _run_alone(spark: SparkSession, registry: Registry, job: CompactionJob) -> list[CommitMessage]:
    check_workers(spark, registry)
    weighed = [_Weighed(each, _bytes_read(each)) for each in job.compactions]
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
