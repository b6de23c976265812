from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.lsm.merge import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, deduplicate
from lakebed.lsm.section_plan import Mask, RowOrder
from lakebed.lsm.winners import winner_masks
from support.columns import column_of

AMPLE = 1 << 30
ORDER = RowOrder(key_names=("a", "b"))
ENDS = (UPDATE_BEFORE, DELETE)


@dataclass(frozen=True)
class Row:
    """A row of a key-value file."""

    key: int | None
    sequence: int
    kind: int = INSERT

    @property
    def columns(self) -> tuple[int | None, str]:
        """The key as columns of the same order, whose words do not fit into one."""
        return (None, "") if self.key is None else (self.key // 3, str(self.key % 3))


@dataclass(frozen=True)
class KeyFileInMemory:
    """A file of a section; its batches are as small as the test wants."""

    rows: tuple[Row, ...]
    run: int
    rows_a_batch: int = 2
    asked: list[str] = field(default_factory=list)

    @property
    def row_count(self) -> int:
        return len(self.rows)

    @property
    def level(self) -> int:
        return 0

    @property
    def ordinal(self) -> int:
        return self.run

    def decoded_bytes(self, names: Sequence[str]) -> int:
        return 9 * len(self.rows) * max(len(names) - 1, 1)

    def removed(self) -> None:
        return None

    @property
    def min_sequence_number(self) -> int:
        return min(row.sequence for row in self.rows)

    @property
    def max_sequence_number(self) -> int:
        return max(row.sequence for row in self.rows)

    @property
    def has_deletes(self) -> bool:
        return any(row.kind in ENDS for row in self.rows)

    def read_columns(self, names: Sequence[str], keep: Mask | None = None) -> pa.Table:
        self.asked.append(f"read {' '.join(names)}")
        rows = self._table(self.rows, names)
        return rows if keep is None else rows.filter(pa.array(keep))

    def stream_columns(self, names: Sequence[str], *, batch_rows: int) -> Iterator[pa.Table]:
        self.asked.append(f"stream {' '.join(names)}")
        size = min(self.rows_a_batch, batch_rows)
        for start in range(0, len(self.rows), size):
            yield self._table(self.rows[start : start + size], names)

    def _table(self, rows: Sequence[Row], names: Sequence[str]) -> pa.Table:
        columns = {
            "a": column_of([row.columns[0] for row in rows], pa.int64()),
            "b": column_of([row.columns[1] for row in rows], pa.string()),
            "_SEQUENCE_NUMBER": column_of([row.sequence for row in rows], pa.int64()),
            "_VALUE_KIND": column_of([row.kind for row in rows], pa.int8()),
        }
        return pa.table({name: columns[name] for name in names})


def masks(files: Sequence[KeyFileInMemory], *, budget_bytes: int = AMPLE) -> list[list[bool]]:
    found = winner_masks(files, order=ORDER, pick=deduplicate, budget_bytes=budget_bytes)
    return [mask.tolist() for mask in found]


def model_masks(files: Sequence[KeyFileInMemory]) -> list[list[bool]]:
    """What a dict says, when rows are put into it from the oldest to the newest."""
    rows = [
        (row.sequence, row.kind not in ENDS, file.run, row, index)
        for index, file in enumerate(files)
        for row in file.rows
    ]
    newest = {row.key: (index, row) for *_, row, index in sorted(rows, key=lambda r: r[:3])}
    return [
        [
            newest[row.key] == (index, row) and row.kind in (INSERT, UPDATE_AFTER)
            for row in file.rows
        ]
        for index, file in enumerate(files)
    ]


@st.composite
def sections(draw: st.DrawFn, *, key_count: int = 12) -> list[KeyFileInMemory]:
    """Runs of one or more files; their sequence numbers are apart, overlap, or are the same."""
    run_count = draw(st.integers(1, 4))
    are_apart = draw(st.booleans())
    ages = draw(st.permutations(range(run_count)))
    has_deletes = draw(st.booleans())
    kinds = [INSERT, UPDATE_AFTER, UPDATE_BEFORE, DELETE] if has_deletes else [INSERT]
    key = st.none() | st.integers(0, key_count)
    files = []
    for run in range(run_count):
        keys = draw(st.lists(key, min_size=1, max_size=key_count, unique=True))
        ordered = sorted(keys, key=lambda k: -1 if k is None else k)
        low = 100 * ages[run] if are_apart else 0
        numbers = [draw(st.integers(low, low + (20 if are_apart else 3))) for _ in ordered]
        rows = [
            Row(k, number, draw(st.sampled_from(kinds)))
            for k, number in zip(ordered, numbers, strict=True)
        ]
        cuts = sorted(draw(st.sets(st.integers(1, len(rows)), max_size=2)) | {0, len(rows)})
        for start, stop in pairwise(cuts):
            size = draw(st.integers(1, 4))
            files.append(KeyFileInMemory(tuple(rows[start:stop]), run, rows_a_batch=size))
    return files


@given(sections())
def test_masks_of_a_merge_at_once_are_those_of_a_dict(files: list[KeyFileInMemory]) -> None:
    assert masks(files) == model_masks(files)


@given(sections(), st.sampled_from([1, 100, 500]))
def test_masks_of_a_merge_in_windows_are_those_of_a_dict(
    files: list[KeyFileInMemory], budget_bytes: int
) -> None:
    assert masks(files, budget_bytes=budget_bytes) == model_masks(files)


@pytest.mark.parametrize("budget_bytes", [1, 50_000, AMPLE])
def test_files_larger_than_a_window_are_merged_right(budget_bytes: int) -> None:
    random = np.random.default_rng(7)
    files = []
    for run in range(3):
        keys = np.sort(random.choice(9_000, 4_000, replace=False)).tolist()
        kinds = random.choice([INSERT, DELETE], 4_000, p=[0.9, 0.1]).tolist()
        rows = [
            Row(k, 7 * i % 5_000, kind) for i, (k, kind) in enumerate(zip(keys, kinds, strict=True))
        ]
        for start in range(0, 4_000, 1_500):
            part = tuple(rows[start : start + 1_500])
            files.append(KeyFileInMemory(part, run, rows_a_batch=100_000))
    assert masks(files, budget_bytes=budget_bytes) == model_masks(files)


def test_a_file_that_spans_all_keys_is_merged_with_many_small_ones() -> None:
    whole = KeyFileInMemory(tuple(Row(k, 1) for k in range(1_000)), run=0)
    ends = KeyFileInMemory((Row(0, 2), Row(999, 3)), run=1)
    small = [KeyFileInMemory((Row(k, 4 + k), Row(k + 1, 5 + k)), run=2) for k in range(10, 990, 20)]
    files = [whole, ends, *small]
    assert masks(files, budget_bytes=1) == masks(files) == model_masks(files)


@pytest.mark.parametrize("budget_bytes", [1, AMPLE])
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (Row(1, 5, INSERT), Row(1, 5, UPDATE_AFTER)),
        (Row(1, 5, DELETE), Row(1, 5, DELETE)),
        (Row(1, 5, INSERT), Row(1, 6, DELETE)),
    ],
)
def test_of_equal_numbers_the_row_of_the_file_named_later_wins(
    older: Row, newer: Row, budget_bytes: int
) -> None:
    files = [
        KeyFileInMemory((Row(0, 9), older), run=0),
        KeyFileInMemory((newer, Row(2, 3)), run=1),
    ]
    survives = newer.kind == UPDATE_AFTER
    assert masks(files, budget_bytes=budget_bytes) == [[True, False], [survives, True]]


@pytest.mark.parametrize("budget_bytes", [1, AMPLE])
@pytest.mark.parametrize("run_of_delete", [0, 1])
def test_of_equal_numbers_a_delete_never_ends_the_row_that_was_added(
    run_of_delete: int, budget_bytes: int
) -> None:
    files = [
        KeyFileInMemory((Row(1, 5, DELETE if run == run_of_delete else INSERT),), run=run)
        for run in (0, 1)
    ]
    expected = [[run != run_of_delete] for run in (0, 1)]
    assert masks(files, budget_bytes=budget_bytes) == expected


def test_one_run_keeps_all_but_its_deletes_and_decodes_no_key() -> None:
    plain = KeyFileInMemory((Row(1, 1), Row(2, 2)), run=0)
    with_delete = KeyFileInMemory((Row(3, 3, DELETE), Row(4, 4, UPDATE_AFTER)), run=0)
    assert masks([plain, with_delete], budget_bytes=1) == [[True, True], [False, True]]
    assert plain.asked == []
    assert with_delete.asked == ["read _VALUE_KIND"]


def test_only_columns_that_can_matter_are_decoded() -> None:
    apart = [KeyFileInMemory((Row(1, run),), run=run) for run in (1, 2)]
    masks(apart)
    assert apart[0].asked == ["read a b"]
    touching = [KeyFileInMemory((Row(1, 4, kind),), run=kind) for kind in (INSERT, DELETE)]
    masks(touching)
    assert touching[0].asked == ["read a b _SEQUENCE_NUMBER _VALUE_KIND"]


def test_a_budget_that_holds_the_keys_reads_whole_files_and_a_smaller_one_streams() -> None:
    def asked(budget_bytes: int) -> set[str]:
        files = [KeyFileInMemory((Row(1, run), Row(2, run)), run=run) for run in (1, 2)]
        masks(files, budget_bytes=budget_bytes)
        return {request.split()[0] for file in files for request in file.asked}

    # Four rows: the keys four times over, and what sorting holds a row.
    assert asked(4 * (4 * 9 + 24)) == {"read"}
    assert asked(4 * (4 * 9 + 24) - 1) == {"stream"}
