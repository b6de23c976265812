"""When is a bucket compacted as a whole?

Because a user asks for it, or early: before the shape of the runs asks for it, because the last
time is long ago, the bucket is small, or much is new.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta

from lakebed.lsm.compaction.levels import Levels
from lakebed.lsm.compaction.pick import Cause, Pick, pick_all, size_text
from lakebed.options.compaction_options import CompactionOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyFullCompaction:
    """Full compaction by options; a bucket of one run has nothing to gain.

    Attributes:
        interval_ms: `compaction.optimization-interval`.
        total_size_threshold: `compaction.total-size-threshold`.
        incremental_size_threshold: `compaction.incremental-size-threshold`.
    """

    interval_ms: int | None
    total_size_threshold: int | None
    incremental_size_threshold: int | None

    @classmethod
    def of(cls, options: CompactionOptions) -> "EarlyFullCompaction":
        """The policy that the options ask for."""
        return cls(
            interval_ms=options.interval_ms,
            total_size_threshold=options.total_size_threshold,
            incremental_size_threshold=options.incremental_size_threshold,
        )

    def pick(self, levels: Levels, *, now_ms: int, last_full_ms: int | None) -> Pick | None:
        """Everything, or nothing.

        Args:
            levels: The bucket.
            now_ms: The time.
            last_full_ms: When it was last compacted as a whole; None for never.
        """
        if len(levels.runs) < 2:
            return None
        if self.interval_ms is not None:
            if last_full_ms is None:
                why = "this bucket has never been compacted as a whole"
                return pick_all(levels, cause=Cause.INTERVAL, why=why)
            if now_ms - last_full_ms > self.interval_ms:
                why = (
                    f"the last full compaction was {_duration(now_ms - last_full_ms)} ago: "
                    f"compaction.optimization-interval is {_duration(self.interval_ms)}"
                )
                return pick_all(levels, cause=Cause.INTERVAL, why=why)
        limit, total = self.total_size_threshold, levels.size_bytes
        if limit is not None and total < limit:
            why = (
                f"the bucket takes {size_text(total)}, less than "
                f"compaction.total-size-threshold, {size_text(limit)}"
            )
            return pick_all(levels, cause=Cause.SMALL_TOTAL, why=why)
        limit = self.incremental_size_threshold
        new = sum(run.size_bytes for run in levels.runs if run.level < levels.max_level)
        if limit is not None and new > limit:
            why = (
                f"{size_text(new)} stand below the max level, more than "
                f"compaction.incremental-size-threshold, {size_text(limit)}"
            )
            return pick_all(levels, cause=Cause.LARGE_INCREMENT, why=why)
        return None


def pick_full(
    levels: Levels,
    *,
    rewrites_all: bool = False,
    expired: Collection[str] = (),
    marked: Collection[str] = (),
) -> Pick | None:
    """What a full compaction on request compacts.

    A bucket that is one run at the max level is compacted already, but for files of which rows
    are to go; each of those is rewritten on its own.

    Args:
        levels: The bucket.
        rewrites_all: `compaction.force-rewrite-all-files`.
        expired: Names of files with rows past `record-level.expire-time`.
        marked: Names of files that have a deletion vector.
    """
    if not levels.runs:
        return None
    oldest = levels.runs[0]
    if oldest.level < levels.max_level:
        return pick_all(levels, cause=Cause.REQUEST, why=Cause.REQUEST.value)
    files = tuple(
        file for file in oldest.files if rewrites_all or file.file_name in {*expired, *marked}
    )
    if not files:
        return None
    return Pick(
        files=files,
        output_level=levels.max_level,
        is_full=len(files) == len(oldest.files),
        cause=Cause.REQUEST,
        why=_why_again(len(files), rewrites_all=rewrites_all),
        file_by_file=True,
    )


def _why_again(file_count: int, *, rewrites_all: bool) -> str:
    if rewrites_all:
        return "compaction.force-rewrite-all-files asks for every file"
    files = "1 file" if file_count == 1 else f"{file_count} files"
    return f"rows of {files} at the max level are expired or marked deleted"


def _duration(milliseconds: int) -> str:
    return str(timedelta(seconds=milliseconds // 1000))
