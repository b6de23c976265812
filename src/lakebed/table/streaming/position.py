"""How far has a stream read?

A position is kept in checkpoints under the names of Paimon's own Spark connector:
`{"snapshotId": 7, "index": 2, "scanSnapshot": false, "totalSplits": 3}`. Either goes on from the
other's after a snapshot that was read to its end; what a split is, they see otherwise. Lakebed adds
`committedAt`, by which it knows a snapshot that took the place of the one that was read.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from lakebed.errors import InvalidArgumentError

_NOTHING = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """A place in a stream.

    Attributes:
        snapshot_id: The snapshot that is being read, or was read.
        index: The last split of it that was read; -1 before the first.
        is_full: Whether all its rows are read, rather than what it changed.
        total: How many splits it has; None where nobody has planned it yet.
        committed_ms: When it was committed, in epoch milliseconds; None where not known.
    """

    snapshot_id: int
    index: int = _NOTHING
    is_full: bool = False
    total: int | None = None
    committed_ms: int | None = None

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> "Position":
        """The position that a checkpoint holds.

        Raises:
            InvalidArgumentError: It is none.
        """
        snapshot_id, index = value.get("snapshotId"), value.get("index")
        is_full, total = value.get("scanSnapshot"), value.get("totalSplits")
        committed_ms = value.get("committedAt")
        if not (
            isinstance(snapshot_id, int)
            and isinstance(index, int)
            and isinstance(is_full, bool)
            and isinstance(total, int | None)
            and isinstance(committed_ms, int | None)
        ):
            raise InvalidArgumentError(
                f"{dict(value)!r} is no position in a stream of a table: the checkpoint is of "
                "another source. Start the query with a new checkpointLocation"
            )
        if total is None and index > _NOTHING:
            raise InvalidArgumentError(
                f"{dict(value)!r} does not say whether all of snapshot {snapshot_id} was read: the "
                "checkpoint is of an older connector. Start the query with a new "
                f"checkpointLocation and scan.snapshot-id = {snapshot_id + 1}, or {snapshot_id} "
                "where some of it was not"
            )
        return cls(
            snapshot_id=snapshot_id,
            index=index,
            is_full=is_full,
            total=total,
            committed_ms=committed_ms,
        )

    def to_json(self) -> dict[str, object]:
        """As checkpoints hold it."""
        members: dict[str, object] = {
            "snapshotId": self.snapshot_id,
            "index": self.index,
            "scanSnapshot": self.is_full,
        }
        if self.total is not None:
            members["totalSplits"] = self.total
        if self.committed_ms is not None:
            members["committedAt"] = self.committed_ms
        return members

    @property
    def is_done(self) -> bool:
        """Whether the snapshot was read to its end."""
        return self.total is not None and self.index == self.total - 1

    @property
    def next_id(self) -> int:
        """The snapshot that is read next."""
        return self.snapshot_id + 1 if self.is_done else self.snapshot_id
