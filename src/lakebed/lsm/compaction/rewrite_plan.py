"""Which files of a pick are rewritten, and which only change their level?

A section of several runs is merged. A file that shares no key with another of the pick need not be
opened if it is large: that its rows stand at another level is a matter of the manifests. Small
files are rewritten together with their neighbours in key order, so that they become large ones.

    keys      a . . . . . . . . . . . z
    L0        |--|     |-----------|       a rewrite of the section and the small file beside it,
    L1          |--|                       then an upgrade of the large one
    L5              |-|

An upgrade is not possible where rows of the file have to go, or where the level asks for another
file; and where changes are tracked its rows are read all the same.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from lakebed.format.data_file_meta import DataFileMeta
from lakebed.lsm.compaction.levels import Levels, size_of
from lakebed.lsm.compaction.pick import Pick
from lakebed.lsm.runs import sections
from lakebed.options.choices import ChangelogProducer, MergeEngine
from lakebed.options.compaction_options import CompactionOptions
from lakebed.options.merge_options import MergeOptions
from lakebed.options.table_options import TableOptions

# The files of one section, as sorted runs.
SectionFiles = tuple[tuple[DataFileMeta, ...], ...]


class Tracking(Enum):
    """Which compactions compare their rows with the older ones of the bucket.

    They do it for a changelog, for deletion vectors, or to drop a key that is there already.
    """

    NONE = "none"
    LOOKUP = "those that take rows from level 0"
    FULL = "those that write the max level"


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteRules:
    """What a table demands of its compactions.

    Attributes:
        table: Its options, for the formats of its levels.
        tracking: Which compactions compare rows.
        with_deletion_vectors: Whether rows of older files are marked deleted by them.
        newest_row_wins: Whether the result of a key is its newest row as it is: `deduplicate`
            without `sequence.field`.
        small_file_size: From which size on a file may stay as it is.
        rewrites_all: Whether every file is rewritten.
    """

    table: TableOptions
    tracking: Tracking
    with_deletion_vectors: bool
    newest_row_wins: bool
    small_file_size: int
    rewrites_all: bool

    @classmethod
    def of(
        cls, table: TableOptions, merging: MergeOptions, compaction: CompactionOptions
    ) -> "RewriteRules":
        """The rules that a table's options make."""
        tracking = Tracking.LOOKUP if compaction.with_lookup else Tracking.NONE
        if table.changelog_producer is ChangelogProducer.FULL_COMPACTION:
            tracking = Tracking.FULL
        return cls(
            table=table,
            tracking=tracking,
            with_deletion_vectors=compaction.with_deletion_vectors,
            newest_row_wins=(
                merging.engine is MergeEngine.DEDUPLICATE and not merging.sequence_fields
            ),
            small_file_size=compaction.small_file_size(table.target_file_size),
            rewrites_all=compaction.rewrites_all,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """Sections whose merged rows make new files, one after the other.

    Attributes:
        sections: The sections, in key order.
        tracks_changes: Whether the rows are compared with older ones.
    """

    sections: tuple[SectionFiles, ...]
    tracks_changes: bool

    @property
    def files(self) -> list[DataFileMeta]:
        """Every file that is read."""
        return [file for section in self.sections for run in section for file in run]


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgrade:
    """A file that changes its level and nothing else.

    Attributes:
        file: The file.
        tracks_changes: Whether its rows are read, and compared with older ones.
    """

    file: DataFileMeta
    tracks_changes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RewritePlan:
    """What a compaction does. A file of the pick that no step names stays where it is.

    Attributes:
        output_level: Where rows and files go.
        drops_deletes: Whether -U and -D rows need not be kept: no older row is left below.
        steps: What is done, in key order.
    """

    output_level: int
    drops_deletes: bool
    steps: tuple[Rewrite | Upgrade, ...]

    @property
    def rewritten_bytes(self) -> int:
        """What the files take that are rewritten."""
        return sum(size_of(step.files) for step in self.steps if isinstance(step, Rewrite))

    @property
    def upgraded_bytes(self) -> int:
        """What the files take that change their level alone."""
        return sum(step.file.file_size for step in self.steps if isinstance(step, Upgrade))


def plan_rewrite(
    pick: Pick,
    levels: Levels,
    rules: RewriteRules,
    *,
    low_ranks: Sequence[int],
    high_ranks: Sequence[int],
    expired: Collection[str] = (),
) -> RewritePlan:
    """How the files of a pick get to its output level.

    Args:
        pick: The pick.
        levels: The bucket that it was made from.
        rules: What the table demands.
        low_ranks: Rank of the smallest key of each of the pick's files.
        high_ranks: Rank of its greatest key, on the same scale.
        expired: Names of files with rows past `record-level.expire-time`.
    """
    by_key: list[SectionFiles] = [
        tuple(tuple(pick.files[file] for file in run) for run in section.runs)
        for section in sections(low_ranks, high_ranks)
    ]
    batches: Iterable[list[SectionFiles]]
    if pick.file_by_file:
        batches = ([section] for section in by_key)
    else:
        batches = _batches(by_key, rules.small_file_size)
    output = _Output(level=pick.output_level, max_level=levels.max_level, rules=rules)
    steps: list[Rewrite | Upgrade] = []
    for batch in batches:
        alone = _only_file(batch)
        if alone is None or pick.file_by_file or output.takes_rows(alone, expired):
            steps.append(output.rewrite(batch))
        elif alone.level != output.level:
            steps.append(output.upgrade(alone))
    return RewritePlan(
        output_level=output.level,
        drops_deletes=output.level >= levels.highest or rules.with_deletion_vectors,
        steps=tuple(steps),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Output:
    """The level that a compaction writes."""

    level: int
    max_level: int
    rules: RewriteRules

    def takes_rows(self, file: DataFileMeta, expired: Collection[str]) -> bool:
        """Whether a file is rewritten wherever it stands: rows go, or it was asked for."""
        drops = self.level == self.max_level and _may_have_deletes(file)
        return drops or self.rules.rewrites_all or file.file_name in expired

    def rewrite(self, batch: Sequence[SectionFiles]) -> Rewrite:
        files = (file for section in batch for run in section for file in run)
        tracks = any(self._tracks(file) for file in files)
        return Rewrite(sections=tuple(batch), tracks_changes=tracks)

    def upgrade(self, file: DataFileMeta) -> Rewrite | Upgrade:
        """The change of a file's level, or its rewrite where that is not enough."""
        if self.rules.tracking is Tracking.LOOKUP and file.level == 0 and not self._holds(file):
            return self.rewrite([((file,),)])
        return Upgrade(file=file, tracks_changes=self._tracks(file))

    def _tracks(self, file: DataFileMeta) -> bool:
        """Whether a file's rows are compared with older ones."""
        if self.rules.tracking is Tracking.FULL:
            return self.level == self.max_level
        return self.rules.tracking is Tracking.LOOKUP and file.level == 0

    def _holds(self, file: DataFileMeta) -> bool:
        """Whether a file of level 0 says, as it is, what its keys are after the lookup."""
        table = self.rules.table
        if table.format_of_level(file.level) != table.format_of_level(self.level):
            return False
        if self.rules.with_deletion_vectors and _may_have_deletes(file):
            return False
        return self.level == self.max_level or self.rules.newest_row_wins


def _batches(by_key: Iterable[SectionFiles], small_file_size: int) -> Iterator[list[SectionFiles]]:
    """What is dealt with at a time: a large file that overlaps none, or all up to the next one."""
    waiting: list[SectionFiles] = []
    for section in by_key:
        alone = _only_file([section])
        if alone is None or alone.file_size < small_file_size:
            waiting.append(section)
            continue
        if waiting:
            yield waiting
            waiting = []
        yield [section]
    if waiting:
        yield waiting


def _only_file(batch: Sequence[SectionFiles]) -> DataFileMeta | None:
    """The file of a batch that is just one."""
    files = [file for section in batch for run in section for file in run]
    return files[0] if len(files) == 1 else None


def _may_have_deletes(file: DataFileMeta) -> bool:
    return file.delete_row_count is None or file.delete_row_count > 0
