"""Which rows of files win is found once by who keeps it, and again where it may differ."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from lakebed import load_catalog
from lakebed.format.schema_definition import schema
from lakebed.lsm.section_plan import Mask
from lakebed.table.reading.known_winners import KnownWinners
from lakebed.table.reading.read import SplitReader
from lakebed.table.table import Table


class Merges:
    """Counts how often a section is merged."""

    def __init__(self, *masks: list[bool]) -> None:
        self.masks = [np.array(mask, np.bool_) for mask in masks]
        self.count = 0

    def __call__(self) -> list[Mask]:
        self.count += 1
        return self.masks


def test_masks_are_found_once_and_come_back_as_they_were() -> None:
    winners = KnownWinners()
    merges = Merges([True, False, True] * 5, [], [False])
    for _ in range(3):
        found = winners.masks("section", merges)
        assert [mask.tolist() for mask in found] == [mask.tolist() for mask in merges.masks]
        assert all(mask.dtype == np.bool_ for mask in found)
    assert merges.count == 1


def test_what_was_not_used_for_longest_goes_first() -> None:
    winners = KnownWinners(bytes_max=2500)
    one, other, third = Merges([True]), Merges([True]), Merges([True])
    winners.masks(1, one)
    winners.masks(2, other)
    winners.masks(1, one)
    winners.masks(3, third)
    winners.masks(1, one)
    assert (one.count, other.count) == (1, 1)
    winners.masks(2, other)
    assert other.count == 2


def test_what_is_larger_than_all_that_may_be_kept_is_found_each_time() -> None:
    winners = KnownWinners(bytes_max=100)
    merges = Merges([True])
    winners.masks(1, merges)
    winners.masks(1, merges)
    assert merges.count == 2


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Two overlapping runs, of files with real names; the second one deletes a key."""
    catalog = load_catalog(warehouse=str(tmp_path))
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        schema=schema([("id", "BIGINT NOT NULL"), ("rank", "INT"), ("v", "STRING")]),
        primary_key=["id"],
        options={"bucket": "1", "write-only": "true"},
    )
    table.upsert(pa.table({"id": [1, 2, 3], "rank": [9, 1, 1], "v": ["a", "b", "c"]}))
    table.upsert(
        pa.table(
            {
                "id": [1, 2, 4],
                "rank": [5, 5, 5],
                "v": ["x", "y", "z"],
                "_row_kind": ["+I", "-D", "+I"],
            }
        )
    )
    return table


def values(
    table: Table, *columns: str, options: Mapping[str, str] | None = None
) -> list[tuple[object, ...]]:
    """The rows of the newest snapshot, read by one who keeps winners, by more options."""
    plan = table.scan(list(columns)).plan()
    assert isinstance(plan.reader, SplitReader)
    merged_by = {**plan.reader.options, **(options or {})}
    reader = replace(plan.reader, keeps_winners=True, options=merged_by)
    batches = [batch for split in plan.splits for batch in reader.read(split)]
    rows = pa.Table.from_batches(batches, reader.schema).to_pylist()
    return sorted(tuple(row.values()) for row in rows)


def test_rows_are_the_same_whichever_columns_are_read_later(table: Table) -> None:
    assert values(table, "id") == [(1,), (3,), (4,)]
    assert values(table, "v", "id") == [("c", 3), ("x", 1), ("z", 4)]
    assert values(table, "rank") == [(1,), (5,), (5,)]


def test_a_commit_makes_other_winners(table: Table) -> None:
    assert values(table, "v") == [("c",), ("x",), ("z",)]
    table.upsert(pa.table({"id": [3], "rank": [1], "v": ["newer"]}))
    assert values(table, "v") == [("newer",), ("x",), ("z",)]
    table.rollback(2)
    assert values(table, "v") == [("c",), ("x",), ("z",)]


@pytest.mark.parametrize("first", ["plain", "ignoring"])
def test_other_rules_make_other_winners(table: Table, first: str) -> None:
    rules = {"plain": {}, "ignoring": {"ignore-delete": "true"}}
    expected = {"plain": ["c", "x", "z"], "ignoring": ["b", "c", "x", "z"]}
    names = ["plain", "ignoring"] if first == "plain" else ["ignoring", "plain"]
    for name in names:
        found = values(table, "v", options=rules[name])
        assert found == [(value,) for value in expected[name]]
