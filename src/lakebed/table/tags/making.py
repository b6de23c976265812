"""How are tags made and changed, and why is a crash anywhere safe?

A tag's file says all, and is put whole. Whoever makes one puts it, then looks whether what it was
made of is still there: the snapshot, or another tag of it. If not, it may be that an expiry did not
see the new tag; so the tag is taken back. From that look on the tag keeps the files: an expiry, and
whoever deletes a tag, reads the tags after what it deleted is gone.

    create     put, look
    replace    another tag made as above, then the old one written over, the other one deleted;
               a crash leaves the old one or the new one, and perhaps the other one for a day
    rename     put under the new name, look, the old name deleted; a crash leaves one or both

A crash before the look leaves a tag that nobody was told of.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from lakebed.errors import (
    AlreadyExistsError,
    CommitConflictError,
    InvalidArgumentError,
    LakebedError,
    NotFoundError,
)
from lakebed.format.snapshot import Snapshot
from lakebed.format.tag import Tag, with_retention
from lakebed.options.tag_options import TagOptions
from lakebed.table.history_changes.copying import put_same, release_after, snapshot_bytes
from lakebed.table.metadata.auto_tags import TagPeriods
from lakebed.table.metadata.tags import Tags
from lakebed.table.parts import TableParts
from lakebed.table.tags.success_files import (
    delete_success_file,
    move_success_file,
    write_success_file,
)
from lakebed.table.writing.standing import Standing

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - of the wall's clock
_HELD_AT_MOST = timedelta(days=1)
HOLDING_PREFIX = "lakebed-holds-"
"""How tags are called that keep a snapshot for as long as another tag is replaced."""
# A directory of this name lies among the tags.
_RESERVED = "success-file"


@dataclass(frozen=True, slots=True, kw_only=True)
class TagSource:
    """What a tag is made of.

    Attributes:
        snapshot: The snapshot.
        tags: Tags that name it, where its own file is gone.
    """

    snapshot: Snapshot
    tags: tuple[str, ...] = ()

    @classmethod
    def find(cls, parts: TableParts, snapshot_id: int | None) -> "TagSource":
        """A snapshot that can be read, perhaps by a tag alone.

        Args:
            parts: The table, or one of its branches.
            snapshot_id: Which one; the newest where None.

        Raises:
            NotFoundError: There is none.
        """
        if snapshot_id is None:
            latest = parts.snapshots.latest()
            if latest is None:
                raise NotFoundError("snapshot", "latest", hint="The table was never written to")
            return cls(snapshot=latest)
        snapshot = parts.snapshots.find(snapshot_id)
        if snapshot is not None:
            return cls(snapshot=snapshot)
        named = Tags(parts.file_io, parts.paths).of_snapshot(snapshot_id)
        if not named:
            return cls(snapshot=parts.snapshots.load(snapshot_id))
        return cls.of_tags(named)

    @classmethod
    def of_tags(cls, tags: Collection[Tag]) -> "TagSource":
        """The snapshot of the first of some tags."""
        snapshot = next(iter(tags)).snapshot
        return cls(
            snapshot=snapshot, tags=tuple(each.name for each in tags if each.snapshot == snapshot)
        )

    def stands(self, parts: TableParts) -> bool:
        """Whether it is still there, and follows the one before it where there is one."""
        if parts.snapshots.find(self.snapshot.id) == self.snapshot:
            # One that follows nothing is taken back, and its base list may name what is gone.
            return not Standing(parts.snapshots, parts.manifests).is_adrift(self.snapshot)
        found = map(Tags(parts.file_io, parts.paths).find, self.tags)
        return any(each is not None and each.snapshot == self.snapshot for each in found)


def all_tags(parts: TableParts) -> list[Tag]:
    """The tags of a branch, in order of their names.

    Raises:
        CorruptTableError: One cannot be read.
    """
    return Tags(parts.file_io, parts.paths).load_all()


def create_tag(
    parts: TableParts,
    name: str,
    source: TagSource,
    *,
    time_retained: timedelta | None = None,
    ignore_if_exists: bool = False,
) -> Tag:
    """Makes a tag.

    Args:
        parts: The table, or one of its branches.
        name: Its name.
        source: What it names.
        time_retained: How long it is kept; by default as `tag.default-time-retained` says.
        ignore_if_exists: Whether a tag of that name is left as it is.

    Raises:
        AlreadyExistsError: There is a tag of that name, or the snapshot has an automatic one.
        InvalidArgumentError: No tag can have this name.
        NotFoundError: The snapshot expired meanwhile; there is no tag of it.
    """
    tags, path = Tags(parts.file_io, parts.paths), parts.paths.tag(_checked(name))
    present = tags.find(name)
    if present is None:
        _check_automatic(parts, name, source.snapshot)
        data = _tag_bytes(parts, source.snapshot, time_retained)
        if put_same(parts.file_io, path, data):
            _keep_or_take_back(parts, name, source)
            if TagOptions.parse(parts.texts).success_file:
                write_success_file(parts, name)
            return Tag.from_json(data, path, name=name)
        present = tags.load(name)
    if not ignore_if_exists:
        raise AlreadyExistsError(
            "tag", name, hint=f"It names snapshot {present.snapshot.id}; replace or delete it"
        )
    return present


def replace_tag(
    parts: TableParts, name: str, source: TagSource, *, time_retained: timedelta | None = None
) -> Tag:
    """Has a tag name another snapshot; the files that only the former needed are deleted.

    Args:
        parts: The table, or one of its branches.
        name: The tag.
        source: What it names from now on.
        time_retained: How long it is kept from now on; as for `create_tag`.

    Raises:
        AlreadyExistsError: The tag is an automatic one, and the snapshot has another such.
        NotFoundError: There is no such tag, or the snapshot expired meanwhile; the tag is as it
            was.
    """
    before = Tags(parts.file_io, parts.paths).load(name)
    path = parts.paths.tag(name)
    _check_automatic(parts, name, source.snapshot)
    data = _tag_bytes(parts, source.snapshot, time_retained)
    if source.snapshot == before.snapshot:
        parts.file_io.write(path, data)
    else:
        with _held(parts, source):
            parts.file_io.write(path, data)
        release_unfound(parts, [before.snapshot], done=f"replaced tag {name!r}")
    return Tag.from_json(data, path, name=name)


@contextmanager
def _held(parts: TableParts, source: TagSource) -> Iterator[None]:
    """Keeps a snapshot by a tag that is there as long as the block runs."""
    name = f"{HOLDING_PREFIX}{parts.session.effects.fresh_uuid()}"
    data = _tag_bytes(parts, source.snapshot, _HELD_AT_MOST)
    if not put_same(parts.file_io, parts.paths.tag(name), data):
        raise AlreadyExistsError("tag", name)
    _keep_or_take_back(parts, name, source)
    try:
        yield
    except Exception:
        with suppress(LakebedError):
            _take_back(parts, name, source.snapshot)
        raise
    parts.file_io.delete(parts.paths.tag(name))


def rename_tag(parts: TableParts, name: str, target: str) -> None:
    """Gives a tag another name.

    Args:
        parts: The table, or one of its branches.
        name: The tag.
        target: The name.

    Raises:
        AlreadyExistsError: There is a tag of that name.
        CommitConflictError: The tag was replaced or deleted meanwhile; there is none of the new
            name.
        InvalidArgumentError: No tag can have this name.
        NotFoundError: There is no such tag.
    """
    tags, file_io = Tags(parts.file_io, parts.paths), parts.file_io
    tag = tags.load(name)
    data = file_io.read(parts.paths.tag(name))
    taken = tags.find(_checked(target)) is not None
    if taken or not put_same(file_io, parts.paths.tag(target), data):
        hint = f"If a renaming of {name!r} broke off, delete that one"
        raise AlreadyExistsError("tag", target, hint=hint)
    if tags.find(name) != tag:
        _take_back(parts, target, tag.snapshot)
        raise CommitConflictError(
            f"{parts.paths.location}: tag {name!r} was changed while it was renamed; it was not "
            "renamed. Look what it is, and try again"
        )
    move_success_file(parts, name, target)
    file_io.delete(parts.paths.tag(name))
    delete_success_file(parts, name)


def release_unfound(parts: TableParts, snapshots: Collection[Snapshot], *, done: str) -> None:
    """Deletes the files of snapshots that tags named, as far as nobody needs them any more.

    Args:
        parts: The table, or one of its branches.
        snapshots: What the tags named.
        done: What was done, for the log.
    """
    gone = [each for each in snapshots if parts.snapshots.find(each.id) != each]
    release_after(parts, [[each] for each in gone], done=done)


def _checked(name: str) -> str:
    """A name, if a tag may have it and can be deleted by it."""
    is_listed = "," not in name and name == name.strip()
    if not name.strip() or "/" in name or not is_listed or name == _RESERVED:
        raise InvalidArgumentError(
            f"{name!r} cannot name a tag: a name has no comma, no slash and no blank at its ends, "
            f"and is not {_RESERVED!r}"
        )
    return name


def _tag_bytes(parts: TableParts, snapshot: Snapshot, time_retained: timedelta | None) -> bytes:
    data = snapshot_bytes(parts, snapshot)
    if time_retained is None:
        time_retained = TagOptions.parse(parts.texts).time_retained
    if time_retained is None:
        return data
    now = _EPOCH + timedelta(milliseconds=parts.session.wall_clock_ms())
    return with_retention(data, create_time=now, time_retained=time_retained)


def _check_automatic(parts: TableParts, name: str, snapshot: Snapshot) -> None:
    """Refuses a second automatic tag of a snapshot, with which other engines cannot go on."""
    options = TagOptions.parse(parts.texts)
    periods = TagPeriods.of(options)
    if options.creation in {"none", "batch"} or periods.time_of(name) is None:
        return
    for tag in all_tags(parts):
        is_other = tag.name != name and periods.time_of(tag.name) is not None
        if is_other and tag.snapshot == snapshot:
            raise AlreadyExistsError(
                "automatic tag of snapshot",
                str(snapshot.id),
                hint=f"It is {tag.name}; give a name that is no time of {options.creation!r} tags",
            )


def _keep_or_take_back(parts: TableParts, name: str, source: TagSource) -> None:
    if not source.stands(parts):
        _take_back(parts, name, source.snapshot)
        raise _expired(source.snapshot)


def _take_back(parts: TableParts, name: str, snapshot: Snapshot) -> None:
    parts.file_io.delete(parts.paths.tag(name))
    release_unfound(parts, [snapshot], done=f"took tag {name!r} back")


def _expired(snapshot: Snapshot) -> NotFoundError:
    hint = "It expired or was rolled back while the tag was made; make a tag of another one"
    return NotFoundError("snapshot", str(snapshot.id), hint=hint)
