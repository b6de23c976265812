"""A stream as Arrow batches, for as long as somebody asks for the next one."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

import pyarrow as pa

from lakebed.table.metadata.consumers import Consumers
from lakebed.table.streaming.position import Position
from lakebed.table.streaming.steps import Following, Step

# A look costs one request; the format's own default, 10 s, is that of a cluster.
_INTERVAL = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamBatches:
    """The batches of one stream; iterating it again begins anew.

    Attributes:
        following: The stream.
        until: The last snapshot that is read; None for no end.
    """

    following: Following
    until: int | None

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """The batches; waits for what is still to come.

        The position of a consumer moves on when the batch after the last of a snapshot is asked
        for: then that one was dealt with.
        """
        following = self.following
        position = following.beginning.find()
        while True:
            step = following.next_step(position, up_to=self.until)
            if step is not None:
                yield from _batches(step)
                position = step.end
                self._record(position.next_id)
                continue
            # What had nothing to read need not be kept for this stream.
            if following.looked_at(position) >= position.next_id:
                self._record(following.looked_at(position) + 1)
            if self._has_ended(position):
                return
            effects = following.parts.session.effects
            interval = following.options.interval or _INTERVAL
            effects.sleep_ms(interval.total_seconds() * 1000)

    def _has_ended(self, position: Position) -> bool:
        """Whether all up to the end was read, though some of it had no rows."""
        following, until = self.following, self.until
        if until is not None and following.looked_at(position) >= until:
            return True
        return following.is_over(position)

    def _record(self, next_id: int) -> None:
        consumer_id = self.following.options.consumer_id
        if consumer_id is not None:
            parts = self.following.parts
            Consumers(parts.file_io, parts.paths).record(consumer_id, next_id)


def _batches(step: Step) -> Iterator[pa.RecordBatch]:
    for split in step.splits[step.first :]:
        yield from step.reader.read(split)
