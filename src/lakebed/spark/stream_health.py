"""How far behind is each stream, and how fast?

A listener of Spark's streaming queries, which keeps the last progress of each:

    health = StreamHealth()
    spark.streams.addListener(health)
    health.streams()       what each query last told
    health.prometheus()    the same as metrics
"""

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pyspark.sql.streaming.listener import (
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
    StreamingQueryProgress,
)

from lakebed.errors import InvalidArgumentError
from lakebed.table.streaming.metrics import gauge
from lakebed.table.streaming.position import Position


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamState:
    """What a query last told.

    Attributes:
        query_id: Its id, which it keeps over restarts.
        name: Its name; None where it has none.
        is_running: Whether it has not ended.
        error: Why it ended; None where nothing failed.
        batch_id: The number of the last micro-batch; None before the first.
        time: When that began, in ISO 8601.
        rows: How many rows it had.
        rows_per_second: How many it dealt with in a second.
        read_snapshot: The snapshot that it has read up to; of several tables the one that is most
            behind. None where it reads no table of Lakebed.
        snapshots_behind: How many snapshots are newer than that, compactions too; None likewise.
    """

    query_id: str
    name: str | None
    is_running: bool = True
    error: str | None = None
    batch_id: int | None = None
    time: str | None = None
    rows: int = 0
    rows_per_second: float = 0.0
    read_snapshot: int | None = None
    snapshots_behind: int | None = None


class StreamHealth(StreamingQueryListener):
    """Keeps the state of every query of a session; safe between threads."""

    def __init__(self) -> None:
        """Knows no query yet."""
        self._lock = threading.Lock()
        self._states: dict[str, StreamState] = {}

    def streams(self) -> list[StreamState]:
        """The state of each query, in the order in which they started."""
        with self._lock:
            return list(self._states.values())

    def prometheus(self) -> str:
        """The states in Prometheus' text format."""
        states = self.streams()
        labels = [{"query": each.name or each.query_id, "id": each.query_id} for each in states]
        return "".join(
            gauge(f"lakebed_stream_{name}", meaning, zip(labels, map(value, states), strict=True))
            for name, meaning, value in _METRICS
        )

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        """A query started."""
        self._keep(StreamState(query_id=str(event.id), name=event.name))

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        """A micro-batch ended, or there was none for a while."""
        progress = event.progress
        read, behind = _lag(progress)
        self._keep(
            StreamState(
                query_id=str(progress.id),
                name=progress.name,
                batch_id=progress.batchId,
                time=progress.timestamp,
                rows=sum(source.numInputRows for source in progress.sources),
                rows_per_second=progress.processedRowsPerSecond,
                read_snapshot=read,
                snapshots_behind=behind,
            )
        )

    def onQueryIdle(self, event: object) -> None:
        """Nothing new; what was told last holds."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        """A query ended."""
        with self._lock:
            known = self._states.get(str(event.id))
            if known is not None:
                self._states[known.query_id] = replace(
                    known, is_running=False, error=event.exception
                )

    def _keep(self, state: StreamState) -> None:
        with self._lock:
            self._states[state.query_id] = state


def _lag(progress: StreamingQueryProgress) -> tuple[int | None, int | None]:
    """The snapshot that was read, and how many are newer, of the table that is most behind."""
    found = []
    for source in progress.sources:
        read, newest = _snapshot_in(source.endOffset), _snapshot_in(source.latestOffset)
        if read is not None:
            found.append((max((newest or read) - read, 0), read))
    if not found:
        return None, None
    behind, read = max(found)
    return read, behind


def _snapshot_in(offset: str | None) -> int | None:
    """The snapshot of an offset; None where it is of another source."""
    try:
        value = json.loads(offset or "null")
        return Position.from_json(value).snapshot_id if isinstance(value, dict) else None
    except (ValueError, InvalidArgumentError):
        return None


_Value = Callable[[StreamState], float | None]
_METRICS: Sequence[tuple[str, str, _Value]] = (
    ("running", "Whether the query runs.", lambda state: float(state.is_running)),
    ("batch_id", "The number of the last micro-batch.", lambda state: state.batch_id),
    ("rows", "Rows of the last micro-batch.", lambda state: state.rows),
    (
        "rows_per_second",
        "Rows that the last micro-batch dealt with in a second.",
        lambda state: state.rows_per_second,
    ),
    ("read_snapshot", "The snapshot that was read last.", lambda state: state.read_snapshot),
    ("snapshots_behind", "How many snapshots are newer.", lambda state: state.snapshots_behind),
)
