"""What one reader reads: files of one bucket, and how they belong together.

A plan of a million files has no object a file. The sections of a planned split are a place in the
columns of the plan (`split_columns`), and become objects when they are read or pickled.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, overload

from lakebed.format.deletion_vector import DeletionVectorRef


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
        deletion_vector: Which of its rows are marked deleted; None where none is.
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
    deletion_vector: DeletionVectorRef | None = None

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
        """Whether rows of these files may not be rows of the table, deletion vectors aside."""
        return len(self.runs) > 1 or any(file.may_hold_deletes for file in self.files)


class SectionSource(Protocol):
    """Where the sections of many splits are described, those of each under an index."""

    def sections(self, index: int) -> tuple[SplitSection, ...]:
        """The sections with their files, made anew at each call."""
        ...

    def section_count(self, index: int) -> int:
        """How many sections there are."""
        ...

    def file_count(self, index: int) -> int:
        """How many files they have."""
        ...

    def row_count(self, index: int) -> int:
        """Physical rows of the files."""
        ...

    def size_bytes(self, index: int) -> int:
        """Bytes of the files."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class PlannedSections(Sequence[SplitSection]):
    """Sections that are made when they are read; equal to a tuple of the same, and pickled as one.

    Attributes:
        source: Where they are described.
        number: Under which index.
    """

    source: SectionSource
    number: int

    def __len__(self) -> int:
        """How many there are."""
        return self.source.section_count(self.number)

    def __iter__(self) -> Iterator[SplitSection]:
        """All of them."""
        return iter(self.source.sections(self.number))

    @overload
    def __getitem__(self, place: int) -> SplitSection: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[SplitSection, ...]: ...

    def __getitem__(self, place: int | slice) -> SplitSection | tuple[SplitSection, ...]:
        """One, or some."""
        return self.source.sections(self.number)[place]

    def __eq__(self, other: object) -> bool:
        """As tuples compare."""
        return isinstance(other, PlannedSections | tuple) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        """As a tuple of the same."""
        return hash(tuple(self))

    def __reduce__(self) -> tuple[object, ...]:
        """What travels is these sections, and not all of the plan's."""
        return tuple, (list(self),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """A unit of reading, picklable, independent of every other split.

    Attributes:
        partition: Values of the partition columns, in their order.
        bucket: The bucket.
        sections: Files to be merged section by section; one section a file when `is_raw`.
        is_raw: Whether the files' rows are the table's rows as they are, deletion vectors aside.
    """

    partition: tuple[object, ...]
    bucket: int
    sections: Sequence[SplitSection]
    is_raw: bool

    @classmethod
    def of_file(cls, file: SplitFile) -> "Split":
        """All rows of one file as they are, deletion vectors aside, wherever the file lies."""
        section = SplitSection(((replace(file, delete_row_count=0),),))
        return cls(partition=(), bucket=0, sections=(section,), is_raw=True)

    @property
    def files(self) -> list[SplitFile]:
        """Every file of the split."""
        return [file for section in self.sections for file in section.files]

    @property
    def file_paths(self) -> list[str]:
        """Path of every file."""
        return [file.path for file in self.files]

    @property
    def file_count(self) -> int:
        """How many files there are; cheaper than `files`."""
        if isinstance(self.sections, PlannedSections):
            return self.sections.source.file_count(self.sections.number)
        return len(self.files)

    @property
    def row_count(self) -> int:
        """Physical rows: an upper bound of the rows that come out."""
        if isinstance(self.sections, PlannedSections):
            return self.sections.source.row_count(self.sections.number)
        return sum(file.row_count for file in self.files)

    @property
    def size_bytes(self) -> int:
        """Bytes on disk."""
        if isinstance(self.sections, PlannedSections):
            return self.sections.source.size_bytes(self.sections.number)
        return sum(file.size_bytes for file in self.files)
