"""Who streams out of a table and into it, and how far is each?

Any process can tell from the metadata alone: consumers keep their positions beside the snapshots,
and who commits by numbers of its own shows in the snapshots that are kept.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lakebed.format.snapshot import CommitKind, Snapshot
from lakebed.table.metadata.consumers import Consumers
from lakebed.table.parts import TableParts
from lakebed.table.streaming.metrics import gauge
from lakebed.table.writing.commit import BATCH_COMMIT_IDENTIFIER

# So many of the newest snapshots are looked at, for a request each.
_SNAPSHOTS_MAX = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class TableStream:
    """A stream out of a table or into it.

    Attributes:
        direction: `out` is a consumer, `in` a commit user that numbers its commits.
        name: The consumer or the commit user.
        snapshot_id: The last snapshot that was read or committed; 0 where none was read yet.
        snapshots_behind: How many snapshots are newer than that, compactions too.
        identifier: The number of the last commit; None of a consumer.
        time_millis: When the consumer's position was kept or the commit made, in epoch
            milliseconds.
        rows_per_second: Rows that were committed in a second, over the commits among the newest
            100 snapshots; None of a consumer, and where those show fewer than two.
    """

    direction: Literal["out", "in"]
    name: str
    snapshot_id: int
    snapshots_behind: int
    identifier: int | None = None
    time_millis: int
    rows_per_second: float | None = None


def streams_of(parts: TableParts) -> list[TableStream]:
    """The consumers of a table, then the commit users, each in order of their names.

    Raises:
        CorruptTableError: A snapshot or a consumer's file cannot be read.
    """
    newest = parts.snapshots.latest_id() or 0
    consumers = Consumers(parts.file_io, parts.paths).states()
    outward = [
        TableStream(
            direction="out",
            name=name,
            snapshot_id=state.next_snapshot - 1,
            snapshots_behind=max(newest - state.next_snapshot + 1, 0),
            time_millis=state.time_millis,
        )
        for name, state in consumers.items()
    ]
    commits = sorted(_numbered_commits(parts), key=lambda each: (each.commit_user, each.id))
    inward = [
        _writer(name, list(own), newest=newest)
        for name, own in itertools.groupby(commits, key=lambda each: each.commit_user)
    ]
    return [*outward, *inward]


def prometheus(streams: Sequence[TableStream], table: str) -> str:
    """Streams of a table in Prometheus' text format.

    Args:
        streams: The streams.
        table: The label `table` of each.
    """
    labels = [{"table": table, "direction": each.direction, "name": each.name} for each in streams]
    metrics: Sequence[tuple[str, str, list[float | None]]] = (
        (
            "snapshot",
            "The last snapshot that was read or committed.",
            [each.snapshot_id for each in streams],
        ),
        (
            "snapshots_behind",
            "How many snapshots are newer.",
            [each.snapshots_behind for each in streams],
        ),
        (
            "last_time_seconds",
            "When that was, in epoch seconds.",
            [each.time_millis / 1000 for each in streams],
        ),
        (
            "rows_per_second",
            "Rows committed in a second.",
            [each.rows_per_second for each in streams],
        ),
    )
    return "".join(
        gauge(f"lakebed_table_stream_{name}", meaning, zip(labels, values, strict=True))
        for name, meaning, values in metrics
    )


def _numbered_commits(parts: TableParts) -> list[Snapshot]:
    """The newest commits of rows that have a number of their own, so that each is made once."""
    found = (parts.snapshots.find(each) for each in parts.snapshots.list_ids()[-_SNAPSHOTS_MAX:])
    return [
        snapshot
        for snapshot in found
        # One may expire meanwhile.
        if snapshot is not None
        and snapshot.commit_kind is not CommitKind.COMPACT
        and snapshot.commit_identifier != BATCH_COMMIT_IDENTIFIER
    ]


def _writer(name: str, commits: Sequence[Snapshot], *, newest: int) -> TableStream:
    last = commits[-1]
    seconds = (last.time_millis - commits[0].time_millis) / 1000
    rows = sum(each.delta_record_count for each in commits[1:])
    return TableStream(
        direction="in",
        name=name,
        snapshot_id=last.id,
        snapshots_behind=newest - last.id,
        identifier=last.commit_identifier,
        time_millis=last.time_millis,
        rows_per_second=rows / seconds if seconds > 0 else None,
    )
