"""Which runs of a bucket are compacted as it grows?

Universal compaction: the newest runs are merged as soon as the runs get many, or too large beside
the oldest one, and no earlier, so that a row is rewritten few times. Simplest first:

    L0  3 | 3 | 4        five runs, trigger 5: is that much beside the oldest run? 30 of 100: no.
    L4  20               Do the newest take as much as the next? 3 and 3: yes, 6 and 4, 10 and 20:
    L5  100              no. So the three of level 0 are merged, into level 3, right above level 4.

1. *Size amplification.* When all newer runs together outweigh the oldest one so and so much,
   everything is merged: the space that dead rows can take is bounded.
2. *Size ratio.* From the newest run on, the next one joins while what is picked is not smaller.
   Sizes of runs so grow like powers, and there are few.
3. *Run count.* When neither picks and there are more runs than the trigger, enough of the newest
   are merged to bring the number down.

Complications: the output is never level 0, where a file is a run of its own, so once there is
something to merge, what is left of levels 0 and 1 joins, whatever its size. In off-peak hours the
ratio is larger, so that more is merged. And full compaction may come early.
"""

from dataclasses import dataclass

from lakebed.lsm.compaction.full import EarlyFullCompaction
from lakebed.lsm.compaction.levels import Levels
from lakebed.lsm.compaction.pick import Cause, Pick, pick_all, pick_newest, size_text
from lakebed.options.compaction_options import CompactionOptions

_NEVER = -1
_MS_PER_HOUR = 3_600_000
_HOURS_PER_DAY = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class OffPeakHours:
    """Hours in which more may be compacted.

    Attributes:
        start: The first hour of the day.
        end: The first hour after them, before `start` where they go over midnight.
        ratio: What the size ratio grows by, in percent.
    """

    start: int
    end: int
    ratio: int

    def ratio_at(self, hour: int) -> int:
        """What the size ratio grows by at an hour of the day."""
        if _NEVER in (self.start, self.end):
            return 0
        if self.start <= self.end:
            return self.ratio if self.start <= hour < self.end else 0
        return self.ratio if hour >= self.start or hour < self.end else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class UniversalCompaction:
    """The policy.

    Attributes:
        run_trigger: From how many runs on to look.
        max_size_amplification_percent: How much newer runs may take, of the oldest.
        size_ratio: How much smaller than the next run what is picked may be, in percent.
        off_peak: When that is more.
        early_full: When everything is compacted before the rules ask for it.
    """

    run_trigger: int
    max_size_amplification_percent: int
    size_ratio: int
    off_peak: OffPeakHours
    early_full: EarlyFullCompaction

    @classmethod
    def of(cls, options: CompactionOptions) -> "UniversalCompaction":
        """The policy that the options ask for."""
        return cls(
            run_trigger=options.run_trigger,
            max_size_amplification_percent=options.max_size_amplification_percent,
            size_ratio=options.size_ratio,
            off_peak=OffPeakHours(
                start=options.off_peak_start_hour,
                end=options.off_peak_end_hour,
                ratio=options.off_peak_ratio,
            ),
            early_full=EarlyFullCompaction.of(options),
        )

    def pick(self, levels: Levels, *, now_ms: int, last_full_ms: int | None) -> Pick | None:
        """The runs to compact, or nothing.

        Args:
            levels: The bucket.
            now_ms: The time on the clock of the wall, as of `_CREATION_TIME`: off-peak hours are
                told by it.
            last_full_ms: When the bucket was last compacted as a whole; None for never.
        """
        early = self.early_full.pick(levels, now_ms=now_ms, last_full_ms=last_full_ms)
        if early is not None:
            return early
        count = len(levels.runs)
        if count < self.run_trigger:
            return None
        if (why := self._amplification(levels)) is not None:
            return pick_all(levels, cause=Cause.SIZE_AMPLIFICATION, why=why)
        ratio = self._ratio_at(now_ms)
        if (fitting := _extended(levels, 1, ratio=ratio)) > 1:
            why = f"the newest runs have grown to the size of the next, within {ratio} %"
            return pick_newest(levels, fitting, cause=Cause.SIZE_RATIO, why=why)
        if count > self.run_trigger:
            why = f"there are {count} sorted runs, above the trigger of {self.run_trigger}"
            many = _extended(levels, count - self.run_trigger + 1, ratio=ratio)
            return pick_newest(levels, many, cause=Cause.RUN_COUNT, why=why)
        return None

    def pick_level_0(self, levels: Levels, *, now_ms: int) -> Pick | None:
        """All of level 0, with what is merged along with it; nothing if it has no file.

        Args:
            levels: The bucket.
            now_ms: The time, as for `pick`.
        """
        at_0 = sum(run.level == 0 for run in levels.runs)
        if at_0 == 0:
            return None
        files = "1 file stands" if at_0 == 1 else f"{at_0} files stand"
        why = f"{files} at level 0, where none may stay"
        count = _extended(levels, at_0, ratio=self._ratio_at(now_ms), is_due=True)
        return pick_newest(levels, count, cause=Cause.LEVEL_0, why=why)

    def _amplification(self, levels: Levels) -> str | None:
        """Why space demands a full compaction, if it does."""
        oldest = levels.runs[-1].size_bytes
        newer = levels.size_bytes - oldest
        if newer * 100 <= self.max_size_amplification_percent * oldest:
            return None
        return (
            f"the newer runs take {size_text(newer)} beside {size_text(oldest)} of the oldest, "
            f"more than {self.max_size_amplification_percent} %"
        )

    def _ratio_at(self, now_ms: int) -> int:
        return self.size_ratio + self.off_peak.ratio_at(now_ms // _MS_PER_HOUR % _HOURS_PER_DAY)


def _extended(levels: Levels, count: int, *, ratio: int, is_due: bool = False) -> int:
    """How many runs are merged, when the newest `count` are at least.

    Args:
        levels: The bucket.
        count: That number.
        ratio: The size ratio in percent.
        is_due: Whether a single run is merged too.
    """
    size = sum(run.size_bytes for run in levels.runs[:count])
    is_due = is_due or count > 1
    for run in levels.runs[count:]:
        fits = size * (100.0 + ratio) / 100.0 >= run.size_bytes
        if not fits and not (is_due and run.level <= 1):
            break
        size += run.size_bytes
        count += 1
        is_due = True
    return count
