"""How a change becomes a snapshot, and why a crash anywhere is safe (format.md 2, 3, 16).

A commit writes, in this order:

1. data files                  by the writers, before; nobody refers to them yet
2. a manifest with the changes
3. the base manifest list      the manifests of the newest snapshot, perhaps with some merged
4. the delta manifest list     names (2)
5. the changelog's manifest and list, where there are changelog files
6. the index manifest          every index file, where one comes or goes; else the newest snapshot's
7. `snapshot-N`                put-if-absent: *the commit becomes visible here, and only here*
8. the hints                   `LATEST`, and `EARLIEST` of the first snapshot

A crash before 7 leaves files that no snapshot names, which orphan cleaning finds; a crash after 7
leaves a stale hint, which readers do not believe (`snapshots`).

The outcome of 7 is a type (`publishing`). *Committed*: done. *Conflict*: somebody else wrote
`snapshot-N`; the change is checked against the new state and tried again as N+1, or given up with
`CommitConflictError`. *Unknown*: the store did not answer, however often it was asked. No file of
an unknown commit is deleted.

A writer that pauses before 7 may put a snapshot that follows nothing, because its base was rolled
back or `snapshot-N` expired meanwhile; so it looks once more after 7 (`standing`), and takes back
what does not stand. Before, nobody builds upon it: a commit waits where the newest snapshot does
not follow the one before it, and removes it in the end, for its writer may have died. A rollback
lists again after its deletions: of a commit and a rollback that meet, one sees the other. As long
as the marker of a rollback is there, from before its first deletion to after its last one, no
commit begins: what it left half taken back must not be built upon.

*Overtaken*: our snapshot may have been there and is not any more. It is not tried again with the
same files, which a rollback that saw it may be about to delete, nor are they deleted, for a tag may
name them: the rows must be written again.
"""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lakebed.errors import CommitConflictError, CommitUnknownError, StorageError
from lakebed.format.paths import FileNames, TablePaths
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_lineage import WRITER_PREFIX, uuid_after
from lakebed.storage.file_io import FileIO
from lakebed.table.metadata.history_marker import HistoryMarker
from lakebed.table.metadata.manifests import Manifests
from lakebed.table.metadata.snapshots import Snapshots
from lakebed.table.session import Effects
from lakebed.table.writing.changes import Changes, Prepared
from lakebed.table.writing.publishing import (
    Committed,
    Conflict,
    Outcome,
    Overtaken,
    Publisher,
    Unknown,
)
from lakebed.table.writing.row_ids import RowIds
from lakebed.table.writing.standing import Standing
from lakebed.table.writing.strict_mode import StrictMode
from lakebed.version import VERSION

BATCH_COMMIT_IDENTIFIER = 9223372036854775807

# How often a commit finds a snapshot that follows nothing before it takes its writer for dead.
_ADRIFT_LOOKS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitStamp:
    """What a commit says of itself beside its changes.

    Attributes:
        schema_id: The newest schema.
        user: Commit user; stable over restarts where replays must be recognised.
        identifier: Commit identifier; `BATCH_COMMIT_IDENTIFIER` for commits never replayed.
        watermark: Event time up to which all rows are there; the greatest one so far holds.
        properties: More members for the snapshot.
    """

    schema_id: int
    user: str
    identifier: int = BATCH_COMMIT_IDENTIFIER
    watermark: int | None = None
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and how patiently a commit is tried.

    Attributes:
        max_retries: Tries after the first (`commit.max-retries`).
        min_wait_ms: Longest first wait (`commit.min-retry-wait`); doubles at each retry.
        max_wait_ms: Longest wait at all (`commit.max-retry-wait`).
        timeout_ms: Time for all tries together (`commit.timeout`); None without bound.
    """

    max_retries: int
    min_wait_ms: int
    max_wait_ms: int
    timeout_ms: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Committer:
    """Commits changes to one table or branch.

    Attributes:
        file_io: The store.
        paths: Names on disk.
        snapshots: The table's snapshots.
        manifests: The table's manifests.
        names: Fresh file names.
        retry: How often to try.
        effects: Clock, uuids, waiting.
        strict_mode: Watches other users; None where nobody is watched.
        row_ids: Gives rows ids, where the table tracks rows.
        writes_earliest: Whether the first snapshot also gets an `EARLIEST` hint.
    """

    file_io: FileIO
    paths: TablePaths
    snapshots: Snapshots
    manifests: Manifests
    names: FileNames
    retry: RetryPolicy
    effects: Effects
    strict_mode: StrictMode | None = None
    row_ids: RowIds | None = None
    writes_earliest: bool = field(default=True)

    def commit(
        self, changes: Changes, stamp: CommitStamp, *, force: bool = False
    ) -> Snapshot | None:
        """Makes the changes visible, once.

        Args:
            changes: What to change; asked again for its entries at each try.
            stamp: Who commits what.
            force: Whether a commit without changes makes a snapshot too.

        Returns:
            The snapshot, or None when there is nothing to change or a commit of this user with this
            or a later identifier is there already.

        Raises:
            CommitConflictError: The changes contradict the newest snapshot, or every try lost.
                Nothing is visible; the data files are the caller's to delete.
            CommitUnknownError: The store never said; no file may be deleted.
        """
        started = self.effects.clock()
        user, identifier = stamp.user, stamp.identifier
        for attempt in range(self.retry.max_retries + 1):
            latest = self._newest_standing(started)
            if identifier != BATCH_COMMIT_IDENTIFIER and self._is_replay(latest, user, identifier):
                return None
            prepared = changes.prepare(latest)
            if prepared.is_empty and not force:
                return None
            if self.strict_mode is not None and latest is not None:
                self.strict_mode.check(prepared, latest, user=user)
            outcome = self._try_once(prepared, latest, stamp)
            match outcome:
                case Committed(snapshot):
                    self._write_hints(snapshot)
                    return snapshot
                case Unknown(snapshot_id):
                    raise CommitUnknownError(
                        f"{self.paths.snapshot(snapshot_id)}: the store did not say whether the "
                        f"commit of user {user!r} succeeded. Look whether that snapshot appears "
                        "before writing the same rows again; delete no file of this commit"
                    )
                case Overtaken(snapshot_id):
                    raise CommitConflictError(
                        f"{self.paths.snapshot(snapshot_id)}: this commit was there for a moment at"
                        " most: a rollback, an expiry or another engine took its place. Nothing of "
                        "it is visible, and its files are left to remove_orphan_files, for others "
                        "may have seen them. Write the rows again",
                        was_visible=True,
                    )
                case Conflict():
                    self._wait(attempt, started)
        raise CommitConflictError(
            f"{self.paths.location}: {self.retry.max_retries + 1} tries to commit lost against "
            "other writers; nothing was committed. Try again, or raise commit.max-retries"
        )

    def _newest_standing(self, started: int) -> Snapshot | None:
        """The newest snapshot, once it follows the one before it and no rollback is under way.

        Looks do not count as tries of the commit: else one with few retries would never come to
        where it removes what a dead writer left, and neither would any after it.

        Raises:
            CommitConflictError: A rollback does not come to its end.
        """
        marker = HistoryMarker(self.file_io, self.paths)
        look = 0
        while True:
            # By listing: the hint may be below what a dead writer left above a gap.
            latest = self.snapshots.newest(lambda _: True)
            # In this order: what a rollback that has ended left adrift, it did not see.
            is_adrift = latest is not None and self._standing.is_adrift(latest)
            operation = marker.find()
            if operation is not None and look >= max(self.retry.max_retries, _ADRIFT_LOOKS):
                raise CommitConflictError(
                    f"{self.paths.location}: nothing was committed. {marker.told(operation)}"
                )
            if operation is not None or (is_adrift and look < _ADRIFT_LOOKS):
                self._wait(look, started)
            elif latest is not None and is_adrift:
                self._publisher.remove(latest)
            else:
                return latest
            look += 1

    def _try_once(self, prepared: Prepared, latest: Snapshot | None, stamp: CommitStamp) -> Outcome:
        snapshot_id = latest.id + 1 if latest else 1
        next_row_id = (latest.next_row_id or 0) if latest else 0
        if self.row_ids is not None:
            entries, next_row_id = self.row_ids.assign(
                prepared.entries, snapshot_id=snapshot_id, next_row_id=next_row_id
            )
            prepared = replace(prepared, entries=entries)
        written = self.manifests.write(
            prepared.entries,
            latest,
            names=self.names,
            changelog=prepared.changelog,
            index_files=prepared.index_files,
            rewrite=prepared.rewrite,
        )
        previous_total = latest.total_record_count if latest else 0
        schema_id, properties = stamp.schema_id, stamp.properties
        if prepared.rewrite is not None and latest is not None:
            # The table stays what it was, so all that is said of it stays too.
            schema_id, properties = latest.schema_id, latest.properties or {}
        snapshot = Snapshot(
            uuid=uuid_after(latest, self.effects.fresh_uuid()),
            id=snapshot_id,
            schema_id=schema_id,
            base_manifest_list=written.base_list,
            base_manifest_list_size=written.base_list_size,
            delta_manifest_list=written.delta_list,
            delta_manifest_list_size=written.delta_list_size,
            changelog_manifest_list=written.changelog_list,
            changelog_manifest_list_size=written.changelog_list_size,
            index_manifest=written.index_manifest,
            commit_user=stamp.user,
            writer_version=f"{WRITER_PREFIX}{VERSION}",
            commit_identifier=stamp.identifier,
            commit_kind=prepared.kind,
            time_millis=self.effects.clock(),
            total_record_count=previous_total + prepared.delta_record_count,
            delta_record_count=prepared.delta_record_count,
            changelog_record_count=prepared.changelog_record_count,
            watermark=_watermark(latest, stamp.watermark),
            statistics=prepared.statistics or _inherited_statistics(latest, schema_id),
            properties=dict(properties) or None,
            next_row_id=next_row_id,
            operation=prepared.operation,
        )
        try:
            outcome = self._publisher.publish(snapshot, latest)
        except StorageError:
            # It failed for certain.
            self.manifests.discard(written.unshared_paths)
            raise
        if isinstance(outcome, Conflict):
            self.manifests.discard(written.unshared_paths)
        return outcome

    @property
    def _standing(self) -> Standing:
        return Standing(self.snapshots, self.manifests)

    @property
    def _publisher(self) -> Publisher:
        return Publisher(
            file_io=self.file_io,
            paths=self.paths,
            snapshots=self.snapshots,
            standing=self._standing,
            pause=self._pause,
            clock=self.effects.clock,
        )

    def has_committed(self, user: str, identifier: int) -> bool:
        """Whether a user's newest commit is one of this identifier or a later one."""
        return self._is_replay(self.snapshots.latest(), user, identifier)

    def _is_replay(self, latest: Snapshot | None, user: str, identifier: int) -> bool:
        """Whether this user's newest commit is this one or a later one."""
        snapshot = latest
        while snapshot is not None:
            if snapshot.commit_user == user:
                return snapshot.commit_identifier >= identifier
            snapshot = self.snapshots.find(snapshot.id - 1)
        return False

    def _wait(self, attempt: int, started: int) -> None:
        elapsed = self.effects.clock() - started
        if self.retry.timeout_ms is not None and elapsed > self.retry.timeout_ms:
            raise CommitConflictError(
                f"{self.paths.location}: lost against other writers for {elapsed} ms, longer than "
                "commit.timeout; nothing was committed. Try again"
            )
        self._pause(attempt)

    def _pause(self, attempt: int) -> None:
        ceiling = min(self.retry.min_wait_ms * 2**attempt, self.retry.max_wait_ms)
        self.effects.sleep_ms(ceiling * self.effects.jitter())

    def _write_hints(self, snapshot: Snapshot) -> None:
        """Hints only: the commit stands whether or not they can be written."""
        with contextlib.suppress(StorageError):
            self.file_io.write(self.paths.latest_hint, str(snapshot.id).encode())
            if snapshot.id == 1 and self.writes_earliest:
                self.file_io.write(self.paths.earliest_hint, b"1")


def _watermark(latest: Snapshot | None, watermark: int | None) -> int | None:
    before = latest.watermark if latest else None
    if before is None or watermark is None:
        return before if watermark is None else watermark
    return max(before, watermark)


def _inherited_statistics(latest: Snapshot | None, schema_id: int) -> str | None:
    if latest is None or latest.schema_id != schema_id:
        return None
    return latest.statistics
