"""How do the live files of a table become splits?

    files of a bucket  ->  sections  ->  packed into splits
    append                  one a file
    with a key              linked by overlapping key ranges (`lsm.runs`)
    newest kept apart       one a file, where no level 0 and no delete row is left in the bucket

Everything is done to all buckets at once, in columns; no object is made for a file.

The surprising thing: a file that cannot match the condition stays where another overlaps it. It may
hold the newer row of a key, and without it the older one would come back. Where the merge engine
takes a row as it stands, a section without any matching file may go as a whole.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowArray, ArrowChunks
from lakebed.format.binary_row.codec import decode_rows
from lakebed.format.types import DataType
from lakebed.lsm.runs import section_starts
from lakebed.lsm.sort_keys import dense_ranks, sort_words
from lakebed.table.metadata.plan_step import PlanStep
from lakebed.table.planning.deletion_vectors import DV_COLUMNS
from lakebed.table.planning.entry_pruning import MATCHES
from lakebed.table.planning.packing import pack_sections
from lakebed.table.planning.split_columns import FILE_COLUMNS, RANK_COLUMNS, SplitColumns
from lakebed.table.planning.split_files import Places, SplitFiles, positions

# More would not fit the offsets of one plain array.
_TEXT_BYTES_MAX = 1 << 30
_MANY_FILES = 100_000

Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]
Ranks = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitBuilder:
    """Makes splits of one table.

    Attributes:
        split_files: From entries to directories.
        key_types: Types of the trimmed primary key; None for append tables.
        keeps_newest_apart: Whether files above level 0 need no merge with each other.
        takes_rows_whole: Whether every row that comes out of a merge is one that went in.
        target_size: `source.split.target-size`.
        open_file_cost: `source.split.open-file-cost`.
        index_matches: Which files' own indexes leave room for a row; None where none is asked.
    """

    split_files: SplitFiles
    key_types: Sequence[DataType] | None
    keeps_newest_apart: bool
    takes_rows_whole: bool
    target_size: int
    open_file_cost: int
    index_matches: Callable[[pa.Table], Mask] | None

    def build(self, columns: dict[str, ArrowChunks]) -> tuple[SplitColumns, list[PlanStep]]:
        """The splits of live files, and what was left out.

        Args:
            columns: Of `ENTRY_COLUMNS` those that `EntryPruning` plans with; the flag `MATCHES`
                where a condition was looked at, `DV_COLUMNS` where files have deletion vectors.
                The dict is emptied on the way, so that no file is held twice.
        """
        entries = pa.table(columns)
        places = self.split_files.places(entries)
        sections = self._sections(entries, places)
        steps: list[PlanStep] = []
        if MATCHES in entries.column_names:
            matches = entries.column(MATCHES).to_numpy()
            sections = sections.kept(self._may_match(sections, matches[sections.files]))
            steps.append(PlanStep("values", len(sections.files), entries.num_rows))
            if self.index_matches is not None:
                total = len(sections.files)
                sections = self._with_matching_index(entries, sections)
                steps.append(PlanStep("indexes", len(sections.files), total))
        del entries
        for name in set(columns).difference(FILE_COLUMNS, DV_COLUMNS.names):
            del columns[name]
        _release_memory(places)
        return self._columns(columns, places, sections.sorted_by_split()), steps

    def _sections(self, entries: pa.Table, places: Places) -> "_Sections":
        if self.key_types is None:
            return _Sections.one_a_file(_by_group(places.codes), places.codes)
        deletes = pc.fill_null(entries.column("delete_row_count"), 1).to_numpy() != 0
        apart = self._apart(entries, places, deletes)
        merged = np.flatnonzero(~apart)
        alone = np.flatnonzero(apart)
        return _Sections.joined(
            _Sections.one_a_file(alone[_by_group(places.codes[alone])], places.codes),
            self._merged_sections(entries, places, rows=merged, deletes=deletes),
        )

    def _apart(self, entries: pa.Table, places: Places, deletes: Mask) -> Mask:
        """Files of buckets in which no two have rows of one key."""
        if not self.keeps_newest_apart:
            return np.zeros(entries.num_rows, np.bool_)
        merging = (entries.column("level").to_numpy() == 0) | deletes
        in_bucket = np.bincount(places.codes, weights=merging, minlength=len(places.buckets))
        apart: Mask = in_bucket[places.codes] == 0
        return apart

    def _merged_sections(
        self, entries: pa.Table, places: Places, *, rows: Numbers, deletes: Mask
    ) -> "_Sections":
        lows, highs = self._key_ranks(entries, places, rows)
        order = np.lexsort((highs, lows))
        lows, highs, rows = lows[order], highs[order], rows[order]
        starts = np.flatnonzero(section_starts(lows, highs))
        sizes = np.diff(np.append(starts, len(rows)))
        has_deletes = (
            np.logical_or.reduceat(deletes[rows], starts) if len(rows) else np.empty(0, np.bool_)
        )
        return _Sections(
            files=rows,
            sizes=sizes,
            groups=places.codes[rows[starts]],
            merging=(sizes > 1) | has_deletes,
            lows=lows,
            highs=highs,
        )

    def _key_ranks(self, entries: pa.Table, places: Places, rows: Numbers) -> tuple[Ranks, Ranks]:
        """Numbers in the order of buckets, and of keys within each."""
        if self.key_types is None or len(rows) == 0:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        chosen = entries.select(["min_key", "max_key"])
        if len(rows) < entries.num_rows:
            chosen = chosen.take(positions(rows))
        ends = [
            decode_rows(chosen.column(name), self.key_types, source=name)
            for name in ("min_key", "max_key")
        ]
        groups = pa.array(places.codes[rows])
        sides = zip([groups, *ends[0]], [groups, *ends[1]], strict=True)
        columns: list[ArrowChunks] = [pa.chunked_array(list(both)) for both in sides]
        words = sort_words(columns)
        is_number = len(words) == 1 and np.issubdtype(words[0].dtype, np.integer)
        ranks = words[0] if is_number else dense_ranks(words)
        return ranks[: len(rows)], ranks[len(rows) :]

    def _may_match(self, sections: "_Sections", matches: Mask) -> Mask:
        if len(matches) == 0:
            return np.ones(0, np.bool_)
        some = np.logical_or.reduceat(matches, sections.starts)
        return some if self.takes_rows_whole else some | (sections.sizes > 1)

    def _with_matching_index(self, entries: pa.Table, sections: "_Sections") -> "_Sections":
        alone = np.flatnonzero(~sections.merging)
        if self.index_matches is None or len(alone) == 0:
            return sections
        files = sections.files[sections.starts[alone]]
        kept = np.ones(len(sections.sizes), np.bool_)
        kept[alone] = self.index_matches(entries.take(positions(files)))
        return sections.kept(kept)

    def _columns(
        self, columns: dict[str, ArrowChunks], places: Places, sections: "_Sections"
    ) -> SplitColumns:
        sizes = columns["file_size"].to_numpy()[sections.files]
        rows = columns["row_count"].to_numpy()[sections.files]
        section_sizes = np.add.reduceat(sizes, sections.starts) if len(sizes) else sizes
        breaks = np.diff(sections.groups, prepend=-1) != 0
        breaks |= np.diff(sections.merging, prepend=False)
        first = pack_sections(
            section_sizes,
            breaks,
            target_size=self.target_size,
            open_file_cost=self.open_file_cost,
        )
        ends = np.append(sections.starts, len(sections.files))
        return SplitColumns(
            files=self._file_columns(columns, places, sections),
            section_starts=ends,
            split_starts=np.append(first, len(sections.starts)),
            raw=~sections.merging[first],
            groups=sections.groups[first],
            partitions=places.partitions,
            buckets=places.buckets,
            row_counts=np.add.reduceat(rows, ends[first]) if len(rows) else rows,
            sizes=np.add.reduceat(sizes, ends[first]) if len(sizes) else sizes,
        )

    def _file_columns(
        self, columns: dict[str, ArrowChunks], places: Places, sections: "_Sections"
    ) -> pa.RecordBatch:
        names = [*FILE_COLUMNS, *(name for name in DV_COLUMNS.names if name in columns)]
        rows = positions(sections.files)
        found = {
            "directory": pa.DictionaryArray.from_arrays(
                positions(places.codes[sections.files].astype(np.int32)), places.directories
            ),
            "ordinal": rows,
        }
        if self.key_types is None:
            found["delete_row_count"] = pa.array(np.zeros(len(rows), np.int8))
        else:
            names += RANK_COLUMNS
            found |= zip(RANK_COLUMNS, map(pa.array, (sections.lows, sections.highs)), strict=True)
        for name in names:
            if name not in found:
                found[name] = _taken(columns.pop(name), rows)
                _release_memory(places)
        columns.clear()
        return pa.RecordBatch.from_arrays([found[name] for name in names], names=names)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sections:
    """Sections of all buckets.

    Attributes:
        files: Rows of the entries, section by section.
        sizes: How many files each section has.
        groups: The bucket of each section.
        merging: Whether each needs a merge.
        lows: Rank of the smallest key of each of `files`; 0 where it stands alone.
        highs: Of the greatest.
    """

    files: Numbers
    sizes: Numbers
    groups: Numbers
    merging: Mask
    lows: Ranks
    highs: Ranks

    @classmethod
    def one_a_file(cls, files: Numbers, codes: Numbers) -> "_Sections":
        count = len(files)
        return cls(
            files=files,
            sizes=np.ones(count, np.int64),
            groups=codes[files],
            merging=np.zeros(count, np.bool_),
            lows=np.zeros(count, np.int8),
            highs=np.zeros(count, np.int8),
        )

    @classmethod
    def joined(cls, one: "_Sections", other: "_Sections") -> "_Sections":
        if len(one.files) == 0 or len(other.files) == 0:
            return one if len(other.files) == 0 else other
        return cls(
            files=np.concatenate([one.files, other.files]),
            sizes=np.concatenate([one.sizes, other.sizes]),
            groups=np.concatenate([one.groups, other.groups]),
            merging=np.concatenate([one.merging, other.merging]),
            lows=np.concatenate([one.lows, other.lows]),
            highs=np.concatenate([one.highs, other.highs]),
        )

    @property
    def starts(self) -> Numbers:
        """The first of each section's `files`."""
        return np.cumsum(self.sizes) - self.sizes

    def kept(self, mask: Mask) -> "_Sections":
        """Some of the sections."""
        return self if mask.all() else self._chosen(np.flatnonzero(mask))

    def sorted_by_split(self) -> "_Sections":
        """Bucket by bucket, those that need no merge first."""
        order = np.lexsort((self.merging, self.groups))
        return self if (np.diff(order) == 1).all() else self._chosen(order)

    def _chosen(self, order: Numbers) -> "_Sections":
        sizes = self.sizes[order]
        begins = np.repeat(self.starts[order] - (np.cumsum(sizes) - sizes), sizes)
        files = begins + np.arange(len(begins))
        return _Sections(
            files=self.files[files],
            sizes=sizes,
            groups=self.groups[order],
            merging=self.merging[order],
            lows=self.lows[files],
            highs=self.highs[files],
        )


def _release_memory(places: Places) -> None:
    """Gives the system back what Arrow keeps for the threads that allocated it, now gone."""
    if len(places.codes) > _MANY_FILES:
        pa.default_memory_pool().release_unused()


def _by_group(codes: Numbers) -> Numbers:
    return np.argsort(codes, kind="stable")


def _taken(column: ArrowChunks, rows: ArrowArray) -> ArrowArray:
    """Some values as one array; a column without any takes no memory."""
    if column.null_count == len(column):
        return pa.nulls(len(rows))
    if pa.types.is_string(column.type) and column.nbytes > _TEXT_BYTES_MAX:
        column = column.cast(pa.large_string())
    array = column.combine_chunks()
    # The chunks are let go of before as much again is made.
    del column
    return array.take(rows)
