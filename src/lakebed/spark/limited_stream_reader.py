"""How far does a micro-batch go, where Spark tells from where (PySpark 4.2 and later)?"""

import time
from collections.abc import Mapping

from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from lakebed.spark.stream_reader import Offset, TableStreamReader
from lakebed.table.streaming.admission import admitted
from lakebed.table.streaming.position import Position
from lakebed.table.table import Table

# Spark asks every 10 ms while there is nothing, and a look costs a request to the store. Who asks
# waits for the next look rather than being told what an earlier one saw: `processAllAvailable`
# takes an answer for what is there now.
_IDLE_SECONDS = 0.05
_IDLE_SECONDS_MAX = 1.0


class LimitedStreamReader(TableStreamReader, SupportsTriggerAvailableNow):
    """Reads as much at once as the stream's options allow."""

    def __init__(self, table: Table, schema: StructType, options: Mapping[str, str]) -> None:
        """As `TableStreamReader`."""
        super().__init__(table, schema, options)
        self._up_to: int | None = None
        self._moved: float | None = None
        self._idle: tuple[Position, float] | None = None

    def getDefaultReadLimit(self) -> ReadLimit:
        """Whether micro-batches are limited; by what, the stream's own options say."""
        options = self.following.options
        return ReadMaxFiles(options.max_files or 1) if options.limits else ReadAllAvailable()

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        """The end of the next micro-batch; `start` where there is nothing to read yet."""
        position = Position.from_json(start)
        if self._idle is not None and self._idle[0] == position:
            time.sleep(max(self._idle[1] - time.monotonic(), 0))
        now = time.monotonic()
        end = admitted(
            self.following,
            position,
            up_to=self._up_to,
            waited_ms=None if self._moved is None else round((now - self._moved) * 1000),
            is_limited=not isinstance(limit, ReadAllAvailable),
        )
        if end == position:
            self._idle = (position, now + self._pause)
            return start
        self._moved = now
        return self._end(end, start)

    @property
    def _pause(self) -> float:
        interval = self.following.options.interval
        seconds = _IDLE_SECONDS if interval is None else interval.total_seconds()
        return min(seconds, _IDLE_SECONDS_MAX)

    def prepareForTriggerAvailableNow(self) -> None:
        """Takes what is there now for the end, for which no rows are waited."""
        self._up_to = self.following.parts.snapshots.latest_id() or 0
        self._moved = None

    def reportLatestOffset(self) -> Offset | None:
        """The newest snapshot, by which the query's progress tells how far it is behind."""
        newest = self.following.parts.snapshots.latest_id()
        return None if newest is None else Position(snapshot_id=newest).to_json()
