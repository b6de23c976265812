"""Which rows of a section's files survive the merge, as one mask a file.

A mask is found from key columns alone (`merge`), so values are decoded later, file by file, and
only where a row of the file survives. A file that lost every row is never opened for its values.

Memory is bounded by a budget: keys of a section that fit are sorted at once; larger sections are
merged in windows. Each run is sorted, so with a window of rows of every run at hand,

    run 1   [ 3 5 9 | 12 ...          bound = the smallest last key of the windows = 7
    run 2   [ 1 4 7 | 8 ...           rows below 7 can gain no rival: decide 1 3 4 5, keep 7 9

every key below the bound is complete. Then the windows are refilled. The masks themselves take one
byte a row and are the only part that grows with the section.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.key_value import SEQUENCE_NUMBER, VALUE_KIND
from lakebed.lsm.merge import (
    KeyGroups,
    Positions,
    are_adds,
    drop_deletes,
    group_by_key,
    ranges_overlap,
)
from lakebed.lsm.sort_keys import SortWords, sort_words

Mask = npt.NDArray[np.bool_]
Pick = Callable[[KeyGroups], Positions]

# Sorting holds copies of the keys while they become words, and of each row besides: its place in
# the order, its key in that order, and flags.
_KEY_COPIES = 4
_ROW_OVERHEAD_BYTES = 24
_WINDOW_ROWS_MIN = 1024


class KeyFile(Protocol):
    """A data file of a section, as far as the merge needs it."""

    @property
    def row_count(self) -> int:
        """Rows of the file."""
        ...

    @property
    def key_bytes(self) -> int:
        """Estimated decoded size of its key columns."""
        ...

    @property
    def run(self) -> int:
        """Which sorted run it belongs to."""
        ...

    @property
    def ordinal(self) -> int:
        """Its place in the manifests; of rows alike in age that of the later file wins."""
        ...

    @property
    def min_sequence_number(self) -> int:
        """Smallest sequence number of its rows."""
        ...

    @property
    def max_sequence_number(self) -> int:
        """Greatest sequence number of its rows."""
        ...

    @property
    def has_deletes(self) -> bool:
        """Whether it may hold -U or -D rows."""
        ...

    @property
    def key_names(self) -> tuple[str, ...]:
        """Names of its key columns."""
        ...

    def read_columns(self, names: Sequence[str]) -> pa.Table:
        """Key and system columns, whole, in file order."""
        ...

    def stream_columns(self, names: Sequence[str], *, batch_rows: int) -> Iterator[pa.Table]:
        """The same, at most `batch_rows` at a time."""
        ...


@dataclass(frozen=True, slots=True)
class _Plan:
    """How one section is merged.

    Attributes:
        files: From old to new, or as the manifests name them where sequence numbers tell age.
        starts: Position of each file's first row in the section.
        by_key: The files with their starts, those of one run in key order.
        columns: What to decode.
        by_sequence: Whether age must be told by sequence numbers.
        with_kind: Whether a winner may be a delete row.
        row_count: Rows of the section.
    """

    files: list[KeyFile]
    starts: list[int]
    by_key: list[tuple[KeyFile, int]]
    columns: list[str]
    by_sequence: bool
    with_kind: bool
    row_count: int

    @property
    def sort_bytes(self) -> int:
        """Memory that sorting all rows at once would take."""
        key_bytes = sum(file.key_bytes for file in self.files)
        return _KEY_COPIES * key_bytes + _ROW_OVERHEAD_BYTES * self.row_count


def winner_masks(files: Sequence[KeyFile], *, pick: Pick, budget_bytes: int) -> list[Mask]:
    """One mask a file, in the order given: True where the row survives.

    Args:
        files: All files of one section, those of one run in key order.
        pick: The merge engine: from groups of rows of a key to the positions that win.
        budget_bytes: Memory that sorting may take, besides one byte a row for the masks
            (`lakebed.merge.memory`).
    """
    plan = _plan(files)
    if len({file.run for file in files}) == 1:
        return [_kept_of_one_run(file) for file in files]
    mask = np.zeros(plan.row_count, np.bool_)
    if plan.sort_bytes <= budget_bytes:
        tables = [file.read_columns(plan.columns) for file in plan.files]
        window = _Window(pa.concat_tables(tables), np.arange(plan.row_count))
        mask[_winners(window, _words(window, plan), plan=plan, pick=pick)] = True
    else:
        for winners in _merge_windows(plan, pick=pick, budget_bytes=budget_bytes):
            mask[winners] = True
    return [mask[start : start + file.row_count] for file, start in plan.by_key]


def _kept_of_one_run(file: KeyFile) -> Mask:
    """A run holds a key once, so only delete rows fall away."""
    if not file.has_deletes:
        return np.ones(file.row_count, np.bool_)
    kinds = file.read_columns([VALUE_KIND.name]).column(VALUE_KIND.name).to_numpy()
    kept = np.zeros(file.row_count, np.bool_)
    kept[drop_deletes(np.arange(file.row_count), kinds)] = True
    return kept


def _plan(files: Sequence[KeyFile]) -> _Plan:
    by_sequence = _sequences_overlap(files)
    ordered = sorted(files, key=lambda f: f.ordinal if by_sequence else f.min_sequence_number)
    with_kind = any(file.has_deletes for file in ordered)
    columns = [
        *ordered[0].key_names,
        *([SEQUENCE_NUMBER.name] if by_sequence else []),
        *([VALUE_KIND.name] if with_kind else []),
    ]
    starts: list[int] = np.cumsum([0, *(file.row_count for file in ordered)]).tolist()
    start_of = {id(file): start for file, start in zip(ordered, starts, strict=False)}
    by_key = [(file, start_of[id(file)]) for file in files]
    return _Plan(ordered, starts[:-1], by_key, columns, by_sequence, with_kind, starts[-1])


def _sequences_overlap(files: Sequence[KeyFile]) -> bool:
    """Whether files of different runs share sequence numbers; one run never holds a key twice."""
    spans: dict[int, tuple[int, int]] = {}
    for file in files:
        low, high = spans.get(file.run, (file.min_sequence_number, file.max_sequence_number))
        spans[file.run] = (
            min(low, file.min_sequence_number),
            max(high, file.max_sequence_number),
        )
    return ranges_overlap(list(spans.values()))


@dataclass(frozen=True, slots=True)
class _Window:
    """Decoded rows with their positions in the section."""

    rows: pa.Table
    positions: Positions


def _words(window: _Window, plan: _Plan) -> SortWords:
    return sort_words([window.rows.column(name) for name in plan.files[0].key_names])


def _ages(window: _Window, plan: _Plan) -> SortWords:
    """What orders the rows of a key from old to new; empty where their places do."""
    if not plan.by_sequence:
        return ()
    ages: npt.NDArray[np.int64] = window.rows.column(SEQUENCE_NUMBER.name).to_numpy()
    if plan.with_kind:
        ages = 2 * ages + are_adds(window.rows.column(VALUE_KIND.name).to_numpy())
    return ages, window.positions


def _winners(window: _Window, words: SortWords, *, plan: _Plan, pick: Pick) -> Positions:
    winners = pick(group_by_key(words, _ages(window, plan), row_count=window.rows.num_rows))
    if plan.with_kind:
        winners = drop_deletes(winners, window.rows.column(VALUE_KIND.name).to_numpy())
    return window.positions[winners]


class _RunStream:
    """The rows of one run in key order, read ahead by at least one window."""

    def __init__(self, plan: _Plan, run: int, *, batch_rows: int) -> None:
        self._batches = self._stream(plan, run, batch_rows)
        self.held: list[_Window] = []
        self.exhausted = False
        self.fetch()

    @staticmethod
    def _stream(plan: _Plan, run: int, batch_rows: int) -> Iterator[_Window]:
        for file, start in plan.by_key:
            if file.run != run:
                continue
            position = start
            for rows in file.stream_columns(plan.columns, batch_rows=batch_rows):
                yield _Window(rows, np.arange(position, position + rows.num_rows))
                position += rows.num_rows

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


def _merge_windows(plan: _Plan, *, pick: Pick, budget_bytes: int) -> Iterator[Positions]:
    runs = sorted({file.run for file in plan.files}, key=lambda run: _first_start(plan, run))
    # A stream holds up to two batches: what it kept and what it fetched.
    row_bytes = plan.sort_bytes // plan.row_count + 1
    batch_rows = max(budget_bytes // (2 * len(runs) * row_bytes), _WINDOW_ROWS_MIN)
    streams = [_RunStream(plan, run, batch_rows=batch_rows) for run in runs]
    while any(stream.held for stream in streams):
        window = _concatenated(streams)
        words = _words(window, plan)
        complete, limiting = _complete_rows(words, streams)
        if complete.any():
            chosen = _Window(window.rows.filter(pa.array(complete)), window.positions[complete])
            chosen_words = tuple(word[complete] for word in words)
            yield _winners(chosen, chosen_words, plan=plan, pick=pick)
            _keep_rest(streams, window, complete)
        if limiting is not None:
            streams[limiting].fetch()
        for stream in streams:
            if not stream.held and not stream.exhausted:
                stream.fetch()


def _first_start(plan: _Plan, run: int) -> int:
    return min(s for f, s in zip(plan.files, plan.starts, strict=True) if f.run == run)


def _concatenated(streams: Sequence[_RunStream]) -> _Window:
    held = [window for stream in streams for window in stream.held]
    return _Window(
        pa.concat_tables([window.rows for window in held]),
        np.concatenate([window.positions for window in held]),
    )


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
