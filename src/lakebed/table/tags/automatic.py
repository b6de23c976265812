"""Which tags are made by themselves (`tag.automatic-creation`), and when?

By the clock or by watermarks, a tag is of a period, daily by default, and is named by the time at
which this began. It is made of the first snapshot that comes after the period's end, and after the
delay:

    period       |------ 01-01 ------|------ 01-02 ------|------ 01-03 ------|
    snapshots        1       2          3   4                  5
                                        tag 01-01              tag 01-02

The names tell how far this came, so nothing else is kept: the next tag is of a snapshot younger
than that of the youngest tag. Where no snapshot was made in a period, its tag is left out; with
`tag.automatic-completion` one snapshot after the other makes up for it. Several writers may try to
make one tag: one of them does.

A `batch` tag is of the day, or has a name of its own, and is replaced by each commit.
"""

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from lakebed.errors import AlreadyExistsError, LakebedError, NotFoundError
from lakebed.format.snapshot import Snapshot
from lakebed.format.tag import Tag
from lakebed.options.tag_options import TagOptions
from lakebed.table.metadata.auto_tags import TagPeriods
from lakebed.table.metadata.tags import Tags
from lakebed.table.parts import TableParts
from lakebed.table.tags.deletion import delete_tags, expire_tags
from lakebed.table.tags.making import TagSource, all_tags, create_tag, replace_tag
from lakebed.table.tags.times import local_time, named_zone
from lakebed.table.writing.commit import BATCH_COMMIT_IDENTIFIER

_log = logging.getLogger(__name__)

# Engines without watermarks write the smallest long.
_NO_WATERMARK = -(2**63)
_BATCH_PREFIX = "batch-write-"


def tag_after_commit(parts: TableParts, snapshot: Snapshot) -> None:
    """Makes the tags that are due, and deletes those past their time, as the options say.

    The commit stands, so nothing that happens here is an error of it.

    Args:
        parts: The table, or one of its branches.
        snapshot: What was committed.
    """
    try:
        options = TagOptions.parse(parts.texts)
        if options.creation == "batch" and snapshot.commit_identifier == BATCH_COMMIT_IDENTIFIER:
            _tag_batch(parts, options)
        if not parts.options.write_only:
            make_due_tags(parts, options)
    except LakebedError as error:
        _log.warning("%s: committed, but tags not looked at: %s", parts.paths.location, error)


def make_due_tags(parts: TableParts, options: TagOptions) -> None:
    """Makes the tags by the clock or by watermarks that are due, and deletes those past their time.

    Raises:
        CorruptTableError: A tag or a snapshot cannot be read.
        InvalidArgumentError: An option of tags cannot be.
    """
    if options.creation in {"process-time", "watermark"}:
        _Creation.of(parts, options).run()
    if options.expires:
        expire_tags(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Creation:
    """The making of the tags of periods.

    Attributes:
        parts: The table.
        options: Its options.
        periods: The periods.
        times: When the period of each automatic tag began, by name.
    """

    parts: TableParts
    options: TagOptions
    periods: TagPeriods
    times: Mapping[str, datetime]

    @classmethod
    def of(cls, parts: TableParts, options: TagOptions) -> "_Creation":
        periods = TagPeriods.of(options)
        names = Tags(parts.file_io, parts.paths).list_names()
        times = {name: periods.time_of(name) for name in names}
        return cls(
            parts=parts,
            options=options,
            periods=periods,
            times={name: time for name, time in times.items() if time is not None},
        )

    def run(self) -> None:
        """Makes every tag that is due."""
        snapshots = self.parts.snapshots
        newest, tagged_id = self._newest()
        ids = [each for each in snapshots.list_ids() if each > tagged_id]
        due = None if newest is None else self.periods.after(newest)
        # Time goes on from snapshot to snapshot.
        latest = snapshots.find(ids[-1]) if ids else None
        if latest is None or self._is_early(latest, due):
            return
        for snapshot in map(snapshots.find, ids):
            if snapshot is not None:
                due = self._tag(snapshot, due) or due

    def _newest(self) -> tuple[datetime | None, int]:
        """The time of the youngest tag, and the id of its snapshot."""
        if not self.times:
            return None, 0
        name = max(self.times, key=self.times.__getitem__)
        return self.times[name], Tags(self.parts.file_io, self.parts.paths).load(name).snapshot.id

    def _tag(self, snapshot: Snapshot, due: datetime | None) -> datetime | None:
        """Tags a snapshot if it ends a period; then when the next period to be tagged begins."""
        time = self._time_of(snapshot)
        if time is None or self._is_early(snapshot, due):
            return None
        began = due if due is not None and self.options.completes else self.periods.last_ended(time)
        name = self.periods.name_of(began)
        try:
            create_tag(self.parts, name, TagSource(snapshot=snapshot), ignore_if_exists=True)
        except (AlreadyExistsError, NotFoundError) as error:
            _log.info("%s: no tag %s: %s", self.parts.paths.location, name, error)
            return None
        self._delete_surplus()
        return self.periods.after(began)

    def _is_early(self, snapshot: Snapshot, due: datetime | None) -> bool:
        """Whether the period that is to be tagged next has not ended yet."""
        time = self._time_of(snapshot)
        if time is None or due is None:
            return False
        return time - self.options.delay < self.periods.after(due)

    def _time_of(self, snapshot: Snapshot) -> datetime | None:
        options = self.options
        if options.creation == "process-time":
            return _process_time(self.parts, options, snapshot)
        if snapshot.watermark is None or snapshot.watermark == _NO_WATERMARK:
            return None
        return local_time(snapshot.watermark, named_zone(options.watermark_zone))

    def _delete_surplus(self) -> None:
        if self.options.retained_max is not None:
            made = [
                tag for tag in all_tags(self.parts) if self.periods.time_of(tag.name) is not None
            ]
            _delete_oldest(self.parts, made, kept=self.options.retained_max)


def _process_time(parts: TableParts, options: TagOptions, snapshot: Snapshot) -> datetime | None:
    zone = options.process_zone
    return local_time(
        snapshot.time_millis, parts.session.time_zone if zone is None else named_zone(zone)
    )


def _tag_batch(parts: TableParts, options: TagOptions) -> None:
    source = TagSource.find(parts, None)
    day = _process_time(parts, options, source.snapshot)
    name = options.batch_name or f"{_BATCH_PREFIX}{day:%Y-%m-%d}"
    if Tags(parts.file_io, parts.paths).find(name) is None:
        create_tag(parts, name, source, ignore_if_exists=True)
    else:
        replace_tag(parts, name, source)
    if options.retained_max is not None:
        form = re.compile(re.escape(_BATCH_PREFIX) + r"\d{4}-\d{2}-\d{2}")
        made = [tag for tag in all_tags(parts) if form.fullmatch(tag.name)]
        _delete_oldest(parts, made, kept=options.retained_max)


def _delete_oldest(parts: TableParts, tags: list[Tag], *, kept: int) -> None:
    """Deletes the tags of all but the youngest snapshots that are tagged."""
    ids = sorted({tag.snapshot.id for tag in tags})[:-kept]
    names = [tag.name for tag in tags if tag.snapshot.id in ids]
    if names:
        delete_tags(parts, names)
