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

from lakebed.errors import InvalidArgumentError
from lakebed.format.paths import TablePaths
from lakebed.format.predicate import Expression
from lakebed.format.schema import TableSchema
from lakebed.format.snapshot import Snapshot
from lakebed.options.acceptance import OptionReport, check_scan_options, normalize, report
from lakebed.options.values import OptionValue
from lakebed.storage.file_io import FileIO
from lakebed.table.parts import TableParts
from lakebed.table.row_changes import TableWriter, overwrite
from lakebed.table.row_deletes import delete_rows
from lakebed.table.scan import Scan
from lakebed.table.session import Effects, Session
from lakebed.table.snapshots import Snapshots
from lakebed.table.time_travel import TimeTravel


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
class Table:
    """A table of the lake; made by a catalog or `lakebed.load_table`, never directly.

    Attributes:
        name: Full name, or the location where it was opened by path.
        location: Its directory.
        schema: Its columns, keys and options when it was loaded.
        file_io: The store.
        session: Options and effects of this process.
    """

    name: str
    location: str
    schema: TableSchema
    file_io: FileIO
    session: Session

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
            snapshot_id: Reads the table as of that snapshot.
            tag: Reads as of a tag.
            timestamp: Reads as of a time.
            watermark: Reads as of a watermark.
            incremental: Reads the changes between two snapshots or tags.
            incremental_mode: `auto`, `delta`, `changelog` or `diff`.
            options: Any scan option of the format.

        Raises:
            InvalidArgumentError: An unknown column, a bad condition or option, two points in time.
            NotFoundError: No such snapshot.
            UnsupportedError: The table or the scan needs what Lakebed does not do yet.
        """
        given = normalize(options or {})
        check_scan_options(given)
        arguments = {
            "snapshot_id": snapshot_id,
            "tag": tag,
            "timestamp": timestamp,
            "watermark": watermark,
            "incremental": incremental,
        }
        if incremental is None and incremental_mode != "auto":
            raise InvalidArgumentError("incremental_mode says nothing without incremental")
        if limit is not None and limit < 0:
            raise InvalidArgumentError(f"limit is {limit}; it cannot be below 0")
        travel = TimeTravel.of(arguments, given)
        snapshot = travel.find(self._snapshots)
        parts = self.parts(given)
        if snapshot is not None and travel.snapshot_id is not None:
            parts = parts.as_of(snapshot)
        return parts.scan(snapshot, columns=columns, where=where, limit=limit)

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
                `"dynamic"` the partitions found in the data.

        Raises:
            InvalidArgumentError: A name in `partition` that is no partition column.
            InvalidDataError: Rows that the schema forbids, or outside the partition.
            CommitConflictError: Every try to commit lost; nothing is visible.
        """
        return overwrite(self.parts(), data, partition)

    def truncate(self) -> Snapshot | None:
        """Deletes every row."""
        return overwrite(self.parts(), None, None)

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

    def writer(self, user: str | None = None, identifier: int | None = None) -> "TableWriter":
        """Writes in several calls that are committed once, when the `with` block ends well.

        Args:
            user: Commit user; the same at each replay of the same work.
            identifier: Commit identifier, ascending for a user. A commit of this user with this
                identifier or a later one makes a replay write nothing.
        """
        return TableWriter(parts=self.parts(), user=user, identifier=identifier)

    def parts(self, scan_options: Mapping[str, str] | None = None) -> TableParts:
        """The parts of the table, for the layers above; with a scan's options laid over its own."""
        return TableParts.of(
            self.schema,
            location=self.location,
            file_io=self.file_io,
            session=self.session,
            scan_options=scan_options or {},
        )

    @property
    def _snapshots(self) -> Snapshots:
        return Snapshots(self.file_io, TablePaths(self.location))
