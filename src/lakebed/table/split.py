"""What one reader reads: files of one bucket, and how they belong together."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitFile:
    """A data file as far as reading needs it.

    Attributes:
        path: Full path.
        size_bytes: Size on disk.
        row_count: Physical rows.
        schema_id: Schema that wrote the file.
        ordinal: Place among the files of the scan, in the order of the manifests.
        level: LSM level; 0 for append tables.
        min_sequence_number: Smallest sequence number of its rows.
        max_sequence_number: Greatest.
        delete_row_count: -U and -D rows; None where the writer did not say.
    """

    path: str
    size_bytes: int
    row_count: int
    schema_id: int
    ordinal: int
    level: int
    min_sequence_number: int
    max_sequence_number: int
    delete_row_count: int | None

    @property
    def may_hold_deletes(self) -> bool:
        """Whether some rows may be -U or -D."""
        return self.delete_row_count != 0


@dataclass(frozen=True, slots=True)
class SplitSection:
    """Files to be merged together: sorted runs, each with its files in key order."""

    runs: tuple[tuple[SplitFile, ...], ...]

    @property
    def files(self) -> list[SplitFile]:
        """Every file, run by run."""
        return [file for run in self.runs for file in run]

    @property
    def needs_merge(self) -> bool:
        """Whether rows of these files may not be rows of the table."""
        return len(self.runs) > 1 or any(file.may_hold_deletes for file in self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """A unit of reading, picklable, independent of every other split.

    Attributes:
        partition: Values of the partition columns, in their order.
        bucket: The bucket.
        sections: Files to be merged section by section; one section a file when `is_raw`.
        is_raw: Whether the files' rows are the table's rows as they are.
    """

    partition: tuple[object, ...]
    bucket: int
    sections: tuple[SplitSection, ...]
    is_raw: bool

    @property
    def files(self) -> list[SplitFile]:
        """Every file of the split."""
        return [file for section in self.sections for file in section.files]

    @property
    def file_paths(self) -> list[str]:
        """Path of every file."""
        return [file.path for file in self.files]

    @property
    def row_count(self) -> int:
        """Physical rows: an upper bound of the rows that come out."""
        return sum(file.row_count for file in self.files)

    @property
    def size_bytes(self) -> int:
        """Bytes on disk."""
        return sum(file.size_bytes for file in self.files)
