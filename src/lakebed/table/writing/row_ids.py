"""Which ids do rows of new files get, and which number says when they were written (format.md 11)?

Both are known only when a commit knows its snapshot: rows are numbered on from the last one of the
snapshot before, and are as old as their own. Files that rewrote rows brought the ids of these
along; of rows that they changed the number is open.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lakebed.format.data_file_meta import FileKind, FileSource, ManifestEntry
from lakebed.format.row_tracking import ROW_ID


@dataclass(frozen=True, slots=True)
class RowIds:
    """Gives rows ids.

    Attributes:
        by_partition: `row-tracking.partition-group-on-commit`: whether the rows of a partition are
            numbered one after the other.
    """

    by_partition: bool

    def assign(
        self, entries: Sequence[ManifestEntry], *, snapshot_id: int, next_row_id: int
    ) -> tuple[list[ManifestEntry], int]:
        """The entries of a commit with what was open, and the id of the next row after them.

        Args:
            entries: What the commit changes.
            snapshot_id: Its snapshot.
            next_row_id: The id of its first new row.
        """
        found = []
        for entry in self._ordered(entries):
            assigned = _with_numbers(entry, snapshot_id)
            if entry.kind is FileKind.ADD and _is_new(entry):
                file = replace(assigned.file, first_row_id=next_row_id)
                assigned = replace(assigned, file=file)
                next_row_id += file.row_count
            found.append(assigned)
        return found, next_row_id

    def _ordered(self, entries: Sequence[ManifestEntry]) -> list[ManifestEntry]:
        if not self.by_partition:
            return list(entries)
        places: dict[bytes, int] = {}
        return sorted(entries, key=lambda each: places.setdefault(each.partition, len(places)))


def _is_new(entry: ManifestEntry) -> bool:
    """Whether a file's rows have no ids yet."""
    file = entry.file
    has_ids = file.first_row_id is not None or ROW_ID.name in (file.write_cols or ())
    return file.file_source is FileSource.APPEND and not has_ids


def _with_numbers(entry: ManifestEntry, snapshot_id: int) -> ManifestEntry:
    """0 stands for the snapshot: as the smallest number of a file it says that all rows are new."""
    file = entry.file
    if file.min_sequence_number == 0:
        numbers = (snapshot_id, snapshot_id)
    elif file.max_sequence_number == 0:
        numbers = (file.min_sequence_number, snapshot_id)
    else:
        return entry
    numbered = replace(file, min_sequence_number=numbers[0], max_sequence_number=numbers[1])
    return replace(entry, file=numbered)
