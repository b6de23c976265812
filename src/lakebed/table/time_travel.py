"""Which snapshot a scan reads."""

from collections.abc import Mapping
from dataclasses import dataclass

from lakebed.errors import InvalidArgumentError, UnsupportedError
from lakebed.format.snapshot import Snapshot
from lakebed.table.snapshots import Snapshots

_SNAPSHOT_KEY = "scan.snapshot-id"
_NOT_YET = ("tag", "timestamp", "watermark", "incremental")


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeTravel:
    """A point in a table's life.

    Attributes:
        snapshot_id: The snapshot to read; None for the newest.
    """

    snapshot_id: int | None

    @classmethod
    def of(cls, arguments: Mapping[str, object], options: Mapping[str, str]) -> "TimeTravel":
        """The point that the arguments and options of a scan name.

        Args:
            arguments: `snapshot_id`, `tag`, `timestamp`, `watermark`, `incremental`; None where not
                given.
            options: The scan's options, checked and in their current keys.

        Raises:
            InvalidArgumentError: Two points at once.
            UnsupportedError: A kind of point that Lakebed does not travel to yet.
        """
        given = [name for name, value in arguments.items() if value is not None]
        if len(given) > 1:
            raise InvalidArgumentError(
                f"{given[0]} and {given[1]} both say what to read; give one of them"
            )
        if given and given[0] in _NOT_YET:
            raise UnsupportedError(f"reading by {given[0]} is not supported yet; use snapshot_id")
        if given and _SNAPSHOT_KEY in options:
            raise InvalidArgumentError(
                f"{given[0]} and option {_SNAPSHOT_KEY!r} both say what to read; give one of them"
            )
        text = options.get(_SNAPSHOT_KEY)
        if text is not None:
            return cls(snapshot_id=int(text))
        chosen = arguments.get("snapshot_id")
        if chosen is not None and (not isinstance(chosen, int) or isinstance(chosen, bool)):
            raise InvalidArgumentError(f"snapshot_id is a whole number, not {chosen!r}")
        return cls(snapshot_id=chosen)

    def find(self, snapshots: Snapshots) -> Snapshot | None:
        """The snapshot; None when the newest is asked of a table without any.

        Raises:
            NotFoundError: There is no such snapshot; the message names those there are.
        """
        if self.snapshot_id is None:
            return snapshots.latest()
        return snapshots.load(self.snapshot_id)
