"""How do the files of a bucket stand: which sorted runs, on which levels?

    L0   f7 | f6 | f5    each file is a run of its own, the newest first
    L1
    L2   f4  f3          the files of a level above are one run, which has no key twice
    L5   f2  f1          the oldest rows

Every row of a run is newer than the rows of its key in the runs below it. So runs are compacted
from the newest on, without a gap: a row that went down past a run left out would be taken for
older than it is.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from lakebed.format.data_file_meta import DataFileMeta


@dataclass(frozen=True, slots=True)
class Run:
    """Files of a bucket that share no key.

    Attributes:
        level: Their level.
        files: The files.
    """

    level: int
    files: tuple[DataFileMeta, ...]

    @property
    def size_bytes(self) -> int:
        """What its files take."""
        return size_of(self.files)


@dataclass(frozen=True, slots=True)
class Levels:
    """The runs of a bucket.

    Attributes:
        count: How many levels there are, level 0 included.
        runs: Those that have files, from the newest to the oldest.
    """

    count: int
    runs: tuple[Run, ...]

    @classmethod
    def of(cls, files: Iterable[DataFileMeta], *, count: int, by_age: bool = True) -> "Levels":
        """The runs of a bucket's live files.

        Args:
            files: The files.
            count: `num-levels`; where a file stands higher there are more.
            by_age: Whether level 0 is put in the order of age; files without keys have none.
        """
        by_level: dict[int, list[DataFileMeta]] = {}
        for file in files:
            by_level.setdefault(file.level, []).append(file)
        at_0 = by_level.pop(0, [])
        runs = [Run(0, (file,)) for file in (sorted(at_0, key=_newest_first) if by_age else at_0)]
        runs += [Run(level, tuple(by_level[level])) for level in sorted(by_level)]
        return cls(max(count, max(by_level, default=0) + 1), tuple(runs))

    @property
    def max_level(self) -> int:
        """The level of the oldest rows, whether or not it has files."""
        return self.count - 1

    @property
    def highest(self) -> int:
        """The highest level that has files; 0 without any."""
        return self.runs[-1].level if self.runs else 0

    @property
    def size_bytes(self) -> int:
        """What all files take."""
        return sum(run.size_bytes for run in self.runs)

    @property
    def last_full_ms(self) -> int | None:
        """When the newest file of the max level was made, on the scale of `_CREATION_TIME`."""
        if not self.runs or self.highest < self.max_level:
            return None
        return max(file.creation_time or 0 for file in self.runs[-1].files)


def size_of(files: Iterable[DataFileMeta]) -> int:
    """What files take, in bytes."""
    return sum(file.file_size for file in files)


def _newest_first(file: DataFileMeta) -> tuple[int, int, int, str]:
    """Two writers may have made files of the same newest sequence number."""
    return (
        -file.max_sequence_number,
        file.min_sequence_number,
        file.creation_time or 0,
        file.file_name,
    )
