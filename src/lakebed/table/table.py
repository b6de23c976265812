"""A table: what users read, write and change.

A `Table` is immutable and picklable, and safe between threads; it sees each new snapshot, but keeps
the schema with which it was loaded. The real clock, names and randomness are bound here and nowhere
else.
"""

import random
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from lakebed.format.paths import MAIN_BRANCH, TablePaths
from lakebed.format.predicate.expressions import Expression
from lakebed.format.schema import TableSchema
from lakebed.format.snapshot import Snapshot
from lakebed.options.acceptance import OptionReport, report
from lakebed.options.values import OptionValue
from lakebed.storage.file_io import FileIO
from lakebed.table.branching import Branching
from lakebed.table.inspection import Inspection
from lakebed.table.lifetime import Lifetime
from lakebed.table.maintenance import Maintenance
from lakebed.table.metadata.snapshots import Snapshots
from lakebed.table.parts import TableParts
from lakebed.table.planning.visibility import Visibility
from lakebed.table.reading.scan import Scan
from lakebed.table.reading.scan_plan import ScanSource
from lakebed.table.repairs import Repairs
from lakebed.table.rollback import Rollback
from lakebed.table.row_changes import TableWriter, drop_partitions, overwrite
from lakebed.table.row_deletes import delete_rows
from lakebed.table.row_updates import update_rows
from lakebed.table.scan_opening import open_scan
from lakebed.table.session import Effects, Session
from lakebed.table.streams import Streams
from lakebed.table.tagging import Tagging


def _clock_ms() -> int:
    return time.time_ns() // 1_000_000


def _sleep_ms(milliseconds: float) -> None:
    time.sleep(milliseconds / 1000)


def _fresh_uuid() -> str:
    return str(uuid.uuid4())


def _jitter() -> float:
    return random.SystemRandom().random()


REAL_EFFECTS = Effects(
    clock=_clock_ms,
    fresh_uuid=_fresh_uuid,
    sleep_ms=_sleep_ms,
    jitter=_jitter,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(Streams, Maintenance, Lifetime, Repairs, Branching, Rollback, Inspection, Tagging):
    """A table of the lake; made by a catalog or `lakebed.load_table`, never directly.

    Attributes:
        name: Full name, or the location where it was opened by path.
        location: Its directory.
        schema: Its columns, keys and options when it was loaded.
        file_io: The store.
        session: Options and effects of this process.
        branch: Whose schemas, snapshots and tags these are.
    """

    name: str
    location: str
    schema: TableSchema
    file_io: FileIO
    session: Session
    branch: str = MAIN_BRANCH

    def __repr__(self) -> str:
        """Name, columns and keys, at a glance."""
        keys = f", primary key {', '.join(self.primary_keys)}" if self.primary_keys else ""
        return f"Table({self.name}: {', '.join(self.schema.names)}{keys})"

    @property
    def options(self) -> Mapping[str, str]:
        """The options stored in the schema."""
        return self.schema.options

    @property
    def primary_keys(self) -> list[str]:
        """Names of the key columns; empty for an append table."""
        return list(self.schema.primary_keys)

    @property
    def partition_keys(self) -> list[str]:
        """Names of the partition columns."""
        return list(self.schema.partition_keys)

    @property
    def comment(self) -> str | None:
        """The table's comment."""
        return self.schema.comment

    def options_report(self) -> list[OptionReport]:
        """What Lakebed does with each option stored in the table."""
        return report(self.schema.options)

    def latest_snapshot(self) -> Snapshot | None:
        """The newest snapshot; None for a table that was never written."""
        return self._snapshots.latest()

    def snapshots(self) -> list[Snapshot]:
        """Every snapshot that can still be read, oldest first."""
        found = (self._snapshots.find(each) for each in self._snapshots.list_ids())
        return [snapshot for snapshot in found if snapshot is not None]

    def scan(
        self,
        columns: Sequence[str] | None = None,
        where: str | Expression | None = None,
        limit: int | None = None,
        *,
        snapshot_id: int | None = None,
        tag: str | None = None,
        timestamp: int | str | datetime | None = None,
        watermark: int | None = None,
        incremental: tuple[int | str, int | str] | None = None,
        incremental_mode: str = "auto",
        options: Mapping[str, OptionValue] | None = None,
    ) -> Scan:
        """Reads the table; nothing is read before the scan is asked for rows.

        Args:
            columns: Columns in the order wanted; all by default.
            where: A Spark SQL condition on the columns; rows for which it is true are read.
            limit: How many rows at most, any of them.
            snapshot_id: Reads the table as of that snapshot, with the columns that it had then.
            tag: Reads as of a tag, whose snapshot may have expired.
            timestamp: Reads the newest snapshot at a time: epoch milliseconds, a datetime with a
                time zone, or a text such as `2026-01-31 12:00:00` in the session's zone.
            watermark: Reads the oldest snapshot with that watermark or a later one.
            incremental: Reads what came after a start, up to an end with it: ids of snapshots, or
                names of tags. Added files and changelog files hold rows of every kind, those that
                went too; which is which, `$audit_log` tells.
            incremental_mode: What the changes are made of: the files that commits added (`delta`),
                changelog files (`changelog`), a comparison by key (`diff`), or (`auto`) changelog
                files where the table has a changelog producer, else added files.
            options: Any scan option of the format.

        Raises:
            InvalidArgumentError: An unknown column, a bad condition or option, two points in time.
            NotFoundError: No such snapshot or tag.
            UnsupportedError: The table or the scan needs what Lakebed does not do yet.
        """
        parts, source = open_scan(
            self._parts_read,
            {
                "snapshot_id": snapshot_id,
                "tag": tag,
                "timestamp": timestamp,
                "watermark": watermark,
                "incremental": incremental,
                "incremental_mode": incremental_mode,
            },
            options or {},
            visibility=self._visibility,
        )
        return self._scan(parts, source, columns=columns, where=where, limit=limit)

    @property
    def _visibility(self) -> Visibility:
        """Which levels of a snapshot a scan sees."""
        return Visibility.BATCH

    def _parts_read(self, scan_options: Mapping[str, str]) -> TableParts:
        """The parts of the table whose files a scan reads."""
        return self.parts(scan_options)

    def _scan(
        self,
        parts: TableParts,
        source: ScanSource,
        *,
        columns: Sequence[str] | None,
        where: str | Expression | None,
        limit: int | None,
    ) -> Scan:
        """A scan of one source; what tables that show another's rows do otherwise."""
        return parts.scan(source, columns=columns, where=where, limit=limit)

    def append(self, data: object) -> Snapshot | None:
        """INSERT INTO: adds rows; on a primary-key table they replace rows of their keys.

        Args:
            data: An Arrow table, batch or reader, a polars or pandas frame, or a Spark DataFrame.

        Returns:
            The new snapshot; None when there was no row.

        Raises:
            InvalidDataError: Rows that the schema forbids; nothing was written.
            CommitConflictError: Every try to commit lost; nothing is visible.
        """
        with self.writer() as writer:
            writer.append(data)
        return writer.snapshot

    def upsert(self, data: object) -> Snapshot | None:
        """Inserts rows and replaces those of the same primary key; the last row of a key wins.

        Args:
            data: As for `append`; a column `_row_kind` may say `+I`, `-U`, `+U` or `-D` a row.

        Raises:
            InvalidArgumentError: The table has no primary key.
            InvalidDataError: Rows that the schema forbids; nothing was written.
            CommitConflictError: Every try to commit lost; nothing is visible.
        """
        with self.writer() as writer:
            writer.upsert(data)
        return writer.snapshot

    def overwrite(
        self,
        data: object,
        partition: Mapping[str, object] | Literal["dynamic"] | None = None,
    ) -> Snapshot | None:
        """Replaces rows.

        Args:
            data: As for `append`.
            partition: None replaces the whole table, a mapping the partitions of those values,
                `"dynamic"` the partitions found in the data, as in any case where the table says
                `dynamic-partition-overwrite` = true.

        Raises:
            InvalidArgumentError: A name in `partition` that is no partition column.
            InvalidDataError: Rows that the schema forbids, or outside the partition.
            CommitConflictError: Every try to commit lost; nothing is visible.
        """
        return overwrite(self.parts(), data, partition)

    def truncate(self, partition: Mapping[str, object] | None = None) -> Snapshot | None:
        """Deletes every row, or those of the partitions of some values."""
        return overwrite(self.parts(), None, partition)

    def drop_partitions(self, partitions: Sequence[Mapping[str, object]]) -> Snapshot | None:
        """Deletes every row of some partitions, in one commit.

        Args:
            partitions: Values of partition columns, of all or of some.

        Returns:
            The new snapshot; None when there was no such partition.

        Raises:
            InvalidArgumentError: No partition is named, or a name is no partition column.
            CommitConflictError: Every try to commit lost; nothing is visible.
        """
        return drop_partitions(self.parts(), partitions)

    def delete(self, where: str | Expression) -> Snapshot | None:
        """Deletes the rows for which a condition is true.

        Args:
            where: A Spark SQL condition on the columns.

        Returns:
            The new snapshot; None when no row matched.

        Raises:
            InvalidArgumentError: An unknown column or a bad condition.
            CommitConflictError: Another writer rewrote a file that holds a matching row; nothing is
                visible.
        """
        return delete_rows(self.parts(), where)

    def update(
        self, assignments: Mapping[str, object], where: str | Expression | None = None
    ) -> Snapshot | None:
        """Gives columns new values in the rows for which a condition is true.

        Args:
            assignments: New values by column: a text is a Spark SQL expression over the row as it
                was, such as `total + 1` or `'a text'`; anything else is a constant.
            where: A Spark SQL condition on the columns; None for all rows.

        Returns:
            The new snapshot; None when no row matched.

        Raises:
            InvalidArgumentError: No assignment, an unknown column or one of the key, an expression
                or a condition that cannot be.
            InvalidDataError: A value that its column forbids, or that the merge engine would not
                keep; nothing was written.
            CommitConflictError: Another writer rewrote a file that holds a matching row; nothing is
                visible.
            UnsupportedError: Rows of the table cannot be updated.
        """
        return update_rows(self.parts(), assignments, where)

    def writer(self, user: str | None = None, identifier: int | None = None) -> "TableWriter":
        """Writes in several calls that are committed once, when the `with` block ends well.

        Args:
            user: Commit user; the same at each replay of the same work.
            identifier: Commit identifier, ascending for a user. A commit of this user with this
                identifier or a later one makes a replay write nothing, also when its snapshot has
                expired.

        Raises:
            CommitUnknownError: At the end of the block. Nobody knows whether the same was committed
                before, for what would tell has expired; nothing was written.
        """
        return TableWriter(parts=self.parts(), user=user, identifier=identifier)

    def parts(self, scan_options: Mapping[str, str] | None = None) -> TableParts:
        """The parts of the table, for the layers above; with a scan's options laid over its own."""
        return TableParts.of(
            self.schema,
            paths=self._paths,
            file_io=self.file_io,
            session=self.session,
            scan_options=scan_options or {},
        )

    @property
    def _snapshots(self) -> Snapshots:
        return Snapshots(self.file_io, self._paths)

    @property
    def _paths(self) -> TablePaths:
        return TablePaths(self.location, branch=self.branch)
