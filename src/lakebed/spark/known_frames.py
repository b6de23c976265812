"""Which frames are kept, so that a scan that comes again is not planned again?

A snapshot never changes, nor do the files that it names, and names of files are never given twice.
So of two scans that are equal, snapshot and schema and all, the second has the rows of the first,
and its frame will do: no manifest is read, and Spark lists no file. What is newest is still looked
up for each scan, before it comes here; after a commit, a rollback or a table made anew there is
another snapshot, and so another scan.

A frame that is kept is given out under new attributes each time, so that two frames of one table
are told apart in a join, as if each had been made for itself.
"""

import threading
import weakref
from collections import OrderedDict

from pyspark.sql import DataFrame, SparkSession

from lakebed.table.reading.scan import Scan
from lakebed.table.reading.scan_source import SnapshotSource

FRAMES_MAX = 256
"""Frames of one session that are kept; those used last stay."""
FILES_MAX = 50_000
"""Files of all of them together, each about 1 KB in Spark's driver."""


class KnownFrames:
    """The frames that are kept for one session; safe between threads."""

    def __init__(
        self, session: SparkSession, *, frames_max: int = FRAMES_MAX, files_max: int = FILES_MAX
    ) -> None:
        """Starts with none.

        Args:
            session: Whose frames are kept; a clone of it, as streams have, cannot use them.
            frames_max: How many.
            files_max: How many files all of them read.
        """
        self._session = weakref.ref(session)
        self._frames_max = frames_max
        self._files_max = files_max
        self._lock = threading.Lock()
        self._held: OrderedDict[object, tuple[Scan, DataFrame, int]] = OrderedDict()
        self._files = 0

    def find(self, session: SparkSession, scan: Scan) -> DataFrame | None:
        """The frame of an equal scan, under attributes of its own; None where none is kept."""
        if not self._may_hold(session, scan):
            return None
        key = _key(scan)
        with self._lock:
            held = self._held.get(key)
            if held is None or held[0] != scan:
                return None
            self._held.move_to_end(key)
        return held[1].toDF(*scan.reader.columns)

    def keep(self, frame: DataFrame, scan: Scan, *, file_count: int) -> None:
        """Keeps the frame of a scan, and lets go of those that were not used for longest.

        Args:
            frame: The frame, which knows no more of its files than where they are.
            scan: The scan.
            file_count: How many files it reads.
        """
        if not self._may_hold(frame.sparkSession, scan) or file_count > self._files_max:
            return
        key = _key(scan)
        with self._lock:
            before = self._held.pop(key, None)
            self._files += file_count - (before[2] if before is not None else 0)
            self._held[key] = (scan, frame, file_count)
            while len(self._held) > self._frames_max or self._files > self._files_max:
                self._files -= self._held.popitem(last=False)[1][2]

    def _may_hold(self, session: SparkSession, scan: Scan) -> bool:
        """Whether the frame of a scan is determined by what a comparison of scans sees."""
        return (
            session is self._session()
            and isinstance(scan.source, SnapshotSource)
            and scan.form is None
            and scan.limit is None
            and bool(scan.reader.columns)
        )


def _key(scan: Scan) -> object:
    """What finds a scan among others; equal scans have equal keys."""
    snapshot = scan.source.snapshot if isinstance(scan.source, SnapshotSource) else None
    return (
        scan.planner.manifests.paths,
        None if snapshot is None else (snapshot.id, snapshot.delta_manifest_list),
        scan.reader.columns,
        scan.reader.predicate,
    )
