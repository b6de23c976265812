"""The rows of a section as groups of equal keys, at once or window by window.

Memory is bounded by a budget. Where the columns that order rows fit, a section is grouped at once,
and other columns are decoded later, a few at a time. A larger section is grouped
in windows, with all its columns.
Each run is sorted, so with a window of rows of every run at hand,

    run 1   [ 3 5 9 | 12 ...          bound = the smallest last key of the windows = 7
    run 2   [ 1 4 7 | 8 ...           rows below 7 can gain no rival: group 1 3 4 5, keep 7 9

every key below the bound is complete. Then the windows are refilled.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.arrow.typing import ArrowArray, ArrowChunks, joined, taken
from lakebed.format.key_value import SEQUENCE_NUMBER, VALUE_KIND
from lakebed.lsm.merge import (
    KeyGroups,
    Kinds,
    Positions,
    are_adds,
    group_by_key,
)
from lakebed.lsm.section_plan import Mask, RowOrder, SectionFile, SectionPlan
from lakebed.lsm.sort_keys import SortWords, age_words, sort_words

Levels = npt.NDArray[np.int32]

# Values are held as decoded and joined.
_VALUE_COPIES = 2
_WINDOW_ROWS_MIN = 1024


@dataclass(frozen=True, slots=True)
class GroupedRows:
    """Rows with all rows of their keys.

    Attributes:
        columns: The columns asked for, by name.
        positions: Place of each row in the section (`SectionPlan.starts`).
        groups: The same rows by key and age.
        kinds: Row kind of each row; None where all are adds.
        levels: LSM level of each row; None where nobody asked.
        folds_single: Whether a row that is alone with its key is folded, too, instead of coming out
            as it is: compactions that look older rows up do so.
    """

    columns: "Columns"
    positions: Positions
    groups: KeyGroups
    kinds: Kinds | None
    levels: Levels | None = None
    folds_single: bool = False


class Columns(Protocol):
    """Columns of some rows."""

    def rows_at(self, names: Sequence[str], places: Positions) -> pa.Table:
        """The columns of some rows, in the order of the places; no others need be decoded."""
        ...

    def column(self, name: str) -> ArrowChunks:
        """The values as they lie, in no order."""
        ...


def grouped_at_once(rows: pa.Table, order: RowOrder, kinds: Kinds | None) -> GroupedRows:
    """Rows in memory by key; they come from old to new, but for what `sequence.field` says.

    Args:
        rows: The rows, with the columns that order them.
        order: How rows are ordered.
        kinds: Row kind of each row; None where all are adds.
    """
    words = sort_words([rows.column(name) for name in order.key_names])
    arrival = np.arange(rows.num_rows)
    ages: SortWords = ()
    if order.sequence_fields:
        told = [rows.column(name) for name in order.sequence_fields]
        ages = (*age_words(told, descending=order.descending), arrival)
    groups = group_by_key(words, ages, row_count=rows.num_rows)
    return GroupedRows(_DecodedColumns(rows), arrival, groups, kinds)


def grouped_rows(
    plan: SectionPlan, *, budget_bytes: int, with_levels: bool = False
) -> Iterator[GroupedRows]:
    """The rows of a section by key, each key's rows together, keys ascending.

    Args:
        plan: The section.
        budget_bytes: Memory that grouping may take (`lakebed.merge.memory`).
        with_levels: Whether the level of each row is told.
    """
    levels = np.array([file.level for file in plan.files], np.int32)
    starts = np.array(plan.starts)
    for grouped in _groups_of(plan, budget_bytes=budget_bytes):
        if with_levels:
            file_of_row = np.searchsorted(starts, grouped.positions, side="right") - 1
            yield replace(grouped, levels=levels[file_of_row])
        else:
            yield grouped


def _groups_of(plan: SectionPlan, *, budget_bytes: int) -> Iterator[GroupedRows]:
    if plan.sorting_bytes <= budget_bytes:
        windows = [
            _live(file, file.read_columns(plan.sorting), start=start, offset=0)
            for file, start in zip(plan.files, plan.starts, strict=True)
        ]
        window = _joined(windows)
        grouped = _grouped(window, _words(window, plan), plan)
        if not plan.values:
            yield grouped
            return
        # Results are held besides one batch of columns, which holds at least one.
        keys_share = len(grouped.groups.last) / max(plan.row_count, 1)
        column_bytes = _VALUE_COPIES * plan.value_bytes / len(plan.values)
        if plan.value_bytes * keys_share + column_bytes <= budget_bytes:
            columns = _LaterColumns(plan, window, batch_bytes=budget_bytes)
            yield replace(grouped, columns=columns)
            return
    yield from _in_windows(plan, budget_bytes=budget_bytes)


@dataclass(frozen=True, slots=True)
class _DecodedColumns:
    """Columns that are there."""

    rows: pa.Table

    def rows_at(self, names: Sequence[str], places: Positions) -> pa.Table:
        return pa.table(_taken_columns(self.rows, names, places))

    def column(self, name: str) -> ArrowChunks:
        return self.rows.column(name)


class _LaterColumns:
    """Columns decoded when they are asked for, a batch of them at a time; one batch is held."""

    def __init__(self, plan: SectionPlan, window: "_Window", *, batch_bytes: int) -> None:
        self._plan = plan
        self._sorting = window.rows
        self._positions = window.positions
        self._pending = list(plan.values)
        self._held: pa.Table | None = None
        column_bytes = _VALUE_COPIES * plan.value_bytes // len(plan.values) + 1
        self._batch_size = max(batch_bytes // column_bytes, 1)

    def rows_at(self, names: Sequence[str], places: Positions) -> pa.Table:
        later = [name for name in names if name not in self._sorting.column_names]
        at_hand = [name for name in names if name not in later]
        columns = _taken_columns(self._sorting, at_hand, places)
        # Not beside what is decoded now: one batch is held.
        self._held = None
        positions = self._positions[places]
        wanted = np.zeros(self._plan.row_count, np.bool_)
        wanted[positions] = True
        ranks = np.cumsum(wanted)[positions] - 1
        for start in range(0, len(later), self._batch_size):
            batch = later[start : start + self._batch_size]
            columns |= _taken_columns(self._wanted_rows(batch, wanted), batch, ranks)
        return pa.table({name: columns[name] for name in names})

    def _wanted_rows(self, names: Sequence[str], wanted: Mask) -> pa.Table:
        """Columns of some rows of the section, in the order of its files."""
        masks = [
            (file, wanted[start : start + file.row_count])
            for file, start in zip(self._plan.files, self._plan.starts, strict=True)
        ]
        # One at least, which knows the types.
        read = [(file, keep) for file, keep in masks if keep.any()] or masks[:1]
        return pa.concat_tables(
            file.read_columns(names, None if keep.all() else keep) for file, keep in read
        )

    def column(self, name: str) -> ArrowChunks:
        if name in self._sorting.column_names:
            return self._sorting.column(name)
        if self._held is None or name not in self._held.column_names:
            # Columns are asked for in the order of the plan; one that is asked for again is alone.
            place = self._pending.index(name) if name in self._pending else len(self._pending)
            names = self._pending[place : place + self._batch_size] or [name]
            self._pending = self._pending[place + len(names) :]
            self._held = None
            self._held = pa.concat_tables(
                [
                    _live(file, file.read_columns(names), start=start, offset=0).rows
                    for file, start in zip(self._plan.files, self._plan.starts, strict=True)
                ]
            )
        return self._held.column(name)


def _taken_columns(
    rows: pa.Table, names: Sequence[str], places: Positions
) -> dict[str, ArrowArray]:
    return {name: taken(joined(rows.column(name)), places) for name in names}


@dataclass(frozen=True, slots=True)
class _Window:
    """Decoded rows with their positions in the section."""

    rows: pa.Table
    positions: Positions


def _live(file: SectionFile, rows: pa.Table, *, start: int, offset: int) -> _Window:
    """Rows of a file from row `offset` on, without those that a deletion vector took out."""
    first = start + offset
    positions = np.arange(first, first + rows.num_rows)
    removed = file.removed()
    if removed is None:
        return _Window(rows, positions)
    kept = ~removed[offset : offset + rows.num_rows]
    return _Window(rows.filter(pa.array(kept)), positions[kept])


def _joined(windows: Sequence[_Window]) -> _Window:
    return _Window(
        pa.concat_tables([window.rows for window in windows]),
        np.concatenate([window.positions for window in windows]),
    )


def _words(window: _Window, plan: SectionPlan) -> SortWords:
    return sort_words([window.rows.column(name) for name in plan.order.key_names])


def _grouped(window: _Window, words: SortWords, plan: SectionPlan) -> GroupedRows:
    kinds: Kinds | None = None
    if plan.with_kind:
        kinds = window.rows.column(VALUE_KIND.name).to_numpy()
    ages = _ages(window, plan, kinds)
    groups = group_by_key(words, ages, row_count=window.rows.num_rows)
    return GroupedRows(_DecodedColumns(window.rows), window.positions, groups, kinds)


def _ages(window: _Window, plan: SectionPlan, kinds: Kinds | None) -> SortWords:
    """What orders the rows of a key from old to new; empty where their places do."""
    if not plan.by_sequence:
        return ()
    numbers: npt.NDArray[np.int64] = window.rows.column(SEQUENCE_NUMBER.name).to_numpy()
    if kinds is not None:
        numbers = 2 * numbers + are_adds(kinds)
    told = age_words(
        [window.rows.column(name) for name in plan.order.sequence_fields],
        descending=plan.order.descending,
    )
    return (*told, numbers, window.positions)


class _RunStream:
    """The rows of one run in key order, read ahead by at least one window."""

    def __init__(self, plan: SectionPlan, run: int, *, batch_rows: int) -> None:
        self._batches = self._stream(plan, run, batch_rows)
        self.held: list[_Window] = []
        self.exhausted = False
        self.fetch()

    @staticmethod
    def _stream(plan: SectionPlan, run: int, batch_rows: int) -> Iterator[_Window]:
        for file, start in plan.by_key:
            if file.run != run:
                continue
            offset = 0
            names = [*plan.sorting, *plan.values]
            for rows in file.stream_columns(names, batch_rows=batch_rows):
                window = _live(file, rows, start=start, offset=offset)
                offset += rows.num_rows
                if window.rows.num_rows:
                    yield window

    def fetch(self) -> None:
        """Reads one batch more, or finds that there is none."""
        batch = next(self._batches, None)
        if batch is None:
            self.exhausted = True
        else:
            self.held.append(batch)

    @property
    def row_count(self) -> int:
        return sum(window.rows.num_rows for window in self.held)


def _in_windows(plan: SectionPlan, *, budget_bytes: int) -> Iterator[GroupedRows]:
    runs = sorted({file.run for file in plan.files}, key=lambda run: _first_start(plan, run))
    # A stream holds up to two batches: what it kept and what it fetched.
    section_bytes = plan.sorting_bytes + _VALUE_COPIES * plan.value_bytes
    row_bytes = section_bytes // plan.row_count + 1
    batch_rows = max(budget_bytes // (2 * len(runs) * row_bytes), _WINDOW_ROWS_MIN)
    streams = [_RunStream(plan, run, batch_rows=batch_rows) for run in runs]
    while any(stream.held for stream in streams):
        window = _joined([window for stream in streams for window in stream.held])
        words = _words(window, plan)
        complete, limiting = _complete_rows(words, streams)
        if complete.any():
            chosen = _Window(window.rows.filter(pa.array(complete)), window.positions[complete])
            yield _grouped(chosen, tuple(word[complete] for word in words), plan)
            _keep_rest(streams, window, complete)
        if limiting is not None:
            streams[limiting].fetch()
        for stream in streams:
            if not stream.held and not stream.exhausted:
                stream.fetch()


def _first_start(plan: SectionPlan, run: int) -> int:
    return min(s for f, s in zip(plan.files, plan.starts, strict=True) if f.run == run)


def _complete_rows(words: SortWords, streams: Sequence[_RunStream]) -> tuple[Mask, int | None]:
    """Rows whose key can gain no rival, and the stream whose next rows would complete more."""
    row_count = len(words[0])
    ends = np.cumsum([stream.row_count for stream in streams])
    open_streams = [i for i, stream in enumerate(streams) if not stream.exhausted and stream.held]
    if not open_streams:
        return np.ones(row_count, np.bool_), None
    last_rows = np.array([ends[i] - 1 for i in open_streams])
    smallest = int(np.lexsort(tuple(word[last_rows] for word in words)[::-1])[0])
    bound = last_rows[smallest]
    below = np.zeros(row_count, np.bool_)
    equal = np.ones(row_count, np.bool_)
    for word in words:
        below |= equal & (word < word[bound])
        equal &= word == word[bound]
    return below, open_streams[smallest]


def _keep_rest(streams: Sequence[_RunStream], window: _Window, complete: Mask) -> None:
    start = 0
    for stream in streams:
        stop = start + stream.row_count
        rest = ~complete[start:stop]
        kept = window.rows.slice(start, stop - start).filter(pa.array(rest))
        stream.held = [_Window(kept, window.positions[start:stop][rest])] if rest.any() else []
        start = stop
