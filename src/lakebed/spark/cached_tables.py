"""Which tables does a session keep the rows of, as CACHE TABLE asked for?

What is kept are the rows of one snapshot, which never change, so any scan of that snapshot can be
answered from them, whatever its columns and conditions. The first scan of a newer snapshot has
Spark keep the rows of that one instead: no answer is older than the table.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

from lakebed.format.snapshot import Snapshot
from lakebed.spark.names import TableName, quoted
from lakebed.table.reading.scan import Scan
from lakebed.table.reading.scan_source import SnapshotSource

MakeFrame = Callable[[Scan], DataFrame]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cached:
    """What is kept of a table.

    Attributes:
        scan: All rows and columns of a snapshot.
        frame: The same, which Spark keeps.
        level: Where it keeps them.
    """

    scan: Scan
    frame: DataFrame
    level: StorageLevel


class CachedTables:
    """The tables that one session keeps the rows of; safe between threads."""

    def __init__(self) -> None:
        """Starts with none."""
        self._lock = threading.RLock()
        self._held: dict[TableName, _Cached] = {}

    def keep(self, name: TableName, scan: Scan, frame: DataFrame, *, level: StorageLevel) -> None:
        """Has Spark keep rows as soon as they are computed, in place of what was kept.

        Args:
            name: The table.
            scan: A scan that `whole_scan` made.
            frame: Its rows.
            level: Where they are kept.
        """
        with self._lock:
            # Two snapshots may have the same files: what is kept of the one is that of the other.
            self.drop(name)
            self._held[name] = _Cached(scan=scan, frame=frame.persist(level), level=level)

    def holds(self, name: TableName) -> bool:
        """Whether rows of a table are kept."""
        return name in self._held

    def answers(self, scan: object) -> bool:
        """Whether the rows of a scan are those that are kept."""
        whole = whole_scan(scan)
        return any(each.scan == whole for each in list(self._held.values()))

    def renew(self, name: TableName, scan: Scan, make: MakeFrame) -> None:
        """Keeps other rows of a table whose rows are kept; does nothing for another one."""
        with self._lock:
            held = self._held.get(name)
            if held is not None:
                self.keep(name, scan, make(scan), level=held.level)

    def rows(self, session: SparkSession, scan: Scan, make: MakeFrame) -> DataFrame | None:
        """The rows of a scan from what is kept, and perhaps more; None where that cannot tell.

        Args:
            session: Who asks; a copy of the session, as streams have, gets no answer.
            scan: The scan, whose condition is not applied.
            make: Makes a frame of a scan, to keep one of a newer snapshot.
        """
        whole = whole_scan(scan) if self._held else None
        if whole is None:
            return None
        with self._lock:
            name = self._find(session, whole)
            if name is None:
                return None
            if _is_newer(whole, self._held[name].scan):
                self.renew(name, whole, make)
            held = self._held[name]
        if held.scan != whole:
            return None
        columns = scan.reader.columns
        # Under attributes of its own, so that a join with itself tells the two apart.
        return held.frame.select(*(quoted((each,)) for each in columns)).toDF(*columns)

    def _find(self, session: SparkSession, scan: Scan) -> TableName | None:
        """Under which name a session keeps rows of the table that a scan reads."""
        for name, held in self._held.items():
            if _paths(held.scan) == _paths(scan) and held.frame.sparkSession is session:
                return name
        return None

    def drop(self, name: TableName) -> None:
        """Keeps the rows of a table no more."""
        self.drop_where(lambda each: each == name)

    def clear(self) -> None:
        """Keeps the rows of no table any more."""
        self.drop_where(lambda _: True)

    def drop_where(self, chosen: Callable[[TableName], bool]) -> None:
        """Keeps the rows of some tables no more."""
        with self._lock:
            for name in list(filter(chosen, self._held)):
                self._held.pop(name).frame.unpersist()


def whole_scan(scan: object) -> Scan | None:
    """The scan of all rows and columns of which a scan reads some; None where there is none.

    Rows that have a form of their own (`$audit_log`), changes, and what only some levels hold are
    no rows of a snapshot; places of rows are no columns of it.
    """
    if not isinstance(scan, Scan) or not isinstance(scan.source, SnapshotSource):
        return None
    names = tuple(scan.reader.table_schema.names)
    is_part = scan.source.is_plain and scan.form is None and scan.limit is None
    if not is_part or not set(scan.reader.columns) <= set(names):
        return None
    return replace(scan, reader=replace(scan.reader, columns=names, predicate=None))


def _is_newer(scan: Scan, other: Scan) -> bool:
    """Whether a scan reads a later snapshot, one that has the number of another, or new columns."""
    one, before = _snapshot(scan), _snapshot(other)
    if one == before:
        return scan.reader.table_schema.id > other.reader.table_schema.id
    return one is not None and (before is None or one.id >= before.id)


def _snapshot(scan: Scan) -> Snapshot | None:
    return scan.source.snapshot if isinstance(scan.source, SnapshotSource) else None


def _paths(scan: Scan) -> object:
    return scan.planner.manifests.paths
