"""How much does one micro-batch take?

At least one split, so that a stream always goes on, and then no more than its options allow. With
`read.stream.minRowsPerTrigger` it takes nothing until there are so many rows, or until the wait is
over.
"""

from dataclasses import dataclass

from lakebed.options.stream_options import StreamOptions
from lakebed.table.streaming.position import Position
from lakebed.table.streaming.steps import Following, Step


@dataclass(slots=True)
class _Taken:
    files: int = 0
    rows: int = 0
    size_bytes: int = 0
    splits: int = 0

    def admit(self, options: StreamOptions, step: Step, number: int) -> bool:
        """Takes a split, if there is room for it."""
        split = step.splits[number]
        files, rows = self.files + split.file_count, self.rows + split.row_count
        size_bytes = self.size_bytes + split.size_bytes
        limits = (
            (files, options.max_files),
            (rows, options.max_rows),
            (size_bytes, options.max_bytes),
        )
        if self.splits and any(most is not None and found > most for found, most in limits):
            return False
        self.files, self.rows, self.size_bytes = files, rows, size_bytes
        self.splits += 1
        return True


def admitted(
    following: Following,
    start: Position,
    *,
    up_to: int | None = None,
    waited_ms: int | None = None,
    is_limited: bool = True,
) -> Position:
    """The end of the next micro-batch; `start` where there is nothing to read yet.

    Args:
        following: The stream.
        start: Where the micro-batch begins.
        up_to: The last snapshot that counts; None for all there are.
        waited_ms: Since when there was no micro-batch; None where there was none yet.
        is_limited: Whether the limits of the options hold.
    """
    options, taken, end = following.options, _Taken(), start
    step = following.next_step(start, up_to=up_to)
    while step is not None:
        number = step.first
        if is_limited:
            while number < len(step.splits) and taken.admit(options, step, number):
                number += 1
        else:
            number = len(step.splits)
        if number == step.first:
            break
        end = step.position(number)
        if number < len(step.splits):
            break
        step = following.next_step(end, up_to=up_to)
    is_waiting = (
        is_limited
        and options.min_rows is not None
        and options.max_wait_ms is not None
        and waited_ms is not None
        and waited_ms <= options.max_wait_ms
        and taken.rows < options.min_rows
    )
    return start if is_waiting else end
