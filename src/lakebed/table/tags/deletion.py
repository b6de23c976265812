"""How are tags deleted, and which are past their time?

The tags go first, then the files that only they needed: a crash leaves files that nobody names, for
orphan cleaning. Where the snapshot of a tag is still there, no file goes.
"""

import logging
from collections.abc import Sequence
from datetime import datetime

from lakebed.errors import InvalidArgumentError
from lakebed.format.snapshot import Snapshot
from lakebed.format.tag import Tag
from lakebed.table.metadata.tags import Tags
from lakebed.table.parts import TableParts
from lakebed.table.tags.making import all_tags, release_unfound
from lakebed.table.tags.success_files import delete_success_file
from lakebed.table.tags.times import local_time

_log = logging.getLogger(__name__)


def delete_tags(parts: TableParts, names: Sequence[str]) -> None:
    """Deletes tags, and the files that nobody else needs; a name of no tag is passed over.

    Args:
        parts: The table, or one of its branches.
        names: The tags.

    Raises:
        CorruptTableError: A tag cannot be read; none is deleted.
        InvalidArgumentError: A name is blank; no tag is deleted.
    """
    if not all(name.strip() for name in names):
        raise InvalidArgumentError(f"a name of a tag is blank in {', '.join(map(repr, names))}")
    tags = Tags(parts.file_io, parts.paths)
    found = [each for each in map(tags.find, dict.fromkeys(names)) if each is not None]
    missing = set(names) - {each.name for each in found}
    if missing:
        _log.warning("%s has no tag %s", parts.paths.location, ", ".join(sorted(missing)))
    for tag in found:
        parts.file_io.delete(parts.paths.tag(tag.name))
        delete_success_file(parts, tag.name)
    gone: list[Snapshot] = []
    gone += [each.snapshot for each in found if each.snapshot not in gone]
    release_unfound(parts, gone, done=f"deleted tags {', '.join(each.name for each in found)}")


def expire_tags(parts: TableParts, older_than: datetime | None = None) -> list[str]:
    """Deletes tags that are past their time.

    Args:
        parts: The table, or one of its branches.
        older_than: Local time; tags that were made before it go too, those without a retention by
            the age of their files.

    Returns:
        Their names, in order.

    Raises:
        CorruptTableError: A tag cannot be read; none is deleted.
    """
    now = local_time(parts.session.effects.clock(), parts.session.time_zone)
    made = {} if older_than is None else _file_times(parts)
    expired = [
        tag.name
        for tag in all_tags(parts)
        if _is_past(tag, now) or _is_older(tag.create_time or made.get(tag.name), older_than)
    ]
    if expired:
        delete_tags(parts, expired)
    return expired


def _is_past(tag: Tag, now: datetime | None) -> bool:
    if tag.create_time is None or tag.time_retained is None or now is None:
        return False
    return now - tag.create_time > tag.time_retained


def _is_older(made: datetime | None, older_than: datetime | None) -> bool:
    return made is not None and older_than is not None and made < older_than


def _file_times(parts: TableParts) -> dict[str, datetime | None]:
    zone = parts.session.time_zone
    return {
        status.name.removeprefix("tag-"): local_time(status.modification_time_ms, zone)
        for status in parts.file_io.list(parts.paths.tag_directory)
    }
