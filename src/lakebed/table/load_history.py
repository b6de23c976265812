"""Which files has COPY INTO loaded into a table?

A record of each lies in `copy-into/history`, where Paimon's Spark connector keeps its own, so that
either passes over what the other has loaded.

The commit of the rows and the records are many files, and a crash may come between. So a load goes
like this; what a crash after a step leaves:

1. What is about to be loaded is written to `copy-into/lakebed-pending`. Nothing is loaded yet.
2. The rows are committed, by a commit user of this load alone. The rows are there, records are not.
3. The records are written. Some are there, some not.
4. The pending file is deleted.

Whoever loads next looks for pending files first: where a snapshot is by the user of one, steps 3
and 4 are carried out, and where none is, nothing was loaded and the file is deleted.
"""

import contextlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import msgspec

from lakebed.errors import CommitUnknownError, LakebedError
from lakebed.format.load_paths import LoadPaths, is_pending, prefix_of, record_prefix
from lakebed.format.load_record import LoadRecord, PendingLoad
from lakebed.format.snapshot import Snapshot
from lakebed.table.committing import fresh_user
from lakebed.table.metadata.snapshots import Snapshots
from lakebed.table.parts import TableParts

NO_SNAPSHOT = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFile:
    """A file that may be loaded.

    Attributes:
        path: Its path, as Hadoop spells paths.
        size_bytes: Its size.
        modified_ms: When it was changed last, epoch milliseconds.
    """

    path: str
    size_bytes: int
    modified_ms: int


@dataclass(slots=True, kw_only=True)
class Load:
    """A load that is going on.

    Attributes:
        user: By whom its rows must be committed.
        snapshot: The snapshot of its rows, to be set by whoever commits them.
    """

    user: str
    snapshot: Snapshot | None = field(default=None, init=False)


@dataclass(frozen=True, slots=True)
class LoadHistory:
    """The loads of one table, of all its branches."""

    parts: TableParts

    def loaded(self, files: Sequence[KnownFile]) -> set[str]:
        """The paths of those files that were loaded as they are.

        Raises:
            CorruptTableError: A record cannot be read.
        """
        wanted = {record_prefix(each.path) for each in files}
        listed = self.parts.file_io.list(self._paths.history_directory)
        paths = [each.path for each in listed if prefix_of(each.name) in wanted]
        with self._threads() as pool:
            records = list(pool.map(self._read, paths))
        known = {(each.file_path, each.file_size, each.last_modified) for each in records}
        return {
            each.path for each in files if (each.path, each.size_bytes, each.modified_ms) in known
        }

    def settle(self) -> None:
        """Ends what loads left that died; before anything is asked or loaded.

        Raises:
            CommitUnknownError: The snapshots have expired that would tell.
        """
        for status in self.parts.file_io.list(self._paths.pending_directory):
            if is_pending(status.name):
                data = self.parts.file_io.read(status.path)
                self._settle(PendingLoad.from_json(data, status.path), status.path)

    @contextlib.contextmanager
    def loading(self, rows: Sequence[tuple[KnownFile, int]]) -> Iterator[Load]:
        """Remembers files as loaded if the block ends well, or committed rows at least.

        Args:
            rows: The files, and how many rows of each are loaded.
        """
        load = Load(user=fresh_user(self.parts))
        latest = self.parts.snapshots.latest_id()
        now = self.parts.session.effects.clock()
        pending = PendingLoad(
            commit_user=load.user,
            branch=self.parts.paths.branch,
            latest_snapshot_id=latest or 0,
            files=tuple(_record(file, count, now) for file, count in rows),
        )
        path = self._paths.pending(self.parts.session.effects.fresh_uuid())
        self.parts.file_io.write(path, pending.to_json())
        try:
            yield load
        except Exception as error:
            # A commit of which nobody knows may yet be seen; whoever loads next will look.
            if not any(isinstance(each, CommitUnknownError) for each in (error, error.__cause__)):
                with contextlib.suppress(LakebedError):
                    self._settle(pending, path)
            raise
        last = load.snapshot.id if load.snapshot is not None else latest
        self._remember(pending, path, snapshot_id=NO_SNAPSHOT if last is None else last)

    def _settle(self, pending: PendingLoad, path: str) -> None:
        snapshots = Snapshots(self.parts.file_io, self.parts.paths.of_branch(pending.branch))
        first = pending.latest_snapshot_id + 1
        ids = snapshots.list_ids()
        for snapshot_id in reversed(ids):
            snapshot = snapshots.find(snapshot_id) if snapshot_id >= first else None
            if snapshot is not None and snapshot.commit_user == pending.commit_user:
                self._remember(pending, path, snapshot_id=snapshot.id)
                return
        if ids and ids[0] > first:
            raise CommitUnknownError(
                f"{path}: a COPY INTO of {len(pending.files)} files, {pending.files[0].file_path}"
                f" among them, did not end, and snapshot {first} has expired, which would say"
                " whether their rows are there. Look whether they are, delete this file, and load"
                " those whose rows are missing"
            )
        self.parts.file_io.delete(path)

    def _remember(self, pending: PendingLoad, path: str, *, snapshot_id: int) -> None:
        records = [msgspec.structs.replace(each, snapshot_id=snapshot_id) for each in pending.files]
        with self._threads() as pool:
            for _ in pool.map(self._write, records):
                pass
        self.parts.file_io.delete(path)

    def _write(self, record: LoadRecord) -> None:
        path = self._paths.record(record.file_path, record.loaded_at)
        self.parts.file_io.write(path, record.to_json())

    def _read(self, path: str) -> LoadRecord:
        return LoadRecord.from_json(self.parts.file_io.read(path), path)

    @property
    def _paths(self) -> LoadPaths:
        return LoadPaths(self.parts.paths.location)

    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(max(self.parts.session.read_threads, 1))


def _record(file: KnownFile, row_count: int, now: int) -> LoadRecord:
    return LoadRecord(
        file_path=file.path,
        file_size=file.size_bytes,
        last_modified=file.modified_ms,
        loaded_at=now,
        snapshot_id=NO_SNAPSHOT,
        rows_loaded=row_count,
    )
