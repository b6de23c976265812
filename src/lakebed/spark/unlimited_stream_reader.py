"""How far does a micro-batch go, where Spark does not tell from where (PySpark 4.1)?"""

from lakebed.spark.stream_reader import Offset, TableStreamReader
from lakebed.table.streaming.position import Position


class UnlimitedStreamReader(TableStreamReader):
    """Reads all there is at once."""

    _first: Offset | None = None

    def initialOffset(self) -> Offset:
        """As `TableStreamReader`; asked for only before the first micro-batch is committed."""
        self._first = super().initialOffset()
        return self._first

    def latestOffset(self) -> Offset:  # type: ignore[override]
        """The newest snapshot, read to its end however many splits it has."""
        newest = self.following.last_due()
        if newest is None:
            return self.initialOffset()
        end = Position(snapshot_id=newest.id, total=0, committed_ms=newest.time_millis)
        if self._first is None:
            return end.to_json()
        is_to_come = end.next_id < Position.from_json(self._first).next_id
        return self._first if is_to_come else self._end(end, self._first)
