"""What is compacted next in a bucket of a primary-key table?

Universal compaction, and after it level 0: rows that are looked up in compaction (`lookup`
changelogs, deletion vectors, first-row) are seen by readers only above level 0, so nothing may stay
there; or, if that is taken gently, not for long.
"""

from dataclasses import dataclass, replace

from lakebed.lsm.compaction.levels import Levels
from lakebed.lsm.compaction.pick import Cause, Pick
from lakebed.lsm.compaction.universal import UniversalCompaction
from lakebed.options.compaction_options import CompactionOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What a writer remembers of a bucket from one pick to the next.

    Attributes:
        last_full_ms: When it last compacted everything; None: the files tell.
        quiet_picks: How many picks found nothing to do but for level 0.
    """

    last_full_ms: int | None = None
    quiet_picks: int = 0

    def after(self, pick: Pick | None, *, now_ms: int) -> "History":
        """What is remembered after a pick.

        Args:
            pick: What was picked.
            now_ms: When.
        """
        quiet = pick is None or pick.cause is Cause.LEVEL_0
        return replace(
            self,
            last_full_ms=now_ms if pick is not None and pick.is_full else self.last_full_ms,
            quiet_picks=self.quiet_picks + quiet,
        )


_NO_HISTORY = History()


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionPolicy:
    """What the options of a table make of compaction.

    Attributes:
        universal: What is compacted as the bucket grows.
        forces_level_0: Whether level 0 is compacted when that finds nothing to do.
        level_0_interval: If so, once in how many picks; None: in each.
    """

    universal: UniversalCompaction
    forces_level_0: bool
    level_0_interval: int | None

    @classmethod
    def of(cls, options: CompactionOptions) -> "CompactionPolicy":
        """The policy that the options ask for."""
        return cls(
            universal=UniversalCompaction.of(options),
            forces_level_0=options.forces_level_0,
            level_0_interval=options.level_0_interval,
        )

    def pick(self, levels: Levels, *, now_ms: int, history: History = _NO_HISTORY) -> Pick | None:
        """What to compact now, or nothing.

        Args:
            levels: The bucket.
            now_ms: The time on the clock of the wall, as of `_CREATION_TIME`.
            history: What a writer that lives on remembers.
        """
        last_full_ms = levels.last_full_ms if history.last_full_ms is None else history.last_full_ms
        pick = self.universal.pick(levels, now_ms=now_ms, last_full_ms=last_full_ms)
        if pick is not None or not self.forces_level_0:
            return pick
        interval = self.level_0_interval
        if interval is not None and (history.quiet_picks + 1) % interval:
            return None
        return self.universal.pick_level_0(levels, now_ms=now_ms)
