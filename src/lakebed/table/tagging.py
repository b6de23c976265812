"""The tags of a table, on request."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime, timedelta

from lakebed.errors import InvalidArgumentError, NotFoundError
from lakebed.format.tag import Tag
from lakebed.options.tag_options import TagOptions
from lakebed.options.values import parse_duration
from lakebed.table.parts import TableParts
from lakebed.table.reading.time_travel import epoch_ms
from lakebed.table.tags.automatic import make_due_tags
from lakebed.table.tags.deletion import delete_tags, expire_tags
from lakebed.table.tags.making import TagSource, all_tags, create_tag, rename_tag, replace_tag
from lakebed.table.tags.times import local_time


class Tagging(ABC):
    """The tags of the table whose parts are given."""

    __slots__ = ()

    @abstractmethod
    def parts(self) -> TableParts:
        """The parts of the table."""

    def create_tag(
        self,
        tag: str,
        snapshot: int | None = None,
        time_retained: timedelta | str | None = None,
        *,
        ignore_if_exists: bool = False,
    ) -> Tag:
        """Names a snapshot: it can be read by the name, and its files are kept, when it expires.

        Args:
            tag: The name.
            snapshot: Id of the snapshot; the newest by default. It may have expired, where another
                tag names it.
            time_retained: How long the tag is kept: a timedelta, or a text such as `7 d`; by
                default what `tag.default-time-retained` says, else for ever.
            ignore_if_exists: Whether a tag of that name is left as it is.

        Returns:
            The tag.

        Raises:
            AlreadyExistsError: There is a tag of that name, or the snapshot has an automatic one.
            InvalidArgumentError: No tag can have this name, or a time that cannot be.
            NotFoundError: There is no such snapshot.
        """
        parts = self.parts()
        return create_tag(
            parts,
            tag,
            TagSource.find(parts, snapshot),
            time_retained=_retention(time_retained),
            ignore_if_exists=ignore_if_exists,
        )

    def create_tag_from_timestamp(
        self,
        tag: str,
        timestamp: int | str | datetime,
        time_retained: timedelta | str | None = None,
    ) -> Tag:
        """Names the first snapshot of a time or later, one that only another tag names among them.

        Args:
            tag: The name.
            timestamp: The time, told as `timestamp` of `scan`.
            time_retained: As for `create_tag`.

        Returns:
            The tag.

        Raises:
            AlreadyExistsError: There is a tag of that name, or the snapshot has an automatic one.
            InvalidArgumentError: No tag can have this name, or a time that cannot be.
            NotFoundError: All snapshots are older.
        """
        parts = self.parts()
        time_ms = epoch_ms(timestamp, parts.session.time_zone, name="timestamp")
        source = _at_or_after(parts, time_ms)
        return create_tag(parts, tag, source, time_retained=_retention(time_retained))

    def replace_tag(
        self,
        tag: str,
        snapshot: int | None = None,
        time_retained: timedelta | str | None = None,
    ) -> Tag:
        """Has a tag name another snapshot, or keeps it for another time.

        Files that only the former snapshot needed are deleted.

        Args:
            tag: The name.
            snapshot: As for `create_tag`.
            time_retained: As for `create_tag`.

        Returns:
            The tag as it is now.

        Raises:
            AlreadyExistsError: The tag is an automatic one, and the snapshot has another such.
            InvalidArgumentError: A time that cannot be.
            NotFoundError: There is no such tag or snapshot.
        """
        parts = self.parts()
        source = TagSource.find(parts, snapshot)
        return replace_tag(parts, tag, source, time_retained=_retention(time_retained))

    def rename_tag(self, tag: str, target_tag: str) -> None:
        """Gives a tag another name.

        Args:
            tag: The tag.
            target_tag: Its name from now on.

        Raises:
            AlreadyExistsError: There is a tag of that name.
            CommitConflictError: Somebody else changed the tag meanwhile; it was not renamed.
            InvalidArgumentError: No tag can have this name.
            NotFoundError: There is no such tag.
        """
        rename_tag(self.parts(), tag, target_tag)

    def delete_tag(self, tag: str | Sequence[str]) -> None:
        """Deletes tags, and the files that only they needed; a name of no tag is passed over.

        Args:
            tag: Names: a list of them, or their text: `v1,v2`.

        Raises:
            CorruptTableError: A tag cannot be read; none is deleted.
            InvalidArgumentError: A name is blank; no tag is deleted.
        """
        names = [each.strip() for each in tag.split(",")] if isinstance(tag, str) else list(tag)
        delete_tags(self.parts(), names)

    def expire_tags(self, older_than: int | str | datetime | None = None) -> list[str]:
        """Deletes tags that were kept for their time, and the files that only they needed.

        Args:
            older_than: Deletes tags, too, that were made before that time, told as `timestamp` of
                `scan`.

        Returns:
            The names of the deleted tags, in order.

        Raises:
            CorruptTableError: A tag cannot be read; none is deleted.
            InvalidArgumentError: A time that cannot be.
        """
        parts = self.parts()
        zone = parts.session.time_zone
        if older_than is None:
            return expire_tags(parts)
        time = local_time(epoch_ms(older_than, zone, name="older_than"), zone)
        if time is None:
            raise InvalidArgumentError(f"older_than is {older_than!r}, beyond the years 1 to 9999")
        return expire_tags(parts, time)

    def trigger_tag_automatic_creation(self) -> None:
        """Makes the tags that `tag.automatic-creation` asks for, as each commit does.

        Tags past their time are deleted, unless `tag.time-expire-enabled` = false.

        Raises:
            CorruptTableError: A tag or a snapshot cannot be read.
            InvalidArgumentError: An option of tags cannot be.
        """
        parts = self.parts()
        make_due_tags(parts, TagOptions.parse(parts.texts))


def _retention(time_retained: timedelta | str | None) -> timedelta | None:
    if isinstance(time_retained, str):
        return parse_duration(time_retained.strip(), "time_retained")
    if time_retained is not None and time_retained < timedelta():
        raise InvalidArgumentError(f"time_retained is {time_retained}; it cannot be below 0")
    return time_retained


def _at_or_after(parts: TableParts, time_ms: int) -> TagSource:
    found = parts.snapshots.at_or_after(time_ms)
    limit = None if found is None else found.time_millis
    tags = [
        tag
        for tag in all_tags(parts)
        if tag.is_settled
        and tag.snapshot.time_millis >= time_ms
        and (limit is None or tag.snapshot.time_millis < limit)
    ]
    if tags:
        return TagSource.of_tags(sorted(tags, key=lambda tag: tag.snapshot.id))
    if found is None:
        raise NotFoundError(
            "snapshot", f"of {time_ms} or later", hint="All snapshots are older than that"
        )
    return TagSource(snapshot=found)
