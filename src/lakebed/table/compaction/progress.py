"""How far is a compaction while it runs?"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lakebed.table.compaction.planning import Compaction

_log = logging.getLogger(__name__)

_LINES_MAX = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionProgress:
    """What of a job has been written; a bucket may have several compactions.

    Attributes:
        location: The table's.
        done: Compactions that are written.
        total: All of them.
        done_bytes: What the files took that those read and wrote anew.
        total_bytes: The same of all.
    """

    location: str
    done: int
    total: int
    done_bytes: int
    total_bytes: int


ProgressListener = Callable[[CompactionProgress], None]


def log_progress(progress: CompactionProgress) -> None:
    """A line in the log for each tenth of a job."""
    tenth = max(progress.total // _LINES_MAX, 1)
    if progress.done % tenth == 0 or progress.done == progress.total:
        _log.info(
            "%s: compacted %d of %d, %d of %d bytes",
            progress.location,
            progress.done,
            progress.total,
            progress.done_bytes,
            progress.total_bytes,
        )


class ProgressMeter:
    """Counts what is done, and tells a listener."""

    def __init__(
        self, location: str, compactions: Sequence[Compaction], listener: ProgressListener
    ) -> None:
        """Starts at nothing of the compactions of the table at a location."""
        self.location = location
        self._total = len(compactions)
        self._total_bytes = sum(each.rewritten_bytes for each in compactions)
        self._listener = listener
        self._done = 0
        self._done_bytes = 0

    def advance(self, compactions: Sequence[Compaction]) -> None:
        """Takes what has been written now."""
        self._done += len(compactions)
        self._done_bytes += sum(each.rewritten_bytes for each in compactions)
        self._listener(
            CompactionProgress(
                location=self.location,
                done=self._done,
                total=self._total,
                done_bytes=self._done_bytes,
                total_bytes=self._total_bytes,
            )
        )
