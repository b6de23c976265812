"""Which rows do compactions leave out because of their age (`record-level.expire-time`)?

Bounds in the manifests tell most files from those that need to be looked into.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from lakebed.format.data_file_meta import FileKind, ManifestEntry
from lakebed.format.manifest import entries_to_columns
from lakebed.lsm.compaction.expiry import RecordExpiry
from lakebed.lsm.section_plan import Mask
from lakebed.options.compaction_options import CompactionOptions
from lakebed.table.compaction.buckets import BucketFiles
from lakebed.table.parts import TableParts
from lakebed.table.planning.evolved_bounds import evolved_bounds
from lakebed.table.planning.split import SplitFile
from lakebed.table.reading.read import SplitReader


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiredRows:
    """The expired rows of a table's files at the moment when a compaction was planned.

    Attributes:
        expiry: Which rows have expired; None: no row ever does.
        due: Names of files that are to be rewritten for their sake.
        suspects: Paths of files that may have some.
    """

    expiry: RecordExpiry | None = None
    due: frozenset[str] = frozenset()
    suspects: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, parts: TableParts, options: CompactionOptions, buckets: Iterable[BucketFiles]
    ) -> "ExpiredRows":
        """Those of some buckets.

        Raises:
            InvalidTableError: The options name no column that tells a time.
        """
        if options.record_expire_time is None:
            return cls()
        now_ms = parts.session.effects.clock()
        expiry = RecordExpiry.of(options, parts.schema.fields, now_ms=now_ms)
        stored = [(bucket, file) for bucket in buckets for file in bucket.files.values()]
        if expiry is None or not stored:
            return cls()
        entries = entries_to_columns(
            ManifestEntry(
                kind=FileKind.ADD,
                partition=bucket.partition,
                bucket=bucket.bucket,
                total_buckets=bucket.total_buckets,
                file=file.meta,
            )
            for bucket, file in stored
        )
        schemas = {parts.schema.id: parts.schema}
        for schema_id in {file.meta.schema_id for _, file in stored} - {parts.schema.id}:
            schemas[schema_id] = parts.schemas.load(schema_id)
        times = evolved_bounds(entries, [expiry.field], schemas)[expiry.field.name]
        possible = expiry.possible(times.min, times.max)
        # A file of unknown age stays as it is, but for one that is on its way up anyway: it must
        # not rise with rows that its compaction takes for gone.
        at_0 = np.array([file.meta.level == 0 for _, file in stored])
        due = expiry.expired(times.min) | (possible & at_0)
        files = [file for _, file in stored]
        return cls(
            expiry=expiry,
            due=frozenset(files[place].meta.file_name for place in np.flatnonzero(due)),
            suspects=frozenset(files[place].split_file.path for place in np.flatnonzero(possible)),
        )

    def in_bucket(self, stored: BucketFiles) -> "ExpiredRows":
        """The same with no more than what a compaction of one bucket needs to know."""
        paths = {file.split_file.path for file in stored.files.values()}
        return replace(self, due=self.due & frozenset(stored.files), suspects=self.suspects & paths)

    def rows_of(self, file: SplitFile, reader: SplitReader) -> Mask | None:
        """The expired rows of a file; None where there are none.

        Args:
            file: The file.
            reader: Reads the table.

        Raises:
            CorruptTableError: The file cannot be read.
        """
        if self.expiry is None or file.path not in self.suspects:
            return None
        parts = reader.column(file, self.expiry.field.name)
        rows = np.concatenate([self.expiry.expired(times) for times in parts])
        return rows if rows.any() else None
