"""What was picked to be compacted, and why?"""

from dataclasses import dataclass
from enum import Enum

from lakebed.format.data_file_meta import DataFileMeta
from lakebed.lsm.compaction.levels import Levels, size_of

_UNIT_STEP = 1024
_ALL_DIGITS_FROM = 100


class Cause(Enum):
    """Which rule picked."""

    REQUEST = "a full compaction was asked for"
    INTERVAL = "the last full compaction is long ago"
    SMALL_TOTAL = "the bucket is small"
    LARGE_INCREMENT = "much is new"
    SIZE_AMPLIFICATION = "size amplification"
    SIZE_RATIO = "size ratio"
    RUN_COUNT = "number of sorted runs"
    LEVEL_0 = "level 0 may not stay"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """Files of a bucket that are compacted together.

    Attributes:
        files: The files, from the newest run to the oldest.
        output_level: Where their rows go.
        is_full: Whether these are all runs of the bucket.
        cause: Which rule picked them.
        why: That, with its numbers, in a sentence for users.
        file_by_file: Whether each file is rewritten on its own, as files of one run can be.
    """

    files: tuple[DataFileMeta, ...]
    output_level: int
    is_full: bool
    cause: Cause
    why: str
    file_by_file: bool = False

    @property
    def size_bytes(self) -> int:
        """What the files take."""
        return size_of(self.files)


def pick_newest(levels: Levels, run_count: int, *, cause: Cause, why: str) -> Pick:
    """The newest runs, to the highest level that they can go to: next to the run left below.

    Args:
        levels: The bucket.
        run_count: How many runs; a run that is left stands above level 1.
        cause: Which rule picked.
        why: The sentence for users.
    """
    picked, left = levels.runs[:run_count], levels.runs[run_count:]
    return Pick(
        files=tuple(file for run in picked for file in run.files),
        output_level=left[0].level - 1 if left else levels.max_level,
        is_full=not left,
        cause=cause,
        why=why,
    )


def pick_all(levels: Levels, *, cause: Cause, why: str) -> Pick:
    """Every run, to the max level."""
    return pick_newest(levels, len(levels.runs), cause=cause, why=why)


def size_text(size_bytes: int) -> str:
    """Bytes for people: `512 B`, `1.5 MB`."""
    size, unit = float(size_bytes), "B"
    for larger in ("KB", "MB", "GB", "TB"):
        if size < _UNIT_STEP:
            break
        size, unit = size / _UNIT_STEP, larger
    return f"{size:.0f} {unit}" if size >= _ALL_DIGITS_FROM else f"{size:.3g} {unit}"
