"""The splits of a plan as columns: what a million files cost before anyone reads them.

    splits     first_section  first_file   is_raw   group
    sections   first_file
    files      directory  file_name  file_size  ...   in the order of splits and their sections

Sections and runs are made of objects only when a split is asked for them, and the greedy colouring
of a section into runs waits until then too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.arrow.typing import python_values
from lakebed.lsm.runs import sorted_runs
from lakebed.table.planning.deletion_vectors import DV_COLUMNS, deletion_vector_refs
from lakebed.table.planning.split import PlannedSections, Split, SplitFile, SplitSection

Numbers = npt.NDArray[np.int64]

FILE_COLUMNS = (
    "directory",
    "file_name",
    "external_path",
    "file_size",
    "row_count",
    "schema_id",
    "ordinal",
    "level",
    "min_sequence_number",
    "max_sequence_number",
    "delete_row_count",
)
"""What each file has; those with deletion vectors and key ranges have more columns."""

RANK_COLUMNS = ("low_rank", "high_rank")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SplitColumns:
    """The splits of one plan.

    Attributes:
        files: `FILE_COLUMNS`; `RANK_COLUMNS`, integers in key order, where files are merged;
            `DV_COLUMNS` where some file may have a deletion vector.
        section_starts: First file of each section, and the number of files.
        split_starts: First section of each split, and the number of sections.
        raw: Whether each split is raw.
        groups: The bucket of each split, as a position in the next two.
        partitions: Values of the partition columns of each bucket.
        buckets: The buckets.
        row_counts: Physical rows of each split.
        sizes: Bytes of each split.
    """

    files: pa.RecordBatch
    section_starts: Numbers
    split_starts: Numbers
    raw: npt.NDArray[np.bool_]
    groups: Numbers
    partitions: list[tuple[object, ...]]
    buckets: list[int]
    row_counts: Numbers
    sizes: Numbers

    def split(self, index: int) -> Split:
        """One of them."""
        group = int(self.groups[index])
        return Split(
            partition=self.partitions[group],
            bucket=self.buckets[group],
            sections=PlannedSections(self, index),
            is_raw=bool(self.raw[index]),
        )

    def section_count(self, index: int) -> int:
        """How many sections a split has."""
        first, last = self.split_starts[index : index + 2].tolist()
        return int(last - first)

    def row_count(self, index: int) -> int:
        """Physical rows of a split."""
        return int(self.row_counts[index])

    def size_bytes(self, index: int) -> int:
        """Bytes of a split."""
        return int(self.sizes[index])

    def file_count(self, index: int) -> int:
        """How many files a split has."""
        first, last = self.section_starts[self.split_starts[index : index + 2]].tolist()
        return int(last - first)

    def sections(self, index: int) -> tuple[SplitSection, ...]:
        """The sections of a split, with their files."""
        first, last = self.split_starts[index : index + 2].tolist()
        starts: list[int] = self.section_starts[first : last + 1].tolist()
        part = self.files.slice(starts[0], starts[-1] - starts[0])
        files = files_of(part)
        places = [start - starts[0] for start in starts]
        return tuple(
            SplitSection(((files[begin],),))
            if end - begin == 1
            else _merged_section(files[begin:end], part.slice(begin, end - begin))
            for begin, end in pairwise(places)
        )


@dataclass(frozen=True, slots=True, eq=False)
class PlannedSplits(Sequence[Split]):
    """The splits, made when they are asked for; equal to a tuple of the same, and pickled as one.

    Attributes:
        columns: What describes them.
    """

    columns: SplitColumns

    def __len__(self) -> int:
        """How many there are."""
        return len(self.columns.groups)

    @overload
    def __getitem__(self, place: int) -> Split: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Split, ...]: ...

    def __getitem__(self, place: int | slice) -> Split | tuple[Split, ...]:
        """One, or some."""
        if isinstance(place, slice):
            return tuple(map(self.columns.split, range(*place.indices(len(self)))))
        return self.columns.split(range(len(self))[place])

    def __eq__(self, other: object) -> bool:
        """As tuples compare."""
        return isinstance(other, PlannedSplits | tuple) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        """As a tuple of the same."""
        return hash(tuple(self))

    def __reduce__(self) -> tuple[object, ...]:
        """What travels is these splits."""
        return tuple, (list(self),)


def _merged_section(files: list[SplitFile], part: pa.RecordBatch) -> SplitSection:
    lows, highs = (python_values(part.column(name)) for name in RANK_COLUMNS)
    return SplitSection(tuple(tuple(files[i] for i in run) for run in sorted_runs(lows, highs)))


def files_of(batch: pa.RecordBatch) -> list[SplitFile]:
    """An object for each row of `FILE_COLUMNS`."""
    of = {name: python_values(batch.column(name)) for name in FILE_COLUMNS}
    if DV_COLUMNS.names[0] in batch.schema.names:
        vectors = deletion_vector_refs(pa.Table.from_batches([batch]))
    else:
        vectors = [None] * batch.num_rows
    paths = [
        external if external is not None else f"{directory}/{name}"
        for external, directory, name in zip(
            of["external_path"], of["directory"], of["file_name"], strict=True
        )
    ]
    return [
        SplitFile(
            path=path,
            size_bytes=of["file_size"][row],
            row_count=of["row_count"][row],
            schema_id=of["schema_id"][row],
            ordinal=of["ordinal"][row],
            level=of["level"][row],
            min_sequence_number=of["min_sequence_number"][row],
            max_sequence_number=of["max_sequence_number"][row],
            delete_row_count=of["delete_row_count"][row],
            deletion_vector=vectors[row],
        )
        for row, path in enumerate(paths)
    ]
