"""Which levels and buckets of a table does a scan see (format.md 12)?

Where level 0 would have to be merged and the table promises reads without a merge (deletion
vectors, first-row), a scan sees the levels above it: new rows appear with the next compaction.
Rows of `bucket-postpone` appear when they are given a bucket.
"""

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.manifest import ManifestFileMeta
from lakebed.format.paths import POSTPONE_BUCKET
from lakebed.options.catalogue import TABLE_OPTIONS
from lakebed.options.choices import MergeEngine
from lakebed.options.table_options import TableOptions
from lakebed.options.values import parse_boolean
from lakebed.table.metadata.plan_step import EntryStep

Mask = npt.NDArray[np.bool_]
LevelRule = Callable[[npt.NDArray[np.int32]], Mask]

_DELETION_VECTORS = "deletion-vectors.enabled"
_MERGE_ON_READ = "deletion-vectors.merge-on-read"
_LEVEL_COUNT = "num-levels"
_RUN_COUNT = "num-sorted-run.compaction-trigger"


class Visibility(enum.Enum):
    """Which levels of a table with a key a scan sees."""

    BATCH = "batch"
    """What the table's options say: all levels, or those above 0."""
    COMPACTED = "compacted"
    """Every level above 0."""
    READ_OPTIMIZED = "read-optimized"
    """The top level."""
    ALL = "all"
    """Every level, as for the files of single commits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLayout:
    """What the options of a table say of its levels and buckets.

    Attributes:
        has_primary_key: Whether it has levels at all.
        keeps_newest_apart: Whether files above level 0 need no merge with each other: deletion
            vectors mark what is older, or the first row of a key is the only one.
        skips_level_0: Whether a batch scan leaves level 0 to the next compaction.
        top_level: The greatest level.
        has_postponed: Whether rows wait for their bucket in `bucket-postpone`.
    """

    has_primary_key: bool
    keeps_newest_apart: bool
    skips_level_0: bool
    top_level: int
    has_postponed: bool

    @classmethod
    def of(
        cls, options: TableOptions, texts: Mapping[str, str], *, has_primary_key: bool
    ) -> "TableLayout":
        """From a table's options, as values and as texts."""
        given = TABLE_OPTIONS.with_current_keys(texts)
        has_vectors = _flag(given, _DELETION_VECTORS)
        is_first_row = options.merge_engine is MergeEngine.FIRST_ROW
        return cls(
            has_primary_key=has_primary_key,
            keeps_newest_apart=has_primary_key and (has_vectors or is_first_row),
            skips_level_0=has_primary_key
            and (not _flag(given, _MERGE_ON_READ) if has_vectors else is_first_row),
            top_level=_level_count(given) - 1,
            has_postponed=options.bucket == POSTPONE_BUCKET,
        )

    def steps(self, visibility: Visibility) -> list[EntryStep]:
        """What hides entries from a scan."""
        steps = []
        if self.has_postponed:
            steps.append(EntryStep("postponed", _in_real_bucket))
        rule = self._level_rule(visibility)
        if rule is not None:
            steps.append(
                EntryStep("levels", lambda entries: rule(entries.column("level").to_numpy()))
            )
        return steps

    def may_be_seen(self, meta: ManifestFileMeta, visibility: Visibility) -> bool:
        """Whether a manifest may hold an entry that a scan sees."""
        if self.has_postponed and meta.max_bucket is not None and meta.max_bucket < 0:
            return False
        rule = self._level_rule(visibility)
        if rule is None or meta.min_level is None or meta.max_level is None:
            return True
        levels = np.arange(meta.min_level, meta.max_level + 1, dtype=np.int32)
        return bool(rule(levels).any())

    def _level_rule(self, visibility: Visibility) -> LevelRule | None:
        if not self.has_primary_key or visibility is Visibility.ALL:
            return None
        if visibility is Visibility.READ_OPTIMIZED:
            return lambda levels: levels == self.top_level
        if self.skips_level_0 or visibility is Visibility.COMPACTED:
            return lambda levels: levels > 0
        return None


def _in_real_bucket(entries: pa.Table) -> Mask:
    mask: Mask = entries.column("bucket").to_numpy() >= 0
    return mask


def _flag(texts: Mapping[str, str], key: str) -> bool:
    return parse_boolean(texts.get(key, "false"), key)


def _level_count(texts: Mapping[str, str]) -> int:
    levels = texts.get(_LEVEL_COUNT)
    if levels is not None:
        return int(str(TABLE_OPTIONS[_LEVEL_COUNT].parse(levels)))
    runs = texts.get(_RUN_COUNT, TABLE_OPTIONS[_RUN_COUNT].default or "")
    return int(str(TABLE_OPTIONS[_RUN_COUNT].parse(runs))) + 1
