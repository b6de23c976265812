"""Which files of an append table are clustered now, and on which level do they stand then?

Clustering sorts rows by some columns, so that readers skip most files. To sort everything anew for
every new file would be dear, so files stand on levels, and runs of files that were sorted together
are picked as those of a primary-key table are (`universal`):

    L0   f7 | f6 | f5    new files, not sorted: each is a run of its own
    L4   f4  f3          sorted with each other
    L5   f2  f1          the largest run, sorted the most seldom

No row takes the place of another here. So files of level 0 stand in no order of age, any levels
may be clustered together, and the result is right whatever was picked.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from lakebed.format.data_file_meta import DataFileMeta
from lakebed.lsm.compaction.append import DeletedRows
from lakebed.lsm.compaction.full import EarlyFullCompaction
from lakebed.lsm.compaction.levels import Levels, size_of
from lakebed.lsm.compaction.pick import Cause, Pick, pick_all
from lakebed.lsm.compaction.universal import OffPeakHours, UniversalCompaction
from lakebed.options.compaction_options import CompactionOptions

_NO_HOURS = OffPeakHours(start=-1, end=-1, ratio=0)
_NEVER_EARLY = EarlyFullCompaction(
    interval_ms=None, total_size_threshold=None, incremental_size_threshold=None
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IncrementalClustering:
    """The policy.

    Attributes:
        columns: `clustering.columns`.
        level_count: `num-levels`.
        rewrites_all: `compaction.force-rewrite-all-files`.
        universal: What is picked as files come in.
    """

    columns: tuple[str, ...]
    level_count: int
    rewrites_all: bool
    universal: UniversalCompaction

    @classmethod
    def of(cls, columns: tuple[str, ...], options: CompactionOptions) -> "IncrementalClustering":
        """The policy that the options ask for; off-peak hours and early full picks are not its.

        Args:
            columns: `clustering.columns`.
            options: The options of picking.
        """
        return cls(
            columns=columns,
            level_count=options.level_count,
            rewrites_all=options.rewrites_all,
            universal=replace(
                UniversalCompaction.of(options), off_peak=_NO_HOURS, early_full=_NEVER_EARLY
            ),
        )

    def levels(self, files: Iterable[DataFileMeta]) -> Levels:
        """How the files of a partition or bucket stand, those of level 0 as they come."""
        return Levels.of(files, count=self.level_count, by_age=False)

    def pick(self, levels: Levels) -> Pick | None:
        """What to cluster now that files came in, or nothing."""
        return self.universal.pick(levels, now_ms=0, last_full_ms=None)

    def pick_full(
        self, levels: Levels, *, columns_then: Mapping[int, tuple[str, ...]]
    ) -> Pick | None:
        """Everything, or nothing where all is sorted together by the columns of today.

        Args:
            levels: The files.
            columns_then: `clustering.columns` by the id of the schema that a file was written with.
        """
        if not levels.runs:
            return None
        first = levels.runs[0]
        why = Cause.REQUEST.value
        if first.level == levels.max_level:
            if any(columns_then[file.schema_id] != self.columns for file in first.files):
                why = "the files are clustered by other columns"
            elif self.rewrites_all:
                why = "compaction.force-rewrite-all-files asks for every file"
            else:
                return None
        return pick_all(levels, cause=Cause.REQUEST, why=why)


def cut(
    pick: Pick, *, deleted: Mapping[str, DeletedRows], task_size: int, open_file_cost: int
) -> list[Pick]:
    """Cuts a pick into tasks whose rows are sorted apart from each other.

    Files whose deletion vectors share an index file stay together, so that one task alone writes
    it anew.

    Args:
        pick: The pick.
        deleted: The deletion vectors of the files that have one, by file name.
        task_size: From how many bytes on a task is large enough.
        open_file_cost: What a file counts for beside its size.
    """
    groups: dict[str, list[DataFileMeta]] = {}
    for file in pick.files:
        rows = deleted.get(file.file_name)
        groups.setdefault(file.file_name if rows is None else rows.index_file, []).append(file)
    tasks: list[list[DataFileMeta]] = [[]]
    for files in groups.values():
        if tasks[-1] and size_of(tasks[-1]) + open_file_cost * len(tasks[-1]) >= task_size:
            tasks.append([])
        tasks[-1].extend(files)
    return [replace(pick, files=tuple(task), is_full=False) for task in tasks]
