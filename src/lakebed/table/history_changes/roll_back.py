"""How is a branch rolled back to one of its snapshots, and why is a crash anywhere safe?

1. the marker                put (`claim`), then `tag-lakebed-rollback-N`, a tag of the
                             target; then it is looked whether snapshots expire now, and whether
                             the target is still there
2. `snapshot-N`              put, where the target had expired and only a tag has it
3. `LATEST`                  the target, for engines that believe this hint without another look
4. `snapshot-M`              deleted for each M above N, the newest first; tags, changelogs and what
                             an expiry left that gave up after them; all of that again until nothing
                             is found above the target
5. `LATEST`                  the target, which a writer may have overwritten meanwhile
6. `tag-lakebed-rollback-N`  deleted
7. files                     that only what was deleted needed, deleted
8. the marker                removed

Whoever reads meanwhile finds one snapshot after the other as the newest, each of them whole; a
crash in 4 leaves the branch at one of these, and a crash before as it was. The same rollback again
ends it, or where its target expired before anything was changed, takes it back. A crash before 7
leaves files that nobody names, for orphan cleaning.

Writers: a commit that is put before the last listing of 4 goes too. One that is put later stands on
the target, or sees that the snapshot is gone that it builds on, and takes itself back. No commit
begins while the marker is there: where a rollback broke off, what is left above the target must not
come back.

Expiry writes its copies, then looks for the tag of 1 and for the first snapshot that it keeps; a
rollback puts the tag, then looks for copies. So of two that meet at least one sees the other, and
gives up before anything is deleted.

Two calls of the same rollback: the later one goes on, the earlier one stops (`claim`).
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from lakebed.errors import CommitConflictError, LakebedError, NotFoundError
from lakebed.format.paths import rollback_id_of, rollback_tag
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_lineage import runs_of
from lakebed.table.expiry.release import Runs
from lakebed.table.history_changes.claim import HistoryClaim
from lakebed.table.history_changes.copying import (
    present,
    put_same,
    release_after,
    snapshot_bytes,
)
from lakebed.table.metadata.changelogs import Changelogs
from lakebed.table.metadata.expired_copies import ExpiredCopies
from lakebed.table.metadata.history_marker import HistoryMarker
from lakebed.table.metadata.tags import Tags
from lakebed.table.parts import TableParts


def roll_back(parts: TableParts, target: Snapshot, *, tag: str | None = None) -> None:
    """Makes a snapshot the newest one again.

    Args:
        parts: The table, or one of its branches.
        target: The snapshot.
        tag: A tag that names it, where its file may be gone.

    Raises:
        CommitConflictError: Snapshots expire at the same time, and nothing was changed; or somebody
            else rolled back further, or called the same again, and that call goes on.
        CorruptTableError: Something that would be deleted cannot be read; nothing was changed.
        NotFoundError: The target is gone meanwhile; nothing was changed.
    """
    claim = HistoryClaim.of(parts, rollback_to(target.id))
    runs = remove_above(parts, target, claim=claim, tag=tag)
    claim.check()
    release_after(parts, runs, done=f"rolled back to snapshot {target.id}")
    claim.end()


def rollback_to(snapshot_id: int) -> str:
    """What the marker says of a rollback."""
    return f"rollback to snapshot {snapshot_id}"


def remove_above(
    parts: TableParts,
    target: Snapshot,
    *,
    claim: HistoryClaim,
    tag: str | None = None,
    tags_above: int | None = None,
) -> Runs:
    """Steps 1 to 6 of a rollback; the claim is the caller's to end.

    Args:
        parts: As for `roll_back`.
        target: As for `roll_back`.
        claim: Of what the rollback is a part.
        tag: As for `roll_back`.
        tags_above: Above which snapshot tags go; by default above the target.

    Returns:
        What was deleted, whose files are to be released.

    Raises:
        CommitConflictError: As for `roll_back`.
        CorruptTableError: As for `roll_back`.
        NotFoundError: As for `roll_back`.
    """
    find_above = partial(
        _Above.of, parts, target.id, tags_above=target.id if tags_above is None else tags_above
    )
    above = find_above()
    _begin(parts, target, claim=claim, tag=tag)
    if parts.snapshots.find(target.id) is None:
        _put_again(parts, target, claim)
    _write_latest(parts, target)
    runs: list[Sequence[Snapshot]] = []
    while above.paths:
        for path in above.paths:
            claim.delete(path)
        if above.has_changelogs:
            _write_latest_changelog(parts)
        runs += above.runs
        above = find_above()
    _write_latest(parts, target)
    claim.delete(parts.paths.tag(rollback_tag(target.id)))
    if parts.snapshots.find(target.id) != target:
        claim.end()
        raise _overtaken(parts, target)
    return runs


def _begin(parts: TableParts, target: Snapshot, *, claim: HistoryClaim, tag: str | None) -> None:
    """Step 1, which takes back what it put where nothing is to be changed."""
    own_tag = parts.paths.tag(rollback_tag(target.id))
    is_changed = claim.take()
    try:
        parts.file_io.write(own_tag, snapshot_bytes(parts, target))
        if not is_changed:
            check_no_copies(parts, target)
        _check_named(parts, target, tag=tag)
        if is_changed:
            claim.check()
        else:
            is_changed = True
            claim.confirm()
    except LakebedError:
        with suppress(LakebedError):
            if claim.is_held():
                if not is_changed:
                    _withdraw(own_tag, claim)
            elif claim.marker.find() != claim.mine.operation:
                # Put after another call, which took the place of this one, had ended.
                parts.file_io.delete(own_tag)
        raise


def _withdraw(own_tag: str, claim: HistoryClaim) -> None:
    """Takes back what a rollback put that changed nothing; where that fails, a repetition does."""
    claim.delete(own_tag)
    claim.end()


def withdrawn(parts: TableParts, operation: str, missing: NotFoundError) -> NotFoundError:
    """Takes back what broke off before it changed anything, and whose aim is gone since.

    It could not be done again, and nobody could commit any more.

    Args:
        parts: The table, or one of its branches.
        operation: What the marker says.
        missing: The error that the aim is gone.

    Returns:
        That error, which says so where something was taken back.

    Raises:
        CommitConflictError: Another call goes on with it.
        StorageError: The store failed; the same call goes on.
    """
    found = HistoryMarker(parts.file_io, parts.paths).read()
    if found is None or found.operation != operation or found.is_changed:
        return missing
    claim = HistoryClaim.of(parts, operation)
    claim.take()
    for name in Tags(parts.file_io, parts.paths).list_names():
        if rollback_id_of(name) is not None:
            claim.delete(parts.paths.tag(name))
    claim.end()
    hint = "What broke off had changed nothing, and is taken back; commits go on"
    return NotFoundError(missing.kind, missing.name, hint=hint)


def check_no_copies(parts: TableParts, target: Snapshot) -> None:
    """Refuses a rollback to a snapshot while it, or a later one, expires.

    Raises:
        CommitConflictError: It does.
    """
    copies = ExpiredCopies(parts.file_io, parts.paths).list_ids()
    if any(each >= target.id for each in copies):
        raise CommitConflictError(
            f"{parts.paths.location}: snapshots up to {copies[-1]} expire at this moment, or an "
            "expiry of them broke off, and the table is not rolled back. Try again; where it broke "
            "off, expire_snapshots with the same arguments ends it"
        )


def _check_named(parts: TableParts, target: Snapshot, *, tag: str | None) -> None:
    if tag is None:
        found = parts.snapshots.find(target.id)
    else:
        named = Tags(parts.file_io, parts.paths).find(tag)
        found = None if named is None else named.snapshot
    if found != target:
        raise NotFoundError(
            "snapshot", str(target.id), hint="It expired, or its tag was deleted, this moment"
        )


def _put_again(parts: TableParts, target: Snapshot, claim: HistoryClaim) -> None:
    path = parts.paths.snapshot(target.id)
    if not put_same(parts.file_io, path, snapshot_bytes(parts, target)):
        claim.end()
        raise _overtaken(parts, target)
    earliest = min(parts.snapshots.list_ids(), default=target.id)
    parts.file_io.write(parts.paths.earliest_hint, str(earliest).encode())


def _write_latest(parts: TableParts, target: Snapshot) -> None:
    parts.file_io.write(parts.paths.latest_hint, str(target.id).encode())


def _write_latest_changelog(parts: TableParts) -> None:
    paths = parts.paths
    left = Changelogs(parts.file_io, paths).list_ids()
    if left:
        parts.file_io.write(paths.latest_changelog_hint, str(left[-1]).encode())
    else:
        parts.file_io.delete(paths.latest_changelog_hint)
        parts.file_io.delete(paths.earliest_changelog_hint)


def _overtaken(parts: TableParts, target: Snapshot) -> CommitConflictError:
    return CommitConflictError(
        f"{parts.paths.location}: somebody else rolled the table back while it was rolled back to "
        f"snapshot {target.id}. See which snapshot is the newest now, and roll back again if it "
        "is not the right one"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Above:
    """What is above a snapshot.

    Attributes:
        paths: Its files, in the order in which they are deleted.
        runs: The snapshots that they name.
        has_changelogs: Whether there are changelogs among them.
    """

    paths: list[str]
    runs: list[list[Snapshot]]
    has_changelogs: bool

    @classmethod
    def of(cls, parts: TableParts, snapshot_id: int, *, tags_above: int) -> "_Above":
        file_io, paths = parts.file_io, parts.paths
        stored, named = parts.snapshots, Tags(file_io, paths)
        changelogs = Changelogs(file_io, paths)

        def later(ids: list[int]) -> list[int]:
            return [each for each in ids if each > snapshot_id]

        snapshot_ids = later(stored.list_ids())
        # Those of commits hold what they are about to put again.
        tags = [
            tag for tag in named.load_all() if tag.snapshot.id > tags_above and not tag.is_of_commit
        ]
        changelog_ids = later(changelogs.list_ids())
        copies = later(ExpiredCopies(file_io, paths).list_ids())
        return cls(
            paths=[
                *map(paths.snapshot, reversed(snapshot_ids)),
                *(paths.tag(tag.name) for tag in tags),
                *map(paths.changelog, reversed(changelog_ids)),
                *map(paths.expired_snapshot, copies),
            ],
            runs=[
                *runs_of(present(map(stored.find, snapshot_ids))),
                *([tag.snapshot] for tag in tags),
                *runs_of(present(map(changelogs.find, changelog_ids))),
            ],
            has_changelogs=bool(changelog_ids),
        )
