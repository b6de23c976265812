from collections.abc import Callable
from pathlib import Path

import pytest

from tools.proofs import Ledger, SeedResult, Stage, prove, summarize


class Ticks:
    """A clock on which each look takes a second."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def make_stage(tried: list[int], *, violated: int | None = None) -> Stage:
    def run_seed(seed: int) -> SeedResult:
        tried.append(seed)
        return SeedResult(counts={"rounds": 100}, violations=("lost",) if seed == violated else ())

    return Stage(name="coin", claim="It lands.", run_seed=run_seed, slice_seeds=3)


def make_ledger(directory: Path, commit: str = "abc") -> Ledger:
    return Ledger(state=directory / "state", reports=directory / "docs", commit=commit)


def run(stage: Stage, ledger: Ledger, *, seconds: float, seed_count: int | None = None) -> bool:
    clock: Callable[[], float] = Ticks()
    return prove(stage, ledger, first_seed=7, seconds=seconds, seed_count=seed_count, clock=clock)


def read_rows(directory: Path) -> list[list[str]]:
    report = (directory / "docs" / "coin.md").read_text(encoding="utf-8")
    rows = [line for line in report.splitlines() if line.startswith("| 2")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def test_a_finished_slice_becomes_one_line_of_the_report(tmp_path: Path) -> None:
    tried: list[int] = []
    assert run(make_stage(tried), make_ledger(tmp_path), seconds=6)
    assert tried == [7, 8, 9, 10, 11, 12]
    rows = read_rows(tmp_path)
    assert [row[1] for row in rows] == ["abc", "abc"]
    assert [row[3] for row in rows] == ["7 to 9", "10 to 12"]
    assert rows[0][4] == "300 rounds, 0 violations"


def test_a_stopped_slice_goes_on_where_it_was(tmp_path: Path) -> None:
    tried: list[int] = []
    run(make_stage(tried), make_ledger(tmp_path), seconds=2)
    assert tried == [7, 8]
    assert not (tmp_path / "docs").exists()
    run(make_stage(tried), make_ledger(tmp_path), seconds=0)
    assert tried == [7, 8, 9]
    assert [row[3] for row in read_rows(tmp_path)] == ["7 to 9"]


def test_a_slice_is_reported_once(tmp_path: Path) -> None:
    tried: list[int] = []
    run(make_stage(tried), make_ledger(tmp_path), seconds=3)
    run(make_stage(tried), make_ledger(tmp_path), seconds=0)
    assert tried == [7, 8, 9, 10]
    assert [row[3] for row in read_rows(tmp_path)] == ["7 to 9"]


def test_another_commit_starts_anew(tmp_path: Path) -> None:
    tried: list[int] = []
    run(make_stage(tried), make_ledger(tmp_path, "abc"), seconds=2)
    run(make_stage(tried), make_ledger(tmp_path, "def"), seconds=2)
    assert tried == [7, 8, 7, 8]


def test_a_result_that_was_half_kept_is_tried_again(tmp_path: Path) -> None:
    tried: list[int] = []
    run(make_stage(tried), make_ledger(tmp_path), seconds=2)
    (kept,) = (tmp_path / "state").iterdir()
    kept.write_bytes(kept.read_bytes()[:-4])
    for _ in range(2):
        run(make_stage(tried), make_ledger(tmp_path), seconds=2)
    assert tried == [7, 8, 8, 9, 10, 11]


def test_a_violation_ends_the_run_and_names_its_seed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tried: list[int] = []
    assert not run(make_stage(tried, violated=8), make_ledger(tmp_path), seconds=100)
    assert tried == [7, 8]
    assert "seed 8" in capsys.readouterr().out


def test_a_violation_is_not_forgotten_by_the_next_run(tmp_path: Path) -> None:
    assert not run(make_stage([], violated=8), make_ledger(tmp_path), seconds=100)
    assert not run(make_stage([]), make_ledger(tmp_path), seconds=100)


def test_a_run_of_so_many_seeds_ends_with_them(tmp_path: Path) -> None:
    tried: list[int] = []
    assert run(make_stage(tried), make_ledger(tmp_path), seconds=100, seed_count=2)
    assert tried == [7, 8]


def test_a_sample_leaves_no_trace(tmp_path: Path) -> None:
    ledger = Ledger(state=None, reports=None, commit="abc")
    assert run(make_stage([]), ledger, seconds=5)
    assert list(tmp_path.iterdir()) == []


def test_a_summary_adds_the_seeds_up() -> None:
    results = [SeedResult(counts={"rounds": 600, "won": 600})] * 2
    assert summarize(results) == "1,200 rounds, 1,200 won, 0 violations"
