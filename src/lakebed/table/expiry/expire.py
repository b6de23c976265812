"""How snapshots expire, and why a crash anywhere is safe (format.md 16).

Read first: what expires, what is kept, and the files that only the first name; anything that cannot
be read ends it here, with nothing deleted. The rest is `carrying_out`, step by step.

What is gone already is no error, so two expiries at once delete the same, or the one that is behind
ends with an error and leaves the rest to the other. Writers are not in the way: they build on the
newest snapshot, which is always kept. The real engine deletes `snapshot-N` last, and passes over
what is gone: it can end what Lakebed began and the reverse, apart from files that only copies name.

A tag that is made of a snapshot after tags were read, and before they are read again, is seen;
whoever makes one must look for the snapshot again after the tag is there.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lakebed.errors import LakebedError
from lakebed.format.paths import expired_id_of, snapshot_id_of
from lakebed.options.choices import ChangelogProducer
from lakebed.options.expiry_options import ExpiryOptions
from lakebed.table.expiry.carrying_out import carry_out, write_earliest
from lakebed.table.expiry.changelogs import expire_changelogs, next_read
from lakebed.table.expiry.data_files import Expired, Outliving
from lakebed.table.expiry.metadata_files import MetadataReader
from lakebed.table.expiry.overwrites import overwrites_among
from lakebed.table.expiry.policy import Retention, expiring_count
from lakebed.table.metadata.changelogs import Changelogs
from lakebed.table.metadata.consumers import Consumers
from lakebed.table.metadata.expired_copies import ExpiredCopies
from lakebed.table.parts import TableParts
from lakebed.table.spreading import Spread, threads

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listing:
    """What the directory of snapshots holds.

    Attributes:
        ids: Of the snapshots, ascending.
        copies: Ids of the copies of expired ones, ascending.
        has_earliest: Whether the hint `EARLIEST` is there.
    """

    ids: list[int]
    copies: list[int]
    has_earliest: bool

    @classmethod
    def of(cls, parts: TableParts) -> "_Listing":
        statuses = parts.file_io.list(parts.paths.snapshot_directory)
        names = [status.name for status in statuses]
        return cls(
            ids=sorted(each for each in map(snapshot_id_of, names) if each is not None),
            copies=sorted(each for each in map(expired_id_of, names) if each is not None),
            has_earliest=any(status.path == parts.paths.earliest_hint for status in statuses),
        )


def expire_snapshots(parts: TableParts, retention: Retention) -> int:
    """Deletes snapshots that nothing keeps, and the files that only they need.

    Where the table keeps changelogs for longer, the snapshots leave these.

    Args:
        parts: The table, or one of its branches.
        retention: What keeps snapshots.

    Returns:
        How many expired.

    Raises:
        CorruptTableError: Something that may keep files cannot be read; nothing was deleted.
        NotFoundError: Somebody else deletes snapshots; what is left, the next expiry finds.
        StorageError: The store failed; what is left, the next expiry finds.
    """
    listing = _Listing.of(parts)
    if not listing.ids:
        return 0
    options = ExpiryOptions.parse(parts.texts)
    count = _expiring_count(parts, listing.ids, retention, options=options)
    if not count and not listing.copies:
        if not listing.has_earliest:
            write_earliest(parts, listing.ids[0])
        return 0
    with threads(parts) as spread:
        expired = _expired(parts, listing, count, spread=spread)
        if expired.all:
            outliving = _outliving(parts, expired, keeps_changelogs=options.keeps_changelogs)
            reader = MetadataReader(parts=parts, spread=spread)
            carry_out(reader, replace(expired, outliving=outliving))
    return count


def expire_after_commit(parts: TableParts) -> None:
    """Expires what the options of the table say, unless they say `write-only`.

    The commit stands, so nothing that happens here is an error of it.
    """
    if parts.options.write_only:
        return
    try:
        options = ExpiryOptions.parse(parts.texts)
        now_ms = parts.session.effects.clock()
        if options.consumer_time is not None:
            consumers = Consumers(parts.file_io, parts.paths)
            consumers.expire(now_ms - round(options.consumer_time.total_seconds() * 1000))
        expire_snapshots(parts, Retention.of(options, now_ms))
        if options.keeps_changelogs:
            expire_changelogs(parts, Retention.of_changelogs(options, now_ms))
    except LakebedError as error:
        _log.warning("%s: committed, but no snapshots expired: %s", parts.paths.location, error)


def _expiring_count(
    parts: TableParts, ids: Sequence[int], retention: Retention, *, options: ExpiryOptions
) -> int:
    if len(ids) <= retention.retain_min:
        return 0
    return expiring_count(
        ids,
        retention,
        next_read=next_read(parts) if options.consumers_keep_snapshots else None,
        time_of=lambda snapshot_id: parts.snapshots.load(snapshot_id).time_millis,
    )


def _expired(parts: TableParts, listing: _Listing, count: int, *, spread: Spread) -> Expired:
    ids = listing.ids
    _drop_idle_copies(parts, listing)
    copies = ExpiredCopies(parts.file_io, parts.paths)
    leftover = (copies.find(each) for each in listing.copies if each < ids[0])
    *expiring, end = spread(parts.snapshots.load, ids[: count + 1])
    return Expired(
        leftover=tuple(each for each in leftover if each is not None),
        expiring=tuple(expiring),
        end=end,
        overwriting=overwrites_among(parts, ids[count + 1 :], spread=spread),
    )


def _drop_idle_copies(parts: TableParts, listing: _Listing) -> None:
    """Deletes copies of snapshots that were rolled back; others may have their ids.

    Those of an expiry that goes on now stay, whether it has deleted the snapshots yet or not.
    """
    copies = ExpiredCopies(parts.file_io, parts.paths)
    for snapshot_id in listing.copies:
        if snapshot_id < listing.ids[0]:
            continue
        copy, present = copies.find(snapshot_id), parts.snapshots.find(snapshot_id)
        is_above = snapshot_id > listing.ids[-1]
        if copy != present and (is_above or present is not None):
            parts.file_io.delete(parts.paths.expired_snapshot(snapshot_id))


def _outliving(parts: TableParts, expired: Expired, *, keeps_changelogs: bool) -> Outliving:
    """The changelogs that stay.

    Those that the table kept longer once, and does no more, go before, when no consumer has yet to
    read them; until then it is as if it still did.
    """
    stored = Changelogs(parts.file_io, parts.paths)
    ids = [each for each in stored.list_ids() if each < expired.end.id]
    if ids and not keeps_changelogs:
        position = next_read(parts)
        if position is None or position > ids[-1]:
            expire_changelogs(parts, None)
            ids = []
    if not ids and not keeps_changelogs:
        return Outliving()
    ids += [*(each.id for each in expired.expiring), expired.end.id]
    return Outliving(
        ids=frozenset(ids),
        first=stored.find(ids[0]) or next(iter(expired.expiring), None),
        are_changes=parts.options.changelog_producer is ChangelogProducer.NONE,
    )
