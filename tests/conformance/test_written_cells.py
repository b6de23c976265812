"""What Lakebed writes, cell by cell: the real Paimon and the other clients read it and write on.

Each commit tries the first cells of another array, which hold most of its pairs; what Lakebed does
not write yet is skipped by name. `./dev prove cells --seconds 1 --from-seed N` repeats a cell.
"""

import itertools
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance import cells_metadata
from conformance.cells import ARRAY_CELLS, FACTORS, RULES, Cell, make_cell
from conformance.cells_judge import Readers, judge_cell
from conformance.cells_oracle import expected_rows
from conformance.pairwise import Rule, make_array
from tools.provenance import read_commit, seed_of

ARRAY = seed_of(read_commit()) % 1000
FIRST_SEED = ARRAY * ARRAY_CELLS + 1
SEEDS = range(FIRST_SEED, FIRST_SEED + 40)


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Readers]:
    with Readers(tmp_path_factory.mktemp("cells")) as readers:
        yield readers


@pytest.mark.peers
@pytest.mark.drawn
@pytest.mark.parametrize("seed", SEEDS)
def test_all_read_what_lakebed_writes_and_it_says_what_the_real_paimon_says(
    seed: int, readers: Readers
) -> None:
    cell = make_cell(seed)
    verdict = judge_cell(cell, readers)
    assert not verdict.violations, "\n".join([*verdict.violations[:20], cell.describe()])
    if verdict.refusal is not None:
        pytest.skip(f"{cell.name}: Lakebed refuses: {verdict.refusal}")


def test_two_choices_that_no_rule_parts_meet_in_some_cell() -> None:
    rows = [make_cell(seed).choices for seed in range(1, ARRAY_CELLS + 1)]
    found = {pair for row in rows for pair in itertools.combinations(row.items(), 2)}
    every = {
        ((one, value), (two, other))
        for one, two in itertools.combinations(FACTORS, 2)
        for value, other in itertools.product(FACTORS[one], FACTORS[two])
    }
    parted = [pair for pair in every - found if not _is_parted(dict(pair))]
    # What only rules of a third factor part: an engine without a key, or that must look it up.
    assert all({"engine", "bucket"} & dict(pair).keys() for pair in parted), parted


def _is_parted(row: Mapping[str, str]) -> bool:
    return any(
        row.get(rule.factor) in rule.values and row.get(rule.other, "") not in {"", *rule.allowed}
        for rule in RULES
    )


def test_an_array_breaks_no_rule_and_holds_every_pair_that_can_be() -> None:
    factors = {"a": ("1", "2", "3"), "b": ("x", "y"), "c": ("t", "f")}
    rules = [Rule("a", ("1",), "b", ("x",))]
    rows = make_array(factors, rules, count=12, seed=1)
    assert len(rows) == 12
    pairs = Counter(pair for row in rows for pair in itertools.combinations(row.items(), 2))
    assert (("a", "1"), ("b", "y")) not in pairs
    assert len(pairs) == 3 * 2 + 3 * 2 + 2 * 2 - 1


def test_a_seed_stands_for_one_cell() -> None:
    assert make_cell(3) == make_cell(3)
    assert make_cell(3) != make_cell(3 + ARRAY_CELLS)


def _cell(
    *, engine: str, writes: list[list[list[Any]]], change: dict[str, Any] | None = None
) -> Cell:
    made = make_cell(1)
    return Cell(
        seed=1,
        choices={**made.choices, "engine": engine, "sequence": "none", "bucket": "default"},
        columns={"k": "INT NOT NULL", "v_text": "STRING"},
        primary_key=("k",),
        partition_by=(),
        options={},
        writes=tuple(tuple(write) for write in writes),  # type: ignore[arg-type]
        change=change,
    )


@pytest.mark.parametrize(
    ("engine", "rows"), [("deduplicate", [[1, "c"]]), ("first-row", [[1, "a"], [2, "b"]])]
)
def test_the_oracle_merges_rows_of_a_key(engine: str, rows: list[list[Any]]) -> None:
    writes = [[["+I", 1, "a"], ["+I", 2, "b"]], [["+U", 1, "c"], ["-D", 2, "b"]], [], [], []]
    cell = _cell(engine=engine, writes=writes)
    assert expected_rows(cell, cell.writes, compacted=5) == rows


def test_the_oracle_follows_a_renamed_column() -> None:
    change = {"action": "renameColumn"}
    cell = _cell(
        engine="deduplicate",
        writes=[[["+I", 1, "old"]], [], [["+I", 2, "new"]], [], []],
        change=change,
    )
    assert cell.columns_after == ["k", "renamed"]
    assert expected_rows(cell, cell.writes, compacted=5) == [[1, "old"], [2, "new"]]


def test_the_oracle_shows_of_a_first_row_table_what_is_compacted() -> None:
    cell = _cell(engine="first-row", writes=[[["+I", 1, "a"]], [["+I", 2, "b"]], [], [], []])
    assert expected_rows(cell, cell.writes, compacted=1) == [[1, "a"]]


def test_a_snapshot_that_says_something_else_differs_by_field(tmp_path: Path) -> None:
    for name, total in (("ours", 3), ("theirs", 4)):
        (tmp_path / name / "snapshot").mkdir(parents=True)
        text = json.dumps({"id": 1, "totalRecordCount": total, "timeMillis": total})
        (tmp_path / name / "snapshot" / "snapshot-1").write_text(text, encoding="utf-8")
    found = cells_metadata.compare_files(tmp_path / "ours", tmp_path / "theirs", "snapshot")
    assert [str(each) for each in found] == ["snapshot-1.totalRecordCount: Java 4, Lakebed 3"]


def test_fields_of_avro_that_the_older_one_lacks_may_follow_if_they_may_be_null() -> None:
    known = {"name": "a", "type": "long"}
    since = {"name": "b", "type": ["null", "long"], "default": None}
    java = {"type": "record", "name": "r", "fields": [known]}
    ours = {**java, "fields": [known, since]}
    assert not list(cells_metadata.compare_types("manifest", java, ours))
    ours = {**java, "fields": [known, {"name": "b", "type": "long"}]}
    assert len(list(cells_metadata.compare_types("manifest", java, ours))) == 1
    ours = {**java, "fields": [{"name": "a", "type": "int"}, since]}
    assert len(list(cells_metadata.compare_types("manifest", java, ours))) == 1
