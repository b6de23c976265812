"""A table that goes back to what it was: to a snapshot, a tag, a time or a watermark."""

from abc import ABC, abstractmethod
from datetime import datetime

from lakebed.errors import InvalidArgumentError, NotFoundError
from lakebed.format.snapshot import Snapshot
from lakebed.format.tag import Tag
from lakebed.table.history_changes.roll_back import roll_back, rollback_to, withdrawn
from lakebed.table.metadata.tags import Tags
from lakebed.table.parts import TableParts
from lakebed.table.reading.time_travel import epoch_ms


class Rollback(ABC):
    """The rollbacks of the table whose parts are given.

    Each deletes what is newer: snapshots, tags, changelogs that are kept for longer, and the files
    that only these need. Schemas and consumers stay as they are.
    """

    __slots__ = ()

    @abstractmethod
    def parts(self) -> TableParts:
        """The parts of the table."""

    def rollback(
        self,
        version: int | str | None = None,
        *,
        snapshot: int | None = None,
        tag: str | None = None,
    ) -> Snapshot:
        """Makes a snapshot the newest one again.

        Args:
            version: The id of a snapshot, also as text, or the name of a tag.
            snapshot: The id of a snapshot; one that expired is found by a tag of it.
            tag: The name of a tag, whose snapshot may have expired.

        Returns:
            The snapshot that is the newest now.

        Raises:
            CommitConflictError: Snapshots expire at the same time, and nothing was changed; or
                somebody else rolled back further.
            CorruptTableError: Something that would be deleted cannot be read; nothing was changed.
            InvalidArgumentError: None of the arguments is given, or several are, or the tag is none
                of this history.
            NotFoundError: There is no such snapshot or tag; nothing was changed.
        """
        if sum(each is not None for each in (version, snapshot, tag)) != 1:
            raise InvalidArgumentError("rollback takes one of version, snapshot and tag")
        text = "" if version is None else str(version)
        if text.isdecimal():
            snapshot = int(text)
        elif version is not None:
            tag = text
        parts = self.parts()
        if tag is not None:
            return _to_tag(parts, Tags(parts.file_io, parts.paths).load(tag))
        return _to_snapshot(parts, snapshot or 0)

    def rollback_to_timestamp(self, timestamp: int | str | datetime) -> Snapshot:
        """Makes the newest snapshot of a time the newest one again.

        Args:
            timestamp: The time, told as `timestamp` of `scan`.

        Returns:
            The snapshot that is the newest now.

        Raises:
            CommitConflictError: As for `rollback`.
            CorruptTableError: As for `rollback`.
            InvalidArgumentError: It tells no time.
            NotFoundError: Every snapshot is younger; nothing was changed.
        """
        parts = self.parts()
        time_ms = epoch_ms(timestamp, parts.session.time_zone, name="timestamp")
        found = parts.snapshots.at_or_before(time_ms)
        if found is None:
            raise _nothing_as_old("of the time", timestamp)
        roll_back(parts, found)
        return found

    def rollback_to_watermark(self, watermark: int) -> Snapshot:
        """Makes the newest snapshot up to a watermark the newest one again.

        Args:
            watermark: Epoch milliseconds.

        Returns:
            The snapshot that is the newest now.

        Raises:
            CommitConflictError: As for `rollback`.
            CorruptTableError: As for `rollback`.
            NotFoundError: Every snapshot that has a watermark has a later one; nothing was changed.
        """
        parts = self.parts()
        found = parts.snapshots.at_or_before_watermark(watermark)
        if found is None:
            raise _nothing_as_old("up to the watermark", watermark)
        roll_back(parts, found)
        return found


def _nothing_as_old(what: str, value: object) -> NotFoundError:
    return NotFoundError("snapshot", f"{what} {value}", hint="Every snapshot is younger")


def _to_snapshot(parts: TableParts, snapshot_id: int) -> Snapshot:
    try:
        target = parts.snapshots.load(snapshot_id)
    except NotFoundError as error:
        named = Tags(parts.file_io, parts.paths).of_snapshot(snapshot_id)
        if named:
            return _to_tag(parts, named[0])
        raise withdrawn(parts, rollback_to(snapshot_id), error) from None
    roll_back(parts, target)
    return target


def _to_tag(parts: TableParts, tag: Tag) -> Snapshot:
    target = tag.snapshot
    latest = parts.snapshots.latest_id()
    if latest is None or target.id > latest:
        newest = "there is none" if latest is None else f"the newest one is {latest}"
        raise InvalidArgumentError(
            f"tag {tag.name!r} is of snapshot {target.id}, and {newest}: there is nothing to roll "
            "back. Make a branch of the tag to read and write on from it"
        )
    stored = parts.snapshots.find(target.id)
    if stored is not None and stored != target:
        raise InvalidArgumentError(
            f"tag {tag.name!r} is of another snapshot {target.id} than the table has now. Make a "
            "branch of the tag to read and write on from it"
        )
    roll_back(parts, target, tag=tag.name)
    return target
