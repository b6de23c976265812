"""Which compactions come with a write, unless the table says `write-only`?

The rows are committed before, so nothing that happens here may look like a failed write: a caller
would write them again. What cannot be compacted now is left to the next write, and said in the log.
"""

import logging
from collections.abc import Callable, Sequence

from lakebed.errors import CommitConflictError, LakebedError
from lakebed.format.paths import POSTPONE_BUCKET
from lakebed.format.snapshot import CommitKind, Snapshot
from lakebed.options.choices import ChangelogProducer
from lakebed.options.compaction_options import CompactionOptions
from lakebed.table.committing import commit, is_unaware
from lakebed.table.compaction.job import CompactionJob
from lakebed.table.compaction.planning import TOLD_BY_COMPACTION
from lakebed.table.metadata.partitions import EveryPartition, PartitionsAmong
from lakebed.table.partition_life.after_write import age_partitions, check_partitions
from lakebed.table.parts import TableParts
from lakebed.table.writing.changes import Changes
from lakebed.table.writing.commit_message import CommitMessage

_log = logging.getLogger(__name__)


def commit_rows(
    parts: TableParts,
    changes: Changes,
    messages: Sequence[CommitMessage],
    *,
    user: str | None = None,
    identifier: int | None = None,
) -> Snapshot | None:
    """Commits rows and does what follows in their buckets and partitions; arguments as of `commit`.

    Returns:
        The snapshot of the rows; None for no change.

    Raises:
        InvalidDataError: Rows of a partition that may not be; nothing was committed.
    """
    check_partitions(parts, messages)
    snapshot = commit(parts, changes, messages, user=user, identifier=identifier)
    if snapshot is not None:
        compact_written(parts, messages)
        age_partitions(parts, snapshot, messages)
    return snapshot


def compact_written(
    parts: TableParts,
    messages: Sequence[CommitMessage],
    *,
    carry_out: Callable[[CompactionJob], object] = CompactionJob.carry_out,
) -> None:
    """Compacts the buckets that were written to, where the options say so.

    Args:
        parts: The table.
        messages: What was committed.
        carry_out: Runs the compactions and commits them; by default in this process.
    """
    _carry_out(parts, lambda: _job_after(parts, messages), carry_out)


def compact_replayed(
    parts: TableParts, *, carry_out: Callable[[CompactionJob], object] = CompactionJob.carry_out
) -> None:
    """Does what a process left undone that died between its commit and the compaction after it.

    The changelog of what it committed would else wait for the next write to the same buckets.

    Args:
        parts: The table.
        carry_out: As of `compact_written`.
    """
    if not parts.options.write_only and parts.options.changelog_producer in TOLD_BY_COMPACTION:
        _carry_out(
            parts,
            lambda: _due(CompactionJob.of(parts, EveryPartition(), is_full=_is_full_due(parts))),
            carry_out,
        )


def _carry_out(
    parts: TableParts,
    plan: Callable[[], CompactionJob | None],
    carry_out: Callable[[CompactionJob], object],
) -> None:
    location = parts.paths.location
    try:
        job = plan()
        if job is not None:
            carry_out(job)
    except CommitConflictError as error:
        _log.info("%s: compaction gave way to another commit: %s", location, error)
    except LakebedError as error:
        _log.warning("%s: rows are committed, but not compacted: %s", location, error)


def _due(job: CompactionJob) -> CompactionJob | None:
    return job if job.compactions else None


def _job_after(parts: TableParts, messages: Sequence[CommitMessage]) -> CompactionJob | None:
    """The compactions that are due; None where there are none."""
    if parts.options.write_only or is_unaware(parts):
        return None
    places = frozenset(
        (each.partition, each.bucket)
        for each in messages
        if each.new_files and each.bucket != POSTPONE_BUCKET
    )
    if not places:
        return None
    return _due(
        CompactionJob.of(
            parts,
            PartitionsAmong(frozenset(partition for partition, _ in places)),
            is_full=_is_full_due(parts),
            places=places,
        )
    )


def _is_full_due(parts: TableParts) -> bool:
    """Whether buckets are compacted as a whole: `full-compaction.delta-commits` appends came."""
    commits = CompactionOptions.parse(parts.texts).full_delta_commits
    if commits is None:
        if parts.options.changelog_producer is not ChangelogProducer.FULL_COMPACTION:
            return False
        commits = 1
    snapshot = parts.snapshots.latest()
    while commits > 1 and snapshot is not None and snapshot.commit_kind is not CommitKind.COMPACT:
        snapshot, commits = parts.snapshots.find(snapshot.id - 1), commits - 1
    return snapshot is not None and snapshot.commit_kind is not CommitKind.COMPACT
