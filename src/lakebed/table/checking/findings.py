"""What may be wrong with a table, how bad it is, and what repairs it.

Every finding has a code from `Code`. An error is something that a reader or a writer may trip over,
or that gives other rows than were written; a note is something to know.
"""

import enum
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from lakebed.errors import CorruptTableError, LakebedError, NotFoundError, UnsupportedError


class Severity(enum.StrEnum):
    """How bad a finding is."""

    ERROR = "error"
    NOTE = "note"


class Code(enum.StrEnum):
    """What is wrong; stable over releases."""

    SNAPSHOT_GAP = "snapshot-gap"
    STALE_HINT = "stale-hint"
    EXPIRED_COPIES = "expired-copies"
    UNFINISHED_REWRITE = "unfinished-rewrite"
    UNKNOWN_SCHEMA = "unknown-schema"
    MISSING_METADATA = "missing-metadata"
    METADATA_SIZE = "metadata-size"
    UNREADABLE_METADATA = "unreadable-metadata"
    MANIFEST_COUNTS = "manifest-counts"
    MANIFEST_BOUNDS = "manifest-bounds"
    DOUBLE_ADD = "double-add"
    DELETE_OF_NOTHING = "delete-of-nothing"
    BASE_DIFFERS = "base-differs"
    RECORD_COUNTS = "record-counts"
    LEVELS_OVERLAP = "levels-overlap"
    BUCKET_COUNTS = "bucket-counts"
    BUCKET_OUT_OF_RANGE = "bucket-out-of-range"
    ROW_IDS = "row-ids"
    MISSING_FILE = "missing-file"
    FILE_SIZE = "file-size"
    UNREADABLE_FILE = "unreadable-file"
    ROW_COUNT = "row-count"
    KEY_RANGE = "key-range"
    SEQUENCE_RANGE = "sequence-range"
    DELETE_ROW_COUNT = "delete-row-count"
    STATISTICS = "statistics"
    UNSORTED_KEYS = "unsorted-keys"
    DUPLICATE_KEY = "duplicate-key"
    NULL_VALUE = "null-value"
    WRONG_PARTITION = "wrong-partition"
    WRONG_BUCKET = "wrong-bucket"
    INDEX_COUNTS = "index-counts"
    DELETION_VECTOR = "deletion-vector"
    DANGLING_VECTOR = "dangling-vector"
    HASH_INDEX = "hash-index"
    TWO_LIVE_ROWS = "two-live-rows"
    EQUAL_SEQUENCE = "equal-sequence"
    NAN_ABOVE_BOUND = "nan-above-bound"
    NOT_CHECKED = "not-checked"
    STORAGE_FAILED = "storage-failed"
    CHANGED_MEANWHILE = "changed-meanwhile"


_RESTORE = "restore the file from a backup"
_ROLL_BACK = f"{_RESTORE}, or roll back to a snapshot that does not name it (rollback)"
_UNNAME = f"{_RESTORE}, or take it out of the table (remove_unexisting_files)"
_WRITE_AGAIN = "write the rows of its partition again (overwrite)"
_COMPACT = "compact the bucket as a whole (compact, compact_strategy => 'full')"
_REWRITE_MANIFESTS = "write the manifests anew (compact_manifest)"
_LAST_GOOD = "roll back to the newest snapshot without this finding (rollback)"

_REPAIRS = {
    Code.SNAPSHOT_GAP: "restore the snapshot files from a backup, or roll back to the snapshot"
    " before the gap (rollback), or drop what is before it (repair_earliest_snapshot)",
    Code.STALE_HINT: "nothing need be done: the next commit or expiry writes it",
    Code.EXPIRED_COPIES: "expire snapshots: it deletes what an expiry left (expire_snapshots)",
    Code.UNFINISHED_REWRITE: "wait for it; where its process died, do the same again (rollback,"
    " fast_forward)",
    Code.UNKNOWN_SCHEMA: "restore the schema file from a backup",
    Code.MISSING_METADATA: _ROLL_BACK,
    Code.METADATA_SIZE: _ROLL_BACK,
    Code.UNREADABLE_METADATA: _ROLL_BACK,
    Code.MANIFEST_COUNTS: _REWRITE_MANIFESTS,
    Code.MANIFEST_BOUNDS: _REWRITE_MANIFESTS,
    Code.DOUBLE_ADD: _LAST_GOOD,
    Code.DELETE_OF_NOTHING: _LAST_GOOD,
    Code.BASE_DIFFERS: _LAST_GOOD,
    Code.RECORD_COUNTS: "no row is lost by it; counts are right again from the next overwrite of"
    " the table, or roll back (rollback)",
    Code.LEVELS_OVERLAP: _COMPACT,
    Code.BUCKET_COUNTS: "give the partition one bucket count (rescale)",
    Code.BUCKET_OUT_OF_RANGE: "give the partition one bucket count (rescale)",
    Code.ROW_IDS: _LAST_GOOD,
    Code.MISSING_FILE: _UNNAME,
    Code.FILE_SIZE: f"{_RESTORE}; or delete it, and then remove_unexisting_files",
    Code.UNREADABLE_FILE: f"{_RESTORE}; or delete it, and then remove_unexisting_files",
    Code.ROW_COUNT: f"{_RESTORE}, or {_WRITE_AGAIN}",
    Code.KEY_RANGE: _WRITE_AGAIN,
    Code.SEQUENCE_RANGE: _COMPACT,
    Code.DELETE_ROW_COUNT: _COMPACT,
    Code.STATISTICS: _WRITE_AGAIN,
    Code.UNSORTED_KEYS: _WRITE_AGAIN,
    Code.DUPLICATE_KEY: _WRITE_AGAIN,
    Code.NULL_VALUE: "give the rows a value (update), or let the column be null",
    Code.WRONG_PARTITION: _WRITE_AGAIN,
    Code.WRONG_BUCKET: "write the rows into their buckets again (rescale)",
    Code.INDEX_COUNTS: _ROLL_BACK,
    Code.DELETION_VECTOR: _ROLL_BACK,
    Code.DANGLING_VECTOR: _LAST_GOOD,
    Code.HASH_INDEX: _WRITE_AGAIN,
    Code.TWO_LIVE_ROWS: _COMPACT,
    Code.EQUAL_SEQUENCE: "nothing need be done: readers and compactions break the tie alike; it"
    " tells of two writers that wrote the bucket at one time",
    Code.NAN_ABOVE_BOUND: "nothing need be done, but a filter that takes NaN may skip the file;"
    f" {_COMPACT}",
    Code.NOT_CHECKED: "check it with a release that reads it",
    Code.STORAGE_FAILED: "check again when the store answers",
    Code.CHANGED_MEANWHILE: "check again while no snapshots expire",
}
_NOTES = frozenset(
    {
        Code.STALE_HINT,
        Code.EXPIRED_COPIES,
        Code.EQUAL_SEQUENCE,
        Code.NAN_ABOVE_BOUND,
        Code.NOT_CHECKED,
        Code.CHANGED_MEANWHILE,
    }
)


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """Something that is not as it must be.

    Attributes:
        what: Which kind of thing it is.
        where: The file, or the directory, in which it is seen.
        problem: What is wrong, in words.
    """

    what: Code
    where: str
    problem: str

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return Severity.NOTE if self.what in _NOTES else Severity.ERROR

    @property
    def repair(self) -> str:
        """What repairs it."""
        return _REPAIRS[self.what]

    def __str__(self) -> str:
        """In one line."""
        return f"{self.severity} {self.what} {self.where}: {self.problem}; to repair: {self.repair}"

    @classmethod
    def of_error(
        cls, error: LakebedError, where: str, *, corrupt: Code, missing: Code
    ) -> "Finding":
        """What an error tells that reading a file ended with.

        Args:
            error: The error.
            where: What was read.
            corrupt: What it is where the bytes contradict the format.
            missing: What it is where the file is gone.
        """
        match error:
            case NotFoundError(kind="schema"):
                return cls(Code.UNKNOWN_SCHEMA, where, str(error))
            case NotFoundError():
                return cls(missing, where, "it is not there")
            case CorruptTableError():
                return cls(corrupt, where, error.problem)
            case UnsupportedError():
                return cls(Code.NOT_CHECKED, where, str(error))
            case _:
                return cls(Code.STORAGE_FAILED, where, str(error))


_COLUMNS = ("severity", "what", "where", "problem", "repair")
FINDING_COLUMNS = pa.schema([pa.field(name, pa.string(), nullable=False) for name in _COLUMNS])
"""The columns of findings as a table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What a check found.

    Attributes:
        table: The table's location.
        found: The findings, errors first.
        snapshots: How many snapshots, tags and changelogs were looked at.
        files: How many data, changelog and index files.
        rows: How many rows were read.
    """

    table: str
    found: tuple[Finding, ...]
    snapshots: int
    files: int
    rows: int

    def __iter__(self) -> Iterator[Finding]:
        """The findings, errors first."""
        return iter(self.found)

    @property
    def is_clean(self) -> bool:
        """Whether there is no error; there may be notes."""
        return not self.errors

    @property
    def errors(self) -> list[Finding]:
        """What must be repaired."""
        return [each for each in self.found if each.severity is Severity.ERROR]

    @property
    def notes(self) -> list[Finding]:
        """What is good to know."""
        return [each for each in self.found if each.severity is Severity.NOTE]

    def to_arrow(self) -> pa.Table:
        """The findings as `FINDING_COLUMNS`."""
        rows = [{name: str(getattr(each, name)) for name in _COLUMNS} for each in self.found]
        return pa.Table.from_pylist(rows, schema=FINDING_COLUMNS)

    def __str__(self) -> str:
        """A line in sum, and a line a finding."""
        head = (
            f"{self.table}: {len(self.errors)} errors, {len(self.notes)} notes;"
            f" {self.snapshots} snapshots, {self.files} files, {self.rows} rows checked"
        )
        return "\n".join([head, *(f"  {each}" for each in self.found)])


class Report:
    """Collects findings, each once; safe between threads."""

    def __init__(self) -> None:
        """Begins without any."""
        self._found: dict[Finding, None] = {}
        self._lock = threading.Lock()

    def add(self, what: Code, where: str, problem: str) -> None:
        """Takes a finding."""
        self.take([Finding(what, where, problem)])

    def take(self, findings: Sequence[Finding]) -> None:
        """Takes findings."""
        with self._lock:
            self._found.update(dict.fromkeys(findings))

    def add_error(self, error: LakebedError, path: str) -> None:
        """Takes what reading a file of metadata ended with."""
        corrupt, missing = Code.UNREADABLE_METADATA, Code.MISSING_METADATA
        self.take([Finding.of_error(error, path, corrupt=corrupt, missing=missing)])

    def findings(self) -> tuple[Finding, ...]:
        """All of them: errors first, in an order that is the same for the same table."""
        return tuple(sorted(self._found, key=lambda each: (each.severity, each)))
